"""The auditable answer block: a JSON object with the citations and the answer, inside an answer's text.

The traceability contract (docs/requirements.md) has the model write a block: `{"citations": […],
"answer": "…", "ΔS": 0.37, "λ": "convergent"}`. Models put it bare or into a fence, with prose before and
behind; so it is looked for where an object begins, and the fence is prose like the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import orjson

from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    LAMBDA_NAMES,
    first_of,
    lambda_of,
    number_of,
)
from proofspan.contracts.records.records import Json
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper

#: An answer without this holds no block, which nearly all of them settles at once.
MARK = '"citations"'
#: So many beginnings of objects are tried: telling where one fails costs a pass over the text before it.
MOST_TRIES = 100

_OPENING = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Block:
    """The block: what it cites, its answer and measures, and the text's `[start, end)` where it stands.

    `keys` are its keys in the order in which they stand there, each once.
    """

    citations: tuple[Json, ...]
    answer: str
    delta_s: float | None
    lambda_state: str | None
    start: int
    end: int
    keys: tuple[str, ...]


def auditable_block(answer: str) -> Block | None:
    """The first whole block of an answer's text: `citations` a list, `answer` a text; None without one.

    The time grows with the text's length alone, whatever it opens and never closes; what stands behind
    `MOST_TRIES` other objects is not found.
    """
    return _block(answer) if MARK in answer else None


@lru_cache(maxsize=8)
def _block(text: str) -> Block | None:
    """A trace's block is asked for by several readers in a row."""
    place = 0
    for _ in range(MOST_TRIES):
        found = _OPENING.search(text, place)
        if found is None:
            return None
        try:
            _, place = _DECODER.raw_decode(text, found.start())
        except json.JSONDecodeError as error:
            place = _next_start(text, found.start(), error.pos)
            continue
        except (RecursionError, ValueError):  # nested as no record is; a number with thousands of digits
            return None
        if (block := _block_of(text, found.start(), place)) is not None:
            return block
    return None


def _next_start(text: str, begin: int, failed: int) -> int:
    """Where to look on after what began at `begin` turned out at `failed` to be no JSON.

    What began in between and has not ended fails there as well, but for what begins with the quote that ended
    the last string; what has ended is part of something that is not whole. So no part of a text is read more
    than a few times.
    """
    last = text.rfind("{", begin + 1, failed)
    return last if last >= 0 else max(begin + 1, failed)


def _block_of(text: str, start: int, end: int) -> Block | None:
    """The object there as a block, read by the rules that hold for every record; None where it is none."""
    try:
        found = orjson.loads(text[start:end])
    except (orjson.JSONDecodeError, UnicodeEncodeError):  # NaN, half of a character
        return None
    if not _is_block(found):
        return None
    return Block(
        citations=tuple(found["citations"]),
        answer=found["answer"],
        delta_s=number_of(first_of(found, DELTA_S_NAMES)),
        lambda_state=lambda_of(first_of(found, LAMBDA_NAMES)),
        start=start,
        end=end,
        keys=tuple(found),
    )


def _is_block(found: Mapping[str, Json]) -> bool:
    is_whole = isinstance(found.get("citations"), list) and isinstance(found.get("answer"), str)
    return is_whole and not is_deeper(found, MAX_DEPTH)
