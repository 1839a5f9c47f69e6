"""How addresses and people name a question of a run."""

from __future__ import annotations

import re

_REPEATED = re.compile(r"(?s)(?P<q_id>.+)#(?P<repeat>[1-9][0-9]{0,8})")


def question_name(q_id: str, repeat: int = 1) -> str:
    """How a URL and a person name a question: `Q80`, and `Q80#2` for the second trace of that id.

    An id that itself ends like `#2` gets its repeat written out, so that reading is never in doubt.
    """
    if repeat == 1 and _REPEATED.fullmatch(q_id) is None:
        return q_id
    return f"{q_id}#{repeat}"


def parse_question_name(name: str) -> tuple[str, int]:
    """The inverse of `question_name`: (q_id, repeat)."""
    match = _REPEATED.fullmatch(name)
    return (match["q_id"], int(match["repeat"])) if match else (name, 1)
