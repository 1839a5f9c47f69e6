"""Questions of a run in the formats of other tools, as the readers of `traces.formats` expect them."""
