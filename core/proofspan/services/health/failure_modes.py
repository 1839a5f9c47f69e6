"""Which typical failures a run shows, by what, and what to do: pure.

Four are those of the traceability contract, three those of the chunk id schema (docs/requirements.md). A mode
applies only where something that was counted says so, and names it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.contracts.records.records import Chunk, GoldQuestion
from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.diagnosis.topic import section_of
from proofspan.services.health.failure_map import Sections, section_map
from proofspan.services.health.rule_counts import HealthTable
from proofspan.services.health.run_findings import counted
from proofspan.store.files.located import EVIDENCE_NAMES, EvidenceState
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import place_of

#: So many fields are named, the most frequent first.
NAMED = 4


@dataclass(frozen=True, slots=True)
class Signs:
    """What the modes are read from; but for `audits` all count questions of the run.

    `codes` and `suspicions` as a list counts them, `evidence` by what became of cited text. `drifting` have
    the label `retrieval_drift`. `hits` have the gold section first, `missed` of them cite no gold passage;
    `outranked` have it lower among the first 20, and of the `looked_at` first ones of those `adjacent` have a
    section beside the gold one first. `audits` are those of the chunk ids that failed: name → what
    it says.
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
    looked_at: int = 0
    adjacent: int = 0
    audits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Because:
    """What was counted: words with their numbers, and the list that has it, None where there is none."""

    said: str
    shown: Filter | None = None


@dataclass(frozen=True, slots=True)
class FailureMode:
    """A failure that a run shows: `symptom` as a person would say it, why it is thought so, what to do."""

    name: str
    symptom: str
    because: tuple[Because, ...]
    next_step: str


def failure_modes(signs: Signs) -> tuple[FailureMode, ...]:
    """The modes that apply, in the order of their sources: retrieval first, chunk ids after."""
    found = ((mode, tuple(mode.applies(signs))) for mode in _MODES)
    return tuple(
        FailureMode(mode.name, mode.symptom, because, mode.next_step) for mode, because in found if because
    )


@dataclass(frozen=True, slots=True)
class _Mode:
    name: str
    symptom: str
    next_step: str
    applies: Callable[[Signs], Iterator[Because]]


def _by_code(signs: Signs, *codes: str) -> Iterator[Because]:
    """What of these codes the run has, the most frequent first."""
    found = {code: signs.codes[code] for code in codes if signs.codes.get(code)}
    for code, count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        yield Because(f"{rule_of(code).title} on {_of(count, signs)}", Filter(signs.run_id, code=(code,)))


def _by_audit(signs: Signs, *names: str) -> Iterator[Because]:
    """What the audits of the chunk file say that failed."""
    yield from (Because(signs.audits[name]) for name in names if name in signs.audits)


def _other_section(signs: Signs) -> Iterator[Because]:
    yield from _by_code(signs, "cross_section_reuse", "cited_not_retrieved")
    states: tuple[EvidenceState, ...] = ("not_found", "page_mismatch")
    for state in states:
        if count := signs.evidence.get(state, 0):
            shown = Filter(signs.run_id, evidence=(state,))
            yield Because(f"{EVIDENCE_NAMES[state]} on {_of(count, signs)}", shown)


def _fields_missing(signs: Signs) -> Iterator[Because]:
    if signs.codes.get("empty_citations", 0) >= signs.questions:
        return  # there are no citations whose fields could be missing
    missing = (code for code in signs.codes if code not in RULES and code.startswith(("missing_", "empty_")))
    of_citations = (code for code in missing if rule_of(code).group == "citation")
    said = list(_by_code(signs, "missing_score", *of_citations))
    yield from said[:NAMED]
    if len(said) > NAMED:
        yield Because(f"and {counted(len(said) - NAMED, 'other field')}")


def _order_changes(signs: Signs) -> Iterator[Because]:
    yield from _by_code(signs, "tie_order", "missing_k_pos", "bad_k_pos", "bad_k_final", "selected_not_k_out")


def _wrong_meaning(signs: Signs) -> Iterator[Because]:
    found = list(_by_code(signs, "analyzer_mismatch", "embed_model_mismatch", "mismatch_index_hash"))
    yield from found
    if found and signs.drifting:
        shown = Filter(signs.run_id, label=("retrieval_drift",))
        yield Because(f"the evidence lacks the question's words on {_of(signs.drifting, signs)}", shown)


def _span_missed(signs: Signs) -> Iterator[Because]:
    if signs.missed:
        shown = Filter(signs.run_id, bucket=("hit",), miss="citation_match")
        said = f"of {counted(signs.hits, 'question')} with the gold section first, {signs.missed:,}"
        yield Because(f"{said} {'cites' if signs.missed == 1 else 'cite'} no gold passage", shown)
    yield from _by_audit(signs, "citation_match", "at_place")


def _adjacent_section(signs: Signs) -> Iterator[Because]:
    if signs.adjacent:
        first = "first " if signs.looked_at < signs.outranked else ""
        said = (
            f"of the {first}{counted(signs.looked_at, 'question')} whose gold section is found and not first"
        )
        shown = Filter(signs.run_id, bucket=("score_policy",))
        has = "has" if signs.adjacent == 1 else "have"
        yield Because(f"{said}, {signs.adjacent:,} {has} a section beside it first", shown)


def _ids_change(signs: Signs) -> Iterator[Because]:
    yield from _by_code(signs, "not_in_corpus", "rev_mismatch")
    if count := signs.suspicions.get("unresolved_chunk_id", 0):
        shown = Filter(signs.run_id, suspicion=("unresolved_chunk_id",))
        yield Because(f"an id without a chunk on {_of(count, signs)}", shown)
    yield from _by_audit(signs, "revision", "recomputed", "one_to_one")


def _of(count: int, signs: Signs) -> str:
    return f"{count:,} of {counted(signs.questions, 'question')}"


_MODES: tuple[_Mode, ...] = (
    _Mode(
        "other_section",
        "The citation looks right, and the text is from another section",
        "Fence sections in the prompt (`proofspan contract` prints the text), let no answer out that cites "
        "what was not retrieved, and read with the analyzer that the index was written with.",
        _other_section,
    ),
    _Mode(
        "fields_missing",
        "Citations are there, and fields of them are missing",
        "Carry every required field on in the adapter, and refuse a payload without one where the chain "
        "takes it over: `proofspan validate FILE --as citation` shows which.",
        _fields_missing,
    ),
    _Mode(
        "order_changes",
        "The order of the candidates is not settled, and may change from run to run",
        "Rerank with a pinned model and seed, break ties by score, section and id, and log `k_pos` and "
        "`k_final`.",
        _order_changes,
    ),
    _Mode(
        "wrong_meaning",
        "Similar, and about something else: the reader is not the writer",
        "Hold analyzer, pooling and metric of reading against those of the index, and build it anew where "
        "one differs.",
        _wrong_meaning,
    ),
    _Mode(
        "span_missed",
        "The right section is found, and the citation misses the passage",
        "Build the section tree anew and check the chunks' offsets against the document.",
        _span_missed,
    ),
    _Mode(
        "adjacent_section",
        "A section beside the right one comes first",
        "Cut chunks at the borders of blocks and sections, so that none holds the end of one and the "
        "beginning of the next.",
        _adjacent_section,
    ),
    _Mode(
        "ids_change",
        "Ids are not those of the chunk file: many may have changed with a small edit",
        "Check how the revision is computed and how blocks are numbered, and write redirects: "
        "`proofspan chunk-ids NEW --against OLD`.",
        _ids_change,
    ),
)


# What the failure modes are read from, counted: rules, ranking, cited text, and the audit of chunk ids.

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
