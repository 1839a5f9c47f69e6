"""The typical failures that a run shows, with the reasons and the fix of each.

Four are those of the traceability contract, three those of the chunk id schema (docs/requirements.md). A
failure applies only if something was counted for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.contracts.records.records import Chunk, GoldQuestion
from proofspan.contracts.rules.catalogue import is_of_family, rule_of
from proofspan.diagnosis.topic import section_of
from proofspan.errors import Problem
from proofspan.services.health.failure_map import Place, Sections, section_map
from proofspan.services.health.rule_counts import HealthTable
from proofspan.store.files.evidence_states import EVIDENCE, EvidenceState
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import place_of
from proofspan.wording import counted

#: The most fields that are named, the most frequent first.
NAMED = 4
#: The most outranked questions that are checked for adjacent sections, the worst first.
MOST_CHECKED = 500


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """The counts of questions of a run from which failures are derived.

    `drifting` have the label `retrieval_drift`. `hits` have the gold section first, and `missed` of them cite
    no gold passage. `outranked` have it lower among the top 20; of the first `checked` ones, `adjacent` have
    a neighbour of the gold section first.
    """

    run_id: str
    questions: int
    codes: Mapping[str, int] = field(default_factory=dict)
    suspicions: Mapping[str, int] = field(default_factory=dict)
    evidence: Mapping[EvidenceState, int] = field(default_factory=dict)
    drifting: int = 0
    hits: int = 0
    missed: int = 0
    outranked: int = 0
    checked: int = 0
    adjacent: int = 0


class Reason(NamedTuple):
    """A reason for a failure: a phrase with its numbers, and the list of the questions if there is one."""

    text: str
    shown: Filter | None = None


class FailureMode(NamedTuple):
    """A failure that a run shows: its symptom and fix, and the reasons for it."""

    problem: Problem
    reasons: tuple[Reason, ...]


#: The failures with their symptoms and fixes, those of retrieval first.
FAILURES: tuple[Problem, ...] = (
    Problem(
        "other_section",
        "The citation looks right, but the text is from another section",
        fix="Separate sections in the prompt (`proofspan contract` prints the text), reject answers that "
        "cite what was not retrieved, and query with the analyzer of the index.",
    ),
    Problem(
        "fields_missing",
        "Citations lack fields",
        fix="Pass every required field on in the adapter, and reject a payload without one when the "
        "chain receives it: `proofspan validate FILE --as citation` lists them.",
    ),
    Problem(
        "order_changes",
        "The order of the candidates is not deterministic, and may change from run to run",
        fix="Rerank with a pinned model and seed, break ties by score, section and id, and log `k_pos` "
        "and `k_final`.",
    ),
    Problem(
        "wrong_meaning",
        "Similar, but off topic: queries use a different analyzer or model than the index",
        fix="Compare analyzer, pooling and metric of queries with those of the index, and rebuild the "
        "index if one differs.",
    ),
    Problem(
        "span_missed",
        "The right section is found, but the citation misses the passage",
        fix="Rebuild the section tree and check the chunks' offsets against the document. Fix citations "
        "before you tune retrieval and reranking.",
    ),
    Problem(
        "adjacent_section",
        "A section next to the right one comes first",
        fix="Cut chunks at the boundaries of blocks and sections, so that none holds the end of one and "
        "the beginning of the next.",
    ),
    Problem(
        "ids_change",
        "Ids differ from those of the chunk file: many may have changed with a small edit",
        fix="Check how the revision is computed and how blocks are numbered, and write redirects: "
        "`proofspan chunk-ids NEW --against OLD`.",
    ),
)


def failure_modes(counts: FailureCounts, audits: Iterable[Audit] = ()) -> tuple[FailureMode, ...]:
    """Return the failures that apply, those of retrieval first; failed `audits` of chunk ids are reasons."""
    failed = {audit.name: audit.message for audit in audits if audit.status == "fail"}

    def on(count: int, what: str, **narrow: Any) -> list[Reason]:
        text = f"{what} on {count:,} of {counted(counts.questions, 'question')}"
        return [Reason(text, Filter(counts.run_id, **narrow))] if count else []

    def by_code(*codes: str) -> list[Reason]:
        known = sorted((-counts.codes[code], code) for code in codes if code in counts.codes)
        return [
            each for _, code in known for each in on(counts.codes[code], rule_of(code).title, code=(code,))
        ]

    def located(state: EvidenceState) -> list[Reason]:
        return on(counts.evidence.get(state, 0), EVIDENCE[state].name, evidence=(state,))

    def audited(*names: str) -> list[Reason]:
        return [Reason(failed[name]) for name in names if name in failed]

    fields: list[Reason] = []
    if counts.codes.get("empty_citations", 0) < counts.questions:  # else no citation has any field
        lacking = [
            code for code in counts.codes if is_of_family(code) and code.startswith(("missing_", "empty_"))
        ]
        fields = by_code("missing_score", *(code for code in lacking if rule_of(code).group == "citation"))
    if len(fields) > NAMED:
        fields[NAMED:] = [Reason(f"and {counted(len(fields) - NAMED, 'other field')}")]
    configuration = by_code("analyzer_mismatch", "embed_model_mismatch", "mismatch_index_hash")
    if configuration:
        lacks = "the evidence lacks the question's words"
        configuration += on(counts.drifting, lacks, label=("retrieval_drift",))
    missed = []
    if counts.missed:
        hits, cite = counted(counts.hits, "question"), "cites" if counts.missed == 1 else "cite"
        text = f"of {hits} with the gold section first, {counts.missed:,} {cite} no gold passage"
        missed.append(Reason(text, Filter(counts.run_id, bucket=("hit",), miss="citation_match")))
    beside = []
    if counts.adjacent:
        first = "first " if counts.checked < counts.outranked else ""
        have = "has" if counts.adjacent == 1 else "have"
        text = (
            f"of the {first}{counted(counts.checked, 'question')} whose gold section is retrieved but not "
            f"first, {counts.adjacent:,} {have} an adjacent section first"
        )
        beside.append(Reason(text, Filter(counts.run_id, bucket=("score_policy",))))
    unresolved = counts.suspicions.get("unresolved_chunk_id", 0)
    reasons = {
        "other_section": [
            *by_code("cross_section_reuse", "cited_not_retrieved"),
            *(*located("not_found"), *located("page_mismatch")),
        ],
        "fields_missing": fields,
        "order_changes": by_code(
            "tie_order", "missing_k_pos", "bad_k_pos", "bad_k_final", "selected_not_k_out"
        ),
        "wrong_meaning": configuration,
        "span_missed": missed + audited("citation_match", "at_place"),
        "adjacent_section": beside,
        "ids_change": [
            *by_code("not_in_corpus", "rev_mismatch"),
            *on(unresolved, "an id without a chunk", suspicion=("unresolved_chunk_id",)),
            *audited("revision", "recomputed", "one_to_one"),
        ],
    }
    return tuple(
        FailureMode(problem, tuple(reasons[problem.code])) for problem in FAILURES if reasons[problem.code]
    )


def failure_counts(
    store: Store,
    table: HealthTable,
    gold: Mapping[str, GoldQuestion],
    chunks: Iterable[Chunk],
) -> FailureCounts:
    """Count what points to failures in the table's shown run; of chunks with one id the last counts."""
    run_id, shown = table.run_id, Filter(table.run_id)
    buckets = store.bucket_counts(shown)
    most = MOST_CHECKED if gold else 0
    outranked = store.page(Filter(run_id, bucket=("score_policy",)), Sort(), limit=most, offset=0)
    rows = zip(outranked["q_id"], outranked["rank1_doc"], outranked["rank1_section"], strict=True)
    firsts = [(q_id, (doc, section)) for q_id, doc, section in rows if isinstance(section, str)]
    return FailureCounts(
        run_id,
        table.total,
        codes=table.questions_by("code"),
        suspicions=table.questions_by("suspicion"),
        evidence=store.evidence_counts(shown),
        drifting=store.counts(shown)["retrieval_drift"],
        hits=buckets.get("hit", 0),
        missed=store.matching(Filter(run_id, bucket=("hit",), miss="citation_match")),
        outranked=buckets.get("score_policy", 0),
        checked=len(firsts),
        adjacent=adjacent(firsts, gold, {chunk.chunk_id: chunk for chunk in chunks}),
    )


def adjacent(
    firsts: Sequence[tuple[str, Place]], gold: Mapping[str, GoldQuestion], chunks: Mapping[str, Chunk]
) -> int:
    """Count the questions whose section at rank 1 is right before or after a gold one in the chunk file.

    `firsts` are q_ids with the section at rank 1.
    """
    sections = section_map(chunks.values())
    order: dict[Place, int] = {}
    in_document: Counter[str | None] = Counter()
    for place, section in sorted(sections.items(), key=lambda item: item[1].order):
        if section.has_chunks:
            order[place] = in_document[place[0]]
            in_document[place[0]] += 1
    return sum(
        q_id in gold
        and first in order
        and any(
            place[0] == first[0] and abs(order.get(place, -2) - order[first]) == 1
            for place in gold_places(gold[q_id], chunks, sections)
        )
        for q_id, first in firsts
    )


def gold_places(question: GoldQuestion, chunks: Mapping[str, Chunk], sections: Sections) -> Collection[Place]:
    """Return a question's gold sections: those of its chunks, else those named, in any document."""
    places = (place_of(chunks[chunk_id]) for chunk_id in question.chunks if chunk_id in chunks)
    own = {(place.doc_id, section) for place in places if (section := section_of(place))}
    return own or {place for place in sections if place[1] in question.sections}
