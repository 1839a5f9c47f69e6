"""A filtered list as the sets of other tools, with people's verdicts: downloads of the Export menu."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from proofspan.services.export_formats import keys_of, packed_run
from proofspan.store.query.store import Store
from proofspan.traces.exports.registry import EXPORT_FORMATS
from proofspan.traces.exports.types import ExportFormat
from proofspan.ui.visit import session
from proofspan.ui.visit.session import Opened
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.export_menu import Download

#: The formats that are offered, with their suffixes and media types.
_OFFERED = {
    "ragas": ("ragas.jsonl", "application/x-ndjson"),
    "deepeval": ("deepeval.json", "application/json"),
    "promptfoo": ("promptfoo.json", "application/json"),
    "beir": ("beir.zip", "application/zip"),
}


def downloads_of(opened: Opened, store: Store, view: ViewState) -> Mapping[str, Download]:
    """Return the downloads of a list by kind; each reads the list when somebody asks for it."""
    cache = session.cache_dir().path

    def write(format_: ExportFormat) -> bytes:
        only = keys_of(view.run, store.places(view.filter, view.sort))
        return packed_run(opened.manifest, opened.run, format_, cache_dir=cache, only=only)

    formats = [EXPORT_FORMATS[name] for name in _OFFERED]
    return {each.name: Download(each.title, *_OFFERED[each.name], partial(write, each)) for each in formats}
