"""The bundles of a run, built from its index.

Whatever a trace holds, a bundle results, with less evidence perhaps, but never empty. Unknown fields of an
earlier file of bundles are kept.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Chunk, LineIssue, Trace, TraceKey
from proofspan.contracts.records.render_ref import MAX_LENGTH
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import lowered
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import InputFault, ManifestFault, Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, CatalogueIndex, CitedPlace, attached
from proofspan.evidence.bundles import (
    Bundle,
    BundleAttachment,
    BundleCitation,
    BundleDocument,
    BundleLine,
    ValueProblem,
    bundle_id,
    canonical,
    has_unknown,
    read_bundles,
    record_of,
)
from proofspan.evidence.levels import PASSAGE_NOT_SHOWN, judge
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path, refusal_of, resolve_reference, root_folder
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.bundles.citation import bundle_citation, closest_to, wanted
from proofspan.services.bundles.report import Earlier
from proofspan.services.documents.document_set import OnPlaced, Shelf
from proofspan.services.question.view import CitationView, QuestionView, citation_view
from proofspan.services.workspace.readable import unpacked
from proofspan.store.query.indexed_run import IndexedRun, IndexedTrace
from proofspan.traces.lines.reader import MAX_LINE
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.citations import recorded_citations
from proofspan.traces.records.redirects import read_redirects, with_redirects
from proofspan.wording import counted

#: Traces whose quotes are located together.
BATCH = 500
#: Citations of an answer and attachments of a bundle that are looked at.
MAX_CITATIONS = 50
MAX_ATTACHMENTS = 200
#: Characters kept of a question, an answer, or an attachment's text.
MAX_TEXT = 100_000
#: Characters kept of a citation's names in a bundle that would be too long a line.
MAX_NAME = 1_000
T = TypeVar("T")
#: Receives how many bytes of the traces are done, and how many there are.
OnBytes = Callable[[int, int], None]
#: A bundle and its line, with the line end.
Built = tuple[Bundle, bytes]


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs of bundles apart from traces."""

    shelf: Shelf
    chunks: Mapping[str, Chunk]
    catalogue: CatalogueIndex


def load_sources(manifest: Manifest, pool: PdfPool) -> tuple[Sources, tuple[Problem, ...]]:
    """Load what the bundles of a workspace are made from, with the problems of what could not be read.

    Raises Fault if a file that the manifest names can't be used at all.
    """
    listed, problems = _read(manifest, manifest.chunks, read_chunks, "bundles have no label")
    redirects, unread = _read(manifest, manifest.redirects if manifest.chunks else None, read_redirects)
    chunks = with_redirects(listed or {}, redirects or {})
    catalogue, unlisted = load_catalogue(manifest)
    return Sources(Shelf(manifest, pool), chunks, catalogue), (*problems, *unread, *unlisted)


def load_catalogue(manifest: Manifest) -> tuple[CatalogueIndex, list[Problem]]:
    """Load the catalogue, which may be empty, with the problems of what could not be read."""
    effect = "attachments are those that it has now"
    attachments, problems = _read(manifest, manifest.catalogue, read_catalogue, effect)
    return CatalogueIndex.of((attachments or {}).values()), problems


def _read(
    manifest: Manifest,
    artifact: Artifact | None,
    read: Callable[..., tuple[T, list[LineIssue]]],
    effect: str = "",
) -> tuple[T | None, list[Problem]]:
    """Read a file, None without one, with one problem for all lines that hold no record.

    With `effect`, which says what follows from it, another one if the sha256 is not the manifest's.
    """
    if artifact is None:
        return None, []
    file, problems = artifact_path(manifest, artifact), []
    with unpacked(file, fix_encoding=artifact.fix_encoding) as plain:
        listed, issues = read(plain, file=artifact.path)
    named = (artifact.sha256 or "").lower() if effect else ""
    if named and (actual := sha256_of(file)) != named:
        message = (
            f"`{artifact.key}`: is not the file that the manifest names: its sha256 begins {actual[:12]}, "
            f"the manifest's {named[:12]}; {effect}"
        )
        fix = "restore the file, or correct its sha256 in the manifest"
        problems.append(Problem("file_replaced", message, artifact.path, fix))
    if unread := [issue for issue in issues if not issue.code.startswith("duplicate_")]:
        first = unread[0]
        message = (
            f"`{artifact.key}`: {counted(len(unread), 'line')} could not be read, first: {first.message}; "
            "bundles are built without them"
        )
        where = f"{first.source.file}:{first.source.line}"
        problems.append(Problem("lines_unreadable", message, where, first.fix))
    return listed, problems


def build_bundles(
    manifest: Manifest,
    run_id: str,
    *,
    sources: Sources,
    cache_dir: Path,
    earlier: Earlier | None = None,
    workers: int = 1,
    on_bytes: OnBytes = lambda done, total: None,
) -> Iterator[Built | LineIssue]:
    """Build the bundles of an indexed run in the order of its traces; unreadable lines are issues.

    Unknown fields of `earlier` bundles are kept. Raises InputFault if the run has no traces, ManifestFault if
    their file can't be found, StoreFault if it has no index.
    """
    run = IndexedRun.of(manifest, run_with_traces(manifest, run_id), cache_dir)
    yield from run.issues
    lines, size = run.lines(), run.path.stat().st_size
    while batch := list(islice(lines, BATCH)):
        start, end = batch[0].source.offset, batch[-1].source.offset

        def on_placed(done: int, total: int, start: int = start, end: int = end) -> None:
            on_bytes(start + (end - start) * done // max(1, total), size)

        traces = [item for item in batch if isinstance(item, IndexedTrace)]
        bundles = iter(bundles_of(traces, sources, run.read, workers=workers, on_progress=on_placed))
        for item in batch:
            yield item if isinstance(item, LineIssue) else line_of(next(bundles), earlier or Earlier())
    on_bytes(size, size)


def run_with_traces(manifest: Manifest, run_id: str) -> Run:
    """Return the run of that id. Raises InputFault without traces, ManifestFault if they are missing."""
    run = manifest.run(run_id)
    if run is None or not run.has_traces:
        message = f"the run {run_id!r} has no traces to build bundles from"
        where = str(manifest.file or manifest.folder)
        fix = f"name them in the manifest: runs[{run_id}].traces; or build the others: --run ID"
        raise InputFault.of("no_traces", message, where=where, fix=fix)
    for artifact in run.trace_artifacts:
        artifact_path(manifest, artifact)
    return run


def line_of(bundle: Bundle, earlier: Earlier) -> Built:
    """Return the bundle as a line that is not too long to be read, with an earlier one's unknown fields."""
    bundle = replace(bundle, raw=earlier.records.get(bundle.key, {}))
    line = canonical(record_of(bundle)) + b"\n"
    if len(line) <= MAX_LINE:
        return bundle, line
    # With only the citation that it shows, its names shortened.
    message = f"the bundle would be longer than the {MAX_LINE >> 20} MiB that a line may have"
    problem = Problem("bundle_cut", message, fix="cite passages, not documents, and keep texts out of ids")
    cited = bundle.citation
    if cited is not None:
        names = ("chunk_id", "section_id", "section_number", "page_label")
        values = {name: getattr(cited, name) for name in names}
        cited = replace(cited, **{name: value and value[:MAX_NAME] for name, value in values.items()})
    bundle = judged(
        replace(
            bundle,
            citation=cited,
            citations=(),
            safety_attachments=(),
            media_attachments=(),
            problems=(*bundle.problems, problem),
            raw={},
        )
    )
    return bundle, canonical(record_of(bundle)) + b"\n"


def read_earlier(path: Path, *, file: str, run_id: str) -> Earlier:
    """Read what a rebuild of this file has to keep.

    Raises InputFault if the file is no file of bundles, or one of a later version.
    """
    keys, records, issues = set(), {}, []
    seen: Counter[TraceKey] = Counter()
    with unpacked(path) as plain:
        for item in read_bundles(plain, file=file, checked=False):
            if isinstance(item, LineIssue):
                issues.append(item)
                continue
            key = key_of(item, run_id, seen)
            keys.add(key)
            if has_unknown(item.record):
                records[key] = item.record
    newer = next((issue for issue in issues if issue.code == "bundle_newer"), None)
    if newer is not None or (issues and not keys):
        first = newer or issues[0]
        raise InputFault.of(
            first.code,
            f"the file is not overwritten: {first.message}",
            where=f"{first.source.file}:{first.source.line}",
            fix="move it away, or write to another file: -o FILE",
        )
    return Earlier(frozenset(keys), records, tuple(issues))


def run_of(path: Path) -> str:
    """Return the run that a file's first bundle names. Raises InputFault if none does."""
    with unpacked(path) as plain:
        for item in read_bundles(plain, file=str(path), checked=False):
            if isinstance(item, BundleLine) and isinstance(item.record.get("run_id"), str):
                return str(item.record["run_id"])
    raise InputFault.of(
        "no_run", "no bundle of the file names its run", where=str(path), fix="name it: --run ID"
    )


def key_of(item: BundleLine, run_id: str, seen: Counter[TraceKey]) -> TraceKey:
    """Return the trace of a line in the file of `run_id`; `seen` counts the lines that state no repeat."""
    paraphrase, seed = (index_of(item.record.get(name)) or 0 for name in ("paraphrase", "seed"))
    key = TraceKey(run_id, item.q_id, paraphrase, seed)
    seen[key] += 1
    return replace(key, repeat=index_of(item.record.get("repeat")) or seen[key])


def bundles_path(manifest: Manifest, run: Run) -> Path:
    """Return where a run's bundles are to be written; the folder must exist, the file need not.

    Raises InputFault if the manifest names no path, with the line to add; ManifestFault for an unusable one.
    """
    artifact = run.bundles
    if artifact is None:
        packed = any(artifact.path.endswith(".zst") for artifact in run.trace_artifacts)
        line = f"bundles: {{path: runs/{run.run_id}/bundles.jsonl{'.zst' if packed else ''}}}"
        raise InputFault.of(
            "no_bundles_path",
            f"the manifest names no file for the bundles of {run.run_id}",
            where=f"{manifest.file or manifest.folder}: runs[{run.run_id}]",
            fix=f"add to the run: {line}",
        )
    folder, _, name = artifact.path.rpartition("/")
    reason = refusal_of(artifact.path)
    if reason is not None:
        raise ManifestFault.of(
            "path_refused",
            f"`{artifact.key}`: has the path {artifact.path[:200]!r}, which is refused: {reason}",
            where=str(manifest.file or manifest.folder),
            fix="write a path relative to the workspace, such as runs/R001/bundles.jsonl",
        )
    root = root_folder(manifest, artifact.root)
    try:
        return (resolve_reference(root, folder, folder=True) if folder else root) / name
    except ManifestFault as fault:
        problem = fault.problems[0]
        is_missing = problem.code == "missing"
        fix = f"create it: mkdir -p {shlex.quote(str(root / folder))}" if is_missing else problem.fix
        message = f"`{artifact.key}`: its folder {problem.message}"
        raise ManifestFault(replace(problem, message=message, fix=fix)) from None


def bundles_of(
    traces: Sequence[IndexedTrace],
    sources: Sources,
    read: Callable[[IndexedTrace], Trace],
    *,
    workers: int = 1,
    on_progress: OnPlaced = lambda done, total: None,
) -> list[Bundle]:
    """Build the bundles of these traces, in their order; a quote that several share is located once.

    `read` returns the whole trace, for an answer without a citation that can be shown.
    """

    def located(groups: Sequence[Sequence[CitationView]]) -> list[list[BundleCitation]]:
        wanted_by_group = [[wanted(view) for view in group] for group in groups]
        quotes = (quote for group in wanted_by_group for quote in group if quote)
        places = sources.shelf.place(quotes, workers=workers, on_placed=on_progress)
        return [
            [
                bundle_citation(view, places.get(quote) if quote else None, sources.shelf)
                for view, quote in zip(group, quotes, strict=True)
            ]
            for group, quotes in zip(groups, wanted_by_group, strict=True)
        ]

    cited = [recorded_citations(trace.cited) for trace in traces]
    answers = located(
        [[citation_view(each, sources.chunks) for each in every[:MAX_CITATIONS]] for every in cited]
    )
    closest = located(
        [
            [] if any(item.is_shown for item in citations) else closest_to(read(trace), sources.chunks)
            for trace, citations in zip(traces, answers, strict=True)
        ]
    )
    profile = profile_from(sources.shelf.manifest.triage)
    return [
        _bundle(trace, citations, passages, len(every), sources, profile)
        for trace, citations, passages, every in zip(traces, answers, closest, cited, strict=True)
    ]


def bundle_of(key: TraceKey, view: QuestionView, sources: Sources) -> Bundle:
    """Build the bundle of a question that has been loaded."""
    return bundles_of([IndexedTrace.of(key, view.trace, view.row)], sources, lambda _: view.trace)[0]


def _bundle(
    trace: IndexedTrace,
    citations: Sequence[BundleCitation],
    passages: Sequence[BundleCitation],
    cited: int,
    sources: Sources,
    profile: Profile,
) -> Bundle:
    """Build one trace's bundle; `cited` counts all its citations, also those beyond `MAX_CITATIONS`."""
    shown = sorted((item for item in citations if item.is_shown), key=lambda item: not item.is_placed)
    shown = shown or [item for item in passages if item.is_shown][:1]
    belongs = belonging(shown, sources.catalogue)
    # Where there are too many attachments, pictures are dropped before notices.
    listed = sorted(belongs, key=lambda item: item[0].attachment.kind not in SAFETY_KINDS)[:MAX_ATTACHMENTS]
    attachments = [_attachment(each, cited, sources.shelf) for each, cited in listed]
    problems = list(_cuts(trace, citations=cited, attachments=len(belongs)))
    if not shown and passages and passages[0].problems:
        problem = passages[0].problems[-1]
        message = f"the closest retrieved passage can't be shown: {problem.message}"
        problems.append(replace(problem, code=PASSAGE_NOT_SHOWN, message=message))
    documents = []  # those that are cited or shown, each once, in their present state
    for doc_id in dict.fromkeys(item.doc_id for item in (*shown, *citations) if item.doc_id is not None):
        if (held := sources.shelf.held(doc_id)) is not None:
            documents.append(
                BundleDocument(
                    doc_id=held.document.doc_id,
                    title=held.document.title,
                    path=held.document.artifact.path,
                    paged=held.document.paged,
                    page_count=held.page_count,
                    rev=held.document.rev,
                    sha256=held.sha256,
                    problem=held.problem and sources.shelf.portable(held.problem),
                )
            )
    key = trace.key
    bundle = Bundle(
        bundle_id=bundle_id(key),
        run_id=key.run_id,
        q_id=key.q_id,
        paraphrase=key.paraphrase,
        seed=key.seed,
        repeat=key.repeat,
        q=trace.q[:MAX_TEXT],
        answer=trace.answer[:MAX_TEXT],
        is_refusal=refuses(trace.answer.lower(), lowered(profile.refusal)),
        label=trace.label,
        why=trace.why,
        profile={"template": profile.template, "refusal": list(profile.refusal)},
        citation=shown[0] if shown else None,
        citation_origin=shown[0].origin if shown else "none",
        citations=tuple(citations),
        safety_attachments=tuple(item for item in attachments if item.attachment.kind in SAFETY_KINDS),
        media_attachments=tuple(item for item in attachments if item.attachment.kind not in SAFETY_KINDS),
        documents=tuple(documents),
        problems=tuple(problems),
        level="text_only",
        level_reason="",
    )
    return judged(bundle)


def judged(bundle: Bundle) -> Bundle:
    """Return the bundle with the level that the rules give it."""
    level, reason = judge(bundle)
    return replace(bundle, level=level, level_reason=reason)


def belonging(
    shown: Iterable[BundleCitation], catalogue: CatalogueIndex
) -> list[tuple[Attached, BundleCitation]]:
    """Return each attachment of these citations once, with the first citation that it belongs to."""
    attachments: dict[str, tuple[Attached, BundleCitation]] = {}
    for cited in shown:
        found = cited.found
        rects = found.rects if found is not None and found.page_idx == cited.shown_page_idx else ()
        section = cited.section_id or (None if cited.section_number_from == "page" else cited.section_number)
        page_idx = None if cited.page_idx_from == "text" else cited.shown_page_idx
        for each in attached(CitedPlace(cited.doc_id, section, page_idx, rects), catalogue):
            attachments.setdefault(each.attachment.attachment_id, (each, cited))
    return list(attachments.values())


def _attachment(each: Attached, cited: BundleCitation, shelf: Shelf) -> BundleAttachment:
    item = each.attachment
    undrawn, held = shelf.drawing_problem(item.render_ref), shelf.held(item.doc_id or "")
    cut = replace(
        item,
        text=item.text[:MAX_TEXT],
        caption=None if item.caption is None else item.caption[:MAX_TEXT],
        render_ref=None if item.render_ref is None else item.render_ref[: MAX_LENGTH + 1],
        raw={},
    )
    problem = shelf.portable(undrawn) if undrawn is not None else None
    count, page_idx = held.page_count if held is not None else None, item.page_idx
    if problem is None and count is not None and page_idx is not None and page_idx >= count:
        message = f"its page_idx {page_idx:,} is beyond the end of {item.doc_id}"
        fix = "correct its page_idx in the catalogue"
        problem = ValueProblem("page_out_of_range", message, fix=fix, value=page_idx)
    return BundleAttachment(cut, each.by, each.pages_away, undrawn is None, problem, cited.number)


def _cuts(trace: IndexedTrace, *, citations: int, attachments: int) -> Iterator[Problem]:
    if citations > MAX_CITATIONS:
        message = f"only the first {MAX_CITATIONS} of {citations:,} citations are looked at"
        yield ValueProblem("citations_cut", message, fix="cite each passage once", value=citations)
    if attachments > MAX_ATTACHMENTS:
        message = f"only {MAX_ATTACHMENTS} of {attachments:,} attachments are listed, notices before pictures"
        fix = "give the attachments of a long section sections of their own"
        yield ValueProblem("attachments_cut", message, fix=fix, value=attachments)
    for name, text in (("question", trace.q), ("answer", trace.answer)):
        if len(text) > MAX_TEXT:
            message = f"only the first {MAX_TEXT:,} characters of the {name} are kept"
            yield ValueProblem("text_cut", message, fix=f"keep documents out of the {name}", value=len(text))
