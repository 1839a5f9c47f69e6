"""Triage by AppTest: groups filter, the URL rules, and every kind of bad input has its own panel."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.diagnosis.types import Profile
from tests.pages.conftest import TRACES, MakeWorkspace, Open, menu, send, shown, strip, table, trace

pytestmark = pytest.mark.slow


def labels(app: AppTest) -> list[str]:
    """The labels of the table's rows, in order."""
    return [row["label"] for row in table(app)]


UNCHECKED = "sorted by label until the claims are checked"


def counts(app: AppTest) -> list[int]:
    """The numbers of questions in the groups of the strip."""
    return [int(words.split(" (")[0].rpartition(" ")[2]) for words in strip(app).values()]


def test_a_run_opens_by_label_until_its_claims_are_checked(open_shared: Open) -> None:
    app = open_shared()
    assert not app.exception
    assert "R002 · 14 questions</span>" in shown(app) and "Labels: template seed" in shown(app)
    assert sum(counts(app)) == 14
    assert f"14 of 14 questions · {UNCHECKED}" in shown(app)
    order = ["generation_drift", "retrieval_drift", "refusal_suspect", "refusal_ok", "ok"]
    assert labels(app) == sorted(labels(app), key=order.index)
    assert list(strip(app)) == order
    assert all({"question", "answer", "expected", "section"} <= row.keys() for row in table(app))
    assert all("verdict" not in row for row in table(app))


def test_a_group_filters_and_a_second_click_takes_the_filter_away(small: Path, open_shared: Open) -> None:
    app = open_shared(small)
    assert strip(app) == {
        "generation_drift": "Unsupported answer 1",
        "retrieval_drift": "Retrieval miss 0",
        "refusal_suspect": "Possible over-refusal 1",
        "refusal_ok": "Correct refusal 0",
        "ok": "Grounded 1",
    }
    app.button("group-ok").click().run()
    assert app.query_params["label"] == "ok"
    assert labels(app) == ["ok"]
    assert f"1 of 3 questions: Grounded · {UNCHECKED}" in shown(app)
    assert strip(app)["generation_drift"] == "Unsupported answer 1", "what a click on it would show"
    assert strip(app)["ok"].startswith("*✓*")
    app.button("group-generation_drift").click().run()
    assert labels(app) == ["generation_drift"], "another group is shown alone"
    app.button("group-generation_drift").click().run()
    assert "label" not in app.query_params
    assert len(labels(app)) == 3


def test_the_gold_filter_counts_and_says_the_same_as_the_rows(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace(gold={"path": "gold.jsonl"})
    gold = [{"chunks": ["c1"]}, {"chunks": ["c2"]}, {"answerable": False}]
    lines = [json.dumps({"q_id": f"Q{n}", "q": "?"} | each) for n, each in enumerate(gold, start=1)]
    (folder / "gold.jsonl").write_text("\n".join(lines) + "\n")
    app = open_app(folder)
    assert menu(app, "gold").options == ["Not retrieved · 1", "Cited · 1", "Correctly refused · 1"]
    assert [row["issues"].split(" · ")[0] for row in table(app)] == [
        "Gold not retrieved",
        "Correctly refused",
        "",
    ]
    assert [row["expected"] for row in table(app)] == ["–", "No answer in the documents", "–"]
    menu(app, "gold").set_value(["missed"]).run()
    assert app.query_params["gold"] == "missed"
    assert "1 of 3 questions: gold passage: Not retrieved" in shown(app)
    menu(app, "gold").set_value(["missed", "cited"]).run()
    assert labels(app) == ["generation_drift", "ok"]
    app.button("group-ok").click().run()
    assert menu(app, "gold").options == ["Cited · 1", "Not retrieved"]
    app.button("clear").click().run()
    assert len(labels(app)) == 3


def test_the_next_step_speaks_of_the_gold_that_most_questions_lost_or_that_was_chosen(
    open_shared: Open,
) -> None:
    app = open_shared(run="R001")
    assert 'In the prompt, not cited</strong></a><strong class="ps-strong"> 6' in shown(app)
    assert ">Not retrieved</strong>" not in shown(app)
    app = open_shared(run="R001", gold="missed")
    assert ">Not retrieved</strong>" in shown(app)
    assert "Raise recall" in shown(app)
    assert "In the prompt, not cited</strong>" not in shown(open_shared(run="R001", gold="cited"))


def test_a_run_without_gold_offers_none_and_expects_nothing(small: Path, open_shared: Open) -> None:
    app = open_shared(small)
    with pytest.raises(StopIteration):
        menu(app, "gold")
    assert all("expected" not in row for row in table(app))


def test_search_and_value_filters_land_in_the_url_and_in_the_sentence(small: Path, open_shared: Open) -> None:
    app = open_shared(small)
    app.text_input("search").set_value("oil").run()
    assert app.query_params["text"] == "oil"
    assert "2 of 3 questions: answer or question contains “oil”" in shown(app)
    menu(app, "unsupported").set_value(True).run()
    assert app.query_params["unsupported"] == "yes"
    assert labels(app) == ["generation_drift"]
    assert "numbers" not in table(app)[0]
    app.session_state["columns-menu"] = True
    app.run().checkbox("column-numbers").check().run()
    assert app.query_params["columns"] == "numbers"
    assert "12" in table(app)[0]["numbers"]
    app.checkbox("column-numbers").uncheck().run()
    assert "columns" not in app.query_params


def test_a_shared_link_shows_the_same_view(small: Path, open_shared: Open) -> None:
    app = open_shared(small, label=["ok", "refusal_suspect"], sort="question", desc="yes", text="the")
    assert labels(app) == ["refusal_suspect", "ok"]
    assert app.text_input("search").value == "the"
    assert "questions Z to A" in shown(app)


def test_what_an_address_gets_wrong_is_reported_and_the_rest_is_shown(small: Path, open_shared: Open) -> None:
    app = open_shared(small, run="R9", label="bad", at="-3", sort="price")
    assert not app.exception
    assert "There is no run &quot;R9&quot; in this workspace; showing R1." in shown(app)
    assert shown(app).count("In the address,") == 3
    assert len(labels(app)) == 3


def test_a_filter_value_that_the_run_does_not_have_is_reported(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    only_variant = {**TRACES[0], "paraphrase": 1, "chunks": [{"id": "c1", "section_id": "7.7"}]}
    folder = make_workspace([*TRACES, only_variant])
    text = html.unescape(shown(open_app(folder, suspicion="bogus", doc="x", section="99")))
    for words in ('R1 has no issue "bogus".', 'R1 has no document "x".', 'R1 has no section "99".'):
        assert words in text
    for section in ("5.1", "7.7"):
        assert "R1 has no" not in shown(open_app(folder, section=section))


def test_a_suspicion_has_one_name_and_its_code_as_the_tip(open_shared: Open) -> None:
    words = html.unescape(shown(open_shared(run="R002", suspicion="citation_outside_retrieved")))
    sentence = next(line for line in words.splitlines() if UNCHECKED in line)
    assert "Cites unretrieved chunk" in sentence
    assert re.sub(r'title="[^"]*"', "", sentence).count("citation_outside_retrieved") == 0
    assert 'title="suspicion: citation_outside_retrieved"' in sentence


def test_pages_follow_the_address_without_a_warning(
    make_workspace: MakeWorkspace, open_app: Open, caplog: pytest.LogCaptureFixture
) -> None:
    app = open_app(make_workspace([trace(f"Q{n}", f"How {n}?", "Use it.") for n in range(70)]), at="2")
    assert app.pagination[0].value == 2
    app.pagination[0].set_value(3).run()
    assert app.query_params["at"] == "3"
    assert (len(table(app)), app.pagination[0].value) == (20, 3)
    del app.query_params["at"]
    assert app.run().pagination[0].value == 1
    assert "default value" not in caplog.text


def test_a_variant_can_be_distinguished_from_its_headline_trace(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace([TRACES[0], {**TRACES[0], "paraphrase": 1}, TRACES[0]])
    cells = {row["question"] for row in table(open_app(folder, all_variants="yes"))}
    q = TRACES[0]["q"]
    assert cells == {q, f"p1 · s0 · {q}", f"#2 · {q}"}


def test_a_page_beyond_the_end_is_the_last_page(make_workspace: MakeWorkspace, open_app: Open) -> None:
    many = [trace(f"Q{number:03}", f"oil question {number}?", "not in context") for number in range(70)]
    app = open_app(make_workspace(many), at="99")
    assert len(labels(app)) == 20, "70 rows in pages of 25"


def test_a_filter_that_nothing_passes_offers_the_way_back(small: Path, open_shared: Open) -> None:
    app = open_shared(small, text="zebra")
    assert "No question matches this filter." in shown(app)
    assert not table(app)
    app.button("show-all").click().run()
    assert len(labels(app)) == 3


def test_an_alias_is_searched_among_the_citations_and_leads_to_its_chunk(open_shared: Open) -> None:
    app = open_shared(text="#s06-01#p011-b004")
    assert "1 of 14 questions: cites #s06-01#p011-b004" in shown(app)
    assert "#s06-01#p011-b004 is the alias of 1 chunk:" in shown(app)
    (link,) = [each.proto for each in app.main.get("page_link") if "chunk=" in each.proto.query_string]
    assert "chunk=meridian-2026%7Cr%3D1b23ea72%7Cs%3D6.1%7Cp%3D011%7Cb%3D004&" in link.query_string
    assert "No chunk of this workspace has the alias #s9#p1-b1." in shown(open_shared(text="#s9#p1-b1"))


def test_a_run_without_template_offers_the_profile_that_fits(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    plain = [
        trace("Q1", "How often is the oil changed?", "Change the oil every 15,000 km."),
        trace("Q2", "Which oil grade is used?", "I don't know."),
    ]
    folder = make_workspace(plain)
    app = open_app(folder)
    assert strip(app)["generation_drift"] == "Unsupported answer 2"
    assert all("Template not followed" not in row["issues"] for row in table(app)), "once, above"
    assert "These labels are unreliable: no answer follows the template." in shown(app)
    assert "triage:\n  template: none\n" in app.code[0].value
    open_app(folder, profile=Profile("none", ("i don't know",)))
    app.button("apply-profile").click().run()
    assert app.query_params["template"] == "none"
    assert counts(app) == [0, 0, 1, 0, 1]
    assert "not with the manifest&#x27;s template seed" in shown(app)
    app.button("own-profile").click().run()
    assert "template" not in app.query_params


def test_unreadable_lines_are_counted_beside_the_sentence(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace([*TRACES, b"{not json", b'"neither"']))
    links = [link.proto.label for link in app.main.get("page_link")]
    assert links == ["Walk through", ":red[2 lines of this run's files could not be read.]"]
    assert len(labels(app)) == 3


def test_rows_of_a_report_without_a_trace_are_no_unreadable_lines(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    run = {"run_id": "R1", "traces": {"path": "trace.jsonl"}, "report": {"path": "report.jsonl"}}
    folder = make_workspace(TRACES, runs=[run])
    row = {"q_id": "Q9", "q": "Gone?", "label": "ok", "why": "", "chunks": [], "citations_in_answer": []}
    (folder / "report.jsonl").write_text(json.dumps(row) + "\n")
    links = [link.proto.label for link in open_app(folder).main.get("page_link")]
    assert links == ["Walk through", ":red[1 row of its report has no trace.]"]


def test_a_last_line_still_being_written_is_reported_and_waits(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace()
    with next(folder.rglob("*trace*.jsonl")).open("ab") as file:
        file.write(b'{"q": "not fin')
    app = open_app(folder)
    assert len(labels(app)) == 3
    assert "The last line (14 bytes) is not finished yet" in shown(app)


def test_without_its_chunks_a_run_has_rows_but_no_labels_and_says_why(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace()
    (folder / "chunks.jsonl").unlink()
    app = open_app(folder)
    assert not app.exception
    assert "chunks.jsonl" in shown(app)
    assert labels(app) == ["no label"] * 3
    assert set(counts(app)) == {0}
    assert "No label 3" in shown(app)
    assert "worst label first" in shown(app) or UNCHECKED in shown(app)


def test_a_stored_report_without_traces_opens_too(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(None, runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    (folder / "report.jsonl").write_text(
        '{"q": "Which oil?", "label": "ok", "why": "stored", "chunks": [], "citations_in_answer": []}\n'
    )
    app = open_app(folder)
    assert not app.exception
    assert labels(app) == ["ok"]


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ("name: [", "pipeline_manifest.yaml"),
        ("\tname: x\n", "tab"),
        ('manifest_version: "1.0"\nname: none yet\nruns: []\n', "lists no run yet"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_a_panel_with_place_and_remedy(
    tmp_path: Path, open_app: Open, manifest: str, expected: str
) -> None:
    (tmp_path / "pipeline_manifest.yaml").write_text(manifest)
    app = open_app(tmp_path, indexed=False)
    assert not app.exception
    assert expected in shown(app)
    assert "What to do" in shown(app)


def test_an_index_that_is_missing_is_built_beside_the_page(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(), indexed=False)
    for _ in range(20):
        if table(app):
            break
        app.run()
    assert len(labels(app)) == 3


def test_hostile_text_reaches_the_table_as_text(make_workspace: MakeWorkspace, open_app: Open) -> None:
    hostile = "<img src=x onerror=alert(1)> ![a](http://canary/x.png) **b**"
    app = open_app(make_workspace([trace("Q1", hostile, hostile, chunks=("c1",))], name=hostile))
    assert not app.exception
    assert table(app)[0]["question"] == hostile
    assert "<img" not in shown(app)


def test_a_row_leads_to_its_question_in_the_same_list(small: Path, open_shared: Open) -> None:
    app = open_shared(small, text="the", sort="question")
    assert [row["question"][:10] for row in table(app)] == ["How often ", "Which fuse"]
    assert table(app)[1]["address"] == "./question?run=R1&q=Q3&text=the&sort=question"


def test_a_click_on_a_header_sorts_and_goes_back_to_the_first_page(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    many = [trace(f"Q{number:03}", f"oil question {number:03}?", "not in context") for number in range(60)]
    app = open_app(make_workspace(many), at="2")
    send(app, "sort", "question")
    assert app.query_params["sort"] == "question"
    assert "at" not in app.query_params
    send(app, "sort", "question")
    assert app.query_params["desc"] == "yes"
    assert table(app)[0]["question"] == "oil question 059?"


@pytest.mark.parametrize("value", ["q; DROP TABLE rows", 7, None, ["question"], {}])
def test_what_is_no_header_sorts_nothing(small: Path, open_shared: Open, value: object) -> None:
    app = open_shared(small)
    send(app, "sort", value)
    assert not app.exception
    assert "sort" not in app.query_params
    assert len(labels(app)) == 3
