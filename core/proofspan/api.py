"""The Python API: the commands as functions that return values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from proofspan.contracts.records.records import LineIssue
from proofspan.contracts.rules.catalogue import Finding
from proofspan.diagnosis.types import Profile, ReportRow, Template
from proofspan.errors import EvidenceFault, InputFault, Problem
from proofspan.evidence.locate_bulk import locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import ask
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.resources import DEMO
from proofspan.services.compare import other_run
from proofspan.services.gate import release_verdict
from proofspan.services.metrics.run_metrics import RunMetrics, run_metrics
from proofspan.services.passes.checking import check_runs
from proofspan.services.release import ReleaseVerdict
from proofspan.services.triage import Outcome, Sources, bare_sources, report_rows, run_sources
from proofspan.services.validation import Tally
from proofspan.services.validation import validate as findings_of
from proofspan.services.workspace.open import chosen_run, profile_of_options
from proofspan.store.files.cache_dir import default_cache_dir
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import temporary_folder

#: Seconds for one quote: if it is not on the cited page, the worker reads the whole document.
LOCATE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class TriageReport:
    """The labelled questions of one trace file.

    `rows` are in the file's order. `issues` are the lines that hold no record, each with its file, line,
    reason and fix. `suggested` is a profile that fits the answers if none follows `profile`, the one used.
    """

    rows: tuple[ReportRow, ...]
    issues: tuple[LineIssue, ...]
    profile: Profile
    suggested: Profile | None = None

    @property
    def labels(self) -> dict[str, int]:
        """Return the number of rows by label, without labels that no row has."""
        return dict(Counter(row.label for row in self.rows))


class Workspace:
    """A folder whose `pipeline_manifest.yaml` names documents, chunks, gold questions and runs.

    `manifest` is the parsed file. `metrics` and `gate` build the index of a run in `cache_dir`, by default
    the user's cache folder; it can be deleted at any time.
    """

    def __init__(self, manifest: Manifest, *, cache_dir: Path | None = None) -> None:
        self.manifest = manifest
        self.cache_dir = cache_dir or default_cache_dir()

    @property
    def name(self) -> str:
        """Return the workspace's name."""
        return self.manifest.name

    @property
    def folder(self) -> Path:
        """Return the folder of the manifest."""
        return self.manifest.folder

    @property
    def runs(self) -> tuple[str, ...]:
        """Return the ids of the runs in the manifest's order."""
        return tuple(run.run_id for run in self.manifest.runs)

    def triage(self, run: str | None = None) -> TriageReport:
        """Label the questions of a run, by default the latest, as the dashboard does."""
        with temporary_folder() as unpacked:
            return _report(run_sources(self.manifest, run, None, cache_dir=Path(unpacked)))

    def validate(self) -> list[Finding]:
        """Check every file of the workspace against the citation contract, as `validate` does."""
        return validate(self.manifest.file or self.folder)

    def locate(self, doc_id: str, quote: str, *, page_idx: int | None = None) -> FoundSpan:
        """Locate a quote in one of the documents, as `locate` does.

        Raises InputFault if the manifest has no such document.
        """
        document = self.manifest.document(doc_id)
        if document is None:
            known = ", ".join(each.doc_id for each in self.manifest.documents)
            raise InputFault.of(
                "unknown_document",
                f"the manifest has no document {doc_id!r}",
                where=str(self.folder),
                fix=f"choose one of {known}" if known else "list it under `documents`",
            )
        path = artifact_path(self.manifest, document.artifact)
        return _answer(path, SpanQuery(quote, page_idx), is_text=not document.paged)

    def metrics(self, run: str | None = None) -> RunMetrics:
        """Measure a run, by default the latest: each metric with its counts, interval, goal and verdict."""
        run_id = chosen_run(self.manifest, run).run_id
        return run_metrics(self._indexed([run_id], claims=True), self.manifest, run_id)

    def gate(self, run: str | None = None, *, against: str | None = None) -> ReleaseVerdict:
        """Return the release verdict on a run by the manifest's goals and gates: its state and reasons.

        It is compared with the run `against`, by default the run's baseline, else the run before it.
        """
        chosen = chosen_run(self.manifest, run)
        other = against or other_run(self.manifest, chosen.run_id)
        known = [each for each in (chosen.run_id, other) if each is not None and each in self.runs]
        store = self._indexed(known, claims=True)
        return release_verdict(store, self.manifest, chosen.run_id, against=against)

    def _indexed(self, runs: Sequence[str], *, claims: bool) -> Store:
        run_ids = list(dict.fromkeys(runs))
        build_index(self.manifest, runs=run_ids, cache_dir=self.cache_dir)
        if claims:
            list(check_runs(self.manifest, run_ids, cache_dir=self.cache_dir))
        return Store(self.manifest, self.cache_dir)


def open_workspace(folder: str | Path | None = None, *, cache_dir: str | Path | None = None) -> Workspace:
    """Open the workspace of a folder or a manifest file, by default the demo.

    Raises ManifestFault if the manifest is missing or cannot be used. Its files are not opened yet.
    """
    return Workspace(
        load_manifest(Path(folder or DEMO)), cache_dir=None if cache_dir is None else Path(cache_dir)
    )


def triage(
    traces: str | Path,
    chunks: str | Path,
    *,
    template: Template | None = None,
    refusal: Sequence[str] = (),
) -> TriageReport:
    """Label the questions of a trace file (JSONL) by the texts of a chunk file (a JSON array or JSONL).

    `template` says where citations are expected: in the answer's text ("seed", the default), in the citation
    payload ("payload") or nowhere ("none"). An answer with one of the phrases in `refusal` is a refusal.
    Raises InputFault if a file cannot be read, or the chunk file has no chunk.
    """
    profile = profile_of_options(template, refusal) or Profile()
    with temporary_folder() as unpacked:
        return _report(bare_sources(Path(traces), Path(chunks), profile, cache_dir=Path(unpacked)))


def locate(document: str | Path, quote: str, *, page_idx: int | None = None) -> FoundSpan:
    """Locate a quote in a PDF, or in a text, Markdown or HTML file.

    `page_idx` is the cited page, from 0; it and its neighbours are searched first. The result has `status`
    (`exact`, `normalized`, `fuzzy`, `partial`, `not_found`), `page_idx`, `rects` in points from the top left,
    `agreement` (0 to 1) and `differences`. For many quotes use `proofspan locate`, which keeps documents
    open. Raises EvidenceFault if the document cannot be opened.
    """
    return _answer(Path(document), SpanQuery(quote, page_idx))


def validate(*paths: str | Path, record_type: str | None = None) -> list[Finding]:
    """Check JSONL, JSON or log files, packed or not, or a workspace against the citation contract.

    `record_type` is the type of all records, such as "answer"; by default it is read from each record's
    `$schema` or from the manifest. Returns the findings in the order of files and lines, each with `file`,
    `line`, `record_id`, `code`, `where` (the place in the record), `message`, `severity` and `fix`. Raises
    InputFault for unreadable files.
    """
    tally = Tally()
    with temporary_folder() as unpacked:
        files = [Path(path) for path in paths]
        findings = list(findings_of(files, record_type, cache_dir=Path(unpacked), tally=tally))
    if tally.problems:
        raise InputFault(*tally.problems)
    return findings


def _report(sources: Sources) -> TriageReport:
    outcome = Outcome(sources.profile)
    rows = tuple(report_rows(sources, outcome))
    suggestion = outcome.suggestion
    return TriageReport(
        rows, tuple(outcome.issues), sources.profile, suggestion.profile if suggestion else None
    )


def _answer(path: Path, query: SpanQuery, *, is_text: bool | None = None) -> FoundSpan:
    with PdfPool(workers=1, timeout_s=LOCATE_TIMEOUT_S) as pool:
        (answer,) = locate_bulk([ask(path, query, is_text=is_text)], pool, workers=1)
    if isinstance(answer, Problem):
        raise EvidenceFault(answer)
    return answer
