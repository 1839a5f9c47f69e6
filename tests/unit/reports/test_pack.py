"""An evidence pack of the demo: its parts, its size, and boxes that are the dashboard's."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from proofspan.contracts.records.records import SourceLine
from proofspan.diagnosis.types import profile_from
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.gate import release_verdict
from proofspan.services.pack.crops import region_around
from proofspan.services.page.shapes import PageSpan
from proofspan.services.page.target import Target, choose, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.view import QuestionView, load_question
from proofspan.store.index.labelling import read_led_chunks
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.traces import read_trace_at
from proofspan.traces.separate.join_cache import trace_file
from tests.places import DEMO
from tests.unit.reports.pack_room import RUN, Element, Parsed, Room

QUESTIONS = 41
MOST_BYTES = 8_000_000


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, checked: Callable[[Path], Path], pool: PdfPool) -> Room:
    return Room.of(tmp_path_factory.mktemp("pack") / "cache", checked, pool)


@pytest.fixture(scope="module")
def page(room: Room) -> str:
    page, report = room.pack()
    assert (report.questions, report.whole, report.problems) == (QUESTIONS, QUESTIONS, ())
    return page


@pytest.fixture(scope="module")
def parsed(page: str) -> Parsed:
    return Parsed.of(page)


def test_it_has_every_question_and_is_small(page: str, parsed: Parsed, room: Room) -> None:
    assert len(parsed.questions) == QUESTIONS and len(page.encode()) <= MOST_BYTES
    assert all(
        any(each.tag == "figure" for each in own) for q_id, own in parsed.questions.items() if q_id[0] == "Q"
    )
    flips = [each.attributes["data-flip"] for each in parsed.elements if each.attributes.get("class") == "q"]
    by = Filter(RUN, vs="R004", outcome="correct_answers")
    counted = Store(load_manifest(DEMO), room.cache).flips(by)
    assert (flips.count("fixed"), flips.count("regressed")) == (counted.fixed, counted.regressed)
    assert "(95 % interval)" in page and "paired over 37 questions" in page


def test_its_release_check_is_that_of_the_gate(page: str, room: Room) -> None:
    manifest = load_manifest(DEMO)
    verdict = release_verdict(Store(manifest, room.cache), manifest, RUN, against="R004")
    assert f"{verdict.words}</span>" in page and verdict.counts_in_words() in page


def test_its_policy_allows_its_own_style_and_script_alone(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    directives = dict(each.split(" ", 1) for each in policy.split("; "))
    assert directives["default-src"] == "'none'" and directives["img-src"] == "data:"
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert directives[f"{tag}-src"] == f"'sha256-{digest}'"
    assert not re.search(r"\sstyle=|\son\w+=|https?://", page)


def test_equal_files_give_equal_bytes(page: str, room: Room) -> None:
    assert room.pack()[0] == page


def views(manifest: Manifest, room: Room) -> dict[str, QuestionView]:
    """The questions of the run as the dashboard loads them."""
    store = Store(manifest, room.cache)
    assert manifest.chunks is not None and manifest.gold is not None
    chunks = read_led_chunks(manifest, manifest.chunks, cache_dir=room.cache)[0]
    gold = read_gold(DEMO / manifest.gold.path, file=manifest.gold.path)[0]
    run = manifest.run(RUN)
    assert run is not None
    path, found = trace_file(manifest, run, cache_dir=room.cache).needed_path, {}
    for row in store.page(Filter(RUN), Sort(), limit=QUESTIONS, offset=0).to_dict("records"):
        source = SourceLine(row["file"], row["line"], row["offset"], row["length"])
        trace = read_trace_at(path, source, run_id=RUN, q_id=row["q_id"])
        profile, unpaged = profile_from(manifest.triage), manifest.unpaged
        found[row["q_id"]] = load_question(
            trace, chunks=chunks, gold=gold, corpus=None, profile=profile, unpaged=unpaged
        )
    return found


def test_the_boxes_are_those_of_the_dashboard(parsed: Parsed, room: Room) -> None:
    """The first page of each question is the one that the dashboard opens with."""
    manifest, compared = load_manifest(DEMO), 0
    for q_id, view in views(manifest, room).items():
        targets = targets_of(view)
        chosen = choose(targets)
        own = parsed.questions[q_id]
        pages = [place for place, each in enumerate(own) if each.tag == "figure"]
        if chosen is None:
            assert not pages
            continue
        shown = locate_view(chosen, targets, manifest=manifest, placer=room.placer)
        first = own[pages[0] : pages[1] if len(pages) > 1 else None]
        boxes = [each.attributes for each in first if each.tag == "rect" and "data-span" in each.attributes]
        named = [(each["data-span"], numbers(each)) for each in boxes]
        wanted = [(each.id, box) for each in shown.spans for box in (*each.rects, *each.extent)]
        assert [each for each in named if each[0].partition(":")[0] not in ("claim", "mark")] == wanted
        compared += len(wanted)
        if shown.image is not None and wanted:
            assert_inside(first, shown.image.page.width)
    assert compared > 100


def numbers(attributes: dict[str, str]) -> tuple[float, ...]:
    sides = (attributes[name] for name in ("x", "y", "width", "height"))
    return tuple(float(side.removesuffix("%")) for side in sides)


def assert_inside(first: Sequence[Element], width: float) -> None:
    """The layer of the boxes covers the whole page, of which the picture is a part."""
    picture, boxes = (
        next(each.attributes for each in first if each.attributes.get("class") == name)
        for name in ("page", "boxes")
    )
    left, _, across, down = map(float, picture["viewbox"].split())
    x, y, whole, height = numbers(boxes)
    assert x <= 0.5 and y <= 0.5 and x + whole >= left + across - 0.5 and y + height >= down - 0.5
    assert whole == pytest.approx(width / 72 * 110, rel=0.01) or whole == pytest.approx(
        width / 72 * 64, rel=0.01
    )


def test_a_region_holds_its_boxes_and_is_never_narrow() -> None:
    target = Target("cited", 1, "d", SpanQuery("x", 0))
    for box in [(0.0, 0.0, 5.0, 1.0), (90.0, 95.0, 10.0, 5.0), (10.0, 20.0, 80.0, 70.0)]:
        view = PageView(target, spans=(PageSpan("cite:1", "cited", (), (box,), chosen=True),))
        left, top, width, height = region_around(view, ())
        assert left <= box[0] and top <= box[1] and min(left, top) >= 0
        assert box[0] + box[2] <= left + width <= 100.001 and box[1] + box[3] <= top + height <= 100.001
        assert width > 30 and height > 9
    assert region_around(PageView(target), ()) == (0, 0, 100, 100)
