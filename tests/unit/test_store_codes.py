"""How many traces and questions break which rule, run by run."""

from __future__ import annotations

from pathlib import Path

from core.store.filters import Filter, Sort
from core.store.queries import Store
from tests.unit.store_workspace import append, built, lines, trace, write_workspace

UNLIKE = "Torque the bolts to 30 Nm, number {}."


def told(number: int, **more: object) -> dict[str, object]:
    """A trace with an answer of its own."""
    return trace(f"Q{number}", **{"answer": UNLIKE.format(number)} | more)


def counted(store: Store, *runs: str) -> list[tuple[object, ...]]:
    """The counts of the codes that only the run tells."""
    frame = store.code_counts(runs)
    assert list(frame) == ["run_id", "code", "traces", "questions"]
    wanted = frame["code"].isin(["memory_desync", "duplicate_question", "answer_repeated"])
    return list(frame[wanted].itertuples(index=False, name=None))


def test_codes_are_counted_in_traces_and_in_questions(tmp_path: Path, cache: Path) -> None:
    many = [
        told(1, mem_rev="r1"),
        told(2, mem_rev="r1"),
        told(2, mem_rev="r2"),
        told(3, mem_rev="r2", seed=1),
    ]
    other = [told(1, mem_rev="r1"), told(2, mem_rev="r1"), told(3, mem_rev="r2")]
    manifest = write_workspace(tmp_path, {"R1": [*many, told(4, mem_rev="r1")], "R2": other, "R3": [told(1)]})
    store = built(manifest, cache)
    expected = [
        ("R2", "memory_desync", 1, 1),
        ("R1", "duplicate_question", 1, 0),
        ("R1", "memory_desync", 2, 0),
    ]
    assert counted(store, "R2", "R1", "R9", "R3", "R2") == expected
    assert counted(store) == []
    for _, code, traces, questions in expected[1:]:
        asked = Filter("R1", code=(str(code),))
        assert store.matching(asked) == questions
        assert store.matching(Filter("R1", code=(str(code),), all_variants=True)) == traces


def test_a_list_is_narrowed_to_a_code_sorted_and_exported_by_it(tmp_path: Path, cache: Path) -> None:
    records = [told(1, mem_rev="r1"), told(2, mem_rev="r1"), told(3, mem_rev="r2")]
    store = built(write_workspace(tmp_path, {"R1": records}), cache)
    shown = Filter("R1", code=("memory_desync",))
    assert store.page(shown, Sort(), limit=9, offset=0)["q_id"].tolist() == ["Q3"]
    assert dict(store.options("R1")["code"])["memory_desync"] == 1
    most_first = store.page(Filter("R1"), Sort("codes", descending=True), limit=9, offset=0)
    assert most_first["q_id"].tolist()[0] == "Q3"
    assert "memory_desync" in next(store.rows(Filter("R1"), Sort("codes", descending=True)))["codes"][0]


def test_counts_follow_a_run_that_grows(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {"R1": [told(1, mem_rev="r1"), told(2, mem_rev="r2")]})
    store = built(manifest, cache)
    assert counted(store, "R1") == [("R1", "memory_desync", 1, 1)]
    append(manifest, lines([told(3, mem_rev="r2"), told(4, mem_rev="r1"), told(5, mem_rev="r1")]))
    built(manifest, cache)
    assert counted(store, "R1") == [("R1", "memory_desync", 2, 2)]


def test_suspicions_are_counted_likewise(tmp_path: Path, cache: Path) -> None:
    records = [told(1), told(2, citations=["c9"]), told(2)]
    store = built(write_workspace(tmp_path, {"R1": records}), cache)
    frame = store.suspicion_counts(["R1"])
    assert list(frame) == ["run_id", "suspicion", "traces", "questions"]
    assert ("R1", "duplicate_question", 1, 0) in list(frame.itertuples(index=False, name=None))
