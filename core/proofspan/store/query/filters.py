"""A filter is data: it yields SQL, bound values and the sentence that a person reads.

The SQL fragments below are the only ones there are; what a person typed or a file holds is always bound.
They speak of the table `rows` of one run (see `sql/`), so a filter's `run` chooses the table and is no part
of the clause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from proofspan.contracts.records.records import Label
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.diagnosis.gold import GoldState
from proofspan.diagnosis.topic import in_words
from proofspan.display_names import BUCKET_NAMES, EVIDENCE_NAMES, GOLD_NAMES, ISSUE_NAMES, LABEL_NAMES
from proofspan.metrics.ranked import Bucket
from proofspan.store.files.columns import fold
from proofspan.store.files.evidence_states import EvidenceState
from proofspan.store.query.metric_sql import (
    FAILS,
    HEADLINE,
    MEETS,
    MISSES,
    OUTCOMES,
    Clause,
    any_of,
    measure_of,
)

#: How a question went in this run and in another: wrong there and right here, the reverse, right or wrong in
#: both.
Flip = Literal["fixed", "regressed", "both", "neither"]
#: Each flip with what it says of the other run's outcome and of this one's, and the words before the run.
_FLIPS: Mapping[Flip, tuple[int, int, str]] = {
    "fixed": (0, 1, "fixed against"),
    "regressed": (1, 0, "regressed against"),
    "both": (1, 1, "right here and in"),
    "neither": (0, 0, "wrong here and in"),
}
FLIPS: tuple[Flip, ...] = tuple(_FLIPS)


@dataclass(frozen=True, slots=True)
class Filter:
    """The restrictions of a list. Empty tuples, None and "" mean "no restriction".

    The field names are the URL's parameter names. `suspicion`, `code` (of the contract), `label`, `doc`,
    `section`, `gold` (the gold passage's state) and `evidence` (the states of the citations on their
    pages; nothing matches while they are not located) match any of the given values; `unsupported` True keeps
    rows with numbers that no evidence holds, False those without; `safety` True keeps answers that may leave
    out a warning or caution of a section that they cite, False those that cite and leave out none. `about`
    matches any of the places that a question is about (see `proofspan.diagnosis.topic`), `fails` True keeps
    what went wrong, False what did not (see `FAILS`); what cannot be judged is in neither. `text` is searched
    in question and answer, case folded; with `questions_only`, in the question alone. `run` is always set.
    Only headline traces (paraphrase 0, seed 0, no repeats: one a question) are shown unless `all_variants`.

    `bucket`, `type` (the gold question's) and `state` (λ, as logged) match any of the values; `refused` True
    keeps what declines. `miss` names a metric and keeps what counts against it (see `MISSES`), `met` what
    counts in it and not against it, `cohort` a frozen list of questions. `vs` is another run, which alone
    restricts nothing: `was` and `was_bucket` match the label and the bucket that the same trace has there,
    and `flip` how its `outcome` (one of `OUTCOMES`, the first where none is named) came out here and there.
    What the other run does not have, or one of the two cannot judge, matches none of these.
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
    bucket: tuple[Bucket, ...] = ()
    type: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    refused: bool | None = None
    miss: str = ""
    met: str = ""
    cohort: str = ""
    vs: str = ""
    was: tuple[Label, ...] = ()
    was_bucket: tuple[Bucket, ...] = ()
    flip: Flip | Literal[""] = ""
    outcome: str = ""
    code: tuple[str, ...] = ()

    @property
    def is_narrowed(self) -> bool:
        """Whether the list is restricted; what it is compared with, and by what, does not count."""
        return replace(self, vs="", outcome="") != Filter(self.run)

    @property
    def compares(self) -> bool:
        """Whether the list is restricted by what another run had."""
        return bool(self.was or self.was_bucket or self.flip)

    @property
    def without_comparison(self) -> Filter:
        """The filter without its parts that say what another run had."""
        return replace(self, was=(), was_bucket=(), flip="")

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
        """Return what is shown in words: `12 of 240 questions: Unsupported answer, section 4.2`."""
        noun = "trace" if self.all_variants else "question"
        count = f"{shown:,} of {total:,} {noun if total == 1 else noun + 's'}"
        described = self.where().sentence
        return f"{count}: {described}" if described else count

    def _parts(self) -> Sequence[Clause | None]:
        return (
            None if self.all_variants else HEADLINE,
            any_of("label", "label = ANY($label)", self.label, "", names=LABEL_NAMES),
            any_of(
                "suspicions",
                "list_has_any(suspicions, $suspicion)",
                self.suspicion,
                "",
                name="suspicion",
                names=ISSUE_NAMES,
            ),
            _codes(self.code),
            any_of("docs", "list_has_any(docs, $doc)", self.doc, "document ", name="doc"),
            any_of(
                "rank1_section", "rank1_section = ANY($section)", self.section, "section ", name="section"
            ),
            _gold(self.gold),
            None if self.unsupported is None else _UNSUPPORTED[self.unsupported],
            _evidence(self.evidence),
            None if self.safety is None else _SAFETY[self.safety],
            _about(self.about),
            None if self.fails is None else _FAILS[self.fails],
            any_of("bucket", "bucket = ANY($bucket)", self.bucket, "", names=BUCKET_NAMES),
            any_of("q_type", "q_type = ANY($type)", self.type, "type ", name="type"),
            any_of("lambda_state", "lambda_state = ANY($state)", self.state, "λ ", name="state"),
            None if self.refused is None else _REFUSED[self.refused],
            MISSES[self.miss] if self.miss else None,
            MEETS[self.met] if self.met else None,
            Clause("in_cohort", {}, f"of cohort {self.cohort}", ("in_cohort",)) if self.cohort else None,
            *self._compared(),
            _search(self.text, questions_only=self.questions_only),
        )

    def _compared(self) -> Sequence[Clause | None]:
        """Return the clauses on another run; the columns that begin with `was_` are that run's."""
        there = f" in {self.vs or NO_RUN}"
        return (
            any_of(
                "was_label",
                "was_label = ANY($was)",
                self.was,
                "was ",
                name="was",
                names=LABEL_NAMES,
                after=there,
            ),
            any_of(
                "was_bucket",
                "was_bucket = ANY($was_bucket)",
                self.was_bucket,
                "was ",
                names=BUCKET_NAMES,
                after=there,
            ),
            _flip(self.flip, self.vs, self.outcome or next(iter(OUTCOMES))) if self.flip else None,
        )


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

_FAILS = {
    True: Clause(FAILS.sql, {}, "fails", FAILS.columns),
    False: Clause(f"NOT {FAILS.sql}", {}, "does not fail", FAILS.columns),
}
_REFUSED = {
    True: Clause("refused", {}, "declines", ("refused",)),
    False: Clause("NOT refused", {}, "does not decline", ("refused",)),
}
#: Where an address asks for what another run had and does not say which.
NO_RUN = "a run that is not named"


def _flip(flip: Flip, vs: str, outcome: str) -> Clause:
    was, is_now, words = _FLIPS[flip]
    here = measure_of(outcome)
    there = f"was_value_{outcome}"
    return Clause(
        f"{here.number} = {is_now} AND {there} = {was}",
        {},
        f"{words} {vs or NO_RUN} by {OUTCOMES[outcome]}",
        (*here.columns, there),
    )


def _gold(states: tuple[GoldState, ...]) -> Clause | None:
    if not states:
        return None
    words = " or ".join(name for state, name in GOLD_NAMES.items() if state in states)
    return Clause(
        "gold_state = ANY($gold)", {"gold": list(states)}, f"gold passage: {words}", ("gold_state",)
    )


def _codes(codes: tuple[str, ...]) -> Clause | None:
    if not codes:
        return None
    words = " or ".join(rule_of(code).title for code in codes)
    return Clause("list_has_any(codes, $code)", {"code": list(codes)}, f"breaks: {words}", ("codes",))


def _evidence(states: tuple[EvidenceState, ...]) -> Clause | None:
    if not states:
        return None
    words = " or ".join(name for state, name in EVIDENCE_NAMES.items() if state in states)
    return Clause(
        "list_has_any(evidence, $evidence)", {"evidence": list(states)}, f"cited text: {words}", ("evidence",)
    )


def _about(places: tuple[str, ...]) -> Clause | None:
    if not places:
        return None
    return Clause(
        "list_has_any(about, $about)", {"about": list(places)}, f"about {in_words(places)}", ("about",)
    )


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


#: design's order: label, then unsupported numbers (most first), the state of the gold passage (worst first,
#: where it is known), answer coverage (least first), then identity.
WORST_FIRST = (
    SortTerm("severity", "severity"),
    SortTerm("len(numbers_unsupported)", "numbers_unsupported", descending=True),
    SortTerm("gold_severity", "gold_severity"),
    SortTerm("answer_coverage", "answer_coverage"),
)
#: Makes every order total, so that pages never overlap and a row's neighbours are well defined.
IDENTITY = tuple(SortTerm(name, name) for name in ("q_id", "paraphrase", "seed", "repeat"))
#: The rank of the gold section, best first: one that no list holds comes after all ranks, and what is not
#: judged last, by the reason.
GOLD_RANK = (
    SortTerm(f"coalesce(section_rank, CASE WHEN unranked IS NULL THEN {2**31 - 1} END)", "section_rank"),
    SortTerm("top_rank", "top_rank"),
    SortTerm("unranked", "unranked"),
)
#: What a list may be sorted by: the URL's name → the terms, in their natural direction.
SORTS: Mapping[str, tuple[SortTerm, ...]] = {
    "worst": WORST_FIRST,
    "label": (SortTerm("severity", "severity"),),
    "why": (SortTerm("why", "why"),),
    "question": (SortTerm("q", "q"),),
    "q_id": (SortTerm("q_id", "q_id"),),
    "section": (SortTerm("rank1_section", "rank1_section"),),
    "section_rank": GOLD_RANK,
    "cited": (SortTerm("cited", "cited"),),
    "resolved": (SortTerm("cited_resolved", "cited_resolved"),),
    "query_coverage": (SortTerm("query_coverage", "query_coverage"),),
    "answer_coverage": (SortTerm("answer_coverage", "answer_coverage"),),
    "unsupported": (SortTerm("len(numbers_unsupported)", "numbers_unsupported"),),
    "suspicions": (SortTerm("len(suspicions)", "suspicions"),),
    "codes": (SortTerm("len(codes)", "codes"),),
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
