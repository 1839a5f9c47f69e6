"""Playlists of a walkthrough: chosen, ordered, and kept in the browser under a name."""
