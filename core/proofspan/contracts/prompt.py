"""The prompt contract: the text that a team pastes into its prompt, made from the auditable answer's schema.

Field names, their order, the shape and the states of λ are the schema's, the codes and tips of the smoke
test those of `proofspan.contracts.rules.catalogue`: neither text can say anything else than what is
checked. Source: the prompt contract in the traceability contract (docs/requirements.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofspan.contracts.records.schemas import Part, part_of, schema
from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.contracts.rules.schema_findings import code_name

#: The schema that both texts are made from.
ANSWER = "auditable-answer"

_PLACEHOLDERS = {"string": '"…"', "integer": "0", "number": "0.00", "boolean": "true", "array": "[]"}


def contract_text(whole: Mapping[str, Any] | None = None, *, allow_cross_section: bool = False) -> str:
    """Return the contract for a prompt, from the schema `whole` of auditable answers, by default ours."""
    answer = part_of(schema(ANSWER) if whole is None else whole)
    return "\n".join(_contract(answer, allow_cross_section=allow_cross_section)) + "\n"


def smoke_test_text(whole: Mapping[str, Any] | None = None, *, allow_cross_section: bool = False) -> str:
    """Return a prompt with which any model can check one answer against the contract."""
    whole = schema(ANSWER) if whole is None else whole
    lines = _smoke_test(part_of(whole), allow_cross_section=allow_cross_section)
    contract = contract_text(whole, allow_cross_section=allow_cross_section)
    return "\n".join(lines) + f"\n\n{contract}\nInput:\n{{paste the model's JSON here}}\n"


def cited_fields(whole: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Return the fields that each citation of an auditable answer must have, in order."""
    return tuple(_cited(part_of(schema(ANSWER) if whole is None else whole)).node["required"])


def checked_codes(
    whole: Mapping[str, Any] | None = None, *, allow_cross_section: bool = False
) -> tuple[str, ...]:
    """Return the codes that the smoke test may answer with, in the order of its checks."""
    answer = part_of(schema(ANSWER) if whole is None else whole)
    return tuple(code for code, _ in _checks(answer, allow_cross_section=allow_cross_section))


def _contract(answer: Part, *, allow_cross_section: bool) -> Iterator[str]:
    yield "Contract:"
    yield "- Cite before you explain: write the citations first, then the answer that rests on them."
    yield "- Each citation is an object with all of these fields:"
    fields = dict(_cited(answer).properties())
    for name in _cited(answer).node["required"]:
        yield f"    {name}: {fields[name].node['description']}"
    if allow_cross_section:
        yield "- allow_cross_section=true: one segment of the answer may cite several sections."
    else:
        yield "- All citations of one segment have the same section_id (allow_cross_section=false)."
    yield "- If a field is missing, or two of them contradict each other, stop: return only"
    yield '    {"error": "<field>", "fix": "<what has to be fixed>"}'
    yield ""
    yield "Return this JSON and nothing else, its keys in this order:"
    yield from _shape(answer, answer.node["required"])
    yield ""
    for name, part in answer.properties():
        if "enum" in part.node or "number" in part.types:
            yield f"{name}: {part.node['description']}"


def _smoke_test(answer: Part, *, allow_cross_section: bool) -> Iterator[str]:
    checks = list(_checks(answer, allow_cross_section=allow_cross_section))
    numbers = [name for name in answer.node["required"] if name not in ("citations", "answer")]
    yield "Task: check the JSON under Input against the contract below, and nothing else."
    yield ""
    yield "Checks, in this order; the first that fails decides:"
    for code, wanted in checks:
        yield f"- {code}: {wanted}"
    yield ""
    yield f"If all hold, reply with one line: OK {' '.join(f'{name}=<{name}>' for name in numbers)}"
    yield "Otherwise reply with this JSON and nothing else:"
    yield '{"error": "<code>", "field": "<name>", "tip": "<tip>"}'
    yield ""
    yield "Tips by code:"
    for code, _ in checks:
        yield f"- {code}: {rule_of(code).fix}"


def _checks(answer: Part, *, allow_cross_section: bool) -> Iterator[tuple[str, str]]:
    """Yield the checks of the smoke test: the code of each, and the condition."""
    for name in answer.node["required"]:
        yield f"missing_{code_name(name)}", f"the object has {name}"
    yield "cite_after_answer", "citations come before answer"
    yield "empty_citations", "there is at least one citation, unless the answer declines to answer"
    for name in _cited(answer).node["required"]:
        yield f"missing_{code_name(name)}", f"each citation has {name}"
    yield "bad_offsets", "in each citation the start of offsets is less than their end"
    if not allow_cross_section:
        yield "cross_section_reuse", "all citations have one section_id"
    for name, part in answer.properties():
        if "enum" in part.node:
            unknown = f"unknown_{code_name(name)}"
            code = unknown if unknown in RULES else f"bad_{code_name(name)}"
            yield code, f"{name} is one of {', '.join(part.node['enum'])}"


def _cited(answer: Part) -> Part:
    cited = dict(answer.properties())["citations"].items
    if cited is None:
        raise ValueError("the schema does not say what a citation is")
    return cited


def _shape(part: Part, names: list[str], indent: str = "") -> Iterator[str]:
    yield f"{indent}{{"
    properties = dict(part.properties())
    for name in names:
        comma = "" if name == names[-1] else ","
        value = properties[name]
        if value.items is not None and "object" in value.items.types:
            yield f'{indent}  "{name}": ['
            yield from _shape(value.items, value.items.node["required"], f"{indent}    ")
            yield f"{indent}  ]{comma}"
        else:
            yield f'{indent}  "{name}": {_placeholder(value)}{comma}'
    yield f"{indent}}}"


def _placeholder(part: Part) -> str:
    """Return a placeholder for a value: its states, its parts, or a sign for its type."""
    if "enum" in part.node:
        return f'"{" | ".join(str(each) for each in part.node["enum"] if each is not None)}"'
    if "object" in part.types:
        inside = ", ".join(f'"{name}": {_placeholder(value)}' for name, value in part.properties())
        return f"{{{inside}}}"
    return _PLACEHOLDERS[part.types[0]]
