"""Mappings that keep, group and join records: the same as plain Python does, and counted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.errors import Fault
from proofspan.manifest.load import load_manifest
from proofspan.traces.importers.conditions import conditions_from
from proofspan.traces.importers.counts import FieldCount
from proofspan.traces.importers.joins import NONE, join_from
from proofspan.traces.importers.paths import Broken, Place, parse_path, parsed_text, written
from proofspan.traces.importers.sources import Noticed, Source
from proofspan.traces.importers.workspace import ImportReport
from tests.unit.importing.mapped_room import imported, traces_in

HEAD = 'mapping_version: "1.0"\nname: n\nrun: {run_id: R001}\n'
KEYS = st.sampled_from(["a", "b", "c", "d", 1, 2])


def _imported(folder: Path, data: str | bytes, mapping: str, name: str = "s.jsonl") -> ImportReport:
    source = folder / name
    source.write_bytes(data if isinstance(data, bytes) else data.encode())
    (folder / "map.yaml").write_text(HEAD + mapping)
    return imported(source, folder / "ws")


def _lines(records: Iterable[object]) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


def _stages(trace: Trace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = trace.raw["stages"]["retrieved"]
    return found


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({"path": "k", "equals": "a"}, [0]),
        ({"path": "k", "in": ["a", "3"]}, [0, 1]),
        ({"path": "k", "exists": True}, [0, 1, 2]),
        ({"path": "k", "exists": False}, [3, 4]),
        ({"not": {"path": "k", "equals": "a"}}, [1, 2, 3, 4]),
        ({"not": {"path": "k", "exists": True}}, [3, 4]),
        ({"path": "k", "equals": True}, [2]),
        ({"path": "k", "equals": None}, [3]),
        ({"path": "tags[]", "equals": "x"}, [1]),
        ([{"path": "k", "exists": True}, {"not": {"path": "k", "equals": "3.0"}}], [0, 2]),
        ({"path": "k.deeper[0]", "exists": True}, []),
    ],
)
def test_where_keeps_what_satisfies_it(where: Any, kept: list[int]) -> None:
    items: list[Any] = [{"k": "a"}, {"k": 3, "tags": ["y", "x"]}, {"k": True}, {"k": None}, {}]
    conditions = conditions_from(where)
    found = [n for n, each in enumerate(items) if all(c.holds(Place(each, each, 1)) for c in conditions)]
    assert found == kept


@given(st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=20))
def test_groups_are_those_of_plain_python(tmp_path_factory: Any, rows: list[tuple[Any, int]]) -> None:
    path = tmp_path_factory.mktemp("group") / "s.jsonl"
    path.write_text(_lines({"k": key, "v": value} for key, value in rows))
    expected: dict[Any, list[int]] = {}
    for key, value in rows:
        expected.setdefault(key, []).append(value)
    noticed = Noticed()
    found = [record["rows"] for _, record in Source(path, group_by=(parse_path("k"),)).records(noticed)]
    assert [[each["v"] for each in group] for group in found] == [*expected.values()]
    order = [key for n, (key, _) in enumerate(rows) if n == 0 or rows[n - 1][0] != key]
    assert [each.code for each in noticed.problems] == ["not_sorted"] * (len(set(order)) != len(order))


@given(st.lists(KEYS, max_size=8), st.lists(st.tuples(KEYS, st.integers()), max_size=8), st.booleans())
def test_joins_by_key_are_those_of_plain_python(
    keys: list[Any], entries: list[tuple[Any, int]], of_object: bool
) -> None:
    plain: dict[str, int] = {}
    for key, value in entries:
        plain.setdefault(str(key), value)
    record = {
        "entries": plain if of_object else [{"id": key, "value": value} for key, value in entries],
    }
    join = join_from("j", "k", {"from": "$.entries", "on": "."} | ({} if of_object else {"to": "id"}))
    above, count = Place(record, record, 1), FieldCount("k")
    found = join.partners(above, [above._replace(item=key) for key in keys], count)
    values = [None if each is NONE else each if of_object else each["value"] for each in found]
    assert values == [plain.get(str(key)) for key in keys]
    missing = sum(str(key) not in plain for key in keys)
    assert (count.found, count.absent, count.unusable) == (len(keys) - missing, missing, 0)


@given(st.lists(st.integers(), max_size=5), st.lists(st.integers(), max_size=5))
def test_joins_by_place_need_lists_of_one_length(items: list[int], entries: list[int]) -> None:
    record, count = {"entries": entries}, FieldCount("k")
    above = Place(record, record, 7)
    places = [above._replace(item=each) for each in items]
    found = join_from("j", "k", {"from": "entries[]"}).partners(above, places, count)
    is_equal = len(items) == len(entries)
    assert found == (entries if is_equal else [NONE] * len(items))
    assert count.unusable == (not is_equal) and count.first_unusable == (None if is_equal else 7)


@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), min_size=1),
            st.integers(-99, 99),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_written_path_is_read_as_the_same_steps(steps: list[str | int]) -> None:
    assert parse_path(written(tuple(steps), "$")).steps == tuple(steps)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-99, 99) | st.text(), lambda each: st.lists(each, max_size=3)
    )
)
def test_json_in_a_text_is_what_was_written_into_it(value: Any) -> None:
    text = json.dumps(value)
    for item, path in (({"t": text}, "t[json]"), ({"t": json.dumps(text)}, "t[json][json]")):
        assert list(parse_path(path).all(Place(item, None, 1))) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("['a', \"it's\"]", ["a", "it's"]),
        ("[('a', 0.5), ('b', None)]", [["a", 0.5], ["b", None]]),
        ("  ", None),
        ("{'a': {1, 2}}", Broken),
        ("[" * 100_000, Broken),
        ("[" * 80 + "]" * 80, Broken),
        ("[__import__('os')]", Broken),
        ('{"a": 1', Broken),
        ("x" * 100_000, Broken),
    ],
)
def test_a_text_is_read_as_json_or_as_python_writes_lists(text: str, value: Any) -> None:
    found = parsed_text(text)
    assert isinstance(found, Broken) if value is Broken else found == value


def test_broken_json_names_its_place_and_loses_one_field_only(tmp_path: Path) -> None:
    values = ('{"a": "yes"}', '{"a": ', {"a": "no"})
    records = ({"q": "?", "m": each} for each in values)
    report = _imported(tmp_path, _lines(records), "traces: {q: q, answer: 'm[json].a'}\n")
    (problem,) = report.problems
    assert problem.code == "value_unusable"
    assert "`m`" in problem.message and "first on line 2" in problem.message
    assert [each.answer for each in traces_in(tmp_path / "ws")] == ["yes", "", "no"]


def test_rows_of_csv_make_one_question_with_its_chunks(tmp_path: Path) -> None:
    table = (
        "qid;frage;antwort;rang;text;datei;seite\n"
        '1;Wie viel Öl?;4 Liter;1;"Öl: 4 Liter\nSiehe unten";A;2\n'
        "1;Wie viel Öl?;4 Liter;2;Anderes;A;3\n"
        ";;;;;;\n"
        "2;Und Wasser?;;1;Wasser: 2 Liter;B;1;übrig\n"
        ";Ohne?;;1;Nichts;B;1\n"
    )
    mapping = """
group_by: qid
traces:
  q_id: rows[0].qid
  q: rows[0].frage
  answer: rows[0].antwort
  stages:
    retrieved: {each: "rows[]", text: text, doc_id: datei, page: {path: seite, base: 1}}
  seen: retrieved
"""
    report = _imported(tmp_path, table, mapping, "s.csv")
    one, two = traces_in(tmp_path / "ws")
    assert (one.q_id, one.q, one.answer, two.q, two.answer) == (
        "1",
        "Wie viel Öl?",
        "4 Liter",
        "Und Wasser?",
        "",
    )
    assert [(each["doc_id"], each["page_idx"]) for each in _stages(one)] == [("A", 1), ("A", 2)]
    assert [(each.code, each.source.line) for each in report.issues] == [("no_group", 4)]
    assert [each.code for each in report.problems] == ["more_cells"]
    assert report.unit == "row"


def test_parquet_with_lists_in_lists_and_nulls_is_read(tmp_path: Path) -> None:
    rows = [
        {"q": "One?", "found": [[{"t": "a", "s": 0.5}], [{"t": "b", "s": None}]]},
        {"q": "Two?", "found": [None, []]},
        {"q": "Three?", "found": None},
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    mapping = 'traces: {q: q, stages: {retrieved: {each: "found[][]", text: t, score: s}}, seen: retrieved}\n'
    report = _imported(tmp_path, sink.getvalue().to_pybytes(), mapping, "s.parquet")
    one, two, three = traces_in(tmp_path / "ws")
    assert [each.get("score") for each in _stages(one)] == [0.5, None]
    assert _stages(two) == _stages(three) == []
    count = next(each for each in report.fields if each.key == "traces.stages.retrieved.each")
    assert (count.found, count.absent, count.null) == (2, 1, 1)


def test_tasks_and_results_of_one_object_are_joined(tmp_path: Path) -> None:
    data = {
        "tasks": [{"id": 1, "q": "One?", "docs": ["d1", "d9"], "ranks": [0.9, 0.1]}, {"id": 2, "q": "Two?"}],
        "docs": {"d1": {"text": "first"}, "d2": {"text": "second"}},
        "results": [
            {"task": "1", "model": "m", "out": "yes"},
            {"task": "2", "model": "m", "out": "no"},
            {"task": "1", "model": "other", "out": "maybe"},
            {"task": "9", "model": "m", "out": "?"},
        ],
    }
    mapping = """
traces:
  each: results[]
  join:
    task: {from: $.tasks, on: task, to: id}
  where: {path: model, equals: m}
  q_id: $task.id
  q: $task.q
  answer: out
  stages:
    retrieved:
      each: $task.docs[]
      join:
        doc: {from: $.docs, on: .}
        rank: {from: $task.ranks}
      id: .
      text: $doc.text
      score: $rank
  seen: retrieved
"""
    report = _imported(tmp_path, json.dumps(data, indent=1), mapping, "s.json")
    one, two = traces_in(tmp_path / "ws")
    assert (one.q_id, one.q, one.answer, two.q, two.answer) == ("1", "One?", "yes", "Two?", "no")
    assert [(each["id"], each["score"]) for each in _stages(one)] == [("d1", 0.9), ("d9", 0.1)]
    counts = {each.key: (each.found, each.absent, each.unusable) for each in report.fields}
    assert counts["traces.join.task"] == (3, 1, 0)
    assert counts["traces.where"] == (3, 1, 0)
    assert counts["traces.stages.retrieved.join.doc"] == (1, 1, 0)
    assert [each.code for each in report.issues] == ["q_missing"]


def test_each_value_of_run_is_a_run(tmp_path: Path) -> None:
    names = ["b", "a", None, "b"]
    records = ({"q": "Same?", "out": str(n), "model": name} for n, name in enumerate(names))
    report = _imported(tmp_path, _lines(records), "traces: {q: q, answer: out, run: model}\n")
    runs = load_manifest(tmp_path / "ws").runs
    assert [(each.run_id, each.title) for each in runs] == [("R001", "b"), ("R002", "a"), ("R003", None)]
    assert [each.answer for each in traces_in(tmp_path / "ws")] == ["0", "3"]
    assert report.traces == 4
    many = _lines({"q": "?", "model": f"m{n}"} for n in range(51))
    with pytest.raises(Fault, match="51 values"):
        _imported(tmp_path / "ws", many, "traces: {q: q, run: model}\n")


@pytest.mark.parametrize(
    ("record", "each", "code", "says"),
    [
        ({"ctx": None}, "ctx[]", "each_null", "is right, but its value is null"),
        ({"out": {"contexts": []}}, "out.context[]", "each_not_found", "near is `out.contexts[]`"),
        ({"out": {"ctx": []}}, "ctx[]", "each_not_found", "there is `out.ctx`"),
        ({"rows": [{"ctx": []}]}, "rows.ctx[]", "each_not_found", "write `rows[].ctx[]`"),
        ({"out": '{"ctx": [1]}'}, "out.ctx[]", "each_not_found", "write `out[json].ctx[]`"),
        ({"x": 1, "y": 2}, "ctx[]", "each_not_found", "it has `q`, `x`, `y`"),
        ({"ctx": "no json"}, "ctx[json][]", "each_no_list", "is not JSON"),
    ],
)
def test_an_each_that_leads_nowhere_says_what_there_is(
    tmp_path: Path, record: dict[str, Any], each: str, code: str, says: str
) -> None:
    stages = f'{{retrieved: {{each: "{each}", text: .}}}}'
    report = _imported(
        tmp_path, _lines([{"q": "?", **record}]), f"traces: {{q: q, stages: {stages}, seen: retrieved}}\n"
    )
    (problem,) = report.problems
    assert problem.code == code
    assert says in problem.message


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ("traces: {q: $doc.q}\n", "join 'doc'"),
        ("traces: {q: q, where: {path: a}}\n", "equals, in or exists"),
        ("traces: {q: q, where: {path: a..b, exists: true}}\n", "not a path"),
        ("group_by: $task.id\ntraces: {q: q}\n", "join 'task'"),
        ("traces: {q: q, join: {j: {from: a, to: b}}}\n", "on"),
    ],
)
def test_a_wrong_condition_or_join_is_named(tmp_path: Path, mapping: str, says: str) -> None:
    with pytest.raises(Fault) as caught:
        _imported(tmp_path, _lines([{"q": "?"}]), mapping)
    assert any(says in str(each) for each in caught.value.problems), str(caught.value)


def test_only_documents_of_asked_questions_are_named(tmp_path: Path) -> None:
    data = {
        "asked": [{"id": 1, "q": "One?", "ctx": [{"t": "a", "d": "A"}], "cites": [{"d": "C"}]}],
        "gold": [
            {"id": 1, "q": "One?", "at": [{"d": "G", "t": "x"}]},
            {"id": 2, "q": "Two?", "at": [{"d": "U", "t": "y"}]},
        ],
    }
    mapping = """
traces:
  each: asked[]
  q_id: id
  q: q
  stages: {retrieved: {each: "ctx[]", text: t, doc_id: d}}
  seen: retrieved
  citations: {each: "cites[]", doc_id: d}
gold: {each: "gold[]", q_id: id, q: q, spans: {each: "at[]", doc_id: d, quote: t}}
documents: {pattern: "{doc_id}.pdf"}
"""
    report = _imported(tmp_path, json.dumps(data, indent=1), mapping, "s.json")
    assert [each.doc_id for each in report.documents] == ["A", "C", "G"]
    assert report.gold == 2
