"""The registry of rules: no text without a check, no code without a text, rules of other packages."""

from __future__ import annotations

import ast
import runpy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from proofspan.contracts.record_rules import record_problems
from proofspan.contracts.rules import catalogue
from proofspan.contracts.rules.catalogue import CHECKS, RULES, Rule, problem
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
    registries: list[dict[str, Any]] = [RULES, CHECKS]
    before = [dict(each) for each in registries]
    checks = {name: list(each) for name, each in CHECKS.items()}
    yield
    for each, earlier in zip(registries, before, strict=True):
        each.clear()
        each.update(earlier)
    CHECKS.update(checks)
    catalogue.rule_of.cache_clear()


def test_the_module_of_each_rule_reports_it_or_another_one_if_it_is_elsewhere() -> None:
    everywhere: Counter[object] = Counter()
    reported: set[str] = set()
    for path in (CHECKOUT / "core" / "proofspan").rglob("*.py"):
        if path.name == "elsewhere.py":
            continue
        text = path.read_text(encoding="utf-8")
        if not ("Rule(" in text or any(code in text for code in RULES)):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        constants = Counter(node.value for node in nodes if isinstance(node, ast.Constant))
        everywhere.update(constants)
        declared = Counter(code for node in nodes if (code := _code_of_rule(node)))
        reported |= {code for code, times in declared.items() if constants[code] > times}
        reported |= {code for code in declared if BUILT.get(code, "\0") in text}
        assert declared.keys() & RULES.keys() <= reported
    assert all(everywhere[code] for code in RULES.keys() - reported)


def _code_of_rule(node: ast.AST) -> str:
    """Return the code of the rule that a call declares, "" for everything else."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule"):
        return ""
    return str(node.args[0].value) if node.args and isinstance(node.args[0], ast.Constant) else ""


def test_every_rule_has_its_texts() -> None:
    for rule in RULES.values():
        assert rule.title and rule.meaning.endswith(".") and rule.fix.endswith("."), rule.code


def test_a_code_without_a_rule_cannot_be_reported() -> None:
    with pytest.raises(KeyError):
        problem("no_such_code", "", "…")


@pytest.mark.usefixtures("registry")
def test_two_rules_cannot_share_a_code() -> None:
    with pytest.raises(ValueError, match="hash_mismatch"):
        Rule("hash_mismatch", "chunk", "another", "Another.", "Fix it.")(print)


@pytest.mark.usefixtures("registry")
def test_a_rule_of_another_package_is_checked_in_records_and_traces() -> None:
    runpy.run_path(str(CHECKOUT / "examples" / "rule.py"))
    example = RULES["answer_too_long"]
    breaches = record_problems("answer", {"answer_text": "Admins do. " * 400}, NO_CONTEXT)
    (breach,) = [each for each in breaches if each.code == example.code]
    assert (breach.severity, breach.fix) == ("warning", example.fix)
    codes = trace_codes(trace(line(answer="Admins do. " * 400)), NO_CONTEXT, declines=False)
    assert "answer_too_long" in codes
