"""How many problems Health would show, for the sidebar of every page: no look into a file is taken for it."""

from __future__ import annotations

from dataclasses import dataclass

from proofspan.contracts.codes import rule_of
from proofspan.errors import Fault
from proofspan.ui import checks, health_load, session
from proofspan.ui.health_load import KNOWN_SHARE
from proofspan.ui.words import counted


@dataclass(frozen=True, slots=True)
class Badge:
    """Problems of the workspace's files, rules that the shown run breaks, errors of the run as a whole, and
    audits of the chunk ids that fail.

    `is_all` is False while files were not read yet: then there may be more.
    """

    files: int
    rules: int
    run: int
    ids: int
    is_all: bool

    @property
    def count(self) -> int:
        """All problems together."""
        return self.files + self.rules + self.run + self.ids

    @property
    def tip(self) -> str:
        """What is counted."""
        told = [
            *([counted(self.files, "problem") + " of files"] if self.files else []),
            *([counted(self.rules, "rule") + " broken"] if self.rules else []),
            *([counted(self.run, "error") + " of the run"] if self.run else []),
            *([counted(self.ids, "failed audit") + " of chunk ids"] if self.ids else []),
        ]
        more = "" if self.is_all else "; more may show when files are read on Health"
        return f"{', '.join(told)}{more}"


def badge_of(opened: session.Opened, *, on_health: bool, share: float = KNOWN_SHARE) -> Badge | None:
    """What is known of the workspace and of the shown run; on Health itself, what that page shows.

    None while the run is being counted, which is waited for with a `share` of the page's patience. What
    cannot be counted is told by the page, with room for it; the sidebar stays as it is.
    """
    try:
        if on_health:
            checks.full_check(opened)
        counted_run = _of_run(opened, on_health=on_health, share=share)
        ids = health_load.failed_audits(opened, on_health=on_health)
    except Fault:
        counted_run, ids = (0, 0, False), None
    if counted_run is None:
        return None
    rules, errors, is_all = counted_run
    report = checks.known_check(opened)
    is_all = is_all and report.hashed and ids is not None
    return Badge(len(report.findings), rules, errors, ids or 0, is_all)


def _of_run(opened: session.Opened, *, on_health: bool, share: float) -> tuple[int, int, bool] | None:
    """The rules that the shown run breaks, its errors as a whole, and whether those are all."""
    store = session.store_or_none(opened)
    if store is None:
        return 0, 0, not opened.manifest.runs
    if on_health:
        health_load.load(opened, store)
    known = health_load.known_findings(opened, store, share=share)
    if known is None:
        return None
    rules = sum(rule_of(code).severity == "error" for code in known.codes)
    errors = sum(each.severity == "error" and not each.is_of_file for each in known.findings)
    return rules, errors, known.is_all
