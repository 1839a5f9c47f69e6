"""From traces to bundles: the place that is shown, its attachments, and the problems."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.evidence.bundles import ValueProblem
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Manifest
from proofspan.services.bundles import build
from tests.bundle_room import (
    CATALOGUE,
    JACK,
    NUTS,
    OIL,
    QUOTE,
    cited,
    cites,
    one,
    trace,
    write_workspace,
)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return write_workspace(tmp_path_factory.mktemp("room"))


def test_a_cited_sentence_is_placed_with_what_belongs_to_it(manifest: Manifest, pool: PdfPool) -> None:
    made = one(trace(), manifest, pool)
    place = cited(made)
    assert (made.level, made.citation_origin, made.label) == ("full", "payload", "ok")
    assert (place.doc_id, place.section_number, place.page_idx, place.shown_page_idx) == (
        "manual",
        "4.2",
        1,
        1,
    )
    assert place.found is not None
    assert (place.found.status, place.found.page_mismatch, len(place.found.rects)) == ("exact", False, 1)
    assert [each.attachment.attachment_id for each in made.safety_attachments] == ["w-1"]
    assert [each.attachment.attachment_id for each in made.media_attachments] == ["i-1"]
    assert [(each.drawable, each.by, each.citation_number) for each in made.attachments] == [
        (True, "section", 1),
        (True, "section", 1),
    ]
    (document,) = made.documents
    assert (document.rev, document.sha256, document.problem) == (
        "8c1e9a02",
        manifest.documents[0].artifact.sha256,
        None,
    )


NOWHERE = (None, None, None)
MANUAL = {"doc_id": "manual", "quote": QUOTE}
NOTES = {"doc_id": "notes", "quote": "holds 0.4 litres"}
LOST = {"doc_id": "manual", "quote": "Nowhere at all"}
REPLACED_ID = JACK.replace("8c1e9a02", "77777777")

#: A lone citation → level; page, what gave it, page shown; codes of its problems.
CITATIONS: list[tuple[dict[str, Any], str, tuple[Any, ...], list[str]]] = [
    ({**MANUAL, "page_idx": 1}, "full", (1, "record", 1), []),
    ({**MANUAL, "page_idx": 2}, "full", (2, "record", 1), []),
    ({**MANUAL, "page_idx": -1}, "full", (1, "found", 1), ["page_unreadable"]),
    ({**MANUAL, "page_idx": "3"}, "full", (1, "found", 1), ["page_unreadable"]),
    ({**MANUAL, "page_idx": 3.5}, "full", (1, "found", 1), ["page_unreadable"]),
    ({**MANUAL, "page_idx": None}, "full", (1, "found", 1), []),
    ({**MANUAL, "page_idx": 3}, "full", (1, "found", 1), ["page_out_of_range"]),
    ({**MANUAL, "page": 0}, "full", (1, "found", 1), ["page_below_one"]),
    ({**MANUAL, "page_idx": 1, "page": 9}, "full", (1, "record", 1), ["pages_disagree"]),
    ({"doc_id": "manual", "page_idx": -1}, "text_only", NOWHERE, ["quote_missing", "page_unreadable"]),
    ({"doc_id": "manual"}, "text_only", NOWHERE, ["quote_missing", "page_missing"]),
    (LOST, "text_only", NOWHERE, ["page_missing"]),
    ({**LOST, "page_idx": 10**6}, "text_only", NOWHERE, ["page_out_of_range"]),
    ({**LOST, "page_idx": 1}, "safety_citation", (1, "record", 1), []),
    ({"doc_id": "manual", "page_idx": 0}, "safety_citation", (0, "record", 0), ["quote_missing"]),
    (
        {**MANUAL, "doc_id": "nobody", "page_idx": 1},
        "text_only",
        (1, "record", None),
        ["document_not_listed"],
    ),
    ({**MANUAL, "doc_id": "gone", "page_idx": 1}, "text_only", (1, "record", None), ["missing"]),
    ({**MANUAL, "doc_id": "cut", "page_idx": 0}, "text_only", (0, "record", None), ["not_a_pdf"]),
    ({"page_idx": 1, "quote": QUOTE}, "text_only", (1, "record", None), ["no_document"]),
    ({**MANUAL, "doc_id": "scan", "page_idx": 0}, "citation_only", (0, "record", 0), []),
    (NOTES, "full", (0, "text", 0), []),
    ({**NOTES, "page": 7}, "full", (0, "text", 0), ["page_out_of_range"]),
    ({**NOTES, "quote": "holds 5 litres of wine"}, "citation_only", (0, "text", 0), []),
    ({**LOST, "doc_id": "labelled", "page_label": "ii"}, "citation_only", (1, "label", 1), []),
    ({**LOST, "doc_id": "labelled", "page_label": "x"}, "text_only", NOWHERE, ["page_missing"]),
    ({"chunk_id": NUTS}, "full", (2, "record", 2), []),
    ({"chunk_id": OIL}, "full", (0, "text", 0), []),
    ({"chunk_id": "made-up"}, "text_only", NOWHERE, ["quote_missing", "no_document"]),
    ({**MANUAL, "page_idx": 1, "rev": "00ff00ff"}, "full", (1, "record", 1), ["rev_mismatch"]),
    ({"chunk_id": REPLACED_ID, "quote": QUOTE}, "full", (1, "chunk_id", 1), ["rev_mismatch"]),
]


@pytest.mark.parametrize(("citation", "level", "page", "codes"), CITATIONS, ids=repr)
def test_no_place_is_invented(
    citation: dict[str, Any],
    level: str,
    page: tuple[Any, ...],
    codes: list[str],
    manifest: Manifest,
    pool: PdfPool,
) -> None:
    made = one(cites(**citation), manifest, pool)
    (item,) = made.citations
    assert made.level == level
    assert (item.page_idx, item.page_idx_from, item.shown_page_idx) == page
    assert [problem.code for problem in item.problems] == codes
    assert made.citation == (item if level != "text_only" else None)
    assert made.citation_origin == ("payload" if level != "text_only" else "none")


def test_a_citation_that_leads_to_no_page_says_why(manifest: Manifest, pool: PdfPool) -> None:
    reason = "names a web page, which is not among the documents"
    (item,) = one(cites(quote=QUOTE, reason=reason), manifest, pool).citations
    assert [(each.code, each.message) for each in item.problems] == [
        ("no_document", f"the citation {reason}")
    ]
    (item,) = one(cites(doc_id="manual", page_idx=1, reason=f"names {'x' * 500}"), manifest, pool).citations
    assert item.problems[0].code == "quote_missing" and len(item.problems[0].message) < 250
    (item,) = one(cites(doc_id="manual", page_idx=1, reason=[1]), manifest, pool).citations
    assert item.problems[0].message == "there is no text to locate"


@pytest.mark.parametrize(
    ("value", "expected", "kept"),
    [
        (-1, "page_idx is -1, which is no page", -1),
        ("3", "page_idx is '3', which is no page", "3"),
        (3.5, "page_idx is 3.5, which is no page", 3.5),
        ([1], "page_idx is '[1]', which is no page", "[1]"),
        ("x" * 500, "page_idx is '" + "x" * 59 + "…, which is no page", "x" * 200 + "…"),
        (99, "page_idx 99 is beyond the end of manual, which has 3 pages", 99),
    ],
    ids=str,
)
def test_a_page_that_cannot_be_used_is_reported_with_its_value(
    value: Any, expected: str, kept: Any, manifest: Manifest, pool: PdfPool
) -> None:
    made = one(cites(**LOST, page_idx=value), manifest, pool)
    problem = made.citations[0].problems[-1]
    assert isinstance(problem, ValueProblem)
    assert (made.level, problem.value) == ("text_only", kept)
    assert expected in problem.message
    assert expected in made.level_reason


@pytest.mark.parametrize(
    ("citation", "section", "came_from"),
    [
        (
            {"doc_id": "manual", "page_idx": 1, "section_number": "4.2.1", "section_id": "s9"},
            "4.2.1",
            "section_number",
        ),
        ({"doc_id": "manual", "page_idx": 1, "section_number": 4.2}, "4.2", "section_number"),
        ({"chunk_id": NUTS}, "4.3", "section_number"),
        ({"chunk_id": JACK}, "4.2", "section_id"),
        ({**MANUAL, "section_id": "s9"}, "s9", "section_id"),
        (MANUAL, "p002", "page"),
        ({**MANUAL, "section_id": "p002"}, "p002", "page"),
        ({**MANUAL, "section_id": "p004"}, "p004", "section_id"),
        ({"doc_id": "notes", "quote": "litres"}, "p000", "page"),
    ],
    ids=repr,
)
def test_a_section_falls_back_to_its_page(
    citation: dict[str, Any], section: str, came_from: str, manifest: Manifest, pool: PdfPool
) -> None:
    item = cited(one(cites(**citation), manifest, pool))
    assert (item.section_number, item.section_number_from) == (section, came_from)


def test_the_first_citation_that_is_placed_is_shown(manifest: Manifest, pool: PdfPool) -> None:
    citations = [
        {"doc_id": "nobody", "page_idx": 0, "quote": "x"},
        {"doc_id": "scan", "page_idx": 0, "quote": "x"},
        {"doc_id": "manual", "page_idx": 2, "quote": "Tighten the wheel nuts"},
        {"doc_id": "manual", "page_idx": 1, "quote": QUOTE},
    ]
    made = one(trace(citations=citations), manifest, pool)
    assert cited(made).number == 3
    assert [item.number for item in made.citations] == [1, 2, 3, 4]
    without_text = one(trace(citations=citations[:2]), manifest, pool)
    assert (cited(without_text).number, without_text.level) == (2, "citation_only")


def test_citations_beside_the_one_that_is_placed_are_reported(manifest: Manifest, pool: PdfPool) -> None:
    nowhere = {"doc_id": "manual", "page_idx": 1, "quote": "No such words stand there."}
    placed = {"doc_id": "manual", "page_idx": 1, "quote": QUOTE}
    listed = [placed, nowhere, {"doc_id": "nobody", "page_idx": 1, "quote": QUOTE}]
    made = one(trace(citations=listed), manifest, pool)
    assert made.level == "full"
    sentence = "can be drawn. Not located: citation 2 (and 1 more) of 3: its text was not found."
    assert made.level_reason.endswith(sentence)
    made = one(trace(citations=[placed, listed[2]]), manifest, pool)
    sentence = "Not located: citation 2 of 2: it can't be shown: the workspace has no document nobody."
    assert made.level_reason.endswith(sentence)


@pytest.mark.parametrize(
    "place",
    [
        {"doc_id": "notes", "span": [1, 2]},
        {"doc_id": "manual", "page_idx": 1, "bbox": [1, 2, 30, 40], "bbox_space": "points"},
    ],
    ids=repr,
)
def test_a_place_without_a_text_says_so(place: dict[str, Any], manifest: Manifest, pool: PdfPool) -> None:
    made = one(cites(**place), manifest, pool)
    assert [problem.code for problem in cited(made).problems] == ["quote_missing"]


@pytest.mark.parametrize("answer", ["It is so.", "not in context", ""])
def test_an_answer_without_citations_shows_the_closest_passage(
    answer: str, manifest: Manifest, pool: PdfPool
) -> None:
    made = one(trace(citations=[], answer=answer, chunks=[{"id": "lost"}, {"id": NUTS}]), manifest, pool)
    item = cited(made)
    assert (made.level, made.citation_origin, made.citations) == ("full", "retrieved", ())
    assert (item.number, item.rank, item.chunk_id) == (None, 2, NUTS)
    assert made.level_reason.startswith("The answer cites nothing: this is the closest retrieved passage.")
    assert made.is_refusal is (answer == "not in context")


def test_a_citation_that_cannot_be_shown_gives_way_to_the_closest_passage(
    manifest: Manifest, pool: PdfPool
) -> None:
    stages = {"retrieved": [{"id": NUTS}], "reranked": [{"id": JACK, "page_idx": 1}, {"id": NUTS}]}
    record = trace(citations=[{"doc_id": "gone", "page_idx": 3}], stages=stages, chunks=[{"id": NUTS}])
    made = one(record, manifest, pool)
    assert (made.citation_origin, cited(made).chunk_id, cited(made).rank) == ("retrieved", JACK, 1)
    assert made.citations[0].shown_page_idx is None
    assert made.level_reason.startswith("No citation can be shown, citation 1: ")


def test_where_nothing_was_retrieved_question_and_answer_stay(manifest: Manifest, pool: PdfPool) -> None:
    made = one(trace(citations=[], chunks=[], answer="not in context"), manifest, pool)
    assert (made.level, made.citation_origin, made.citation, made.documents) == (
        "text_only",
        "none",
        None,
        (),
    )
    assert (made.q, made.answer) == ("How do I jack up the car?", "not in context")
    assert made.level_reason.endswith("the answer cites nothing; nothing was retrieved.")


def test_a_retrieved_passage_that_cannot_be_shown_says_why(manifest: Manifest, pool: PdfPool) -> None:
    record = trace(citations=[], answer="It is so.", chunks=[{"id": "lost"}, {"id": "made-up"}])
    made = one(record, manifest, pool)
    assert made.level == "text_only"
    assert [problem.code for problem in made.problems] == ["passage_not_shown"]
    assert (
        "the closest retrieved passage can't be shown: `documents[gone]`: does not exist" in made.level_reason
    )


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"render_ref": None}, "nothing_to_draw"),
        ({"render_ref": "file:../secret.png"}, "path_refused"),
        ({"render_ref": "file:gone.png"}, "missing"),
        ({"render_ref": "file:plan.svg"}, "svg_not_drawn"),
        ({"render_ref": "file:torn.png"}, "picture_broken"),
        ({"render_ref": "pdf:manual#page_idx=3&bbox=1,2,3,4"}, "page_out_of_range"),
        ({"render_ref": "pdf:nobody#page_idx=0&bbox=1,2,3,4"}, "document_not_listed"),
        ({"render_ref": "x" * 5_000}, "render_ref_unreadable"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("place", "level"), [(0, "citation_only"), (1, "safety_citation")])
def test_what_cannot_be_drawn_lowers_the_level_and_is_named(
    change: dict[str, Any], code: str, place: int, level: str, manifest: Manifest, pool: PdfPool
) -> None:
    catalogue = [{**each, **change} if n == place else each for n, each in enumerate(CATALOGUE)]
    made = one(trace(), manifest, pool, catalogue=catalogue)
    flawed = made.attachments[place]
    assert made.level == level
    assert (flawed.drawable, flawed.problem and flawed.problem.code) == (False, code)
    assert f"({flawed.attachment.attachment_id}) can't be drawn: " in made.level_reason
    assert flawed.attachment.text == CATALOGUE[place]["text"]


def test_a_picture_of_a_page_that_is_not_there_is_reported(manifest: Manifest, pool: PdfPool) -> None:
    made = one(trace(), manifest, pool, catalogue=[{**CATALOGUE[1], "page_idx": 70}])
    (item,) = made.media_attachments
    assert item.drawable
    assert isinstance(item.problem, ValueProblem)
    assert (item.problem.code, item.problem.value) == ("page_out_of_range", 70)


def test_a_replaced_document_is_reported_and_not_hidden(manifest: Manifest, pool: PdfPool) -> None:
    made = one(cites(doc_id="replaced", page_idx=1, quote=QUOTE, rev="8c1e9a02"), manifest, pool)
    (document,) = made.documents
    assert document.problem is not None
    assert document.problem.code == "document_replaced"
    assert [problem.code for problem in cited(made).problems] == ["rev_mismatch"]
    assert made.level_reason.count("Note: ") == 2


def test_too_much_is_cut_and_marked_as_cut(
    manifest: Manifest, pool: PdfPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "MAX_CITATIONS", 2)
    monkeypatch.setattr(build, "MAX_ATTACHMENTS", 1)
    record = trace(citations=[{"chunk_id": JACK, "quote": QUOTE}] * 3, answer="a" * 200_000)
    made = one(record, manifest, pool)
    assert [problem.code for problem in made.problems] == ["citations_cut", "attachments_cut", "text_cut"]
    assert (len(made.citations), len(made.attachments), len(made.answer)) == (2, 1, 100_000)
    near = one(record, manifest, pool, catalogue=[CATALOGUE[1], {**CATALOGUE[0], "page_idx": 2}])
    assert [item.attachment.kind for item in near.attachments] == ["warning"]
    assert made.level == "citation_only"


def test_a_quote_that_is_cut_is_never_called_exact(manifest: Manifest, pool: PdfPool) -> None:
    long = QUOTE + " " * 20_000 + "And lift the wheel with both hands."
    place = cited(one(cites(doc_id="manual", page_idx=1, quote=long), manifest, pool))
    assert place.found is not None
    assert place.found.status in ("partial", "not_found")
    assert place.quote == long[:20_000]
    assert "quote_cut" in [problem.code for problem in place.problems]
