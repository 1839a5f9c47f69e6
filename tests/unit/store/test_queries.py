"""Queries of the index: pages that cover a list once, neighbours in its order, counts that add up."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS, SourceLine, Trace, TraceKey
from proofspan.errors import StoreFault
from proofspan.resources import PACKAGE
from proofspan.store.files.columns import PAGE_COLUMNS, index_row, row_table
from proofspan.store.files.segment_files import read_rows, write_segment
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.query.database import Database, statement
from proofspan.store.query.filters import SORT_KEYS, Filter, Sort
from proofspan.store.query.store import FULL_COLUMNS, Store
from tests.unit.store_workspace import built, trace, write_workspace

pytestmark = pytest.mark.slow

RUN = "R1"
OK = "The oil filter holds 4 litres.\ncitations: [c1]"
ANSWERS = [
    OK,
    "not in context",
    "It holds 99 litres of oil. citations: [c1]",
    "It holds oil.",
    "12 and 13 and 4",
]


def records(count: int) -> list[dict[str, object]]:
    return [
        trace(
            f"Q{number:03d}",
            answer=ANSWERS[number % len(ANSWERS)],
            q="What holds the oil filter?" if number % 3 else "Who checks the coolant every week?",
            seed=number % 7 // 6,
            latency_ms=None if number % 4 == 0 else 100 * (number % 9),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("workspace")
    other = [trace("Q001", answer="not in context"), trace("Q001", paraphrase=1)]
    manifest = write_workspace(folder, {RUN: records(83), "R2": [b"no json"], "R3": other})
    return built(manifest, folder / "cache")


def keys(frame: object) -> list[TraceKey]:
    return [
        TraceKey(row.run_id, row.q_id, row.paraphrase, row.seed, row.repeat)
        for row in frame.itertuples()  # type: ignore[attr-defined]
    ]


FILTERS = st.builds(
    Filter,
    run=st.just(RUN),
    label=st.lists(st.sampled_from(LABELS), max_size=2).map(tuple),
    unsupported=st.sampled_from([None, True, False]),
    text=st.sampled_from(["", "OIL", "coolant", "99", "nowhere"]),
    all_variants=st.booleans(),
)
#: How long a query takes depends on what else the machine does.
PATIENT = settings(deadline=None, max_examples=30)
SORTS = st.builds(Sort, st.sampled_from(SORT_KEYS), st.booleans())


@PATIENT
@given(FILTERS, SORTS, st.integers(6, 40))
def test_pages_cover_every_row_once(store: Store, shown: Filter, sort: Sort, limit: int) -> None:
    whole = [key for frame in store.rows(shown, sort) for key in keys(frame)]
    paged: list[TraceKey] = []
    while len(paged) < len(whole) + limit:
        page = store.page(shown, sort, limit=limit, offset=len(paged))
        if page.empty:
            break
        paged += keys(page)
    assert paged == whole
    assert len(set(paged)) == len(paged) == store.matching(shown)


@PATIENT
@given(FILTERS, SORTS, st.data())
def test_neighbours_follow_the_order_of_the_pages(
    store: Store, shown: Filter, sort: Sort, data: st.DataObject
) -> None:
    listed = keys(store.page(shown, sort, limit=200, offset=0))
    if not listed:
        return
    place = data.draw(st.integers(0, len(listed) - 1))
    found = store.neighbours(shown, sort, listed[place])
    assert found.previous == (listed[place - 1] if place else None)
    assert found.next == (listed[place + 1] if place + 1 < len(listed) else None)
    assert (found.position, found.total) == (place + 1, len(listed))


def test_a_question_outside_the_list_leads_to_its_first(store: Store) -> None:
    shown = Filter(RUN, label=("refusal_suspect",))
    outside = keys(store.page(Filter(RUN, label=("ok",)), Sort(), limit=1, offset=0))[0]
    found = store.neighbours(shown, Sort(), outside)
    assert (found.previous, found.position) == (None, None)
    assert found.next == keys(store.page(shown, Sort(), limit=1, offset=0))[0]
    assert store.neighbours(Filter(RUN, text="nowhere"), Sort(), outside).next is None


def test_worst_first_is_the_order_of_triage(store: Store) -> None:
    page = store.page(Filter(RUN, all_variants=True), Sort(), limit=200, offset=0)
    keys = [
        (
            LABELS.index(row.label),
            -len(row.numbers_unsupported),
            2.0 if row.answer_coverage != row.answer_coverage else row.answer_coverage,
            row.q_id,
        )
        for row in page.itertuples()
    ]
    assert keys == sorted(keys)
    assert set(page["label"]) >= {"ok", "generation_drift", "refusal_suspect"}


@PATIENT
@given(FILTERS)
def test_counts_add_up_and_leave_the_label_part_out(store: Store, shown: Filter) -> None:
    without = Filter(RUN, unsupported=shown.unsupported, text=shown.text, all_variants=shown.all_variants)
    counts = store.counts(shown)
    assert list(counts) == [*LABELS, None]
    assert sum(counts.values()) == store.matching(without)


def test_a_page_is_read_once_and_the_one_returned_can_be_changed(store: Store) -> None:
    def page(offset: int = 0, limit: int = 20) -> list[object]:
        frame = store.page(Filter(RUN), Sort("q_id"), limit=limit, offset=offset)
        answers = list(frame["answer"])
        frame["answer"] = "changed"
        return answers

    first = page()
    with patch.object(Database, "column", side_effect=AssertionError("read again")):
        assert page() == first
    assert page(offset=20) != first
    with patch("proofspan.store.query.store.CACHED_ROWS", 30):
        small = Store(store._manifest, store.cache_dir)
    for limit in (20, 20, 80):
        assert len(small.page(Filter(RUN), Sort("q_id"), limit=limit, offset=0)) <= limit
    assert small._pages._weight <= 30, "a page of more rows than are kept is not kept"


def test_a_page_and_a_row_carry_their_columns(store: Store) -> None:
    page = store.page(Filter(RUN), Sort(), limit=3, offset=0)
    assert list(page.columns) == ["run_id", *PAGE_COLUMNS, "file"]
    assert {"citations", "docs", "q_folded"}.isdisjoint(page.columns)
    (frame,) = store.rows(Filter(RUN), Sort())
    assert list(frame.columns) == ["run_id", *FULL_COLUMNS, "file"]
    empty = store.page(Filter(RUN, text="nowhere"), Sort(), limit=3, offset=0)
    assert list(empty.columns) == list(page.columns)
    assert empty.empty


def test_a_trace_is_found_with_its_line(store: Store) -> None:
    found = store.find(TraceKey(RUN, "Q001"))
    assert found is not None
    assert found.source.file == "runs/R1.jsonl"
    assert found.source.line == 2
    assert found.row["answer"] == "not in context"
    assert found.row["latency_ms"] == 100.0
    assert store.find(TraceKey(RUN, "Q001", repeat=2)) is None
    assert store.find(TraceKey(RUN, "'; DROP TABLE rows; --")) is None
    none = store.find(TraceKey(RUN, "Q000"))
    assert none is not None
    assert none.row["latency_ms"] is None


def test_a_row_is_the_same_from_its_segment_and_from_its_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several segments of several batches each; first read row by row, then with whole columns."""
    monkeypatch.setattr("proofspan.store.files.segment_files.BATCH_ROWS", 3)
    monkeypatch.setattr("proofspan.store.index.build.segment_bytes", lambda size: 2_000)
    manifest = write_workspace(tmp_path, {RUN: records(40)})
    store = built(manifest, tmp_path / "cache")
    keys_of_all = [TraceKey(RUN, f"Q{number:03d}", seed=number % 7 // 6) for number in range(40)]
    one_by_one = [store.find(key) for key in keys_of_all]
    whole = [
        row for frame in store.rows(Filter(RUN, all_variants=True), Sort("q_id")) for row in frame["answer"]
    ]
    assert [found.row["answer"] for found in one_by_one if found] == whole
    assert [store.find(key) for key in keys_of_all] == one_by_one


def test_the_same_question_is_found_in_every_run(store: Store) -> None:
    found = store.same_question("Q001")
    paraphrases = {run: [each.paraphrase for each in traces] for run, traces in found.items()}
    assert paraphrases == {RUN: [0], "R3": [0, 1]}
    assert store.same_question("nobody asked") == {}


def test_a_question_and_what_was_counted_before_need_no_query(store: Store) -> None:
    shown = Filter(RUN, text="oil")
    counted = store.counts(shown), store.run_facts(RUN), store.variants(RUN).to_dict("records")
    with patch.object(Database, "_running", side_effect=AssertionError):
        assert (store.counts(shown), store.run_facts(RUN), store.variants(RUN).to_dict("records")) == counted
        assert store.find(TraceKey(RUN, "Q002")) is not None
        assert store.find(TraceKey(RUN, "Q002", seed=5)) is None
        assert keys(store.traces_of("Q001", "R3")) == [TraceKey("R3", "Q001"), TraceKey("R3", "Q001", 1)]
        assert [*store.same_question("Q001")] == [RUN, "R3"]


def test_choices_count_headline_traces_once(store: Store) -> None:
    options = store.options(RUN)
    assert options["doc"] == (("manual", store.total(RUN)),)
    assert options["section"] == (("4.2", store.total(RUN)),)
    for code, count in options["suspicion"]:
        assert store.matching(Filter(RUN, suspicion=(code,))) == count
    for code, count in options["code"]:
        assert store.matching(Filter(RUN, code=(code,))) == count
    names = ("suspicion", "code", "doc", "section", "gold", "bucket", "type", "state", "difference", "cause")
    assert store.options("R2") == dict.fromkeys(names, ())


def test_a_run_without_a_trace_has_its_issues(store: Store) -> None:
    assert store.runs() == (RUN, "R2", "R3")
    assert store.total("R2") == 0
    assert store.page(Filter("R2"), Sort(), limit=5, offset=0).empty
    assert store.line_issues("R2")["file"].tolist() == ["runs/R2.jsonl"]
    assert store.line_issues(RUN).empty
    assert (store.run_facts("R2").line_issues, store.run_facts("R2").traces) == (1, 0)


def test_facts_distinguish_headline_questions_from_traces(store: Store) -> None:
    facts = store.run_facts("R3")
    assert (facts.traces, facts.questions, facts.repeats, facts.waiting_bytes) == (2, 1, 0, 0)
    assert facts.profile.describe() == 'template seed · refusal "not in context"'


def test_a_run_that_is_not_indexed_says_what_to_do(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    empty = Store(manifest, tmp_path / "cache")
    assert empty.runs() == ()
    with pytest.raises(StoreFault) as fault:
        empty.total(RUN)
    assert fault.value.problems[0].code == "not_indexed"
    assert "proofspan index" in fault.value.problems[0].fix


@pytest.mark.parametrize("kind", ["*.parquet", "*.arrow"])
@pytest.mark.parametrize("damage", ["gone", "cut", "scrambled", "garbled inside"])
def test_a_damaged_index_says_what_to_do(tmp_path: Path, kind: str, damage: str) -> None:
    manifest = write_workspace(tmp_path, {RUN: records(300), "R2": records(3)})
    store = built(manifest, tmp_path / "cache")
    folder = index_folder(manifest, RUN, tmp_path / "cache")
    for segment in folder.glob(kind):
        whole = segment.read_bytes()
        segment.unlink()
        if damage != "gone":
            garbled = whole[:20] + bytes(byte ^ 0x5A for byte in whole[20:-2_000]) + whole[-2_000:]
            left = {"cut": whole[:-40], "scrambled": b"x" * len(whole), "garbled inside": garbled}
            segment.write_bytes(left[damage])
    with pytest.raises(StoreFault) as fault:
        store.page(Filter(RUN), Sort(), limit=50, offset=0)
    (problem,) = fault.value.problems
    assert (problem.code, problem.where) == ("index_damaged", str(folder))
    assert "run 'R1'" in problem.message
    assert "proofspan index" in problem.fix
    assert store.runs() == ("R2",)
    assert store.total("R2") == 3
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert len(store.page(Filter(RUN), Sort(), limit=50, offset=0)) == 50


@settings(max_examples=40, deadline=None)
@given(places=st.lists(st.integers(0, 99), max_size=30))
def test_rows_come_in_the_order_they_are_asked_for(places: list[int]) -> None:
    traces = [
        Trace(f"question {at}", "", (), RUN, f"Q{at}", 0, 0, SourceLine("t", at + 1, at, 1), (), {})
        for at in range(100)
    ]
    table = row_table([index_row(trace, None, {}) for trace in traces])
    with tempfile.TemporaryDirectory() as folder, patch("proofspan.store.files.segment_files.BATCH_ROWS", 7):
        write_segment(Path(folder), "s.parquet", table)
        found = read_rows(Path(folder), "s.parquet", np.array(places, dtype=np.int64), ["q", "line"])
    assert found.to_pylist() == [{"q": f"question {place}", "line": place + 1} for place in places]


def test_an_export_comes_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = write_workspace(tmp_path, {RUN: records(25)})
    store = built(manifest, tmp_path / "cache")
    monkeypatch.setattr("proofspan.store.query.store.EXPORT_ROWS", 10)
    pieces = list(store.rows(Filter(RUN, all_variants=True), Sort("q_id")))
    assert [len(piece) for piece in pieces] == [10, 10, 5]
    assert [q_id for piece in pieces for q_id in piece["q_id"]] == [f"Q{number:03d}" for number in range(25)]


def test_a_rebuilt_index_is_picked_up_by_every_thread(tmp_path: Path) -> None:
    """Readers in eight threads while the run is indexed again: each sees one state as a whole."""
    manifest = write_workspace(tmp_path, {RUN: records(10)})
    store = built(manifest, tmp_path / "cache")
    path = tmp_path / "runs" / "R1.jsonl"
    data = path.read_bytes()

    def read(_: int) -> tuple[int, int]:
        page = store.page(Filter(RUN, all_variants=True), Sort("file"), limit=100, offset=0)
        return len(page), int(page["repeat"].sum())

    with ThreadPoolExecutor(8) as pool:
        seen = [pool.submit(read, number) for number in range(40)]
        for repeat in (1, 2, 3):
            path.write_bytes(data * repeat)
            build_index(manifest, cache_dir=tmp_path / "cache")
            seen += [pool.submit(read, number) for number in range(40)]
    assert {future.result() for future in seen} <= {(10, 10), (20, 30), (30, 60)}
    assert read(0) == (30, 60)


STATEMENTS = sorted(path.name.removesuffix(".sql") for path in (PACKAGE / "store/query/sql").iterdir())


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_question_says_its_grain_and_columns(name: str) -> None:
    text = statement(name)
    assert text.startswith("-- ")
    assert "-- Grain: " in text
    assert "-- Columns: " in text


def test_the_places_of_a_list_are_those_of_its_pages_with_their_lines(store: Store) -> None:
    shown, sort = Filter(run=RUN, all_variants=True), Sort()
    places = store.places(shown, sort)
    assert keys(places) == keys(store.page(shown, sort, limit=1_000, offset=0))
    for key, place in zip(keys(places), places.itertuples(), strict=True):
        found = store.find(key)
        assert found is not None
        assert (found.source.line, found.source.offset) == (place.line, place.offset)
    assert store.places(Filter(run=RUN, text="no such words"), sort).empty
