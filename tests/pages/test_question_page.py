"""Question by AppTest: the URL names what is open, and what is lost leaves the rest standing."""

from __future__ import annotations

import html
import json
import re
import time
from pathlib import Path

import orjson
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from proofspan.diagnosis.types import Profile
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.index_job import IndexJobs
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from proofspan.ui.question import load, navigation
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import TRACES, MakeWorkspace, Open, candidates, send, shown, trace, unfold
from tests.pages.manual import CITED, DOCUMENTS, PAGE, PAGED, labels, manual
from tests.places import HANDBOOK

pytestmark = pytest.mark.slow


def button(app: AppTest, key: str) -> Button:
    return app.button(key)


def test_a_question_opens_with_its_answer_reasons_and_place(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([CITED, *TRACES[1:]], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    words = shown(app)
    assert "citations present and answer grounded" in words
    assert "PDF page 1" in words
    assert ": the quote is on the page word for word." in words
    assert ":orange-badge[1 · exact] section 5\\.1 · PDF page 1" in labels(app)
    assert "trace.jsonl, line 1" in unfold(app, "record").text[0].value


def test_another_passage_of_a_question_loads_nothing_again(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_workspace([CITED, *TRACES[1:]], documents=DOCUMENTS)
    manual(folder)
    app = open_app(folder, page=PAGE, q="Q1")
    with monkeypatch.context() as changed:
        for name in ("_question", "_claims"):
            changed.delattr(load, name)
        app.query_params["chunk"] = "c2"
        app.run()
        assert not app.exception
    (folder / "trace.jsonl").write_bytes(orjson.dumps({**CITED, "answer": "It is another."}) + b"\n")
    for _ in range(100):  # on a busy machine the file is indexed while the page waits
        app.run()
        assert not app.exception
        if "It is another." in shown(app):
            break
        time.sleep(0.2)
    assert "It is another." in shown(app)


def test_without_a_question_the_first_of_the_list_opens_and_enters_the_url(
    small: Path, open_shared: Open
) -> None:
    app = open_shared(small, page=PAGE)
    assert app.query_params["q"] == "Q2"
    assert "1 of 3 shown" in shown(app)


def test_next_and_previous_follow_the_filter_and_stop_at_its_ends(small: Path, open_shared: Open) -> None:
    app = open_shared(small, page=PAGE, q="Q2")
    assert button(app, "step-K").disabled
    app.button("step-J").click().run()
    assert app.query_params["q"] == "Q3"
    app.button("step-J").click().run()
    assert (app.query_params["q"], button(app, "step-J").disabled) == ("Q1", True)


def test_a_question_outside_the_filter_is_shown_and_says_so(small: Path, open_shared: Open) -> None:
    app = open_shared(small, page=PAGE, q="Q2", label="ok")
    assert "not among the 1 shown" in shown(app)
    assert button(app, "step-K").disabled


def test_a_citation_a_page_and_gold_are_chosen_by_their_buttons(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    manual(folder)
    gold = {"q_id": "Q1", "q": "?", "spans": [{"doc_id": "manual", "page_idx": 1, "quote": "fuse F12"}]}
    (folder / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    app = open_app(folder, page=PAGE, q="Q1")
    send(app, "turn", 1, key="page")
    assert app.query_params["page"] == "1"
    assert "page_idx 1 · PDF page 2 of 2" in shown(app)
    assert "The quote is on PDF page 1, not on this page." in shown(app)
    assert "Exact" not in shown(app)
    app.button("page-back").click().run()
    assert "page" not in app.query_params
    assert ": the quote is on the page word for word." in shown(app)
    app.button("cite-1").click().run()
    assert (app.query_params["cite"], "page" in app.query_params) == ("1", False)
    app.button("gold-1").click().run()
    assert "page_idx 1 · PDF page 2 of 2" in shown(app)
    assert ": the gold quote is on the page word for word." in shown(app)


def test_the_same_question_of_another_run_is_one_click_away(open_shared: Open) -> None:
    app = open_shared(page=PAGE, run="R002", q="Q01")
    app.button("run-R001").click().run()
    assert (app.query_params["run"], app.query_params["q"]) == ("R001", "Q01")


def test_the_shown_stage_is_in_the_address_and_the_usual_one_is_not(open_shared: Open) -> None:
    app = open_shared(page=PAGE, run="R002", q="Q01")
    usual = app.segmented_control("stage").value
    assert "stage" not in app.query_params
    app.segmented_control("stage").set_value("retrieved").run()
    assert app.query_params["stage"] == "retrieved"
    shown_first = candidates(app)["rows"]
    app.segmented_control("stage").set_value(usual).run()
    assert "stage" not in app.query_params
    app = open_shared(page=PAGE, run="R002", q="Q01", stage="retrieved")
    assert app.segmented_control("stage").value == "retrieved"
    assert candidates(app)["rows"] == shown_first


def test_runs_still_being_indexed_are_there_at_once_and_then_with_their_sign(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_work = [True]
    monkeypatch.setattr(session, "others_are_indexed", lambda opened: at_work[0])
    monkeypatch.setattr(IndexJobs, "once", lambda self, key, command: None)
    build_index(load_manifest(HANDBOOK), runs=["R002"], cache_dir=tmp_path / "cache")
    app = open_app(page=PAGE, indexed=False, run="R002", q="Q01")
    assert "badge[… R001]" in button(app, "run-R001").label
    assert button(app, "run-R001").help == "being indexed"
    app.button("run-R001").click().run()
    assert app.query_params["run"] == "R001"

    app.query_params["run"] = "R002"
    at_work[0] = False
    build_index(load_manifest(HANDBOOK), cache_dir=tmp_path / "cache")
    app.run()
    assert "…" not in button(app, "run-R001").label
    assert button(app, "run-R001").help != "being indexed"


def test_the_expected_answer_is_in_the_answers_card(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(gold={"path": "gold.jsonl"})
    gold = {"q_id": "Q1", "q": "?", "answer": "Every <b>15,000</b> km", "spans": []}
    (folder / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    words = shown(open_app(folder, page=PAGE, q="Q1"))
    assert ">Expected<" in words
    assert "Every &lt;b&gt;15,000&lt;/b&gt; km" in words
    assert ">Expected<" not in shown(open_app(folder, page=PAGE, q="Q2"))


VARIANTS = [TRACES[0], {**TRACES[0], "paraphrase": 1, "seed": 2}, TRACES[0]]


def test_a_variant_is_named_in_the_header(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(VARIANTS)
    assert "Q1 · p1 · s2<" in shown(open_app(folder, page=PAGE, q="Q1", p="1", s="2"))
    assert "Q1 · #2<" in shown(open_app(folder, page=PAGE, q="Q1#2"))
    assert ">Q1<" in shown(open_app(folder, page=PAGE, q="Q1"))


def test_a_variant_that_there_is_not_leads_to_the_headline_trace(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(VARIANTS), page=PAGE, q="Q1", p="7", s="3", label="ok")
    assert not app.exception
    assert "Q1 has no paraphrase 7 with seed 3 in R1." in shown(app)
    (link,) = app.main.get("page_link")
    assert link.proto.label == "Open Q1"
    assert link.proto.query_string == "run=R1&q=Q1&label=ok"


def test_a_long_id_is_cut_and_whole_as_the_tip(make_workspace: MakeWorkspace, open_app: Open) -> None:
    long = "Q" * 404
    words = shown(open_app(make_workspace([{**TRACES[0], "q_id": long}]), page=PAGE, q=long))
    assert f'title="{long}"' in words
    assert f">{long}" not in words


@pytest.mark.parametrize(
    ("url", "note"),
    [
        ({"cite": "99"}, "In the address, cite 99 is no citation of Q1: left out."),
        ({"chunk": "nope"}, 'In the address, chunk "nope" is no chunk of this workspace: left out.'),
        ({"stage": "fused"}, "In the address, stage fused is no stage of Q1: left out."),
    ],
)
def test_what_the_question_does_not_have_is_reported(
    make_workspace: MakeWorkspace, open_app: Open, url: dict[str, str], note: str
) -> None:
    folder = make_workspace([CITED])
    assert note in html.unescape(shown(open_app(folder, page=PAGE, q="Q1", **url)))
    usable = {"cite": "1", "chunk": "c2", "stage": "chunks"}
    fine = {name: usable[name] for name in url}
    assert "In the address" not in shown(open_app(folder, page=PAGE, q="Q1", **fine))


def test_a_chunk_id_alone_opens_its_place(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(documents=DOCUMENTS)
    (folder / "chunks.jsonl").write_bytes(b"\n".join(orjson.dumps(chunk) for chunk in PAGED) + b"\n")
    manual(folder)
    app = open_app(folder, page=PAGE, chunk="c2")
    assert "page_idx 1 · PDF page 2 of 2" in shown(app)
    assert "q" not in app.query_params


def test_a_question_that_the_run_does_not_hold_says_where_to_look(
    make_workspace: MakeWorkspace, tmp_path: Path
) -> None:
    manifest = load_manifest(make_workspace())
    build_index(manifest, cache_dir=tmp_path / "cache")
    state = ViewState(q="Q999").change(run="R1")
    assert state.key is not None
    with pytest.raises(InputFault, match=r"Q999 isn't in run R1 — choose one on the Triage page"):
        navigation.find(Store(manifest, tmp_path / "cache"), state, state.key, bad_lines=list)


def test_hostile_words_stay_words(make_workspace: MakeWorkspace, open_app: Open) -> None:
    hostile = "<img src=x onerror=alert(1)> ![x](http://127.0.0.1:9/x.png) \u202e"
    folder = make_workspace(
        [
            trace(
                "Q1", hostile, hostile, citations=[{"chunk_id": hostile, "doc_id": hostile, "quote": hostile}]
            )
        ]
    )
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert "<img" not in shown(app)
    assert not any("![" in label for label in labels(app))


def test_where_no_template_is_owed_the_reference_label_is_not_shown(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    traces = [trace("Q1", "How often is the oil changed?", "Change the oil every 15,000 km.")]
    free = make_workspace(traces, triage={"template": "none"})
    titles = [
        each.label for each in open_app(free, page=PAGE, q="Q1", profile=Profile(template="none")).expander
    ]
    assert "Signals" in titles and not any(title.startswith("Reference label") for title in titles)
    titles = [each.label for each in open_app(page=PAGE, run="R002", q="Q01").expander]
    assert "Signals" not in titles and any(title.startswith("Reference label") for title in titles)


def test_candidates_without_pages_have_no_column_for_them(small: Path, open_shared: Open) -> None:
    app = open_shared(small, page=PAGE, q="Q1")
    table = candidates(app)
    assert "page" not in [column["name"] for column in table["columns"]]


def test_the_demos_misquoted_figure_is_named_beside_the_pages_own(open_shared: Open) -> None:
    app = open_shared(page=PAGE, run="R002", q="Q01", cite="1")
    badges = [label.replace("\\", "") for label in labels(app)]
    text = "The answer says 4.8 litres, the page says 4.3 litres."
    assert ":red-badge[1 · fuzzy 86 %] section 8.1 · p. 11 (PDF 15) *says 4.8, page says 4.3*" in badges
    words = re.sub(r"<[^>]+>", "", shown(app))
    assert "Fuzzy: 86 % of the quote agrees with the page." in words
    assert text in words
    assert words.count(text) == 1, "the figure stands above the page, and not once more below"
    assert "Check the cited page first: that of citation 1 has another number." in words
    assert "4.8 is not in the 5 chunks" in words


def test_a_refusal_is_quoted_and_no_phrase_is_looked_for(small: Path, open_shared: Open) -> None:
    words = shown(open_shared(small, page=PAGE, q="Q3"))
    assert "<dt>Refusal</dt><dd>“not in context”</dd>" in words
    assert "Phrase in evidence" not in words


def test_words_that_the_evidence_lacks_are_named(make_workspace: MakeWorkspace, open_app: Open) -> None:
    answer = "Change the oil with a torque sprocket. citations: [c1]"
    app = open_app(make_workspace([{**CITED, "answer": answer}]), page=PAGE, q="Q1")
    assert "not found: torque, sprocket" in shown(app)
