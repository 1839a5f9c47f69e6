"""The rule of prompts: locked, that is, they ask for citations before the explanation.

Judged by words, in English: somewhere in system, task or constraints one clause must put citing first.
"Cite before you explain", "Citations first, then the answer", "First cite …", "Do not answer until you have
cited" do; "Cite line spans" asks for citations without saying when, "Explain before you cite" asks for the
wrong order, and "Do not cite first" for neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.record_chunk import line_findings
from proofspan.contracts.record_lists import ids_of, unknown_chunks
from proofspan.contracts.records import Json

#: The longest prompt that is read for the rule, in characters.
MOST = 100_000

_CLAUSE = re.compile(r"[.;:!?\n\r]+")
_CITING = r"\bcit(?:e|es|ed|ing|ation|ations)\b"
_EXPLAINING = r"\b(?:explain\w*|explanations?|answer\w*|respon[ds]\w*|conclu\w+|writ\w+|repl\w+)\b"
_LATER = r"\b(?:and|then|later|afterwards?)\b"
_NOT = re.compile(r"\b(?:not|never|no|without|cannot)\b|n['’]t\b")
_LOCKS = (
    re.compile(rf"{_CITING}.{{0,80}}?\b(?:before|first|prior to|ahead of)\b"),
    re.compile(rf"\bfirst\b(?:(?!{_LATER}).){{0,60}}?{_CITING}"),
    re.compile(rf"{_CITING}.{{0,60}}?(?:\bthen\b|→|->|=>).{{0,60}}?{_EXPLAINING}"),
    re.compile(rf"\bbefore\b.{{0,40}}?{_EXPLAINING}.{{0,40}}?{_CITING}"),
)
#: Said with a "not" that belongs to the explanation: no answer before, until or without the citations.
_NEGATED_LOCK = re.compile(
    rf"(?:\b(?:not|never|no)\b|n['’]t\b).{{0,40}}?{_EXPLAINING}.{{0,60}}?\b(?:before|until|unless)\b.{{0,60}}?{_CITING}"
)


def prompt_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a prompt frame beyond its schema."""
    if not is_locked(_asked(obj)):
        said = "system, task and constraints do not ask, in English, for citations before the explanation"
        yield Finding("prompt_not_locked", "", said)
    citations = obj.get("citations")
    for place, item in enumerate(citations if isinstance(citations, list) else (), start=1):
        if isinstance(item, dict):
            for name in ("doc_id", "section_id", "span"):
                if name in item and item[name] is None:
                    yield Finding(f"missing_{name}", f"citations[{place}].{name}", f"{name} is null")
            for finding in line_findings(item.get("span")):
                yield finding.inside(f"citations[{place}]")
    yield from unknown_chunks(ids_of(citations), context, "citations")


def is_locked(prompt: str) -> bool:
    """Whether one clause of a prompt puts citing before explaining."""
    return any(_puts_citing_first(clause) for clause in _CLAUSE.split(prompt[:MOST].lower()))


def _puts_citing_first(clause: str) -> bool:
    if "cit" not in clause:
        return False
    if _NEGATED_LOCK.search(clause):
        return True
    return not _NOT.search(clause) and any(lock.search(clause) for lock in _LOCKS)


def _asked(obj: Mapping[str, Json]) -> str:
    """What the model is asked to do, one text a line."""
    constraints = obj.get("constraints")
    listed = constraints if isinstance(constraints, list) else [constraints]
    return "\n".join(text for text in (obj.get("system"), obj.get("task"), *listed) if isinstance(text, str))
