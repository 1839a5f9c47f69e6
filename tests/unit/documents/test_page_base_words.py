"""Findings on cited pages: their sentences, their fixes, and the output of `locate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proofspan.cli import main
from proofspan.contracts.records.records import TraceKey
from proofspan.evidence.page_base import PlacedQuote, diagnose
from proofspan.services.page_base import (
    PRODUCER,
    CitedPages,
    examine,
    fix,
    how_far,
    in_one_line,
    mapping_writer,
    pages_of_placed,
    worth_saying,
)
from tests.pdf_files import write_pages

MAPPED = mapping_writer("bench.yaml", ["traces.citations.page"])


def quotes(*offsets: int, doc: str = "manual", section: str | None = None) -> list[PlacedQuote]:
    return [PlacedQuote(doc, 20 + n, 20 + n + offset, section) for n, offset in enumerate(offsets)]


def witnessed(*offsets: int) -> list[PlacedQuote]:
    """Quotes whose chunks' ids name the page where they are."""
    return [replace(quote, id_page_idx=quote.page_idx) for quote in quotes(*offsets)]


CASES = {
    "counted from 1": quotes(*[-1] * 212, *[0] * 8),
    "read as counted from 1": quotes(*[1] * 9),
    "another edition": quotes(*[7] * 9),
    "one quote as cited": quotes(0),
    "all as cited": quotes(0, 0, 0),
    "one off": quotes(-1, *[0] * 39),
    "the only one off": quotes(9),
    "without a pattern": quotes(*[-1] * 4, *[2] * 3, 9, *[0] * 40),
    "one section": [*quotes(*[-1] * 12, section="5.4.2"), *quotes(*[0] * 28, section="2.1")],
    "one section and more": [
        *quotes(*[-1] * 12, section="5.4.2"),
        *quotes(*[0] * 28, section="2.1"),
        *quotes(-1, section="7"),
    ],
    "too few in a section": [*quotes(-1, section="5.4.2"), *quotes(*[0] * 39, section="2.1")],
    "one off, known by its chunk's id": [*witnessed(-1), *quotes(*[0] * 39)],
    "two off, known by their chunks' ids": [*witnessed(-1, 2), *quotes(*[0] * 38)],
    "two off, one known by its chunk's id": [*witnessed(-1), *quotes(-1, *[0] * 38)],
}


def test_each_finding_is_one_sentence(golden: Callable[[str, str], None]) -> None:
    findings = {name: examine(rows, lambda doc_id: []) for name, rows in CASES.items()}
    findings["printed numbers"] = examine(quotes(*[1] * 20), lambda doc_id: [str(n) for n in range(60)])
    kinds = {name: finding.kind for name, (finding,) in findings.items()}
    assert kinds["printed numbers"] == "printed"
    assert kinds["one section"] == kinds["one section and more"] == "in_sections"
    lines = (f"{name}: {in_one_line(finding, MAPPED)}\n" for name, (finding,) in findings.items())
    golden("page_base", "".join(lines))


def test_a_document_is_asked_for_its_labels_only_where_many_are_off() -> None:
    asked = []

    def labels_of(doc_id: str) -> list[str]:
        asked.append(doc_id)
        return []

    rows = [*quotes(*[0] * 30, doc="a"), *quotes(-1, 0, 0, doc="b"), *quotes(*[-1] * 9, doc="c")]
    assert examine(rows, labels_of) == diagnose(rows)
    assert asked == ["c"]


@pytest.mark.parametrize(
    ("offset", "mapped", "native"),
    [
        (-1, "write `base: 1` at `traces.citations.page` in bench.yaml", "count `page_idx` from 0"),
        (1, "write `base: 0` at `traces.citations.page` in bench.yaml", "as `page_idx`, not as `page`"),
        (7, "compare the document's edition", "compare the document's edition"),
    ],
)
def test_the_fix_fits_who_wrote_the_pages(offset: int, mapped: str, native: str) -> None:
    (finding,) = diagnose(quotes(*[offset] * 9))
    assert mapped in str(fix(finding, MAPPED))
    assert native in str(fix(finding, PRODUCER))


@pytest.mark.parametrize("offsets", [[0] * 9, [-1, 0, 0], [-1] * 5 + [0] * 40])
def test_a_finding_without_a_pattern_has_no_fix(offsets: list[int]) -> None:
    (finding,) = diagnose(quotes(*offsets))
    assert fix(finding, PRODUCER) is None


def test_what_holds_for_all_documents_is_reported_once() -> None:
    rows = [*quotes(*[-1] * 9, doc="a"), *quotes(*[-1] * 9, doc="b"), *quotes(-1, doc="c")]
    (finding,) = worth_saying(diagnose(rows))
    assert (finding.doc_id, finding.supporting) == (None, 19)


def test_documents_that_differ_are_reported_one_by_one() -> None:
    rows = [*quotes(*[-1] * 9, doc="a"), *quotes(*[1] * 9, doc="b"), *quotes(*[0] * 9, doc="c")]
    assert [each.doc_id for each in worth_saying(diagnose(rows))] == ["a", "b"]


def test_what_is_off_without_a_pattern_is_reported_once_and_what_is_right_never() -> None:
    many = [quote for n in range(9) for quote in quotes(-1, *[0] * 9, doc=f"d{n}")]
    (finding,) = worth_saying(diagnose(many))
    assert (finding.doc_id, finding.kind) == (None, "mixed")
    assert worth_saying(diagnose(quotes(*[0] * 9))) == ()
    assert worth_saying(diagnose(quotes(-1, 0, 0))) == ()


def test_distances_in_words() -> None:
    assert [how_far(offset) for offset in (-1, 1, 2, -7, 1200)] == [
        "one page earlier",
        "one page later",
        "two pages later",
        "7 pages earlier",
        "1,200 pages later",
    ]


def placed(*rows: dict[str, object]) -> dict[str, list[object]]:
    """Placed citations as columns; each is a headline one on its page unless its row says otherwise."""
    usual = {
        "q_id": "Q1",
        "paraphrase": 0,
        "seed": 0,
        "repeat": 1,
        "chunk_id": "c1",
        "doc_id": "manual",
        "section_id": "4.2",
        "cited_page_idx": 4,
        "page_idx": 4,
        "page_mismatch": False,
        "tells_page": True,
    }
    return {name: [{**usual, **row}[name] for row in rows] for name in usual}


OFF = {"cited_page_idx": 5, "page_mismatch": True}


def test_a_run_is_judged_by_its_headline_citations_that_speak_for_themselves() -> None:
    rows = [{}, OFF, {**OFF, "seed": 1}, {**OFF, "tells_page": False}, {**OFF, "doc_id": None}]
    rows += [{"page_idx": None, "tells_page": False}, {"cited_page_idx": None}]
    (finding,) = pages_of_placed(placed(*rows), lambda doc_id: ()).findings
    assert (finding.quotes, finding.near, finding.by_id) == (2, (0, 1, 1, 0, 0), 0)


def test_an_id_with_its_own_page_is_read_as_a_witness() -> None:
    rows = [{**OFF, "chunk_id": "manual|r=d06d89ab|s=4.2|p=005|b=001"}]
    (finding,) = pages_of_placed(placed(*rows), lambda doc_id: ()).findings
    assert (finding.off, finding.by_id) == (1, 1)


def test_rows_get_the_distance_that_all_their_citations_on_other_pages_share() -> None:
    rows = [
        {**OFF, "q_id": "Q1"},
        {**OFF, "q_id": "Q1", "tells_page": False},
        {"q_id": "Q1"},
        {**OFF, "q_id": "Q2"},
        {**OFF, "q_id": "Q2", "page_idx": 9},
        {**OFF, "q_id": "Q3", "seed": 1},
        {"q_id": "Q4"},
    ]
    offsets = pages_of_placed(placed(*rows), lambda doc_id: ()).offsets
    assert offsets == {TraceKey("", "Q1"): -1, TraceKey("", "Q3", seed=1): -1}


def test_a_run_without_located_citations_shows_nothing() -> None:
    assert pages_of_placed({}, lambda doc_id: ()) == CitedPages((), {})


SENTENCES = [
    f"The {word} cover opens with the second key of the set." for word in ("red", "blue", "green", "grey")
]


@pytest.mark.parametrize(("first", "is_reported"), [(1, True), (0, False)])
def test_locate_reports_a_producer_that_counts_from_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: int, is_reported: bool
) -> None:
    texts = [[f"{sentence} Page {n}."] for n, sentence in enumerate(SENTENCES * 2)]
    write_pages(tmp_path / "manual.pdf", texts)
    lines = [
        {"id": n, "pdf": "manual.pdf", "cited_page_idx": n + first, "quote": text}
        for n, (text,) in enumerate(texts)
    ]
    (tmp_path / "spans.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(SystemExit) as ended:
        main(["locate", str(tmp_path / "spans.jsonl"), "-o", str(tmp_path / "found.jsonl")])
    assert ended.value.code == 0
    output = capsys.readouterr().err
    assert ("pages: manual.pdf: 8 of 8 quotes, 100 % (68–100 %), " in output) is is_reported
    assert ("these lines count from 1" in output) is is_reported
    assert ("pages:" in output) is is_reported
