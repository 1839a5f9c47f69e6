"""A trace held to the contract: every finding with its words, or the distinct codes at the least cost.

Both go through the same rules. `trace_codes` skips one only where a quick look shows that it finds nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.contracts.answer_rules import (
    after_finding,
    cited_after,
    lambda_findings,
    stop_finding,
    stop_in,
    stop_of,
)
from core.contracts.codes import in_order
from core.contracts.context import Context
from core.contracts.findings import Finding
from core.contracts.parity import index_name
from core.contracts.payload_rules import parity_findings
from core.contracts.records import Json, Trace
from core.contracts.section_rules import cross_section
from core.manifest.types import Manifest, Run
from core.traces.answer_block import auditable_block
from core.traces.citations import citation_ids_in_text
from core.traces.contract_cited import (
    CitedList,
    citation_list_findings,
    cited_id,
    cited_lists,
    corpus_findings,
    retrieval_findings,
    section_in,
    uncited_segments,
)
from core.traces.contract_lists import candidate_lists, list_findings
from core.traces.fields import id_of

_PINNED = ("index_hash", "embed_model", "analyzer")
Lists = list[tuple[str, list[Json]]]


def context_of(manifest: Manifest, run: Run, corpus: Container[str] | None) -> Context:
    """What a run's traces are held against: its pins, the documents' revisions, the corpus, the whitelist."""
    allowed = manifest.contract.get("allow_cross_section")
    return Context(
        **{name: _pin(run.pinned.get(name)) for name in _PINNED},
        revs={document.doc_id: document.rev for document in manifest.documents if document.rev},
        corpus=corpus,
        allow_cross=allowed is True,
        cross_sections=frozenset(map(str, allowed)) if isinstance(allowed, list | tuple) else frozenset(),
    )


def trace_findings(trace: Trace, context: Context, *, declines: bool) -> tuple[Finding, ...]:
    """Everything that is wrong with a trace, in the order of its fields; the q_id names the findings.

    `declines` says whether the answer declines by the run's profile: then it owes no citations.
    """
    raw = trace.raw
    live = _live(raw, context)
    lists, cited = candidate_lists(raw), cited_lists(raw)
    found = [
        *_log_findings(raw, context),
        *_lambda_findings(raw),
        *_answer_findings(trace, cited, declines=declines),
        *citation_list_findings(cited, live),
        *_text_sections(trace, cited, lists, live),
        *(finding.inside(place) for place, entries in lists for finding in list_findings(entries, live)),
        *_across(trace, cited, lists, context),
    ]
    return tuple([replace(finding, record_id=trace.q_id) for finding in found])


def trace_codes(trace: Trace, context: Context, *, declines: bool) -> tuple[str, ...]:
    """The distinct codes of `trace_findings`, in order."""
    return tuple(in_order(finding.code for finding in trace_findings(trace, context, declines=declines)))


def _live(raw: Mapping[str, Json], context: Context) -> Context:
    """The context with what the trace itself logs as live, where the run pins nothing."""
    logged = {
        name: value
        for name in _PINNED
        if getattr(context, name) is None and isinstance(value := raw.get(name), str) and value.strip()
    }
    return replace(context, **logged) if logged else context  # type: ignore[arg-type]


def _log_findings(raw: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Index, embedding model and analyzer that the trace logs itself, held against the run's pins."""
    logged = {name: raw[name] for name in _PINNED if isinstance(raw.get(name), str)}
    if not logged:
        return
    store = raw.get("store")
    if "index_hash" in logged and isinstance(store, str):
        logged["index_hash"] = index_name(logged["index_hash"], store)
    yield from parity_findings(logged, context)


def _lambda_findings(raw: Mapping[str, Json]) -> Iterator[Finding]:
    """An unknown λ state, on the line itself or within its metrics."""
    found = list(lambda_findings(raw))
    nested = raw.get("metrics")
    if not found and isinstance(nested, dict):
        found = [finding.inside("metrics") for finding in lambda_findings(nested)]
    yield from found


def _answer_findings(trace: Trace, cited: Sequence[CitedList], *, declines: bool) -> Iterator[Finding]:
    """Whether the answer is a stop by the contract, cites at all, and cites before it explains."""
    raw, answer = trace.raw, trace.answer
    if (reply := stop_in(raw)) is not None:
        yield stop_finding(reply, "error")
        return
    if (reply := stop_of(answer)) is not None:
        yield stop_finding(reply, "answer")
        return
    if declines or not answer.strip():
        return
    if (block := auditable_block(answer)) is not None and cited_after(block.keys):
        yield after_finding("answer")
    in_text = citation_ids_in_text(answer)
    if not cited:
        if not in_text and not (block and block.citations):
            yield Finding("empty_citations", "citations", "the answer cites nothing and does not decline")
        return
    yield from uncited_segments(raw)
    if in_text or block is not None or _names_one(answer, cited):
        return
    name = cited[0].place.partition("[")[0]
    if cited_after(list(raw), cited=name):
        yield after_finding(name)


def _names_one(answer: str, cited: Sequence[CitedList]) -> bool:
    """Whether the answer's text names one of the cited chunks."""
    return any((chunk_id := cited_id(item)) and chunk_id in answer for each in cited for item in each.items)


def _text_sections(
    trace: Trace, cited: Sequence[CitedList], lists: Lists, context: Context
) -> Iterator[Finding]:
    """The section fence for an answer that cites in its text alone; sections are those of the candidates."""
    if cited or len(in_text := citation_ids_in_text(trace.answer)) < 2:
        return
    known = {
        chunk_id: section_in(entry, chunk_id)
        for _, entries in lists
        for entry in entries
        if isinstance(entry, dict) and (chunk_id := id_of(entry)) in in_text and chunk_id
    }
    for finding in cross_section([known.get(chunk_id) for chunk_id in in_text], context):
        yield replace(finding, field="answer")


def _across(trace: Trace, cited: Sequence[CitedList], lists: Lists, context: Context) -> Iterator[Finding]:
    """Chunks that are cited and not retrieved, or not in the corpus."""
    cited_places: dict[str, str] = {}
    for each in cited:
        for place, item in enumerate(each.items, start=1):
            if named := cited_id(item):
                cited_places.setdefault(named, f"{each.place}[{place}]")
    for chunk_id in citation_ids_in_text(trace.answer):
        cited_places.setdefault(chunk_id, "answer")
    retrieved: dict[str, str] = {}
    for where, entries in lists:
        for number, entry in enumerate(entries, start=1):
            if isinstance(entry, dict) and (own_id := id_of(entry)):
                retrieved.setdefault(own_id, f"{where}[{number}]")
    if lists or "chunks" in trace.raw:
        yield from retrieval_findings(cited_places, retrieved)
    dated = {
        cited_id(item) for each in cited for item in each.items if isinstance(item, dict) and item.get("rev")
    }
    yield from corpus_findings({**cited_places, **retrieved}, context, dated=dated)


def _pin(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value) else None
