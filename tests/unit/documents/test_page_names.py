"""Names of pages: the printed number where it is known, and the number in the PDF."""

from __future__ import annotations

import pytest

from proofspan.wording import page_tip, page_words, with_printed

LABELS = ("i", "ii", "1", "2", "")


@pytest.mark.parametrize(
    ("page_idx", "printed", "expected"),
    [
        (0, None, "PDF page 1"),
        (1_299, "", "PDF page 1,300"),
        (25, "18", "p. 18 (PDF 26)"),
        (65, " A- 3\n", "p. A- 3 (PDF 66)"),
    ],
)
def test_a_page_has_its_printed_number_first(page_idx: int, printed: str | None, expected: str) -> None:
    assert page_words(page_idx, printed) == expected


def test_the_tip_has_the_number_of_files() -> None:
    assert page_tip(0) == "page_idx 0 · PDF page 1"
    assert page_tip(41, 1_200) == "page_idx 41 · PDF page 42 of 1,200"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The passage on PDF page 3 was lost.", "The passage on p. 1 (PDF 3) was lost."),
        ("PDF page 4, cited PDF page 1", "p. 2 (PDF 4), cited p. i (PDF 1)"),
        ("it says 1.0 (PDF page 4).", "it says 1.0 (p. 2, PDF 4)."),
        ("PDF pages 2–4", "pp. ii–2 (PDF 2–4)"),
        ("PDF pages 4–5", "PDF pages 4–5"),
        ("PDF pages 1, 3–4 · fails", "pp. i, 1–2 (PDF 1, 3–4) · fails"),
        ("PDF pages 1 to 4, in part", "pp. i to 2 (PDF 1 to 4), in part"),
        ("PDF pages 1, 5", "PDF pages 1, 5"),
        ("PDF page 5 and PDF page 6", "PDF page 5 and PDF page 6"),
        ("PDF page 1,300", "PDF page 1,300"),
    ],
)
def test_a_page_without_a_printed_number_is_named_as_before(text: str, expected: str) -> None:
    assert with_printed(text, LABELS) == expected
    assert with_printed(text, ()) == text
