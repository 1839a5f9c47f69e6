"""Which rules of the contract one question breaks: each with its places in the record and its fix.

The record itself is checked again, for the messages; what only its run shows (see
`proofspan.store.index.run_rules`) comes from the index.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Trace, TraceKey
from proofspan.contracts.rules.catalogue import Rule, in_order, problem, rule_of
from proofspan.contracts.rules.context import NO_CONTEXT, SHOWN
from proofspan.contracts.rules.run import MEMORY
from proofspan.diagnosis.labelling import declines, lacks_template
from proofspan.errors import Problem
from proofspan.manifest.types import Manifest
from proofspan.services.question.view import QuestionView
from proofspan.store.query.store import Store
from proofspan.traces.contract import context_of, trace_problems


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule, where the record breaks it, and how many questions of the run break it.

    `is_shared`: another question than this one is among them.
    """

    rule: Rule
    problems: tuple[Problem, ...]
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
    """Return the broken rules, errors first. `codes` are those of the question's row in the index.

    `corpus` holds the ids of the chunk file, which counts only if the question is labelled by it. A question
    that only its report mentions has no record to check: its codes are the index's.
    """
    run, trace = manifest.run(key.run_id), view.trace
    context = NO_CONTEXT
    if run is not None:
        context = context_of(manifest, run, corpus if view.row is not None else None)
    by_code: dict[str, list[Problem]] = {}
    if view.stored is None:  # the record by itself, as an index build checks it
        for breach in trace_problems(trace, context, declines=declines(trace, view.profile)):
            by_code.setdefault(breach.code, []).append(breach)
        if view.row is not None and lacks_template(trace, view.row, view.profile):
            message = f"no citations where the profile looks (template {view.profile.template})"
            by_code["template_violated"] = [problem("template_violated", "answer", message)]
    for code in codes:
        if code not in by_code:
            by_code[code] = [Problem(code, _of_run(store, key, trace, code))]
    if not by_code:
        return ()
    counts = store.code_counts([key.run_id])
    questions = dict(zip(counts["code"], map(int, counts["questions"]), strict=True))
    is_counted = (key.paraphrase, key.seed, key.repeat) == (0, 0, 1)
    return tuple(
        BrokenRule(rule_of(code), tuple(by_code[code]), count, count > is_counted)
        for code in in_order(by_code)
        for count in (questions.get(code, 0),)
    )


def _of_run(store: Store, key: TraceKey, trace: Trace, code: str) -> str:
    if code == "memory_desync":
        named = ((name, text_of(trace.raw.get(name))) for name in MEMORY)
        states = " and ".join(f"{name} is {value[:SHOWN]}" for name, value in named if value)
        return f"{states}; most traces of the run name another state"
    if code == "duplicate_question":
        return f"this is answer {key.repeat:,} of the run to the question"
    if code == "answer_repeated" and (first := store.same_answer(key)) is not None:
        return f"candidates, answer and citations are those of {first.q_id}"
    return rule_of(code).meaning
