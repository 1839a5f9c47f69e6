"""The own set: 200 claims over the demo's manual, each with the status that a reader would give it.

`tests/unit/claims/demo_claims.jsonl` was written from the requirement, before the checker ran over it. A line
has the claim, its language and kind (paraphrase, rounding, derived, swapped, …), the chunks that the answerer
saw in their order, the chunk with the evidence (none where the manual says nothing), and the right status;
for `differs` the kinds of difference that name the contradiction, for `derived` the operation. A claim in
another language than its evidence is `other_language`, also where its words are wrong but no figure or name
shows it.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

from proofspan.contracts.records.records import NOWHERE, Trace
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.chunks import Place
from proofspan.traces.records.trace_record import trace_from
from tests.places import CHECKOUT, DEMO

#: Statuses of claims that are right.
RIGHT = ("supported", "derived", "other_language")

Line = dict[str, Any]


@cache
def _lines() -> tuple[Line, ...]:
    path = CHECKOUT / "tests" / "unit" / "claims" / "demo_claims.jsonl"
    return tuple(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


@pytest.fixture(scope="module")
def checked() -> list[tuple[Line, CheckedClaim]]:
    """Return each line with its claim, checked as that of a trace."""
    with (DEMO / "corpus" / "chunks.jsonl").open(encoding="utf-8") as file:
        texts = {record["chunk_id"]: record["text"] for record in map(json.loads, file)}
    checker = Checker(texts, Corpus(texts).survey, dict.fromkeys(texts, Place("manual", None, None)))
    pairs = []
    for line in _lines():
        record = {
            "q": line["question"],
            "answer": line["claim"],
            "chunks": [{"id": i} for i in line["chunks"]],
        }
        trace = trace_from(record, NOWHERE, run_id="R")
        assert isinstance(trace, Trace)
        (claim,) = checker.check(trace, Profile(template="none")).claims
        pairs.append((line, claim))
    return pairs


def test_the_set() -> None:
    lines = _lines()
    assert len({line["claim"] for line in lines}) == len({line["id"] for line in lines}) == len(lines) == 200
    assert all(set(line.get("evidence", ())) <= set(line["chunks"]) for line in lines)
    assert {
        language for language, count in Counter(line["lang"] for line in lines).items() if count >= 20
    } == {*("de", "en", "fr")}


def test_claims_have_the_right_status(checked: list[tuple[Line, CheckedClaim]]) -> None:
    wrong = [
        (line["id"], line["kind"], line["claim"], f"{claim.status}, not {line['status']}")
        for line, claim in checked
        if claim.status != line["status"]
    ]
    assert len(wrong) <= 0.05 * len(checked), wrong


def test_no_right_claim_is_accused(checked: list[tuple[Line, CheckedClaim]]) -> None:
    accused = [
        (line["id"], line["claim"], [(each.kind, each.claimed, each.found) for each in claim.differences])
        for line, claim in checked
        if line["status"] in RIGHT and claim.status == "differs"
    ]
    assert not accused
