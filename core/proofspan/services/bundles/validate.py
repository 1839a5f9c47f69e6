"""Do the bundles of a file hold? Each against the schema, its own hash, its trace, and what can be drawn now.

What a bundle says of itself is not believed: its pages and attachments are drawn again from their references
alone, and its level is worked out anew from what came of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import lowered
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Problem, printable
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.bundles import (
    Bundle,
    BundleAttachment,
    BundleCitation,
    BundleLine,
    read_bundles,
    sha256_of,
)
from proofspan.evidence.levels import CUT, name_of, one_line
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import MAX_TEXT, belonging, judged, key_of
from proofspan.services.bundles.report import Key, RunReport, counts
from proofspan.services.documents.document_set import Shelf
from proofspan.services.workspace.readable import opened_traces, unpacked
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.traces import iter_traces

#: So much of a text is told, in characters.
EXCERPT = 120
REBUILD = "build the bundles anew: proofspan bundle build WORKSPACE"

NO_TRACES = "the run has no traces: nothing tells whether bundles are missing"


@dataclass(frozen=True, slots=True)
class BundleFinding:
    """One thing that is wrong with a file of bundles. `line` is None for what is missing in it.

    A "warning" is what a bundle states itself about a citation: it is as it should be, and the answer is not.
    """

    file: str
    line: int | None
    q_id: str
    code: str
    message: str
    fix: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        about = f"{where}: {self.q_id}: " if self.q_id else f"{where}: "
        fix = f" — {self.fix}" if self.fix else ""
        return printable(" ".join(f"{about}{self.message} ({self.code}){fix}".split()))


@dataclass(frozen=True, slots=True)
class Validation:
    """What became of one run's file of bundles."""

    file: str
    report: RunReport
    findings: tuple[BundleFinding, ...]

    @property
    def is_good(self) -> bool:
        """Whether every bundle holds; warnings are not counted."""
        return not any(finding.severity == "error" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class _Expected:
    """A trace of the run: its place among the traces, and a hash of what was asked and answered.

    `counts` tells whether it is an answered question, which coverage counts.
    """

    place: int
    texts: int
    counts: bool


@dataclass(slots=True)
class _Check:
    """The run of one file through its checks."""

    file: str
    run_id: str
    shelf: Shelf
    catalogue: CatalogueIndex
    expected: Mapping[Key, _Expected] | None
    report: RunReport = field(init=False)
    seen: dict[Key, int] = field(default_factory=dict)
    _alike: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    last: int = -1

    def __post_init__(self) -> None:
        self.report = RunReport(self.run_id)

    def line(self, item: BundleLine | LineIssue) -> Iterator[BundleFinding]:
        """What is wrong with one line."""
        if isinstance(item, LineIssue):
            yield BundleFinding(self.file, item.source.line, "", item.code, item.reason, item.fix)
            return
        yield from self._told(item, _of_record(item))
        key = key_of(item, self._alike)
        if item.bundle is None:
            self.seen.setdefault(key, item.source.line)
            return
        undrawn, now = _as_it_shows(item.bundle, self.shelf)
        if key not in self.seen and (self.expected is None or key in self.expected):
            self.report.add(now)
        yield from self._told(item, self._identity(key, item, item.bundle))
        yield from self._told(item, _documents(item.bundle, self.shelf))
        yield from self._told(item, _shown(item.bundle, now, undrawn))
        yield from self._told(item, _not_listed(item.bundle, self.catalogue))
        for problem in _stated(item.bundle):
            yield from self._told(item, [problem], severity="warning")

    def _told(
        self,
        item: BundleLine,
        problems: Iterator[Problem] | list[Problem],
        *,
        severity: Literal["error", "warning"] = "error",
    ) -> Iterator[BundleFinding]:
        for each in problems:
            line = item.source.line
            yield BundleFinding(self.file, line, item.q_id, each.code, each.message, each.fix, severity)

    def _identity(self, key: Key, item: BundleLine, bundle: Bundle) -> Iterator[Problem]:
        """Is it a bundle of this run's traces, once, in their order, and of what they say?"""
        if bundle.run_id != self.run_id:
            said = f"the bundle belongs to run {bundle.run_id[:80]}, the file to {self.run_id}"
            yield Problem("other_run", said, "", REBUILD)
        if key in self.seen:
            yield Problem(
                "duplicate_bundle", f"the bundle stands on line {self.seen[key]} before", "", REBUILD
            )
            return
        self.seen[key] = item.source.line
        if self.expected is None:
            return
        trace = self.expected.get(key)
        if trace is None:
            yield Problem("no_trace", f"no trace of the run belongs to it {_variant(key)}", "", REBUILD)
            return
        if trace.place < self.last:
            yield Problem("out_of_order", "it stands behind the bundle of a later trace", "", REBUILD)
        self.last = max(self.last, trace.place)
        if trace.texts != hash((bundle.q, bundle.answer)):
            yield Problem("trace_differs", "its question or answer is not that of its trace", "", REBUILD)

    def missing(self) -> Iterator[BundleFinding]:
        """The traces that have no bundle. Those answered without one that can be read are not covered."""
        for key, trace in (self.expected or {}).items():
            self.report.coverage.answered += trace.counts and key not in self.report.keys
            if key not in self.seen:
                said = f"the trace has no bundle {_variant(key)}"
                yield BundleFinding(self.file, None, key[0], "bundle_missing", said, REBUILD)


def validate_bundles(
    manifest: Manifest, run_id: str, *, path: Path, file: str, shelf: Shelf, catalogue: CatalogueIndex
) -> Validation:
    """Everything that is wrong with a run's bundles at `path`, called `file` in the findings.

    Fault where that file, or the run's traces, can't be read at all.
    """
    check = _Check(file, run_id, shelf, catalogue, _expected(manifest, run_id))
    with unpacked(path) as plain:
        findings = [finding for item in read_bundles(plain, file=file) for finding in check.line(item)]
    findings += check.missing()
    if check.expected is None:
        findings.append(BundleFinding(file, None, "", "no_traces", NO_TRACES, severity="warning"))
    return Validation(file, check.report, tuple(findings))


def _expected(manifest: Manifest, run_id: str) -> dict[Key, _Expected] | None:
    """The run's traces by their identity; None for a run that has none."""
    run = manifest.run(run_id)
    if run is None or not run.has_traces:
        return None
    repeats = Repeats()
    refusal = lowered(profile_from(manifest.triage).refusal)
    expected: dict[Key, _Expected] = {}
    with opened_traces(manifest, run) as (plain, found):
        for item in iter_traces(plain, file=found.file, run_id=run_id, final=found.is_final):
            if isinstance(item, Trace):
                trace = repeats.key_of(item)
                key = (trace.q_id, trace.paraphrase, trace.seed, trace.repeat)
                texts = hash((item.q[:MAX_TEXT], item.answer[:MAX_TEXT]))
                is_refusal = refuses(item.answer.lower(), refusal)
                is_counted = counts(key, item.answer, is_refusal=is_refusal)
                expected[key] = _Expected(len(expected), texts, is_counted)
    return expected


def _variant(key: Key) -> str:
    _, paraphrase, seed, repeat = key
    return f"(paraphrase {paraphrase}, seed {seed}{f', repeat {repeat}' if repeat > 1 else ''})"


def _of_record(item: BundleLine) -> Iterator[Problem]:
    """Is the line a bundle of this version, unchanged since it was written?"""
    if item.is_older:
        stated = str(item.record.get("bundle_version", "none"))[:20]
        yield Problem("bundle_older", f"the bundle is of version {stated}", "", f"to upgrade it, {REBUILD}")
        return
    for place, message in item.errors:
        yield Problem("bundle_schema", f"`{place}`: {message}", "", REBUILD)
    if not item.errors and item.record["sha256"] != (actual := sha256_of(item.record)):
        said = f"the bundle was changed after it was written: its sha256 is {actual[:12]}… now"
        yield Problem("sha256_differs", said, "", REBUILD)


def document_changes(bundle: Bundle, shelf: Shelf) -> Iterator[Problem]:
    """What says that its documents are not those that it was built from: its boxes may lie elsewhere now."""
    for document in bundle.documents:
        held = shelf.held(document.doc_id)
        if held is None:
            said = f"the manifest does not list its document {document.doc_id[:80]}"
            yield Problem("document_not_listed", said, "", "list it under `documents`, or build anew")
        elif document.sha256 is not None and held.sha256 != document.sha256:
            said = f"{document.doc_id} is another file than the one that the bundle was built from"
            yield Problem("document_changed", said, "", f"put that file back, or {REBUILD}")
        elif document.rev not in (None, held.document.rev):
            said = f"{document.doc_id} was revision {document.rev} and is {held.document.rev} by the manifest"
            yield Problem("document_changed", said, "", REBUILD)


def _documents(bundle: Bundle, shelf: Shelf) -> Iterator[Problem]:
    """Are its documents still those that it was built from, and those that the manifest describes?"""
    yield from document_changes(bundle, shelf)
    for document in bundle.documents:
        held = shelf.held(document.doc_id)
        if held is not None and held.problem is not None:
            yield Problem(held.problem.code, held.problem.message, "", held.problem.fix)


def _as_it_shows(bundle: Bundle, shelf: Shelf) -> tuple[Problem | None, Bundle]:
    """Why its page can't be shown now, and the bundle with what can, at the level that the rules give it."""
    undrawn = _page_problem(bundle.citation, shelf) if bundle.citation is not None else None
    now = replace(
        bundle,
        citation=None if undrawn is not None else bundle.citation,
        safety_attachments=tuple(_redrawn(item, shelf) for item in bundle.safety_attachments),
        media_attachments=tuple(_redrawn(item, shelf) for item in bundle.media_attachments),
    )
    return undrawn, judged(now)


def _shown(bundle: Bundle, now: Bundle, undrawn: Problem | None) -> Iterator[Problem]:
    """Can its page and its attachments be shown now, and is its level what the rules give for that?"""
    if undrawn is not None:
        yield undrawn
    for item in now.attachments:
        if not item.drawable and item.render_ref is not None:
            yield _not_drawn(item)
    if now.level != bundle.level:
        reason = now.level_reason if undrawn is None else "its page can't be shown"
        said = f"its level is {bundle.level}, and the rules give {now.level}: {reason}"
        yield Problem("level_differs", said, "", REBUILD)


def _not_listed(bundle: Bundle, catalogue: CatalogueIndex) -> Iterator[Problem]:
    """Does it list all that the catalogue has for its places, unless it says that it does not?"""
    if any(problem.code in CUT for problem in bundle.problems):
        return
    listed = {item.attachment_id for item in bundle.attachments}
    shown = [item for item in bundle.citations if item.is_shown]
    places = shown or ([bundle.citation] if bundle.citation is not None else [])
    belongs = [each.attachment for each, _ in belonging(places, catalogue)]
    missing = [item for item in belongs if item.attachment_id not in listed]
    if missing:
        first = f"the {missing[0].kind} {one_line(missing[0].attachment_id, length=EXCERPT)}"
        count = f"{len(missing):,} of the {len(belongs):,} attachments that belong to it"
        said = f"{count} {'is' if len(missing) == 1 else 'are'} not listed, first {first}"
        yield Problem("attachments_missing", said, "", REBUILD)


def _page_problem(cited: BundleCitation, shelf: Shelf) -> Problem | None:
    """Why the page that a citation shows, or claims, is none that can be shown."""
    held = shelf.held(cited.doc_id or "")
    if held is None:
        said = f"the workspace has no document {(cited.doc_id or '')[:80]}, so its page can't be shown"
        return Problem("document_not_listed", _with_text(said, cited), "", "list it under `documents`")
    for page_idx in dict.fromkeys((cited.page_idx, cited.shown_page_idx)):
        if page_idx is not None and held.page_count is not None and page_idx >= held.page_count:
            said = f"page_idx {page_idx:,} lies beyond the end of {held.document.doc_id}"
            said = f"{said}, which has {held.page_count:,} page{'s' * (held.page_count != 1)}"
            return Problem("page_out_of_range", _with_text(said, cited), "", REBUILD)
    problem = shelf.page_problem(held.document.doc_id, cited.shown_page_idx or 0)
    return replace(problem, message=_with_text(problem.message, cited)) if problem is not None else None


def _with_text(said: str, cited: BundleCitation) -> str:
    """A reason with the text that it keeps from being shown."""
    return f"{said}; the cited text is {_excerpt(cited.quote)}" if cited.quote else said


def _redrawn(item: BundleAttachment, shelf: Shelf) -> BundleAttachment:
    undrawn = shelf.drawing_problem(item.render_ref)
    told = shelf.told(undrawn) if undrawn is not None else None
    return replace(item, drawable=undrawn is None, problem=told)


def _not_drawn(item: BundleAttachment) -> Problem:
    """An attachment that can't be drawn, with its reason, its place and its text."""
    reason = item.problem.message if item.problem else ""
    place = f" of {item.doc_id}" if item.doc_id else ""
    place = f"; it stands on page_idx {item.page_idx}{place}" if item.page_idx is not None else ""
    text = f" and says {_excerpt(item.text)}" if item.text.strip() else ""
    fix = item.problem.remedy if item.problem else ""
    return Problem("attachment_not_drawn", f"{name_of(item)} can't be drawn: {reason}{place}{text}", "", fix)


def _excerpt(text: str | None) -> str:
    line = one_line(text or "", length=EXCERPT)
    return f"“{line}”"


def _stated(bundle: Bundle) -> Iterator[Problem]:
    """What a bundle says itself of the answer's citations, with the text that is meant."""
    for item in bundle.citations:
        for problem in item.problems:
            said = f"citation {item.number}: {problem.message}"
            yield Problem(problem.code, _with_text(said, item), "", problem.remedy)
    for problem in bundle.problems:
        yield Problem(problem.code, problem.message, "", problem.remedy)
