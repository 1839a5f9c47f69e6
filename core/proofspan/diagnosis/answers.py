"""Read an answer: whether it refuses, what it cites, and its claims without those parts."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from proofspan.contracts.records.field_values import id_of
from proofspan.contracts.records.records import Json, Trace
from proofspan.diagnosis.types import Template

#: What the reference's template check looks for in the lower-cased answer.
MARKER = "citations:"

# The list is bounded, as many that never close would cost quadratic time; a longer one is taken line by line.
CITATION_LINE = re.compile(r"citations\s*:(?:\s*\[[^\]]{0,2000}\]|[^\n]*)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)|【([^【】]*)】")
_BETWEEN = re.compile(r"[,;\s]+")
_REFERENCE_NUMBER = re.compile(r"\^?\d{1,3}(?:[-–]\d{1,3})?")

_NOT = r"(?:do|does|did)(?: not|n['’]t)"
_SOURCES = (
    r"(?:document|context|passage|text|information|source|article|excerpt|material|manual|filing|evidence)"
)
_SAY = r"(?:say|state|mention|specify|contain|provide|include|give|indicate|answer|address|discuss|describe)"
_STATED = (
    r"(?:said|stated|mentioned|specified|contained|provided|included|given|indicated|addressed|discussed"
    r"|described|found|available)"
)
_FIND = r"(?:answer|find|determine|provide)"
#: Declining in other words than a profile's, to be searched in lower case.
_OTHER_REFUSAL = re.compile(
    rf"\b(?:i {_NOT} (?:know|have (?:any |enough |sufficient )?(?:information|context))"
    r"|i(?: am|['’]m) (?:not sure|unable to|not able to)"
    rf"|i (?:can not|cannot|can['’]t|could not|couldn['’]t) {_FIND}"
    rf"|(?:unable|impossible|not possible) to {_FIND}"
    r"|(?:can not|cannot|can['’]t|could not|couldn['’]t) be (?:answered|found|determined)"
    rf"|{_SOURCES}s?(?: provided| given)? {_NOT} (?:\w+ly )?{_SAY}"
    r"|there (?:is|was) no (?:\w+ )?(?:information|mention)"
    r"|no (?:relevant |specific |such )?information (?:about|on|of|regarding|is|was|in)"
    rf"|(?:not|(?:is|are|was|were)n['’]t) (?:\w+ly )?{_STATED} in (?:the|this|these) (?:\w+ )?{_SOURCES}s?"
    r"|(?:insufficient|not enough|not sufficient) (?:information|context))\b"
)
#: Every wording above holds one of the first and one of the second: cheap to look for, and mostly absent.
_NEGATIONS = ("not", "n't", "n’t", "unable", "impossible", "insufficient", "no ")
_SUBJECTS = (
    *("know", "sure", "able to", "answer", "find", "found", "determine", "provide", "possible to"),
    *("information", "context", "document", "passage", "text", "source", "article", "excerpt"),
    *("material", "manual", "filing", "evidence", "mention"),
)


def follows_template(lower: str, *, has_payload: bool, template: Template) -> bool:
    """Return whether the lower-cased answer has its citations where the template requires them."""
    return has_payload if template == "payload" else MARKER in lower


def refuses(lower: str, phrases: Collection[str]) -> bool:
    """Return whether the lower-cased answer contains one of the lower-cased refusal phrases."""
    for phrase in phrases:  # noqa: SIM110 - a generator would double the time of the hot path
        if phrase in lower:
            return True
    return False


def other_refusal(lower: str) -> re.Match[str] | None:
    """Find where a lower-cased answer declines in words that are not in a profile."""
    may_refuse = refuses(lower, _NEGATIONS) and refuses(lower, _SUBJECTS)
    return _OTHER_REFUSAL.search(lower) if may_refuse else None


def payload_ids(trace: Trace) -> tuple[str, ...]:
    """Return the chunk ids of a trace's citation payload, in order, without entries that name none."""
    payload = trace.payload
    if not payload:
        return ()
    named = (id_of(item) if isinstance(item, dict) else item for item in payload)
    return tuple([chunk_id for chunk_id in named if isinstance(chunk_id, str) and chunk_id])


class AnswerFrom(NamedTuple):
    """The run and the prompt that the answer of a computed trace was made from."""

    run_id: str
    chunks: tuple[str, ...]


def answer_from(raw: Mapping[str, Json]) -> AnswerFrom | None:
    """Return what a trace's `answer_from` says; None without it, as in a logged trace."""
    stated = raw.get("answer_from")
    if not isinstance(stated, dict) or not isinstance(chunks := stated.get("chunks"), list):
        return None
    run_id = stated.get("run_id")
    ids = tuple([each for each in chunks if isinstance(each, str) and each])
    return AnswerFrom(run_id if isinstance(run_id, str) else "", ids)


def from_another_prompt(trace: Trace) -> AnswerFrom | None:
    """Return what the answer was made from where that prompt held other chunks than the trace's."""
    stated = answer_from(trace.raw)
    return None if stated is None or set(stated.chunks) == set(trace.chunk_ids) else stated


def claims_of(answer: str, lower: str, ids: Sequence[Collection[str]], refusals: Collection[str] = ()) -> str:
    """Return the answer with its citation line, bracketed references and refusal phrases blanked out.

    `ids` are collections of the ids that brackets may hold (retrieved, cited). The result is as long as the
    answer, so that ranges in it are ranges of the answer.
    """
    claims = answer
    if "citation" in lower or not answer.isascii():
        claims = CITATION_LINE.sub(_spaces, claims)
    if "[" in claims or "(" in claims or "【" in claims:
        known = set().union(*ids)
        claims = _BRACKETED.sub(lambda match: _spaces(match) if _refers(match, known) else match[0], claims)
    for phrase in refusals:
        claims = re.sub(re.escape(phrase), _spaces, claims, flags=re.IGNORECASE)
    return claims


def _spaces(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _refers(match: re.Match[str], ids: Collection[str]) -> bool:
    """Return whether a bracket holds only known ids or, unless it is round, small numbers such as [3]."""
    parts = [part for part in _BETWEEN.split(match[match.lastindex or 0]) if part]
    if not parts:
        return False
    numbered = match[0][0] != "("
    return all(part in ids or (numbered and _REFERENCE_NUMBER.fullmatch(part)) for part in parts)
