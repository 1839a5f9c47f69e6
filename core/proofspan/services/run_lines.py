"""The lines of a run's files that could not be used, against those that the manifest declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.store.queries import Store


@dataclass(frozen=True, slots=True)
class RunLines:
    """`found` lines could not be read or belong to nothing, `beyond` of them more than their files declare.

    `undeclared` are the issues of the files that have more than they declare, one row each, in the order of
    `Store.line_issues`. Ids that come again are none of them: one record of each id counts.
    """

    found: int
    beyond: int
    undeclared: pd.DataFrame

    @property
    def declared(self) -> int:
        """How many are known to the manifest."""
        return self.found - self.beyond


def run_lines(store: Store, manifest: Manifest, run: Run) -> RunLines:
    """What of a run's own files, and of those that it is read with, holds no record. StoreFault where the run
    has no index."""
    issues = store.line_issues(run.run_id)
    issues = issues[~issues["code"].str.startswith("duplicate_")]
    found = Counter(issues["file"].tolist())
    declared = {artifact.path: artifact.unreadable_lines or 0 for artifact in _files(manifest, run)}
    over = {file for file, count in found.items() if count > declared.get(file, 0)}
    beyond = sum(found[file] - declared.get(file, 0) for file in over)
    return RunLines(found.total(), beyond, issues[issues["file"].isin(over)])


def _files(manifest: Manifest, run: Run) -> Iterator[Artifact]:
    named = (run.traces, *run.records.values(), run.report, manifest.chunks, manifest.gold)
    return (artifact for artifact in named if artifact is not None)
