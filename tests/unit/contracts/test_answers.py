"""An answer that stops by the contract, that cites too late, or whose λ nobody knows."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.rules.answers import (
    LONGEST_STOP,
    lambda_problems,
    order_problems,
    stop_in,
    stop_of,
)
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.contracts.rules.records import auditable_problems
from tests.unit.contracts.citation_payloads import JSON, payload

FIVE = ("snippet_id", "section_id", "source_url", "offsets", "tokens")


def five(**changes: Any) -> dict[str, Any]:
    """A citation with the five fields of the auditable answer."""
    whole = payload(**changes)
    return {name: whole[name] for name in FIVE if name in whole}


@pytest.mark.parametrize(
    "answer",
    [
        '{"error": "offsets", "fix": "chunk-alignment"}',
        '{"error": "bad_offsets", "field": "offsets", "tip": "chunk-alignment"}',
        '{error: "offsets", fix: "chunk-alignment"}',
        '{ error: "bad_offsets", field: "offsets", tip: "chunk-alignment" }',
        ' ```json\n{"error": "rev", "fix": "data-contracts"}\n``` ',
    ],
)
def test_the_contracts_error_reply_is_a_stop(answer: str) -> None:
    reply = stop_of(answer)
    assert reply is not None and reply["error"] in ("offsets", "bad_offsets", "rev")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The display shows an error: the fix is on page 4.",
        '{"error": "offsets"}',
        '{"error": 4, "fix": "x"}',
        '{"citations": [], "answer": "error"}',
        'Set {"error": "E4", "fix": "restart"} in the file.',
        '["error", "fix"]',
        "{error}",
        '{"error": "a", "fix": "' + "x" * 3000 + '"}',
    ],
)
def test_any_other_answer_has_no_outcome(answer: str) -> None:
    assert stop_of(answer) is None


def test_a_fence_full_of_blanks_takes_no_time() -> None:
    started = time.process_time()
    assert stop_of("```" + " " * (LONGEST_STOP - 8) + "error") is None
    assert stop_of("```" + "\n \n" * 300 + '{"error": "rev", "fix": "x"}' + " " * 900 + "```") is not None
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("record", "stops"),
    [
        ({"error": "rev", "fix": "data-contracts"}, True),
        ({"error": "timeout", "field": "rev"}, True),
        ({"error": "offsets"}, True),
        ({"error": "cross_section_reuse"}, True),
        ({"error": {"error": "rev", "fix": "data-contracts"}}, True),
        ({"error": "timeout"}, False),
        ({"error": None, "fix": "data-contracts"}, False),
        ({"error": {"message": "rate limit"}}, False),
        ({"fix": "data-contracts"}, False),
    ],
)
def test_a_records_own_error_is_a_stop_where_it_speaks_of_the_contract(
    record: dict[str, Any], stops: bool
) -> None:
    assert (stop_in(record) is not None) is stops


@pytest.mark.parametrize("name", ["λ", "lambda", "lambda_state", "λ_observe"])
def test_a_lambda_state_is_one_of_four_or_its_sign(name: str) -> None:
    for state in ("convergent", "Chaotic", " <> ", "→", "←", "×", None):
        assert list(lambda_problems({name: state})) == []
    for odd in ("stable", "", "->", 1, ["convergent"]):
        (finding,) = lambda_problems({name: odd})
        assert (finding.code, finding.where) == ("unknown_lambda_state", name)


def test_the_raw_order_of_keys_decides() -> None:
    (problem,) = order_problems(["q", "answer", "citations"], "citations")
    assert (problem.code, problem.where) == ("cite_after_answer", "citations")
    for keys in (["citations", "answer"], ["answer"], ["citations"]):
        assert not list(order_problems(keys, ""))


def test_an_auditable_answer_owes_five_fields_of_each_citation() -> None:
    whole = {"citations": [five()], "answer": "Keys are required.", "ΔS": 0.37, "λ": "convergent"}
    assert tuple(auditable_problems(whole, NO_CONTEXT)) == ()
    for name in FIVE:
        (finding,) = tuple(auditable_problems({**whole, "citations": [five(**{name: ...})]}, NO_CONTEXT))
        assert (finding.code, finding.where) == (f"missing_{name}", f"citations[1].{name}")


@pytest.mark.parametrize(
    ("answer", "codes"),
    [
        ({"answer": "a", "citations": [five()], "λ": "odd"}, ["unknown_lambda_state", "cite_after_answer"]),
        ({"citations": [], "answer": "a"}, ["empty_citations"]),
        ({"answer": "a"}, ["empty_citations"]),
        ({"citations": "hb-0007", "answer": "a"}, ["wrong_type_citations"]),
        ({"citations": ["hb-0007"], "answer": "a"}, ["wrong_type_citations"]),
        ({"citations": [five(), five(section_id="b")], "answer": "a"}, ["cross_section_reuse"]),
        ({"error": "rev", "fix": "data-contracts"}, ["contract_stop"]),
    ],
)
def test_an_auditable_answers_breaches(answer: dict[str, Any], codes: list[str]) -> None:
    assert [finding.code for finding in tuple(auditable_problems(answer, NO_CONTEXT))] == codes


def test_an_auditable_answer_that_declines_owes_no_citations() -> None:
    declining = {"citations": [], "answer": "not in context"}
    assert list(auditable_problems(declining, NO_CONTEXT)) == []


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["citations", "answer", "λ", "error", "fix", "lambda"]), JSON))
def test_no_auditable_answer_raises(answer: dict[str, Any]) -> None:
    for finding in auditable_problems(answer, NO_CONTEXT):
        assert finding.message


@given(st.text(alphabet='{}"[]error:fixtip, \n`'))
def test_no_answer_raises(answer: str) -> None:
    assert stop_of(answer) is None or "error" in answer
