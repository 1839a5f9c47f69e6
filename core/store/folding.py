"""How a text is made comparable for searching: one rule, used on the indexed texts and on what is typed."""

from __future__ import annotations

from unicodedata import normalize


def fold(text: str) -> str:
    """`text` without what a person searching does not mean: case, compatibility forms, runs of white space.

    Unicode's compatibility caseless match (NFKC around casefold), so that "STRASSE" finds "Straße", "fi"
    finds the ligature, and a composed letter finds the decomposed one. Accents stay: "ole" is not "olé".
    White space of any kind becomes one blank, so that a phrase is found across a line break.
    """
    if text.isascii():
        folded = text.lower().replace("\n", " ")
    else:
        folded = normalize("NFKC", normalize("NFKC", text).casefold()).casefold()
    if "  " in folded or not folded.isprintable():  # all white space but the blank counts as unprintable
        return " ".join(folded.split())
    return folded.strip(" ")
