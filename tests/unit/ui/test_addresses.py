"""Links in files lead to the same pages as the dashboard's own links."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from proofspan.contracts.records.names import parse_question_name
from proofspan.services.workspace.links import absolute, list_address, question_address
from proofspan.store.query.filters import Filter
from proofspan.ui.visit.view_state import ViewState

EVERYTHING = Filter(
    run="R 6&x=1",
    label=("ok", "retrieval_drift"),
    suspicion=("report_stale",),
    code=("missing_rev", "tie_order"),
    doc=("a&b",),
    section=("5.4",),
    gold=("missed",),
    unsupported=False,
    text="50 % + é #",
    all_variants=True,
    questions_only=True,
    evidence=("exact",),
    safety=True,
    about=("4.2",),
    fails=True,
    bucket=("hit", "score_policy"),
    type=("figure",),
    state=("chaotic",),
    refused=False,
    miss="gt_in_top_20",
    met="section_match_at_1",
    cohort="RETRIEVAL-GAP",
    score=("faithfulness>=0.5", "tone & style=good"),
    vs="R4",
    was=("ok",),
    was_cause=("contradicted",),
    was_bucket=("retrieval_gap",),
    was_correct=("wrong", "partly"),
    flip="regressed",
    outcome="citation_match",
    claim=("differs", "derived"),
    difference=("number",),
    contradictions=False,
    support="0.25-0.5",
    cause=("contradicted", "over_refusal"),
    grounded=("no",),
    correct=("wrong",),
    review="disputed",
    reviewer="Ada & Ben",
    assigned="Eve",
)


def params(address: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(address).query, keep_blank_values=True)


def test_every_part_of_a_filter_is_in_the_address() -> None:
    plain = Filter("")
    left = [
        part.name for part in fields(Filter) if getattr(EVERYTHING, part.name) == getattr(plain, part.name)
    ]
    assert left == []
    found = ViewState.parse(params(list_address(EVERYTHING)))
    shown = ViewState(filter=EVERYTHING)
    assert found.notes == ()
    assert found == shown
    assert params(list_address(EVERYTHING)) == params(shown.link(""))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"unsupported": True},
        {"safety": False},
        {"fails": False},
        {"refused": True},
        {"vs": "R1", "was": ("ok",), "label": ("retrieval_drift",)},
    ],
    ids=repr,
)
def test_the_dashboard_makes_the_same_address(changes: dict[str, Any]) -> None:
    shown = Filter("R6", **changes)
    assert params(list_address(shown)) == params(ViewState(filter=shown).link(""))
    assert list_address(shown).startswith("./?run=R6")


@pytest.mark.parametrize("q_id", ["Q80", "Q80#2", "a b&c=d/é?"])
def test_a_question_opens_by_its_name(q_id: str) -> None:
    state = ViewState.parse(params(question_address("R6", q_id, vs="R4")))
    assert parse_question_name(state.q or "") == (q_id, 1)
    assert (state.run, state.filter.vs) == ("R6", "R4")
    assert urlsplit(question_address("R6", q_id)).path == "./question"


@pytest.mark.parametrize("base", ["https://x.example", "https://x.example/"])
def test_an_address_below_a_base(base: str) -> None:
    assert absolute(base, "./?run=R1") == "https://x.example/?run=R1"
    assert absolute(f"{base.rstrip('/')}/team/", "./question?q=Q1") == "https://x.example/team/question?q=Q1"
