"""The prompt contract: the text that a team pastes into its prompt, made from the auditable answer's schema.

Field names, their order, the shape and the states of λ are the schema's, the codes and tips of the smoke
test those of `proofspan.contracts.rules.catalogue`: neither text can say anything else than what is
checked. Source: the prompt contract in the traceability contract (docs/requirements.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proofspan.contracts.records.schemas import expanded, schema
from proofspan.contracts.rules.catalogue import RULES, rule_of
from proofspan.contracts.rules.schema_findings import code_name

#: The schema that both texts are made from.
ANSWER = "auditable-answer"

_PLACEHOLDERS = {"string": '"…"', "integer": "0", "number": "0.00", "boolean": "true", "array": "[]"}

Node = Mapping[str, Any]


class PromptContract(NamedTuple):
    """The contract for a prompt, and a prompt with which any model can check one answer against it.

    `citation_fields` are the fields that each citation must have, `codes` those that the smoke test may
    answer with; both in order.
    """

    text: str
    smoke_test: str
    citation_fields: tuple[str, ...]
    codes: tuple[str, ...]


def prompt_contract(whole: Node | None = None, *, allow_cross_section: bool = False) -> PromptContract:
    """Return the prompt contract, from the schema `whole` of auditable answers, by default ours."""
    whole = schema(ANSWER) if whole is None else whole
    answer = expanded(whole, whole, whole)
    cited = answer["properties"]["citations"]["items"]
    section = (
        "allow_cross_section=true: one segment of the answer may cite several sections."
        if allow_cross_section
        else "All citations of one segment have the same section_id (allow_cross_section=false)."
    )
    contract = [
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
    ]
    for name, node in answer["properties"].items():
        if "enum" in node or "number" in _types(node):
            contract.append(f"{name}: {node['description']}")
    checks = list(_checks(answer, cited, allow_cross_section=allow_cross_section))
    numbers = [name for name in answer["required"] if name not in ("citations", "answer")]
    smoke_test = [
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
        *contract,
        "",
        "Input:",
        "{paste the model's JSON here}",
    ]
    text, smoke_test_text = ("\n".join(lines) + "\n" for lines in (contract, smoke_test))
    codes = tuple(code for code, _ in checks)
    return PromptContract(text, smoke_test_text, tuple(cited["required"]), codes)


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
