"""The prompt contract: the text that a team pastes into its prompt, made from the auditable answer's schema.

Field names, their order, the shape and the states of λ are the schema's, the codes and tips of the smoke
test those of `proofspan.contracts.rules.catalogue`: neither text can say anything else than what is
checked. Source: the prompt contract in the traceability contract (docs/requirements.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofspan.contracts.records.schemas import expanded, schema
from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.contracts.rules.schema_findings import code_name

#: The schema that both texts are made from.
ANSWER = "auditable-answer"

_PLACEHOLDERS = {"string": '"…"', "integer": "0", "number": "0.00", "boolean": "true", "array": "[]"}

Node = Mapping[str, Any]


def _answer(whole: Node | None) -> tuple[Node, Node]:
    """Return the schema of auditable answers, by default ours, without references; and that of a citation."""
    whole = schema(ANSWER) if whole is None else whole
    answer = expanded(whole, whole, whole)
    return answer, answer["properties"]["citations"]["items"]


def contract_text(whole: Node | None = None, *, allow_cross_section: bool = False) -> str:
    """Return the contract for a prompt, from the schema `whole` of auditable answers, by default ours."""
    answer, cited = _answer(whole)
    names = answer["properties"]
    section = (
        "allow_cross_section=true: one segment of the answer may cite several sections."
        if allow_cross_section
        else "All citations of one segment have the same section_id (allow_cross_section=false)."
    )
    lines = [
        "Contract:",
        "- Cite before you explain: write the citations first, then the answer that rests on them.",
        "- Each citation is an object with all of these fields:",
        *(f"    {name}: {cited['properties'][name]['description']}" for name in cited["required"]),
        f"- {section}",
        "- If a field is missing, or two of them contradict each other, stop: return only",
        '    {"error": "<field>", "fix": "<what has to be fixed>"}',
        "",
        "Return this JSON and nothing else, its keys in this order:",
        *_shape(answer),
        "",
        *(
            f"{name}: {node['description']}"
            for name, node in names.items()
            if "enum" in node or "number" in _types(node)
        ),
    ]
    return "\n".join(lines) + "\n"


def smoke_test_text(whole: Node | None = None, *, allow_cross_section: bool = False) -> str:
    """Return a prompt with which any model can check one answer against the contract."""
    answer, cited = _answer(whole)
    checks = list(_checks(answer, cited, allow_cross_section=allow_cross_section))
    numbers = [name for name in answer["required"] if name not in ("citations", "answer")]
    lines = [
        "Task: check the JSON under Input against the contract below, and nothing else.",
        "",
        "Checks, in this order; the first that fails decides:",
        *(f"- {code}: {wanted}" for code, wanted in checks),
        "",
        f"If all hold, reply with one line: OK {' '.join(f'{name}=<{name}>' for name in numbers)}",
        "Otherwise reply with this JSON and nothing else:",
        '{"error": "<code>", "field": "<name>", "tip": "<tip>"}',
        "",
        "Tips by code:",
        *(f"- {code}: {rule_of(code).fix}" for code, _ in checks),
        "",
        contract_text(whole, allow_cross_section=allow_cross_section),
        "Input:",
        "{paste the model's JSON here}",
    ]
    return "\n".join(lines) + "\n"


def cited_fields() -> tuple[str, ...]:
    """Return the fields that each citation of an auditable answer must have, in order."""
    return tuple(_answer(None)[1]["required"])


def checked_codes(*, allow_cross_section: bool = False) -> tuple[str, ...]:
    """Return the codes that the smoke test may answer with, in the order of its checks."""
    return tuple(code for code, _ in _checks(*_answer(None), allow_cross_section=allow_cross_section))


def _checks(answer: Node, cited: Node, *, allow_cross_section: bool) -> Iterator[tuple[str, str]]:
    """Yield the checks of the smoke test: the code of each, and the condition."""
    for name in answer["required"]:
        yield f"missing_{code_name(name)}", f"the object has {name}"
    yield "cite_after_answer", "citations come before answer"
    yield "empty_citations", "there is at least one citation, unless the answer declines to answer"
    for name in cited["required"]:
        yield f"missing_{code_name(name)}", f"each citation has {name}"
    yield "bad_offsets", "in each citation the start of offsets is less than their end"
    if not allow_cross_section:
        yield "cross_section_reuse", "all citations have one section_id"
    for name, node in answer["properties"].items():
        if "enum" in node:
            unknown = f"unknown_{code_name(name)}"
            code = unknown if unknown in RULES else f"bad_{code_name(name)}"
            yield code, f"{name} is one of {', '.join(node['enum'])}"


def _shape(part: Node, indent: str = "") -> Iterator[str]:
    """Yield the lines of an object with its required fields."""
    yield f"{indent}{{"
    names = part["required"]
    for name in names:
        comma = "" if name == names[-1] else ","
        value = part["properties"][name]
        if "object" in _types(value.get("items", {})):
            yield f'{indent}  "{name}": ['
            yield from _shape(value["items"], f"{indent}    ")
            yield f"{indent}  ]{comma}"
        else:
            yield f'{indent}  "{name}": {_placeholder(value)}{comma}'
    yield f"{indent}}}"


def _placeholder(node: Node) -> str:
    """Return a placeholder for a value: its states, its parts, or a sign for its type."""
    if "enum" in node:
        return f'"{" | ".join(str(each) for each in node["enum"] if each is not None)}"'
    if "object" in _types(node):
        inside = (f'"{name}": {_placeholder(value)}' for name, value in node["properties"].items())
        return f"{{{', '.join(inside)}}}"
    return _PLACEHOLDERS[_types(node)[0]]


def _types(node: Node) -> list[str]:
    """Return the JSON types that a schema allows, without null; empty if it does not say."""
    stated = node.get("type", [])
    return [each for each in ([stated] if isinstance(stated, str) else stated) if each != "null"]
