"""Frozen cohorts: named lists of the questions in a bucket of a run, on which conversions are counted.

They are in the file of the manifest's `cohorts`. A later line replaces the earlier ones of the same name,
which stay in the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import InputFault
from proofspan.journal.lines import Read, open_journal, read_journal
from proofspan.journal.named import path_to_read, path_to_write
from proofspan.manifest.types import Manifest
from proofspan.wording import counted

MAX_NAME = 200
_FIX = "Correct the line in an editor, or freeze the cohort again: proofspan cohort freeze."


@dataclass(frozen=True, slots=True)
class Cohort:
    """A named list of questions, each once, in the order of the file.

    `run_id` and `bucket` are their source, None for a list that a person chose. `ts` is the time of that run
    in the manifest.
    """

    name: str
    q_ids: tuple[str, ...]
    run_id: str | None = None
    bucket: str | None = None
    ts: str | None = None


class Cohorts(dict[str, Cohort]):
    """The cohorts by name, in the order of first appearance, and the `issues` of lines that are no cohort."""

    def __init__(self, cohorts: Iterable[Cohort] = (), issues: Iterable[LineIssue] = ()) -> None:
        super().__init__((cohort.name, cohort) for cohort in cohorts)
        self.issues = tuple(issues)


def read_cohorts(manifest: Manifest) -> Cohorts:
    """Return the workspace's cohorts; none if the manifest names no file for them, or it is not written yet.

    Raises ManifestFault if the file's path is refused, InputFault if it cannot be read.
    """
    artifact = manifest.cohorts
    if artifact is None:
        return Cohorts()
    path = path_to_read(manifest, artifact)
    return Cohorts() if path is None else cohorts_of(read_journal(path, file=artifact.path))


def cohorts_of(read: Read) -> Cohorts:
    """Return the cohorts in the lines of a journal."""
    entries, line_issues = read
    cohorts: list[Cohort] = []
    issues = list(line_issues)
    for entry in entries:
        name, q_ids, *rest = (entry.record.get(key) for key in ("name", "q_ids", "run_id", "bucket", "ts"))
        if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
            message = f"name is missing or not a text of 1 to {MAX_NAME} characters"
            issues.append(entry.issue("cohort_without_name", message, _FIX))
        elif not isinstance(q_ids, list) or not all(isinstance(q_id, str) and q_id for q_id in q_ids):
            message = "q_ids is not a list of question ids"
            issues.append(entry.issue("cohort_without_questions", message, _FIX))
        elif not all(value is None or isinstance(value, str) for value in rest):
            message = "run_id, bucket or ts is not a text"
            issues.append(entry.issue("cohort_wrong_type", message, _FIX))
        else:
            cohorts.append(Cohort(name, tuple(dict.fromkeys(q_ids)), *rest))
    return Cohorts(cohorts, sorted(issues, key=lambda issue: issue.source.line))


def freeze(manifest: Manifest, cohort: Cohort, *, again: bool = False) -> None:
    """Add the cohort to the workspace's file.

    Raises InputFault if there is a cohort of that name (unless `again`), or the manifest names no file or
    states its hash; ManifestFault if the file's path is refused.
    """
    path = path_to_write(manifest, manifest.cohorts, key="cohorts", line="cohorts: {path: cohorts.jsonl}")
    with open_journal(path, file=path.name) as journal:
        existing = cohorts_of(journal.read()).get(cohort.name)
        if existing is not None and not again:
            source = f" from {existing.run_id}" if existing.run_id else ""
            questions = counted(len(existing.q_ids), "question")
            message = f"the cohort {cohort.name!r} of {questions}{source} exists"
            fix = "choose another name, or pass --again to replace it; the old line stays in the file"
            raise InputFault.of("cohort_exists", message, where=str(path), fix=fix)
        record = {key: value for key, value in asdict(cohort).items() if value is not None}
        journal.append(record)
