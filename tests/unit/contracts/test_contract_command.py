"""`proofspan contract` prints what can be checked: contract, smoke test and schemas, made from one schema."""

from __future__ import annotations

import copy
from typing import Any

import jsonschema_rs
import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.contracts.prompt import ANSWER, prompt_contract
from proofspan.contracts.record_rules import RECORD_TYPES, record_problems
from proofspan.contracts.records.schemas import schema
from proofspan.contracts.rules.catalogue import RULES, is_of_family, rule_of
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.contracts.rules.payload import AUDITABLE_FIELDS
from proofspan.contracts.rules.records import is_locked
from tests.places import CHECKOUT

GOLDEN = CHECKOUT / "tests" / "golden" / "prompt"


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["contract", *arguments])


@pytest.mark.parametrize(
    ("arguments", "golden"), [((), "contract.txt"), (("--smoke-test",), "smoke_test.txt")], ids=str
)
def test_the_texts_are_those_that_were_read_and_approved(arguments: tuple[str, ...], golden: str) -> None:
    result = _run(*arguments)
    assert result.exit_code == 0
    assert result.output == (GOLDEN / golden).read_text(encoding="utf-8")


def test_the_contract_locks_a_prompt() -> None:
    assert is_locked(prompt_contract().text)


def test_the_contract_asks_for_what_is_checked() -> None:
    assert prompt_contract().citation_fields == AUDITABLE_FIELDS
    shape = prompt_contract().text.partition("in this order:\n")[2].partition("\n\n")[0]
    answer = orjson.loads(shape.replace("0.00", "0.1"))
    assert list(answer) == ["citations", "answer", "ΔS", "λ"]
    assert tuple(answer["citations"][0]) == AUDITABLE_FIELDS
    found = record_problems(ANSWER, answer, NO_CONTEXT)  # a form that nobody filled in
    assert {finding.code for finding in found} == {"bad_offsets", "empty_tokens", "unknown_lambda_state"}


def test_a_changed_schema_changes_both_texts() -> None:
    changed: dict[str, Any] = copy.deepcopy(schema(ANSWER))
    cited = changed["$defs"]["cited"]
    cited["required"].append("quote")
    cited["properties"]["quote"] = {"type": "string", "description": "The words that are cited."}
    changed["properties"]["λ"]["enum"].append("restless")
    for text in (prompt_contract(changed).text, prompt_contract(changed).smoke_test):
        assert "    quote: The words that are cited.\n" in text
        assert '      "quote": "…"\n' in text
        assert "chaotic | restless" in text
    assert "- missing_quote: each citation has quote\n" in prompt_contract(changed).smoke_test
    assert "quote" not in prompt_contract().text


def test_sections_may_be_mixed_where_that_is_asked_for() -> None:
    mixed = _run("--allow-cross-section").output
    assert "allow_cross_section=true" in mixed
    assert "same section_id" not in mixed
    assert "cross_section_reuse" not in _run("--smoke-test", "--allow-cross-section").output


def test_the_smoke_test_answers_in_codes_that_exist_with_their_own_tips() -> None:
    text = prompt_contract().smoke_test
    for code in prompt_contract().codes:
        assert code in RULES or is_of_family(code)
        assert f"- {code}: {rule_of(code).fix}\n" in text


@pytest.mark.parametrize("kind", RECORD_TYPES)
def test_a_printed_schema_is_self_contained(kind: str) -> None:
    printed = orjson.loads(_run("--schema", kind).output)
    judge = jsonschema_rs.validator_for(printed)
    assert printed["examples"] and all(map(judge.is_valid, printed["examples"]))
    assert not judge.is_valid("none")


def test_everything_is_there_as_data() -> None:
    data = orjson.loads(_run("--json").output)
    assert data["contract"] == prompt_contract().text
    assert data["smoke_test"] == prompt_contract().smoke_test
    assert data["citation_fields"] == list(AUDITABLE_FIELDS)
    assert data["schema"]["$id"] == "urn:proofspan:schema:auditable-answer-1.0"
    assert {"code", "tip"} == set(data["codes"][0])
    assert orjson.loads(_run("--json", "--schema", "log").output)["schema"]["title"] == "Log record 1.0"


@pytest.mark.parametrize("arguments", [("--schema", "sonnet"), ("--smoke-test", "--schema", "log")])
def test_what_cannot_be_printed_is_refused(arguments: tuple[str, ...]) -> None:
    assert _run(*arguments).exit_code == 2
