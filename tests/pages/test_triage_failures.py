"""Where a run fails, on Triage: the strip, the worst places, and the lists that they open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from tests.pages.conftest import MakeWorkspace, Open, send, shown, table, trace
from tests.places import DEMO

pytestmark = pytest.mark.slow

STRIP = "failure-strip"


def strip(app: AppTest) -> dict[str, object]:
    """Return the data sent to the browser for the strip."""
    sent = [each.proto for each in app.main.get("bidi_component")]
    return dict(orjson.loads(next(proto.bytes for proto in sent if proto.id.endswith(f"-{STRIP}"))))


def marks(app: AppTest) -> list[dict[str, object]]:
    found = strip(app)["marks"]
    assert isinstance(found, list)
    return found


def worst(app: AppTest) -> list[str]:
    keyed = [button for button in app.button if (button.key or "").startswith("failure-")]
    return [button.label.replace("\\", "") for button in keyed]


def document_choice(app: AppTest) -> Selectbox[Any]:
    (choice,) = (each for each in app.selectbox if str(each.key).startswith("failures-where:"))
    return choice


def test_the_worst_chapters_are_listed_in_words_and_open_exactly_their_questions(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001")
    place, pages, fails = worst(app)[0].split(" · ")
    assert (place, fails) == ("section 7 Maintenance and fluids", "fails on 5 of 7 questions")
    assert pages in ("PDF pages 53–62", "pp. 45–54 (PDF 53–62)"), "by whether the document is open by then"
    app.button(key="failure-0").click().run()
    assert app.query_params["about"] == "meridian-2026#section=7"
    assert app.query_params["fails"] == "yes"
    assert len(table(app)) == 5
    assert "5 of 41 questions: about section 7 of meridian-2026, fails · " in shown(app)
    assert worst(app)[0].endswith("fails on 5 of 7 questions")


def test_a_cell_opens_the_questions_that_it_counts(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001")
    mark = max(marks(app), key=lambda one: float(str(one.get("fails", 0))))
    app = send(app, "go", mark["go"], key=STRIP)
    failing = str(mark["words"]).partition("fails on ")[2].partition(" of ")[0]
    assert app.query_params["fails"] == "yes"
    assert len(table(app)) == int(failing) > 1


@pytest.mark.parametrize("value", [-1, 10_000, 1.5, True, "0", None, {"at": 0}, float("1e300")])
def test_what_is_no_cell_opens_nothing(open_shared: Open, value: object) -> None:
    app = send(open_shared(DEMO, run="R001"), "go", value, key=STRIP)
    assert not app.exception
    assert "about" not in app.query_params


def test_each_part_is_taken_away_by_its_own_button(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001", about="meridian-2026#section=7", fails="yes")
    app.button(key="chip-about").click().run()
    assert "about" not in app.query_params and app.query_params["fails"] == "yes"
    app.button(key="chip-fails").click().run()
    assert "fails" not in app.query_params
    assert "41 of 41 questions" in shown(app)


def test_another_document_is_chosen_and_stays_in_the_address(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001")
    choice = document_choice(app)
    assert choice.value == "meridian-2026"
    choice.select("bulletin-07").run()
    assert app.query_params["where"] == "bulletin-07"
    assert "sections of Service bulletin 07/2026" in str(strip(app)["rest"])
    document_choice(app).select("*").run()
    assert "2 documents, a cell each" in str(strip(app)["rest"])


def test_the_choice_of_a_document_is_another_where_its_words_change(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001")
    before = document_choice(app)
    assert before.value == "meridian-2026"
    app.button(key="group-ok").click().run()
    after = document_choice(app)
    assert after.value == "meridian-2026"
    assert before.options != after.options
    assert before.key != after.key, "a browser would send the old words as a value"
    assert "where" not in app.query_params


def test_without_sections_documents_are_the_cells(make_workspace: MakeWorkspace, open_app: Open) -> None:
    found = [{"id": "x1", "doc_id": "other"}]
    traces = [trace("Q1", "Oil?", "citations: []"), trace("Q2", "Grade?", "", chunks=())]
    traces[0]["chunks"] = [{"id": "c1", "doc_id": "manual"}]
    traces.append({"q_id": "Q3", "q": "Fuse?", "answer": "", "chunks": found})
    app = open_app(make_workspace(traces))
    assert worst(app) == ["manual · fails on 1 of 1 question", "other · fails on 1 of 1 question"]


def test_a_place_that_the_run_does_not_know_is_reported(open_shared: Open) -> None:
    app = open_shared(DEMO, run="R001", about=["meridian-2026#section=99", "x"])
    assert "R001 has no question about section 99 of meridian-2026 or x." in shown(app)
    assert "No question matches this filter." in shown(app)


def test_a_run_that_cannot_be_judged_has_no_strip(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder: Path = make_workspace()
    (folder / "chunks.jsonl").unlink()
    app = open_app(folder)
    assert not app.exception
    assert "Where it fails" not in shown(app)


def test_a_hostile_section_is_text_and_opens_its_list(make_workspace: MakeWorkspace, open_app: Open) -> None:
    name = "**4.2** [x](http://evil) %0A#\u202e"
    traces = [trace("Q1", "Oil?", "")]
    traces[0]["chunks"] = [{"id": "c1", "doc_id": "manual", "section_id": name}]
    app = open_app(make_workspace(traces))
    (label,) = [button.label for button in app.button if (button.key or "").startswith("failure-")]
    assert "](" not in label and "\u202e" not in label
    app.button(key="failure-0").click().run()
    assert len(table(app)) == 1
