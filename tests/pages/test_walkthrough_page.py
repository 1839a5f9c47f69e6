"""The Walkthrough page: which bundle of which list, what it shows, and messages without one."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.ui.status import background
from tests.pages.conftest import TRACES, MakeWorkspace, Open, marked_texts, send, shown, trace
from tests.pages.manual import CITED, DOCUMENTS, manual
from tests.pdf_files import form_bomb

PAGE = "pages/walkthrough.py"
KEY = "walk-bar"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is shown before it is there, however busy the machine is."""
    monkeypatch.setattr(background, "PATIENCE_S", 20.0)


@pytest.fixture
def workspace(make_workspace: MakeWorkspace) -> Path:
    folder = make_workspace([CITED, *TRACES[1:], TRACES[2]], documents=DOCUMENTS)
    manual(folder)
    return folder


def component(app: AppTest, name: str) -> bytes:
    (proto,) = (
        each.proto
        for each in app.main.get("bidi_component")
        if each.proto.component_name.endswith(f"_{name}")
    )
    return bytes(proto.bytes)


def bar(app: AppTest) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(component(app, "walkthrough_bar"))
    return found


def header(data: bytes) -> dict[str, Any]:
    """The JSON before the pictures."""
    found: dict[str, Any] = orjson.loads(data[4 : 4 + int.from_bytes(data[:4], "big")])
    return found


def url(app: AppTest, name: str) -> list[str]:
    """All values of a parameter of the page's address."""
    value = app.query_params.get(name, [])
    return list(value) if isinstance(value, list) else [value]


def note_of(app: AppTest) -> str:
    return str(header(component(app, "attachments"))["note"])


def words(app: AppTest) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown(app)))


def act(app: AppTest, **wanted: Any) -> AppTest:
    """Return the data that the bar sends for a press."""
    shown_now = bar(app)
    sent = {"to": shown_now["slide"], "cite": shown_now["cite"], "present": shown_now["present"]}
    return send(app, "act", {**sent, "presses": shown_now["presses"] + 1, **wanted}, key=KEY)


def test_a_title_opens_and_the_first_bundle_of_the_list_follows_with_its_page(
    workspace: Path, open_app: Open
) -> None:
    app = open_app(workspace, page=PAGE, label="ok")
    assert not app.exception
    assert (bar(app)["slide"], bar(app)["total"], url(app, "q")) == (0, 3, [])
    assert all(each in words(app) for each in ("Small car", "1 question", "R1"))
    app = act(app, to=1)
    assert not app.exception
    assert "1 of 1" in words(app)
    assert "Full evidence" in words(app)
    assert "How often is the oil changed?" in words(app)
    assert "Proofspan · Small car · R1" in words(app)
    page = header(component(app, "page"))
    assert (page["height_of"], page["page_idx"], [span["id"] for span in page["spans"]]) == (
        "stage",
        0,
        ["cite:1"],
    )
    assert (bar(app)["document"], bar(app)["place"]) == ("manual", "PDF page 1")
    assert "page_idx 0" in bar(app)["tip"]
    assert url(app, "q") == ["Q1"]
    app = act(app, to=2)
    assert (url(app, "end"), url(app, "q")) == (["yes"], [])
    assert {link.proto.page for link in app.main.get("page_link")} == {"triage", "trends"}


def test_the_answer_reads_without_its_line_of_ids(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, q="Q1")
    (text,) = marked_texts(app)
    sentence = "".join(str(piece["text"]) for piece in text["pieces"])
    assert sentence == "Change the oil every 15,000 km.1"
    assert (text["chosen"], text["size"]) == (1, "stage")


def test_steps_lead_through_the_list_and_the_address_follows(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, whole="yes")
    start = bar(app)
    assert (start["slide"], start["total"], len(start["titles"])) == (0, 5, 5)
    app = act(app, to=3, cite=None)
    assert (bar(app)["slide"], bar(app)["presses"]) == (3, start["presses"] + 1)
    assert (url(app, "whole"), bar(app)["speaker"]["next"]) == (["yes"], "The end")
    last = url(app, "q")
    app = act(app, to=2, cite=None)
    assert url(app, "q") != last
    assert "2 of 3" in words(app)


def test_a_press_starts_from_the_address_though_the_run_for_the_press_before_was_cut_short(
    workspace: Path, open_app: Open
) -> None:
    app = open_app(workspace, page=PAGE, q="Q1", whole="yes")
    drawn = bar(app)["slide"]
    app.query_params["q"] = "Q3"
    app = act(app, to=drawn)
    assert (url(app, "q"), bar(app)["slide"]) == (["Q1"], drawn)


def test_without_a_choice_the_best_are_shown_and_any_other_question_opens_the_whole_list(
    workspace: Path, open_app: Open
) -> None:
    app = open_app(workspace, page=PAGE)
    assert "Best of · 1 question" in words(app)
    assert (bar(app)["total"], url(app, "whole")) == (3, [])
    app = open_app(workspace, page=PAGE, q="Q3")
    assert (bar(app)["total"], url(app, "whole"), url(app, "q")) == (5, ["yes"], ["Q3"])


def test_the_speakers_window_shows_nothing_else(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, speaker="a1b2")
    assert not app.exception
    names = [each.proto.component_name for each in app.main.get("bidi_component")]
    assert [name for name in names if "walkthrough" in name] == ["proofspan_ui_walkthrough_speaker"]
    assert not app.sidebar


@pytest.mark.parametrize("wanted", [{"to": 5}, {"to": "1"}, {"to": True}, {"presses": -1}, {"cite": 0}])
def test_what_no_bar_sends_changes_nothing(workspace: Path, open_app: Open, wanted: dict[str, Any]) -> None:
    app = act(open_app(workspace, page=PAGE, whole="yes"), **wanted)
    assert not app.exception
    assert bar(app)["slide"] == 0


def test_presenting_is_part_of_the_address_and_has_no_sidebar(workspace: Path, open_app: Open) -> None:
    app = act(open_app(workspace, page=PAGE), present=True)
    assert url(app, "present") == ["yes"]
    assert bar(app)["present"]
    app = act(app, present=False)
    assert url(app, "present") == []


def test_ids_give_the_order_and_unknown_ones_are_reported(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, ids=["Q3#2", "Q9", "Q1"], name="For <b>Ada</b>")
    assert "For <b>Ada</b> · 2 questions" in words(app)
    assert (bar(app)["total"], url(app, "q")) == (4, [])
    assert "Not in run R1, and skipped: Q9." in words(app)
    assert url(app, "ids") == ["Q3#2", "Q9", "Q1"]
    app = act(app, to=1, cite=None)
    assert url(app, "q") == ["Q3#2"]
    app = act(app, to=2, cite=None)
    assert (url(app, "q"), url(app, "name")) == (["Q1"], ["For <b>Ada</b>"])


def test_a_question_beside_the_list_is_shown_and_leads_into_it(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE, ids=["Q3"], q="Q1")
    assert bar(app)["slide"] == -1
    assert "not among the 1" in words(app)
    assert "the arrows lead into it" in note_of(app)
    assert "How often is the oil changed?" in words(app)


def test_a_question_that_the_run_does_not_hold_gives_way_to_the_title(
    workspace: Path, open_app: Open
) -> None:
    app = open_app(workspace, page=PAGE, q="nobody")
    assert (bar(app)["slide"], url(app, "q")) == (0, [])
    assert "has no such question" in words(app)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ({"text": "no such words"}, "No question matches this playlist's filter."),
        ({"ids": ["Q9"]}, "None of the chosen questions is in this run."),
        ({"level": ["full"]}, "No question matches this playlist's filter."),
    ],
)
def test_an_empty_playlist_is_calm_and_leads_back(
    workspace: Path, open_app: Open, url: dict[str, Any], expected: str
) -> None:
    app = open_app(workspace, page=PAGE, **url)
    assert not app.exception
    assert expected in words(app)
    app.button("walk-whole").click().run()
    assert bar(app)["total"] == 5


def test_a_choice_of_citation_turns_to_its_page(make_workspace: MakeWorkspace, open_app: Open) -> None:
    two = [
        {"chunk_id": "c1", "doc_id": "manual", "page": 1, "quote": "Change the oil every 15,000 km."},
        {"chunk_id": "c2", "doc_id": "manual", "page": 2, "quote": "The fuse F12 protects"},
    ]
    folder = make_workspace([CITED | {"citations": two}], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert bar(app)["cites"] == [1, 2]
    app = send(app, "choose", 2, key="walk-answer-text")
    assert url(app, "cite") == ["2"]
    page = header(component(app, "page"))
    assert (page["page_idx"], page["chosen"]) == (1, "cite:2")
    app = act(app, cite=1)
    assert (header(component(app, "page"))["page_idx"], url(app, "cite")) == (0, ["1"])
    app = act(app, cite=2)
    assert (header(component(app, "page"))["page_idx"], url(app, "cite")) == (1, ["2"])

    app = open_app(folder, page=PAGE, q="Q1")
    app.query_params["cite"] = "2"  # a run for it was cut short
    app = act(app, cite=1)
    assert (header(component(app, "page"))["page_idx"], bar(app)["cite"]) == (0, 1)


def test_without_a_document_question_and_answer_are_shown_with_the_reason(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace([CITED]), page=PAGE, q="Q1")
    assert not app.exception
    assert "Text only" in words(app)
    assert "the workspace has no document manual" in words(app)
    assert "Change the oil every 15,000 km." in words(app)


def test_a_run_with_a_report_alone_shows_what_it_remembers(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    row = {
        "q": "How often is the oil changed?",
        "label": "ok",
        "chunks": ["c1"],
        "citations_in_answer": ["c1"],
    }
    folder = make_workspace(
        None, documents=DOCUMENTS, runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}]
    )
    manual(folder)
    (folder / "report.jsonl").write_bytes(orjson.dumps(row) + b"\n")
    app = act(open_app(folder, page=PAGE), to=1)
    assert not app.exception
    assert "The run has only a stored report" in words(app)
    assert "How often is the oil changed?" in words(app)


def test_a_document_that_hangs_keeps_its_page_away_and_nothing_else(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "PATIENCE_S", 0.2)
    folder = make_workspace([CITED], documents=DOCUMENTS)
    (folder / "manual.pdf").write_bytes(form_bomb())
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "Opening the page …" in words(app)
    assert "Change the oil every 15,000 km." in words(app)
    assert bar(app)["total"] == 3


def test_foreign_text_stays_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    evil = '<img src=x onerror=alert(1)> שלום "¿' + "\u202e" + "x" * 3_000
    folder = make_workspace([trace("Q1", evil, evil + " citations: [c1]")], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "<img" not in shown(app)
    assert "\u202e" not in shown(app)


def test_the_playlist_menu_is_made_only_when_it_is_open(workspace: Path, open_app: Open) -> None:
    app = open_app(workspace, page=PAGE)
    assert not app.selectbox


@pytest.mark.parametrize(
    ("answerable", "expected", "lacks"),
    [
        (None, "not known", "does not answer"),
        (False, "manual does not answer this", "refused"),
        (True, "although the expected answer is in manual", "does not answer"),
    ],
)
def test_a_refusal_says_what_it_means_and_no_wrong_one_is_called_right(
    make_workspace: MakeWorkspace, open_app: Open, answerable: bool | None, expected: str, lacks: str
) -> None:
    gold = {"q_id": "Q1", "q": "How much?", "answerable": answerable, "sections": ["1"] if answerable else []}
    named = {"gold": {"path": "gold.jsonl"}} if answerable is not None else {}
    refused = trace("Q1", "How much?", "not in context")
    folder = make_workspace([refused], documents=DOCUMENTS[:1], **named)
    manual(folder)
    if named:
        (folder / "gold.jsonl").write_bytes(orjson.dumps(gold) + b"\n")
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert expected in words(app) and lacks not in words(app)
    assert "“not in context”" in words(app)
    assert not marked_texts(app) and bar(app)["place"] == ""


def test_an_answer_that_declines_and_cites_is_shown_with_its_page(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    cited = CITED | {"answer": "Change the oil every 15,000 km. The rest is not in context. citations: [c1]"}
    folder = make_workspace([cited], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert "15,000 km" in str(marked_texts(app))
    assert bar(app)["place"] == "PDF page 1"
