"""A trace held to the contract: every finding with its words, or the distinct codes at the least cost.

Both go through the same rules. `trace_codes` skips one only where a quick look shows that it finds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from proofspan.contracts.codes import in_order
from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.records import Trace
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.contract_across import across_findings, is_clean_across
from proofspan.traces.contract_answer import answer_findings, is_clean_answer, is_clean_log, log_findings
from proofspan.traces.contract_cited import are_clean_citations, citing_findings
from proofspan.traces.contract_envelope import envelope_findings, is_clean_envelope
from proofspan.traces.contract_lists import are_clean_lists, candidate_findings
from proofspan.traces.contract_reading import Located, Reading, reading_of
from proofspan.traces.contract_sparse import cited_codes

#: So many findings of one code are told of one trace; one more counts the rest.
MOST = 24

#: Each rule with the quick look that may show that it finds nothing, in the order of findings.
_RULES: tuple[tuple[Callable[[Reading], bool], Callable[[Reading], Iterator[Located]]], ...] = (
    (is_clean_envelope, envelope_findings),
    (is_clean_log, log_findings),
    (is_clean_answer, answer_findings),
    (are_clean_citations, citing_findings),
    (are_clean_lists, candidate_findings),
    (is_clean_across, across_findings),
)
#: What stands for a rule where codes alone are wanted.
_CODED: Mapping[Callable[[Reading], Iterator[Located]], Callable[[Reading], Iterable[Located]]] = {
    citing_findings: cited_codes
}


def trace_findings(trace: Trace, context: Context, *, declines: bool) -> tuple[Finding, ...]:
    """Everything that is wrong with a trace, code by code; the q_id names the findings.

    Of one code at most `MOST` findings are told, and one more that counts the rest.

    `declines` says whether the answer declines by the run's profile: then it owes no citations.
    """
    reading = reading_of(trace, context, declines=declines)
    found: dict[str, list[Finding]] = {}
    more: Counter[str] = Counter()
    for _, rule in _RULES:
        for place, finding in rule(reading):
            told = found.setdefault(finding.code, [])
            if len(told) > MOST:
                more[finding.code] += 1
            else:
                told.append(replace(finding.inside(place) if place else finding, record_id=trace.q_id))
    for code, rest in more.items():
        found[code][MOST] = replace(found[code][MOST], message=f"{rest + 1:,} more like it")
    return tuple([finding for told in found.values() for finding in told])


def trace_codes(trace: Trace, context: Context, *, declines: bool) -> tuple[str, ...]:
    """The distinct codes of `trace_findings`, in order."""
    reading = reading_of(trace, context, declines=declines)
    rules = [_CODED.get(rule, rule) for is_clean, rule in _RULES if not is_clean(reading)]
    return tuple(in_order({finding.code for rule in rules for _, finding in rule(reading)})) if rules else ()


def context_of(manifest: Manifest, run: Run, corpus: Container[str] | None) -> Context:
    """What a run's traces are held against: its pins, the documents' revisions, the corpus, the whitelist."""
    allowed = manifest.contract.get("allow_cross_section")
    pinned = run.pinned
    return Context(
        index_hash=_pin(pinned.get("index_hash")),
        embed_model=_pin(pinned.get("embed_model")),
        analyzer=_pin(pinned.get("analyzer")),
        revs={document.doc_id: document.rev for document in manifest.documents if document.rev},
        corpus=corpus,
        allow_cross=allowed is True,
        cross_sections=frozenset(map(str, allowed)) if isinstance(allowed, list) else frozenset(),
    )


def _pin(value: Any) -> str | None:
    """A pin as text; YAML reads a hash of digits alone as a number."""
    return str(value) or None if isinstance(value, str) or type(value) is int else None
