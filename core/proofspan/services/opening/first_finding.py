"""The question that a workspace opens on: the first of the worst."""

from __future__ import annotations

from pathlib import Path

from proofspan.contracts.records.names import question_name
from proofspan.manifest.types import Manifest
from proofspan.services.passes.checking import check_runs
from proofspan.services.workspace.open import default_run
from proofspan.store.files.types import OnProgress
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

#: Claims of longer runs are checked while people look: the order of labels decides which question is first.
MOST_CHECKED = 500


def first_finding(
    manifest: Manifest, *, cache_dir: Path, on_progress: OnProgress | None = None
) -> dict[str, str]:
    """Return the parameters of Question for the first of Triage's list; {} where the first run has none.

    Indexes that run, and checks its claims if it is short. Raises StoreFault if the cache cannot be written.
    """
    run = default_run(manifest)
    if run is None or not run.has_traces:
        return {}
    report = build_index(manifest, runs=[run.run_id], cache_dir=cache_dir, on_progress=on_progress)
    if report.runs[0].rows <= MOST_CHECKED:
        list(check_runs(manifest, [run.run_id], cache_dir=cache_dir, on_progress=on_progress))
    page = Store(manifest, cache_dir).page(Filter(run.run_id), Sort(), limit=1, offset=0)
    for row in page.to_dict("records"):
        name = question_name(str(row["q_id"]), int(row["repeat"]))
        variant = {"p": row["paraphrase"], "s": row["seed"]}
        written = {letter: str(number) for letter, number in variant.items() if number}
        return {"run": run.run_id, "q": name, **written}
    return {}
