"""The rules of an answer: cite first, stop as the contract asks, name a known λ state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import orjson

from proofspan.contracts.records.field_values import LAMBDA_NAMES, LAMBDA_SIGNS, lambda_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import RULES, Rule, problem
from proofspan.contracts.rules.context import shown
from proofspan.contracts.rules.payload import PAYLOAD_FIELDS
from proofspan.errors import Problem

LAMBDA_STATES = frozenset(LAMBDA_SIGNS.values())
#: The longest reply, in characters, by which a model stops.
LONGEST_STOP = 2_000

_STOP_NAMES = ("fix", "field", "tip")
_FENCE = re.compile(r"```[a-z]*(?P<inside>.*)```", re.DOTALL)
_BARE_KEY = re.compile(r"(?<=[{,])\s*(error|fix|field|tip)\s*:")


@Rule(
    "unknown_lambda_state",
    "answer",
    "unknown λ state",
    "The λ state is not convergent, divergent, recursive or chaotic.",
    "Log one of the four, or its sign.",
    "warning",
)
def lambda_problems(record: Mapping[str, Json]) -> Iterator[Problem]:
    """Check that a record's λ state, if it has one, is one of the four or a sign for one."""
    for name in LAMBDA_NAMES:
        value = record.get(name)
        if value is None:
            continue
        if lambda_of(value) not in LAMBDA_STATES:
            message = f"{name} is {shown(value)}, none of {', '.join(sorted(LAMBDA_STATES))}"
            yield problem("unknown_lambda_state", name, message)
        return


def stop_of(answer: str) -> Mapping[str, Json] | None:
    """Return the error reply of the contract if an answer's text is one, else None.

    `{error: "<field>", fix: "<page>"}` or `{error, field, tip}`, as JSON, with keys quoted or bare as the
    contract shows them, in a fence or not.
    """
    if "error" not in answer or len(text := answer.strip()) > LONGEST_STOP:
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
    """Return the error reply in a record's own `error` key: beside it a fix, field or tip, or it is a code.

    Any other `error`, such as a timeout, is not the contract's.
    """
    error = record.get("error")
    if isinstance(error, dict):
        return error if _is_stop(error) else None
    if not isinstance(error, str) or not error:
        return None
    reply = {name: record[name] for name in ("error", *_STOP_NAMES) if record.get(name) is not None}
    return reply if len(reply) > 1 or error in PAYLOAD_FIELDS or error in RULES else None


def _is_stop(reply: Json) -> bool:
    return (
        isinstance(reply, dict)
        and isinstance(reply.get("error"), str)
        and any(reply.get(name) is not None for name in _STOP_NAMES)
    )


@Rule(
    "contract_stop",
    "answer",
    "stopped by the contract",
    "The model stopped and named the field of the contract that was missing or inconsistent.",
    "Correct the named field where the citations are projected.",
)
def stop_problem(reply: Mapping[str, Json], where: str) -> Problem:
    """Return the problem that an error reply reports."""
    parts = ", ".join(f"{name} {shown(reply[name])}" for name in ("error", *_STOP_NAMES) if name in reply)
    return problem("contract_stop", where, f"the model stopped with {parts}")


@Rule(
    "cite_after_answer",
    "citation",
    "cited after the answer",
    "The citations come only after the answer: explained first, cited afterwards.",
    "Ask for the citations first, or together with the answer in one text.",
)
def order_problems(keys: Sequence[str], where: str, *, cited: str = "citations") -> Iterator[Problem]:
    """Check that an object's keys, in their written order, do not put the answer before its citations."""
    if cited in keys and "answer" in keys and keys.index("answer") < keys.index(cited):
        message = "the citations come after the answer, which names none itself"
        yield problem("cite_after_answer", where, message)
