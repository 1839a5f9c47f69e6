"""The workspace's chunks, made once for all visits and again when their file or its redirects change."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.diagnosis.corpus import Corpus
from proofspan.errors import Fault, ManifestFault
from proofspan.fingerprints import file_state
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.health.failure_map import Sections, section_map
from proofspan.store.index.side_files import read_led_chunks
from proofspan.traces.records.redirects import mapped


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """A chunk file with the fingerprints of it and its redirects, as a cache key."""

    path: str
    file: str
    state: str
    cache: str
    unpaged: frozenset[str]


def chunk_file(manifest: Manifest, cache: Path) -> ChunkFile:
    """Return the chunk file as it is now. Raises Fault without one."""
    path, file = located(manifest, manifest.chunks, "chunks")
    state = file_state(path)
    if manifest.redirects is not None:
        with suppress(Fault):
            state += file_state(artifact_path(manifest, manifest.redirects))
    return ChunkFile(str(path), file, state, str(cache), manifest.unpaged)


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def chunks_in(_manifest: Manifest, found: ChunkFile) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """Return the chunks by id, former ids too, and the lines without a chunk."""
    return read_led_chunks(_manifest, Path(found.path), file=found.file, cache_dir=Path(found.cache))


@st.cache_resource(max_entries=2, show_spinner=False)
def sections_in(_manifest: Manifest, found: ChunkFile) -> Sections:
    return section_map(chunks_in(_manifest, found)[0].values(), unpaged=found.unpaged)


@st.cache_resource(max_entries=2, show_spinner=False)
def corpus_in(_manifest: Manifest, found: ChunkFile) -> tuple[Corpus, threading.Lock]:
    """Return the chunks prepared for triage, with a lock: they serve one thread at a time."""
    known, _ = chunks_in(_manifest, found)
    return Corpus(mapped(known, lambda chunk: chunk.text)), threading.Lock()


def located(manifest: Manifest, artifact: Artifact | None, key: str) -> tuple[Path, str]:
    """Return an artifact's path and its path in the manifest. Raises Fault where the manifest names none."""
    if artifact is None:
        raise ManifestFault.of(
            "not_named",
            f"the manifest names no {key}",
            where=str(manifest.folder / MANIFEST_NAME),
            fix=f"add `{key}: {{path: …}}`",
        )
    return artifact_path(manifest, artifact), artifact.path
