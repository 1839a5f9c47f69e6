"""The candidates that are reranked, the logged top 20 of each question, and what is read of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.names import SectionKey, section_key
from proofspan.contracts.records.records import Chunk, Json, StageName, Trace, TraceKey
from proofspan.metrics.ranked import TOP
from proofspan.services.rerank.section_text import section_text
from proofspan.traces.records.chunks import Places, place_of
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.redirects import mapped
from proofspan.traces.records.trace_record import listed, place_in, top_stage

#: What a candidate is read as: the text of its section, or its own.
TextKind = Literal["section", "chunk"]
Entry = Mapping[str, Json]
#: The score of each candidate of each trace.
Scored = Mapping[TraceKey, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A trace with the candidates to rerank, in the logged order, and the stage that they are from."""

    key: TraceKey
    q: str
    stage: StageName
    candidates: tuple[tuple[str, Entry], ...]

    @property
    def is_headline(self) -> bool:
        """Return whether metrics count this trace: the first of its question, in its own words."""
        return (self.key.paraphrase, self.key.seed, self.key.repeat) == (0, 0, 1)

    @property
    def name(self) -> str:
        """`Q80`, `Q80 (paraphrase 1, seed 0)` in messages."""
        variant = f" (paraphrase {self.key.paraphrase}, seed {self.key.seed})"
        return self.key.q_id + (variant if self.key.paraphrase or self.key.seed else "")


def asked_in(
    traces: Iterable[Trace], q_ids: Container[str] | None
) -> Iterator[tuple[Trace, TraceKey, Asked | None]]:
    """Yield every trace with its key, and with its candidates if it is of these questions (None: of all).

    A trace without candidates has none to rerank. A chunk that a list holds twice counts once, at its better
    rank, as in the metrics.
    """
    repeats = Repeats()
    for trace in traces:
        key, asked = repeats.key_of(trace), None
        if (q_ids is None or trace.q_id in q_ids) and (stage := top_stage(trace)) is not None:
            found: dict[str, Entry] = {}
            for rank, chunk_id, entry in listed(trace, stage):
                if rank > TOP:
                    break
                found.setdefault(chunk_id, entry)
            asked = Asked(key, trace.q, stage, tuple(found.items())) if found else None
        yield trace, key, asked


class Texts:
    """The texts of candidates by the chunk file, else by their own entries."""

    def __init__(self, chunks: Mapping[str, Chunk], kind: TextKind) -> None:
        self._chunks, self._kind = chunks, kind
        self._places: Places = mapped(chunks, place_of)
        self._sections: dict[tuple[str | None, SectionKey], list[Chunk]] = defaultdict(list)
        for chunk in chunks.values() if kind == "section" else ():
            at = place_of(chunk)
            self._sections[at.doc_id, section_key(at.section_id)].append(chunk)
        self._made: dict[tuple[str | None, SectionKey], str] = {}

    def text(self, chunk_id: str, entry: Entry) -> str | None:
        """Return the text that a candidate is read as; None if neither chunk file nor entry has one.

        A candidate without a section that the chunk file has is read as a section of that chunk alone.
        """
        chunk = self._chunks.get(chunk_id)
        own = chunk.text if chunk is not None else entry.get("text")
        if self._kind == "chunk":
            return own if isinstance(own, str) else None
        at = place_in(entry, chunk_id, self._places)
        section = at.doc_id, section_key(at.section_id)
        if section[1] and section in self._sections:
            if section not in self._made:
                self._made[section] = section_text(self._sections[section])
            return self._made[section]
        return section_text([Chunk(chunk_id, own)]) if isinstance(own, str) else None


def new_order(asked: Asked, scores: Mapping[str, float], places: Places) -> list[tuple[str, Entry]]:
    """Return the candidates by falling score, ties by section id and chunk id."""

    def order(candidate: tuple[str, Entry]) -> tuple[float, str, str]:
        chunk_id, entry = candidate
        return -scores[chunk_id], place_in(entry, chunk_id, places).section_id or "", chunk_id

    return sorted(asked.candidates, key=order)
