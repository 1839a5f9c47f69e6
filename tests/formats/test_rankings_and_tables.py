"""TREC, BEIR, Inspect logs and tables: what becomes a question, and what happens to broken ones."""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import Fault
from proofspan.manifest.load import load_manifest
from proofspan.services.opening.open import open_source
from proofspan.traces.formats.beir import BEIR
from proofspan.traces.formats.inspect_logs import INSPECT
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.table import TABLE, columns_of, passages_of, question_of
from proofspan.traces.formats.trec import TREC
from proofspan.traces.formats.types import Asked, Format, Passage, Reading
from proofspan.traces.lines import archives
from tests.trec import trec_order

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def read(each: Format, path: Path) -> tuple[list[Asked], Reading]:
    """Return the questions of a source that is recognized as this format, and what was noted."""
    assert each.detect(sample_of(path))
    reading = Reading(path.name)
    return list(each.read(path, reading)), reading


def ids(asked: Asked, name: str = "retrieved") -> list[str | None]:
    """Return the ids of a list of a question."""
    return [passage.id for passage in asked.lists[name]]  # type: ignore[index]  # a stage's name


# --- TREC ---------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "1.00000001", "2", "-3e-1"])), max_size=9)
)
@settings(max_examples=20)
def test_a_run_is_ordered_as_trec_eval_does(lines: list[tuple[str, str]]) -> None:
    run = [(f"d{number}", score, topic) for number, (topic, score) in enumerate(lines)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_text(
            "".join(f"{topic} Q0 {name} 1 {score} t\n" for name, score, topic in run) or "a Q0 d 1 1 t"
        )
        asked, reading = read(TREC, path)
    assert reading.lost == 0 and reading.records == max(1, len(run))
    for each in asked if run else ():
        expected = trec_order((name, float(score)) for name, score, topic in run if topic == each.q_id)
        assert ids(each) == [name for name, _ in expected]


def test_a_run_and_its_partners_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").write_text("8 Q0 p3 1 2.5 bm25\n7 Q0 p1 9 1.5 bm25\n8 Q0 p4 1 3 bm25\n")
    (tmp_path / "dense.run").write_text("7 Q0 p2 1 0.5 dense\n")
    (tmp_path / "qrels.txt").write_text("7 0 p1 2\n7 0 p2 1\n7 0 p9 0\n8 0 p3 0\n9 0 p5 1\n")
    (tmp_path / "queries.tsv").write_text("7\tHow much oil?\n8\tWhich tyres?\n")
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b nothing")
    asked, reading = read(TREC, tmp_path)
    assert reading.lost == 0 and not reading.problems and reading.understood["relevance"] == 5
    by_run = {(each.run, each.q_id): each for each in asked}
    assert [*by_run] == sorted(by_run, key=lambda key: key[0]) and len(by_run) == 6  # 9 was judged
    first = by_run["bm25.run", "7"]
    assert (first.q, first.fields) == ("How much oil?", {"tag": "bm25"})
    assert [(each.id, each.score, each.more) for each in first.lists["retrieved"]] == [
        ("p1", 1.5, {"trec_rank": 9, "relevance": 2})
    ]
    assert [each.id for each in first.gold] == ["p1", "p2"]
    assert ids(by_run["bm25.run", "8"]) == ["p4", "p3"] and not by_run["bm25.run", "8"].gold
    assert ids(by_run["bm25.run", "9"]) == [] and by_run["bm25.run", "9"].q == "topic 9"
    alone, _ = read(TREC, tmp_path / "dense.run")
    assert {each.run for each in alone} == {""} and [each.id for each in alone[0].gold] == ["p1", "p2"]


def test_lines_that_are_no_run(tmp_path: Path) -> None:
    good = "".join(f"7 Q0 p{number} 1 {number} t\n" for number in range(30))
    (tmp_path / "run").write_text(
        good + "7 Q0 p31 1\n7 Q0 p32 x 5 t\n7 Q0 p33 1 nan t\n\n8 Q0 a 1 1 t\n8 Q0 a 2 0 t\n"
    )
    asked, reading = read(TREC, tmp_path / "run")
    assert len(asked[0].lists["retrieved"]) == 30 and reading.lost == 3 and reading.records == 35
    assert [each.code for each in reading.problems] == [
        "no_topic_texts",
        *["not_a_run"] * 3,
        "duplicate_document",
    ]
    assert reading.problems[1].where == "run: run line 31"


# --- BEIR ---------------------------------------------------------------------------------------------------


def test_a_link_in_a_folder_of_beir_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "queries.jsonl").write_bytes(b'{"_id":"7","text":"How much oil?"}')
    (folder / "corpus.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    with pytest.raises(Fault) as caught:
        list(BEIR.read(folder, Reading("data")))
    assert [each.code for each in caught.value.problems] == ["missing_file"]


def test_a_folder_of_beir_with_results(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(BEIR.example)) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "manual"
    with (folder / "queries.jsonl").open("a") as queries:
        queries.write('{"_id":"8","text":"Which?","metadata":{"by":"ann"}}\n{"_id":null}\n{"_id":"9"\n')
    (folder / "results.json").write_text('{"7":{"p40":0.5,"p12":0.75,"p99":0.1},"8":{}}')
    (folder / "notes.json").write_text("{")
    asked, reading = read(BEIR, folder)
    assert [(each.q_id, each.q, each.run) for each in asked] == [
        ("7", "How much oil?", ""),
        ("8", "Which?", ""),
    ]
    first = asked[0]
    assert [(each.id, each.text, each.score) for each in first.lists["retrieved"]] == [
        ("p12", "The engine holds 4.5 litres.", 0.75),
        ("p40", "Check the pressure once a month.", 0.5),
        ("p99", None, 0.1),
    ]
    assert [(each.id, each.document) for each in first.gold] == [("p12", "Engine oil")]
    assert first.fields == {"split": "test"} and asked[1].fields == {"metadata": {"by": "ann"}}
    assert [each.code for each in reading.problems] == ["not_json", "not_an_object", "not_json"]


def test_documents_nobody_names_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "manual.zip"
    path.write_bytes(BEIR.example)
    asked, reading = read(BEIR, path)
    assert [each.text for each in asked[0].gold] == ["The engine holds 4.5 litres."]
    assert asked[0].lists == {} and reading.understood["_id"] == 3


# --- Inspect ------------------------------------------------------------------------------------------------


def eval_log(path: Path, members: dict[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write an archive of JSON members."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, bytes) else orjson.dumps(value))
    return path


HEADER = {"version": 2, "status": "success", "eval": {"task": "manual", "model": "m/1"}}
SAMPLE: dict[str, Any] = {
    "id": "oil",
    "epoch": 1,
    "input": [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "attachment://" + "a" * 32}]},
    ],
    "target": ["4.5 litres", "4.5 l"],
    "messages": [{"role": "tool", "content": "It holds 4.5 litres.", "function": "search"}],
    "output": {
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"type": "reasoning", "reasoning": "Look."},
                        {"type": "text", "text": "So: "},
                        {
                            "type": "text",
                            "text": "4.5 litres.",
                            "citations": [
                                {
                                    "type": "document",
                                    "cited_text": "It holds 4.5 litres.",
                                    "title": "manual.pdf",
                                    "range": {"type": "page", "start_index": 11, "end_index": 12},
                                },
                                {"type": "url", "cited_text": [0, 3], "url": "https://example.org"},
                            ],
                        },
                    ],
                }
            }
        ]
    },
    "scores": {
        "match": {"value": "C", "explanation": "Found."},
        "rubric": {"value": {"clear": 0.5, "short": True}},
        "none": {"value": None},
    },
    "metadata": {"level": 2},
    "attachments": {"a" * 32: "How much oil?"},
}


def test_a_sample_of_inspect(tmp_path: Path) -> None:
    samples = {f"samples/oil_epoch_{epoch}.json": {**SAMPLE, "epoch": epoch} for epoch in (10, 2, 1)}
    asked, reading = read(INSPECT, eval_log(tmp_path / "a.eval", {"header.json": HEADER, **samples}))
    assert [each.fields["epoch"] for each in asked] == [1, 2, 10] and reading.lost == 0
    first = asked[0]
    assert (first.q, first.answer, first.q_id) == ("How much oil?", "So: 4.5 litres.", "oil")
    assert first.expected == "4.5 litres" and first.fields["targets"] == ["4.5 litres", "4.5 l"]
    assert first.run == "manual, m/1" and first.fields["metadata"] == {"level": 2}
    assert first.scores == {
        "match": {"score": 1.0, "label": "C", "explanation": "Found."},
        "rubric.clear": {"score": 0.5},
        "rubric.short": {"score": 1.0},
    }
    assert [each.text for each in first.lists["chunks"]] == ["It holds 4.5 litres."]
    page, web = first.cited
    assert (page.passage.document, page.passage.page, page.passage.page_base) == ("manual.pdf", 11, 0)
    assert page.span == (4, 15) and web.span == (4, 7) and web.reason and web.passage.text is None


def test_a_log_in_json_and_one_without_its_header(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(orjson.dumps({**HEADER, "samples": [SAMPLE, 5]}, option=orjson.OPT_INDENT_2))
    asked, reading = read(INSPECT, path)
    assert [each.q for each in asked] == ["How much oil?"] and asked[0].run == "manual, m/1"
    assert reading.lost == 1 and reading.left["status"] == 1
    members = {
        "_journal/start.json": HEADER,
        "samples/oil_epoch_1.json": SAMPLE,
        "samples/x_epoch_1.json": b"{",
    }
    asked, reading = read(INSPECT, eval_log(tmp_path / "b.eval", members))
    assert len(asked) == 1 and asked[0].run == "manual, m/1"
    assert [(each.code, each.where) for each in reading.problems] == [
        ("not_json", "b.eval: samples/x_epoch_1.json")
    ]


def zstandard_archive(path: Path, members: dict[str, bytes]) -> None:
    """Write an archive packed with Zstandard, in two frames each, as inspect-ai 0.3.285 does by default."""
    body, directory = b"", b""
    for name, data in members.items():
        half = len(data) // 2
        packed = b"".join(
            pa.Codec("zstd").compress(part, asbytes=True) for part in (data[:half], data[half:])
        )
        facts = (0, 93, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
        directory += (
            struct.pack("<4s2H4H3L5H2L", b"PK\1\2", 63, 63, *facts, 0, 0, 0, 0, len(body)) + name.encode()
        )
        body += struct.pack("<4sH4H3L2H", b"PK\3\4", 63, *facts) + name.encode() + packed
    end = (0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + struct.pack("<4s4H2LH", b"PK\5\6", *end))


def test_an_archive_packed_with_zstandard(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    zstandard_archive(
        path, {"header.json": orjson.dumps(HEADER), "samples/oil_epoch_1.json": orjson.dumps(SAMPLE)}
    )
    asked, reading = read(INSPECT, path)
    assert [each.q for each in asked] == ["How much oil?"] and reading.lost == 0


def test_an_archive_that_is_cut_off_or_unpacks_to_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "ALWAYS_ALLOWED", 1 << 20)
    log = eval_log(tmp_path / "a.eval", {"header.json": HEADER, "samples/oil_epoch_1.json": SAMPLE})
    log.write_bytes(log.read_bytes()[:-30])
    assert INSPECT.detect(sample_of(log)) is None
    bomb = {f"samples/{number}_epoch_1.json": b" " * (240 << 10) for number in range(5)}
    path = eval_log(tmp_path / "bomb.eval", {"header.json": HEADER, **bomb})
    asked, reading = read(INSPECT, path)
    codes = [each.code for each in reading.problems]
    assert not asked and reading.lost == 5 and codes == [*["not_json"] * 4, "unpacks_too_large"]


# --- tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (
            ["Question", "Generated Answer", "answer"],
            {"q": "Question", "answer": "Generated Answer", "expected": "answer"},
        ),
        (
            ["userInput", "Response", "Retrieved-Contexts"],
            {"q": "userInput", "answer": "Response", "contexts": "Retrieved-Contexts"},
        ),
        (["query", "answer", "ground_truth"], {"q": "query", "answer": "answer", "expected": "ground_truth"}),
        (["name", "value"], {}),
    ],
)
def test_columns_are_found_by_their_names(names: list[str], found: dict[str, str]) -> None:
    assert columns_of(names) == found


@pytest.mark.parametrize(
    ("cell", "ids", "found"),
    [
        (["a", "b"], ["1", 2], [("a", "1"), ("b", "2")]),
        ("['a', \"it's\"]", None, [("a", None), ("it's", None)]),
        ('["a", {"page_content": "b", "id": "x"}]', None, [("a", None), ("b", "x")]),
        ([[["a", 0.5], ["b", 0.25]], [], ["c"]], None, [("a", None), ("b", None), ("c", None)]),
        ("One text; of words | and signs.", None, [("One text; of words | and signs.", None)]),
        ("A_2018 | B_2019", None, [(None, "A_2018"), (None, "B_2019")]),
        (None, "['1', '2']", [(None, "1"), (None, "2")]),
        ("[" * 5_000, None, [("[" * 5_000, None)]),
        ([None, "", 5, {"id": 7}], None, [(None, "7")]),
    ],
)
def test_passages_of_a_cell(cell: Any, ids: Any, found: list[tuple[str | None, str | None]]) -> None:
    assert [(each.text, each.id) for each in passages_of(cell, ids)] == found


PLACE = {"Source": "manual.pdf", "page": 12}


@pytest.mark.parametrize(
    ("row", "passages", "cited"),
    [
        ({"answer": "4.5 l", "context": "It holds.", **PLACE}, [("It holds.", "manual.pdf", 12)], []),
        ({"answer": "4.5 l", "context": "It holds.", "page": 12}, [("It holds.", None, 12)], []),
        ({"answer": "4.5 l", "context": ["a", "b"], **PLACE}, [("a", None, None), ("b", None, None)], []),
        ({"answer": "4.5 l", **PLACE}, [], [(None, "manual.pdf", 12)]),
        ({"answer": "4.5 l", "ground_truth": "4.5", **PLACE}, [], []),
        ({"answer": "4.5 l", "Source": "manual.pdf"}, [], []),
        (
            {
                "answer": "4.5 l",
                "citations": [{"document": "a.pdf", "page": 3, "quote": "It holds."}],
                **PLACE,
            },
            [],
            [("It holds.", "a.pdf", 3)],
        ),
    ],
    ids=range(7),
)
def test_columns_that_place_a_passage_or_a_citation(row: Any, passages: Any, cited: Any) -> None:
    row = {"question": "How much oil?", **row}
    asked = question_of("row 1", row, columns_of(row), Reading("rows"))

    def places(found: Iterable[Passage]) -> list[tuple[str | None, str | None, int | None]]:
        return [(each.text, each.document, each.page) for each in found]

    assert places(asked.lists.get("chunks", [])) == passages
    assert places(each.passage for each in asked.cited) == cited
    assert asked.scores == {}


def test_a_cell_without_a_passage_is_kept_as_it_is() -> None:
    row: dict[str, Any] = {"question": "How much?", "answer": "4.5", "contexts": [{"where": "there"}]}
    reading = Reading("rows")
    asked = question_of("row 1", row, columns_of(row), reading)
    assert asked.fields == {"contexts": [{"where": "there"}]} and reading.left == {"contexts": 1}


def test_lists_in_lists_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    chunk = {"text": "It holds 4.5 litres.", "doc_id": "manual.pdf", "page": 12, "score": 0.5}
    rows = {
        "Query": ["How much oil?", "Which tyres?"],
        "response": ["4.5 litres.", None],
        "documents": [[[chunk], []], [[], []]],
        "model": ["a", "b"],
        "Faithfulness": [0.75, float("nan")],
        "tags": [["x"], []],
    }
    pq.write_table(pa.table(rows), path)
    (first, second), reading = read(TABLE, path)
    passage = first.lists["chunks"][0]
    assert (passage.text, passage.document, passage.page, passage.page_base, passage.score) == (
        *("It holds 4.5 litres.", "manual.pdf", 12, None, 0.5),
    )
    assert (first.run, first.scores, first.fields) == ("a", {"Faithfulness": 0.75}, {"tags": ["x"]})
    assert (second.run, second.answer, second.lists, second.scores) == ("b", None, {}, {})
    assert reading.lost == 0 and not reading.left


def test_rows_of_csv_with_empty_cells(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(
        ",question,prediction,answer,reranked_chunks,chunks\n0,a,,c,\"['r']\",\"['x', 'y']\"\n1,b,d,,,\n"
    )
    (first, second), reading = read(TABLE, path)
    assert (first.answer, first.expected, second.answer, second.expected) == (None, "c", "d", None)
    assert {name: [each.text for each in found] for name, found in first.lists.items()} == {
        "retrieved": ["x", "y"],
        "chunks": ["r"],
    }
    assert first.scores == {"column 1": 0.0} and reading.records == 2


# --- anything anywhere --------------------------------------------------------------------------------------


def replaced(value: Any, at: int, other: Any) -> tuple[Any, int]:
    """Return a JSON value with the part at a place replaced, and how many parts it has."""
    if at == 0:
        return other, 1
    count = 1
    if isinstance(value, dict):
        parts: Any = {}
        for name, each in value.items():
            parts[name], size = replaced(each, at - count, other)
            count += size
        return parts, count
    if isinstance(value, list):
        parts = []
        for each in value:
            part, size = replaced(each, at - count, other)
            parts.append(part)
            count += size
        return parts, count
    return value, 1


@given(st.integers(1, 60), ANYTHING)
@settings(max_examples=60)
def test_any_value_anywhere_in_a_sample(at: int, other: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sample, _ = replaced(SAMPLE, at, other)
        path = eval_log(Path(folder) / "a.eval", {"header.json": HEADER, "samples/oil_epoch_1.json": sample})
        reading = Reading(path.name)
        asked = list(INSPECT.read(path, reading))
    assert len(asked) == 1 and reading.lost == 0


@given(
    st.dictionaries(st.sampled_from(["question", "answer", "contexts", "ids", "id", "model", "x"]), ANYTHING)
)
def test_any_value_in_a_row(row: dict[str, Any]) -> None:
    asked = question_of("row 1", row, columns_of(["question", "answer", *row]), Reading("x"))
    assert asked.place == "row 1"


@given(st.binary(max_size=200), st.sampled_from([TREC, BEIR, INSPECT, TABLE]), st.integers(0, 300))
def test_damaged_examples_raise_no_other_error(noise: bytes, each: Format, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{each.suffix}"
        path.write_bytes(each.example[:at] + noise + each.example[at + len(noise) :])
        try:
            list(each.read(path, Reading(path.name)))
        except Fault as fault:
            assert all(problem.fix for problem in fault.problems)


def test_ids_without_texts_make_no_empty_file_of_chunks(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_bytes(TREC.example)
    open_source(path, workspace=tmp_path / "workspace")
    assert load_manifest(tmp_path / "workspace").chunks is None
    assert not (tmp_path / "workspace" / "corpus" / "chunks.jsonl").exists()
