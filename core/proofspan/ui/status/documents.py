"""The documents and traces of a workspace as all visits share them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.safety import Notices
from proofspan.manifest.paths import artifact_path
from proofspan.services.documents.document_cache import Placer
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.separate.join_cache import needed_trace_file
from proofspan.ui.status import background
from proofspan.ui.visit import session
from proofspan.ui.visit.chunk_cache import fingerprint


@st.cache_resource(show_spinner=False)
def placer() -> Placer:
    """Placed spans and drawn pages, remembered for all visits."""
    return Placer(session.pdf_pool())


def plain_traces(opened: session.Opened) -> Path:
    """The run's traces, unpacked or joined. Raises `Fault` where they are lost."""
    return needed_trace_file(opened.manifest, opened.run, cache_dir=session.cache_dir().path)[0]


def try_again(path: Path | None) -> None:
    """Ask anew for what was given up of a document, and for what was worked out without it."""
    if path is not None:
        placer().forget(path)
    background.tasks().forget()


# The warnings and cautions of the workspace's catalogue, made ready once for all visits.


def notices(opened: session.Opened, corpus: Corpus) -> Notices | None:
    """What to look for in answers, None where there is no catalogue. A Fault where it is lost.

    They are used while the corpus is held: neither serves two threads at a time.
    """
    artifact = opened.manifest.catalogue
    if artifact is None:
        return None
    path = artifact_path(opened.manifest, artifact)
    return _notices(corpus, id(corpus), str(path), artifact.path, fingerprint(path))


@st.cache_resource(max_entries=2, show_spinner=False)
def _notices(_corpus: Corpus, corpus_id: int, path: str, file: str, fingerprint: str) -> Notices:
    plain = plain_source(Path(path), cache_dir=session.cache_dir().path)
    return Notices(read_catalogue(plain, file=file)[0].values(), _corpus)
