"""The contract's rules for the answer of a trace and for what the trace logs itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from proofspan.contracts.answer_rules import (
    LAMBDA_WORDS,
    after_finding,
    cited_after,
    lambda_findings,
    stop_finding,
    stop_in,
    stop_of,
)
from proofspan.contracts.citation_rules import items_findings, list_findings, section_of
from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.parity import index_name
from proofspan.contracts.payload_rules import AUDITABLE, parity_findings
from proofspan.contracts.records import Json
from proofspan.contracts.section_rules import cross_section
from proofspan.contracts.values import LAMBDA_NAMES
from proofspan.traces.answer_block import Block
from proofspan.traces.contract_reading import Listed, Located, Reading, cited_id

#: So many cited chunks are looked for in the text of an answer.
MOST_NAMED = 50

_LAMBDAS = frozenset(LAMBDA_NAMES)


def is_clean_log(reading: Reading) -> bool:
    """Whether there is a question, and what is logged of index, models and λ is absent or what is pinned."""
    raw = reading.raw
    analyzer, state = raw.get("analyzer"), raw.get("λ")
    if not reading.trace.q:
        return False
    if analyzer is not None and analyzer != reading.context.analyzer:
        return False
    if "index_hash" in raw or "embed_model" in raw or "metrics" in raw:
        return False
    if state is None:
        return _LAMBDAS.isdisjoint(raw)
    return type(state) is str and state in LAMBDA_WORDS


def log_findings(reading: Reading) -> Iterator[Located]:
    """A question that nothing knows, an unknown λ state; index, model, analyzer that the run does not pin."""
    raw = reading.raw
    if "question_unknown" in reading.trace.suspicions:
        said = "neither the records nor the gold set say what was asked"
        yield "", Finding("question_unknown", "q", said)
    logged: dict[str, Json] = {name: raw.get(name) for name in ("index_hash", "embed_model", "analyzer")}
    if isinstance(logged["index_hash"], str) and isinstance(store := raw.get("store"), str):
        logged["index_hash"] = index_name(logged["index_hash"], store)
    for finding in (*parity_findings(logged, reading.context), *lambda_findings(raw)):
        yield "", finding
    if isinstance(nested := raw.get("metrics"), dict):
        for finding in lambda_findings(nested):
            yield "metrics", finding


def is_clean_answer(reading: Reading) -> bool:
    """Whether the answer is plainly none of the contract's stops and names its citations, or declines."""
    answer = reading.trace.answer
    if "error" in reading.raw or "error" in answer or "segments" in reading.raw:
        return False
    return reading.declines or (bool(reading.in_text) and reading.block is None)


def answer_findings(reading: Reading) -> Iterator[Located]:
    """Whether the answer is a stop by the contract, cites at all, and cites before it explains."""
    raw, answer = reading.raw, reading.trace.answer
    if (reply := stop_in(raw)) is not None:
        yield "", stop_finding(reply, "error")
    elif (reply := stop_of(answer)) is not None:
        yield "", stop_finding(reply, "answer")
    elif not reading.declines and answer.strip():
        yield from _citing_findings(reading)


def _citing_findings(reading: Reading) -> Iterator[Located]:
    """An answer that neither stops nor declines: nothing cited, or cited too late."""
    answer, cited, block = reading.trace.answer, reading.cited, reading.block
    if block is not None:
        yield from _block_findings(block, reading.live)
    if not (cited or reading.in_text or (block and block.citations)):
        said = "the answer cites nothing and does not decline in its profile's words"
        yield "citations", Finding("empty_citations", "", said)
    yield from _uncited_segments(reading)
    if cited and not (reading.in_text or block or reading.is_joined or _names_one(answer, cited)):
        name = cited[0].place.partition("[")[0]
        if cited_after(list(reading.raw), cited=name):
            yield "", after_finding(name)


def _block_findings(block: Block, context: Context) -> Iterator[Located]:
    """The auditable answer by its own keys: each citation owes the five fields of the prompt contract."""
    if cited_after(block.keys):
        yield "", after_finding("answer")
    if block.lambda_state is not None:
        for finding in lambda_findings({"λ": block.lambda_state}):
            yield "answer", finding
    for place, finding in (
        *items_findings(block.citations, context, AUDITABLE),
        *list_findings(block.citations),
        *cross_section([section_of(item) for item in block.citations], context),
    ):
        yield f"answer.citations[{place}]", finding


def _uncited_segments(reading: Reading) -> Iterator[Located]:
    """The segments that cite nothing, where others of the same answer do."""
    segments = reading.raw.get("segments")
    if not isinstance(segments, list) or not any(each.place.startswith("segments") for each in reading.cited):
        return
    for place, segment in enumerate(segments, start=1):
        text = segment.get("text") if isinstance(segment, dict) else None
        if isinstance(text, str) and text.strip() and not segment.get("citations"):
            yield "", Finding("empty_citations", f"segments[{place}].citations", "the segment cites nothing")


def _names_one(answer: str, cited: tuple[Listed, ...]) -> bool:
    """Whether the answer's text names one of the cited chunks."""
    named = (cited_id(item) for _, items in cited for item in items)
    return any(chunk_id in answer for chunk_id in islice(filter(None, named), MOST_NAMED))
