"""The lists of flips: in the asked order, and as files that are the same again and run nothing."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import LABELS
from proofspan.services.compare import (
    FLIP_EXPORTS,
    FLIP_KINDS,
    flip_frames,
    flip_list,
    ranks_in_words,
)
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import built, trace, write_workspace

GOLD = [{"q_id": f"Q{number}", "q": "?", "sections": ["4.2"]} for number in range(1, 6)]
FORMULA = '=HYPERLINK("http://e.example"),a|b'


def ranked(q_id: str, *sections: str, **more: object) -> dict[str, object]:
    """A trace whose candidates lie in these sections, the first at rank 1."""
    listed = [{"id": f"{q_id}-{rank}", "section_id": section} for rank, section in enumerate(sections)]
    return trace(q_id, q=FORMULA, chunks=listed, **more)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Q1 to Q3 were fixed, from rank 3, none and 2; Q4 regressed; Q5 stayed."""
    (tmp_path / "gold.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in GOLD))
    was = [
        ranked("Q1", "1", "2", "4.2"),
        ranked("Q2", "1", answer="not in context"),
        ranked("Q3", "1", "4.2"),
        ranked("Q4", "4.2"),
        ranked("Q5", "4.2"),
    ]
    now = [
        *(ranked(f"Q{number}", "4.2") for number in (1, 2, 3)),
        ranked("Q4", "1", "4.2"),
        ranked("Q5", "4.2"),
    ]
    manifest = write_workspace(tmp_path, {"A": was, "B": now}, gold={"path": "gold.jsonl"})
    return built(manifest, tmp_path / "cache")


SHOWN = Filter("B", vs="A", outcome="section_match_at_1")


@pytest.mark.parametrize(
    ("sort", "q_ids"),
    [
        (Sort("section_rank"), ["Q3", "Q1", "Q2"]),
        (Sort("section_rank", descending=True), ["Q1", "Q3", "Q2"]),
        (Sort("suspicions"), ["Q1", "Q2", "Q3"]),
    ],
)
def test_a_list_has_the_order_that_is_asked_for(store: Store, sort: Sort, q_ids: list[str]) -> None:
    assert list(flip_list(store, SHOWN, "fixed", sort)["q_id"]) == q_ids


def test_labels_sort_the_worst_first(store: Store) -> None:
    rows = flip_list(store, SHOWN, "fixed", Sort("label"))
    places = [
        (LABELS.index(label), LABELS.index(was))
        for label, was in zip(rows["label"], rows["was_label"], strict=True)
    ]
    assert places == sorted(places) and len(set(places)) > 1


def files(store: Store, sort: Sort) -> dict[str, str]:
    return {
        kind: "".join(export.pieces(flip_frames(store, SHOWN, sort))) for kind, export in FLIP_EXPORTS.items()
    }


def test_an_export_holds_both_lists_and_is_the_same_again(store: Store) -> None:
    made = files(store, Sort("section_rank"))
    assert made == files(store, Sort("section_rank"))
    records = [orjson.loads(line) for line in made["jsonl"].splitlines()]
    assert [(each["flip"], each["q_id"], each["was_rank"], each["rank"]) for each in records] == [
        ("fixed", "Q3", 2, 1),
        ("fixed", "Q1", 3, 1),
        ("fixed", "Q2", None, 1),
        ("regressed", "Q4", 1, 2),
    ]
    assert {each["vs"] for each in records} == {"A"}
    assert made["csv"].count("\r\n") == 5
    assert made["markdown"].splitlines()[2].startswith("| fixed | Q3 | =HYPERLINK")


def test_a_spreadsheet_runs_nothing_and_a_table_keeps_its_columns(store: Store) -> None:
    made = files(store, Sort())
    assert "\"'=HYPERLINK" in made["csv"]
    assert all(line.replace("\\|", "").count("|") == 7 for line in made["markdown"].splitlines())


def test_both_kinds_are_listed_and_a_rank_may_be_none() -> None:
    assert FLIP_KINDS == ("fixed", "regressed")
    assert [ranks_in_words(*ranks) for ranks in ((7, 1), (None, 1_000), (2, 2))] == [
        "7 → 1",
        "none → 1,000",
        "2",
    ]
