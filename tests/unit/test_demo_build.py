"""The demo workspace is what its script makes, and holds what it is there to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from core.contracts.chunk_ids import parse
from core.contracts.records import LineIssue, Trace
from core.manifest.check import check_workspace
from core.manifest.load import load_manifest
from core.traces.canonical import stages
from core.traces.chunks import read_chunks
from core.traces.citations import citations
from core.traces.gold import read_gold
from core.traces.traces import iter_traces
from core.triage.corpus import Corpus
from core.triage.reflect import reflect
from core.triage.types import Profile, ReportRow
from tools.demo import build as demo
from tools.demo.markup import SOFT_HYPHEN, plain
from tools.demo.markup import parse as parse_manual

DEMO = demo.DEFAULT
SIZE_LIMIT = 1_500_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "workspace"
    demo.write(folder)
    return folder


def _bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def _read(run_id: str) -> tuple[list[Trace], list[LineIssue]]:
    path = DEMO / "runs" / run_id / "trace.jsonl"
    found = list(iter_traces(path, file=path.name, run_id=run_id))
    traces = [each for each in found if isinstance(each, Trace)]
    return traces, [each for each in found if isinstance(each, LineIssue)]


def _rows(run_id: str) -> dict[str, ReportRow]:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in chunks.items()})
    return {trace.q_id: reflect(trace, corpus, Profile()) for trace in _read(run_id)[0]}


def test_building_it_again_gives_the_committed_bytes(built: Path) -> None:
    assert _bytes(built) == _bytes(DEMO)


def test_every_artifact_is_there_with_its_hash() -> None:
    report = check_workspace(load_manifest(DEMO))
    assert {artifact.state for artifact in report.artifacts} == {"ok"}
    assert sum(len(data) for data in _bytes(DEMO).values()) < SIZE_LIMIT


def test_its_records_are_read_without_a_complaint() -> None:
    _, chunk_issues = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    _, gold_issues = read_gold(DEMO / "gold/goldset.jsonl", file="goldset.jsonl")
    assert not chunk_issues and not gold_issues
    assert [(issue.source.line, issue.code) for issue in _read("R001")[1]] == [(10, "not_json")]
    assert _read("R002")[1] == []


def test_the_two_runs_show_every_label() -> None:
    labels = {row.label for run_id in ("R001", "R002") for row in _rows(run_id).values()}
    assert labels == {"ok", "generation_drift", "retrieval_drift", "refusal_ok", "refusal_suspect"}


def test_each_planted_fault_shows_as_declared() -> None:
    first, second = _rows("R001"), _rows("R002")
    assert (first["Q07"].label, first["Q07"].why) == ("generation_drift", "template/citations violated")
    assert first["Q11"].label == "retrieval_drift"
    assert (first["Q12"].label, first["Q12"].why) == (
        "generation_drift",
        "answer text not grounded in evidence",
    )
    assert second["Q01"].label == "ok"
    assert second["Q01"].signals.numbers_unsupported == ("4.8",)
    assert second["Q07"].label == "generation_drift"
    assert "citation_outside_retrieved" in second["Q07"].suspicions
    declared = (DEMO / "FAULTS.md").read_text(encoding="utf-8")
    for run_id, q_id in [("R001", "Q07"), ("R001", "Q10"), ("R001", "Q11"), ("R001", "Q12"), ("R002", "Q01")]:
        assert f"| {run_id} | {q_id} |" in declared


def test_the_three_numbers_of_a_page_differ() -> None:
    with pymupdf.open(DEMO / "corpus/meridian-2026.pdf") as document:
        labels = [page.get_label() for page in document]
    assert labels[:5] == ["i", "ii", "iii", "iv", "1"]
    assert labels[8] == "5"


def test_every_gold_quote_and_every_chunk_stands_on_its_page() -> None:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    gold, _ = read_gold(DEMO / "gold/goldset.jsonl", file="goldset.jsonl")
    with pymupdf.open(DEMO / "corpus/meridian-2026.pdf") as document:
        pages = [_letters(page.get_text()) for page in document]
    for chunk in chunks.values():
        parts = parse(chunk.chunk_id)
        assert parts is not None and parts.page_idx == chunk.page_idx is not None
        assert _letters(chunk.text) in pages[chunk.page_idx], chunk.chunk_id
    for question in gold.values():
        assert all(
            span.page_idx is not None and _letters(span.quote) in pages[span.page_idx]
            for span in question.spans
        )
        assert question.answerable == bool(question.spans)


def test_boxes_hold_the_text_that_they_are_given_for() -> None:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    with pymupdf.open(DEMO / "corpus/meridian-2026.pdf") as document:
        for chunk in chunks.values():
            assert chunk.box is not None and chunk.page_idx is not None
            inside = document[chunk.page_idx].get_text("words", clip=_grown(chunk.box))
            assert _letters(" ".join(word[4] for word in inside)) == _letters(chunk.text), chunk.chunk_id


def test_a_word_is_broken_at_a_line_end_and_another_has_a_ligature() -> None:
    with pymupdf.open(DEMO / "corpus/meridian-2026.pdf") as document:
        lines = [line for page in document for line in page.get_text().splitlines()]
    assert any(line.endswith("dis-") for line in lines)
    assert any("ﬁlter" in line for line in lines)


def test_offsets_of_payloads_count_in_the_documents_text() -> None:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    text = "\n\n".join(chunk.text for chunk in chunks.values())
    misquoted = {("R002", "Q01")}
    for run_id in ("R001", "R002"):
        for trace in _read(run_id)[0]:
            for citation in citations(trace):
                if citation.offsets is None or (run_id, trace.q_id) in misquoted:
                    continue
                assert text[citation.offsets.start : citation.offsets.end] == citation.quote


def test_the_second_run_reranks_what_it_retrieved() -> None:
    for trace in _read("R002")[0]:
        names = {stage.name: [c.chunk_id for c in stage.candidates] for stage in stages(trace)}
        if names:
            assert set(names["reranked"]) <= set(names["retrieved"])
            assert names["chunks"] == names["reranked"]


def test_the_markup_refuses_what_it_does_not_know() -> None:
    assert plain(f"oil \ufb01l{SOFT_HYPHEN}ter") == "oil filter"
    with pytest.raises(ValueError, match="no known mark"):
        parse_manual("* a bullet that the markup does not have")


def test_a_gold_quote_that_the_manual_does_not_hold_stops_the_build() -> None:
    question: dict[str, Any] = {"q_id": "Q", "q": "?", "gold": {"section": "8.1", "quote": "9.9 litres"}}
    with pytest.raises(ValueError, match=r"9\.9 litres"):
        demo._gold(question, [])


def _grown(box: tuple[float, float, float, float], by: float = 2.0) -> tuple[float, float, float, float]:
    return box[0] - by, box[1] - by, box[2] + by, box[3] + by


def _letters(text: str) -> str:
    """Text without white space, hyphens and ligatures: what a page and a chunk must agree on."""
    return "".join(text.replace("ﬁ", "fi").replace("-", "").split())


def test_runs_are_json_of_one_shape() -> None:
    for line in (DEMO / "runs/R002/trace.jsonl").read_bytes().splitlines():
        assert {"run_id", "q_id", "q", "chunks", "stages", "answer", "citations", "ok"} <= json.loads(
            line
        ).keys()
