"""The input of failure modes: neighbouring sections, and counts of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.contracts.records.records import Chunk, GoldQuestion
from proofspan.services.health.failure_map import Place, section_map
from proofspan.services.health.failure_modes import adjacent, failure_counts, gold_places
from proofspan.services.health.rule_counts import health_table
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from tests.unit.store_workspace import built, lines, trace, write_workspace

CHUNKS = {
    name: Chunk(name, doc_id=doc_id, section_id=section, text="?")
    for name, doc_id, section in (
        *(("a", "d", "1.1"), ("b", "d", "1.2"), ("c", "d", "1.3")),
        *(("e", "other", "1.2"), ("f", "other", "9")),
    )
}


@pytest.mark.parametrize(
    ("first", "gold", "is_beside"),
    [
        (("d", "1.1"), "b", True),
        (("d", "1.3"), "b", True),
        (("d", "1.2"), "b", False),
        (("d", "1.1"), "c", False),
        (("other", "9"), "c", False),
        (("other", "1.2"), "a", False),
        (("d", "unknown"), "a", False),
        (("d", "1.1"), "unknown", False),
    ],
)
def test_a_section_is_beside_another_in_its_document(first: Place, gold: str, is_beside: bool) -> None:
    known = {"Q1": GoldQuestion("Q1", "?", chunks=(gold,))}
    assert adjacent([("Q1", first)], known, CHUNKS) == is_beside
    assert not adjacent([("Q2", first)], known, CHUNKS)


def test_gold_is_in_the_sections_of_its_chunks_else_in_those_that_it_names() -> None:
    gold = {
        "Q1": GoldQuestion("Q1", "?", chunks=("a", "gone"), sections=("9",)),
        "Q2": GoldQuestion("Q2", "?", sections=("1.2", "gone")),
        "Q3": GoldQuestion("Q3", "?"),
    }
    sections = section_map(CHUNKS.values())
    assert {q_id: set(gold_places(question, CHUNKS, sections)) for q_id, question in gold.items()} == {
        "Q1": {("d", "1.1")},
        "Q2": {("d", "1.2"), ("other", "1.2")},
        "Q3": set(),
    }


def test_the_counts_of_a_run_are_those_of_its_lists(tmp_path: Path) -> None:
    gold = [{"q_id": f"Q{number}", "q": "?", "chunks": ["c1"]} for number in range(1, 4)]
    (tmp_path / "gold.jsonl").write_bytes(lines(gold))
    listed = [{"id": "c2"}, {"id": "c1"}]
    traces = [trace("Q1"), trace("Q2", chunks=listed), trace("Q3", answer="Four. citations: [c2]")]
    manifest = write_workspace(tmp_path, {"R1": traces}, gold={"path": "gold.jsonl"})
    store = built(manifest, tmp_path / "cache")
    chunks = read_chunks(tmp_path / "chunks.jsonl", file="chunks.jsonl")[0]
    known = read_gold(tmp_path / "gold.jsonl", file="gold.jsonl")[0]
    table = health_table(store, manifest.runs, "R1")
    counts = failure_counts(store, table, known, chunks.values())
    assert (counts.questions, counts.hits, counts.missed) == (3, 2, 1)
    assert (counts.outranked, counts.checked, counts.adjacent) == (1, 1, 1)
