"""The rules of parity: a record names the index, models and document revisions that its run pins.

Names are compared as far as both are complete. A citation says `faiss:2f7d`, the log beside it
`store=faiss index_hash=2f7d`; a citation's embedding model carries its pooling, a log's does not. Case, and
blanks around a part, never count. An empty name equals every other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, wraps

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import id_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Rule, problem
from proofspan.contracts.rules.context import Context, shown
from proofspan.errors import Problem

#: The shortest abbreviation of a commit hash, in digits.
SHORTEST_COMMIT = 7
#: How many characters of a name are compared, so that the caches stay small.
LONGEST = 1_000

_HEX = re.compile(r"[0-9a-f]+")
_REV_LENGTHS = (8, 12)


def index_name(index_hash: str, store: str | None = None) -> str:
    """Return the index of a log's two fields as a citation writes it: `faiss:2f7d`."""
    return f"{store}:{index_hash}" if store and store.strip() else index_hash


Comparison = Callable[[str, str], bool]


def _cached(compare: Comparison) -> Comparison:
    """Let equal names agree at once; of others compare the beginnings, and keep the results."""
    known = lru_cache(maxsize=1 << 8)(compare)

    @wraps(compare)
    def same(a: str, b: str) -> bool:
        return a == b or known(a[:LONGEST], b[:LONGEST])

    return same


@_cached
def same_index(a: str, b: str) -> bool:
    """True if two index hashes agree; the store in front counts if both name it."""
    return _agree(_parts(a, ":")[::-1], _parts(b, ":")[::-1])


@_cached
def same_embed_model(a: str, b: str) -> bool:
    """True if two embedding models agree; pooling and publisher count if both name them."""
    (publisher, _, model), (other_publisher, _, other) = a.rpartition("/"), b.rpartition("/")
    publishers = [publisher.strip().lower()], [other_publisher.strip().lower()]
    return _agree(*publishers) and _agree(_parts(model, ":"), _parts(other, ":"))


@_cached
def same_analyzer(a: str, b: str) -> bool:
    """True if two analyzers have the same steps in the same order."""
    steps, other = _parts(a, "+"), _parts(b, "+")
    return not steps or not other or steps == other


@_cached
def same_rev(a: str, b: str) -> bool:
    """True if two revisions agree; either may be a commit abbreviated to seven digits or more."""
    short, long = sorted((a.strip().lower(), b.strip().lower()), key=len)
    if not short or short == long:
        return True
    return len(short) >= SHORTEST_COMMIT and long.startswith(short) and _HEX.fullmatch(long) is not None


def same_text_rev(in_id: str, rev: str) -> bool:
    """True unless the `r=` of a chunk id contradicts a document's revision.

    That part is the hash of the document's text, so it is compared only with a revision of as many
    hexadecimal digits. A revision of seven or forty digits is a commit and contradicts nothing.
    """
    rev = rev.strip().lower()
    comparable = len(in_id) == len(rev) and len(rev) in _REV_LENGTHS and _HEX.fullmatch(rev) is not None
    return not comparable or in_id == rev


def _parts(name: str, separator: str) -> list[str]:
    parts = [part.strip().lower() for part in name.split(separator)]
    return parts if any(parts) else []


def _agree(parts: list[str], other: list[str]) -> bool:
    return all(mine == theirs or not mine or not theirs for mine, theirs in zip(parts, other, strict=False))


_COMPARED: tuple[tuple[str, str, Comparison], ...] = (
    ("index_hash", "mismatch_index_hash", same_index),
    ("embed_model", "embed_model_mismatch", same_embed_model),
    ("analyzer", "analyzer_mismatch", same_analyzer),
)


@Rule(
    "analyzer_mismatch",
    "parity",
    "analyzer differs",
    "The analyzer at read time is not the one that the index was written with.",
    "Read and write with one analyzer and one normalization.",
)
@Rule(
    "embed_model_mismatch",
    "parity",
    "embedding model differs",
    "The embedding model that the record names is not the one that the run pins.",
    "Embed questions and chunks with one model and one pooling, and rebuild the index.",
)
@Rule(
    "mismatch_index_hash",
    "parity",
    "index differs",
    "The index that the record names is not the one that the run pins.",
    "Rebuild the index, or start the reader only when the new index is in place.",
)
def parity_problems(item: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Compare index, embedding model and analyzer with those that the run pins."""
    for name, code, is_same in _COMPARED:
        value = item.get(name)
        pinned = getattr(context, name) if value is not None else None
        if pinned is not None and isinstance(value, str) and not is_same(value, pinned):
            yield problem(code, name, f"{name} is {shown(value)}, the run's is {shown(pinned)}")


@Rule(
    "rev_mismatch",
    "parity",
    "document revision differs",
    "The cited revision is not the document's in the manifest.",
    "Ingest the document again, or restore the cited revision.",
)
def rev_problems(item: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Compare the revision that a record states with its document's."""
    value = item.get("rev")
    if not context.revs or not isinstance(value, str):
        return
    doc_id = document_of(item)
    rev = context.revs.get(doc_id) if doc_id is not None else None
    if rev is not None and not same_rev(value, rev):
        message = f"rev is {shown(value)}, that of {shown(doc_id)} is {shown(rev)}"
        yield problem("rev_mismatch", "rev", message)


def document_of(item: Mapping[str, Json]) -> str | None:
    """Return the document that a record names, else the one in its chunk id."""
    doc_id = item.get("doc_id")
    if isinstance(doc_id, str) and doc_id:
        return doc_id
    parts = parse(chunk_id) if (chunk_id := id_of(item)) else None
    return parts.doc_uid if parts else None
