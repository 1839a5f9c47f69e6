"""Pages run by AppTest on small workspaces, with an index that is built beforehand in this process."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from shutil import copytree
from typing import Any

import orjson
import pytest
import streamlit as st
import yaml
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Block
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from proofspan.diagnosis.types import Profile
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.open import WORKSPACE_VARIABLE, with_profile
from proofspan.store.index.build import build_index
from proofspan.ui.status import background
from proofspan.ui.visit import session
from tests.places import CHECKOUT, DEMO, HANDBOOK

Open = Callable[..., AppTest]
MakeWorkspace = Callable[..., Path]

CHUNKS = [
    {"chunk_id": "c1", "doc_id": "manual", "text": "Change the oil every 15,000 km. Use grade 5W-30."},
    {"chunk_id": "c2", "doc_id": "manual", "text": "The fuse F12 protects the interior lamps."},
]


def trace(q_id: str, q: str, answer: str, chunks: Sequence[str] = ("c1",), **more: Any) -> dict[str, Any]:
    """One trace; `more` adds or replaces keys."""
    found = [{"id": chunk, "section_id": "5.1", "doc_id": "manual"} for chunk in chunks]
    return {"q_id": q_id, "q": q, "answer": answer, "chunks": found, **more}


TRACES = [
    trace("Q1", "How often is the oil changed?", "Change the oil every 15,000 km. citations: [c1]"),
    trace("Q2", "Which oil grade is used?", "Use grade 5W-40, 12 litres."),
    trace("Q3", "Which fuse protects the lamps?", "not in context", ("c2",)),
]


def write_small(
    folder: Path, traces: Sequence[dict[str, Any] | bytes] | None = TRACES, **manifest: Any
) -> Path:
    """Write a workspace of one run R1, which `manifest` adds to, into a new folder."""
    folder.mkdir()
    (folder / "chunks.jsonl").write_bytes(_lines(CHUNKS))
    if traces is not None:
        (folder / "trace.jsonl").write_bytes(_lines(traces))
    named = {
        "manifest_version": "1.0",
        "name": "Small car",
        "chunks": {"path": "chunks.jsonl"},
        "runs": [{"run_id": "R1", "title": "first", "traces": {"path": "trace.jsonl"}}],
        **manifest,
    }
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(named), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the workspace that `make_workspace()` writes, for `open_shared`."""
    return write_small(tmp_path_factory.mktemp("small") / "workspace")


@pytest.fixture
def make_workspace(tmp_path: Path) -> MakeWorkspace:
    """`make_workspace(traces, **manifest)`: a workspace of one run R1; a raw `bytes` line stays as it is."""

    return partial(write_small, tmp_path / "workspace")


@pytest.fixture(scope="session", autouse=True)
def packages_scanned_once() -> Iterator[None]:
    """Every AppTest looks through all installed packages, which takes longer than a page: once will do."""
    found = manifest_scanner.scan_component_manifests()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", lambda: [*found])
        yield


@pytest.fixture(scope="session")
def pdf_pool() -> Iterator[PdfPool]:
    """The PDF workers of all these tests; they start with the first page that is drawn, and end here."""
    with PdfPool() as pool:
        yield pool


@pytest.fixture(scope="session", autouse=True)
def runs_are_joined() -> Iterator[None]:
    """Wait for a script run: AppTest asks each millisecond whether it has ended, a tenth of its cost."""
    ask = local_script_runner.require_widgets_deltas

    def wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
        runner._script_thread.join(timeout)
        ask(runner, timeout=0.1 if runner._script_thread.is_alive() else timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(autouse=True)
def nothing_remembered(
    request: pytest.FixtureRequest, pdf_pool: PdfPool, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Clear what a test loaded, above all its cache folder, unless it uses `open_shared`.

    The workers stay, since a pool of each test would live on until the end of all: hundreds of processes.
    """
    monkeypatch.setattr(session, "pdf_pool", lambda: pdf_pool)
    is_kept = "open_shared" in request.fixturenames
    if not is_kept:
        st.cache_resource.clear()
    yield
    if not is_kept:
        st.cache_resource.clear()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page waits here for all that belongs to it, however busy the machine is."""
    monkeypatch.setattr(background, "PATIENCE_S", 60.0)


@pytest.fixture(scope="session")
def built(
    tmp_path_factory: pytest.TempPathFactory, indexed: Callable[[Path], Path]
) -> Callable[[Path], Path]:
    """`built(workspace)`: a cache folder with its index, for a workspace that no test changes."""

    @cache
    def build(workspace: Path) -> Path:
        folder = tmp_path_factory.mktemp("built")
        if workspace in (HANDBOOK, DEMO):
            copytree(indexed(workspace), folder, dirs_exist_ok=True)
            return folder
        build_index(load_manifest(workspace), cache_dir=folder)
        return folder

    return build


@pytest.fixture
def open_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Callable[[Path], Path]) -> Open:
    """`open_app(workspace, page="", indexed=True, **url)`: the dashboard after its first script run.

    Citations are located by `place_runs` beforehand, or not at all: nothing is at work in the background.
    """
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(session, "locating", lambda opened, store: None)

    def start(
        workspace: Path = HANDBOOK,
        *,
        page: str = "",
        indexed: bool = True,
        profile: Profile | None = None,
        **url: Any,
    ) -> AppTest:
        monkeypatch.setenv(WORKSPACE_VARIABLE, str(workspace))
        if indexed:
            if workspace in (HANDBOOK, DEMO) and not (tmp_path / "cache").exists():
                copytree(built(workspace), tmp_path / "cache")
            build_index(with_profile(load_manifest(workspace), profile), cache_dir=tmp_path / "cache")
        return _opened(page, url)

    return start


@pytest.fixture
def open_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Callable[[Path], Path]) -> Open:
    """`open_shared(workspace, page="", **url)`: the same with what pages of tests before have computed.

    The workspace has its index and is of no single test. A test that changes a file, replaces a function or
    leaves a page that is still computing uses `open_app`.
    """
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(session, "locating", lambda opened, store: None)

    def start(workspace: Path = HANDBOOK, *, page: str = "", **url: Any) -> AppTest:
        monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(built(workspace)))
        monkeypatch.setenv(WORKSPACE_VARIABLE, str(workspace))
        session.cache_dir.clear()
        return _opened(page, url)

    return start


def keys(app: AppTest) -> list[str]:
    """The keys of the containers and folds of the page, in order."""

    def within(block: Block) -> Iterator[str]:
        for child in block.children.values():
            if isinstance(child, Block):
                yield str(getattr(child.proto, "id", "")).partition("-")[2].partition("-")[2]
                yield from within(child)

    return [key for key in within(app.main) if key]


def unfold(app: AppTest, *names: str) -> AppTest:
    """Open these folds, or all that there are, with those inside of them."""
    opened: set[str] = set()
    while asked := {key for key in keys(app) if key.startswith("fold-")} - opened:
        asked = {key for key in asked if not names or key.removeprefix("fold-") in names}
        if not asked:
            break
        opened |= asked
        for key in opened:
            app.session_state[key] = True
        app.run()
    return app


def _opened(page: str, url: Mapping[str, Any]) -> AppTest:
    app = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=60)
    for name, value in url.items():
        app.query_params[name] = value
    if page:
        app.switch_page(page)
    return app.run()


def _lines(records: Sequence[dict[str, Any] | bytes]) -> bytes:
    return b"".join(
        (record if isinstance(record, bytes) else orjson.dumps(record)) + b"\n" for record in records
    )


def shown(app: AppTest) -> str:
    """All the text that our own elements put on the page, as HTML, with plain spaces."""
    elements = [str(element.proto.body) for element in app.main.get("html")]
    marked = "".join(str(piece["text"]) for text in marked_texts(app) for piece in text["pieces"])
    texts = (str(item[name]) for item in attachments(app) for name in ("signal", "title", "text", "problem"))
    return "\n".join([*elements, *(html.escape(text) for text in (marked, *texts))]).replace("\u00a0", " ")


def attachments(app: AppTest) -> list[dict[str, Any]]:
    """The attachments that the browser receives."""
    protos = (element.proto for element in app.main.get("bidi_component"))
    sent = (bytes(proto.bytes) for proto in protos if proto.component_name.endswith("_attachments"))
    headers = (orjson.loads(data[4 : 4 + int.from_bytes(data[:4], "big")]) for data in sent)
    return [item for header in headers for group in header["groups"] for item in group["items"]]


def marked_texts(app: AppTest) -> list[dict[str, Any]]:
    """Return the data sent to the browser for each text whose citations can be chosen."""
    sent = (element.proto.bytes for element in app.main.get("bidi_component"))
    return [orjson.loads(data) for data in sent if data.startswith(b'{"pieces":')]


def tables(app: AppTest) -> list[dict[str, Any]]:
    """Return the data sent to the browser for each table, with plain spaces."""
    sent = (element.proto.bytes for element in app.main.get("bidi_component"))
    return [
        orjson.loads(data.replace("\u00a0".encode(), b" ")) for data in sent if data.startswith(b'{"table":')
    ]


def grids(app: AppTest) -> dict[str, dict[str, Any]]:
    """The tables of numbers by their names, each row with its header (`head`) and its other `cells`."""
    found = {}
    for each in tables(app):
        first, *columns = each["columns"]
        rows = [
            {"head": row["cells"][first["name"]], "cells": [row["cells"][one["name"]] for one in columns]}
            for row in each["rows"]
        ]
        heads = [{"align": one["align"], **one["head"]} for one in columns]
        found[str(each["table"])] = {
            **each,
            "corner": first["head"].get("text"),
            "columns": heads,
            "rows": rows,
        }
    return found


def listed(app: AppTest, name: str) -> list[dict[str, dict[str, Any]]]:
    """The rows of the list of that name: the cells that are not empty by the titles of their columns."""
    (found,) = (each for each in tables(app) if each["table"] == name)
    titles = {column["name"]: column["head"].get("text", "") for column in found["columns"]}
    return [{titles[key]: cell for key, cell in row["cells"].items()} for row in found["rows"]]


def candidates(app: AppTest) -> dict[str, Any]:
    """Return the data sent to the browser for the candidates' table."""
    (found,) = (each for each in tables(app) if each["choose"])
    return found


def table(app: AppTest) -> list[dict[str, str]]:
    """The rows of the Triage table: column → text, of a label its code, of a verdict its chip.

    `was`, `broken`, `address` besides; [] without a table.
    """
    found = [each for each in tables(app) if each["table"] == "Questions of this run"]
    rows = [row["cells"] for each in found for row in each["rows"]]
    return [
        {
            "gold_rank": "–",
            "rules": "–",
            **{name: cell.get("text", "") for name, cell in row.items()},
            **{name: chip_of(row, name) for name in ("label", "verdict") if name in row},
            "was": row["verdict" if "verdict" in row else "label"].get("note", ""),
            "broken": row.get("rules", {}).get("tip", ""),
            "address": row["question"]["href"],
        }
        for row in rows
    ]


def chip_of(row: dict[str, Any], name: str) -> str:
    """The code of a row's label, or the words of its verdict."""
    (chip,) = row[name]["chips"]
    if name == "verdict":
        return str(chip["text"])
    return str(chip["tip"]).rpartition(" · ")[2] or "no label"


def strip(app: AppTest) -> dict[str, str]:
    """The groups of Triage's strip as they read, by their keys."""
    buttons = [button for button in app.button if str(button.key).startswith("group-")]
    return {str(button.key).removeprefix("group-"): button.label.replace("**", "") for button in buttons}


def menu(app: AppTest, name: str) -> Any:
    """A filter of Triage, with its menu opened: its key says what it offers, too."""
    for key in ("more-filters", f"facet-{name}"):
        app.session_state[key] = True
    app.run()
    keys = (f"filter-{name}:", f"filter-{name}")
    widgets = [*app.multiselect, *app.selectbox, *app.button_group]
    return next(each for each in widgets if str(each.key).startswith(keys))


def send(app: AppTest, event: str, value: object, *, key: str = "triage-rows") -> AppTest:
    """The next script run, as the component of that key asks for it in a browser."""
    protos = (each.proto for each in app.main.get("bidi_component"))
    (component,) = (proto for proto in protos if proto.id.split("-", 2)[2] == key)
    states = WidgetStates()
    state = states.widgets.add(id=f"$$STREAMLIT_INTERNAL_KEY_{component.id}__events")
    state.json_trigger_value = orjson.dumps([{"event": event, "value": value}]).decode()
    return app._run(states)
