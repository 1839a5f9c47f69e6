"""The stop rule: two runs in a row of one class of change that lift nothing, and another change is due.

Source: sprint plan (docs/requirements.md), D3. A run has lift if it puts the gold section first for more
questions than its baseline does, over the questions that both judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proofspan.manifest.types import Manifest, Run
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from proofspan.wording import counted

#: The number of runs in a row without lift that raise the rule.
IN_A_ROW = 2
OUTCOME = "section_match_at_1"


@dataclass(frozen=True, slots=True)
class Lift:
    """The change of a run against its baseline, in questions whose gold section is first.

    `converted` are first here alone, `regressed` there alone, of `judged` that both runs judge.
    """

    run_id: str
    baseline: str
    converted: int
    regressed: int
    judged: int

    @property
    def net(self) -> int:
        """Return the questions won less those lost; lift is above 0."""
        return self.converted - self.regressed

    def __str__(self) -> str:
        """`R005 −2 on R004`."""
        net = f"{self.net:+,}".replace("-", "−") if self.net else "±0"
        return f"{self.run_id} {net} on {self.baseline}"


@dataclass(frozen=True, slots=True)
class ClassLifts:
    """The lifts of a class of runs in the manifest's order. `unread` are runs that have no index yet."""

    kind: str
    lifts: tuple[Lift, ...]
    unread: tuple[str, ...] = ()

    @property
    def idle(self) -> tuple[Lift, ...]:
        """Return the last runs in a row without lift."""
        last = max((at for at, lift in enumerate(self.lifts, start=1) if lift.net > 0), default=0)
        return self.lifts[last:]

    @property
    def is_raised(self) -> bool:
        """Return whether the rule asks to stop."""
        return len(self.idle) >= IN_A_ROW

    @property
    def sentence(self) -> str:
        """Return the state of the rule in a sentence."""
        idle = ", ".join(map(str, self.idle))
        if self.is_raised:
            runs = f"the last {counted(len(self.idle), 'run')} of class {self.kind}"
            return f"{runs} lifted nothing ({idle}): stop, and propose another change"
        if self.idle:
            return f"the last run of class {self.kind} lifted nothing ({idle}); one more raises the rule"
        lifts = str(self.lifts[-1]) if self.lifts else "no run is compared yet"
        return f"the last run of class {self.kind} has lift ({lifts})" if self.lifts else lifts

    def after(self, lift: Lift) -> ClassLifts:
        """Return the class with one run more."""
        return ClassLifts(self.kind, (*self.lifts, lift), self.unread)


def stop_rules(store: Store, manifest: Manifest) -> tuple[ClassLifts, ...]:
    """Return the classes for which the rule is raised, in the order of their first runs."""
    kinds = dict.fromkeys(run.kind for run in manifest.runs if run.kind is not None)
    return tuple(each for kind in kinds if (each := class_lifts(store, manifest, kind)).is_raised)


def class_lifts(store: Store, manifest: Manifest, kind: str, *, until: str | None = None) -> ClassLifts:
    """Return the lifts of a class, with `until` up to that run.

    Runs without a baseline in the manifest are not of it, nor are those without a question that both judge.
    """
    lifts, unread = [], []
    for run, baseline in _compared(manifest, kind, until):
        missing = [each for each in (run.run_id, baseline) if store.stamp(each) is None]
        unread += missing
        if not missing:
            flips = store.flips(Filter(run.run_id, vs=baseline, outcome=OUTCOME))
            if flips.judged:
                lifts.append(Lift(run.run_id, baseline, flips.fixed, flips.regressed, flips.judged))
    return ClassLifts(kind, tuple(lifts), tuple(dict.fromkeys(unread)))


def runs_needed(manifest: Manifest, run: Run) -> tuple[str, ...]:
    """Return the runs whose indexes decide whether a run raises the rule: the last two, with baselines."""
    if run.kind is None:
        return ()
    last = [*_compared(manifest, run.kind, run.run_id)][-IN_A_ROW:]
    return tuple(dict.fromkeys(each for newer, older in last for each in (newer.run_id, older)))


def _compared(manifest: Manifest, kind: str, until: str | None) -> Iterator[tuple[Run, str]]:
    """Yield the runs of a class that have another run as their baseline, and its id."""
    known = {run.run_id for run in manifest.runs}
    for run in manifest.runs:
        baseline = run.baseline
        if run.kind == kind and baseline is not None and baseline in known - {run.run_id}:
            yield run, baseline
        if run.run_id == until:
            return
