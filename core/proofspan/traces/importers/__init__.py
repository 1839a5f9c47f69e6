"""Importers: another tool's files become a workspace. Fields that are missing are counted, never guessed."""
