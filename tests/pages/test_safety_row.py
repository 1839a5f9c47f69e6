"""Warnings that an answer may leave out, on the Question page and in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import Attachment, AttachmentKind, Chunk
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.messages import step_for
from proofspan.diagnosis.safety import Notices, SafetyOmission
from proofspan.diagnosis.types import Profile
from proofspan.services.question.view import QuestionView, load_question
from proofspan.ui.status.documents import placer
from proofspan.ui.wording.safety import MAX_NOTICES, MAX_WORDS, WORD_CHARS, notice_ways, omission_rows
from tests.made_traces import made_trace
from tests.pages.conftest import MakeWorkspace, Open, shown, trace
from tests.places import DEMO

PAGE = "pages/question.py"
HOT = "Hot oil burns the skin. Let the engine cool for an hour before you open the sump."
CHUNK = Chunk("c1", "Change the oil every 15,000 km.", doc_id="manual", section_id="5.1", page_idx=40)


def notice(name: str, text: str = HOT, kind: AttachmentKind = "warning", page: int | None = 41) -> Attachment:
    return Attachment(name, kind, "manual", "5.1", page, text=text)


def view_of(
    *notices: Attachment, answer: str = "Change the oil every 15,000 km. citations: [c1]"
) -> QuestionView:
    record = {"q": "How often is the oil changed?", "answer": answer, "chunks": [{"id": "c1"}]}
    found = made_trace(record, run_id="R")
    corpus = Corpus({"c1": CHUNK.text})
    return load_question(
        found,
        chunks={"c1": CHUNK},
        gold={},
        corpus=corpus,
        profile=Profile(),
        notices=Notices(notices, corpus),
    )


def row_texts(view: QuestionView) -> list[tuple[str, str]]:
    return [(name, "".join(piece.text for piece in pieces)) for name, pieces in omission_rows(view)]


def tip(view: QuestionView) -> str:
    """Return the tooltip of the first row."""
    ((_, pieces), *_) = omission_rows(view)
    return "".join(piece.tip for piece in pieces)


def test_a_row_says_what_is_left_out_and_where_and_its_tip_what_was_looked_for() -> None:
    shown_text = "Hot oil burns the skin. Let the engine cool for an hour …"
    assert row_texts(view_of(notice("w"))) == [
        ("Safety", f"WARNING on PDF page 42 is not mentioned: “{shown_text}”")
    ]
    assert tip(view_of(notice("w"))) == (
        "Found 1 of 9 words: oil. Not found: hot, burns, skin, engine, cool, hour, open, sump."
    )


def test_words_are_shown_alone_where_none_was_found_and_long_texts_are_cut() -> None:
    long = " ".join(f"word{n}x" for n in range(40))
    view = view_of(notice("c", long, "caution", None))
    ((_, message),) = row_texts(view)
    assert message.startswith("CAUTION of section 5.1 is not mentioned: “word0x word1x ")
    assert message.endswith(" …”")
    assert tip(view).startswith("Found none of 40 words: word0x, word1x")
    assert tip(view).endswith(f"word{MAX_WORDS - 1}x and 28 more.")


def test_a_text_without_a_space_is_one_short_word() -> None:
    view = view_of(notice("c", "A" * 50_000, "caution", None))
    assert tip(view) == f"Found none of 1 word: {'a' * WORD_CHARS}…."
    assert len(row_texts(view)[0][1]) < 150


def test_notices_beyond_those_that_are_shown_are_counted() -> None:
    rows = row_texts(view_of(*(notice(f"w{n}", f"{HOT} Number {n}x.") for n in range(MAX_NOTICES + 2))))
    assert [name for name, _ in rows] == ["Safety", *[""] * MAX_NOTICES]
    assert rows[-1][1] == "and 2 more warnings and cautions"


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(view_of(notice("w"), answer=f"{HOT} citations: [c1]"), id="mentioned"),
        pytest.param(view_of(notice("w"), answer="Every 15,000 km."), id="nothing cited"),
        pytest.param(view_of(), id="no notice"),
        pytest.param(replace(view_of(notice("w")), omissions=None), id="not known"),
    ],
)
def test_no_row_and_no_way_where_nothing_is_left_out(view: QuestionView) -> None:
    assert row_texts(view) == []
    assert notice_ways(view) == []


def test_each_notice_has_its_own_way_with_a_citation_of_its_document() -> None:
    view = view_of(notice("a"), notice("b", f"{HOT} Twice."), notice("c", f"{HOT} Thrice.", "caution", 42))
    assert [(words, way["page"], way["cite"], way["see"]) for words, way in notice_ways(view)] == [
        ("Show the WARNING on PDF page 42", 41, 1, "a"),
        ("Show the WARNING on PDF page 42", 41, 1, "b"),
        ("Show the CAUTION on PDF page 43", 42, 1, "c"),
    ]
    assert notice_ways(view_of(notice("a", page=None))) == []


def test_the_next_step_of_an_ok_that_leaves_a_warning_out_speaks_of_it() -> None:
    view = view_of(notice("w"))
    assert view.row is not None
    step = step_for(view.row, "seed", None, view.omissions)
    assert step.startswith("The answer may omit the warning of section 5.1: show a section's warnings")
    wrong = replace(view.row, label="retrieval_drift")
    assert step_for(wrong, "seed", None, view.omissions) == step_for(wrong, "seed", None)


def test_a_section_that_is_not_given_is_not_named() -> None:
    omission = SafetyOmission("w", "caution", None, 41, HOT, ("oil",), ())
    view = replace(view_of(notice("w")), omissions=(omission,))
    assert row_texts(view)[0][1].startswith("CAUTION on PDF page 42 is not mentioned: ")
    assert view.row is not None
    assert "omit the caution: show" in step_for(view.row, "seed", None, view.omissions)


def workspace(make: MakeWorkspace, text: str) -> Path:
    sentence = "Change the oil every 15,000 km. citations: [c1]"
    folder = make(
        [trace("Q1", "How often is the oil changed?", sentence)], catalogue={"path": "catalogue.jsonl"}
    )
    named = {"attachment_id": "w", "kind": "warning", "doc_id": "manual", "section_id": "5.1", "page_idx": 3}
    (folder / "catalogue.jsonl").write_bytes(orjson.dumps(named | {"text": text}))
    return folder


def test_hostile_words_of_a_warning_stay_words(open_app: Open, make_workspace: MakeWorkspace) -> None:
    text = "Never <img src=http://evil/x> click **here** :red[now] \u202edrown"
    app = open_app(workspace(make_workspace, text), page=PAGE, q="Q1")
    assert not app.exception
    assert "Never &lt;img src=http://evil/x&gt; click **here** :red[now] \ufffddrown" in shown(app)


def test_the_button_outlines_the_warning_on_its_page(open_app: Open, make_workspace: MakeWorkspace) -> None:
    app = open_app(workspace(make_workspace, HOT), page=PAGE, q="Q1")
    app.button(key="notice-0").click().run()
    assert [app.query_params[name] for name in ("cite", "page", "see")] == ["1", "3", "w"]


def test_a_catalogue_that_is_lost_leaves_the_page_standing(
    open_app: Open, make_workspace: MakeWorkspace
) -> None:
    folder = workspace(make_workspace, HOT)
    (folder / "catalogue.jsonl").unlink()
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert ">Safety<" not in shown(app)
    assert shown(app).count("omitted warnings are not known") == 1


@pytest.mark.slow
def test_the_demo_says_it_where_it_holds_and_only_there(open_app: Open) -> None:
    app = open_app(DEMO, page=PAGE, run="R006", q="Q89")
    placer().document(DEMO / "corpus/meridian-2026.pdf")  # opened meanwhile in the background
    text = shown(app.run())
    assert ">Safety<" in text
    assert "is not mentioned</span>: “Never put any part of your body under a car" in text
    assert "leaves out the WARNING of section 8.4: “Never put any part of your body under a car" in text
    assert "Add the safety notices of a cited section to the prompt." in text
    ways = [button.label for button in app.button if (button.key or "").startswith("evidence-")]
    assert ways == ["WARNING on p\\. 61 \\(PDF 69\\)"]
    app.query_params["q"] = "Q105"
    text = shown(app.run())
    assert "A clogged air filter lets the engine draw in dust past the seal." in text
    assert ">Safety<" not in text
