"""The claims of the answer on the Question page: their list, their marks, the page of a chosen one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
    ClaimEvidence,
)
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.judge import grounded_of
from proofspan.diagnosis.verdicts.types import Correctness, Verdict
from proofspan.services.question.claims import Judged
from proofspan.services.question.view import QuestionView, load_question
from proofspan.ui.claims.claim_list import MAX_LISTED
from proofspan.ui.question import load
from proofspan.ui.wording.claims import claim_lines, weakest_first
from tests.made_traces import made_trace
from tests.pages.conftest import CHUNKS, MakeWorkspace, Open, marked_texts, send, shown, trace
from tests.pages.manual import DOCUMENTS, PAGE, PAGED, labels, manual

ANSWER = "Change the oil every 25,000 km. The fuse F12 protects the lamps. It is blue. citations: [c1]"
CITED = trace("Q1", "How often is the oil changed?", ANSWER, ("c1", "c2"))
GOLD = [
    {
        "q_id": "Q1",
        "q": "How often is the oil changed?",
        "spans": [{"doc_id": "manual", "page_idx": 1, "quote": CHUNKS[1]["text"]}],
    }
]


def evidence(number: int, text: str, *, origin: Any = "prompt") -> ClaimEvidence:
    start = CHUNKS[number]["text"].index(text)
    chunk_id = CHUNKS[number]["chunk_id"]
    return ClaimEvidence(origin, chunk_id, start, start + len(text), text, "manual", number)


def claim(text: str) -> Claim:
    start = ANSWER.index(text)
    return Claim(text, start, start + len(text), "sentence")


def checked(*, note: str = "") -> CheckedAnswer:
    """A difference, a supported claim on another page, and one without evidence."""
    oil, fuse = evidence(0, "Change the oil every 15,000 km."), evidence(1, CHUNKS[1]["text"])
    at = ANSWER.index("25,000")
    differs = ClaimDifference("number", "25,000", at, at + 6, "15,000", oil.start + 21, oil.start + 27)
    claims = (
        CheckedClaim(claim("Change the oil every 25,000 km."), "differs", 0.7, oil, (differs,)),
        CheckedClaim(claim("The fuse F12 protects the lamps."), "supported", 0.95, fuse),
        CheckedClaim(claim("It is blue."), "unsupported", 0.0),
    )
    return CheckedAnswer(claims, 0.28, note)


@pytest.fixture
def folder(make_workspace: MakeWorkspace) -> Path:
    made = make_workspace([CITED], documents=DOCUMENTS, gold={"path": "gold.jsonl"})
    (made / "chunks.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in PAGED))
    (made / "gold.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in GOLD))
    manual(made)
    return made


UNDECIDED = Verdict(None, Correctness("unknown"), "none", "likely", "No failure was found.", harm=9)


def judged_as(monkeypatch: pytest.MonkeyPatch, answer: CheckedAnswer | None) -> None:
    """Give the shown answer these claims, and a verdict by them."""

    def judged(view: QuestionView, checker: object, **_: object) -> Judged | None:
        return None if answer is None else Judged(answer, UNDECIDED._replace(grounded=grounded_of(answer)))

    monkeypatch.setattr(load, "judged_question", judged)


@pytest.fixture(autouse=True)
def checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of checking have tests of their own; here is what a page makes of their result."""
    judged_as(monkeypatch, checked())


def component(app: AppTest, name: str) -> dict[str, Any] | None:
    protos = (each.proto for each in app.main.get("bidi_component"))
    sent = [bytes(proto.bytes) for proto in protos if proto.component_name.endswith(name)]
    return orjson.loads(sent[0]) if sent else None


def listed(app: AppTest) -> dict[str, Any]:
    found = component(app, "claims_claim_list")
    assert found is not None
    return found


def test_claims_are_listed_weakest_first_with_difference_place_and_support(
    folder: Path, open_app: Open
) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    rows = listed(app)["claims"]
    assert [(row["number"], row["status"], row["support"]) for row in rows] == [
        (1, "differs", 0.7), (3, "unsupported", 0.0), (2, "supported", 0.95),
    ]  # fmt: skip
    assert "".join(part["text"] for part in rows[0]["line"]) == "number: answer 25,000 · page 15,000"
    assert rows[0]["where"] == "PDF page 1, in the prompt at rank 1"
    assert rows[2]["where"] == "PDF page 2, in the prompt at rank 2"
    assert rows[1]["has_evidence"] is False
    assert "weakest first" in shown(app)


def test_the_answer_is_cut_into_its_claims_and_the_words_that_differ(folder: Path, open_app: Open) -> None:
    (text,) = marked_texts(open_app(folder, page=PAGE, q="Q1"))
    pieces = text["pieces"]
    first = "".join(piece["text"] for piece in pieces if piece["claim"] == 1)
    assert first.startswith("Change the oil every 25,000 km")
    assert [piece["text"] for piece in pieces if piece["kind"] == "claimed"] == ["25,000"]
    assert all(piece["claim"] is None for piece in pieces if "citations:" in piece["text"])
    assert [each["number"] for each in text["claims"]] == [1, 3, 2]


def test_choosing_a_claim_turns_to_its_page_and_keeps_it_in_the_address(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    assert "PDF page 1 of 2" in shown(app)
    send(app, "claim", 2, key="claims-list")
    assert not app.exception
    assert app.query_params["at_claim"] == "2"
    assert "PDF page 2 of 2" in shown(app)
    assert "Claim 2: supported." in shown(app)
    assert "Its evidence is highlighted: PDF page 2, in the prompt at rank 2." in shown(app)
    assert (listed(app)["chosen"], marked_texts(app)[0]["claim"]) == (2, 2)
    send(app, "claim", 1, key="answer-text")
    assert app.query_params["at_claim"] == "1"
    assert "number: answer " in shown(app)
    assert "PDF page 1 of 2" in shown(app)


@pytest.mark.parametrize("value", [9, 0, "2", True, None, {"claim": 2}])
def test_what_is_no_claim_is_not_chosen(folder: Path, open_app: Open, value: object) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    send(app, "claim", value, key="claims-list")
    assert not app.exception
    assert "at_claim" not in app.query_params


def test_a_shared_address_opens_its_claim_and_one_without_evidence_changes_no_page(
    folder: Path, open_app: Open
) -> None:
    app = open_app(folder, page=PAGE, q="Q1", at_claim="2")
    assert "PDF page 2 of 2" in shown(app)
    app = open_app(folder, page=PAGE, q="Q1", at_claim="3")
    assert not app.exception
    assert "PDF page 1 of 2" in shown(app)
    assert listed(app)["chosen"] == 3
    app = open_app(folder, page=PAGE, q="Q1", at_claim="7")
    assert "at_claim 7 is no claim of Q1" in shown(app) + str(app.warning) + str(app.info)


def test_choosing_a_citation_or_another_question_leaves_the_claim(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1", at_claim="2")
    app.button("cite-1").click().run()
    assert "at_claim" not in app.query_params
    assert app.query_params["cite"] == "1"


def test_places_of_the_claims_follow_the_page(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    places = component(app, "claim_places")
    assert places is not None
    if not places["is_ready"]:
        send(app, "ask", 0, key="page-claims")
        app.run()
        places = component(app, "claim_places")
        assert places is not None
    found = {spot["number"]: spot for spot in places["spots"]}
    assert {number: spot["placement"] for number, spot in found.items()} == {
        1: "here", 2: "elsewhere", 3: "none",
    }  # fmt: skip
    assert len(found[1]["marks"]) == 1


def test_an_answer_without_claims_says_why(
    folder: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_as(monkeypatch, CheckedAnswer())
    app = open_app(folder, page=PAGE, q="Q1")
    assert "No claim was found in the answer." in shown(app)
    assert component(app, "claims_claim_list") is None


def test_a_refusal_is_named_as_one(make_workspace: MakeWorkspace, open_app: Open, monkeypatch: Any) -> None:
    judged_as(monkeypatch, CheckedAnswer())
    app = open_app(make_workspace([trace("Q1", "Which lamp?", "not in context")]), page=PAGE, q="Q1")
    assert "The answer declines" in shown(app)


def test_an_answer_that_was_cut_says_so(folder: Path, open_app: Open, monkeypatch: Any) -> None:
    note = "only the first 2,000 claims were checked"
    judged_as(monkeypatch, checked(note=note))
    assert "Only the first 2,000 claims were checked." in shown(open_app(folder, page=PAGE, q="Q1"))


def test_without_a_label_no_claim_is_looked_for(folder: Path, open_app: Open, monkeypatch: Any) -> None:
    judged_as(monkeypatch, None)
    app = open_app(folder, page=PAGE, q="Q1")
    assert component(app, "claims_claim_list") is None
    assert "Claims" not in shown(app)


def test_the_gold_page_is_shown_beside_where_it_is_another_one(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1")
    assert "Gold on PDF page 2" in labels(app)
    app.button("beside").click().run()
    assert not app.exception
    assert app.query_params["beside"] == "yes"
    assert "PDF page 1 of 2" in shown(app)
    assert "PDF page 2 of 2" in shown(app)
    viewers = [each for each in app.main.get("bidi_component") if each.proto.component_name.endswith("_page")]
    assert len(viewers) == 2
    assert r"Cited \| Gold" in labels(app)
    app.button("beside").click().run()
    assert "beside" not in app.query_params
    app = open_app(folder, page=PAGE, q="Q1", chunk="gold:1")
    assert "Cited on PDF page 1" in labels(app)
    app = open_app(folder, page=PAGE, q="Q1", chunk="gold:1", beside="yes")
    assert "PDF page 1 of 2" in shown(app)


def test_there_is_no_switch_where_both_are_on_one_page(folder: Path, open_app: Open) -> None:
    app = open_app(folder, page=PAGE, q="Q1", at_claim="2")
    assert not any("Gold" in label for label in labels(app))


def test_many_claims_are_listed_up_to_a_limit(folder: Path, open_app: Open, monkeypatch: Any) -> None:
    many = CheckedAnswer(
        tuple(CheckedClaim(Claim("It is", 0, 5, "item"), "unsupported", 0.0) for _ in range(1_000)), 0.0
    )
    judged_as(monkeypatch, many)
    app = open_app(folder, page=PAGE, q="Q1")
    assert not app.exception
    assert (len(listed(app)["claims"]), listed(app)["more"]) == (MAX_LISTED, 1_000 - MAX_LISTED)


# The words, without a page.


def test_words_of_every_status(golden: Any) -> None:
    oil = evidence(0, "Use grade 5W-30.", origin="cited_page")
    blue = claim("It is blue.")
    dropped = ClaimDifference("qualifier", "", 0, 0, "unless the engine is cold", 0, 25)
    extra = ClaimDifference("negation", "not", 0, 3, "", 0, 0)
    answer = CheckedAnswer(
        (
            CheckedClaim(blue, "differs", 0.9, oil, (dropped, extra)),
            CheckedClaim(blue, "differs", 0.9, oil, (extra,) * 5),
            CheckedClaim(blue, "derived", 0.8, evidence(0, "Use", origin="retrieved"), formula="46 − 40 = 6"),
            CheckedClaim(blue, "other_language", 0.3, oil, note="figures and names agree"),
            CheckedClaim(blue, "unsupported", 0.3, evidence(1, "The fuse F12", origin="gold")),
            CheckedClaim(blue, "supported", 0.8, oil),
        ),
        0.5,
    )
    view = load_question(made_trace(CITED), chunks={}, corpus=Corpus({}), profile=Profile())
    lines = []
    for each in claim_lines(answer, view, texts={}, unpaged={"bulletin"}):
        line = "".join(part.text for part in each.line)
        lines.append(" | ".join([str(each.number), each.status_words, line, each.where, each.note]))
    golden("question/claims", "\n".join(lines))


def test_a_text_without_pages_is_named_as_one_and_has_no_page_number() -> None:
    view = load_question(made_trace(CITED), chunks={}, corpus=Corpus({}), profile=Profile())
    line, *_ = claim_lines(checked(), view, texts={}, unpaged={"manual"})
    assert line.where == "in the prompt at rank 1"
    assert "".join(part.text for part in line.line) == "number: answer 25,000 · text 15,000"


def test_the_weakest_come_first() -> None:
    assert weakest_first(checked()) == [1, 3, 2]
    assert weakest_first(CheckedAnswer()) == []
