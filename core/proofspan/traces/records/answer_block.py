"""The auditable answer block: a JSON object with the citations and the answer, inside an answer's text.

The traceability contract (docs/requirements.md) asks the model for a block: `{"citations": […],
"answer": "…", "ΔS": 0.37, "λ": "convergent"}`. Models write it bare or in a fence, with prose around it; so
it is looked for wherever an object begins.
"""

from __future__ import annotations

import json
import re

import orjson

from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    LAMBDA_NAMES,
    first_of,
    lambda_of,
    number_of,
)
from proofspan.contracts.records.records import AnswerBlock
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper

#: An answer without this has no block, which settles it for nearly all of them.
MARK = '"citations"'
#: How many beginnings of objects are tried: each failure costs a pass over the text before it.
MOST_TRIES = 100

_OPENING = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()


def auditable_block(answer: str) -> AnswerBlock | None:
    """Return the first block of an answer's text: `citations` a list, `answer` a text; None without one.

    The time is linear in the length of the text. A block after `MOST_TRIES` other objects is not found.
    """
    if MARK not in answer:
        return None
    place = 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(answer, place)
        if opening is None:
            return None
        start = opening.start()
        try:
            _, place = _DECODER.raw_decode(answer, start)
        except json.JSONDecodeError as error:
            # An object that opened in between and did not end fails at the same place, unless it begins with
            # the quote that ended the last string. So no text is read more than a few times.
            last = answer.rfind("{", start + 1, error.pos)
            place = last if last >= 0 else max(start + 1, error.pos)
            continue
        except (RecursionError, ValueError):  # far too deep, or a number with thousands of digits
            return None
        try:  # by the rules for every record
            obj = orjson.loads(answer[start:place])
        except (orjson.JSONDecodeError, UnicodeEncodeError):  # NaN, a lone surrogate
            continue
        is_block = isinstance(obj.get("citations"), list) and isinstance(obj.get("answer"), str)
        if is_block and not is_deeper(obj, MAX_DEPTH):
            return AnswerBlock(
                citations=tuple(obj["citations"]),
                answer=obj["answer"],
                delta_s=number_of(first_of(obj, DELTA_S_NAMES)),
                lambda_state=lambda_of(first_of(obj, LAMBDA_NAMES)),
                start=start,
                end=place,
                keys=tuple(obj),
            )
    return None
