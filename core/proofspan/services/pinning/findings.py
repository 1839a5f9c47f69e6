"""Find what is wrong with the pinning record of a run: fields missing, left to fill in or contradicted."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.pinning.agreement import (
    CONTRADICTS,
    Logged,
    contradiction,
    contradictions,
    pinned_uses,
)
from proofspan.contracts.pinning.hashes import same_hash
from proofspan.contracts.pinning.requirements import Use, at, gaps, is_placeholder, needed_fields, stated_uses
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.context import shown
from proofspan.errors import Fault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.services.pinning.logged import logged_of
from proofspan.services.pinning.read import PinRecord, read_record
from proofspan.wording import counted

#: What is wrong with a field; `unusable` is the whole record, `unread` a line of Markdown.
Kind = Literal[
    "unusable", "contradicts", "not_deterministic", "missing", "placeholder", "malformed", "unread"
]
#: The kinds that say that the record is wrong, not only incomplete.
WRONG: tuple[Kind, ...] = ("unusable", "contradicts")
#: The kinds that keep a record from being complete.
_LACKING: tuple[Kind, ...] = ("missing", "placeholder", "malformed")
#: How many fields a sentence names.
NAMED = 8


@dataclass(frozen=True, slots=True)
class PinFinding:
    """Something wrong with a pinning record; `field` is a path in it, "" for the record as a whole."""

    kind: Kind
    field: str
    message: str
    fix: str

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Return error if the record is wrong, warning if it is incomplete."""
        return "error" if self.kind in WRONG else "warning"


@dataclass(frozen=True, slots=True)
class PinReport:
    """A run's record with its findings.

    `uses` is what the run uses, `needed` are the fields that its record has to have. `record` is None where
    it cannot be read or the run names none.
    """

    run_id: str
    path: str
    record: PinRecord | None
    uses: frozenset[Use]
    needed: tuple[str, ...]
    findings: tuple[PinFinding, ...]

    def of(self, *kinds: Kind) -> tuple[PinFinding, ...]:
        """Return the findings of some kinds."""
        return tuple(each for each in self.findings if each.kind in kinds)

    @property
    def lacking(self) -> tuple[PinFinding, ...]:
        """Return the findings that keep a record from being complete."""
        return self.of(*_LACKING)


def pin_findings(manifest: Manifest, run: Run) -> tuple[PinFinding, ...]:
    """Return what is wrong with a run's pinning record; nothing for a run that names none."""
    return pin_report(manifest, run).findings


def pin_report(manifest: Manifest, run: Run) -> PinReport:
    """Compare a run's pinning record with what a complete one has, the manifest, and the run's logs.

    Of each of its files only the beginning is read. Raises nothing: a record that cannot be read is a
    finding.
    """
    logged = logged_of(manifest, run)
    uses = logged.uses | pinned_uses(run.pinned, run.kind)
    if run.record is None:
        return PinReport(run.run_id, "", None, uses, needed_fields({}, uses), ())
    path = run.record.path
    try:
        record = read_record(manifest, run)
    except Fault as fault:
        unusable = tuple(PinFinding("unusable", "", each.message, each.fix) for each in fault.problems)
        return PinReport(run.run_id, path, None, uses, needed_fields({}, uses), unusable)
    uses |= stated_uses(record.values)
    found = [*_wrong(manifest, run, record.values, logged), *_lacking(record, uses)]
    if (other := others_output(manifest, run, record.values)) is not None:
        message = f"`determinism` is about {other}, which is no output of {run.run_id}"
        fix = f"run {run.run_id} twice, then `proofspan determinism A B --record {path}`"
        found.append(PinFinding("missing", "determinism", message, fix))
    return PinReport(run.run_id, path, record, uses, needed_fields(record.values, uses), tuple(found))


def _wrong(manifest: Manifest, run: Run, record: Mapping[str, Json], logged: Logged) -> Iterator[PinFinding]:
    problems = [
        *contradictions(record, run.pinned, logged, run_id=run.run_id),
        *_other_files(manifest, record),
        *_other_parent(manifest, record),
    ]
    for each in problems:
        yield PinFinding("contradicts", each.where, each.message, each.fix)
    hashes = stated_hashes(record)
    if any(same_hash(hashes[0], each) is False for each in hashes[1:]):
        message = f"`determinism.sha256` has different hashes: {', '.join(map(shown, hashes[:NAMED]))}"
        fix = "find the first difference with `proofspan determinism A B`"
        yield PinFinding("not_deterministic", "determinism.sha256", message, fix)


def _lacking(record: PinRecord, uses: Iterable[Use]) -> Iterator[PinFinding]:
    found = gaps(record.values, frozenset(uses))
    for path in found.missing:
        fix = 'state it, or write "none" where there is nothing to name'
        yield PinFinding("missing", path, f"`{path}` is missing", fix)
    for path in found.placeholders:
        yield PinFinding(
            "placeholder", path, f"`{path}` still has its placeholder", "replace it by the value"
        )
    for each in found.malformed:
        yield PinFinding("malformed", each.where, f"`{each.where}`: {each.message}", each.fix)
    for line, text in record.unread:
        message = f"line {line}: {shown(text)} is not understood" if line else text
        fix = "write it as `- **Key**: value` with a key of the record, or leave it as a remark"
        yield PinFinding("unread", "", message, fix)


def stated_hashes(record: Mapping[str, Json]) -> list[str]:
    """Return the hashes of the runs' outputs that a record states."""
    hashes = at(record, "determinism.sha256")
    texts = hashes if isinstance(hashes, list) else []
    return [each for each in texts if isinstance(each, str) and not is_placeholder(each)]


def _other_files(manifest: Manifest, record: Mapping[str, Json]) -> Iterator[Problem]:
    """Compare the hashes of inputs, and of the output, with those that the manifest states."""
    known = {each.path: each.sha256 for each in manifest.artifacts() if each.root is None and each.sha256}
    inputs = record.get("inputs")
    stated = (
        [(f"inputs.{path}", path, each) for path, each in inputs.items()] if isinstance(inputs, dict) else []
    )
    output, hashes = at(record, "determinism.file"), stated_hashes(record)
    if isinstance(output, str) and hashes and at(record, "determinism.of") != "records":
        stated.append(("determinism.sha256", output, hashes[0]))
    for where, path, each in stated:
        sha256 = known.get(path)
        if sha256 is not None and isinstance(each, str) and same_hash(each, sha256) is False:
            yield contradiction(where, f"is {shown(each)}, but the manifest has {shown(sha256)} for {path}")


def others_output(manifest: Manifest, run: Run, record: Mapping[str, Json]) -> str | None:
    """Return the output that a record's proof names if it is another run's, as in a copied record."""
    output = at(record, "determinism.file")
    own = {each.path for each in run.trace_artifacts}
    theirs = {each.path for other in manifest.runs for each in other.trace_artifacts}
    return output if isinstance(output, str) and output in theirs - own else None


def _other_parent(manifest: Manifest, record: Mapping[str, Json]) -> Iterator[Problem]:
    parent = at(record, "derived.parent")
    if not isinstance(parent, str) or is_placeholder(parent):
        return
    run, stated = manifest.run(parent), at(record, "derived.parent_traces_sha256")
    if run is None:
        yield contradiction("derived.parent", f"is {shown(parent)}, which is not a run of the manifest")
        return
    sha256 = run.traces.sha256 if run.traces is not None else None
    if sha256 is not None and isinstance(stated, str) and same_hash(stated, sha256) is False:
        message = f"is {shown(stated)}, but the traces of {parent} have {shown(sha256)} in the manifest"
        yield contradiction("derived.parent_traces_sha256", message)


#: The codes of findings that are a problem each.
_CODES: Mapping[Kind, str] = {
    "unusable": "record_unusable",
    "contradicts": CONTRADICTS,
    "not_deterministic": "not_deterministic",
}


def pin_problems(manifest: Manifest, run: Run) -> list[Problem]:
    """Return the findings about a run's record as problems, one for all fields that it lacks."""
    report = pin_report(manifest, run)
    problems = [
        Problem(_CODES[each.kind], each.message, report.path, each.fix, each.severity)
        for each in report.of(*_CODES)
    ]
    if lacking := in_a_sentence(report):
        command = f"proofspan pin {shlex.quote(str(manifest.folder))} --run {shlex.quote(run.run_id)}"
        fix = f"{command} lists them, and with --new fills in what it can"
        problems.append(Problem("pin_incomplete", lacking, report.path, fix, "warning"))
    if unread := report.of("unread"):
        message = f"{counted(len(unread), 'line')} not understood; {unread[0].message}"
        problems.append(Problem("pin_unread", message, report.path, unread[0].fix, "warning"))
    return problems


def in_a_sentence(report: PinReport) -> str:
    """Return what a record lacks: `lacks 2 of 14 fields: libraries, commands`; "" if it is complete."""
    missing, waiting, malformed = (_names(report.of(kind)) for kind in _LACKING)
    parts = []
    if missing:
        parts.append(f"lacks {len(missing):,} of {counted(len(report.needed), 'field')}: {_listed(missing)}")
    if waiting:
        parts.append(f"has {counted(len(waiting), 'placeholder')} left: {_listed(waiting)}")
    if malformed:
        parts.append(f"has {counted(len(malformed), 'value')} of the wrong kind: {_listed(malformed)}")
    return "; ".join(parts)


def _names(findings: Iterable[PinFinding]) -> list[str]:
    return list(dict.fromkeys(each.field for each in findings))


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
