"""Citations of whole runs: looked for as the page does it, and what lists say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.types import Profile
from proofspan.errors import Problem, StoreFault
from proofspan.evidence.locate_bulk import MAX_FAULTS, Answer
from proofspan.evidence.types import SpanQuery
from proofspan.services.health.parity import logged_of_run
from proofspan.services.page.target import targets_of
from proofspan.services.passes.locating import place_runs
from proofspan.services.question.view import load_question
from proofspan.store.files.evidence_states import EVIDENCE_STATES
from proofspan.store.files.located import read_citations
from proofspan.store.files.run_file import read_run_file
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.traces import iter_traces
from tests.unit.passes.placing_room import (
    DOCUMENTS,
    TRACES,
    FakePool,
    cite,
    place,
    place_run,
    shown,
    workspace,
)
from tests.unit.store_workspace import RUN, lines, manifest_of, trace


def test_each_trace_has_the_states_of_its_citations(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    report = place(manifest, cache)
    rows = Store(manifest, cache).page(Filter(RUN), Sort("q_id"), limit=99, offset=0)
    assert dict(zip(rows["q_id"], rows["evidence"], strict=True)) == {
        "Q1": ["exact"],
        "Q2": ["page_mismatch", "normalized", "exact"],
        "Q3": ["numbers_differ", "fuzzy"],
        "Q4": ["not_found", "fuzzy"],
        "Q5": ["not_placed"],
        "Q6": ["not_placed"],
        "Q7": [],
        "Q8": ["exact"],
        "Q9": ["not_placed"],
    }
    agreement = dict(zip(rows["q_id"], rows["agreement"], strict=True))
    assert {q_id: value for q_id, value in agreement.items() if value == value} == {
        "Q1": 1.0, "Q2": 0.99, "Q3": 0.9, "Q4": 0.0, "Q8": 1.0,
    }  # fmt: skip
    assert report.citations == 10
    assert report.reasons == {"document_not_listed": 1, "missing": 1, "no_document": 1}
    assert [problem.code for problem in report.problems] == ["missing"]


def test_lists_are_filtered_counted_and_sorted_by_it(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    store = Store(manifest, cache)
    assert shown(manifest, cache, "numbers_differ") == ["Q3"]
    assert shown(manifest, cache, "not_found", "page_mismatch") == ["Q2", "Q4"]
    assert store.evidence_counts(Filter(RUN, evidence=("exact",))) == {
        **dict.fromkeys(EVIDENCE_STATES, 0),
        "not_found": 1,
        "numbers_differ": 1,
        "page_mismatch": 1,
        "fuzzy": 2,
        "not_placed": 3,
        "normalized": 1,
        "exact": 3,
    }
    assert shown(manifest, cache, by="evidence")[:3] == ["Q4", "Q3", "Q2"]
    assert shown(manifest, cache, by="evidence")[-1] == "Q7", "what cites nothing comes last"
    facts = store.run_facts(RUN).placed
    assert facts is not None
    assert (facts.citations, facts.located, facts.counts["not_placed"]) == (10, 7, 3)


def test_the_citations_themselves_can_be_read(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    placed = Store(manifest, cache).placed(RUN)
    assert placed is not None
    (second,) = placed[(placed["q_id"] == "Q2") & (placed["number"] == 2)].to_dict("records")
    expected = {"doc_id": "manual", "section_id": "4.2", "cited_page_idx": 4, "page_idx": 3}
    expected |= {"status": "normalized", "page_mismatch": True, "agreement": 0.99, "reason": None}
    assert {name: second[name] for name in expected} == expected
    (text,) = placed[placed["q_id"] == "Q8"].to_dict("records")
    assert (text["status"], text["page_mismatch"]) == ("exact", False)


def test_it_looks_for_what_the_question_page_looks_for(tmp_path: Path, cache: Path) -> None:
    records = [trace("Q1"), *TRACES[1:5]]  # the first has its quote from its chunk
    manifest = workspace(tmp_path / "w", records)
    asked: list[SpanQuery] = []

    class Listening(FakePool):
        def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
            asked.extend(queries)
            yield from super().locate_each(path, queries)

    place(manifest, cache, Listening())
    chunks, _ = read_chunks(manifest.folder / "chunks.jsonl", file="chunks.jsonl")
    found = iter_traces(tmp_path / "w" / "runs" / f"{RUN}.jsonl", file="R1.jsonl", run_id=RUN)
    traces = [item for item in found if isinstance(item, Trace)]
    views = [load_question(t, chunks=chunks, gold={}, corpus=None, profile=Profile()) for t in traces]
    on_pages = {
        t.query for view in views for t in targets_of(view) if t.kind == "cited" and t.doc_id == "manual"
    }
    assert set(asked) == on_pages
    assert len(asked) == len(on_pages), "the same quote of the same page is looked for once"


def test_a_document_that_hangs_costs_its_time_once_for_all_runs(tmp_path: Path, cache: Path) -> None:
    quotes = [f"hung {number}" for number in range(4 * MAX_FAULTS)]
    manifest = workspace(tmp_path / "w", [trace("Q1", **cite(*quotes))], runs=(RUN, "R2"))
    build_index(manifest, cache_dir=cache)
    hung = Problem("timed_out", "no answer", "manual.pdf", "try again")
    pool = FakePool(dict.fromkeys(quotes, hung))
    for report in place_runs(manifest, [RUN, "R2"], cache_dir=cache, pool=pool):
        assert report.reasons == {"timed_out": len(quotes)}
        assert [problem.code for problem in report.problems] == ["timed_out"]
    assert len(pool.asked) == MAX_FAULTS


def test_repeats_keep_their_own_citations(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", [trace("Q1", **cite("exact")), trace("Q1", **cite("absent"))])
    place(manifest, cache)
    placed = Store(manifest, cache).placed(RUN)
    assert placed is not None
    assert list(zip(placed["repeat"], placed["status"], strict=True)) == [
        (1, "exact"),
        (2, "not_found"),
    ]


def test_bad_lines_do_not_shift_what_belongs_to_whom(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", [b"{broken", TRACES[0], b"[]", TRACES[3]])
    place(manifest, cache)
    assert shown(manifest, cache, "not_found") == ["Q4"]


def test_a_run_that_opens_on_its_report_has_the_cited_chunks_placed(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    row = {"q": "What?", "label": "ok", "why": "", "chunks": ["c1"], "citations_in_answer": ["c1"]}
    (manifest.folder / "report.jsonl").write_bytes(lines([row]))
    manifest = manifest_of(
        manifest.folder,
        chunks={"path": "chunks.jsonl"},
        documents=DOCUMENTS,
        runs=[{"run_id": RUN, "report": {"path": "report.jsonl"}}],
    )
    pool = FakePool()
    assert place(manifest, cache, pool).citations == 1
    assert pool.asked == [("manual.pdf", "exact")]


def test_a_run_without_index_is_refused(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    with pytest.raises(StoreFault) as fault:
        place_run(manifest, RUN, cache_dir=cache, pool=FakePool())
    assert fault.value.problems[0].code == "not_indexed"


def test_only_the_index_is_read_once_there_is_one(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    path = manifest.folder / "runs" / f"{RUN}.jsonl"
    traces = [item for item in iter_traces(path, file="", run_id=RUN) if isinstance(item, Trace)]
    path.unlink()
    assert place_run(manifest, RUN, cache_dir=cache, pool=FakePool()).citations == 10
    store, folder = Store(manifest, cache), index_folder(manifest, RUN, cache)
    run_file = read_run_file(folder)
    assert run_file is not None
    (segment,) = run_file.segments
    cited = [(each.q_id, each.citation) for each in read_citations(folder, run_file, segment)]
    assert cited == [(each.q_id, citation) for each in traces for citation in citations(each)]
    assert logged_of_run(store, RUN) == {}


def test_progress_counts_traces_and_ends_with_all_of_them(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", [*TRACES, TRACES[6]])
    build_index(manifest, cache_dir=cache)
    steps: list[tuple[int, int, int]] = []
    place_run(
        manifest,
        RUN,
        cache_dir=cache,
        pool=FakePool(),
        on_progress=lambda step: steps.append((step.done, step.total, step.rows)),
    )
    assert steps == sorted(steps)
    assert steps[-1] == (10, 10, 10)
