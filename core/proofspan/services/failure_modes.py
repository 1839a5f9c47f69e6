"""Which typical failures a run shows, by what, and what to do: pure.

Four are those of the traceability contract, three those of the chunk id schema (docs/requirements.md). A mode
applies only where something that was counted says so, and names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.codes import RULES, rule_of
from proofspan.services.run_contract import counted
from proofspan.store.filters import Filter
from proofspan.store.placed import EVIDENCE_NAMES, EvidenceState

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
