"""The contract's rules across records: cited but not retrieved, and chunks that the corpus does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from proofspan.contracts.chunk_ids import UNKNOWN_REVISION, parse
from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.parity import same_text_rev
from proofspan.contracts.values import id_of
from proofspan.traces.contract_reading import Located, Reading, cited_id

#: More chunks than this are looked up by the rules themselves.
MOST_SEEN = 100

_ID = itemgetter("id")


def is_clean_across(reading: Reading) -> bool:
    """Whether every id plainly is one of the chunks that the answerer saw, and all of them in the corpus."""
    seen, corpus = reading.trace.chunk_ids, reading.context.corpus
    if len(seen) > MOST_SEEN or reading.block is not None:
        return False
    for chunk_id in reading.in_text:
        if chunk_id not in seen:
            return False
    for _, items in reading.cited:
        for item in items:
            if cited_id(item) not in seen:
                return False
    if corpus is None:
        return not reading.context.revs
    try:
        for _, entries in reading.lists:
            if not all(map(corpus.__contains__, map(_ID, entries))):
                return False
    except (KeyError, TypeError):
        return False
    return True


def across_findings(reading: Reading) -> Iterator[Located]:
    """Chunks that are cited and not retrieved, that the corpus lacks, or whose id has another revision."""
    cited = _cited_places(reading)
    retrieved: dict[str, str] = {}
    for place, entries in reading.lists:
        for number, entry in enumerate(entries, start=1):
            if isinstance(entry, dict) and (chunk_id := id_of(entry)):
                retrieved.setdefault(chunk_id, f"{place}[{number}]")
    if retrieved or "chunks" in reading.raw:
        for chunk_id, place in cited.items():
            if chunk_id not in retrieved:
                said = f"{shown(chunk_id)} is cited, but not among the {len(retrieved):,} chunks retrieved"
                yield place, Finding("cited_not_retrieved", "", said)
    yield from _corpus_findings({**cited, **retrieved}, reading)


def _cited_places(reading: Reading) -> dict[str, str]:
    """The cited ids, each with the first place in the record that cites it."""
    found: dict[str, str] = {}
    for place, items in reading.cited:
        for number, item in enumerate(items, start=1):
            if chunk_id := cited_id(item):
                found.setdefault(chunk_id, f"{place}[{number}]")
    for chunk_id in reading.in_text:
        found.setdefault(chunk_id, "answer")
    for number, item in enumerate(reading.block.citations if reading.block else (), start=1):
        if chunk_id := cited_id(item):
            found.setdefault(chunk_id, f"answer.citations[{number}]")
    return found


def _corpus_findings(places: Mapping[str, str], reading: Reading) -> Iterator[Located]:
    """`places` is id → its first place in the record.

    An id that the chunk file has is not held against the manifest's revisions: there, chunk file and manifest
    differ. Nor is one that is cited with a `rev` of its own.
    """
    corpus = reading.context.corpus
    strangers = [chunk_id for chunk_id in places if corpus is None or chunk_id not in corpus]
    dated = {
        cited_id(item)
        for _, items in reading.cited
        for item in items
        if isinstance(item, dict) and "rev" in item
    }
    undated = [chunk_id for chunk_id in strangers if chunk_id not in dated]
    yield from _revisions(undated, places, reading.context)
    if corpus is None:
        return
    for chunk_id in strangers:
        yield places[chunk_id], Finding("not_in_corpus", "", f"{shown(chunk_id)} is not in the chunk file")


def _revisions(ids: Sequence[str], places: Mapping[str, str], context: Context) -> Iterator[Located]:
    """One finding a document and revision, at the first id that has it."""
    if not context.revs:
        return
    said = set()
    for chunk_id in ids:
        parts = parse(chunk_id)
        if parts is None or parts.rev == UNKNOWN_REVISION or (parts.doc_uid, parts.rev) in said:
            continue
        rev = context.revs.get(parts.doc_uid)
        if rev is not None and not same_text_rev(parts.rev, rev):
            said.add((parts.doc_uid, parts.rev))
            message = f"r={parts.rev} in {shown(chunk_id)}, the document's revision is {shown(rev)}"
            yield places[chunk_id], Finding("rev_mismatch", "", message)
