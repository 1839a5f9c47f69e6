"""The page's side of Question: what is chosen in the viewer goes to the URL."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import MakeWorkspace, Open, send, shown
from tests.pages.manual import CITED, DOCUMENTS, PAGE, manual

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    """A question with one citation on page_idx 0 and a gold passage on page_idx 1."""
    made = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    manual(made)
    gold = {"q_id": "Q1", "q": "?", "spans": [{"doc_id": "manual", "page_idx": 1, "quote": "fuse F12"}]}
    (made / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    return made


def sent(app: AppTest) -> tuple[dict[str, object], bytes]:
    """Header and picture that the viewer got in the last run."""
    protos = (each.proto for each in app.main.get("bidi_component"))
    (data,) = (proto.bytes for proto in protos if proto.id.endswith("-page"))
    (length,) = struct.unpack(">I", data[:4])
    return orjson.loads(data[4 : 4 + length]), data[4 + length :]


def test_what_is_chosen_in_the_viewer_goes_to_the_url(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    header, _ = sent(app)
    assert header["near"] == ["cite:1", "chunk:c1", "gold:1"]
    send(app, "choose", "gold:1", key="page")
    assert app.query_params["chunk"] == "gold:1"
    assert "page_idx 1 · PDF page 2 of 2" in shown(app)
    send(app, "choose", "cite:1", key="page")
    assert (app.query_params["cite"], "chunk" in app.query_params) == ("1", False)
    send(app, "choose", "chunk:c1", key="page")
    assert (app.query_params["chunk"], "cite" in app.query_params) == ("c1", False)


@pytest.mark.parametrize(
    ("event", "value"), [("choose", "cite:99"), ("choose", 1), ("turn", 2), ("turn", -1), ("turn", "1")]
)
def test_what_a_browser_makes_up_changes_nothing(
    folder: Path, open_app: Open, event: str, value: object
) -> None:
    app = open_app(folder, page=PAGE, q="Q1", cite="1")
    before = dict(app.query_params)
    send(app, event, value, key="page")
    assert not app.exception
    assert dict(app.query_params) == before


def test_a_picture_is_sent_once_and_again_where_it_was_lost(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    header, picture = sent(app)
    assert picture
    send(app, "choose", "chunk:c1", key="page")
    again, nothing = sent(app)
    assert (again["id"], nothing) == (header["id"], b"")
    send(app, "lost", header["id"], key="page")
    assert sent(app)[1] == picture
    send(app, "turn", 1, key="page")
    assert sent(app)[1] not in (b"", picture), "another page is another picture"
