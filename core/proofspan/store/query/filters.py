"""A filter is data: it yields SQL, bound values and the sentence that a person reads.

The SQL fragments below are the only ones there are; what a person typed or a file holds is always bound.
They speak of the table `rows` of one run (see `sql/`), so a filter's `run` chooses the table and is no part
of the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from proofspan.contracts.records.chunk_id import parse, parse_alias
from proofspan.contracts.records.records import Label
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.diagnosis.claims.types import ClaimStatus, DifferenceKind
from proofspan.diagnosis.gold import GoldState
from proofspan.diagnosis.topic import in_words
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED, Cause, Correct, Grounded
from proofspan.display_names import (
    BUCKET_NAMES,
    CAUSE_NAMES,
    CLAIM_NAMES,
    CORRECT_NAMES,
    DIFFERENCE_NAMES,
    EVIDENCE_NAMES,
    GOLD_NAMES,
    GROUNDED_NAMES,
    ISSUE_NAMES,
    LABEL_NAMES,
)
from proofspan.metrics.ranked import Bucket
from proofspan.store.files.columns import fold
from proofspan.store.files.evidence_states import EvidenceState
from proofspan.store.query import score_conditions
from proofspan.store.query.metric_sql import FAILS, HEADLINE, MEETS, MISSES, OUTCOMES, Clause, measure_of

#: How a question went in this run and in another: wrong there and right here, the reverse, right or wrong in
#: both.
Flip = Literal["fixed", "regressed", "both", "neither"]
#: Each flip with what it says of the other run's outcome and of this one's, and the words before the run.
TURNS: Mapping[Flip, tuple[int, int, str]] = {
    "fixed": (0, 1, "fixed compared with"),
    "regressed": (1, 0, "regressed compared with"),
    "both": (1, 1, "right here and in"),
    "neither": (0, 0, "wrong here and in"),
}
FLIPS: tuple[Flip, ...] = tuple(TURNS)
#: What people have done with an answer, by the words of the sentence.
Review = Literal["unseen", "seen", "agreed", "disagreed", "disputed"]
REVIEWS: Mapping[Review, str] = {
    "unseen": "not yet looked at",
    "seen": "looked at",
    "agreed": "verdict agreed to",
    "disagreed": "verdict not agreed to",
    "disputed": "people disagree",
}


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
    in question and answer, case folded; with `questions_only`, in the question alone. A chunk id or its
    alias keeps the answers that cite the chunk. `run` is always set.
    Only headline traces (paraphrase 0, seed 0, no repeats: one a question) are shown unless `all_variants`.

    `bucket`, `type` (the gold question's) and `state` (λ, as logged) match any of the values; `refused` True
    keeps what declines. `miss` names a metric and keeps what counts against it (see `MISSES`), `met` what
    counts in it and not against it, `cohort` a frozen list of questions. `vs` is another run, which alone
    restricts nothing: `was`, `was_cause`, `was_bucket` and `was_correct` match what the same trace has
    there, and `flip` how its `outcome` (one of `OUTCOMES`, the first where none is named) came out here and
    there.
    What the other run does not have, or one of the two cannot judge, matches none of these.

    `claim` (statuses of claims) and `difference` (their kinds) match any of the values, `contradictions` True
    keeps answers with a claim that differs from its evidence, False those without, and `support` those whose
    support lies in a range such as `0.25-0.5`, both ends included. `cause`, `grounded` and `correct` match
    any of the values of a verdict. Nothing matches while claims are not checked.

    `score` are conditions on scores of other tools (see `proofspan.store.query.score_conditions`).

    `review` keeps the answers that `reviewer`, or anybody where it is "", has given a verdict on (`seen`) or
    has not (`unseen`); those whose verdict by the rules they all agree to (`agreed`), or one does not
    (`disagreed`); or of which people say different things (`disputed`). `assigned` keeps those assigned to a
    name.
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
    was_cause: tuple[Cause, ...] = ()
    was_bucket: tuple[Bucket, ...] = ()
    was_correct: tuple[Correct, ...] = ()
    flip: Flip | Literal[""] = ""
    outcome: str = ""
    code: tuple[str, ...] = ()
    claim: tuple[ClaimStatus, ...] = ()
    difference: tuple[DifferenceKind, ...] = ()
    contradictions: bool | None = None
    support: str = ""
    cause: tuple[Cause, ...] = ()
    grounded: tuple[Grounded, ...] = ()
    correct: tuple[Correct, ...] = ()
    score: tuple[str, ...] = ()
    review: Review | Literal[""] = ""
    reviewer: str = ""
    assigned: str = ""

    @property
    def is_narrowed(self) -> bool:
        """Whether the list is restricted; what it is compared with, and by what, does not count."""
        return replace(self, vs="", outcome="", reviewer="") != Filter(self.run)

    @property
    def asks_claims(self) -> bool:
        """Whether the list is restricted by claims or verdicts: nothing matches before they are made."""
        chosen = (self.claim, self.difference, self.support, self.cause, self.grounded, self.correct)
        return any(chosen) or self.contradictions is not None

    @property
    def compares(self) -> bool:
        """Whether the list is restricted by what another run had."""
        return bool(self.was or self.was_cause or self.was_bucket or self.was_correct or self.flip)

    @property
    def without_comparison(self) -> Filter:
        """The filter without its parts that say what another run had."""
        return replace(self, was=(), was_cause=(), was_bucket=(), was_correct=(), flip="")

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

    def _parts(self) -> Iterator[Clause | None]:
        there = f" in {self.vs or NO_RUN}"
        gold = _or(name for state, name in GOLD_NAMES.items() if state in self.gold)
        evidence = _or(name for state, name in EVIDENCE_NAMES.items() if state in self.evidence)
        broken = _or(rule_of(code).title for code in self.code)
        yield None if self.all_variants else HEADLINE
        yield _any_of("label", "label", self.label, _or(self.label, LABEL_NAMES))
        yield _any_of("suspicion", "suspicions", self.suspicion, _or(self.suspicion, ISSUE_NAMES))
        yield _any_of("code", "codes", self.code, f"breaks: {broken}")
        yield _any_of("doc", "docs", self.doc, f"document {_or(self.doc)}")
        yield _any_of("section", "rank1_section", self.section, f"section {_or(self.section)}")
        yield _any_of("gold", "gold_state", self.gold, f"gold passage: {gold}")
        yield _either(self.unsupported, _UNSUPPORTED, "numbers unsupported", "no number unsupported")
        yield _any_of("evidence", "evidence", self.evidence, f"cited text: {evidence}")
        yield _any_of("claim", "claim_statuses", self.claim, f"claims: {_or(self.claim, CLAIM_NAMES)}")
        differing = f"differing in: {_or(self.difference, DIFFERENCE_NAMES)}"
        yield _any_of("difference", "difference_kinds", self.difference, differing)
        yield _any_of("cause", "cause", self.cause, f"cause: {_or(self.cause, CAUSE_NAMES)}")
        yield _any_of("grounded", "grounded", self.grounded, _or(self.grounded, GROUNDED_NAMES))
        yield _any_of("correct", "correct", self.correct, _or(self.correct, CORRECT_NAMES))
        yield _either(self.contradictions, _CONTRADICTS, "some claims differ", "no claim differs")
        if self.support:
            least, most = support_bounds(self.support)
            between = "support BETWEEN $least_support AND $most_support"
            bounds = {"least_support": least, "most_support": most}
            yield Clause(between, bounds, f"support {support_in_words(self.support)}", ("support",))
        yield from score_conditions.clauses(self.score)
        yield _either(self.safety, _SAFETY, f"may omit a {_WARNING}", f"omits no {_WARNING}")
        yield _any_of("about", "about", self.about, f"about {in_words(self.about)}")
        yield _either(self.fails, FAILS, "fails", "does not fail")
        yield _any_of("bucket", "bucket", self.bucket, _or(self.bucket, BUCKET_NAMES))
        yield _any_of("type", "q_type", self.type, f"type {_or(self.type)}")
        yield _any_of("state", "lambda_state", self.state, f"λ {_or(self.state)}")
        yield _either(self.refused, Clause("refused", columns=("refused",)), "declines", "does not decline")
        yield MISSES[self.miss] if self.miss else None
        yield MEETS[self.met] if self.met else None
        yield Clause("in_cohort", {}, f"of cohort {self.cohort}", ("in_cohort",)) if self.cohort else None
        if self.review:
            column = f"is_{'seen' if self.review == 'unseen' else self.review}"
            by = f" by {self.reviewer}" if self.reviewer and self.review != "disputed" else ""
            sql = f"NOT {column}" if self.review == "unseen" else column
            yield Clause(sql, {}, f"{REVIEWS[self.review]}{by}", (column,))
        if self.assigned:
            yield Clause("is_assigned", {}, f"assigned to {self.assigned}", ("is_assigned",))
        yield _any_of("was", "was_label", self.was, f"was {_or(self.was, LABEL_NAMES)}{there}")
        was_cause = f"was {_or(self.was_cause, CAUSE_NAMES)}{there}"
        yield _any_of("was_cause", "was_cause", self.was_cause, was_cause)
        was_bucket = f"was {_or(self.was_bucket, BUCKET_NAMES)}{there}"
        yield _any_of("was_bucket", "was_bucket", self.was_bucket, was_bucket)
        was_correct = f"was {_or(self.was_correct, CORRECT_NAMES)}{there}"
        yield _any_of("was_correct", "was_correct", self.was_correct, was_correct)
        if self.flip:  # a column that begins with `was_` is the other run's
            was, is_now, words = TURNS[self.flip]
            outcome = self.outcome or next(iter(OUTCOMES))
            here, before = measure_of(outcome), f"was_value_{outcome}"
            sql, sentence = f"{here.number} = {is_now} AND {before} = {was}", f"{words} {self.vs or NO_RUN}"
            yield Clause(sql, {}, f"{sentence} by {OUTCOMES[outcome]}", (*here.columns, before))
        if cited := _id_pattern(self.text):
            sql = "regexp_matches(decode(citations), $cited)"
            yield Clause(sql, {"cited": f'{cited}"'}, f"cites {self.text.strip()}", ("citations",))
        elif needle := fold(self.text):
            sql, sentence = "contains(q_folded, $text)", f"question contains “{' '.join(self.text.split())}”"
            columns: tuple[str, ...] = ("q_folded",)
            if not self.questions_only:
                sql, sentence = f"({sql} OR contains(answer_folded, $text))", f"answer or {sentence}"
                columns = ("q_folded", "answer_folded")
            yield Clause(sql, {"text": needle}, sentence, columns)


def _id_pattern(text: str) -> str:
    """Return a regular expression of the chunk ids that a searched id or alias names, "" for another text."""
    name = text.strip().encode("utf-8", "replace").decode()
    if (alias := parse_alias(name)) is not None:
        return alias.pattern
    return re.escape(name) if parse(name) is not None else ""


_UNSUPPORTED = Clause("len(numbers_unsupported) > 0", columns=("numbers_unsupported",))
_CONTRADICTS = Clause("contradictions > 0", columns=("contradictions",))
_SAFETY = Clause("len(safety_omitted) > 0", columns=("safety_omitted",))
_WARNING = "warning of the cited section"
#: Columns of lists, of which any value may match.
_LISTS = frozenset({"suspicions", "codes", "docs", "evidence", "about", "claim_statuses", "difference_kinds"})
#: Where an address asks for what another run had and does not say which.
NO_RUN = "a run that is not named"


def _any_of(name: str, column: str, values: Sequence[str], sentence: str) -> Clause | None:
    """Match any of some values, bound as the parameter `name`; None without any."""
    if not values:
        return None
    sql = f"list_has_any({column}, ${name})" if column in _LISTS else f"{column} = ANY(${name})"
    return Clause(sql, {name: list(values)}, sentence, (column,))


def _either(wanted: bool | None, clause: Clause, yes: str, no: str) -> Clause | None:
    """Match a condition or its opposite; None where neither is asked for."""
    if wanted is None:
        return None
    return replace(clause, sql=clause.sql if wanted else f"NOT {clause.sql}", sentence=yes if wanted else no)


def _or(values: Iterable[str], names: Mapping[str, str] = {}) -> str:
    return " or ".join(names.get(value, value) for value in values)


_RANGE = re.compile(r"([01](?:\.[0-9]{1,6})?)-([01](?:\.[0-9]{1,6})?)")


def support_bounds(text: str) -> tuple[float, float]:
    """Return the ends of a range of support as addresses and commands write it, `0.25-0.5`.

    ValueError for any other text.
    """
    match = _RANGE.fullmatch(text)
    least, most = (float(match[1]), float(match[2])) if match else (1.0, 0.0)
    if not 0 <= least <= most <= 1:
        raise ValueError(f"{text!r} is not a range of support such as 0.25-0.5")
    return least, most


def support_in_words(text: str) -> str:
    """Return `at most 0.50`, `at least 0.50` or `0.25 to 0.50` of a range."""
    least, most = support_bounds(text)
    if least <= 0:
        return f"at most {most:.2f}"
    return f"at least {least:.2f}" if most >= 1 else f"{least:.2f} to {most:.2f}"


class SortTerm(NamedTuple):
    """One ORDER BY term: a column, or the SQL made of it; rows without a value come last either way."""

    column: str
    sql: str = ""
    descending: bool = False

    def order(self, *, reverse: bool = False) -> str:
        """The term as SQL, in the other direction when `reverse`."""
        return f"{self.sql or self.column} {'DESC' if self.descending != reverse else 'ASC'} NULLS LAST"


def _by_place(column: str, names: Sequence[str]) -> SortTerm:
    """Return the order of a column by the place of its value among these names of ours."""
    return SortTerm(column, f"list_position({list(names)!r}, {column})")


#: By harm, within it by support; where claims are not checked by label, then unsupported numbers (most
#: first), the state of the gold passage (worst first, where it is known), answer coverage (least first).
WORST_FIRST = (
    SortTerm("harm"),
    SortTerm("support"),
    SortTerm("severity"),
    SortTerm("numbers_unsupported", "len(numbers_unsupported)", descending=True),
    SortTerm("gold_severity"),
    SortTerm("answer_coverage"),
)
#: Makes every order total, so that pages never overlap and a row's neighbours are well defined.
IDENTITY = tuple(SortTerm(name) for name in ("q_id", "paraphrase", "seed", "repeat"))
#: The rank of the gold section, best first: one that no list holds comes after all ranks, and what is not
#: judged last, by the reason.
GOLD_RANK = (
    SortTerm("section_rank", f"coalesce(section_rank, CASE WHEN unranked IS NULL THEN {2**31 - 1} END)"),
    SortTerm("top_rank"),
    SortTerm("unranked"),
)
#: What a list may be sorted by: the URL's name → the terms, in their natural direction.
SORTS: Mapping[str, tuple[SortTerm, ...]] = {
    "worst": WORST_FIRST,
    "label": (SortTerm("severity"),),
    "cause": (_by_place("cause", CAUSES),),
    "grounded": (_by_place("grounded", GROUNDED),),
    "correct": (_by_place("correct", CORRECT),),
    "why": (SortTerm("why"),),
    "question": (SortTerm("q"),),
    "q_id": (SortTerm("q_id"),),
    "section": (SortTerm("rank1_section"),),
    "section_rank": GOLD_RANK,
    "cited": (SortTerm("cited"),),
    "resolved": (SortTerm("cited_resolved"),),
    "query_coverage": (SortTerm("query_coverage"),),
    "answer_coverage": (SortTerm("answer_coverage"),),
    "unsupported": (SortTerm("numbers_unsupported", "len(numbers_unsupported)"),),
    "support": (SortTerm("support"), SortTerm("contradictions", descending=True)),
    "contradictions": (SortTerm("contradictions"), SortTerm("support")),
    "suspicions": (SortTerm("suspicions", "len(suspicions)"),),
    "codes": (SortTerm("codes", "len(codes)"),),
    "safety": (SortTerm("safety_omitted", "len(safety_omitted)"),),
    "evidence": (SortTerm("evidence_severity"), SortTerm("agreement")),
    "latency": (SortTerm("latency_ms"),),
    "delta_s": (SortTerm("delta_s"),),
    "file": (SortTerm("line"),),
    # Disputed first, then what people do not agree with, then the others that they gave a verdict on.
    "reviewed": tuple(
        SortTerm(name, descending=True) for name in ("is_disputed", "is_contested", "is_reviewed")
    ),
}
SORT_KEYS: tuple[str, ...] = tuple(SORTS)


@dataclass(frozen=True, slots=True)
class Sort:
    """Order of a list; `by` is one of `SORT_KEYS`, or `score:` and the name of a score.

    Ties always break worst first, then by q_id.
    """

    by: str = "worst"
    descending: bool = False

    def __post_init__(self) -> None:
        if self.by not in SORTS and not self.score:
            known = ", ".join((*SORT_KEYS, f"{score_conditions.SORT}NAME"))
            raise ValueError(f"no list is sorted by {self.by!r}; there are {known}")

    @property
    def score(self) -> str:
        """The score that the list is sorted by, "" for another order."""
        name = self.by.removeprefix(score_conditions.SORT)
        return name if name != self.by and score_conditions.is_name(name) else ""

    @property
    def _terms(self) -> tuple[SortTerm, ...]:
        if not self.score:
            return SORTS[self.by]
        number, labels = score_conditions.score_columns(self.score)
        # Labels alone are sorted as texts.
        return SortTerm(number), SortTerm(labels, f"nullif(array_to_string(list_sort({labels}), ', '), '')")

    def order(self) -> str:
        """The ORDER BY terms as SQL: the key (turned round when `descending`), worst first, identity."""
        key = [term.order(reverse=self.descending) for term in self._terms]
        ties = [term.order() for term in (*WORST_FIRST, *IDENTITY)]
        return ", ".join(dict.fromkeys([*key, *ties]))

    def columns(self) -> tuple[str, ...]:
        """The columns that `order` reads."""
        return tuple(dict.fromkeys(term.column for term in (*self._terms, *WORST_FIRST, *IDENTITY)))
