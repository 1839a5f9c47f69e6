"""Claims located in documents: the sentence or row that decides them, its place, and bad lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofspan.cli import main
from proofspan.evidence.text.page_lines import text_in_lines
from proofspan.services.claim_places import passage_query
from tests.pdf_files import LINE, page_text, write_pages

pytestmark = pytest.mark.usefixtures("one_pool")

OIL = "The engine oil must be changed every 15,000 km by a workshop."
TYRES = "The spare wheel may be driven at 80 km/h only."
COOLANT = "Coolant under pressure can scald your hands and face."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pages(tmp_path / "manual.pdf", [[OIL, COOLANT], [TYRES], [OIL, TYRES], [COOLANT], []])
    (tmp_path / "notes.md").write_text(f"# Notes\n\n{TYRES}\n\n{OIL}\n", encoding="utf-8")
    return tmp_path


def locate(folder: Path, *lines: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    spans, found = folder / "spans.jsonl", folder / "found.jsonl"
    spans.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["locate", str(spans), "-o", str(found)])
    return int(ended.value.code or 0), [json.loads(line) for line in found.read_text().splitlines()]


def claim(text: object, page: int | None = None, **more: object) -> dict[str, Any]:
    return {"id": "a", "pdf": "manual.pdf", "cited_page_idx": page, "claim": text, **more}


def test_a_claim_leads_to_its_sentence_on_the_cited_page(folder: Path) -> None:
    status, (row,) = locate(folder, claim("Coolant under pressure can scald your hands.", 0))
    assert status == 0
    assert (row["status"], row["evidence"], row["page_idx"]) == ("supported", COOLANT, 0)
    assert (row["page_mismatch"], row["differences"]) == (False, [])
    assert 0.6 <= row["support"] <= 1.0
    (box,) = row["rects"]
    assert 60 < box[1] < 80 < box[3] < 90  # the second line of the page


def test_claims_and_quotes_share_a_file_and_keep_their_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quote = {"id": "q", "pdf": "manual.pdf", "cited_page_idx": 1, "quote": TYRES}
    _, rows = locate(folder, claim(OIL, 0, id="c"), quote, claim(TYRES, 1, id="d"))
    assert [(row["id"], row["status"]) for row in rows] == [
        ("c", "supported"), ("q", "exact"), ("d", "supported"),
    ]  # fmt: skip
    reported = capsys.readouterr().err
    assert "1 quote: 1 exact" in reported
    assert "2 claims: 2 supported" in reported


def test_without_a_page_the_whole_document_is_searched(folder: Path) -> None:
    _, (row,) = locate(folder, claim("The spare wheel may be driven at 80 km/h."))
    assert (row["status"], row["evidence"], row["page_mismatch"]) == ("supported", TYRES, False)
    assert row["page_idx"] in (1, 2)


@pytest.mark.parametrize("page", [3, 1, 9])
def test_a_claim_that_another_page_supports_is_flagged(folder: Path, page: int) -> None:
    _, (row,) = locate(folder, claim(OIL, page))
    assert (row["status"], row["page_idx"], row["page_mismatch"]) == (
        "supported",
        2 if page == 3 else 0,
        True,
    )
    assert bool(row.get("note")) == (page == 9)


def test_a_claim_of_nothing_on_the_page_has_no_place(folder: Path) -> None:
    _, rows = locate(folder, claim("Xyzzy plugh.", 0), claim(OIL.replace("oil", "Öl"), 4))
    assert [(row["status"], row["rects"], row["page_idx"]) for row in rows[:1]] == [("unsupported", [], None)]
    assert "page_idx 4 has no text" in rows[1]["note"]


def test_a_difference_names_both_words_and_both_places(folder: Path) -> None:
    text = "The engine oil must be changed every 10,000 km by a workshop."
    _, (row,) = locate(folder, claim(text, 0))
    (each,) = row["differences"]
    assert (row["status"], row["evidence"], each["kind"]) == ("differs", OIL, "number")
    assert "10,000" in each["claimed"] == text[each["claimed_start"] : each["claimed_end"]]
    assert "15,000" in each["found"] == OIL[each["found_start"] : each["found_end"]]
    (words,), (sentence,) = each["rects"], row["rects"]
    assert sentence[0] < words[0] < words[2] < sentence[2]
    assert (words[1], words[3]) == (sentence[1], sentence[3])


def test_a_text_of_several_claims_is_judged_by_the_weakest(folder: Path) -> None:
    text = f"{COOLANT} The horn plays a waltz."
    _, (row,) = locate(folder, claim(text, 0))
    first, second = row["claims"]
    assert [text[each["start"] : each["end"]] for each in row["claims"]] == [
        COOLANT, "The horn plays a waltz.",
    ]  # fmt: skip
    assert (first["status"], first["evidence"], len(first["rects"])) == ("supported", COOLANT, 1)
    assert (row["status"], second["status"]) == ("unsupported", "unsupported")
    assert second["support"] < row["support"] < first["support"]


def test_a_claim_is_looked_for_in_a_text_as_well(folder: Path) -> None:
    _, (row,) = locate(
        folder, {"id": 1, "path": "notes.md", "claim": "The spare wheel may be driven at 80 km/h."}
    )
    assert (row["status"], row["evidence"], row["page_idx"]) == ("supported", TYRES, None)
    (span,) = row["ranges"]
    assert (span["first_line"], span["start"]) == (3, len("# Notes\n\n"))


def test_the_end_of_a_long_text_is_compared_as_well(folder: Path) -> None:
    filler = "".join(f"Line {number} of a list of parts.\n" for number in range(6_000))
    (folder / "long.md").write_text(f"{filler}\n{OIL}\n", encoding="utf-8")
    _, (row,) = locate(folder, {"id": 1, "path": "long.md", "claim": OIL})
    assert (row["status"], row["evidence"], "note" in row) == ("supported", OIL, False)
    assert row["ranges"][0]["first_line"] == 6_002


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"quote": OIL, "claim": OIL}, "both `quote` and `claim`"),
        ({}, "no `quote` and no `claim`"),
        ({"quote": None}, "no `quote` and no `claim`"),
        ({"claim": 5}, "`claim` is not text"),
        ({"claim": [OIL]}, "`claim` is not text"),
        ({"claim": " … "}, "`claim` is not a statement"),
    ],
)
def test_a_bad_line_names_its_place_and_what_to_write(
    folder: Path, line: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, rows = locate(folder, claim(OIL, 0), {"id": "x", "pdf": "manual.pdf", **line})
    assert (status, rows[0]["status"], rows[1]["error"]["code"]) == (1, "supported", "bad_field")
    assert "write `" in rows[1]["error"]["fix"]
    reported = capsys.readouterr().err
    assert f"{folder / 'spans.jsonl'}:2: " in reported
    assert message in reported


def test_a_document_that_is_missing_costs_only_its_claims(folder: Path) -> None:
    (folder / "bad.pdf").write_text("<html>")
    status, rows = locate(folder, claim(OIL, pdf="none.pdf"), claim(OIL, pdf="bad.pdf"), claim(OIL, 0))
    assert (status, [row["status"] for row in rows]) == (1, ["not_found", "not_found", "supported"])
    assert (rows[1]["error"]["code"], rows[1]["support"]) == ("not_a_pdf", None)


def test_a_page_is_read_in_lines_with_a_table_row_in_one() -> None:
    page = page_text("Item      2025      2026", "Oil, litres  4.2  4.5", "", "A paragraph", "of two lines.")
    text, starts = text_in_lines(list(zip(page.boxes, page.words, strict=True)))
    assert text == "Item 2025 2026\nOil, litres 4.2 4.5\n\nA paragraph\nof two lines."
    assert [text[start:].split()[0] for start in starts] == list(page.words)
    assert text_in_lines(()) == ("", [])
    turned = [
        ((row * LINE, 700.0 - 40 * place, row * LINE + 10, 730.0 - 40 * place), word)
        for row, words in enumerate(("Oil 4.2", "Water 8.1"))
        for place, word in enumerate(words.split())
    ]
    assert text_in_lines(turned, rotation=90)[0] == "Oil 4.2\nWater 8.1"


@pytest.mark.parametrize("rotation", [90, 270])
def test_lines_that_run_up_or_down_when_the_page_is_displayed_stay_lines(rotation: int) -> None:
    page = page_text("The quick heron", "waits beside the lake.")
    text, _ = text_in_lines(list(zip(page.boxes, page.words, strict=True)), rotation=rotation)
    assert text == "The quick heron\nwaits beside the lake."


def test_a_sentence_is_looked_for_with_the_text_around_it() -> None:
    query = passage_query("One. Two. Three.", 5, 9, 7)
    assert (query.quote, query.before, query.after, query.cited_page_idx) == ("Two.", "One. ", " Three.", 7)
