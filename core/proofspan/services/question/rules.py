"""Which rules of the contract one question breaks: each with its places in the record and its next step.

The record itself is judged anew, with every sentence; what only its run tells (see
`proofspan.store.index.run_rules`) comes from the index.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Trace, TraceKey
from proofspan.contracts.rules.catalogue import Rule, in_order, rule_of
from proofspan.contracts.rules.finding import NO_CONTEXT, Context, Finding
from proofspan.diagnosis.labelling import declines, lacks_template
from proofspan.manifest.types import Manifest
from proofspan.services.question.view import QuestionView
from proofspan.store.query.store import Store
from proofspan.traces.contract import context_of, trace_findings

_MEMORY = ("mem_rev", "mem_hash")
#: So much of a value stands in a sentence.
MOST_CHARS = 80


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule, where the record breaks it, and how many questions of the run break it: those of its list.

    `is_shared`: another question than this one is among them.
    """

    rule: Rule
    findings: tuple[Finding, ...]
    questions: int = 0
    is_shared: bool = False


def broken_rules(
    store: Store,
    manifest: Manifest,
    key: TraceKey,
    view: QuestionView,
    *,
    codes: Sequence[str],
    corpus: Container[str],
) -> tuple[BrokenRule, ...]:
    """The broken rules, errors first. `codes` are those of the question's row in the index.

    `corpus` holds the ids of the chunk file, which counts only where the question is labelled by it. A
    question that its report alone tells of has no record to be judged: its codes are the index's.
    """
    run, known = manifest.run(key.run_id), corpus if view.row is not None else None
    context = NO_CONTEXT if run is None else context_of(manifest, run, known)
    found: dict[str, list[Finding]] = {}
    for finding in _own(view, context) if view.stored is None else ():
        found.setdefault(finding.code, []).append(finding)
    for code in codes:
        if code not in found:
            found[code] = [Finding(code, "", _of_run(store, key, view.trace, code), view.trace.q_id)]
    if not found:
        return ()
    counts = store.code_counts([key.run_id])
    questions = dict(zip(counts["code"], counts["questions"], strict=True))
    is_counted = (key.paraphrase, key.seed, key.repeat) == (0, 0, 1)
    return tuple(
        BrokenRule(rule_of(code), tuple(found[code]), count, count > is_counted)
        for code in in_order(found)
        for count in (int(questions.get(code, 0)),)
    )


def _own(view: QuestionView, context: Context) -> Iterator[Finding]:
    """What the record alone tells, as an index build judges it."""
    yield from trace_findings(view.trace, context, declines=declines(view.trace, view.profile))
    if view.row is not None and lacks_template(view.trace, view.row, view.profile):
        said = f"no citations where the profile looks (template {view.profile.template})"
        yield Finding("template_violated", "answer", said, view.trace.q_id)


def _of_run(store: Store, key: TraceKey, trace: Trace, code: str) -> str:
    """What the rest of the run says against a trace, in a sentence with what it has of its own."""
    if code == "memory_desync":
        named = ((name, text_of(trace.raw.get(name))) for name in _MEMORY)
        said = " and ".join(f"{name} is {value[:MOST_CHARS]}" for name, value in named if value)
        return f"{said}; most traces of the run name another state"
    if code == "duplicate_question":
        return f"this is answer {key.repeat:,} of the run to the question"
    if code == "answer_repeated" and (first := store.same_answer(key)) is not None:
        return f"candidates, answer and citations are those of {first.q_id}"
    return rule_of(code).meaning
