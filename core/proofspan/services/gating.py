"""May a run ship? Every check that `proofspan gate` and the Trends page make, as one list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest
from proofspan.metrics.gates import Gates, read_gates
from proofspan.metrics.goals import Goal, read_goals
from proofspan.services.gate_checks import (
    Check,
    Status,
    code_checks,
    flip_checks,
    goal_checks,
    index_checks,
    line_check,
    pack_check,
    question_check,
    suspicion_checks,
)
from proofspan.services.measuring import run_metrics
from proofspan.services.workspace import chosen_run
from proofspan.store.queries import Store


@dataclass(frozen=True, slots=True)
class GateReport:
    """The checks of one run, against another where there is one; `questions` counts its headline ones."""

    run_id: str
    against: str | None
    questions: int
    checks: tuple[Check, ...]

    def counts(self) -> dict[Status, int]:
        """How many checks came out which way; every way is there."""
        statuses: tuple[Status, ...] = ("fail", "warn", "pass", "skipped")
        return {status: sum(check.status == status for check in self.checks) for status in statuses}

    def passes(self, *, strict: bool = False) -> bool:
        """Whether the run may ship; `strict`: a warning is enough to say no."""
        return not any(check.status == "fail" or (strict and check.status == "warn") for check in self.checks)

    def counts_in_words(self) -> str:
        """`9 of 10 checks pass, 1 warns, 2 skipped`."""
        count = self.counts()
        judged = len(self.checks) - count["skipped"]
        parts = [f"{count['pass']} of {judged} checks pass"]
        parts += [f"{count['fail']} fail{'s' * (count['fail'] == 1)}"] if count["fail"] else []
        parts += [f"{count['warn']} warn{'s' * (count['warn'] == 1)}"] if count["warn"] else []
        parts += [f"{count['skipped']} skipped"] if count["skipped"] else []
        return ", ".join(parts)


def gate_run(
    store: Store,
    manifest: Manifest,
    run_id: str,
    *,
    against: str | None = None,
    goals: Mapping[str, Goal] | None = None,
    allow: Collection[str] = (),
) -> GateReport:
    """Every check of an indexed run, in a fixed order.

    `against` is the run that flips are counted from, else the run's baseline in the manifest. `goals` stand
    for those of the manifest by metric; `allow` are questions that may flip, besides those that the manifest
    allows. InputFault where there is no such run, or it is compared with itself; StoreFault where it has no
    index.
    """
    run = chosen_run(manifest, run_id)
    other, why_none = _baseline(store, manifest, run_id, against)
    gates, misread = read_gates(manifest.gates)
    wanted, odd_goals = read_goals(manifest.goals)
    measured = run_metrics(store, manifest, run_id)
    judged = {**wanted, **_drift(gates), **(goals or {})}
    checks = [
        *index_checks(store, run_id, other),
        question_check(store, run_id, other),
        *flip_checks(store, gates.flips, run_id, other, allow=frozenset(allow), why_none=why_none),
        *suspicion_checks(store, gates.suspicions, run_id),
        *code_checks(store, gates.codes, run_id),
        line_check(store, manifest, run, most=gates.line_issues),
        *goal_checks(store, measured, judged),
        *pack_check(run, measured),
        *_misread("gates", "Gates", "fail", misread),
        *_misread("goals", "Goals", "warn", odd_goals),
        *_misread("files", "Files", "warn", measured.problems),
    ]
    return GateReport(run_id, other, measured.questions, tuple(checks))


def _baseline(store: Store, manifest: Manifest, run_id: str, against: str | None) -> tuple[str | None, str]:
    """The run that flips are counted from, else None and why there is none."""
    if against is not None:
        other = chosen_run(manifest, against).run_id
        if other == run_id:
            raise InputFault.of(
                "same_run",
                f"{run_id!r} would be compared with itself",
                where=str(manifest.folder),
                remedy="name the earlier run with --against",
            )
        return other, ""
    baseline = chosen_run(manifest, run_id).baseline
    if baseline is None:
        return None, "the manifest names no baseline for this run, and no other run is named"
    if baseline == run_id or manifest.run(baseline) is None:
        return None, f"its baseline {baseline} is no other run of the manifest"
    if store.stamp(baseline) is None:
        return None, f"its baseline {baseline} has no index yet"
    return baseline, ""


def _drift(gates: Gates) -> dict[str, Goal]:
    return {gates.drift.metric_id: gates.drift} if gates.drift is not None else {}


def _misread(name: str, title: str, status: Status, problems: Collection[Problem]) -> Iterator[Check]:
    """A check for each thing in the manifest or beside the run that cannot be used."""
    for place, problem in enumerate(problems):
        numbered = f"{name}_{place + 1}" if len(problems) > 1 else name
        said = f"{problem.where}: {problem.message}" if problem.where else problem.message
        yield Check(numbered, title, status, "; ".join(filter(None, (said, problem.remedy))))
