"""Merge files of annotations: every line once, whatever the order of the files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import InputFault
from proofspan.journal.annotations import annotations_of
from proofspan.journal.lines import MAX_BYTES, read_journal

#: A line that was changed after it was written still counts.
_COUNTS = "edited_entry"


class Merged(NamedTuple):
    """The lines without their line ends: annotations by time, then all others, so that nothing is lost.

    `given` is how many lines the files have that are not blank, `issues` what is wrong with any of them.
    """

    lines: tuple[bytes, ...]
    given: int
    issues: tuple[LineIssue, ...]

    @property
    def data(self) -> bytes:
        """Return the lines as the content of a file."""
        return b"".join(line + b"\n" for line in self.lines)


def merged(paths: Iterable[Path]) -> Merged:
    """Return the lines of files of annotations; of lines that hold the same JSON one is kept.

    Raises InputFault if a file does not exist or cannot be read, or if the whole would be too large for a
    journal.
    """
    kept: dict[bytes, tuple[bool, str, bytes]] = {}
    issues: list[LineIssue] = []
    given = 0
    for path in paths:
        if not path.exists():
            fix = "Correct the name, or leave it out."
            raise InputFault.of("missing_file", "the file does not exist", where=str(path), fix=fix)
        read = read_journal(path, file=str(path))
        found = annotations_of(read).issues
        issues += found
        broken = {each.source.line for each in found if each.code != _COUNTS}
        lines = []
        for entry in read[0]:
            line = (entry.source.line in broken, str(entry.record.get("at")), _bare(entry.text))
            lines.append((_canonical(entry.record), line))
        data = path.read_bytes()
        for each in read[1]:
            text = _bare(data[each.source.offset : each.source.offset + each.source.length])
            lines.append((text, (True, "", text)))
        for key, line in lines:
            kept[key] = min(line, kept.get(key, line))
        given += len(lines)
    result = Merged(tuple(text for _, _, text in sorted(kept.values())), given, tuple(issues))
    if len(result.data) > MAX_BYTES:
        message = f"together the lines are larger than {MAX_BYTES >> 20} MiB"
        fix = "Leave a file out."
        raise InputFault.of("journal_too_large", message, where="the files", fix=fix)
    return result


def _canonical(record: object) -> bytes:
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def _bare(line: bytes) -> bytes:
    return line.removeprefix(b"\xef\xbb\xbf").strip()
