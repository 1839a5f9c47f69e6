"""Two real sources through the import command: every count, every gold quote on its page, triage."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from proofspan.cli import main
from proofspan.contracts.records.records import GoldQuestion, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.suggest import add_facts, suggest_profile
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.manifest.check import check_workspace
from proofspan.manifest.load import load_manifest
from proofspan.services.suggesting.draft import suggested
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.contract import context_of, trace_codes
from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.workspace import import_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.trace_record import stages
from proofspan.traces.records.traces import iter_traces

#: The imported workspace, the command's exit status and its report.
Outcome = tuple[Path, int, dict[str, Any]]

MAPPINGS = Path(__file__).parents[2] / "data" / "mappings"


def _import(source: Path, mapping: str, to: Path) -> tuple[int, dict[str, Any]]:
    arguments = ["import", "mapped", str(source), "--mapping", str(MAPPINGS / mapping)]
    arguments += ["--to", str(to), "--json"]
    with pytest.raises(SystemExit) as ended, redirect_stdout(TextIOWrapper(BytesIO(), "utf-8")) as out:
        main([*arguments, "--link" if source.stat().st_dev == to.parent.stat().st_dev else "--copy"])
    out.flush()
    return int(str(ended.value.code)), json.loads(out.buffer.getvalue())


@pytest.fixture(scope="module")
def filings(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The imported filings, the command's exit status and its report."""
    workspace = tmp_path_factory.mktemp("import") / "filings"
    source = real_data / "financebench" / "rag_traces.jsonl"
    return workspace, *_import(source, "financebench.yaml", workspace)


def _traces(workspace: Path) -> list[Trace]:
    path = workspace / "runs/R001/trace.jsonl"
    return [each for each in iter_traces(path, file=path.name, run_id="R001") if isinstance(each, Trace)]


def test_every_count_of_the_filings(filings: Outcome) -> None:
    workspace, status, report = filings
    assert status == 1
    assert (report["traces"], report["traces_with_gold"], report["gold"], report["chunks"]) == (
        10,
        10,
        44,
        737,
    )
    assert len(report["documents"]["present"]) == 12  # five are named by unasked gold questions alone
    assert len(report["documents"]["missing"]) == 136
    assert report["issues"] == []
    assert [each["code"] for each in report["problems"]] == ["mojibake"]  # a dash in a quote of the gold
    counts = {each["field"]: (each["found"], each["absent"], each["unusable"]) for each in report["fields"]}
    assert counts["traces.stages.retrieved.score"] == (0, 750, 0)
    assert counts["traces.stages.retrieved.page"] == (750, 0, 0)
    assert counts["traces.stages.reranked.score"] == (50, 0, 0)
    assert counts["gold.spans.page"] == (48, 0, 0)
    whole = {count for field, count in counts.items() if field.startswith(("traces.q", "traces.answer"))}
    assert whole == {(10, 0, 0)}
    for trace in _traces(workspace):
        lengths = {stage.name: len(stage.candidates) for stage in stages(trace)}
        assert lengths == {"retrieved": 75, "reranked": 5, "chunks": 5}


def test_the_filings_workspace_opens_and_check_names_what_is_missing(
    filings: Outcome, tmp_path: Path
) -> None:
    manifest = load_manifest(filings[0])
    states = Counter(artifact.state for artifact in check_workspace(manifest).artifacts)
    assert states == {"ok": 15, "missing": 136}
    report = build_index(manifest, cache_dir=tmp_path / "cache")
    assert [(run.rows, run.line_issues) for run in report.runs] == [(10, 0)]
    assert Store(manifest, tmp_path / "cache").total("R001") == 10


def test_at_which_rank_the_ten_found_their_gold_page(filings: Outcome, tmp_path: Path) -> None:
    """Seven answers never had the page before them: four were retrieved and dropped, three not at all."""
    manifest = load_manifest(filings[0])
    build_index(manifest, cache_dir=tmp_path / "cache")
    store = Store(manifest, tmp_path / "cache")
    ranks = {
        str(row.q_id).removeprefix("financebench_id_"): (
            None if pd.isna(row.gold_seen_rank) else row.gold_seen_rank,
            None if pd.isna(row.gold_retrieved_rank) else row.gold_retrieved_rank,
        )
        for row in store.page(Filter("R001"), Sort(), limit=10, offset=0).itertuples()
    }
    assert ranks == {
        "04672": (None, 15),
        "01226": (None, None),
        "01935": (None, 13),
        "01079": (1, 1),
        "01928": (None, 69),
        "00720": (None, None),
        "01351": (1, 2),
        "00288": (1, 1),
        "10285": (None, 4),
        "00678": (None, None),
    }
    assert store.options("R001")["gold"] == (("dropped", 4), ("missed", 3), ("seen", 3))


def test_one_profile_says_nothing_of_the_ten_and_the_suggested_one_parts_them(
    filings: Outcome,
) -> None:
    chunks, issues = read_chunks(filings[0] / "corpus/chunks.jsonl", file="chunks.jsonl")
    assert issues == []
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in chunks.items()})
    facts: dict[str, int] = {}
    rows = []
    for trace in _traces(filings[0]):
        rows.append(reflect(trace, corpus, Profile()))
        add_facts(facts, trace, rows[-1], Profile())
    assert Counter(row.label for row in rows) == {"generation_drift": 10}
    suggestion = suggest_profile(facts, Profile())
    assert suggestion is not None and suggestion.profile.template == "none"
    judged = {trace.q_id: reflect(trace, corpus, suggestion.profile) for trace in _traces(filings[0])}
    assert {q_id for q_id, row in judged.items() if _refused(row)} == {
        "financebench_id_04672",
        "financebench_id_01226",
        "financebench_id_01935",
        "financebench_id_01928",
    }


def test_the_ten_owe_nothing_that_only_our_logging_owes(filings: Outcome) -> None:
    manifest = load_manifest(filings[0])
    chunks, _ = read_chunks(filings[0] / "corpus/chunks.jsonl", file="chunks.jsonl")
    context = context_of(manifest, manifest.runs[0], chunks)
    codes = Counter(
        code
        for trace in _traces(filings[0])
        for code in trace_codes(trace, context, declines=trace.answer == "I don't know.")
    )
    assert context.is_foreign and codes == {}


def _refused(row: ReportRow) -> bool:
    return row.label in ("refusal_ok", "refusal_suspect")


def test_every_evidence_text_of_the_filings_is_on_the_page_it_names(
    filings: Outcome, real_data: Path
) -> None:
    gold, issues = read_gold(filings[0] / "gold/goldset.jsonl", file="goldset.jsonl")
    assert issues == []
    with PdfPool() as pool:
        places = _places(gold.values(), real_data / "financebench" / "pdfs", pool)
    assert len(places) == 48
    assert all(page_idx == stated for page_idx, stated in places)


def test_the_car_manuals_truth_is_on_the_printed_page_taken_as_an_index(
    real_data: Path, tmp_path: Path
) -> None:
    workspace = tmp_path / "car"
    status, report = _import(real_data / "car_manual/ground_truth.json", "car-manual.yaml", workspace)
    assert status == 0
    assert (report["traces"], report["gold"], report["chunks"]) == (0, 5, 9)
    gold, _ = read_gold(workspace / "gold/goldset.jsonl", file="goldset.jsonl")
    chunks, _ = read_chunks(workspace / "corpus/chunks.jsonl", file="chunks.jsonl")
    assert {span.page_idx for question in gold.values() for span in question.spans} == {126, 127, 128, 147}
    for question in gold.values():
        assert [chunks[chunk_id].text for chunk_id in question.chunks] == [
            span.quote for span in question.spans
        ]
    with PdfPool() as pool:
        places = _places(gold.values(), workspace / "corpus", pool)
    assert Counter(page_idx == stated for page_idx, stated in places) == {True: 9}


def test_the_models_of_an_experiment_are_runs_joined_with_their_tasks_and_documents(
    real_data: Path, tmp_path: Path
) -> None:
    source = real_data / "inspectorraget" / "clapnq_30_tasks.json"
    status, report = _import(source, "inspectorraget.yaml", tmp_path / "ws")
    assert status == 0
    assert (report["traces"], report["traces_with_gold"], report["chunks"]) == (90, 90, 30)
    runs = [(run.run_id, run.title) for run in load_manifest(tmp_path / "ws").runs]
    assert runs == [("R001", "gpt"), ("R002", "mistral"), ("R003", "llama")]
    counts = {each["field"]: (each["found"], each["absent"]) for each in report["fields"]}
    assert counts["traces.where"] == (90, 30) and counts["traces.join.task"] == (120, 0)
    assert counts["traces.stages.retrieved.text"] == (90, 0)


def test_the_mapping_suggested_for_the_filings_reads_what_the_written_one_reads(
    filings: Outcome, real_data: Path, tmp_path: Path
) -> None:
    source = real_data / "financebench" / "rag_traces.jsonl"
    text, is_usable = suggested(source)
    (mapping := tmp_path / "map.yaml").write_text(text)
    report = import_source(MAPPED, source, workspace=tmp_path / "ws", files={"mapping": mapping})
    assert is_usable and (report.traces, report.joined) == (10, 10)
    found, written = (
        [
            (each.q_id, each.answer, [c.page_idx for stage in stages(each) for c in stage.candidates])
            for each in _traces(workspace)
        ]
        for workspace in (tmp_path / "ws", filings[0])
    )
    assert found == written


def _places(
    questions: Iterable[GoldQuestion], folder: Path, pool: PdfPool
) -> list[tuple[int | None, int | None]]:
    """The page on which each quote was located, and the page that the source states."""
    found = []
    for span in (span for question in questions for span in question.spans):
        place = pool.locate(folder / f"{span.doc_id}.pdf", SpanQuery(span.quote, span.page_idx))
        found.append((place.page_idx, span.page_idx))
    return found
