"""What there is to validate: bare files with their types, and the artifacts of workspaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from proofspan.contracts.context import NO_CONTEXT, Context
from proofspan.contracts.record_rules import RECORD_TYPES
from proofspan.diagnosis.profile import profile_from
from proofspan.diagnosis.types import Profile
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.services.validating_lines import USUAL, Job, objects
from proofspan.store.redirected import read_led_chunks
from proofspan.traces.chunks import read_chunks
from proofspan.traces.contract import context_of
from proofspan.traces.reader import open_source
from proofspan.traces.redirects import former_ids
from proofspan.traces.sniff import foreign_file
from proofspan.traces.unpack import plain_source
from proofspan.traces.whole import is_whole_json

#: A manifest may be named in place of its folder.
MANIFEST_SUFFIXES = (".yaml", ".yml")
#: Names of separate records in a manifest that are not the name of their type.
_OF_RECORDS: Mapping[str, str] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says besides the paths: the type of all records, and what they are held against.

    `refusal` None: the phrases of the manifest, of bare files those of the reference.
    """

    record_type: str | None = None
    context: Context = NO_CONTEXT
    refusal: tuple[str, ...] | None = None
    same_key: bool = True


def jobs_of(path: Path, asked: Asked, *, cache_dir: Path) -> Iterator[Job | Problem]:
    """The files that a path stands for, and why those of a workspace that cannot be used cannot.

    Of a workspace a type given by the caller chooses the artifacts. Fault where the path itself is unusable.
    """
    if path.is_dir() or path.suffix in MANIFEST_SUFFIXES:
        yield from _of_workspace(path, asked, cache_dir)
    else:
        yield _bare(path, asked, cache_dir)


def corpus_of(chunks: Path, *, cache_dir: Path) -> frozenset[str]:
    """The ids of a chunk file. InputFault where it is none."""
    found, _ = read_chunks(plain_source(chunks, cache_dir=cache_dir), file=str(chunks))
    return frozenset(found)


def _bare(path: Path, asked: Asked, cache_dir: Path) -> Job:
    plain = plain_source(path, cache_dir=cache_dir)
    job = Job(
        path=plain,
        file=str(path),
        record_type=asked.record_type,
        context=asked.context,
        profile=_profile(asked, USUAL),
        same_key=asked.same_key,
    )
    return _looked_into(job)


def _profile(asked: Asked, profile: Profile) -> Profile:
    return profile if asked.refusal is None else replace(profile, refusal=asked.refusal)


def _looked_into(job: Job) -> Job:
    """The job with what its file shows: how it is to be read, and the type of its first record.

    InputFault where it holds no records, or where nothing says of which type they are.
    """
    with open_source(job.path):
        pass
    if job.record_type != "log":  # its lines are text
        job = replace(job, is_whole=is_whole_json(job.path, file=job.file))
        foreign = None if job.is_whole else foreign_file(job.path, file=job.file)
        if foreign is not None:
            raise InputFault.of(foreign.code, foreign.reason, where=job.file, remedy=foreign.remedy)
    if job.record_type is not None:
        return replace(job, usual_type=job.record_type)
    first = next((kind for _, kind, _ in objects(job)), None)
    if first == "":
        known = ", ".join(RECORD_TYPES)
        raise InputFault.of(
            "type_not_named",
            "nothing says what the records are: the first one has no $schema that is known",
            where=job.file,
            remedy=f"name their type with --as: one of {known}",
        )
    return replace(job, usual_type=first)


def _of_workspace(path: Path, asked: Asked, cache_dir: Path) -> Iterator[Job | Problem]:
    """Every artifact of a workspace that holds records, in the order of its manifest."""
    manifest = load_manifest(path)
    folder = path if path.is_dir() else path.parent
    corpus, profile = _corpus(manifest, cache_dir), _profile(asked, profile_from(manifest.triage))
    for artifact, kind, run in _artifacts(manifest):
        if asked.record_type not in (None, kind):
            continue
        known = context_of(manifest, run if run is not None else Run("", None), corpus)
        job = Job(
            path=folder,
            file=str(folder / artifact.path),
            record_type=kind,
            context=_held_against(known, asked.context),
            same_key=asked.same_key,
            profile=profile,
            run_id=run.run_id if run is not None else None,
            group=run.run_id if run is not None else "",
            unreadable=artifact.unreadable_lines or 0,
        )
        try:
            yield _found(job, manifest, artifact, cache_dir)
        except Fault as fault:
            yield from fault.problems


def _found(job: Job, manifest: Manifest, artifact: Artifact, cache_dir: Path) -> Job:
    """The job with its file. Of traces that may still be written the last line waits for its line end."""
    file = artifact_path(manifest, artifact)
    plain = plain_source(file, cache_dir=cache_dir)
    return _looked_into(replace(job, path=plain, is_final=plain != file or job.record_type != "trace"))


def _artifacts(manifest: Manifest) -> Iterator[tuple[Artifact, str, Run | None]]:
    """The artifacts with records of the contract, the type of these, and their run.

    Bundles and journals have commands of their own.
    """
    named = {
        "chunk": manifest.chunks,
        "redirect": manifest.redirects,
        "gold": manifest.gold,
        "catalogue": manifest.catalogue,
    }
    yield from ((artifact, kind, None) for kind, artifact in named.items() if artifact is not None)
    for run in manifest.runs:
        records = {_OF_RECORDS.get(name, name): artifact for name, artifact in run.records.items()}
        of_run = {
            "trace": run.traces,
            **records,
            "report": run.report,
            "metrics": run.metrics,
        }
        yield from ((artifact, kind, run) for kind, artifact in of_run.items() if artifact is not None)


def _corpus(manifest: Manifest, cache_dir: Path) -> frozenset[str] | None:
    """The ids of the workspace's chunks, former ones too; None where there are none to compare with."""
    if manifest.chunks is None:
        return None
    try:
        file = artifact_path(manifest, manifest.chunks)
        known, _ = read_led_chunks(manifest, file, file=manifest.chunks.path, cache_dir=cache_dir)
    except Fault:
        return None  # said of the artifact itself
    return frozenset(known) | former_ids(known)


def _held_against(known: Context, given: Context) -> Context:
    """The workspace's context, with what the caller says in its place."""
    return replace(
        known,
        index_hash=given.index_hash or known.index_hash,
        embed_model=given.embed_model or known.embed_model,
        analyzer=given.analyzer or known.analyzer,
        revs={**known.revs, **given.revs},
        corpus=given.corpus if given.corpus is not None else known.corpus,
        allow_cross=given.allow_cross or known.allow_cross,
        cross_sections=known.cross_sections | given.cross_sections,
    )
