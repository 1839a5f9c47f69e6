"""`render_ref`: what to draw for an attachment, read strictly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.render_ref import FileRef, PageRef, RenderRef, parse_render_ref

SIDES = st.floats(0, 99_999).map(lambda side: round(side, 3))
BOXES = (
    st.tuples(SIDES, SIDES, SIDES, SIDES)
    .map(lambda box: (min(box[0], box[2]), min(box[1], box[3]), max(box[0], box[2]), max(box[1], box[3])))
    .filter(lambda box: box[0] < box[2] and box[1] < box[3])
)
PRINTABLE = st.characters(exclude_categories=("Cc", "Cs"))
DOC_IDS = st.text(PRINTABLE, min_size=1, max_size=40) | st.sampled_from(
    ["a#page_idx=1&bbox=0,0,1,1", "#", "a&b=c", "ü 7", "pdf:x"]
)


def written(ref: RenderRef) -> str:
    """Return the text of a reference, boxes to a millionth of a point."""
    if isinstance(ref, FileRef):
        return f"file:{ref.path}"
    sides = (f"{side:.6f}".rstrip("0").rstrip(".") for side in ref.box)
    return f"pdf:{ref.doc_id}#page_idx={ref.page_idx}&bbox={','.join(sides)}"


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("file:media/icd_engine.png", FileRef("media/icd_engine.png")),
        ("file:a b.png", FileRef("a b.png")),
        ("file:%2e%2e/a.png", FileRef("%2e%2e/a.png")),
        ("pdf:m-2026#page_idx=41&bbox=72,140,320,260", PageRef("m-2026", 41, (72.0, 140.0, 320.0, 260.0))),
        ("pdf:m#page_idx=0&bbox=0,0.5,12.25,842", PageRef("m", 0, (0.0, 0.5, 12.25, 842.0))),
    ],
)
def test_both_forms_are_read_and_written_again(text: str, ref: FileRef | PageRef) -> None:
    assert parse_render_ref(text) == ref
    assert written(ref) == text


@given(st.builds(PageRef, DOC_IDS, st.integers(0, 9_999_999), BOXES))
def test_every_region_of_a_page_reads_back(ref: PageRef) -> None:
    assert parse_render_ref(written(ref)) == ref


@given(st.lists(st.text(st.sampled_from("abcü7 -_.#&="), min_size=1, max_size=8), min_size=1, max_size=4))
def test_every_file_reads_back_or_is_refused(segments: list[str]) -> None:
    ref = parse_render_ref("file:" + "/".join(segments))
    if any(segment in (".", "..") for segment in segments):
        assert ref is None
    else:
        assert isinstance(ref, FileRef)
        assert written(ref) == "file:" + "/".join(segments)


@given(st.text(max_size=60) | st.text("pdf:file#ge_ix=&bo0123,.-/e", max_size=60))
def test_whatever_is_read_is_what_was_written(text: str) -> None:
    ref = parse_render_ref(text)
    assert ref is None or parse_render_ref(written(ref)) == ref


@pytest.mark.parametrize(
    "text",
    [
        "",
        "media/icd.png",
        "http://example.invalid/x.png",
        "file:",
        "file:../secret.png",
        "file:media/../../secret.png",
        "file:/etc/passwd",
        "file://host/x",
        "file:~/x",
        "file:a\\..\\b",
        "file:C:/x",
        "file:a\nb",
        "file:" + "a" * 2_000,
        "FILE:a.png",
        " file:a.png",
        "pdf:#page_idx=1&bbox=0,0,1,1",
        "pdf:m#page_idx=-1&bbox=0,0,1,1",
        "pdf:m#page_idx=1.0&bbox=0,0,1,1",
        "pdf:m#page_idx=&bbox=0,0,1,1",
        "pdf:m#page_idx=99999999999&bbox=0,0,1,1",
        "pdf:m#page_idx=\u0661&bbox=0,0,1,1",
        "pdf:m#page_idx=1",
        "pdf:m#bbox=0,0,1,1&page_idx=1",
        "pdf:m#page_idx=1&bbox=0,0,1",
        "pdf:m#page_idx=1&bbox=0,0,1,1,1",
        "pdf:m#page_idx=1&bbox=nan,0,1,1",
        "pdf:m#page_idx=1&bbox=0,0,inf,1",
        "pdf:m#page_idx=1&bbox=0,0,1e3,1",
        "pdf:m#page_idx=1&bbox=-1,0,1,1",
        "pdf:m#page_idx=1&bbox=0,0,99999999,1",
        "pdf:m#page_idx=1&bbox=0,0,0,1",
        "pdf:m#page_idx=1&bbox=5,0,1,1",
        "pdf:m#page_idx=1&bbox=0,0,1,1\n",
        "pdf:m\n#page_idx=1&bbox=0,0,1,1",
        "pdf:" + "m" * 2_000 + "#page_idx=1&bbox=0,0,1,1",
    ],
)
def test_what_is_no_reference_is_not_parsed(text: str) -> None:
    assert parse_render_ref(text) is None


@pytest.mark.parametrize("text", ["pdf:" + "#page_idx=1&bbox=" * 5_000, "pdf:" + "1" * 100_000])
def test_a_hostile_text_is_answered_at_once(text: str) -> None:
    assert parse_render_ref(text) is None
