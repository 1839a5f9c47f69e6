"""Any bytes are read as UTF-8 on request, in any pieces, with the lines that they have."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.mojibake import first_change, repaired
from proofspan.traces.lines.encodings import change_in, damage_of, fixed, fixed_line

#: Characters that damage is made of, and signs of JSON.
HARD = 'ÃÂâ€œ”’“™Îº»Œª√‚Äî\uf8ffü\x80\x9d\xa0é{}[]",:\\u00e9\n ab'


@given(st.binary(max_size=300), st.integers(1, 50))
@example(b"\xff\xfe{\x00\x00\xd8", 1)
@example(b"\x00\x00\x00", 1)
@example(b'{"a": "\\ud83d\\ude00\xc3\x83"}\n\xff', 2)
def test_any_bytes_become_utf_8(data: bytes, size: int) -> None:
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    try:
        whole = b"".join(fixed(pieces, where="f"))
    except InputFault as fault:
        assert [each.code for each in fault.problems] == ["not_utf8"]
        return
    whole.decode("utf-8")
    assert whole == b"".join(fixed([data], where="f"))


@given(st.text(alphabet=HARD, max_size=80))
def test_a_repair_ends_and_leaves_what_is_ascii(text: str) -> None:
    again = repaired(text)
    assert again.text == text or again.encoding is not None
    assert [char for char in again.text if char.isascii()] == [char for char in text if char.isascii()]
    assert (first_change(text) is None) == (again.encoding is None)
    line = text.replace("\n", " ").encode()
    assert (change_in(line) is None) == (fixed_line(line) == line)


def test_long_lines_are_read_to_their_ends(tmp_path: Path) -> None:
    size = 20_000
    wrong = "â€œ Ã© " * size + "é» √π≈ Ã üì \\u00c3\\u00a9"
    assert fixed_line(wrong.encode()).decode() == "“ é " * size + "é» √π≈ Ã üì é"
    (tmp_path / "t").write_bytes("é» ".encode() * 100_000)
    assert damage_of(tmp_path / "t", file="t") is None
