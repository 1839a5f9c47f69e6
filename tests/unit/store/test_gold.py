"""Gold outcomes in the index: stored, filtered, counted, ordered, the same by any workers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.gold import GOLD_STATES, GoldState, gold_outcome
from proofspan.diagnosis.types import Profile
from proofspan.manifest.types import Manifest
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_state
from proofspan.store.index.labelling import find_inputs, labeller_for
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.citations import citations
from proofspan.traces.records.traces import iter_traces
from tests.unit.store_workspace import append, built, lines, table_of, trace, write_workspace

pytestmark = pytest.mark.slow

RUN = "R1"
GOLD = [
    {"q_id": "Q1", "q": "one", "sections": ["4.3"]},
    {"q_id": "Q2", "q": "two", "spans": [{"doc_id": "bulletin", "page_idx": 6, "quote": "30 Nm"}]},
    {"q_id": "Q3", "q": "three", "chunks": ["c3"]},
    {"q_id": "Q4", "q": "four", "answerable": False, "chunks": ["c1"]},
    {"q_id": "Q6", "q": "six", "chunks": ["c1"]},
]
COLUMNS = ("q_id", "gold_state", "gold_seen_rank", "gold_retrieved_rank", "gold_retrieved_stage")
RANKS = [
    ("Q1", "uncited", 2, 2, "chunks"),
    ("Q2", "dropped", None, 2, "retrieved"),
    ("Q3", "missed", None, None, "fused"),
    ("Q4", "answered", None, None, None),
    ("Q5", None, None, None, None),
]


def workspace(folder: Path, gold: bytes | None, *, traces: int = 5) -> Manifest:
    more = {
        2: {"stages": {"retrieved": [{"id": "c1"}, {"id": "c3", "page_idx": 6}]}},
        3: {"stages": {"fused": [{"id": "c1"}]}},
    }
    records = [trace(f"Q{number}", **more.get(number, {})) for number in range(1, traces + 1)]
    if gold is not None:
        folder.mkdir(exist_ok=True)
        (folder / "gold.jsonl").write_bytes(gold)
    return write_workspace(folder, {RUN: records}, gold={"path": "gold.jsonl"})


def ranks(manifest: Manifest, cache: Path) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in COLUMNS) for row in table_of(manifest, RUN, cache)]


def test_a_row_knows_at_which_rank_its_gold_stood(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines(GOLD))
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert ranks(manifest, tmp_path / "cache") == RANKS


def test_several_workers_find_the_same_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 2_000)
    manifest = workspace(tmp_path / "ws", lines(GOLD), traces=30)
    found = []
    for workers in (1, 2):
        cache = tmp_path / f"cache{workers}"
        build_index(manifest, cache_dir=cache, workers=workers)
        found.append(ranks(manifest, cache))
    assert found[0] == found[1]
    assert found[0][:5] == RANKS


@pytest.mark.parametrize(("state", "q_ids"), [("uncited", ["Q1"]), ("dropped", ["Q2"]), ("missed", ["Q3"])])
def test_a_list_is_filtered_by_gold_state(tmp_path: Path, state: GoldState, q_ids: list[str]) -> None:
    store = built(workspace(tmp_path / "ws", lines(GOLD)), tmp_path / "cache")
    page = store.page(Filter(RUN, gold=(state,)), Sort(), limit=9, offset=0)
    assert list(page["q_id"]) == q_ids
    assert sorted(store.options(RUN)["gold"]) == [
        ("answered", 1),
        ("dropped", 1),
        ("missed", 1),
        ("uncited", 1),
    ]


def test_bad_gold_lines_are_findings_and_the_good_ones_count(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines([b"{no json", {"q_id": "Q2"}, *GOLD]))
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert [(issue.source.file, issue.source.line, issue.code) for issue in run.issues] == [
        ("gold.jsonl", 1, "not_json"),
        ("gold.jsonl", 2, "q_missing"),
    ]
    assert ranks(manifest, tmp_path / "cache") == RANKS


@pytest.mark.parametrize("gold", [None, b"\x00\x01\x02\x03 no text at all"])
def test_gold_that_cannot_be_used_is_a_problem_and_the_labels_stay(
    tmp_path: Path, gold: bytes | None
) -> None:
    manifest = workspace(tmp_path / "ws", gold)
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert len(run.problems) + run.line_issues == 1
    rows = table_of(manifest, RUN, tmp_path / "cache")
    assert {(row["label"], row["gold_state"]) for row in rows} == {("ok", None)}
    assert Store(manifest, tmp_path / "cache").options(RUN)["gold"] == ()


def test_other_gold_makes_the_index_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = workspace(tmp_path / "ws", lines(GOLD))
    build_index(manifest, cache_dir=tmp_path / "cache")
    with monkeypatch.context() as patch:  # a page asks that of every run before it is drawn
        patch.delattr("hashlib.file_digest")
        assert index_state(manifest, RUN, tmp_path / "cache") == "fresh"
    (tmp_path / "ws" / "gold.jsonl").write_bytes(lines(GOLD[:1]))
    assert index_state(manifest, RUN, tmp_path / "cache") == "stale"
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert ranks(manifest, tmp_path / "cache")[1] == ("Q2", None, None, None, None)


def test_within_a_label_the_worst_gold_comes_first_and_unknown_gold_last(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws", lines(GOLD), traces=6), tmp_path / "cache")
    page = store.page(Filter(RUN), Sort(), limit=9, offset=0)
    assert list(page["q_id"]) == ["Q4", "Q3", "Q2", "Q1", "Q6", "Q5"]


def test_counts_follow_the_filter_without_its_gold_part(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws", lines(GOLD), traces=6), tmp_path / "cache")
    counts = dict.fromkeys(GOLD_STATES, 0) | dict.fromkeys(
        ("answered", "missed", "dropped", "uncited", "cited"), 1
    )
    assert store.gold_counts(Filter(RUN, gold=("missed",))) == counts
    assert set(store.gold_counts(Filter(RUN, label=("refusal_ok",))).values()) == {0}


def test_a_paraphrase_is_judged_by_the_gold_of_its_question(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines(GOLD))
    append(manifest, lines([trace("Q6", paraphrase=1), trace("Q6", answer="not in context", seed=1)]))
    store = built(manifest, tmp_path / "cache")
    counts = store.gold_counts(Filter(RUN, all_variants=True))
    assert (counts["cited"], counts["uncited"]) == (1, 2)
    assert store.gold_counts(Filter(RUN))["cited"] == 0


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_the_index_says_of_every_trace_what_python_says(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("property")
    ids = st.lists(st.sampled_from(["c1", "c2", "c3"]), max_size=3)
    answers = [
        "not in context",
        "I do not know.",
        "",
        "It holds 4 litres.",
        "citations: [c1]",
        "citations: [c3, x]",
    ]
    records = data.draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "q_id": st.sampled_from(["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]),
                    "chunks": ids.map(lambda names: [{"id": name} for name in names]),
                    "answer": st.sampled_from(answers),
                    "citations": ids.map(lambda names: [{"chunk_id": name} for name in names]),
                }
            ),
            min_size=1,
            max_size=8,
        )
    )
    (folder / "gold.jsonl").write_bytes(lines(GOLD))
    more = [
        {"q": "What holds the oil filter?", "paraphrase": place, **record}
        for place, record in enumerate(records)
    ]
    manifest = write_workspace(folder, {RUN: more}, gold={"path": "gold.jsonl"})
    store = built(manifest, folder / "cache")
    labeller, _ = labeller_for(find_inputs(manifest, Profile(), None, cache_dir=folder / "cache"))
    file = folder / "runs" / f"{RUN}.jsonl"
    reported = [
        gold_outcome(
            item, labeller.targets.get(item.q_id), labeller.verdict(item), labeller.places, citations(item)
        )
        if item.q_id in labeller.questions
        else None
        for item in iter_traces(file, file="", run_id=RUN)
        if isinstance(item, Trace)
    ]
    rows = table_of(manifest, RUN, folder / "cache")
    assert [row["gold_state"] for row in rows] == [each.state if each else None for each in reported]
    counted = Counter(each.state for each in reported if each)
    assert store.gold_counts(Filter(RUN, all_variants=True)) == {
        state: counted[state] for state in GOLD_STATES
    }
