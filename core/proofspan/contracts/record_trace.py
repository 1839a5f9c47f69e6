"""What a trace's schema leaves to the rules of citations, so that each fault is told once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from proofspan.contracts.payload_rules import PAYLOAD_FIELDS, PAYLOAD_MARKS
from proofspan.contracts.ranking_rules import RANKS, SCORES
from proofspan.contracts.records import Json

_CITATION = re.compile(r"(?:segments\[\d+\]\.)?citations\[\d+\](?:\.(\w+).*)?")
_CANDIDATE = re.compile(r"((?:chunks|stages\.\w+(?:\.items)?)\[\d+\])\.(\w+).*")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
#: Judged in citations and candidates alike.
_RANKED: Final = frozenset({"page", "page_idx", *SCORES, *RANKS})
_PAYLOAD: Final = _RANKED | frozenset(PAYLOAD_FIELDS)


def is_judged_elsewhere(trace: Mapping[str, Json], field: str) -> bool:
    """Whether the rules of citations judge the place `field` of a trace, whatever its schema says."""
    if (citation := _CITATION.fullmatch(field)) is not None:
        return citation[1] is None or citation[1] in _PAYLOAD
    candidate = _CANDIDATE.fullmatch(field)
    if candidate is None:
        return False
    name, entry = candidate[2], _at(trace, candidate[1])
    is_payload = isinstance(entry, dict) and not PAYLOAD_MARKS.isdisjoint(entry)
    if is_payload or name != "page_idx":
        return name in (_PAYLOAD if is_payload else _RANKED)
    return isinstance(entry, dict) and "page" in entry  # a page_idx alone is the schema's to judge


def _at(record: Json, field: str) -> Json:
    """The value at a place of a record; the place is there."""
    for position, name in _STEP.findall(field):
        record = record[int(position) - 1] if position else record[name]
    return record
