"""A what-if's ranks are those of the traces that it would write: any lists, any gold, any settings."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, cast

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.gold_eval import ChunkFile
from proofspan.metrics.ranked import CUTS, ranked
from proofspan.services.derived_runs import derived_record
from proofspan.services.whatif.engine import lists_by, usable
from proofspan.services.whatif.lists import Gathered, Lists
from proofspan.services.whatif.ranking import Outcomes, outcomes
from proofspan.services.whatif.save import WrittenLists, repeating
from proofspan.services.whatif.types import Settings
from proofspan.store.index.labelling import Labeller
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import Place
from tests.made_traces import made_trace

Json = Any
IDS = [f"c{number:02d}" for number in range(24)]
PLACES = {
    each: Place("d", f"{place // 8 + 1}.{place // 4 % 2}", place // 3) for place, each in enumerate(IDS)
}
KNOWN = ChunkFile(PLACES, {each: f"text of {each}" for each in IDS}, {})


def entries(rng: Random, ids: list[str]) -> list[Json]:
    found: list[Json] = []
    for chunk_id in ids:
        place = PLACES[chunk_id]
        entry: dict[str, Json] = {"id": chunk_id}
        if rng.random() < 0.5:
            entry |= {"doc_id": place.doc_id, "section_id": place.section_id, "page_idx": place.page_idx}
        if rng.random() < 0.9:
            entry["score"] = rng.choice([0.1, 0.2, 0.5, 0.9])
        features = {name: rng.choice([0.0, 0.5, 1.0, 2.0]) for name in ("f", "g") if rng.random() < 0.6}
        found.append(entry | ({"features": features} if features else {}))
    return found


def made_record(rng: Random, q_id: str) -> dict[str, Json]:
    """A trace of two lists, which may also log a fused and a reranked one, and which may lack anything."""
    lists = {name: rng.sample(IDS, rng.randrange(15)) for name in ("a", "b")}
    ids = sorted({*lists["a"], *lists["b"]})
    rng.shuffle(ids)
    retrieved = entries(rng, ids)
    for entry in retrieved:
        ranks = {f"{name}_rank": of.index(entry["id"]) + 1 for name, of in lists.items() if entry["id"] in of}
        entry["features"] = entry.get("features", {}) | ranks
    stages: dict[str, Json] = {"retrieved": retrieved} if rng.random() < 0.9 else {}
    last = ids
    for name, size in (("fused", 12), ("reranked", 8)):
        if rng.random() < 0.5:
            last = rng.sample(last, min(size, len(last)))
            stages[name] = entries(rng, last)
    record: dict[str, Json] = {"q_id": q_id, "q": "Which?", "answer": "This.", "stages": stages}
    if rng.random() < 0.8:
        record["chunks"] = entries(rng, last[: rng.randrange(7)])
    return record


def made_gold(rng: Random, q_id: str) -> GoldQuestion:
    kind = rng.choice(["chunks", "sections", "pages", "none", "elsewhere"])
    if kind == "chunks":
        chunks = tuple(rng.sample(IDS, rng.randint(1, 3)))
        grades = {each: rng.randint(1, 3) for each in chunks if rng.random() < 0.5}
        return GoldQuestion(q_id, "Which?", chunks=chunks, grades=grades)
    if kind == "sections":
        return GoldQuestion(q_id, "Which?", sections=(rng.choice(["1.0", "2.1", "3", "9.9"]),))
    if kind == "pages":
        return GoldQuestion(q_id, "Which?", spans=(GoldSpan("d", rng.randrange(10), "quote"),))
    return GoldQuestion(q_id, "Which?", answerable=kind != "none", sections=("7.7",) * (kind == "elsewhere"))


WEIGHT = st.sampled_from([0.0, 0.5, 1.0, 3.0])
SETTINGS = st.builds(
    Settings,
    k=st.none() | st.sampled_from([0.5, 1.0, 60.0, 100_000.0]),
    weights=st.just(()) | st.tuples(st.tuples(st.just("a"), WEIGHT)),
    depth=st.none() | st.integers(1, 6),
    top=st.none() | st.integers(1, 15),
    ties=st.none() | st.sampled_from(["section", "chunk", "logged"]),
    rerank=st.just(()) | st.tuples(st.tuples(st.just("f"), WEIGHT), st.tuples(st.just("g"), WEIGHT)),
    is_unranked=st.booleans(),
    prompt=st.none() | st.integers(1, 8),
)


def gathered(records: list[dict[str, Json]], golds: Mapping[str, GoldQuestion]) -> tuple[Lists, Labeller]:
    """Return the lists of traces without a workspace: only settings of lists can be computed on them."""
    labeller = Labeller(Profile(), Corpus(KNOWN.texts), (), golds, None, KNOWN)
    found = Gathered(labeller, None)
    for record in records:
        found.add(made_trace(record))
    manifest = Manifest.__new__(Manifest)
    run = Run.__new__(Run)
    object.__setattr__(run, "record", None)
    object.__setattr__(run, "run_id", "R1")
    return found.lists(manifest, cast(Store, None), run, Profile(), pa.table({})), labeller


def numbers(found: Outcomes, row: int) -> dict[str, Json]:
    """Return a question's outcomes under the names of the index's columns, without those that are unknown."""
    columns = {
        name: getattr(found, name)[row]
        for name in ("section_rank", "top_rank", "section_coverage", "ndcg_10", "reciprocal_rank")
    }
    columns |= {f"recall_{cut}": found.recall[cut][row] for cut in CUTS}
    return {name: value for name, value in columns.items() if not np.isnan(value)} | {
        "bucket": found.bucket[row]
    }


@settings(max_examples=40)
@given(st.integers(0, 1 << 32), SETTINGS)
def test_ranks_are_those_of_the_traces_that_would_be_written(seed: int, asked: Settings) -> None:
    rng, q_ids = Random(seed), [f"Q{number}" for number in range(12)]
    records = [made_record(rng, q_id) for q_id in q_ids]
    lists, labeller = gathered(records, {q_id: made_gold(rng, q_id) for q_id in q_ids})
    used, _ = usable(lists, asked)
    new = lists_by(lists, used)
    found = outcomes(lists, new)
    for row, record in enumerate(records):
        logged = made_trace(record)
        lists_of = WrittenLists(lists, new, row, logged, repeating(lists))
        written = derived_record(logged, run_id="W", stages=lists_of.stages(), chunks=lists_of.prompt())
        relevance = labeller.judge.relevance(logged.q_id)
        expected = ranked(made_trace(written, run_id="W"), relevance, PLACES)
        if expected.unranked is not None:
            continue
        if found.rows[row]:
            columns = {name: value for name, value in expected.columns.items() if value is not None}
            assert numbers(found, row) == columns
        else:  # the index's own columns count
            assert expected == ranked(logged, relevance, PLACES)
