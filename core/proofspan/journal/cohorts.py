"""Frozen cohorts: lists of questions that a bucket of a run held, by name, to count conversions on.

They lie in the file that the manifest's `cohorts` names. A later line of the same name stands for the earlier
ones, which stay in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import InputFault, ManifestFault
from proofspan.journal.lines import Entry, Read, open_journal, read_journal
from proofspan.manifest.paths import artifact_path, is_missing, journal_path
from proofspan.manifest.types import Artifact, Manifest

MAX_NAME = 200
_REMEDY = "Correct the line in an editor, or freeze the cohort again: proofspan cohort freeze."


@dataclass(frozen=True, slots=True)
class Cohort:
    """A named list of questions, each once, in the order of the file.

    `run_id` and `bucket` say where they were read; both None for a list that a person chose. `ts` is the time
    of that run as the manifest has it.
    """

    name: str
    q_ids: tuple[str, ...]
    run_id: str | None = None
    bucket: str | None = None
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class Cohorts(Mapping[str, Cohort]):
    """The cohorts by name, in the order in which the names first appear, and the lines that are none."""

    by_name: Mapping[str, Cohort] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()

    def __getitem__(self, name: str) -> Cohort:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)


def read_cohorts(manifest: Manifest) -> Cohorts:
    """The workspace's cohorts; none where the manifest names no file for them, or it is not written yet.

    ManifestFault where the file's path is refused, InputFault where it cannot be read.
    """
    artifact = manifest.cohorts
    if artifact is None:
        return Cohorts()
    try:
        path = artifact_path(manifest, artifact)
    except ManifestFault as fault:
        if is_missing(fault):
            return Cohorts()
        raise
    return cohorts_of(read_journal(path, file=artifact.path))


def cohorts_of(read: Read) -> Cohorts:
    """The cohorts that the lines of a journal hold."""
    entries, issues = read
    by_name: dict[str, Cohort] = {}
    wrong = list(issues)
    for entry in entries:
        found = _cohort(entry)
        if isinstance(found, Cohort):
            by_name[found.name] = found
        else:
            wrong.append(found)
    return Cohorts(by_name, tuple(sorted(wrong, key=lambda issue: issue.source.line)))


def freeze(manifest: Manifest, cohort: Cohort, *, again: bool = False) -> None:
    """Adds the cohort to the workspace's file.

    InputFault where there is a cohort of that name (unless `again`), the manifest names no file, or gives its
    hash; ManifestFault where its path is refused.
    """
    artifact = _writable(manifest)
    path = journal_path(manifest, artifact)
    with open_journal(path, file=artifact.path) as journal:
        known = cohorts_of(journal.read()).get(cohort.name)
        if known is not None and not again:
            raise _exists(known, path)
        journal.append(_record(cohort))


def _writable(manifest: Manifest) -> Artifact:
    where = str(manifest.file or manifest.folder)
    if manifest.cohorts is None:
        raise InputFault.of(
            "no_cohorts_file",
            "the manifest names no file for cohorts",
            where=where,
            fix="add the line: cohorts: {path: cohorts.jsonl}",
        )
    if manifest.cohorts.sha256 is not None:
        raise InputFault.of(
            "journal_pinned",
            "the manifest gives the sha256 of the cohorts file, so nothing may be added to it",
            where=where,
            fix="take `sha256` out of `cohorts`",
        )
    return manifest.cohorts


def _exists(known: Cohort, path: Path) -> InputFault:
    count = f"{len(known.q_ids):,} question{'s' * (len(known.q_ids) != 1)}"
    return InputFault.of(
        "cohort_exists",
        f"there is a cohort {known.name!r} of {count}{f' from {known.run_id}' if known.run_id else ''}",
        where=str(path),
        fix="choose another name, or pass --again: the new one then stands for it, and the old line stays",
    )


def _record(cohort: Cohort) -> Mapping[str, Json]:
    record = {
        "name": cohort.name,
        "q_ids": list(cohort.q_ids),
        "run_id": cohort.run_id,
        "bucket": cohort.bucket,
        "ts": cohort.ts,
    }
    return {key: value for key, value in record.items() if value is not None}


def _cohort(entry: Entry) -> Cohort | LineIssue:
    """The cohort that a line is, or what keeps it from being one."""
    record = entry.record
    name, q_ids = record.get("name"), record.get("q_ids")
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        reason = f"name is missing or no text of 1 to {MAX_NAME} characters"
        return entry.issue("cohort_without_name", reason, _REMEDY)
    if not isinstance(q_ids, list) or not all(isinstance(q_id, str) and q_id for q_id in q_ids):
        return entry.issue("cohort_without_questions", "q_ids is no list of question ids", _REMEDY)
    run_id, bucket, ts = (record.get(key) for key in ("run_id", "bucket", "ts"))
    if not all(value is None or isinstance(value, str) for value in (run_id, bucket, ts)):
        return entry.issue("cohort_wrong_type", "run_id, bucket or ts is no text", _REMEDY)
    return Cohort(name, tuple(dict.fromkeys(q_ids)), run_id, bucket, ts)
