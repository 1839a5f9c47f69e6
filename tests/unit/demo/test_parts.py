"""The parts of the demo's pipeline, each by itself: no build is needed."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from tools.demo import dense, fuse, lexical
from tools.demo.analyzer import PINNED, WITHOUT_PLURALS, everyday_words, in_the_manuals_words
from tools.demo.corpus import Piece, bulletin_pieces, sentences
from tools.demo.faults import Planter, lines
from tools.demo.gold import gold_record, read_questions
from tools.demo.places import Places, letters
from tools.demo.reader import Reader
from tools.demo.records import language


def test_sentences_are_where_they_say_and_table_heads_are_none() -> None:
    table = _piece("Table 8-1. Cold tyre pressures\nTyre size Front\n195/65 R15 2.3", kind="table")
    assert [each.text for each in sentences(table)] == ["195/65 R15 2.3"]
    assert sentences(table)[0].caption == "Table 8-1. Cold tyre pressures Tyre size Front"
    steps = _piece("1. Press SET. The lamp is lit.\n2. Let go.", kind="steps")
    assert [each.text for each in sentences(steps)] == ["Press SET.", "The lamp is lit.", "Let go."]
    warning = _piece("WARNING\nHold on; 4.5 bar is a lot.", kind="warning")
    assert [each.text for each in sentences(warning)] == ["Hold on; 4.5 bar is a lot."]
    for piece in (table, steps, warning):
        for each in sentences(piece):
            assert piece.text[each.start : each.start + len(each.text)] == each.text


def test_markdown_is_cut_at_empty_lines_and_headings() -> None:
    found = bulletin_pieces("# Title\n\nIntro.\n\n## B1 Cars\n\n| a |\n|---|\n| b |\n", doc_id="d")
    assert [(each.section, each.text, each.lines) for each in found] == [
        ("p000", "Intro.", (3, 3)),
        ("B1", "| a |\n|---|\n| b |", (7, 9)),
    ]
    assert [each.text for each in sentences(found[1])] == ["| b |"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Stop the car.", "en"),
        ("Arrêtez la voiture et le moteur.", "fr"),
        ("エンジン", "ja"),
        ("80 km/h", "en"),
    ],
)
def test_the_language_of_a_chunk(text: str, expected: str) -> None:
    assert language(text) == expected


def test_a_question_without_a_known_word_finds_nothing() -> None:
    texts = [[*"ab"], [*"bc"], [*"ca"], [*"abc"]]
    index = lexical.Lexical(texts)
    assert not index.scores(["zzz"]).any() and not index.scores([]).any()
    assert index.scores(["a", "a"]).tolist() == index.scores(["a"]).tolist()


def test_the_latent_space_is_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dense.PARAMETERS["svd"], "n_components", 2)
    texts = [[*"abc"], [*"bcd"], [*"cde"], [*"aef"], [*"bdf"]]
    first, second = dense.Dense(texts), dense.Dense(texts)
    assert first.hashes() == second.hashes()
    assert first.scores([*"ab"]).tolist() == second.scores([*"ab"]).tolist()
    assert not first.scores(["unknown"]).any()


def test_the_reader_refuses_below_its_threshold() -> None:
    piece = _piece("The tank holds 48 litres.")
    hits = [fuse.Hit(piece, 1.0)]
    reader = Reader(0.5, PINNED, lambda word: 1.0, lambda piece: [])
    assert [quote.text for quote in reader.read(["tank", "litre"], hits)] == ["The tank holds 48 litres."]
    assert reader.read(["tank", "boat", "sail"], hits) == []
    assert reader.read([], hits) == [] == reader.read(["tank"], [])


def test_a_quote_that_its_section_does_not_hold_stops_the_build() -> None:
    piece = _piece("The tank holds 48 litres.")
    question = {"q_id": "Q1", "q": "?", "gold": [{"section": "1", "quote": "49 litres"}]}
    with pytest.raises(ValueError, match=r"Q1: section 1 of d does not say '49 litres'"):
        gold_record(question, [piece], _no_places(), doc_id="d", memory="aa")


def test_a_quote_may_run_over_the_number_of_the_next_step() -> None:
    piece = _piece("1. Press SET.\n2. Let go.", kind="steps")
    question = {"q_id": "Q1", "q": "?", "gold": [{"section": "1", "quote": "SET. Let go."}]}
    span = gold_record(question, [piece], _no_places(), doc_id="d", memory="aa")["spans"][0]
    assert (span["quote"], span["offsets"]) == ("SET.\n2. Let go.", [9, 24])


def test_two_questions_of_one_id_stop_the_build(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("- {q_id: Q1, q: '?'}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="called Q1"):
        read_questions(tmp_path)


def test_everyday_words_bring_the_manuals_along() -> None:
    meant = {"kid": ["child"], "light": ["lamp"]}
    assert in_the_manuals_words(["kid", "light", "door"], meant, {"light", "door"}) == [
        "child",
        "light",
        "lamp",
        "door",
    ]
    assert in_the_manuals_words(["boat"], meant, set()) == ["boat"]
    assert everyday_words()["kid"] == ["child"]


def test_the_two_analyzers_differ_by_the_plural_alone() -> None:
    assert PINNED("The Doors of the glass café: 2.3 bar") == ["door", "glass", "cafe", "2.3", "bar"]
    assert WITHOUT_PLURALS("The Doors") == ["doors"]
    assert PINNED.name == WITHOUT_PLURALS.name.replace("+stopwords", "+plural_s+stopwords")


def test_a_fault_that_changes_nothing_stops_the_build() -> None:
    records = [{"q_id": "Q1", "answer": "Yes. citations: [a]", "citations": [], "chunks": [], "stages": {}}]
    fault = {"id": "F1", "kind": "one_based_pages", "section": "9"}
    with pytest.raises(ValueError, match="F1: one_based_pages changes nothing"):
        Planter([], {}).plant(records, [fault])
    with pytest.raises(ValueError, match="does not hold '48'"):
        Planter([], {}).plant(
            records, [{"id": "F2", "kind": "misquoted_figure", "q_id": "Q1", "old": "48", "new": "84"}]
        )


def test_a_bad_line_ends_early_and_an_unfinished_one_has_no_line_end() -> None:
    records = [{"q_id": "Q1"}, {"q_id": "Q2"}, {"q_id": "Q3"}]
    faults = [
        {"kind": "bad_line", "q_id": "Q2", "keep": 5},
        {"kind": "unfinished_line", "q_id": "Q3", "keep": 6},
    ]
    assert lines(records, []) == b'{"q_id":"Q1"}\n{"q_id":"Q2"}\n{"q_id":"Q3"}\n'
    assert lines(records, faults) == b'{"q_id":"Q1"}\n{"q_i\n{"q_id'


def _piece(text: str, *, kind: str = "paragraph") -> Piece:
    return Piece("d|r=00000000|s=1|p=001|b=001", "d", "00000000", text, 0, "1", True, ("One",), 0, 1, kind)


def _no_places() -> Places:
    return Places(_empty_page())


def _empty_page() -> bytes:
    """A PDF of one empty page."""
    document = pymupdf.open()
    document.new_page()
    return bytes(document.tobytes())


def test_letters_are_compared_without_white_space_hyphens_and_ligatures() -> None:
    assert letters("ﬁl\u00adter 0W-20") == "filter0W20"
