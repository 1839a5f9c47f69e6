"""A first mapping for a file of another tool, guessed from its records' names and shapes."""
