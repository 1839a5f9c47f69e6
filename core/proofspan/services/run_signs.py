"""What the failure modes are read from, counted: rules, ranking, cited text, and the audit of chunk ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from proofspan.contracts.chunk_audit import Audit
from proofspan.contracts.records import Chunk, GoldQuestion
from proofspan.diagnosis.about import section_of
from proofspan.services.failure_modes import Signs
from proofspan.services.failures import Sections, section_map
from proofspan.services.health import HealthTable
from proofspan.store.filters import Filter, Sort
from proofspan.store.queries import Store
from proofspan.traces.chunks import place_of

#: So many outranked questions are looked at for their neighbours, the worst first.
LOOKED_AT = 500

Place = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where gold and candidates stand: the gold questions and the chunks by id, the chunks' sections.

    Empty where a file is lost: then no section has one beside it.
    """

    gold: Mapping[str, GoldQuestion] = field(default_factory=dict)
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    sections: Sections = field(default_factory=dict)

    @classmethod
    def of(cls, gold: Mapping[str, GoldQuestion], chunks: Iterable[Chunk]) -> Corpus:
        """With the sections of the chunks; of several chunks with one id the last counts."""
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        return cls(gold, by_id, section_map(by_id.values()))

    def gold_places(self, q_id: str) -> Collection[Place]:
        """Where a question's gold stands: the sections of its chunks, else those that it names, in whatever
        document has one of that name."""
        known = self.gold.get(q_id)
        if known is None:
            return ()
        places = (place_of(self.chunks[chunk_id]) for chunk_id in known.chunks if chunk_id in self.chunks)
        own = {(place.doc_id, section) for place in places if (section := section_of(place))}
        return own or {key for key in self.sections if key[1] in known.sections}


def run_signs(store: Store, table: HealthTable, corpus: Corpus, *, audits: Iterable[Audit] = ()) -> Signs:
    """The signs of the table's shown run."""
    run_id, shown = table.run_id, Filter(table.run_id)
    buckets = store.bucket_counts(shown)
    most = LOOKED_AT if corpus.gold else 0
    outranked = store.page(Filter(run_id, bucket=("score_policy",)), Sort(), limit=most, offset=0)
    rows = zip(outranked["q_id"], outranked["rank1_doc"], outranked["rank1_section"], strict=True)
    known = [(q_id, (doc, section)) for q_id, doc, section in rows if isinstance(section, str)]
    wanted = {q_id: corpus.gold_places(q_id) for q_id, _ in known}
    return Signs(
        run_id,
        table.questions[table.shown],
        codes=_questions(table, "code"),
        suspicions=_questions(table, "suspicion"),
        evidence=store.evidence_counts(shown),
        drifting=store.counts(shown)["retrieval_drift"],
        hits=buckets.get("hit", 0),
        missed=store.matching(Filter(run_id, bucket=("hit",), miss="citation_match")),
        outranked=buckets.get("score_policy", 0),
        looked_at=len(known),
        adjacent=beside(known, wanted=wanted, sections=corpus.sections),
        audits={audit.name: audit.said for audit in audits if audit.status == "fail"},
    )


def beside(
    rows: Sequence[tuple[str, Place]], *, wanted: Mapping[str, Collection[Place]], sections: Sections
) -> int:
    """How many questions have at rank 1 a section that stands right before or after a gold one.

    `rows` are q_ids with the place at rank 1; sections follow one another as the chunk file has them.
    """
    by_document: dict[str | None, list[str]] = {}
    for (doc_id, section), about in sorted(sections.items(), key=lambda item: item[1].order):
        if about.has_chunks:
            by_document.setdefault(doc_id, []).append(section)
    order = {
        (doc_id, section): place
        for doc_id, named in by_document.items()
        for place, section in enumerate(named)
    }
    return sum(
        first in order
        and any(
            doc_id == first[0] and abs(order.get((doc_id, section), -2) - order[first]) == 1
            for doc_id, section in wanted.get(q_id, ())
        )
        for q_id, first in rows
    )


def _questions(table: HealthTable, kind: str) -> dict[str, int]:
    """The questions of each code of a kind in the shown run."""
    return {row.codes[0]: table.now(row).questions for row in table.single() if row.kind == kind}
