"""Ids of an earlier build in words: from where a redirect leads, and how sure it is. Pure."""

from __future__ import annotations

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.redirects import Redirect
from proofspan.ui.safe import clean

#: So many characters of an id that follows no format are shown, its last ones.
ID_CHARS = 40
#: So many ids that one leads to are named; of more, the rest is counted.
NAMED = 3


def redirected(redirect: Redirect) -> str:
    """`redirected from …|s=4.2|p=042|b=003 (shift, 0.93)`."""
    return f"redirected from {short_id(redirect.old_id)} ({redirect.kind}, {redirect.confidence:.2f})"


def leading(redirect: Redirect) -> str:
    """`An id of an earlier build: it leads to …|s=4.2|p=042|b=003 (shift, 0.93).`"""
    names = [short_id(each) for each in redirect.new_ids[:NAMED]]
    more = len(redirect.new_ids) - NAMED
    ids = " and ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
    return f"An id of an earlier build: it leads to {ids} ({redirect.kind}, {redirect.confidence:.2f})."


def short_id(chunk_id: str) -> str:
    """The part of an id that tells it from others of its document."""
    if parse(chunk_id) is not None:
        return "…" + clean(chunk_id[chunk_id.index("|s=") :])
    shown = clean(chunk_id)
    return shown if len(shown) <= ID_CHARS else "…" + shown[-ID_CHARS:]
