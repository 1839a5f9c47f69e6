"""The rules of an answer record: it cites or declines, and states a known λ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from proofspan.contracts.answer_rules import auditable_findings as whole_findings
from proofspan.contracts.answer_rules import lambda_findings, stop_finding, stop_in, stop_of
from proofspan.contracts.citation_rules import citation_findings
from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.record_lists import ids_of, unknown_chunks
from proofspan.contracts.records import Json

#: The words by which the answer template declines; a run's own phrases are known to its manifest alone.
DECLINES: Final = "not in context"


def answer_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with an answer record beyond its schema."""
    cited, items, text = obj.get("cited_chunks"), obj.get("citations"), obj.get("answer_text")
    if (stop := stop_in(obj)) is not None:
        yield stop_finding(stop, "error")
    elif isinstance(text, str) and (stop := stop_of(text)) is not None:
        yield stop_finding(stop, "answer_text")
    elif cited == [] and not declines(text):
        yield Finding("empty_citations", "cited_chunks", "nothing is cited")
    yield from lambda_findings(obj)
    yield from unknown_chunks(ids_of(cited), context, "cited_chunks")
    if isinstance(items, list) and items:
        for finding in citation_findings(items, context):
            yield finding.inside("citations")


def auditable_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with an auditable answer beyond its schema."""
    yield from whole_findings(obj, context, declines=declines(obj.get("answer")))
    yield from unknown_chunks(ids_of(obj.get("citations")), context, "citations")


def declines(answer: Json) -> bool:
    """Whether an answer says in the template's words that it has none."""
    return isinstance(answer, str) and DECLINES in answer.lower()
