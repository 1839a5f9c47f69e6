"""The page-base doctor in words: a sentence a finding, the remedy that fits, and what `locate` says of it."""

from __future__ import annotations

import json
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
    sentence,
    worth_saying,
)
from tests.pdf_files import write_pages

MAPPED = mapping_writer("bench.yaml", ["traces.citations.page"])


def quotes(*offsets: int, doc: str = "manual", section: str | None = None) -> list[PlacedQuote]:
    return [PlacedQuote(doc, 20 + n, 20 + n + offset, section) for n, offset in enumerate(offsets)]


@pytest.mark.parametrize(
    ("offsets", "said"),
    [
        (
            [-1] * 212 + [0] * 8,
            "212 of 220 quotes, 96 % (93–98 %), stand one page earlier than cited: this producer counts "
            "pages from 1",
        ),
        (
            [1] * 9,
            "9 of 9 quotes, 100 % (70–100 %), stand one page later than cited: this producer counts pages "
            "from 0, and was read as counting from 1",
        ),
        (
            [7] * 9,
            "9 of 9 quotes, 100 % (70–100 %), stand 7 pages later than cited: always as far, but no page "
            "base is",
        ),
        ([0], "the only quote stands where it is cited"),
        ([0] * 3, "all 3 quotes stand where they are cited (44–100 %)"),
        (
            [-1] + [0] * 39,
            "1 of 40 quotes stands one page earlier than cited: too few to tell why",
        ),
        ([9], "1 of 1 quote stands on another page than cited (1 farther away): too few to tell why"),
        (
            [-1] * 4 + [2] * 3 + [9] + [0] * 40,
            "8 of 48 quotes stand on other pages than cited (4 one page earlier, 3 two pages later, 1 "
            "farther away): no page base explains them",
        ),
    ],
)
def test_a_finding_is_one_sentence(offsets: list[int], said: str) -> None:
    (finding,) = diagnose(quotes(*offsets))
    assert sentence(finding) == said


def test_a_section_is_named_with_its_own_numbers() -> None:
    rows = [*quotes(*[-1] * 12, section="5.4.2"), *quotes(*[0] * 28, section="2.1")]
    (finding,) = diagnose(rows)
    assert sentence(finding) == (
        "12 of 40 quotes stand one page earlier than cited, all in section 5.4.2 (12 of its 12): the "
        "producer of that section counts pages from 1"
    )
    (finding,) = diagnose([*rows, *quotes(-1, section="7")])
    assert "13 of 41" not in sentence(finding)
    assert "12 of 41 quotes stand one page earlier than cited in section 5.4.2" in sentence(finding)


def test_a_section_of_too_few_quotes_is_named_all_the_same() -> None:
    (finding,) = diagnose([*quotes(-1, section="5.4.2"), *quotes(*[0] * 39, section="2.1")])
    assert sentence(finding) == (
        "1 of 40 quotes stands one page earlier than cited, in section 5.4.2: too few to tell why"
    )


@pytest.mark.parametrize(
    ("offsets", "said"),
    [
        ([-1], "1 of 40 quotes stands one page earlier than cited, where the id of its chunk puts it"),
        ([-1, 2], "(1 one page earlier, 1 two pages later), where the ids of their chunks put them"),
    ],
)
def test_an_id_that_names_the_right_page_is_a_second_witness(offsets: list[int], said: str) -> None:
    off = [replace(quote, id_page_idx=quote.page_idx) for quote in quotes(*offsets)]
    (finding,) = diagnose([*off, *quotes(*[0] * (40 - len(off)))])
    assert sentence(finding).endswith(said)
    (finding,) = diagnose([*off, *quotes(-1), *quotes(*[0] * 39)])
    assert sentence(finding).endswith("too few to tell why"), "one of them has no such witness"


def test_printed_numbers_are_told_from_a_page_base() -> None:
    (finding,) = examine(quotes(*[1] * 20), lambda doc_id: [str(n) for n in range(60)])
    assert sentence(finding) == (
        "20 of 20 quotes, 100 % (84–100 %), stand on the page that bears the cited number: printed "
        "numbers were cited"
    )
    assert str(fix(finding, MAPPED)).startswith("map what is printed as `page_label`, in place of `page` at")
    assert "`page_label`" in str(fix(finding, PRODUCER))


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
def test_the_remedy_fits_who_wrote_the_pages(offset: int, mapped: str, native: str) -> None:
    (finding,) = diagnose(quotes(*[offset] * 9))
    assert mapped in str(fix(finding, MAPPED))
    assert native in str(fix(finding, PRODUCER))


@pytest.mark.parametrize("offsets", [[0] * 9, [-1, 0, 0], [-1] * 5 + [0] * 40])
def test_what_nobody_can_mend_at_its_source_has_no_remedy(offsets: list[int]) -> None:
    (finding,) = diagnose(quotes(*offsets))
    assert fix(finding, PRODUCER) is None


def test_what_holds_for_all_documents_is_said_once() -> None:
    rows = [*quotes(*[-1] * 9, doc="a"), *quotes(*[-1] * 9, doc="b"), *quotes(-1, doc="c")]
    (said,) = worth_saying(diagnose(rows))
    assert (said.doc_id, said.supporting) == (None, 19)
    assert in_one_line(said, MAPPED).startswith("19 of 19 quotes")


def test_documents_that_differ_are_said_one_by_one() -> None:
    rows = [*quotes(*[-1] * 9, doc="a"), *quotes(*[1] * 9, doc="b"), *quotes(*[0] * 9, doc="c")]
    assert [each.doc_id for each in worth_saying(diagnose(rows))] == ["a", "b"]
    assert in_one_line(worth_saying(diagnose(rows))[0], MAPPED).startswith("a: 9 of 9 quotes")


def test_what_is_off_without_a_pattern_is_said_once_and_what_is_right_never() -> None:
    many = [quote for n in range(9) for quote in quotes(-1, *[0] * 9, doc=f"d{n}")]
    (said,) = worth_saying(diagnose(many))
    assert (said.doc_id, said.kind) == (None, "mixed")
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


def test_a_run_without_placements_tells_nothing() -> None:
    assert pages_of_placed({}, lambda doc_id: ()) == CitedPages((), {})


SENTENCES = [
    f"The {word} cover opens with the second key of the set." for word in ("red", "blue", "green", "grey")
]


@pytest.mark.parametrize(("first", "is_told"), [(1, True), (0, False)])
def test_locate_tells_of_a_producer_that_counts_from_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], first: int, is_told: bool
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
    said = capsys.readouterr().err
    assert ("pages: manual.pdf: 8 of 8 quotes, 100 % (68–100 %), stand one page earlier" in said) is is_told
    assert ("these lines count from 1" in said) is is_told
    assert ("pages:" in said) is is_told
