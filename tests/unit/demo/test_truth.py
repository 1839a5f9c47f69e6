"""The demo's truth is in its documents, exactly where it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pymupdf
import pytest

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan
from proofspan.contracts.records.render_ref import parse_render_ref
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.services.documents.document_cache import Placer
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from tests.places import DEMO

pytestmark = pytest.mark.slow

MANUAL, BULLETIN = DEMO / "corpus/meridian-2026.pdf", DEMO / "corpus/bulletin-07.md"
#: What the questions are about: cruise control, door locks, engine oil, tyres and so on.
MAIN_SECTIONS = ("2", "3.2", "4.4", "5.4", "7.1", "7.3", "8", "9.1", "9.4", "10")
Box = tuple[float, float, float, float]


@pytest.fixture(scope="module")
def manual() -> Iterator[pymupdf.Document]:
    with pymupdf.open(MANUAL) as document:
        yield document


@pytest.fixture(scope="module")
def placer() -> Iterator[Placer]:
    with PdfPool(workers=1) as pool:
        yield Placer(pool)


def _chunks() -> dict[str, Chunk]:
    chunks, issues = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    assert not issues
    return dict(chunks)


def _gold() -> dict[str, GoldQuestion]:
    gold, issues = read_gold(DEMO / "gold/goldset.jsonl", file="goldset.jsonl")
    assert not issues
    return dict(gold)


def _catalogue() -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (DEMO / "corpus/catalogue.jsonl").read_bytes().splitlines()]


def _main_section(section: str) -> str:
    main = (name for name in MAIN_SECTIONS if section == name or section.startswith(f"{name}."))
    return next(main, "bulletin")


def _spans() -> list[tuple[str, int, GoldSpan]]:
    return [(q_id, n, span) for q_id, known in _gold().items() for n, span in enumerate(known.spans)]


def _letters(text: str) -> str:
    """Return letters and figures alone, without white space and ligatures."""
    for ligature, letters in (("ﬁ", "fi"), ("ﬂ", "fl")):
        text = text.replace(ligature, letters)
    return "".join(filter(str.isalnum, text))


def _inside(page: pymupdf.Page, box: Box, by: float = 1.5) -> str:
    """The words whose middle lies in a box, in the order of the content."""
    x0, y0, x1, y1 = box[0] - by, box[1] - by, box[2] + by, box[3] + by
    words = page.get_text("words", sort=False)
    return " ".join(
        word[4]
        for word in words
        if x0 <= (word[0] + word[2]) / 2 <= x1 and y0 <= (word[1] + word[3]) / 2 <= y1
    )


def test_the_questions_are_those_that_the_sprint_names() -> None:
    gold = _gold()
    assert list(gold) == [*(f"Q{n}" for n in range(74, 111)), "U1", "U2", "U3", "U4"]
    assert [q_id for q_id, known in gold.items() if not known.answerable] == ["U1", "U2", "U3", "U4"]
    sections = Counter(_main_section(known.sections[0]) for known in gold.values() if known.answerable)
    assert sections.pop("bulletin") == 2
    assert {*sections} == {*MAIN_SECTIONS} and all(3 <= count <= 5 for count in sections.values())
    for known in gold.values():
        assert len(known.paraphrases) == 2
        if known.answerable:
            assert known.sections and known.decoy_sections and known.anchor and known.spans
            assert not {*known.sections} & {*known.decoy_sections}
            assert any(_letters(known.anchor) in _letters(span.quote) for span in known.spans), known.q_id


def test_two_questions_need_the_bulletin() -> None:
    needing = {q_id for q_id, _, span in _spans() if span.doc_id == "bulletin-07"}
    assert needing == {"Q85", "Q98"}


@pytest.mark.parametrize(("q_id", "number", "span"), _spans(), ids=lambda value: str(value)[:4])
def test_the_product_places_every_gold_span_where_it_truly_is(
    q_id: str, number: int, span: GoldSpan, placer: Placer, manual: pymupdf.Document
) -> None:
    query = SpanQuery(span.quote, span.page_idx, span.offsets)
    if span.doc_id == "bulletin-07":
        (found,) = placer.locate_in_text(BULLETIN, [query])
        assert span.offsets is not None
        assert found.status == "exact"
        assert [(each.start, each.end) for each in found.ranges] == [(span.offsets.start, span.offsets.end)]
        return
    (found,) = placer.locate(MANUAL, [query])
    assert found.status in ("exact", "normalized"), f"{q_id}: {found.status}"
    assert (found.page_idx, found.page_mismatch) == (span.page_idx, False)
    page = manual[span.page_idx or 0]
    assert _letters("".join(_inside(page, box, by=0) for box in found.rects)) == _letters(span.quote)
    chunk = _chunks()[_gold()[q_id].chunks[min(number, len(_gold()[q_id].chunks) - 1)]]
    parts = [part["bbox"] for part in chunk.raw.get("parts", ()) if part["page_idx"] == span.page_idx]
    x0, y0, x1, y1 = parts[0] if parts else chunk.box or (0, 0, 0, 0)
    for box in found.rects:
        assert x0 - 2 <= box[0] and y0 - 3 <= box[1] and box[2] <= x1 + 2 and box[3] <= y1 + 3, q_id


def test_every_chunk_is_in_its_boxes(manual: pymupdf.Document) -> None:
    for chunk in _chunks().values():
        if chunk.doc_id != "meridian-2026":
            continue
        parts = parse(chunk.chunk_id)
        assert parts is not None and parts.page_idx == chunk.page_idx is not None and chunk.box is not None
        boxes = chunk.raw.get("parts") or [{"page_idx": chunk.page_idx, "bbox": chunk.box}]
        assert boxes[0]["page_idx"] == chunk.page_idx
        held = _letters("".join(_inside(manual[part["page_idx"]], part["bbox"]) for part in boxes))
        first, last = (_letters(chunk.text.split()[place]) for place in (0, -1))
        assert first in held and last in held, chunk.chunk_id


def test_the_chunks_of_the_bulletin_are_its_own_text() -> None:
    text = BULLETIN.read_text(encoding="utf-8")
    found = [chunk for chunk in _chunks().values() if chunk.doc_id == "bulletin-07"]
    assert len(found) > 5
    for chunk in found:
        assert chunk.offsets is not None
        assert text[chunk.offsets.start : chunk.offsets.end] == chunk.text
        parts = parse(chunk.chunk_id)
        assert parts is not None and parts.page == 0


def test_the_catalogue_names_boxes_figures_tables_and_symbols_where_they_are(
    manual: pymupdf.Document,
) -> None:
    catalogue = _catalogue()
    kinds = Counter(entry["kind"] for entry in catalogue)
    assert {"warning", "caution", "note", "image", "table", "symbol"} == {*kinds}
    symbols = {entry["caption"] for entry in catalogue if entry["kind"] == "symbol"}
    assert len(symbols) >= 24
    assert len({entry["attachment_id"] for entry in catalogue}) == len(catalogue)
    for entry in catalogue:
        reference = parse_render_ref(entry["render_ref"])
        assert reference is not None, entry["attachment_id"]
        page = manual[entry["page_idx"]]
        x0, y0, x1, y1 = entry["bbox"]
        assert 0 <= x0 < x1 <= page.cropbox.width + 1 and 0 <= y0 < y1, entry["attachment_id"]
        if entry["kind"] in ("warning", "caution", "note"):
            assert _letters(_inside(page, entry["bbox"])).startswith(entry["kind"].upper())
            assert _letters(entry["text"].split()[-1]) in _letters(_inside(page, entry["bbox"]))


def test_the_pages_three_numbers_all_differ(manual: pymupdf.Document) -> None:
    labels = [page.get_label() for page in manual]
    assert len(labels) >= 60
    assert labels[:4] == ["i", "ii", "iii", "iv"]
    assert not [label for page_idx, label in enumerate(labels) if label in (str(page_idx), str(page_idx + 1))]


def test_the_same_sentence_is_in_two_sections() -> None:
    sentence = "Have the wheel bolt torque of 110 Nm checked after 50 km."
    holding = {chunk.section_id for chunk in _chunks().values() if sentence in chunk.text}
    assert holding == {"8.3", "8.4"}


def test_a_build_leaves_no_file_without_use() -> None:
    manifest = (DEMO / "pipeline_manifest.yaml").read_text(encoding="utf-8")
    files = {path.relative_to(DEMO).as_posix() for path in DEMO.rglob("*") if path.is_file()}
    loose = {name for name in files if name not in manifest}
    assert loose == {"pipeline_manifest.yaml", "FAULTS.md"}
    assert Path(DEMO / "FAULTS.md").stat().st_size > 1_000
