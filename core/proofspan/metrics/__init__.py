"""Measures over labelled questions and rankings, with the interval that says how sure each is."""
