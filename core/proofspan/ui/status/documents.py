"""The documents and traces of a workspace as all visits share them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import streamlit as st

from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.safety import Notices
from proofspan.errors import Fault
from proofspan.fingerprints import file_state
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.documents.background import Waiting
from proofspan.services.documents.document_cache import Placer
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.separate.join_cache import trace_file
from proofspan.ui.status import background
from proofspan.ui.visit import session


@st.cache_resource(show_spinner=False)
def placer() -> Placer:
    """Return the cache of located spans and rendered pages, shared by all visits."""
    return Placer(session.pdf_pool())


def plain_traces(opened: session.Opened) -> Path:
    """Return the run's traces, unpacked or joined. Raises Fault where they are missing."""
    return trace_file(opened.manifest, opened.run, cache_dir=session.cache_dir().path).needed_path


class PageLabels:
    """The printed page numbers of a workspace's documents, as `Labels`.

    A document that is not open yet has none: it is opened in the background, and the next run has them.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._known: dict[str | None, Sequence[str]] = {}
        self._awaited: list[Hashable] = []

    def __call__(self, doc_id: str | None) -> Sequence[str]:
        """Return the printed numbers of a document by page_idx, without an id of the only one with pages."""
        if doc_id in self._known:
            return self._known[doc_id]
        document = self._manifest.paged_document(doc_id)
        if document is None:
            return self._known.setdefault(doc_id, ())
        with suppress(Fault, OSError):  # a lost file is among the problems of its page
            path = artifact_path(self._manifest, document.artifact)
            known = placer().known_document(path)
            if known is not None:
                return self._known.setdefault(doc_id, known.labels)
            key = ("labels", path, file_state(path))
            if isinstance(background.ask(key, partial(placer().document, path), share=0.0), Waiting):
                self._awaited.append(key)
        return ()

    def request(self) -> None:
        """Have the page run again with those that it asked for in vain. Draws nothing."""
        if self._awaited:
            background.rerun_after(self._awaited)


def try_again(path: Path | None) -> None:
    """Read a document again that was given up, and everything that was made without it."""
    if path is not None:
        placer().forget(path)
    background.tasks().forget()


def notices(opened: session.Opened, corpus: Corpus) -> Notices | None:
    """Return the warnings and cautions of the catalogue, None without one. Raises Fault where it is missing.

    Use them while holding the corpus: neither serves two threads at a time.
    """
    artifact = opened.manifest.catalogue
    if artifact is None:
        return None
    path, file = artifact_path(opened.manifest, artifact), artifact.path

    def read() -> Notices:
        plain = artifact_source(opened.manifest, artifact, cache_dir=session.cache_dir().path)
        return Notices(read_catalogue(plain, file=file)[0].values(), corpus)

    key = (id(corpus), path, file_state(path), artifact.fix_encoding)
    return session.cached("notices", key, read, most=2)
