"""Lines that could not be read and yet name a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.services.question.unread_lines import MAX_LINES, READ_BYTES, lines_naming


def issues_of(*lines: bytes) -> list[LineIssue]:
    """An issue for each of the lines, as they follow one another in a file."""
    found, offset = [], 0
    for number, line in enumerate(lines, start=1):
        found.append(LineIssue.at(SourceLine("t.jsonl", number, offset, len(line)), "not_json", "", ""))
        offset += len(line) + 1
    return found


def naming(folder: Path, q_id: str, *lines: bytes) -> list[int]:
    path = folder / "t.jsonl"
    path.write_bytes(b"\n".join(lines))
    return [issue.source.line for issue in lines_naming(q_id, issues_of(*lines), path)]


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        (b'{"event": "x", "q_id":"Q9", "q": "cut he', True),
        (b'{"qid" : "Q9"', True),
        (b'{"q_id": "Q98"', False),
        (b'{"q": "about Q9"', False),
        (b'{"not_q_id": "Q9"', False),
        (b'{"x": "' + b"a" * READ_BYTES + b'", "q_id": "Q9"', False),
    ],
)
def test_a_line_names_a_question_by_its_id(tmp_path: Path, line: bytes, is_named: bool) -> None:
    assert naming(tmp_path, "Q9", b"{", line) == ([2] if is_named else [])


def test_an_id_may_be_written_with_or_without_escapes(tmp_path: Path) -> None:
    lines = b'{"q_id": "\\u00d6l (1)"', '{"q_id": "Öl (1)"'.encode()
    assert naming(tmp_path, "Öl (1)", *lines) == [1, 2]


def test_a_bounded_number_is_reported_and_a_lost_file_names_nothing(tmp_path: Path) -> None:
    lines = [b'{"q_id": "Q9"'] * (MAX_LINES + 4)
    assert naming(tmp_path, "Q9", *lines) == [*range(1, MAX_LINES + 1)]
    assert lines_naming("Q9", issues_of(*lines), tmp_path / "gone") == []


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=40))
def test_any_id_can_be_looked_for(tmp_path_factory: pytest.TempPathFactory, q_id: str) -> None:
    folder = tmp_path_factory.mktemp("lines")
    assert naming(folder, q_id, b"{}") == []
