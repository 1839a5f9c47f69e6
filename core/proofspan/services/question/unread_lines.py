"""The lines of a file that could not be read and yet name a question: where it went, if the run lacks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from proofspan.contracts.records.records import LineIssue

#: So much of a line is looked at, in bytes: its question's id stands near the beginning.
READ_BYTES = 4_096
#: So many lines are looked at, and so many of those that name the question are told.
MOST_READ, MOST_TOLD = 1_000, 3


def lines_naming(q_id: str, issues: Iterable[LineIssue], path: Path) -> list[LineIssue]:
    """The first of the lines that hold `"q_id": "…"` with this very id.

    `path` is the plain file that the issues' offsets are of. A file that is gone names nothing.
    """
    written = {json.dumps(q_id), json.dumps(q_id, ensure_ascii=False)}
    either = "|".join(re.escape(each.encode("utf-8", "replace").decode()) for each in sorted(written))
    naming = re.compile(rf'"(?:q_id|qid)"\s{{0,9}}:\s{{0,9}}(?:{either})'.encode())
    found: list[LineIssue] = []
    try:
        with path.open("rb") as file:
            for _, issue in zip(range(MOST_READ), issues, strict=False):
                file.seek(issue.source.offset)
                if naming.search(file.read(min(READ_BYTES, issue.source.length))):
                    found.append(issue)
                if len(found) == MOST_TOLD:
                    break
    except OSError:
        return []
    return found
