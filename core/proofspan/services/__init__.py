"""Answer what pages and commands ask for, from the layers below."""
