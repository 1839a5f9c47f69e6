"""What an answer says about itself: whether it refuses, what it cites, and the claims left without that.

Ranges found in `claims_of` hold in the answer: what is taken out is overwritten with spaces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from core.traces.citations import payload_of
from core.traces.fields import id_of

#: What the reference's template check looks for in the lower-cased answer.
MARKER = "citations:"

_CITATION_LINE = re.compile(r"citations\s*:(?:\s*\[[^\]]*\]|[^\n]*)", re.IGNORECASE)
_BRACKETED = re.compile(r"\[([^\[\]]*)\]|\(([^()]*)\)|【([^【】]*)】")
_BETWEEN = re.compile(r"[,;\s]+")
_REFERENCE_NUMBER = re.compile(r"\^?\d{1,3}(?:[-–]\d{1,3})?")

_NOT = r"(?:do|does|did)(?: not|n['’]t)"
_SOURCES = (
    r"(?:document|context|passage|text|information|source|article|excerpt|material|manual|filing|evidence)"
)
_SAY = r"(?:say|state|mention|specify|contain|provide|include|give|indicate|answer|address|discuss|describe)"
_SAID = (
    r"(?:said|stated|mentioned|specified|contained|provided|included|given|indicated|addressed|discussed"
    r"|described|found|available)"
)
_DETERMINE = r"(?:answer(?:ed)?|find|found|determine[d]?|provide[d]?)"
#: Declining in other words than a profile's. Every alternative needs one of `_NEGATIONS`.
_OTHER_REFUSAL = re.compile(
    rf"\bi {_NOT} (?:know|have (?:any |enough |sufficient )?(?:information|context))\b"
    rf"|\bi(?: am|['’]m) (?:not sure|unable to|not able to)\b"
    rf"|\b(?:unable|not possible|impossible) to {_DETERMINE}\b"
    rf"|\b(?:cannot|can not|can['’]t|could not|couldn['’]t) (?:be )?{_DETERMINE}\b"
    rf"|\b{_SOURCES}s?(?: provided| given)? {_NOT} (?:\w+ly )?{_SAY}\b"
    r"|\bthere (?:is|was) no (?:\w+ )?(?:information|mention)\b"
    r"|\bno (?:relevant |specific |such )?information (?:about|on|of|regarding|is|was|in)\b"
    rf"|\b(?:not|n['’]t) (?:\w+ly )?{_SAID} in (?:the|this|these) (?:\w+ )?{_SOURCES}s?\b"
    r"|\b(?:insufficient|not enough|not sufficient) (?:information|context)\b",
    re.IGNORECASE,
)
_NEGATIONS = ("not", "n't", "n’t", "unable", "impossible", "insufficient", "no ")


def refuses(lower: str, phrases: Collection[str]) -> bool:
    """Whether the lower-cased answer holds one of the refusal phrases (given in lower case)."""
    return any(phrase in lower for phrase in phrases)


def other_refusal(answer: str, lower: str) -> re.Match[str] | None:
    """Where an answer declines in words that are no profile's; `lower` is the answer in lower case."""
    for negation in _NEGATIONS:
        if negation in lower:
            return _OTHER_REFUSAL.search(answer)
    return None


def payload_ids(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The chunk ids of a trace's citation payload, in order; entries that name no chunk are left out."""
    payload = payload_of(raw)
    if not payload:
        return ()
    named = (id_of(item) if isinstance(item, dict) else item for item in payload)
    return tuple([chunk_id for chunk_id in named if isinstance(chunk_id, str) and chunk_id])


def claims_of(answer: str, lower: str, ids: Collection[str], refusals: Collection[str] = ()) -> str:
    """The answer with its citation line, bracketed references and refusal phrases overwritten by spaces.

    `ids` are those that may stand in brackets (retrieved and cited). Its length is that of the answer.
    """
    claims = answer
    if "citation" in lower or not answer.isascii():
        claims = _CITATION_LINE.sub(_spaces, claims)
    if "[" in claims or "(" in claims or "【" in claims:
        claims = _BRACKETED.sub(
            lambda match: _spaces(match) if _is_reference(match, ids) else match[0], claims
        )
    for phrase in refusals:
        claims = re.sub(re.escape(phrase), _spaces, claims, flags=re.IGNORECASE)
    return claims


def _spaces(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _is_reference(match: re.Match[str], ids: Collection[str]) -> bool:
    """Whether a bracket holds nothing but known ids, or, unless it is round, small numbers such as [3]."""
    parts = [part for part in _BETWEEN.split(match[match.lastindex or 0]) if part]
    if not parts:
        return False
    numbered = match[0][0] != "("
    return all(part in ids or (numbered and _REFERENCE_NUMBER.fullmatch(part)) for part in parts)
