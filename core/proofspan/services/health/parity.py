"""Index and query configuration: what a run pins of index, model and analyzer, beside what its traces log.

The contract's rules give codes for single traces; here are the values themselves, counted over the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proofspan.contracts.rules.parity import same_analyzer, same_embed_model, same_index, same_rev
from proofspan.manifest.types import Manifest, Run
from proofspan.store.query.store import Store

#: How many values of one field are shown; a run that has more has no one value anyway.
MOST_VALUES = 50
#: Field → its name, the code of traces that differ, and whether two of its values are equal.
_FIELDS: Mapping[str, tuple[str, str, Callable[[str, str], bool]]] = {
    "index_hash": ("index", "mismatch_index_hash", same_index),
    "embed_model": ("embedding model", "embed_model_mismatch", same_embed_model),
    "analyzer": ("analyzer", "analyzer_mismatch", same_analyzer),
}
#: What is logged: a field, and for revisions the document.
Key = tuple[str, str]
#: What the traces of a run log: each value with how many traces have it, the most frequent first.
Logged = Mapping[Key, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A logged value, how many traces have it, and whether it is the pinned one (None: nothing is pinned)."""

    value: str
    traces: int
    is_same: bool | None


@dataclass(frozen=True, slots=True)
class ParityRow:
    """One setting that indexing and querying must share.

    `written` is the manifest's value, "" where it has none; `code` is that of the traces that differ.
    """

    name: str
    code: str
    written: str
    read: tuple[ReadValue, ...]

    @property
    def is_same(self) -> bool | None:
        """Whether every logged value is the pinned one; None where there is nothing to compare."""
        known = [value.is_same for value in self.read]
        return None if not self.written or not known else all(known)


def logged_of_run(store: Store, run_id: str) -> Logged:
    """Return what the traces of a run log, from its index."""
    values: dict[Key, dict[str, int]] = {}
    for field, doc_id, value, traces in store.settings(run_id):
        counted = values.setdefault((field, doc_id), {})
        if len(counted) < MOST_VALUES:
            counted[value] = traces
    return values


def parity_rows(manifest: Manifest, run: Run, logged: Logged) -> tuple[ParityRow, ...]:
    """Return index, model and analyzer, then the revision of each document; what nobody names is left out."""
    revs = {document.doc_id: document.rev for document in manifest.documents if document.rev}
    named = [*revs, *sorted(doc for field, doc in logged if field == "rev" and doc not in revs)]
    fields = [((field, ""), *about, run.pinned.get(field)) for field, about in _FIELDS.items()]
    fields += [
        (("rev", doc_id), f"revision of {doc_id}", "rev_mismatch", same_rev, revs.get(doc_id))
        for doc_id in named
    ]
    rows = []
    for key, name, code, is_same, pinned in fields:
        written = str(pinned) if isinstance(pinned, str | int) else ""
        read = tuple(
            ReadValue(value, count, is_same(value, written) if written else None)
            for value, count in logged.get(key, {}).items()
        )
        if written or read:
            rows.append(ParityRow(name, code, written, read))
    return tuple(rows)
