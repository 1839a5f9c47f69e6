"""The release checks of a pinning record: it is there, it agrees, and its run is deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from proofspan.contracts.pinning.requirements import at
from proofspan.manifest.types import Manifest, Run
from proofspan.services.pinning.findings import WRONG, PinReport, in_a_sentence, pin_report
from proofspan.services.pinning.proof import proof_problem
from proofspan.services.release import Check, Status
from proofspan.wording import counted

TITLE = "Pinning record"


def pin_checks(
    manifest: Manifest,
    run: Run,
    *,
    pinning: Literal["required", "complete"] | None = None,
    determinism: Literal["required"] | None = None,
) -> Iterator[Check]:
    """Yield the checks that the gates ask for; without them a warning if the record contradicts the run."""
    report = pin_report(manifest, run)
    wrong = report.of("contradicts")
    if pinning is not None:
        yield _pinning(report, is_complete=pinning == "complete")
    elif wrong:
        yield _check(report, "warn", _wrong(report), wrong[0].fix)
    if determinism is not None:
        yield _determinism(manifest, run, report)


def _pinning(report: PinReport, *, is_complete: bool) -> Check:
    if not report.path:
        write = f"`proofspan pin WORKSPACE --run {report.run_id} --new`"
        change = f"write one ({write}) and name it as `pinned.record`"
        return _check(report, "fail", f"{report.run_id} names no pinning record", change)
    if wrong := report.of(*WRONG):
        return _check(report, "fail", _wrong(report), wrong[0].fix)
    lacking = in_a_sentence(report)
    if lacking and is_complete:
        return _check(report, "fail", f"{report.path} {lacking}", f"complete {report.path}")
    needed = counted(len(report.needed), "field")
    message = f"{report.path} agrees with the run and {lacking or f'has all of its {needed}'}"
    return _check(report, "pass", message)


def _wrong(report: PinReport) -> str:
    first, *others = report.of(*WRONG)
    more = f", and {counted(len(others), 'other contradiction')}" if others else ""
    return f"{report.path}: {first.message.replace('`', '')}{more}"


def _check(report: PinReport, status: Status, message: str, change: str = "") -> Check:
    kinds = ("contradicts", "missing", "placeholder", "malformed")
    numbers = {kind: len(report.of(kind)) for kind in kinds}  # type: ignore[arg-type]  # the names above
    return Check("pinning", TITLE, status, message, numbers, subject="settings", change=change)


def _determinism(manifest: Manifest, run: Run, report: PinReport) -> Check:
    name, title = "determinism", "Determinism"
    if report.record is None:
        problem: str | None = f"{report.run_id} names no pinning record that can be read"
    else:
        problem = proof_problem(manifest, run, report.record.values)
    if report.record is not None and problem is None:
        output = at(report.record.values, "determinism.file")
        has_it = f"{output} has it" if output else "it names no output to compare"
        message = f"{report.path} states the same sha256 for two runs; {has_it}"
        return Check(name, title, "pass", message, subject="settings")
    change = f"run it twice, then `proofspan determinism A B --record {report.path or 'FILE'}`"
    return Check(name, title, "fail", problem or "", subject="settings", change=change)
