"""Validate a file of bundles: each against the schema, its own hash, its trace, and what can be drawn now.

A bundle's claims are not trusted: its pages and attachments are drawn again from their references, and its
level is computed again from the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from proofspan.contracts.records.records import Json, LineIssue, TraceKey
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
from proofspan.services.bundles.report import RunReport, counts
from proofspan.services.documents.document_set import Shelf
from proofspan.services.workspace.readable import unpacked
from proofspan.store.query.indexed_run import IndexedRun
from proofspan.wording import counted

#: Characters quoted of a text.
EXCERPT = 120
REBUILD = "rebuild the bundles: proofspan bundle build WORKSPACE"

NO_TRACES = "the run has no traces: missing bundles cannot be detected"


@dataclass(frozen=True, slots=True)
class BundleFinding:
    """A problem of a file of bundles. `line` is None for something missing, `q_id` "" for a whole line.

    A "warning" is a problem that a bundle itself states about a citation: the bundle is correct, the answer
    is not.
    """

    problem: Problem
    line: int | None
    q_id: str = ""

    def in_words(self, file: str) -> str:
        """Return the finding as one line of the report."""
        where = file if self.line is None else f"{file}:{self.line}"
        about = f"{where}: {self.q_id}: " if self.q_id else f"{where}: "
        fix = f" — {self.problem.fix}" if self.problem.fix else ""
        return printable(" ".join(f"{about}{self.problem.message} ({self.problem.code}){fix}".split()))

    def to_json(self, file: str) -> dict[str, Json]:
        """Return the finding as the command prints it."""
        problem = self.problem
        about = {"file": file, "line": self.line, "q_id": self.q_id, "code": problem.code}
        return {**about, "message": problem.message, "fix": problem.fix, "severity": problem.severity}


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of validating one run's file of bundles."""

    file: str
    report: RunReport
    findings: tuple[BundleFinding, ...]

    @property
    def errors(self) -> int:
        """Return how many findings are errors; without any, every bundle is valid."""
        return sum(finding.problem.severity == "error" for finding in self.findings)


def validate_bundles(
    manifest: Manifest,
    run_id: str,
    *,
    path: Path,
    file: str,
    shelf: Shelf,
    catalogue: CatalogueIndex,
    cache_dir: Path,
) -> Validation:
    """Validate the bundles of an indexed run at `path`; `file` is its name in messages.

    Raises Fault if that file, or the run's traces, can't be read at all, or the traces are not indexed.
    """
    expected, report = _expected(manifest, run_id, cache_dir), RunReport(run_id)
    findings: list[BundleFinding] = []
    seen: dict[TraceKey, int] = {}
    alike: Counter[TraceKey] = Counter()
    last = -1
    with unpacked(path) as plain:
        for item in read_bundles(plain, file=file):
            line = item.source.line
            if isinstance(item, LineIssue):
                findings.append(BundleFinding(Problem(item.code, item.message, fix=item.fix), line))
                continue
            key, bundle, problems = key_of(item, run_id, alike), item.bundle, list(_of_record(item))
            if bundle is not None:
                undrawn = _page_problem(bundle.citation, shelf) if bundle.citation is not None else None
                now = _as_it_shows(bundle, shelf, undrawn)
                if key not in seen and (expected is None or key in expected):
                    report.add(replace(now, run_id=run_id))
                if bundle.run_id != run_id:
                    message = f"the bundle is of run {bundle.run_id[:80]}, the file of {run_id}"
                    problems.append(_rebuild("other_run", message))
                if key in seen:
                    message = f"line {seen[key]} already holds this bundle"
                    problems.append(_rebuild("duplicate_bundle", message))
                elif expected is not None and key not in expected:
                    problems.append(_rebuild("no_trace", f"the run has no trace for it {_variant(key)}"))
                elif expected is not None:
                    place, texts, _ = expected[key]
                    if place < last:
                        message = "it comes after the bundle of a later trace"
                        problems.append(_rebuild("out_of_order", message))
                    last = max(last, place)
                    if texts != hash((bundle.q, bundle.answer)):
                        message = "its question or answer is not that of its trace"
                        problems.append(_rebuild("trace_differs", message))
                problems += _of_evidence(bundle, now, undrawn, shelf, catalogue)
            seen.setdefault(key, line)
            findings += [BundleFinding(problem, line, item.q_id) for problem in problems]
    for key, (_, _, is_counted) in (expected or {}).items():
        # An answered question without a readable bundle is not covered.
        report.answered += is_counted and key not in report.keys
        if key not in seen:
            problem = _rebuild("bundle_missing", f"the trace has no bundle {_variant(key)}")
            findings.append(BundleFinding(problem, None, key.q_id))
    if expected is None:
        findings.append(BundleFinding(Problem("no_traces", NO_TRACES, severity="warning"), None))
    return Validation(file, report, tuple(findings))


def _rebuild(code: str, message: str) -> Problem:
    return Problem(code, message, fix=REBUILD)


def _expected(
    manifest: Manifest, run_id: str, cache_dir: Path
) -> dict[TraceKey, tuple[int, int, bool]] | None:
    """Return the run's traces by key; None for a run without traces.

    Of each its position, a hash of question and answer, and whether coverage counts it.
    """
    run = manifest.run(run_id)
    if run is None or not run.has_traces:
        return None
    refusal = lowered(profile_from(manifest.triage).refusal)
    expected: dict[TraceKey, tuple[int, int, bool]] = {}
    for item in IndexedRun.of(manifest, run, cache_dir).lines():
        if not isinstance(item, LineIssue):
            texts = hash((item.q[:MAX_TEXT], item.answer[:MAX_TEXT]))
            is_counted = counts(item.key, item.answer, is_refusal=refuses(item.answer.lower(), refusal))
            expected[item.key] = len(expected), texts, is_counted
    return expected


def _variant(key: TraceKey) -> str:
    repeat = f", repeat {key.repeat}" if key.repeat > 1 else ""
    return f"(paraphrase {key.paraphrase}, seed {key.seed}{repeat})"


def _of_record(item: BundleLine) -> Iterator[Problem]:
    """Yield whether the line is no bundle of this version, or was changed after it was written."""
    if item.is_older:
        stated = str(item.record.get("bundle_version", "none"))[:20]
        fix = f"to upgrade it, {REBUILD}"
        yield Problem("bundle_older", f"the bundle is of version {stated}", fix=fix)
        return
    for place, message in item.errors:
        yield _rebuild("bundle_schema", f"`{place}`: {message}")
    if not item.errors and item.record["sha256"] != (actual := sha256_of(item.record)):
        message = f"the bundle was changed after it was written: its sha256 is now {actual[:12]}…"
        yield _rebuild("sha256_differs", message)


def document_changes(bundle: Bundle, shelf: Shelf) -> Iterator[Problem]:
    """Yield why its documents are not the ones it was built from: its boxes may be elsewhere now."""
    for document in bundle.documents:
        held = shelf.held(document.doc_id)
        if held is None:
            message = f"the manifest does not list its document {document.doc_id[:80]}"
            yield Problem("document_not_listed", message, fix="list it under `documents`, or rebuild")
        elif document.sha256 is not None and held.sha256 != document.sha256:
            message = f"{document.doc_id} is not the file that the bundle was built from"
            yield Problem("document_changed", message, fix=f"restore that file, or {REBUILD}")
        elif document.rev not in (None, held.document.rev):
            rev = f"{document.rev}, and the manifest names {held.document.rev}"
            yield _rebuild("document_changed", f"{document.doc_id} was revision {rev}")


def _as_it_shows(bundle: Bundle, shelf: Shelf, undrawn: Problem | None) -> Bundle:
    """Return the bundle with what can be shown now, at the level that the rules give for that."""

    def redrawn(item: BundleAttachment) -> BundleAttachment:
        problem = shelf.drawing_problem(item.attachment.render_ref)
        return replace(item, drawable=problem is None, problem=problem and shelf.portable(problem))

    return judged(
        replace(
            bundle,
            citation=None if undrawn is not None else bundle.citation,
            safety_attachments=tuple(map(redrawn, bundle.safety_attachments)),
            media_attachments=tuple(map(redrawn, bundle.media_attachments)),
        )
    )


def _of_evidence(
    bundle: Bundle, now: Bundle, undrawn: Problem | None, shelf: Shelf, catalogue: CatalogueIndex
) -> Iterator[Problem]:
    """Yield what is wrong with documents, page, attachments and level; `now` has what can be shown now."""
    yield from document_changes(bundle, shelf)
    for document in bundle.documents:
        held = shelf.held(document.doc_id)
        if held is not None and held.problem is not None:
            yield replace(held.problem, severity="error")
    if undrawn is not None:
        yield undrawn
    for item in now.attachments:
        attachment, problem = item.attachment, item.problem
        if problem is not None and attachment.render_ref is not None:
            of_document = f" of {attachment.doc_id}" if attachment.doc_id else ""
            page_idx = attachment.page_idx
            place = f"; it is on page_idx {page_idx}{of_document}" if page_idx is not None else ""
            text = f" and says {_excerpt(attachment.text)}" if attachment.text.strip() else ""
            message = f"{name_of(attachment)} can't be drawn: {problem.message}{place}{text}"
            yield Problem("attachment_not_drawn", message, fix=problem.fix)
    if now.level != bundle.level:
        reason = now.level_reason if undrawn is None else "its page can't be shown"
        message = f"its level is {bundle.level}, and the rules give {now.level}: {reason}"
        yield _rebuild("level_differs", message)
    if not any(problem.code in CUT for problem in bundle.problems):  # else it says so itself
        listed = {item.attachment.attachment_id for item in bundle.attachments}
        shown = [item for item in bundle.citations if item.is_shown]
        places = shown or ([bundle.citation] if bundle.citation is not None else [])
        belongs = [each.attachment for each, _ in belonging(places, catalogue)]
        if missing := [item for item in belongs if item.attachment_id not in listed]:
            first = f"the {missing[0].kind} {one_line(missing[0].attachment_id, length=EXCERPT)}"
            verb = "is" if len(missing) == 1 else "are"
            share = f"{len(missing):,} of the {counted(len(belongs), 'attachment')} that belong to it"
            yield _rebuild("attachments_missing", f"{share} {verb} not listed, first {first}")
    # What a bundle states itself about the answer's citations.
    for cited in bundle.citations:
        for problem in cited.problems:
            message = _with_text(f"citation {cited.number}: {problem.message}", cited)
            yield replace(problem, message=message, severity="warning")
    yield from (replace(problem, severity="warning") for problem in bundle.problems)


def _page_problem(cited: BundleCitation, shelf: Shelf) -> Problem | None:
    held = shelf.held(cited.doc_id or "")
    if held is None:
        message = f"the workspace has no document {(cited.doc_id or '')[:80]}, so its page can't be shown"
        fix = "list it under `documents`"
        return Problem("document_not_listed", _with_text(message, cited), fix=fix)
    for page_idx in dict.fromkeys((cited.page_idx, cited.shown_page_idx)):
        if page_idx is not None and held.page_count is not None and page_idx >= held.page_count:
            message = f"page_idx {page_idx:,} is beyond the end of {held.document.doc_id}, "
            message += f"which has {counted(held.page_count, 'page')}"
            return _rebuild("page_out_of_range", _with_text(message, cited))
    problem = shelf.page_problem(held.document.doc_id, cited.shown_page_idx or 0)
    return replace(problem, message=_with_text(problem.message, cited)) if problem is not None else None


def _with_text(message: str, cited: BundleCitation) -> str:
    return f"{message}; the cited text is {_excerpt(cited.quote)}" if cited.quote else message


def _excerpt(text: str | None) -> str:
    return f"“{one_line(text or '', length=EXCERPT)}”"
