"""Chunk files with what is opened: passages that a source only names get their texts and places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from proofspan.contracts.records.field_values import ID_NAMES
from proofspan.contracts.records.records import Chunk
from proofspan.errors import Fault
from proofspan.traces.formats.types import Asked, Passage, Sample
from proofspan.traces.records.chunks import read_chunks


def is_chunk_file(sample: Sample) -> bool:
    """Return whether every record of a file has an id and a text, and none a question."""
    return bool(sample.records) and all(
        isinstance(each.get("text"), str) and any(name in each for name in ID_NAMES) and "q" not in each
        for each in sample.records
    )


def chunks_of(paths: Sequence[Path]) -> Mapping[str, Chunk]:
    """Return the chunks of files by id; of several with one id those of the first file."""
    found: dict[str, Chunk] = {}
    for path in reversed(paths):
        try:
            found |= read_chunks(path, file=path.name)[0]
        except Fault:  # a file that merely lies there
            continue
    return found


def with_texts(asked: Iterable[Asked], known: Mapping[str, Chunk]) -> Iterator[Asked]:
    """Yield questions whose passages without a text have that of the chunk with the same id."""
    for each in asked:
        lists = {name: [_filled(one, known) for one in passages] for name, passages in each.lists.items()}
        listed = {one.id for one in chain.from_iterable(lists.values())}
        cited = [
            one if one.chunk in listed else replace(one, passage=_filled(one.passage, known, one.chunk))
            for one in each.cited
        ]
        yield replace(each, lists=lists, cited=cited, gold=[_filled(one, known) for one in each.gold])


def _filled(passage: Passage, known: Mapping[str, Chunk], name: str | None = None) -> Passage:
    name = name or passage.id
    chunk = known.get(name) if name and passage.text is None else None
    if chunk is None:
        return passage
    has_page = passage.page is not None
    return replace(
        passage,
        text=chunk.text,
        document=passage.document or chunk.doc_id,
        section=passage.section or chunk.section_id,
        page=passage.page if has_page else chunk.page_idx,
        page_base=passage.page_base if has_page else 0,
    )
