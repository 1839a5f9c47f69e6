"""The types of triage: the profile, the signals, the report row, and its explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import orjson

from proofspan.contracts.records.records import Json, Label
from proofspan.diagnosis.numbers import Number
from proofspan.errors import InputFault, Problem

Template = Literal["seed", "payload", "none"]


@dataclass(frozen=True, slots=True)
class Profile:
    """How to read a pipeline's answers.

    `template` says where the template check looks: in the answer's text as the reference does ("seed"), at
    the citation payload ("payload"), or nowhere ("none"). `refusal` holds the phrases that make an answer a
    refusal, compared in lower case. The defaults are the reference's.
    """

    template: Template = "seed"
    refusal: tuple[str, ...] = ("not in context",)

    def describe(self) -> str:
        """Return the words beside every count: `template seed · refusal "not in context"`."""
        phrases = ", ".join(f'"{phrase}"' for phrase in self.refusal)
        return f"template {self.template} · refusal {phrases}" if phrases else f"template {self.template}"


@dataclass(frozen=True, slots=True)
class Signals:
    """Why a label is what it is. Coverages lie in 0–1, None where the text has no content word.

    `support` is that of the answer's claims, 0–1 and None without any; `contradictions` counts those that
    differ from their evidence. Both are None while claims are not checked, and no label depends on them.
    """

    phrase: str | None = None
    query_found: tuple[str, ...] = ()
    query_missing: tuple[str, ...] = ()
    query_coverage: float | None = None
    answer_coverage: float | None = None
    numbers_unsupported: tuple[str, ...] = ()
    cited: int = 0
    cited_retrieved: int = 0
    cited_resolved: int = 0
    support: float | None = None
    contradictions: int | None = None


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One question's verdict. `label`, `why`, `chunks`, `citations_in_answer` equal the reference's.

    `claims` are those of its answer and `verdict` the one on it, as a report holds them; both are None where
    claims were not checked.
    """

    q: str
    label: Label
    why: str
    chunks: tuple[str, ...]
    citations_in_answer: tuple[str, ...]
    signals: Signals
    suspicions: tuple[str, ...] = ()
    q_id: str | None = None
    extra: dict[str, object] = field(default_factory=dict)
    claims: tuple[Mapping[str, Json], ...] | None = None
    verdict: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase of the answer, with its half-open range there, and the chunks that have it."""

    phrase: str
    answer_start: int
    answer_end: int
    chunk_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A token that the reference aligns by: whether a chunk has it, and its ranges in the question.

    `is_content` is False for stopwords, which count for the label but not for `query_coverage`.
    """

    token: str
    is_content: bool
    is_found: bool
    in_question: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A label's reasons for a page to mark; ranges are half-open characters of the original texts.

    `phrases` are all phrases of the answer that the evidence has, in the order of the answer; the first is
    the signal's. `numbers` are the unsupported ones, `cited` the counted ids by their ranges in the answer.
    `refusal` is the phrase that makes the answer a refusal, or with `is_other_wording` the words that decline
    without being the profile's. `words_missing` are the answer's content words that no chunk has, in order.
    """

    phrases: tuple[PhraseMatch, ...] = ()
    numbers: tuple[Number, ...] = ()
    query: tuple[QueryToken, ...] = ()
    cited: Mapping[tuple[int, int], str] = field(default_factory=dict)
    refusal: str | None = None
    is_other_wording: bool = False
    words_missing: tuple[str, ...] = ()


# Reading a triage profile from a manifest or a command line.

TEMPLATES: tuple[Template, ...] = get_args(Template)
_KEYS = frozenset({"template", "refusal"})


def profile_from(mapping: Mapping[str, Any], *, where: str = "triage") -> Profile:
    """The profile that a manifest's `triage` mapping describes; what it leaves out is the reference's.

    `refusal` may be one phrase or a list. Phrases are kept as written and compared in lower case. Raises
    `InputFault` with one problem for each thing that cannot be used.
    """
    fix = "use `template` and `refusal`"
    problems = [
        Problem("unknown_key", f"{key!r} is not a key of a triage profile", f"{where}.{key}", fix)
        for key in sorted(map(str, mapping.keys() - _KEYS))
    ]
    defaults = Profile()
    template = mapping.get("template", defaults.template)
    if template not in TEMPLATES:
        message, fix = f"the template {template!r} is not known", f"use one of {', '.join(TEMPLATES)}"
        problems.append(Problem("unknown_template", message, f"{where}.template", fix))
    refusal = mapping.get("refusal", defaults.refusal)
    phrases = [refusal] if isinstance(refusal, str) else refusal
    is_list = isinstance(phrases, list | tuple)
    if not is_list or not all(isinstance(item, str) and item.strip() for item in phrases):
        message = "refusal holds something that is no phrase"
        fix = "give a phrase or a list of phrases, such as [not in context]"
        problems.append(Problem("bad_refusal", message, f"{where}.refusal", fix))
    if problems:
        raise InputFault(*problems)
    return Profile(template, tuple(dict.fromkeys(phrases)))


# The report: one JSON object a line with sorted keys, and the Markdown table of the triage recipe.

#: The most characters of a question in the table, counted before anything is escaped.
QUESTION_CUT = 60

_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))


def row_to_json(row: ReportRow) -> bytes:
    """The row as one line without its line end; `q_id` only where there is one, claims where checked.

    The same row gives the same bytes: keys are sorted, numbers are rounded.
    """
    signals = {name: getattr(row.signals, name) for name in Signals.__dataclass_fields__}
    claims: dict[str, object] = {} if row.claims is None else {"claims": row.claims}
    if row.claims is None:
        del signals["support"], signals["contradictions"]
    claims |= row.verdict or {}
    record: dict[str, object] = {
        **row.extra,
        "q": row.q,
        "label": row.label,
        "why": row.why,
        "chunks": row.chunks,
        "citations_in_answer": row.citations_in_answer,
        "signals": signals,
        "suspicions": row.suspicions,
        **claims,
    }
    if row.q_id is not None:
        record["q_id"] = row.q_id
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def table_head() -> str:
    """The two lines that open the recipe's table."""
    return "| q | label | why |\n|---|---|---|\n"


def markdown_row(row: ReportRow) -> str:
    """One line of the table."""
    return f"| {question_cell(row.q)} | **{row.label}** | {row.why} |\n"


def question_cell(question: str) -> str:
    """The raw question cut at 60 characters plus `…`; then `|` is escaped and line breaks become spaces."""
    cut = question if len(question) <= QUESTION_CUT else question[:QUESTION_CUT] + "…"
    return cut.replace("\r\n", " ").translate(_LINE_BREAKS).replace("|", "\\|")
