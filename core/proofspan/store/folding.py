"""How a text is made comparable for searching: one rule, used on the indexed texts and on what is typed."""

from __future__ import annotations

from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc


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


def fold_all(texts: pa.Array) -> pa.Array:
    """`fold` of a column of texts without nulls: plain ASCII at once, the rest one by one."""
    lowered = pc.ascii_lower(texts)
    # An empty line before the citations is so common that it is worth a replacement of its own.
    spaced = pc.replace_substring(pc.replace_substring(lowered, "\n\n", " "), "\n", " ")
    is_plain = pc.and_not(pc.ascii_is_printable(spaced), pc.match_substring(spaced, "  "))
    is_other = pc.invert(is_plain)
    others = pa.array([fold(text) for text in texts.filter(is_other).to_pylist()], pa.string())
    return pc.replace_with_mask(pc.ascii_trim(spaced, " "), is_other, others)
