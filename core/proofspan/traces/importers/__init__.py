"""Other tools' files → a workspace. What an importer does not find it counts; it never guesses."""
