"""Whether two records name one thing: like is compared with like, and what cannot be compared is the same.

A citation says `faiss:2f7d`, the log beside it `store=faiss index_hash=2f7d`; a citation's embedding model
carries its pooling, a log's does not. Case, and blanks around a part, never count. An empty name says nothing
and differs from nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: So short may a commit hash be written.
SHORTEST_COMMIT = 7
#: Names are compared as far as this, in characters: no longer ones are kept in memory.
LONGEST = 1_000

_HEX = re.compile(r"[0-9a-f]+")
_REV_LENGTHS = (8, 12)


def index_name(index_hash: str, store: str | None = None) -> str:
    """The index of a log's two fields, written as a citation writes it: `faiss:2f7d`."""
    return f"{store}:{index_hash}" if store and store.strip() else index_hash


def same_index(a: str, b: str) -> bool:
    """Whether two index hashes are one; the store in front counts where both name it."""
    return a == b or _same_index(a[:LONGEST], b[:LONGEST])


@lru_cache(maxsize=1 << 8)
def _same_index(a: str, b: str) -> bool:
    return _agree(_parts(a, ":")[::-1], _parts(b, ":")[::-1])


def same_embed_model(a: str, b: str) -> bool:
    """Whether two embedding models are one; pooling and publisher count where both name them."""
    return a == b or _same_embed_model(a[:LONGEST], b[:LONGEST])


@lru_cache(maxsize=1 << 8)
def _same_embed_model(a: str, b: str) -> bool:
    (publisher, *model), (other_publisher, *other) = _model(a), _model(b)
    return _agree([publisher], [other_publisher]) and _agree(model, other)


def same_analyzer(a: str, b: str) -> bool:
    """Whether two analyzers are one: the same steps in the same order."""
    return a == b or _same_analyzer(a[:LONGEST], b[:LONGEST])


@lru_cache(maxsize=1 << 8)
def _same_analyzer(a: str, b: str) -> bool:
    steps, other = _parts(a, "+"), _parts(b, "+")
    return not steps or not other or steps == other


def same_rev(a: str, b: str) -> bool:
    """Whether two revisions are one; a commit may be cut short to seven digits on either side."""
    return a == b or _same_rev(a[:LONGEST], b[:LONGEST])


@lru_cache(maxsize=1 << 8)
def _same_rev(a: str, b: str) -> bool:
    short, long = sorted((a.strip().lower(), b.strip().lower()), key=len)
    if not short or short == long:
        return True
    return len(short) >= SHORTEST_COMMIT and long.startswith(short) and _HEX.fullmatch(long) is not None


def same_text_rev(in_id: str, rev: str) -> bool:
    """Whether the `r=` of a chunk id is a document's revision.

    That part is the hash of the document's text, so it is compared only with what can be one too: as many
    hexadecimal digits. A revision of seven or forty digits is a commit and differs from nothing.
    """
    rev = rev.strip().lower()
    comparable = len(in_id) == len(rev) and len(rev) in _REV_LENGTHS and _HEX.fullmatch(rev) is not None
    return not comparable or in_id == rev


def _parts(name: str, sign: str) -> list[str]:
    parts = [part.strip().lower() for part in name.split(sign)]
    return parts if any(parts) else []


def _model(name: str) -> list[str]:
    """Publisher ("" where none is named), model, and what stands behind it: its pooling or tag."""
    publisher, _, model = name.rpartition("/")
    return [publisher.strip().lower(), *_parts(model, ":")]


def _agree(parts: list[str], other: list[str]) -> bool:
    """Whether the parts that both have are equal; an empty part says nothing."""
    return all(mine == theirs or not mine or not theirs for mine, theirs in zip(parts, other, strict=False))
