"""The demo's pipeline: what it writes down must be what it says it did."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import Chunk
from proofspan.manifest.load import load_manifest
from proofspan.store.index.plan import find_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.citations import citation_ids_in_text
from proofspan.traces.records.gold import read_gold
from tests.places import DEMO
from tools.demo import fuse, lexical, rerank
from tools.demo.analyzer import WITHOUT_PLURALS
from tools.demo.faults import read_faults
from tools.demo.fusion import rrf
from tools.demo.reader import REFUSAL
from tools.demo.runs import SETTINGS

pytestmark = pytest.mark.slow

Json = Any
DECIMALS = lexical.DECIMALS
REQUIRED = [
    "doc_id", "section_id", "snippet_id", "source_url", "offsets", "tokens", "index_hash", "embed_model",
    "analyzer", "rev", "score_raw", "score_norm", "k_pos", "window", "quote",
]  # fmt: skip
ENVELOPE = ("schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash")


class Demo(NamedTuple):
    """The workspace, read."""

    chunks: dict[str, Chunk]
    runs: dict[str, list[dict[str, Json]]]
    questions: dict[str, dict[str, Json]]
    folder: Path

    def traces(self, *run_ids: str) -> Iterable[dict[str, Json]]:
        """The traces of these runs, of all when none is named."""
        return (trace for run_id in run_ids or self.runs for trace in self.runs[run_id])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    manifest = load_manifest(DEMO)
    runs = {}
    for run in manifest.runs:
        source = find_source(manifest, run, cache_dir=tmp_path_factory.mktemp("cache"))
        assert source.path is not None
        runs[run.run_id] = _records(source.path.read_bytes())
    gold = _records((DEMO / "gold/goldset.jsonl").read_bytes())
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    return Demo(chunks, runs, {each["q_id"]: each for each in gold}, DEMO)


def _records(data: bytes) -> list[dict[str, Json]]:
    """The lines that parse: those of the fifth run's faults do not."""
    found = []
    for line in data.splitlines():
        try:
            found.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
    return found


def test_ids_say_where_a_chunk_is(demo: Demo) -> None:
    for chunk in demo.chunks.values():
        parts = parse(chunk.chunk_id)
        assert parts is not None
        assert (parts.doc_uid, parts.sect_path) == (chunk.doc_id, chunk.section_id)
        assert parts.block == chunk.order_in_section
        assert parts.page == (chunk.page_idx + 1 if chunk.doc_id == "meridian-2026" else 0)  # type: ignore[operator]


def test_sorting_by_id_is_reading_order_within_a_section(demo: Demo) -> None:
    sections = defaultdict(list)
    for chunk in demo.chunks.values():
        sections[chunk.doc_id, chunk.section_id].append(chunk.chunk_id)
    for ids in sections.values():
        assert ids == sorted(ids)


def test_offsets_give_the_text_in_both_documents(demo: Demo) -> None:
    texts = _canonical_texts(demo)
    for chunk in demo.chunks.values():
        assert chunk.offsets is not None and chunk.doc_id is not None
        assert texts[chunk.doc_id][chunk.offsets.start : chunk.offsets.end] == chunk.text


@pytest.mark.parametrize("name", ["corpus/catalogue.jsonl", "gold/goldset.jsonl"])
def test_data_sets_have_the_envelope_too(name: str) -> None:
    records = [orjson.loads(line) for line in (DEMO / name).read_bytes().splitlines()]
    assert records and all(record[field] for record in records for field in ENVELOPE)
    assert len({record["trace_id"] for record in records}) == len(records)


def test_chunk_records_have_every_field_of_the_contracts(demo: Demo) -> None:
    for chunk in demo.chunks.values():
        raw = chunk.raw
        assert all(raw[name] for name in ENVELOPE) and raw["event"] == "ingest.write"
        vector = raw["embedding"].pop("vector")
        made = {"model": "lsa-128", "dim": 128, "metric": "cosine", "normalized": any(vector)}
        assert raw["embedding"] == made and len(vector) == 128
        assert raw["lang"] in {"en", "fr", "ja"} and raw["anchors"] == raw["anchors"][:4]
        assert raw["anchor"] and raw["anchor"] in chunk.text and raw["text_normalized"]
        assert re.fullmatch(r"sha1:[0-9a-f]{40}", raw["hash"])
        assert ("bbox" in raw) == (chunk.doc_id == "meridian-2026") != ("span" in raw)
        assert "parts" not in raw or raw["parts"][0] == {"page_idx": chunk.page_idx, "bbox": raw["bbox"]}
    assert any("parts" in chunk.raw for chunk in demo.chunks.values())
    assert {chunk.raw["lang"] for chunk in demo.chunks.values()} == {"en", "fr", "ja"}


def test_the_bulletins_chunks_name_their_lines(demo: Demo) -> None:
    source = (demo.folder / "corpus/bulletin-07.md").read_text(encoding="utf-8").splitlines()
    for chunk in demo.chunks.values():
        if span := chunk.raw.get("span"):
            assert "\n".join(source[span["line_start"] - 1 : span["line_end"]]) == chunk.text


def test_rankings_are_rounded_and_in_the_pinned_order(demo: Demo) -> None:
    for trace in demo.traces():
        for entries in trace["stages"].values():
            keys = [(-entry["score"], entry["section_id"], entry["id"]) for entry in entries]
            assert keys == sorted(keys)
            assert all(
                number == round(number, DECIMALS)
                for entry in entries
                for number in (entry["score"], *entry["features"].values())
            )


def test_stages_are_nested(demo: Demo) -> None:
    steps = {setting.run_id: len(setting.stages) for setting in SETTINGS}
    for trace in demo.traces():
        lists = {name: [entry["id"] for entry in entries] for name, entries in trace["stages"].items()}
        assert len(lists) == {1: 1, 3: 2, 4: 3}[steps[trace["run_id"]]]
        last = lists["retrieved"]
        if "fused" in lists:
            assert set(lists["fused"]) <= set(lists["retrieved"]) and len(lists["fused"]) <= fuse.FUSED
            last = lists["fused"]
        if "reranked" in lists:
            assert sorted(lists["reranked"]) == sorted(lists["fused"])
            last = lists["reranked"]
        assert [entry["id"] for entry in trace["chunks"]] == last[:5]
        assert all(len(ids) == len(set(ids)) for ids in lists.values())


def test_fusing_the_two_lists_again_gives_the_fused_one(demo: Demo) -> None:
    for trace in demo.traces("R003", "R004", "R006"):
        retrieved = trace["stages"]["retrieved"]
        found = rrf([_ranker(retrieved, "bm25"), _ranker(retrieved, "dense")], k=60, limit=20)
        again = [(each.chunk_id, each.score) for each in found]
        assert again == [(entry["id"], entry["score"]) for entry in trace["stages"]["fused"]]


def test_each_ranker_gives_at_most_fifty_in_its_own_order(demo: Demo) -> None:
    for trace in demo.traces():
        for name in ("bm25", "dense"):
            mine = [entry for entry in trace["stages"]["retrieved"] if f"{name}_rank" in entry["features"]]
            mine.sort(key=lambda entry: entry["features"][f"{name}_rank"])
            scores = [(-entry["features"][name], entry["section_id"], entry["id"]) for entry in mine]
            assert scores == sorted(scores) and len(mine) <= fuse.DEPTH
            sources = {entry["source"] for entry in mine}
            assert sources <= {name, "both"}


def test_a_reranker_counts_a_sentence_and_its_section(demo: Demo) -> None:
    for trace in demo.traces("R004"):
        for entry in trace["stages"]["reranked"]:
            seen = entry["features"]
            parts = rerank.WEIGHTS["sentence"] * seen["maxsim_sentence"]
            parts += rerank.WEIGHTS["section"] * seen["maxsim_section"]
            assert entry["score"] == pytest.approx(parts, abs=1e-6)
            assert 0 <= seen["maxsim_sentence"] <= 1 and 0 <= seen["maxsim_section"] <= 1


def test_answers_quote_what_they_cite_or_refuse(demo: Demo) -> None:
    for trace in demo.traces("R001", "R002", "R003", "R004", "R006"):
        quotes = [payload["quote"] for payload in trace["citations"]]
        ids = dict.fromkeys(payload["snippet_id"] for payload in trace["citations"])
        assert trace["ok"] == bool(quotes)
        if not quotes:
            assert trace["answer"] == REFUSAL
            continue
        assert trace["answer"] == f"{' '.join(quotes)} citations: [{', '.join(ids)}]"
        assert citation_ids_in_text(trace["answer"]) == tuple(ids)
        assert set(ids) <= {entry["id"] for entry in trace["chunks"]} and len(quotes) <= 2
        assert len({(payload["doc_id"], payload["section_id"]) for payload in trace["citations"]}) == 1
        assert all(
            payload["quote"] in demo.chunks[payload["snippet_id"]].text for payload in trace["citations"]
        )


def test_payloads_have_every_required_field(demo: Demo) -> None:
    pinned = {run.run_id: run.pinned for run in load_manifest(demo.folder).runs}
    texts = _canonical_texts(demo)
    for trace in demo.traces("R001", "R002", "R003", "R004", "R006"):
        for payload in trace["citations"]:
            assert all(payload.get(name) is not None for name in REQUIRED)
            assert payload["index_hash"] == pinned[trace["run_id"]]["index_hash"]
            assert payload["analyzer"] == pinned[trace["run_id"]]["analyzer"] == trace["analyzer"]
            assert payload["embed_model"] == pinned[trace["run_id"]].get("embed_model", "none")
            start, end = payload["offsets"]["start"], payload["offsets"]["end"]
            assert texts[payload["doc_id"]][start:end] == payload["quote"]
            assert ("page" in payload) == (payload["doc_id"] == "meridian-2026")
            assert 0 < payload["score_norm"] <= 1


def test_ranks_of_payloads_are_those_of_the_lists(demo: Demo) -> None:
    for trace in demo.traces("R001", "R002", "R003", "R004", "R006"):
        lists = {name: [entry["id"] for entry in entries] for name, entries in trace["stages"].items()}
        before = lists.get("fused", lists["retrieved"])
        for payload in trace["citations"]:
            assert before[payload["k_pos"] - 1] == payload["snippet_id"]
            assert ("k_final" in payload) == ("reranked" in lists)
            if "reranked" in lists:
                assert lists["reranked"][payload["k_final"] - 1] == payload["snippet_id"]


def test_a_seed_turns_the_two_sentences_round(demo: Demo) -> None:
    turned = 0
    for siblings in _by_question(demo.runs["R004"]).values():
        for paraphrase in range(3):
            first, second = (
                [payload["quote"] for payload in siblings[paraphrase, seed]["citations"]] for seed in (0, 1)
            )
            assert second == first[::-1]
            turned += len(first) == 2
    assert turned


def test_every_trace_has_its_envelope_and_times_from_the_recording(demo: Demo) -> None:
    seen = set()
    for trace in demo.traces():
        assert all(trace[name] for name in ENVELOPE)
        assert trace["trace_id"] not in seen
        seen.add(trace["trace_id"])
        assert trace["latency_source"] == "recording"
        assert trace["latency_ms"] == pytest.approx(sum(trace["latency_by_stage_ms"].values()), abs=0.002)
        assert 0 <= trace["ΔS"] <= 2 and trace["ΔS"] == round(trace["ΔS"], 4)
    for records in demo.runs.values():
        times = [trace["ts"] for trace in records]
        assert times == sorted(times)


def test_two_runs_have_every_paraphrase_and_seed_and_the_others_the_first(demo: Demo) -> None:
    for run_id, records in demo.runs.items():
        variants = {q_id: set(siblings) for q_id, siblings in _by_question(records).items()}
        wanted = {(p, s) for p in range(3) for s in range(2)} if run_id in ("R004", "R006") else {(0, 0)}
        assert all(found == wanted for found in variants.values())
        if run_id != "R005":  # two of its lines are cut
            assert list(variants) == list(demo.questions)
    for trace in demo.runs["R006"]:
        question = demo.questions[trace["q_id"]]
        assert trace["q"] == [question["q"], *question["paraphrases"]][trace["paraphrase"]]


def test_lambda_is_counted_over_the_siblings_and_absent_elsewhere(demo: Demo) -> None:
    assert not any("λ" in trace for trace in demo.traces("R001", "R002", "R003", "R005"))
    for run_id in ("R004", "R006"):
        for siblings in _by_question(demo.runs[run_id]).values():
            ends = Counter(_end(trace) for trace in siblings.values())
            for trace in siblings.values():
                assert trace["λ"] == _state(ends[_end(trace)])


def _state(alike: int) -> str:
    return {6: "convergent", 5: "convergent", 4: "recursive", 3: "recursive", 2: "divergent", 1: "chaotic"}[
        alike
    ]


def _end(trace: Mapping[str, Json]) -> str:
    first = trace["citations"][0] if trace["citations"] else {}
    return f"{first.get('doc_id')} {first.get('section_id')}"


def test_gold_spans_are_in_their_chunks(demo: Demo) -> None:
    gold, issues = read_gold(demo.folder / "gold/goldset.jsonl", file="goldset.jsonl")
    texts = _canonical_texts(demo)
    assert not issues and len(gold) == 41
    assert [q_id for q_id, question in gold.items() if not question.answerable] == ["U1", "U2", "U3", "U4"]
    for question in gold.values():
        assert len(question.paraphrases) == 2 and question.answerable == bool(question.spans)
        assert set(question.chunks) <= set(demo.chunks)
        for span in question.spans:
            assert span.offsets is not None
            assert texts[span.doc_id][span.offsets.start : span.offsets.end] == span.quote


def test_only_the_fifth_run_has_faults_and_each_is_declared(demo: Demo) -> None:
    faults = read_faults()
    assert {fault["run"] for fault in faults} == {"R005"}
    declared = (demo.folder / "FAULTS.md").read_text(encoding="utf-8")
    assert all(f"| {fault['id']} " in declared and fault["found_by"] in declared for fault in faults)
    kinds = Counter(fault["kind"] for fault in faults)
    assert kinds == {
        "analyzer_mismatch": 1,
        "one_based_pages": 1,
        "no_template": 2,
        "unretrieved_id": 2,
        "misquoted_figure": 2,
        "stale_answer": 1,
        "stale_report": 1,
        "bad_line": 1,
        "unfinished_line": 1,
        "copied_metrics": 1,
    }
    assert {trace["analyzer"] for trace in demo.runs["R005"]} == {WITHOUT_PLURALS.name}


def _canonical_texts(demo: Demo) -> dict[str, str]:
    manual = [chunk.text for chunk in demo.chunks.values() if chunk.doc_id == "meridian-2026"]
    bulletin = (demo.folder / "corpus/bulletin-07.md").read_text(encoding="utf-8")
    return {"meridian-2026": "\n\n".join(manual), "bulletin-07": bulletin}


def _ranker(entries: Iterable[dict[str, Json]], name: str) -> list[Chunk]:
    """One ranker's list out of the union of both."""
    mine = [entry for entry in entries if f"{name}_rank" in entry["features"]]
    mine.sort(key=lambda entry: entry["features"][f"{name}_rank"])
    return [Chunk(entry["id"], "", section_id=entry["section_id"]) for entry in mine]


def _by_question(records: Iterable[dict[str, Json]]) -> dict[str, dict[tuple[int, int], dict[str, Json]]]:
    found: dict[str, dict[tuple[int, int], dict[str, Json]]] = defaultdict(dict)
    for trace in records:
        found[trace["q_id"]][trace["paraphrase"], trace["seed"]] = trace
    return found
