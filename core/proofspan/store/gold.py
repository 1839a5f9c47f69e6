"""The gold questions as an index needs them: what to look for, and what is lost without their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proofspan.contracts.records import Chunk, GoldQuestion, LineIssue
from proofspan.diagnosis.gold import GoldTarget, gold_target
from proofspan.errors import Fault, Problem
from proofspan.store.sidefile import Loss, SideFile
from proofspan.traces.gold import read_gold
from proofspan.traces.redirects import gold_of_today


@dataclass(frozen=True, slots=True)
class GoldTargets:
    """What to look for, by q_id; questions without a target are left out. `questions` are all of them.

    `issues` are the lines that hold no gold question, `problems` say why the whole file could not be used.
    """

    by_question: Mapping[str, GoldTarget] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    questions: Mapping[str, GoldQuestion] = field(default_factory=dict)

    def of_today(self, chunks: Mapping[str, Chunk]) -> GoldTargets:
        """The same with the ids of today's chunks in the place of former ones."""
        questions = gold_of_today(self.questions, chunks)
        if questions is self.questions:
            return self
        return replace(self, by_question=targets_of(questions), questions=questions)


NO_TARGETS = GoldTargets()
GOLD_LOSS = Loss("gold_unusable", "the gold file", "what became of the gold passages is not known")


def read_targets(gold: SideFile) -> GoldTargets:
    """Reads the gold file. One that is no gold file at all gives no targets and a problem."""
    if gold.path is None:
        return NO_TARGETS
    try:
        questions, issues = read_gold(gold.path, file=gold.file)
    except Fault as fault:
        return GoldTargets(problems=fault.problems)
    return GoldTargets(targets_of(questions), tuple(issues), questions=questions)


def targets_of(questions: Mapping[str, GoldQuestion]) -> dict[str, GoldTarget]:
    """What to look for in the traces of each question that says so."""
    return {q_id: target for q_id, known in questions.items() if (target := gold_target(known))}
