"""The cache of located spans and pages, and shapes over a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import EvidenceFault
from proofspan.evidence.types import SpanQuery
from proofspan.recent import Recent
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import blocks, rows, shapes
from tests.unit.question.question_room import Source


def test_a_text_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("one two three four")
    placer = Placer(Source())
    first = placer.text(path)
    assert placer.text(path) is first
    assert placer.locate_in_text(path, [SpanQuery("two three")])[0].status == "exact"
    path.write_text("changed")
    assert placer.text(path).text == "changed"
    assert placer.locate_in_text(path, [SpanQuery("two three")])[0].status == "not_found"


def test_what_is_known_is_not_asked_again_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "d.pdf"
    path.write_bytes(b"one")
    source = Source()
    placer = Placer(source)
    queries = [SpanQuery("a", 0), SpanQuery("b", 0), SpanQuery("a", 0)]
    first = placer.locate(path, queries)
    assert placer.locate(path, queries) == first
    assert [query.quote for query in source.asked] == ["a", "b"]
    placer.page(path, 0)
    placer.page(path, 0)
    path.write_bytes(b"other")
    placer.page(path, 0)
    assert source.rendered == [0, 0]


def test_a_lost_file_is_a_fault() -> None:
    with pytest.raises(EvidenceFault, match="does not exist"):
        Placer(Source()).document(Path("/nowhere/at/all.pdf"))


def test_the_oldest_unused_value_makes_room() -> None:
    recent: Recent[int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)


def test_a_paragraph_becomes_a_block_with_a_stub_at_each_end() -> None:
    lines = [
        (50.0, 0.0, 100.0, 10.0),
        (0.0, 11.0, 100.0, 21.0),
        (0.0, 22.0, 98.0, 32.0),
        (0.0, 33.0, 40.0, 43.0),
    ]
    assert blocks(lines) == [(50, 0, 100, 10.5), (0, 10.5, 100, 32.5), (0, 32.5, 40, 43)]


def test_cells_of_a_row_and_columns_stay_apart() -> None:
    cells = [(0.0, 0.0, 20.0, 10.0), (50.0, 0.0, 70.0, 10.0), (0.0, 100.0, 20.0, 110.0)]
    assert blocks(cells) == cells


def test_a_region_takes_the_cells_of_a_row_together_and_no_column() -> None:
    label, figure = (0.0, 0.0, 20.0, 10.0), (50.0, 1.0, 70.0, 9.0)
    assert rows([label, figure, (0.0, 12.0, 20.0, 22.0)]) == [(0, 0, 70, 10), (0, 12, 20, 22)]
    assert rows([figure, label]) == [figure, label]


LINE_BOXES = st.lists(
    st.tuples(st.integers(0, 80), st.integers(0, 200), st.integers(1, 100), st.integers(5, 15)).map(
        lambda v: (float(v[0]), float(v[1]), float(v[0] + v[2]), float(v[1] + v[3]))
    ),
    max_size=12,
)


@given(LINE_BOXES)
def test_shapes_stay_on_the_picture_and_lose_no_line(lines: list[tuple[float, float, float, float]]) -> None:
    image = Source().show(Path("x"), 0, with_words=False)
    made = shapes(lines, image)
    for left, top, width, height in made:
        assert left >= 0 and top >= 0 and left + width <= 100.001 and top + height <= 100.001
    assert bool(made) == any(line[0] < 100 and line[1] < 200 for line in lines)
