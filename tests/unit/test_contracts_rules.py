"""The registry of rules: no text without a check, no code without a text, rules of other packages."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.record_rules import record_problems
from proofspan.contracts.rules import catalogue
from proofspan.contracts.rules.catalogue import CHECKED_IN, CHECKS, RULES, Rule, problem, reports
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.traces.contract import trace_codes
from tests.places import CHECKOUT
from tests.unit.contract_lines import line, trace

TOO_LONG = Rule(
    "answer_too_long", "answer", "answer too long", "The answer is too long.", "Ask for less.", "warning"
)
#: Codes that a check builds from the name of a field: the pattern that it uses.
BUILT = {"bad_k_pos": 'f"bad_{name}"', "bad_k_final": 'f"bad_{name}"', "missing_k_pos": 'missing("k_pos")'}
BUILT |= {"page_below_one": "problem(note,", "pages_disagree": "problem(note,"}
BUILT |= {"schema_version_unsupported": "problem(UNSUPPORTED,"}


@pytest.fixture
def registry() -> Iterator[None]:
    """Take back what a test registers."""
    registries: list[dict[str, Any]] = [RULES, CHECKED_IN, CHECKS]
    before = [dict(each) for each in registries]
    checks = {name: list(each) for name, each in CHECKS.items()}
    yield
    for each, earlier in zip(registries, before, strict=True):
        each.clear()
        each.update(earlier)
    CHECKS.update(checks)
    catalogue.rule_of.cache_clear()


@pytest.mark.parametrize("code", RULES)
def test_the_module_of_each_rule_reports_it(code: str) -> None:
    spec = find_spec(CHECKED_IN[code])
    assert spec is not None and spec.origin is not None
    text = Path(spec.origin).read_text(encoding="utf-8")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    declared = sum(_is_text_of(code, node) for node in calls)
    codes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    assert sum(node.value == code for node in codes) > declared or BUILT.get(code, "\0") in text


def _is_text_of(code: str, call: ast.Call) -> bool:
    """Whether a call declares the rule of the code."""
    names_rule = isinstance(call.func, ast.Name) and call.func.id == "Rule"
    first = call.args[0] if call.args else None
    return names_rule and isinstance(first, ast.Constant) and first.value == code


def test_every_rule_has_its_texts() -> None:
    for rule in RULES.values():
        assert rule.title and rule.meaning.endswith(".") and rule.fix.endswith("."), rule.code
        import_module(CHECKED_IN[rule.code])


def test_a_code_without_a_rule_cannot_be_reported() -> None:
    with pytest.raises(KeyError):
        problem("no_such_code", "", "…")


@pytest.mark.usefixtures("registry")
def test_two_rules_cannot_share_a_code() -> None:
    with pytest.raises(ValueError, match="hash_mismatch"):
        reports(Rule("hash_mismatch", "chunk", "another", "Another.", "Fix it."))(print)


@pytest.mark.usefixtures("registry")
def test_a_rule_of_another_package_is_checked_in_records_and_traces() -> None:
    example = runpy.run_path(str(CHECKOUT / "examples" / "rule.py"))["ANSWER_TOO_LONG"]
    breaches = record_problems("answer", {"answer_text": "Admins do. " * 400}, NO_CONTEXT)
    (breach,) = [each for each in breaches if each.code == example.code]
    assert (breach.severity, breach.fix) == ("warning", example.fix)
    codes = trace_codes(trace(line(answer="Admins do. " * 400)), NO_CONTEXT, declines=False)
    assert "answer_too_long" in codes
