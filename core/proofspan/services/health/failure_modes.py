"""The typical failures that a run shows, with the reasons and the fix of each.

Four are those of the traceability contract, three those of the chunk id schema (docs/requirements.md). A
failure applies only if something was counted for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.contracts.records.records import Chunk, GoldQuestion
from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.diagnosis.topic import section_of
from proofspan.errors import Problem
from proofspan.services.health.failure_map import Sections, section_map
from proofspan.services.health.rule_counts import HealthTable
from proofspan.services.health.run_findings import EVIDENCE_FINDINGS
from proofspan.store.files.evidence_states import EvidenceState
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import place_of
from proofspan.wording import counted

#: The most fields that are named, the most frequent first.
NAMED = 4
#: The most outranked questions that are checked for adjacent sections, the worst first.
MOST_CHECKED = 500

Place = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """The counts of a run from which failures are derived; all but `audits` count questions.

    `drifting` have the label `retrieval_drift`. `hits` have the gold section first, and `missed` of them cite
    no gold passage. `outranked` have it lower among the top 20; of the first `checked` ones, `adjacent` have
    a neighbour of the gold section first. `audits` maps failed audits of chunk ids to their messages.
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
    audits: Mapping[str, str] = field(default_factory=dict)

    def share(self, count: int) -> str:
        """Return `3 of 40 questions`."""
        return f"{count:,} of {counted(self.questions, 'question')}"


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a failure: a phrase with its numbers, and the list of the questions if there is one."""

    text: str
    shown: Filter | None = None


@dataclass(frozen=True, slots=True)
class FailureMode:
    """A failure that a run shows: its symptom and fix, and the reasons for it."""

    problem: Problem
    reasons: tuple[Reason, ...]


Reasons = Callable[[FailureCounts], Iterator[Reason]]


@dataclass(frozen=True, slots=True)
class _Mode:
    """A failure, with the codes and audits that point to it, and what else does."""

    problem: Problem
    codes: tuple[str, ...] = ()
    audits: tuple[str, ...] = ()
    more: Reasons = lambda _: iter(())


def failure_modes(counts: FailureCounts) -> tuple[FailureMode, ...]:
    """Return the failures that apply, those of retrieval first."""
    modes = (FailureMode(mode.problem, tuple(_reasons(mode, counts))) for mode in _MODES)
    return tuple(mode for mode in modes if mode.reasons)


def _reasons(mode: _Mode, counts: FailureCounts) -> Iterator[Reason]:
    yield from _by_code(counts, mode.codes)
    yield from mode.more(counts)
    yield from (Reason(counts.audits[name]) for name in mode.audits if name in counts.audits)


def _by_code(counts: FailureCounts, codes: Iterable[str]) -> Iterator[Reason]:
    """Yield a reason per code that the run has, the most frequent first."""
    known = [(counts.codes[code], code) for code in codes if counts.codes.get(code)]
    for count, code in sorted(known, key=lambda item: (-item[0], item[1])):
        shown = Filter(counts.run_id, code=(code,))
        yield Reason(f"{rule_of(code).title} on {counts.share(count)}", shown)


def _wrong_text(counts: FailureCounts) -> Iterator[Reason]:
    states: tuple[EvidenceState, ...] = ("not_found", "page_mismatch")
    for state in states:
        if count := counts.evidence.get(state, 0):
            shown = Filter(counts.run_id, evidence=(state,))
            yield Reason(f"{EVIDENCE_FINDINGS[state].title} on {counts.share(count)}", shown)


def _missing_fields(counts: FailureCounts) -> Iterator[Reason]:
    if counts.codes.get("empty_citations", 0) >= counts.questions:
        return  # no citation has fields that could be missing
    families = (
        code for code in counts.codes if code not in RULES and code.startswith(("missing_", "empty_"))
    )
    of_citations = (code for code in families if rule_of(code).group == "citation")
    reasons = list(_by_code(counts, ("missing_score", *of_citations)))
    yield from reasons[:NAMED]
    if len(reasons) > NAMED:
        yield Reason(f"and {counted(len(reasons) - NAMED, 'other field')}")


_CONFIGURATION = ("analyzer_mismatch", "embed_model_mismatch", "mismatch_index_hash")


def _drifting(counts: FailureCounts) -> Iterator[Reason]:
    if counts.drifting and any(map(counts.codes.get, _CONFIGURATION)):
        shown = Filter(counts.run_id, label=("retrieval_drift",))
        yield Reason(f"the evidence lacks the question's words on {counts.share(counts.drifting)}", shown)


def _missed_passage(counts: FailureCounts) -> Iterator[Reason]:
    if counts.missed:
        shown = Filter(counts.run_id, bucket=("hit",), miss="citation_match")
        cite = "cites" if counts.missed == 1 else "cite"
        hits = counted(counts.hits, "question")
        yield Reason(
            f"of {hits} with the gold section first, {counts.missed:,} {cite} no gold passage", shown
        )


def _adjacent(counts: FailureCounts) -> Iterator[Reason]:
    if counts.adjacent:
        first = "first " if counts.checked < counts.outranked else ""
        have = "has" if counts.adjacent == 1 else "have"
        yield Reason(
            f"of the {first}{counted(counts.checked, 'question')} whose gold section is retrieved but not "
            f"first, {counts.adjacent:,} {have} an adjacent section first",
            Filter(counts.run_id, bucket=("score_policy",)),
        )


def _unresolved(counts: FailureCounts) -> Iterator[Reason]:
    if count := counts.suspicions.get("unresolved_chunk_id", 0):
        shown = Filter(counts.run_id, suspicion=("unresolved_chunk_id",))
        yield Reason(f"an id without a chunk on {counts.share(count)}", shown)


_MODES: tuple[_Mode, ...] = (
    _Mode(
        Problem(
            "other_section",
            "The citation looks right, but the text is from another section",
            fix="Separate sections in the prompt (`proofspan contract` prints the text), reject answers that "
            "cite what was not retrieved, and query with the analyzer of the index.",
        ),
        codes=("cross_section_reuse", "cited_not_retrieved"),
        more=_wrong_text,
    ),
    _Mode(
        Problem(
            "fields_missing",
            "Citations lack fields",
            fix="Pass every required field on in the adapter, and reject a payload without one when the "
            "chain receives it: `proofspan validate FILE --as citation` lists them.",
        ),
        more=_missing_fields,
    ),
    _Mode(
        Problem(
            "order_changes",
            "The order of the candidates is not deterministic, and may change from run to run",
            fix="Rerank with a pinned model and seed, break ties by score, section and id, and log `k_pos` "
            "and `k_final`.",
        ),
        codes=("tie_order", "missing_k_pos", "bad_k_pos", "bad_k_final", "selected_not_k_out"),
    ),
    _Mode(
        Problem(
            "wrong_meaning",
            "Similar, but off topic: queries use a different analyzer or model than the index",
            fix="Compare analyzer, pooling and metric of queries with those of the index, and rebuild the "
            "index if one differs.",
        ),
        codes=_CONFIGURATION,
        more=_drifting,
    ),
    _Mode(
        Problem(
            "span_missed",
            "The right section is found, but the citation misses the passage",
            fix="Rebuild the section tree and check the chunks' offsets against the document. Fix citations "
            "before you tune retrieval and reranking.",
        ),
        audits=("citation_match", "at_place"),
        more=_missed_passage,
    ),
    _Mode(
        Problem(
            "adjacent_section",
            "A section next to the right one comes first",
            fix="Cut chunks at the boundaries of blocks and sections, so that none holds the end of one and "
            "the beginning of the next.",
        ),
        more=_adjacent,
    ),
    _Mode(
        Problem(
            "ids_change",
            "Ids differ from those of the chunk file: many may have changed with a small edit",
            fix="Check how the revision is computed and how blocks are numbered, and write redirects: "
            "`proofspan chunk-ids NEW --against OLD`.",
        ),
        codes=("not_in_corpus", "rev_mismatch"),
        audits=("revision", "recomputed", "one_to_one"),
        more=_unresolved,
    ),
)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Gold questions and chunks by id, and the sections of the chunks; empty if a file is lost."""

    gold: Mapping[str, GoldQuestion] = field(default_factory=dict)
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    sections: Sections = field(default_factory=dict)

    @classmethod
    def of(cls, gold: Mapping[str, GoldQuestion], chunks: Iterable[Chunk]) -> Corpus:
        """Build a corpus; of several chunks with one id the last counts."""
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        return cls(gold, by_id, section_map(by_id.values()))

    def gold_places(self, q_id: str) -> Collection[Place]:
        """Return a question's gold sections: those of its chunks, else those named, in any document."""
        question = self.gold.get(q_id)
        if question is None:
            return ()
        places = (place_of(self.chunks[chunk_id]) for chunk_id in question.chunks if chunk_id in self.chunks)
        own = {(place.doc_id, section) for place in places if (section := section_of(place))}
        return own or {key for key in self.sections if key[1] in question.sections}


def failure_counts(
    store: Store, table: HealthTable, corpus: Corpus, *, audits: Iterable[Audit] = ()
) -> FailureCounts:
    """Count what points to failures in the table's shown run."""
    run_id, shown = table.run_id, Filter(table.run_id)
    buckets = store.bucket_counts(shown)
    most = MOST_CHECKED if corpus.gold else 0
    outranked = store.page(Filter(run_id, bucket=("score_policy",)), Sort(), limit=most, offset=0)
    rows = zip(outranked["q_id"], outranked["rank1_doc"], outranked["rank1_section"], strict=True)
    firsts = [(q_id, (doc, section)) for q_id, doc, section in rows if isinstance(section, str)]
    gold = {q_id: corpus.gold_places(q_id) for q_id, _ in firsts}
    return FailureCounts(
        run_id,
        table.total,
        codes=_questions(table, "code"),
        suspicions=_questions(table, "suspicion"),
        evidence=store.evidence_counts(shown),
        drifting=store.counts(shown)["retrieval_drift"],
        hits=buckets.get("hit", 0),
        missed=store.matching(Filter(run_id, bucket=("hit",), miss="citation_match")),
        outranked=buckets.get("score_policy", 0),
        checked=len(firsts),
        adjacent=adjacent(firsts, gold=gold, sections=corpus.sections),
        audits={audit.name: audit.message for audit in audits if audit.status == "fail"},
    )


def adjacent(
    firsts: Sequence[tuple[str, Place]], *, gold: Mapping[str, Collection[Place]], sections: Sections
) -> int:
    """Count the questions whose section at rank 1 is right before or after a gold one in the chunk file.

    `firsts` are q_ids with the section at rank 1.
    """
    by_document: dict[str | None, list[str]] = {}
    for (doc_id, section), about in sorted(sections.items(), key=lambda item: item[1].order):
        if about.has_chunks:
            by_document.setdefault(doc_id, []).append(section)
    order = {
        (doc_id, section): index
        for doc_id, names in by_document.items()
        for index, section in enumerate(names)
    }
    return sum(
        first in order
        and any(
            place[0] == first[0] and abs(order.get(place, -2) - order[first]) == 1
            for place in gold.get(q_id, ())
        )
        for q_id, first in firsts
    )


def _questions(table: HealthTable, kind: str) -> dict[str, int]:
    return {row.codes[0]: table.now(row).questions for row in table.single() if row.kind == kind}
