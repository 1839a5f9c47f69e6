"""What a page or a command asks for, joined from the rooms below."""
