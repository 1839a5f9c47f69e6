"""The release verdict of a run: ready, not ready or not enough evidence, why, and what would change it.

`proofspan.services.gate` makes the checks. Pages, commands and exports show this one object in its own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from proofspan.services.workspace.links import list_address
from proofspan.store.query.filters import Filter
from proofspan.wording import counted

Status = Literal["fail", "warn", "pass", "skipped"]
#: What a check comes to: `open` is one that lacks evidence.
Outcome = Literal["fail", "open", "warn", "pass", "skipped"]
State = Literal["ready", "not_ready", "not_enough_evidence"]
#: The words for a verdict, wherever one is shown.
STATE_NAMES: Mapping[State, str] = {
    "ready": "Ready for release",
    "not_ready": "Not ready",
    "not_enough_evidence": "Not enough evidence",
}
#: The subjects of checks, the most harmful first: what keeps a run from being judged, a run that read with
#: another index or model, what answers say, what became worse, citations, ranking, and the rest.
Subject = Literal["unusable", "settings", "answers", "regressions", "citations", "ranking", "other"]
_SUBJECTS = get_args(Subject)


@dataclass(frozen=True, slots=True)
class Affected:
    """A question that a check is about, with what it was in the baseline and what it is now.

    `in_run` is the run that has it, the baseline for a missing question. `was` and `now` are "" without a
    comparison. `file`, as the manifest names it, and `line` are the place of its trace.
    """

    q_id: str
    q: str
    in_run: str
    was: str = ""
    now: str = ""
    file: str = ""
    line: int = 0

    @property
    def change(self) -> str:
        """`ok → retrieval_drift`, `missing`; "" without a comparison."""
        return f"{self.was} → {self.now}" if self.was else self.now


@dataclass(frozen=True, slots=True)
class Check:
    """A release check. `message` has its numbers in a sentence, `numbers` has them as data.

    `affected` are the questions concerned, worst first, a limited number of `count` for goals, suspicions and
    codes. `shown` is the list of Triage with all of them. `open` says which evidence is missing, "" if none
    is, and `change` what would make the check pass, or decide it.
    """

    name: str
    title: str
    status: Status
    message: str
    numbers: Mapping[str, float | str | None] = field(default_factory=dict)
    affected: tuple[Affected, ...] = ()
    count: int = 0
    shown: Filter | None = None
    subject: Subject = "other"
    open: str = ""
    change: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return the status, or that the check lacks evidence."""
        return "open" if self.open and self.status != "fail" else self.status

    @property
    def link(self) -> str:
        """The relative address of the list of questions, "" without one."""
        return list_address(self.shown) if self.shown is not None else ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a run is not ready, cannot be judged, or is ready with a warning.

    `count` questions are concerned, which the list `shown` has; `change` says what would remove the reason.
    `check` is the name of its check, "" of several.
    """

    status: Literal["fail", "open", "warn"]
    sentence: str
    change: str = ""
    count: int = 0
    shown: Filter | None = None
    check: str = ""

    @property
    def link(self) -> str:
        """The relative address of the list of questions, "" without one."""
        return list_address(self.shown) if self.shown is not None and self.count else ""


@dataclass(frozen=True, slots=True)
class ReleaseVerdict:
    """The verdict on a run, compared with `against` if that is a run; `questions` counts headline ones.

    State and reasons follow from the checks alone. `strict`: a warning fails, and missing evidence does not
    pass.
    """

    run_id: str
    against: str | None
    questions: int
    checks: tuple[Check, ...]
    strict: bool = False

    @property
    def state(self) -> State:
        """Return not ready if a check fails, not enough evidence if a check is open, else ready."""
        counts = self.counts()
        if counts["fail"] or (self.strict and counts["warn"]):
            return "not_ready"
        return "not_enough_evidence" if counts["open"] else "ready"

    @property
    def words(self) -> str:
        """`Not ready`."""
        return STATE_NAMES[self.state]

    @property
    def compared(self) -> str:
        """`, compared with R004`; "" without another run."""
        return f", compared with {self.against}" if self.against is not None else ""

    def passes(self) -> bool:
        """Return whether a build may pass: no check fails; if strict, the run is ready."""
        return self.state == "ready" if self.strict else self.state != "not_ready"

    def fails(self, check: Check) -> bool:
        """Return whether a check keeps a build from passing."""
        return check.outcome == "fail" or (self.strict and check.outcome in ("open", "warn"))

    def counts(self) -> dict[Outcome, int]:
        """Return how many checks have each outcome."""
        found = Counter(check.outcome for check in self.checks)
        return {outcome: found[outcome] for outcome in get_args(Outcome)}

    def counts_in_words(self) -> str:
        """`9 of 14 checks pass, 1 fails, 1 has a warning, 3 lack evidence, 2 skipped`."""
        count = self.counts()
        parts = [f"{count['pass']} of {len(self.checks) - count['skipped']} checks pass"]
        if failing := count["fail"]:
            parts.append(f"{failing} fail{'s' * (failing == 1)}")
        if warned := count["warn"]:
            parts.append("1 has a warning" if warned == 1 else f"{warned} have a warning")
        lacking = count["open"]
        parts += [f"{lacking} lack{'s' * (lacking == 1)} evidence"] if lacking else []
        parts += [f"{count['skipped']} skipped"] if count["skipped"] else []
        return ", ".join(parts)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Return what fails, what lacks evidence and what warns, each the most harmful first."""
        worst = sorted(self.checks, key=lambda check: (_SUBJECTS.index(check.subject), -check.count))
        failing = (_reason(check, "fail") for check in worst if check.outcome == "fail")
        warning = (_reason(check, "warn") for check in worst if check.outcome == "warn")
        return (*failing, *_open(check for check in worst if check.outcome == "open"), *warning)

    @property
    def changes(self) -> tuple[str, ...]:
        """Return what would change the verdict, in the order of its reasons."""
        state = self.state
        failing = ("fail", "warn") if self.strict else ("fail",)
        wanted = {"not_ready": failing, "not_enough_evidence": ("open",), "ready": ()}[state]
        found = (each.change for each in self.reasons if each.status in wanted)
        return tuple(dict.fromkeys(filter(None, found)))


def _reason(check: Check, status: Literal["fail", "open", "warn"]) -> Reason:
    words = check.open if status == "open" else check.message.partition("; ")[0]
    change = _sentence(check.change)
    return Reason(status, f"{check.title}: {words}", change, check.count, check.shown, check.name)


def _sentence(words: str) -> str:
    """Return the words with a capital; a Greek letter is a name and stays."""
    return words[:1].upper() + words[1:] if words[:1].isascii() else words


def _open(checks: Iterable[Check]) -> Iterator[Reason]:
    """Yield a reason per check that lacks evidence; those skipped for the same reason have one together."""
    alike: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        own = check.name if check.status != "skipped" else ""
        alike.setdefault((own, check.open), []).append(check)
    for (_, why), group in alike.items():
        if len(group) == 1:
            yield _reason(group[0], "open")
            continue
        titles = ", ".join(check.title for check in group)
        yield Reason("open", f"{counted(len(group), 'check')} {why}: {titles}", _sentence(group[0].change))
