"""One stop of a walkthrough: a stored bundle is shown while it is true, else one that is built now."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.contracts.records.records import AttachmentKind, SourceLine, Trace, TraceKey
from proofspan.errors import InputFault
from proofspan.evidence.bundles import BundleAttachment, sealed
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.bundles.build import line_of, load_sources
from proofspan.services.bundles.report import Earlier
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import Materials, Slide, Stop, scene_of, slide_of
from proofspan.services.documents.document_cache import Placer
from proofspan.traces.records.traces import iter_traces
from tests.bundle_room import JACK, QUOTE, bundles_from, cites, jsonl, sources_of, trace, write_workspace
from tests.pdf_files import write_pages

Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(workers=1) as pool:
        yield pool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    write_workspace(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def materials(folder: Path, pool: PdfPool, records: list[Any], stored: list[Any] | None = None) -> Materials:
    """Return the sources of a run of these traces, with a file of these bundles if there are any."""
    (folder / "traces.jsonl").write_bytes(jsonl(records))
    manifest = load_manifest(folder)
    sources, _ = load_sources(manifest, pool)
    bundles = StoredBundles()
    if stored is not None:
        (folder / "bundles.jsonl").write_bytes(jsonl(stored))
        bundles = StoredBundles.of(folder / "bundles.jsonl", file="bundles.jsonl", run_id="R1")
    return Materials(
        manifest=manifest,
        pool=pool,
        placer=Placer(pool),
        chunks=sources.chunks,
        catalogue=sources.catalogue,
        corpus=None,
        stored=bundles,
        traces=folder / "traces.jsonl",
    )


def built(folder: Path, pool: PdfPool, *records: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of the bundles that these traces have, as a command writes them."""
    bundles = bundles_from(records, sources_of(load_manifest(folder), pool))
    return [orjson.loads(line_of(each, Earlier())[1]) for each in bundles]


def stops(given: Materials) -> list[Stop]:
    assert given.traces is not None
    found = iter_traces(given.traces, file="traces.jsonl", run_id="R1")
    traces = [each for each in found if isinstance(each, Trace)]
    return [Stop(TraceKey("R1", each.q_id), each.source, each.q, False) for each in traces]


def only(given: Materials) -> Slide:
    (stop,) = stops(given)
    return slide_of(stop, given)


def test_a_stored_bundle_is_shown_as_it_was_built(folder: Path, pool: PdfPool) -> None:
    record = built(folder, pool, trace())[0] | {"level_reason": "Built yesterday."}
    slide = only(materials(folder, pool, [trace()], [sealed(record)]))
    assert (slide.bundle.level_reason, slide.outdated) == ("Built yesterday.", "")
    assert slide.known["cite:1"].status == "exact"


def test_without_a_file_of_bundles_one_is_built_without_a_note(folder: Path, pool: PdfPool) -> None:
    slide = only(materials(folder, pool, [trace()]))
    assert (slide.bundle.level, slide.outdated) == ("full", "")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda record: record.update(answer="Something else."), "not that of its trace"),
        (lambda record: record.update(run_id="R9"), "it belongs to run R9"),
        (lambda record: record["documents"][0].update(sha256="0" * 64), "is not the file that"),
        (lambda record: record["documents"][0].update(doc_id="lost"), "does not list its document lost"),
        (lambda record: record.update(level="best"), "`level`: "),
        (lambda record: record.update(bundle_version="1.2"), "it is of version 1.2, before 1.3"),
    ],
)
def test_a_bundle_that_is_not_true_any_more_is_built_now(
    folder: Path, pool: PdfPool, change: Change, expected: str
) -> None:
    (record,) = built(folder, pool, trace())
    record["citation"]["found"]["rects"] = [[0.0, 0.0, 5.0, 5.0]]
    change(record)
    slide = only(materials(folder, pool, [trace()], [sealed(record)]))
    assert expected in slide.outdated
    assert slide.known["cite:1"].rects != ((0.0, 0.0, 5.0, 5.0),), "a box of another edition is never drawn"
    assert slide.bundle.level == "full"


def test_a_bundle_that_was_changed_after_it_was_written_is_built_now(folder: Path, pool: PdfPool) -> None:
    (record,) = built(folder, pool, trace())
    record["citations"][0]["found"]["rects"] = [[0.0, 0.0, 5.0, 5.0]]
    slide = only(materials(folder, pool, [trace()], [record]))
    assert "changed after it was written" in slide.outdated
    assert slide.known["cite:1"].rects != ((0.0, 0.0, 5.0, 5.0),)


def test_another_edition_of_the_document_is_placed_again(folder: Path, pool: PdfPool) -> None:
    stored = built(folder, pool, trace())
    write_pages(folder / "manual.pdf", [["A new first page"], ["Some words"], ["Others", "and", QUOTE]])
    slide = only(materials(folder, pool, [trace()], stored))
    assert "is not the file that" in slide.outdated
    assert slide.known["cite:1"].page_idx == 2


def test_a_broken_line_and_a_missing_bundle_are_reported(folder: Path, pool: PdfPool) -> None:
    stored = built(folder, pool, trace("Q2"))
    slide = only(materials(folder, pool, [trace("Q1")], [b'{"q_id": "Q1"', *stored]))
    assert slide.outdated.startswith("the run's stored bundles do not include this question; 1 line can't")
    assert "line 1" in slide.outdated


def test_of_two_bundles_of_a_trace_the_first_counts_and_levels_are_known(folder: Path, pool: PdfPool) -> None:
    first, second = built(folder, pool, trace("Q1"), trace("Q2", chunks=[], citations=[], answer="No."))
    stored = materials(folder, pool, [trace()], [first, second, first | {"level": "text_only"}]).stored
    assert stored.levels == {TraceKey("R1", "Q1"): "full", TraceKey("R1", "Q2"): "text_only"}
    assert stored.lines[TraceKey("R1", "Q1")].line == 1


def test_a_file_of_bundles_that_changed_since_it_was_read_is_not_believed(
    folder: Path, pool: PdfPool
) -> None:
    given = materials(folder, pool, [trace()], built(folder, pool, trace()))
    (folder / "bundles.jsonl").write_bytes(b"{}\n" * 99)
    slide = only(given)
    assert slide.outdated.startswith("its stored bundle can't be read: ")
    assert slide.bundle.level == "full"


def test_a_trace_that_is_gone_is_a_fault(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace()])
    stop = Stop(TraceKey("R1", "Q1"), SourceLine("traces.jsonl", 7, 7_000, 10), "", False)
    with pytest.raises(InputFault):
        slide_of(stop, given)


def test_the_scene_shows_the_citation_asked_for_and_what_belongs_to_it(folder: Path, pool: PdfPool) -> None:
    two = [
        {"chunk_id": JACK, "doc_id": "manual", "page": 2, "quote": QUOTE},
        {"doc_id": "manual", "page": 3, "quote": "Tighten the wheel nuts to 120 Nm."},
    ]
    given = materials(folder, pool, [trace(citations=two)])
    slide = only(given)
    first, second = scene_of(slide, given), scene_of(slide, given, cite=2)
    assert first.page is not None and second.page is not None
    assert (first.page.target.id, first.page.page_idx) == ("cite:1", 1)
    assert (second.page.target.id, second.page.page_idx) == ("cite:2", 2)
    assert [span.id for span in second.page.spans] == ["cite:2"]
    kinds = [(item.attachment.kind, drawing is not None) for item, drawing in first.exhibits]
    assert kinds == [("warning", False), ("image", True)]
    assert first.hidden == 0


def test_a_page_beyond_the_document_is_a_problem_and_no_fault(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace()])
    shown = scene_of(only(given), given, page=900).page
    assert shown is not None and shown.problem is not None
    assert shown.problem.code == "page_out_of_range"


@pytest.mark.parametrize("doc_id", ["gone", "cut", "nobody"])
def test_a_document_that_is_not_there_leaves_the_question_and_the_reason(
    folder: Path, pool: PdfPool, doc_id: str
) -> None:
    given = materials(folder, pool, [cites(doc_id=doc_id, page=1, quote=QUOTE)])
    slide = only(given)
    assert slide.bundle.level == "text_only"
    scene = scene_of(slide, given)
    assert scene.page is not None and scene.page.problem is not None


def test_nothing_retrieved_and_nothing_cited_has_no_page(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace(citations=[], chunks=[], answer="I can't say.")])
    scene = scene_of(only(given), given)
    assert (scene.page, scene.slide.bundle.level, scene.exhibits) == (None, "text_only", ())


def test_an_answer_that_cites_nothing_shows_the_closest_passage(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace(citations=[], answer="not in context")])
    scene = scene_of(only(given), given)
    assert scene.page is not None
    assert (scene.page.target.kind, scene.page.target.tag, scene.page.page_idx) == ("retrieved", "rank 1", 1)


def named(item: BundleAttachment, name: str, kind: AttachmentKind, **more: Any) -> BundleAttachment:
    """The attachment under another name and of another kind."""
    return replace(item, attachment=replace(item.attachment, attachment_id=name, kind=kind), **more)


def test_of_many_attachments_a_dozen_notices_and_pictures_are_shown_at_once(
    folder: Path, pool: PdfPool
) -> None:
    given = materials(folder, pool, [trace()])
    slide = only(given)
    (warning,) = slide.bundle.safety_attachments
    (image,) = slide.bundle.media_attachments
    notes = (named(warning, f"n{n}", "note") for n in range(30))
    many = replace(
        slide.bundle,
        safety_attachments=(*notes, warning),
        media_attachments=(image,) * 30,
    )
    scene = scene_of(replace(slide, bundle=many), given)
    assert (len(scene.exhibits), scene.hidden) == (24, 37)
    assert scene.exhibits[0][0].attachment.kind == "warning", "the gravest notice comes first"
    assert scene_of(replace(slide, bundle=many), given, more=2).hidden == 0


def test_what_lies_beside_the_cited_place_comes_after_what_lies_there(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace()])
    slide = only(given)
    (warning,) = slide.bundle.safety_attachments
    (image,) = slide.bundle.media_attachments
    safety = (
        named(warning, "next", "warning", by="page", pages_away=1),
        named(warning, "note", "note", by="section", pages_away=2),
        named(warning, "here", "caution", by="page", pages_away=0),
    )
    media = (named(image, "after", "image", by="page", pages_away=1), image)
    bundle = replace(slide.bundle, safety_attachments=safety, media_attachments=media)
    shown = scene_of(replace(slide, bundle=bundle), given).exhibits
    names = [item.attachment.attachment_id for item, _ in shown]
    assert names == ["here", "note", "next", image.attachment.attachment_id, "after"]
    assert [item.is_beside for item, _ in shown] == [False, False, True, False, True]


def test_an_answer_of_a_hundred_thousand_characters_is_a_bundle_too(folder: Path, pool: PdfPool) -> None:
    given = materials(folder, pool, [trace(answer="word " * 30_000)])
    assert only(given).bundle.answer == ("word " * 30_000)[:100_000]
