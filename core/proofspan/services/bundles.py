"""The bundles of a run, built from its traces, with what an earlier file of bundles knew beyond them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from proofspan.contracts.records import LineIssue, Trace
from proofspan.contracts.redirects import Redirect
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.profile import profile_from
from proofspan.errors import InputFault, ManifestFault, Problem
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.bundlefile import BundleLine, read_bundles
from proofspan.evidence.bundles import (
    Bundle,
    BundleCitation,
    BundleProblem,
    canonical,
    has_unknown,
    record_of,
)
from proofspan.manifest.paths import artifact_path, refusal_of, resolve_reference, root_folder
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.bundle_report import Built, Earlier, Key
from proofspan.services.bundling import Sources, bundles_of, judged
from proofspan.services.records import opened_traces, unpacked
from proofspan.services.shelf import Pool, Shelf
from proofspan.store.prints import sha256_of
from proofspan.traces.catalogue import read_catalogue
from proofspan.traces.chunks import read_chunks
from proofspan.traces.fields import index_of
from proofspan.traces.identity import Repeats
from proofspan.traces.reader import MAX_LINE
from proofspan.traces.redirects import mapped, read_redirects, with_redirects
from proofspan.traces.traces import iter_traces

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
    remedy = "restore the file, or correct its sha256 in the manifest"
    return [Problem("file_replaced", said, artifact.path, remedy)]


def _unread(artifact: Artifact, issues: list[LineIssue]) -> list[Problem]:
    """One finding about lines that hold no record: what they would have shown is missing in the bundles."""
    unread = [issue for issue in issues if not issue.code.startswith("duplicate_")]
    if not unread:
        return []
    first = unread[0]
    said = f"`{artifact.key}`: {len(unread):,} line{'s' * (len(unread) != 1)} could not be read"
    where = f"{first.source.file}:{first.source.line}"
    said = f"{said}, first: {first.reason}; bundles are built without them"
    return [Problem("lines_unreadable", said, where, first.remedy)]


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
            remedy=f"name them in the manifest: runs[{run_id}].traces; or build the others: --run ID",
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
        "no_run", "no bundle of the file names its run", where=str(path), remedy="name it: --run ID"
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
        remedy="move it away, or write to another file: -o FILE",
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
            remedy=f"add to the run: {line}",
        )
    folder, _, name = artifact.path.rpartition("/")
    reason = refusal_of(artifact.path)
    if reason is not None:
        raise ManifestFault.of(
            "path_refused",
            f"`{artifact.key}`: has the path {artifact.path[:200]!r}, which is refused: {reason}",
            where=str(manifest.file or manifest.folder),
            remedy="write a path relative to the workspace, such as runs/R001/bundles.jsonl",
        )
    root = root_folder(manifest, artifact.root)
    try:
        return (resolve_reference(root, folder, folder=True) if folder else root) / name
    except ManifestFault as fault:
        problem = fault.problems[0]
        is_missing = problem.code == "missing"
        remedy = (
            f"make it first: mkdir -p {shlex.quote(str(root / folder))}" if is_missing else problem.remedy
        )
        said = f"`{artifact.key}`: its folder {problem.message}"
        raise ManifestFault(replace(problem, message=said, remedy=remedy)) from None
