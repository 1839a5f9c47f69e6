"""Which rules of the contract the index says a trace breaks, and how many traces and questions do."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.manifest.types import Manifest
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_state
from proofspan.store.index.labelling import Inputs, labeller_for
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import (
    ENVELOPE,
    append,
    built,
    lines,
    manifest_of,
    table_of,
    trace,
    write_workspace,
)

UNLIKE = "Torque the bolts to 30 Nm, number {}."


def answered(number: int, **more: object) -> dict[str, object]:
    """A trace with an answer of its own."""
    return trace(f"Q{number}", **{"answer": UNLIKE.format(number)} | more)


def counted(store: Store, *runs: str) -> list[tuple[object, ...]]:
    """Return the counts of the codes that only the run shows."""
    frame = store.code_counts(runs)
    assert list(frame) == ["run_id", "code", "traces", "questions"]
    wanted = frame["code"].isin(["memory_desync", "duplicate_question", "answer_repeated"])
    return list(frame[wanted].itertuples(index=False, name=None))


def test_codes_are_counted_in_traces_and_in_questions(tmp_path: Path, cache: Path) -> None:
    many = [
        answered(1, mem_rev="r1"),
        answered(2, mem_rev="r1"),
        answered(2, mem_rev="r2"),
        answered(3, mem_rev="r2", seed=1),
    ]
    other = [answered(1, mem_rev="r1"), answered(2, mem_rev="r1"), answered(3, mem_rev="r2")]
    manifest = write_workspace(
        tmp_path, {"R1": [*many, answered(4, mem_rev="r1")], "R2": other, "R3": [answered(1)]}
    )
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
    records = [answered(1, mem_rev="r1"), answered(2, mem_rev="r1"), answered(3, mem_rev="r2")]
    store = built(write_workspace(tmp_path, {"R1": records}), cache)
    shown = Filter("R1", code=("memory_desync",))
    assert store.page(shown, Sort(), limit=9, offset=0)["q_id"].tolist() == ["Q3"]
    assert dict(store.options("R1")["code"])["memory_desync"] == 1
    most_first = store.page(Filter("R1"), Sort("codes", descending=True), limit=9, offset=0)
    assert most_first["q_id"].tolist()[0] == "Q3"
    assert "memory_desync" in next(store.rows(Filter("R1"), Sort("codes", descending=True)))["codes"][0]


def test_counts_follow_a_run_that_grows(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {"R1": [answered(1, mem_rev="r1"), answered(2, mem_rev="r2")]})
    store = built(manifest, cache)
    assert counted(store, "R1") == [("R1", "memory_desync", 1, 1)]
    append(manifest, lines([answered(3, mem_rev="r2"), answered(4, mem_rev="r1"), answered(5, mem_rev="r1")]))
    built(manifest, cache)
    assert counted(store, "R1") == [("R1", "memory_desync", 2, 2)]


def test_suspicions_are_counted_likewise(tmp_path: Path, cache: Path) -> None:
    records = [answered(1), answered(2, citations=["c9"]), answered(2)]
    store = built(write_workspace(tmp_path, {"R1": records}), cache)
    frame = store.code_counts(["R1"], "suspicions")
    assert list(frame) == ["run_id", "code", "traces", "questions"]
    assert ("R1", "duplicate_question", 1, 0) in list(frame.itertuples(index=False, name=None))


CITED = [{"snippet_id": "c1", "doc_id": "manual", "rev": "r1", "analyzer": "lowercase"}]
ONE = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}}


def codes(manifest: Manifest, cache: Path) -> list[str]:
    """The codes of the first trace of a freshly built index."""
    build_index(manifest, cache_dir=cache)
    found = table_of(manifest, "R1", cache)[0]["codes"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ({"runs": [ONE | {"pinned": {"analyzer": "lowercase+stem"}}]}, "analyzer_mismatch"),
        ({"documents": [{"doc_id": "manual", "path": "chunks.jsonl", "rev": "r2"}]}, "rev_mismatch"),
    ],
)
def test_what_the_manifest_pins_is_held_against_the_traces_and_a_change_is_seen(
    tmp_path: Path, cache: Path, entries: dict[str, object], code: str
) -> None:
    manifest = write_workspace(tmp_path, {"R1": [answered(1, citations=CITED)]})
    assert code not in codes(manifest, cache)
    pinned = manifest_of(tmp_path, **{"chunks": {"path": "chunks.jsonl"}, "runs": [ONE]} | entries)
    assert index_state(pinned, "R1", cache) == "stale"
    assert code in codes(pinned, cache)


def test_sections_that_the_contract_lets_mix_are_no_breach(tmp_path: Path, cache: Path) -> None:
    mixed = [{"snippet_id": "c1", "section_id": "4.2"}, {"snippet_id": "c2", "section_id": "4.3"}]
    manifest = write_workspace(tmp_path, {"R1": [answered(1, citations=mixed)]})
    assert "cross_section_reuse" in codes(manifest, cache)
    entries = {"chunks": {"path": "chunks.jsonl"}, "runs": [ONE], "contract": {"allow_cross_section": True}}
    allowed = manifest_of(tmp_path, **entries)
    assert "cross_section_reuse" not in codes(allowed, cache)


def test_runs_with_other_pins_share_the_chunks_and_not_the_context(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    def counting(inputs: Inputs) -> object:
        made.append(inputs)
        return labeller_for(inputs)

    monkeypatch.setattr(build, "labeller_for", counting)
    write_workspace(tmp_path, {"R1": [answered(1, citations=CITED)], "R2": [answered(1, citations=CITED)]})
    other = {"run_id": "R2", "traces": {"path": "runs/R2.jsonl"}, "pinned": {"analyzer": "stem"}}
    pinned = ONE | {"pinned": {"analyzer": "lowercase"}}
    manifest = manifest_of(tmp_path, chunks={"path": "chunks.jsonl"}, runs=[pinned, other])
    store = built(manifest, cache)
    counts = store.code_counts(["R1", "R2"])
    assert counts[counts["code"] == "analyzer_mismatch"]["run_id"].tolist() == ["R2"]
    assert len(made) == 1


@pytest.mark.parametrize(
    ("answer", "is_missing"),
    [
        ("The oil filter holds 4 litres.", True),
        ("The oil filter holds 4 litres. citations: [c1]", False),
        ("The oil filter holds 4 litres. citations: [c3]", False),  # cited, never retrieved
        ("not in context", False),
        ("", False),  # no answer was logged
    ],
)
def test_an_answer_without_its_template_is_distinguished_from_one_that_cites_elsewhere(
    tmp_path: Path, cache: Path, answer: str, is_missing: bool
) -> None:
    manifest = write_workspace(tmp_path, {"R1": [trace("Q1", answer=answer)]})
    found = codes(manifest, cache)
    assert ("template_violated" in found) is is_missing
    assert ("cited_not_retrieved" in found) is ("c3" in answer)


def test_an_answer_that_declines_owes_no_citations_with_or_without_chunks(
    tmp_path: Path, cache: Path
) -> None:
    records = [trace("Q1", answer="not in context", **ENVELOPE), trace("Q2", answer="It holds oil.")]
    write_workspace(tmp_path, {"R1": records})
    for entries in ({"chunks": {"path": "chunks.jsonl"}}, {}):
        manifest = manifest_of(tmp_path, runs=[ONE], **entries)
        build_index(manifest, cache_dir=cache)
        first, second = (row["codes"] for row in table_of(manifest, "R1", cache))
        assert (first, "empty_citations" in (second or ())) == ([], True)  # type: ignore[operator]
