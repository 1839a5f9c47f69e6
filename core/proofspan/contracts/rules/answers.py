"""The rules of an answer: cite first, stop by the contract, name a known λ state; the auditable answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import orjson

from proofspan.contracts.records.field_values import LAMBDA_NAMES, LAMBDA_SIGNS, lambda_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import RULES
from proofspan.contracts.rules.citations import items_findings, list_findings, section_of
from proofspan.contracts.rules.finding import Context, Finding, shown
from proofspan.contracts.rules.payload import AUDITABLE, PAYLOAD_FIELDS, cross_section

LAMBDA_STATES = frozenset(LAMBDA_SIGNS.values())
#: Every spelling of a state that is right as it stands.
LAMBDA_WORDS = LAMBDA_STATES.union(LAMBDA_SIGNS)
#: No reply by which a model stops is longer, in characters.
LONGEST_STOP = 2_000

_STOP_NAMES = ("fix", "field", "tip")
_FENCE = re.compile(r"```[a-z]*(?P<inside>.*)```", re.DOTALL)
_BARE_KEY = re.compile(r"(?<=[{,])\s*(error|fix|field|tip)\s*:")


def lambda_findings(record: Mapping[str, Json]) -> Iterator[Finding]:
    """A λ state that is none of the four and none of their signs; a record without one has no finding."""
    for name in LAMBDA_NAMES:
        value = record.get(name)
        if value is None:
            continue
        if lambda_of(value) not in LAMBDA_STATES:
            said = f"{name} is {shown(value)}, none of {', '.join(sorted(LAMBDA_STATES))}"
            yield Finding("unknown_lambda_state", name, said)
        return


def stop_of(answer: str) -> Mapping[str, Json] | None:
    """The error reply that the contract asks for, where an answer's text is one; None for every other answer.

    `{error: "<field>", fix: "<page>"}` or `{error, field, tip}`, as JSON, with its keys in quotes or as bare
    as the contract shows them, in a fence or not.
    """
    text = answer.strip()
    if "error" not in text or len(text) > LONGEST_STOP:
        return None
    if (fenced := _FENCE.fullmatch(text)) is not None:
        text = fenced["inside"].strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    for candidate in (text, _BARE_KEY.sub(r'"\1":', text)):
        try:
            reply = orjson.loads(candidate)
        except orjson.JSONDecodeError:
            continue
        return reply if _is_stop(reply) else None
    return None


def stop_in(record: Mapping[str, Json]) -> Mapping[str, Json] | None:
    """The error reply in a record's own `error` key: beside it a fix, field or tip, or it names a rule.

    Any other `error`, a timeout say, is none of the contract's.
    """
    error = record.get("error")
    if isinstance(error, dict):
        return error if _is_stop(error) else None
    if not isinstance(error, str) or not error:
        return None
    said = {name: record[name] for name in ("error", *_STOP_NAMES) if record.get(name) is not None}
    return said if len(said) > 1 or error in PAYLOAD_FIELDS or error in RULES else None


def stop_finding(reply: Mapping[str, Json], field: str) -> Finding:
    """The finding that a reply is: what the model said was wrong, and where to look."""
    said = ", ".join(f"{name} {shown(reply[name])}" for name in ("error", *_STOP_NAMES) if name in reply)
    return Finding("contract_stop", field, f"the model stopped with {said}")


def cited_after(keys: Sequence[str], *, cited: str = "citations", answer: str = "answer") -> bool:
    """Whether an object's keys, in their raw order, bring the answer before what it cites."""
    return cited in keys and answer in keys and keys.index(answer) < keys.index(cited)


def after_finding(field: str) -> Finding:
    """The finding of citations that come only after the answer."""
    return Finding("cite_after_answer", field, "the citations come after the answer, which names none itself")


def auditable_findings(
    obj: Mapping[str, Json], context: Context, *, declines: bool = False
) -> tuple[Finding, ...]:
    """Everything that is wrong with an auditable answer `{citations, answer, ΔS, λ}`.

    Each citation owes the five fields of the prompt contract; whatever else it states must be right. Whether
    `answer`, ΔS and λ are there is for the record's schema to say. An answer that declines owes no citations.
    """
    stop = stop_in(obj)
    if stop is not None:
        return (stop_finding(stop, "error"),)
    citations = obj.get("citations")
    found = list(lambda_findings(obj))
    if cited_after(list(obj)):
        found.append(after_finding("citations"))
    if citations is not None and not isinstance(citations, list):
        return (*found, Finding("wrong_type_citations", "citations", f"citations is {shown(citations)}"))
    if not citations:
        return (*found, *(() if declines else (Finding("empty_citations", "citations", "nothing is cited"),)))
    inside = [
        *items_findings(citations, context, AUDITABLE),
        *list_findings(citations),
        *cross_section([section_of(item) for item in citations], context),
    ]
    return (*found, *[finding.inside(f"citations[{place}]") for place, finding in inside])


def _is_stop(reply: Json) -> bool:
    return (
        isinstance(reply, dict)
        and isinstance(reply.get("error"), str)
        and any(reply.get(name) is not None for name in _STOP_NAMES)
    )
