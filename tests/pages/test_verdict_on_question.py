"""The verdict on the Question page: what leads, what differs, where the right passage went, what to do."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.diagnosis.claims.types import CheckedAnswer, CheckedClaim, Claim, ClaimEvidence
from proofspan.diagnosis.verdicts.types import (
    CORRECT,
    GROUNDED,
    Cause,
    CauseEvidence,
    Correctness,
    GoldPart,
    GoldTrail,
    PartPlace,
    Verdict,
)
from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, GROUNDED_NAMES
from proofspan.services.question.claims import Judged
from proofspan.store.query.store import Store
from proofspan.ui.question import load
from proofspan.ui.visit import session
from tests.pages.conftest import CHUNKS, MakeWorkspace, Open, marked_texts, shown, trace
from tests.pages.manual import DOCUMENTS, PAGE, PAGED, labels, manual

pytestmark = pytest.mark.slow

ANSWER = "Change the oil every 25,000 km. citations: [c1]"
CITED = trace("Q1", "How often is the oil changed?", ANSWER, ("c1", "c2"))
EXPECTED = "Every 15,000 km, with 5W-30"
GOLD = {
    "q_id": "Q1",
    "q": "How often is the oil changed?",
    "answer": EXPECTED,
    "spans": [{"doc_id": "manual", "page_idx": 1, "quote": CHUNKS[1]["text"]}],
}
HOSTILE = '<img src=x onerror=alert(1)> ![x](http://127.0.0.1:9/x.png) "><script>alert(2)</script> \u202e'
Show = Callable[..., AppTest]


def wrong(cause: Cause = "contradicted", sentence: str = "The prompt held it.", **more: Any) -> Verdict:
    return Verdict("contradicted", Correctness("wrong"), cause, "certain", sentence, **more)


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    made = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    (made / "chunks.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in PAGED))
    (made / "gold.jsonl").write_bytes(orjson.dumps(GOLD) + b"\n")
    manual(made)
    return made


@pytest.fixture
def show(folder: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch) -> Show:
    """`show(verdict, **url)`: the page of an answer with that verdict; the rules have tests of their own."""

    def opened(verdict: Verdict | None, **url: Any) -> AppTest:
        text = CHUNKS[1]["text"]
        evidence = ClaimEvidence("prompt", "c2", 0, len(text), text, "manual", 1)
        claim = CheckedClaim(Claim(ANSWER[:31], 0, 31, "sentence"), "supported", 1.0, evidence)
        judged = Judged(CheckedAnswer((claim,), 1.0), verdict) if verdict else None
        session.recent("claims", load.KEPT).clear()
        monkeypatch.setattr(load, "judged_question", lambda view, checker, **_: judged)
        app = open_app(folder, page=PAGE, q="Q1", **url)
        assert not app.exception
        return app

    return opened


def words(app: AppTest) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", shown(app)))


def folded(app: AppTest) -> list[str]:
    return [each.label for each in app.expander]


@pytest.mark.parametrize(
    ("grounded", "correct"),
    [*((each, "unknown") for each in GROUNDED), *((None, each) for each in CORRECT)],
)
def test_both_axes_lead_and_the_label_is_folded_away(show: Show, grounded: Any, correct: Any) -> None:
    verdict = Verdict(grounded, Correctness(correct), "incomplete", "likely", "It lacks the grade.")
    text = words(show(verdict))
    names = [GROUNDED_NAMES[grounded]] if grounded else []
    chips = "".join(rf"[✓✕◐?] {name}" for name in [*map(re.escape, names), CORRECT_NAMES[correct]])
    assert re.search(rf"{chips} Incomplete: It lacks the grade\.", text)
    assert "likely" in text
    first_line = text[: text.index("Incomplete: ")]
    assert "citations present" not in first_line


def test_the_label_with_its_reasons_is_a_folded_detail(show: Show) -> None:
    app = show(wrong())
    (own,) = (each for each in app.expander if each.label.startswith("Reference label: "))
    inside = "".join(str(each.proto.body) for each in own.get("html"))
    assert "Why this label" in inside
    assert "Question words" in inside
    assert not own.proto.expanded


def test_without_a_verdict_the_label_leads_and_its_reasons_are_open(show: Show) -> None:
    app = show(None)
    assert not any("Reference label" in label for label in folded(app))
    assert "Why this label" in words(app)
    assert "Where the right passage went" not in words(app)
    assert "Next step" in words(app)


@pytest.mark.parametrize("cause", ["not_in_context", "over_refusal", "gold_suspect", "unsafe_omission"])
def test_a_cause_is_named_before_its_sentence(show: Show, cause: Cause) -> None:
    app = show(wrong(cause, "The reranker dropped rank 2.", next_step="Let more candidates through."))
    assert f"{CAUSE_NAMES[cause]}: The reranker dropped rank 2." in words(app)
    assert "Next step Let more candidates through." in words(app)


def test_the_next_step_leads_to_the_answers_with_the_same_cause(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {"contradicted": 2, "none": 37}
    monkeypatch.setattr(Store, "verdict_counts", lambda self, shown, axis: counts)
    app = show(wrong(next_step="Compare figures."), label="ok")
    links = {each.proto.label: each.proto.query_string for each in app.main.get("page_link")}
    assert links["2 of 39 answers of this run have this cause"] == "run=R1&cause=contradicted"
    alone = show(wrong("over_refusal", next_step="Look at the prompt."))
    assert "have this cause" not in str([each.proto.label for each in alone.main.get("page_link")])


def test_an_answer_without_a_fault_has_no_next_step(show: Show) -> None:
    app = show(Verdict("yes", Correctness("correct"), "none", "certain", "Right by the expected answer."))
    assert "✓ Supported✓ Correct Right by the expected answer." in words(app)
    assert ">Next step </strong>" not in shown(app)
    assert "certain" not in words(app)


def test_evidence_is_one_click_away(show: Show) -> None:
    evidence = (CauseEvidence("c2", "manual", 1, 0, 9, 1), CauseEvidence("c1", "manual", 0, 0, 9))
    app = show(wrong(evidence=evidence))
    assert "PDF page 1 of 2" in shown(app)
    app.button("evidence-0").click().run()
    assert app.query_params["at_claim"] == "1"
    assert "PDF page 2 of 2" in shown(app)
    app.button("evidence-1").click().run()
    assert (app.query_params["chunk"], "at_claim" in app.query_params) == ("c1", False)
    assert "PDF page 1 of 2" in shown(app)


def test_what_has_no_evidence_has_a_closest_passage(show: Show) -> None:
    evidence = (CauseEvidence("c2", "manual", 1, 0, 9, 1),)
    assert "certain · closest passage:" in words(show(wrong("unsupported", evidence=evidence)))
    assert "certain · evidence:" in words(show(wrong(evidence=evidence)))


def test_evidence_of_the_gold_opens_the_gold(show: Show) -> None:
    app = show(wrong("missed_top_ranked", evidence=(CauseEvidence(None, "manual", 1, 0, 0),)))
    app.button("evidence-0").click().run()
    assert app.query_params["chunk"] == "gold:1"
    assert "PDF page 2 of 2" in shown(app)


def test_the_answer_is_beside_the_expected_one_and_both_are_marked(show: Show) -> None:
    at, expected_at = ANSWER.index("25,000 km"), EXPECTED.index("15,000 km")
    correctness = Correctness(
        "wrong", "25,000 km for 15,000 km", ((at, at + 9),), ((expected_at, expected_at + 9),)
    )
    app = show(wrong()._replace(correctness=correctness))
    (text,) = marked_texts(app)
    assert "".join(each["text"] for each in text["pieces"] if each["kind"] == "unexpected") == "25,000 km"
    assert re.findall(r'<mark class="ps-expected"[^>]*>([^<]*)</mark>', shown(app)) == ["15,000 km"]
    assert "Expected\n" in words(app)
    assert "Wrong: 25,000 km for 15,000 km" in words(app)


def test_where_no_answer_is_expected_the_page_says_so(folder: Path, show: Show) -> None:
    gold = {"q_id": "Q1", "q": "?", "answerable": False}
    (folder / "gold.jsonl").write_bytes(orjson.dumps(gold) + b"\n")
    assert "None: the documents do not answer this question." in words(show(wrong("answered_unanswerable")))


def test_the_way_of_each_passage_is_a_list_of_stages_in_words(show: Show) -> None:
    lost = GoldPart(
        "Every 15,000 km",
        "manual",
        0,
        {"retrieved": PartPlace("held", 1.0, 2), "prompt": PartPlace("absent")},
    )
    cut = GoldPart("5W-30", "manual", 1, {"prompt": PartPlace("part", 0.5, 1)})
    held = GoldPart("F12", "manual", 1, {"prompt": PartPlace("held", 1.0, 2)})
    app = show(wrong("not_in_context", trail=GoldTrail((held, lost, cut), "page")))
    text = words(app)
    assert "Where the right passage went the answer needs 3 passages" in text
    assert "by page only: the gold has no words" in text
    lists = re.findall(r'<ol class="ps-stops" role="list" aria-label="([^"]*)">(.*?)</ol>', shown(app))
    assert [name for name, _ in lists] == [  # those that are lost come first
        "The way of passage 2 of 3, PDF page 1",
        "The way of passage 3 of 3, PDF page 2",
        "The way of passage 1 of 3, PDF page 2",
    ]
    stages = [re.sub(r"<[^>]+>", "", item) for _, items in lists for item in items.split("</li>") if item]
    assert stages == [
        "retrieved rank 2",
        "in the prompt no",
        "in the prompt 50 % at rank 1",
        "in the prompt rank 2",
    ]


def test_a_question_without_gold_passages_has_no_trail(show: Show) -> None:
    assert "Where the right passage went" not in words(show(wrong(trail=GoldTrail((), "text"))))


def test_many_passages_are_folded_up_to_a_limit(show: Show) -> None:
    part = GoldPart("x", "manual", 0, {"prompt": PartPlace("absent")})
    app = show(wrong("incomplete", trail=GoldTrail((part,) * 50, "text")))
    assert "47 more passages" in folded(app)
    text = words(app)
    assert "43 of 50" in text
    assert "44 of 50" not in text
    assert "and 7 more" in text


def test_words_of_others_stay_words(show: Show) -> None:
    part = GoldPart(HOSTILE, HOSTILE, 0, {"prompt": PartPlace("part", 0.5, 1, HOSTILE)})
    evidence = (CauseEvidence(HOSTILE, HOSTILE, None, 0, 0),)
    correctness = Correctness("wrong", HOSTILE, ((0, 10**6),), ((0, 10**6), (5, 2)), missing=(HOSTILE,))
    verdict = Verdict(
        "no",
        correctness,
        "unsupported",
        "certain",
        HOSTILE,
        HOSTILE,
        evidence=evidence,
        trail=GoldTrail((part,), "text"),
    )
    app = show(verdict)
    assert "<img" not in shown(app)
    assert "<script" not in shown(app)
    assert "\u202e" not in shown(app)
    assert not any("![" in label for label in labels(app))
    assert app.button("evidence-0").label.startswith(r"\<img")
