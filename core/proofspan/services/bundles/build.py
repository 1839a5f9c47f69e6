"""The bundles of a run, built from its traces, with what an earlier file of bundles knew beyond them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Attachment, Chunk, LineIssue, Trace, TraceKey
from proofspan.contracts.records.render_ref import MAX_LENGTH
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import lowered, verdict
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import InputFault, ManifestFault, Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, CatalogueIndex, CitedPlace, attached
from proofspan.evidence.bundles import (
    Bundle,
    BundleAttachment,
    BundleCitation,
    BundleDocument,
    BundleLine,
    BundleProblem,
    bundle_id,
    canonical,
    has_unknown,
    read_bundles,
    record_of,
)
from proofspan.evidence.levels import PASSAGE_NOT_SHOWN, judge
from proofspan.manifest.paths import artifact_path, refusal_of, resolve_reference, root_folder
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.bundles.citation import bundle_citation, closest_to, wanted
from proofspan.services.bundles.report import Built, Earlier, Key
from proofspan.services.documents.document_set import Held, OnPlaced, Pool, Shelf
from proofspan.services.question.citation_queries import Pointer, pointers_of
from proofspan.services.workspace.readable import opened_traces, unpacked
from proofspan.store.files.fingerprints import sha256_of
from proofspan.traces.lines.reader import MAX_LINE
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.redirects import mapped, read_redirects, with_redirects
from proofspan.traces.records.traces import iter_traces

#: Traces that are made into bundles at once: their quotes are placed together.
BATCH = 500
#: In a bundle that would be too long, names of a citation are kept up to so many characters.
MAX_NAME = 1_000
#: Hears how many bytes of the traces are done, and how many there are.
OnBytes = Callable[[int, int], None]


def load_sources(manifest: Manifest, pool: Pool) -> tuple[Sources, tuple[Problem, ...]]:
    """What the bundles of a workspace are made from, and what of it could not be read.

    Fault where a file that the manifest names can't be used at all.
    """
    problems: list[Problem] = []
    sources = Sources(Shelf(manifest, pool), profile=profile_from(manifest.triage))
    if manifest.chunks is not None:
        file = artifact_path(manifest, manifest.chunks)
        with unpacked(file) as plain:
            listed, issues = read_chunks(plain, file=manifest.chunks.path)
        redirects, unread = _redirects(manifest)
        chunks = with_redirects(listed, redirects)
        replaced = _replaced(manifest.chunks, file, "bundles have no label")
        problems += [*replaced, *_unread(manifest.chunks, issues), *unread]
        corpus = None if replaced else Corpus(mapped(chunks, lambda chunk: chunk.text))
        sources = replace(sources, chunks=chunks, corpus=corpus)
    catalogue, told = load_catalogue(manifest)
    return replace(sources, catalogue=catalogue), (*problems, *told)


def _redirects(manifest: Manifest) -> tuple[dict[str, Redirect], list[Problem]]:
    """Where ids of earlier builds lead, and what of it could not be read. Fault for all of it."""
    if manifest.redirects is None:
        return {}, []
    file = artifact_path(manifest, manifest.redirects)
    with unpacked(file) as plain:
        found, issues = read_redirects(plain, file=manifest.redirects.path)
    return found, _unread(manifest.redirects, issues)


def load_catalogue(manifest: Manifest) -> tuple[CatalogueIndex, list[Problem]]:
    """The catalogue, empty where there is none, and what of it could not be read. Fault for all of it."""
    if manifest.catalogue is None:
        return CatalogueIndex.of(()), []
    file = artifact_path(manifest, manifest.catalogue)
    with unpacked(file) as plain:
        attachments, issues = read_catalogue(plain, file=manifest.catalogue.path)
    replaced = _replaced(manifest.catalogue, file, "attachments are those that it has now")
    return CatalogueIndex.of(attachments.values()), [*replaced, *_unread(manifest.catalogue, issues)]


def _replaced(artifact: Artifact, file: Path, so: str) -> list[Problem]:
    """That a file is not the one whose sha256 the manifest names, and what follows; nothing where it is."""
    named, actual = artifact.sha256, sha256_of(file) if artifact.sha256 else None
    if named is None or actual is None or actual == named.lower():
        return []
    said = f"`{artifact.key}`: is not the file that the manifest names: its sha256 begins {actual[:12]}"
    said = f"{said}, the manifest's {named[:12]}; {so}"
    fix = "restore the file, or correct its sha256 in the manifest"
    return [Problem("file_replaced", said, artifact.path, fix)]


def _unread(artifact: Artifact, issues: list[LineIssue]) -> list[Problem]:
    """One finding about lines that hold no record: what they would have shown is missing in the bundles."""
    unread = [issue for issue in issues if not issue.code.startswith("duplicate_")]
    if not unread:
        return []
    first = unread[0]
    said = f"`{artifact.key}`: {len(unread):,} line{'s' * (len(unread) != 1)} could not be read"
    where = f"{first.source.file}:{first.source.line}"
    said = f"{said}, first: {first.reason}; bundles are built without them"
    return [Problem("lines_unreadable", said, where, first.fix)]


def build_bundles(
    manifest: Manifest,
    run_id: str,
    *,
    sources: Sources,
    earlier: Earlier | None = None,
    workers: int = 1,
    on_bytes: OnBytes = lambda done, total: None,
) -> Iterator[Built | LineIssue]:
    """The bundles of a run in the order of its traces, and the lines of its traces or records that are none.

    Unknown fields of `earlier` bundles are carried over. InputFault where the run has no traces,
    ManifestFault where their file can't be found.
    """
    with opened_traces(manifest, run_with_traces(manifest, run_id)) as (plain, found):
        yield from found.issues
        size, repeats = plain.stat().st_size, Repeats()
        lines = iter_traces(plain, file=found.file, run_id=run_id, final=found.is_final)
        while batch := list(islice(lines, BATCH)):
            progress = _Progress(on_bytes, batch[0].source.offset, batch[-1].source.offset, size)
            asked = [(repeats.key_of(item), item) for item in batch if isinstance(item, Trace)]
            bundles = bundles_of(asked, sources, workers=workers, on_progress=progress)
            made = iter([line_of(bundle, earlier or Earlier()) for bundle in bundles])
            yield from (item if isinstance(item, LineIssue) else next(made) for item in batch)
        on_bytes(size, size)


def run_with_traces(manifest: Manifest, run_id: str) -> Run:
    """The run of that id. InputFault where it names no traces, ManifestFault where they are not there."""
    run = manifest.run(run_id)
    if run is None or not run.has_traces:
        raise InputFault.of(
            "no_traces",
            f"the run {run_id!r} has no traces to build bundles from",
            where=str(manifest.file or manifest.folder),
            fix=f"name them in the manifest: runs[{run_id}].traces; or build the others: --run ID",
        )
    for artifact in run.trace_artifacts:
        artifact_path(manifest, artifact)
    return run


@dataclass(frozen=True, slots=True)
class _Progress:
    """Quotes placed, told as bytes of the traces that they come from."""

    on_bytes: OnBytes
    start: int
    end: int
    size: int

    def __call__(self, done: int, total: int) -> None:
        self.on_bytes(self.start + (self.end - self.start) * done // max(1, total), self.size)


def line_of(bundle: Bundle, earlier: Earlier) -> Built:
    """The bundle as a line that can be read again, with what an earlier one knew beyond it."""
    bundle = replace(bundle, raw=earlier.records.get(_key(bundle), {}))
    line = canonical(record_of(bundle)) + b"\n"
    if len(line) > MAX_LINE:
        bundle = judged(_smaller(bundle))
        line = canonical(record_of(bundle)) + b"\n"
    return Built(bundle, line)


def _smaller(bundle: Bundle) -> Bundle:
    """A bundle that would be too long a line, with the citation that it shows and nothing beside it."""
    said = f"the bundle would be longer than the {MAX_LINE >> 20} MiB that a line may have"
    problem = BundleProblem("bundle_cut", said, "cite passages, not documents, and keep texts out of ids")
    cited = bundle.citation
    return replace(
        bundle,
        citation=_with_short_names(cited) if cited is not None else None,
        citations=(),
        safety_attachments=(),
        media_attachments=(),
        problems=(*bundle.problems, problem),
        raw={},
    )


def _with_short_names(cited: BundleCitation) -> BundleCitation:
    """The citation without the rest of names that are documents; its `doc_id` is one of the manifest's."""
    names = ("chunk_id", "section_id", "section_number", "page_label")
    given = {name: getattr(cited, name) for name in names}
    return replace(cited, **{name: value[:MAX_NAME] for name, value in given.items() if value is not None})


def _key(bundle: Bundle) -> Key:
    return bundle.q_id, bundle.paraphrase, bundle.seed, bundle.repeat


def read_earlier(path: Path, *, file: str) -> Earlier:
    """What a file of bundles holds that building it anew has to keep; nothing where there is none.

    InputFault where the file is no file of bundles, or one of a later version.
    """
    if not path.exists():
        return Earlier()
    keys, records, issues = set(), {}, []
    seen: Counter[tuple[str, int, int]] = Counter()
    with unpacked(path) as plain:
        for item in read_bundles(plain, file=file):
            if isinstance(item, LineIssue):
                issues.append(item)
                continue
            key = key_of(item, seen)
            keys.add(key)
            if has_unknown(item.record):
                records[key] = item.record
    _refuse_foreign(issues, keys)
    return Earlier(frozenset(keys), records, tuple(issues))


def run_of(path: Path) -> str:
    """The run that a file's first bundle names. InputFault where none does."""
    with unpacked(path) as plain:
        for item in read_bundles(plain, file=str(path)):
            if isinstance(item, BundleLine) and isinstance(item.record.get("run_id"), str):
                return str(item.record["run_id"])
    raise InputFault.of(
        "no_run", "no bundle of the file names its run", where=str(path), fix="name it: --run ID"
    )


def key_of(item: BundleLine, seen: Counter[tuple[str, int, int]]) -> Key:
    """The identity of a line, by its order among its like where it states no repeat."""
    paraphrase, seed = (index_of(item.record.get(name)) or 0 for name in ("paraphrase", "seed"))
    identity = (item.q_id, paraphrase, seed)
    seen[identity] += 1
    return (*identity, index_of(item.record.get("repeat")) or seen[identity])


def _refuse_foreign(issues: list[LineIssue], keys: set[Key]) -> None:
    """InputFault for a file that must not be written over: a later version's, or none of bundles."""
    newer = next((issue for issue in issues if issue.code == "bundle_newer"), None)
    if newer is None and (keys or not issues):
        return
    first = newer or issues[0]
    raise InputFault.of(
        first.code,
        f"the file is not written over: {first.reason}",
        where=f"{first.source.file}:{first.source.line}",
        fix="move it away, or write to another file: -o FILE",
    )


def bundles_path(manifest: Manifest, run: Run) -> Path:
    """Where a run's bundles are to be written; the file need not be there yet, its folder must.

    InputFault where the manifest names no path, with the line to add; ManifestFault where it can't be used.
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
        fix = f"make it first: mkdir -p {shlex.quote(str(root / folder))}" if is_missing else problem.fix
        said = f"`{artifact.key}`: its folder {problem.message}"
        raise ManifestFault(replace(problem, message=said, fix=fix)) from None


# Traces → evidence bundles. Whatever a trace holds, a bundle comes out; with less evidence, never empty.

#: So many citations of an answer, and so many attachments of a bundle, are looked at.
MAX_CITATIONS = 50
MAX_ATTACHMENTS = 200
#: A question, an answer, or an attachment's text is kept up to so many characters.
MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Sources:
    """What bundles are made from beside traces; `corpus` is None where there are no chunks to judge by."""

    shelf: Shelf
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    catalogue: CatalogueIndex = field(default_factory=lambda: CatalogueIndex.of(()))
    corpus: Corpus | None = None
    profile: Profile = field(default_factory=Profile)


def bundles_of(
    traces: Sequence[tuple[TraceKey, Trace]],
    sources: Sources,
    *,
    workers: int = 1,
    on_progress: OnPlaced = lambda done, total: None,
) -> list[Bundle]:
    """The bundles of these traces, in their order; quotes that several of them share are placed once."""
    desk = _Desk(sources.shelf, workers, on_progress)
    cited = [list(pointers_of(trace, sources.chunks)) for _, trace in traces]
    answers = desk.citations([pointers[:MAX_CITATIONS] for pointers in cited])
    closest = [
        [] if any(item.is_shown for item in citations) else closest_to(trace, sources.chunks)
        for (_, trace), citations in zip(traces, answers, strict=True)
    ]
    passages = desk.citations(closest)
    return [
        _bundle(key, trace, citations, near, len(pointers), sources)
        for (key, trace), citations, near, pointers in zip(traces, answers, passages, cited, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Desk:
    """Places pointers in bulk."""

    shelf: Shelf
    workers: int
    on_progress: OnPlaced

    def citations(self, groups: Sequence[list[Pointer]]) -> list[list[BundleCitation]]:
        """The pointers of each trace with their checked places."""
        asked = [[wanted(pointer) for pointer in group] for group in groups]
        sought = (each for group in asked for each in group if each is not None)
        found = self.shelf.place(sought, workers=self.workers, on_placed=self.on_progress)
        return [
            [
                bundle_citation(pointer, found.get(each) if each else None, self.shelf)
                for pointer, each in zip(group, quotes, strict=True)
            ]
            for group, quotes in zip(groups, asked, strict=True)
        ]


def _bundle(
    key: TraceKey,
    trace: Trace,
    citations: Sequence[BundleCitation],
    passages: Sequence[BundleCitation],
    cited: int,
    sources: Sources,
) -> Bundle:
    """One trace's bundle; `cited` counts its citations, those that are not looked at included."""
    shown = [item for item in citations if item.is_shown]
    shown.sort(key=lambda item: not item.is_placed)
    shown = shown or [item for item in passages if item.is_shown][:1]
    attachments, count = _attachments(shown, sources)
    row = verdict(trace, sources.corpus, sources.profile)
    profile = {"template": sources.profile.template, "refusal": list(sources.profile.refusal)}
    bundle = Bundle(
        bundle_id=bundle_id(key),
        run_id=key.run_id,
        q_id=key.q_id,
        paraphrase=key.paraphrase,
        seed=key.seed,
        repeat=key.repeat,
        q=trace.q[:MAX_TEXT],
        answer=trace.answer[:MAX_TEXT],
        is_refusal=refuses(trace.answer.lower(), lowered(sources.profile.refusal)),
        label=row.label if row else None,
        why=row.why if row else None,
        profile=profile,
        citation=shown[0] if shown else None,
        citation_origin=shown[0].origin if shown else "none",
        citations=tuple(citations),
        safety_attachments=tuple(item for item in attachments if item.kind in SAFETY_KINDS),
        media_attachments=tuple(item for item in attachments if item.kind not in SAFETY_KINDS),
        documents=_documents((*shown, *citations), sources.shelf),
        problems=(*_cuts(trace, citations=cited, attachments=count), *([] if shown else _unshown(passages))),
        level="text_only",
        level_reason="",
    )
    return judged(bundle)


def judged(bundle: Bundle) -> Bundle:
    """The bundle with the level that the rules give it."""
    level, reason = judge(bundle)
    return replace(bundle, level=level, level_reason=reason)


def _attachments(
    shown: Sequence[BundleCitation], sources: Sources
) -> tuple[tuple[BundleAttachment, ...], int]:
    """What belongs to the citations that are shown, the first citation's first, and how many there are.

    Where there are too many, pictures are left out before notices.
    """
    found = belonging(shown, sources.catalogue)
    listed = sorted(found, key=lambda item: item[0].attachment.kind not in SAFETY_KINDS)
    listed = listed[:MAX_ATTACHMENTS]
    return tuple(_attachment(each, cited, sources.shelf) for each, cited in listed), len(found)


def belonging(
    shown: Iterable[BundleCitation], catalogue: CatalogueIndex
) -> list[tuple[Attached, BundleCitation]]:
    """Each attachment that belongs to these citations, once, with the first that it belongs to."""
    found: dict[str, tuple[Attached, BundleCitation]] = {}
    for cited in shown:
        for each in attached(_place_of(cited), catalogue):
            found.setdefault(each.attachment.attachment_id, (each, cited))
    return list(found.values())


def _place_of(cited: BundleCitation) -> CitedPlace:
    """Where a citation stands, as the rule for attachments reads it."""
    is_text = cited.page_idx_from == "text"
    found = cited.found
    rects = found.rects if found is not None and found.page_idx == cited.shown_page_idx else ()
    section = cited.section_id or (None if cited.section_number_from == "page" else cited.section_number)
    return CitedPlace(cited.doc_id, section, None if is_text else cited.shown_page_idx, rects)


def _attachment(each: Attached, cited: BundleCitation, shelf: Shelf) -> BundleAttachment:
    item = each.attachment
    undrawn = shelf.drawing_problem(item.render_ref)
    return BundleAttachment(
        attachment_id=item.attachment_id,
        kind=item.kind,
        doc_id=item.doc_id,
        section_id=item.section_id,
        page_idx=item.page_idx,
        bbox=item.box,
        bbox_space=item.box_space if item.box is not None else None,
        text=item.text[:MAX_TEXT],
        caption=None if item.caption is None else item.caption[:MAX_TEXT],
        render_ref=None if item.render_ref is None else item.render_ref[: MAX_LENGTH + 1],
        drawable=undrawn is None,
        problem=shelf.told(undrawn) if undrawn is not None else _off_document(item, shelf),
        by=each.by,
        pages_away=each.pages_away,
        citation_number=cited.number,
    )


def _off_document(item: Attachment, shelf: Shelf) -> BundleProblem | None:
    """That the page of an attachment, which can be drawn all the same, lies beyond its document's end."""
    held = shelf.held(item.doc_id) if item.doc_id is not None else None
    if item.page_idx is None or held is None or held.page_count is None or item.page_idx < held.page_count:
        return None
    said = f"its page_idx {item.page_idx:,} lies beyond the end of {held.document.doc_id}"
    return BundleProblem("page_out_of_range", said, "correct its page_idx in the catalogue", item.page_idx)


def _documents(cited: Iterable[BundleCitation], shelf: Shelf) -> tuple[BundleDocument, ...]:
    """The listed documents that are cited or shown, each once, as they lie there."""
    used = dict.fromkeys(item.doc_id for item in cited if item.doc_id is not None)
    return tuple(_document(held, shelf) for doc_id in used if (held := shelf.held(doc_id)) is not None)


def _document(held: Held, shelf: Shelf) -> BundleDocument:
    document = held.document
    return BundleDocument(
        doc_id=document.doc_id,
        title=document.title,
        path=document.artifact.path,
        paged=document.paged,
        page_count=held.page_count,
        rev=document.rev,
        sha256=held.sha256,
        problem=shelf.told(held.problem) if held.problem is not None else None,
    )


def _unshown(passages: Sequence[BundleCitation]) -> Iterator[BundleProblem]:
    """Why not even the closest retrieved passage can be shown."""
    if passages and passages[0].problems:
        problem = passages[0].problems[-1]
        said = f"the closest retrieved passage can't be shown: {problem.message}"
        yield BundleProblem(PASSAGE_NOT_SHOWN, said, problem.remedy, problem.given)


def _cuts(trace: Trace, *, citations: int, attachments: int) -> Iterator[BundleProblem]:
    """What a bundle leaves out because there is too much of it."""
    if citations > MAX_CITATIONS:
        said = f"of {citations:,} citations the first {MAX_CITATIONS} are looked at"
        yield BundleProblem("citations_cut", said, "cite each passage once", citations)
    if attachments > MAX_ATTACHMENTS:
        said = f"of {attachments:,} attachments {MAX_ATTACHMENTS} are listed, notices before pictures"
        fix = "give the attachments of a long section sections of their own"
        yield BundleProblem("attachments_cut", said, fix, attachments)
    for name, text in (("question", trace.q), ("answer", trace.answer)):
        if len(text) > MAX_TEXT:
            said = f"of the {name} the first {MAX_TEXT:,} characters are kept"
            yield BundleProblem("text_cut", said, f"keep documents out of the {name}", len(text))
