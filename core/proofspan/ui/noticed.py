"""The warnings and cautions of the workspace's catalogue, made ready once for all visits."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.notices import Notices
from proofspan.manifest.paths import artifact_path
from proofspan.traces.catalogue import read_catalogue
from proofspan.traces.unpack import plain_source
from proofspan.ui import session
from proofspan.ui.chunk_files import fingerprint


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
