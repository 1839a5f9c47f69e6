"""A filter is data: it yields SQL, bound values and the sentence that a person reads.

The SQL fragments below are the only ones there are; what a person typed or a file holds is always bound.
They speak of the table `rows` of one run (see `sql/`), so a filter's `run` chooses the table and is no part
of the clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.contracts.records import Label
from core.store.folding import fold
from core.store.placed import EVIDENCE_NAMES, EvidenceState
from core.triage.about import in_words
from core.triage.gold import GOLD_NAMES, GOOD_STATES, WITHOUT_ANSWER, GoldState


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: `sql` with named parameters, their values, the sentence, and the columns it reads."""

    sql: str
    params: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list shows. Empty tuples, None and "" mean "no restriction".

    The field names are the URL's parameter names. `suspicion`, `label`, `doc`, `section`, `gold` (what
    became of the gold passage) and `evidence` (what became of the citations on their pages; nothing matches
    while they are not located) match any of the given values; `unsupported` True keeps rows with numbers
    that no evidence holds, False those without; `safety` True keeps answers that may leave out a warning or
    caution of a section that they cite, False those that cite and leave out none. `about` matches any of the
    places that a question is about (see `core.triage.about`), `fails` True keeps what went wrong, False what
    did not (see `FAILS`); what cannot be judged is in neither. `text` is searched in
    question and answer, case folded; with `questions_only`, in the question alone. `run` is always set. Only
    headline traces (paraphrase 0, seed 0, no repeats: one a question) are shown unless `all_variants`.
    """

    run: str
    label: tuple[str, ...] = ()
    suspicion: tuple[str, ...] = ()
    doc: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    gold: tuple[GoldState, ...] = ()
    unsupported: bool | None = None
    text: str = ""
    all_variants: bool = False
    questions_only: bool = False
    evidence: tuple[EvidenceState, ...] = ()
    safety: bool | None = None
    about: tuple[str, ...] = ()
    fails: bool | None = None

    def where(self) -> Clause:
        """The whole condition; `TRUE` where nothing is restricted."""
        parts = [part for part in self._parts() if part is not None]
        return Clause(
            sql=" AND ".join(part.sql for part in parts) or "TRUE",
            params={name: value for part in parts for name, value in part.params.items()},
            sentence=", ".join(part.sentence for part in parts if part.sentence),
            columns=tuple(dict.fromkeys(column for part in parts for column in part.columns)),
        )

    def sentence(self, shown: int, total: int) -> str:
        """What is shown, in words: `12 of 240 questions: generation_drift, section 4.2`."""
        noun = "trace" if self.all_variants else "question"
        count = f"{shown:,} of {total:,} {noun if total == 1 else noun + 's'}"
        described = self.where().sentence
        return f"{count}: {described}" if described else count

    def _parts(self) -> Sequence[Clause | None]:
        return (
            None if self.all_variants else HEADLINE,
            _any_of("label", "label = ANY($label)", self.label, ""),
            _any_of(
                "suspicions", "list_has_any(suspicions, $suspicion)", self.suspicion, "", name="suspicion"
            ),
            _any_of("docs", "list_has_any(docs, $doc)", self.doc, "document ", name="doc"),
            _any_of(
                "rank1_section", "rank1_section = ANY($section)", self.section, "section ", name="section"
            ),
            _gold(self.gold),
            None if self.unsupported is None else _UNSUPPORTED[self.unsupported],
            _evidence(self.evidence),
            None if self.safety is None else _SAFETY[self.safety],
            _about(self.about),
            None if self.fails is None else _FAILS[self.fails],
            _search(self.text, questions_only=self.questions_only),
        )


def _listed(words: Iterable[str]) -> str:
    """Names of our own as SQL texts."""
    return ", ".join(f"'{word}'" for word in words)


HEADLINE = Clause("paraphrase = 0 AND seed = 0 AND repeat = 1", columns=("paraphrase", "seed", "repeat"))
_UNSUPPORTED = {
    True: Clause("len(numbers_unsupported) > 0", {}, "numbers unsupported", ("numbers_unsupported",)),
    False: Clause("len(numbers_unsupported) = 0", {}, "no number unsupported", ("numbers_unsupported",)),
}
_SAFETY = {
    True: Clause(
        "len(safety_omitted) > 0", {}, "may omit a warning of the cited section", ("safety_omitted",)
    ),
    False: Clause(
        "len(safety_omitted) = 0", {}, "omits no warning of the cited section", ("safety_omitted",)
    ),
}

#: The labels of what went wrong.
FAILING_LABELS: tuple[Label, ...] = ("generation_drift", "retrieval_drift", "refusal_suspect")
#: Whether a trace went wrong, null where that cannot be judged. Where its gold is known: it is anything but
#: cited, or rightly declined; else by the label.
FAILS = Clause(
    f"coalesce(gold_state NOT IN ({_listed(sorted(GOOD_STATES))}), label IN ({_listed(FAILING_LABELS)}))",
    columns=("gold_state", "label"),
)
_FAILS = {
    True: Clause(FAILS.sql, {}, "fails", FAILS.columns),
    False: Clause(f"NOT {FAILS.sql}", {}, "does not fail", FAILS.columns),
}


def _gold(states: tuple[GoldState, ...]) -> Clause | None:
    if not states:
        return None
    words = [
        name if state in WITHOUT_ANSWER else f"gold {name}"
        for state, name in GOLD_NAMES.items()
        if state in states
    ]
    return Clause("gold_state = ANY($gold)", {"gold": list(states)}, " or ".join(words), ("gold_state",))


def _evidence(states: tuple[EvidenceState, ...]) -> Clause | None:
    if not states:
        return None
    words = " or ".join(name for state, name in EVIDENCE_NAMES.items() if state in states)
    return Clause("list_has_any(evidence, $evidence)", {"evidence": list(states)}, words, ("evidence",))


def _about(places: tuple[str, ...]) -> Clause | None:
    if not places:
        return None
    return Clause(
        "list_has_any(about, $about)", {"about": list(places)}, f"about {in_words(places)}", ("about",)
    )


def _any_of(column: str, sql: str, values: tuple[str, ...], noun: str, *, name: str = "") -> Clause | None:
    if not values:
        return None
    return Clause(sql, {name or column: list(values)}, noun + " or ".join(values), (column,))


def _search(text: str, *, questions_only: bool) -> Clause | None:
    needle = fold(text)
    if not needle:
        return None
    shown = " ".join(text.split())
    if questions_only:
        return Clause(
            "contains(q_folded, $text)", {"text": needle}, f"question contains “{shown}”", ("q_folded",)
        )
    return Clause(
        "(contains(q_folded, $text) OR contains(answer_folded, $text))",
        {"text": needle},
        f"answer or question contains “{shown}”",
        ("q_folded", "answer_folded"),
    )


@dataclass(frozen=True, slots=True)
class SortTerm:
    """One ORDER BY term, smallest first unless `descending`; rows without a value come last either way."""

    sql: str
    column: str
    descending: bool = False

    def order(self, *, reverse: bool = False) -> str:
        """The term as SQL, in the other direction when `reverse`."""
        return f"{self.sql} {'DESC' if self.descending != reverse else 'ASC'} NULLS LAST"


#: design's order: label, then numbers unsupported (most first), what became of the gold passage (worst first,
#: where it is known), answer coverage (least first), then identity.
WORST_FIRST = (
    SortTerm("severity", "severity"),
    SortTerm("len(numbers_unsupported)", "numbers_unsupported", descending=True),
    SortTerm("gold_severity", "gold_severity"),
    SortTerm("answer_coverage", "answer_coverage"),
)
#: Makes every order total, so that pages never overlap and a row's neighbours are well defined.
IDENTITY = tuple(SortTerm(name, name) for name in ("q_id", "paraphrase", "seed", "repeat"))
#: What a list may be sorted by: the URL's name → the terms, in their natural direction.
SORTS: Mapping[str, tuple[SortTerm, ...]] = {
    "worst": WORST_FIRST,
    "label": (SortTerm("severity", "severity"),),
    "why": (SortTerm("why", "why"),),
    "question": (SortTerm("q", "q"),),
    "q_id": (SortTerm("q_id", "q_id"),),
    "section": (SortTerm("rank1_section", "rank1_section"),),
    "cited": (SortTerm("cited", "cited"),),
    "resolved": (SortTerm("cited_resolved", "cited_resolved"),),
    "query_coverage": (SortTerm("query_coverage", "query_coverage"),),
    "answer_coverage": (SortTerm("answer_coverage", "answer_coverage"),),
    "unsupported": (SortTerm("len(numbers_unsupported)", "numbers_unsupported"),),
    "suspicions": (SortTerm("len(suspicions)", "suspicions"),),
    "safety": (SortTerm("len(safety_omitted)", "safety_omitted"),),
    "evidence": (SortTerm("evidence_severity", "evidence_severity"), SortTerm("agreement", "agreement")),
    "latency": (SortTerm("latency_ms", "latency_ms"),),
    "delta_s": (SortTerm("delta_s", "delta_s"),),
    "file": (SortTerm("line", "line"),),
}
SORT_KEYS: tuple[str, ...] = tuple(SORTS)


@dataclass(frozen=True, slots=True)
class Sort:
    """Order of a list; `by` is one of `SORT_KEYS`. Ties always break worst first, then by q_id."""

    by: str = "worst"
    descending: bool = False

    def __post_init__(self) -> None:
        if self.by not in SORTS:
            raise ValueError(f"no list is sorted by {self.by!r}; there are {', '.join(SORT_KEYS)}")

    def order(self) -> str:
        """The ORDER BY terms as SQL: the key (turned round when `descending`), worst first, identity."""
        key = [term.order(reverse=self.descending) for term in SORTS[self.by]]
        ties = [term.order() for term in (*WORST_FIRST, *IDENTITY)]
        return ", ".join(dict.fromkeys([*key, *ties]))

    def columns(self) -> tuple[str, ...]:
        """The columns that `order` reads."""
        return tuple(dict.fromkeys(term.column for term in (*SORTS[self.by], *WORST_FIRST, *IDENTITY)))
