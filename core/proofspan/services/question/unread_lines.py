"""Unreadable lines that name a question, which may be why the run lacks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from proofspan.contracts.records.records import LineIssue

#: Bytes of a line that are searched: the question's id is near the beginning.
READ_BYTES = 4_096
#: Lines that are searched, and lines that are returned.
MAX_READ, MAX_LINES = 1_000, 3


def lines_naming(q_id: str, issues: Iterable[LineIssue], path: Path) -> list[LineIssue]:
    """Return the first lines that contain `"q_id": "…"` with this id.

    `path` is the uncompressed file of the issues' offsets; a missing file gives none.
    """
    written = {json.dumps(q_id), json.dumps(q_id, ensure_ascii=False)}
    either = "|".join(re.escape(each.encode("utf-8", "replace").decode()) for each in sorted(written))
    naming = re.compile(rf'"(?:q_id|qid)"\s{{0,9}}:\s{{0,9}}(?:{either})'.encode())
    named: list[LineIssue] = []
    try:
        with path.open("rb") as file:
            for _, issue in zip(range(MAX_READ), issues, strict=False):
                file.seek(issue.source.offset)
                if naming.search(file.read(min(READ_BYTES, issue.source.length))):
                    named.append(issue)
                if len(named) == MAX_LINES:
                    break
    except OSError:
        return []
    return named
