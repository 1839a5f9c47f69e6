"""Citations of whole runs: looked for as the page does it, once, and unknown when something changes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.contracts.records import Trace
from core.errors import Problem, StoreFault
from core.evidence.bulk import MOST_FAULTS, Answer
from core.evidence.types import Difference, FoundSpan, SpanQuery
from core.manifest.types import Manifest
from core.services import placing
from core.services.placing import PlacedReport, is_placed, place_run, place_runs
from core.services.questions import load_question
from core.services.spans import targets_of
from core.services.workspace import with_profile
from core.store import placed as placed_module
from core.store import remembered
from core.store.filters import Filter, Sort
from core.store.index import build_index, index_folder
from core.store.placed import EVIDENCE_STATES, PLACED_FOLDER
from core.store.queries import Store
from core.traces.chunks import read_chunks
from core.traces.traces import iter_traces
from core.triage.types import Profile
from tests.unit.store_workspace import RUN, append, lines, manifest_of, trace

DOCUMENTS: list[dict[str, object]] = [
    {"doc_id": "manual", "path": "manual.pdf"},
    {"doc_id": "bulletin", "path": "bulletin.md", "paged": False},
    {"doc_id": "lost", "path": "lost.pdf"},
]
#: Quote → what the fake pool finds.
FOUND = {
    "exact": FoundSpan("exact", 4, False, 1.0),
    "other page": FoundSpan("normalized", 3, True, 0.99),
    "figures": FoundSpan("fuzzy", 4, False, 0.9, differences=(Difference("2.3", "2.5", "number"),)),
    "words": FoundSpan("fuzzy", 4, False, 0.95, differences=(Difference("may", "must", "word"),)),
    "absent": FoundSpan("not_found", None, False, 0.0),
}


class FakePool:
    """Stands where documents are opened, and keeps what it was asked."""

    def __init__(self, found: Mapping[str, FoundSpan | Problem] = FOUND) -> None:
        self._found = found
        self.asked: list[tuple[str, str]] = []

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
        for query in queries:
            self.asked.append((path.name, query.quote))
            answer = self._found.get(query.quote, FOUND["exact"])
            yield answer
            if isinstance(answer, Problem):
                return


def cite(*quotes: str, doc_id: str | None = "manual", page: int = 5) -> dict[str, Any]:
    """A trace's payload with one citation a quote, cited on the 1-based `page`."""
    cited = [{"quote": quote, "page": page, "section_id": "4.2"} for quote in quotes]
    return {"citations": [{**each, **({"doc_id": doc_id} if doc_id else {})} for each in cited]}


TRACES = [
    trace("Q1", **cite("exact")),
    trace("Q2", **cite("exact", "other page")),
    trace("Q3", **cite("figures")),
    trace("Q4", **cite("words", "absent")),
    trace("Q5", **cite("unlisted", doc_id="elsewhere")),
    trace("Q6", **cite("lost", doc_id="lost")),
    trace("Q7", answer="Nothing is cited here.", citations=[]),
    trace("Q8", **cite("Torque the bolts to 30 Nm.", doc_id="bulletin", page=1)),
    trace("Q9", **cite("no document", doc_id=None)),
]


def workspace(folder: Path, records: Sequence[object] = TRACES, runs: Sequence[str] = (RUN,)) -> Manifest:
    """A workspace with a PDF that only the fake pool reads, a text, and a document that is not there."""
    (folder / "runs").mkdir(parents=True)
    (folder / "manual.pdf").write_bytes(b"%PDF-1.7 manual")
    (folder / "bulletin.md").write_text("# Wheels\n\nTorque the bolts to 30 Nm.\n")
    (folder / "chunks.jsonl").write_bytes(lines([{"chunk_id": "c1", "doc_id": "manual", "text": "exact"}]))
    for run_id in runs:
        (folder / "runs" / f"{run_id}.jsonl").write_bytes(lines(records))
    listed = [{"run_id": run_id, "traces": {"path": f"runs/{run_id}.jsonl"}} for run_id in runs]
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=listed, documents=DOCUMENTS)


def place(manifest: Manifest, cache: Path, pool: FakePool | None = None, run_id: str = RUN) -> PlacedReport:
    build_index(manifest, cache_dir=cache)
    return place_run(manifest, run_id, cache_dir=cache, pool=pool or FakePool())


def shown(manifest: Manifest, cache: Path, *states: str, by: str = "q_id") -> list[str]:
    """The questions of a list that is filtered by `states`."""
    filtered = Filter(RUN, evidence=states, all_variants=True)  # type: ignore[arg-type]
    return [str(q_id) for q_id in Store(manifest, cache).page(filtered, Sort(by), limit=99, offset=0)["q_id"]]


def test_each_trace_says_what_became_of_its_citations(tmp_path: Path, cache: Path) -> None:
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
    assert (facts.citations, facts.placed, facts.counts["not_placed"]) == (10, 7, 3)


def test_the_citations_themselves_can_be_read(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    citations = Store(manifest, cache).placed(RUN)
    assert citations is not None
    (second,) = citations[(citations["q_id"] == "Q2") & (citations["number"] == 2)].to_dict("records")
    expected = {"doc_id": "manual", "section_id": "4.2", "cited_page_idx": 4, "page_idx": 3}
    expected |= {"status": "normalized", "page_mismatch": True, "agreement": 0.99, "reason": None}
    assert {name: second[name] for name in expected} == expected
    (text,) = citations[citations["q_id"] == "Q8"].to_dict("records")
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
        t.query for view in views for t in targets_of(view) if t.layer == "cited" and t.doc_id == "manual"
    }
    assert set(asked) == on_pages
    assert len(asked) == len(on_pages), "the same quote of the same page is looked for once"


def test_a_second_look_asks_nothing(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    first, again = place(manifest, cache), FakePool()
    second = place(manifest, cache, again)
    assert again.asked == []
    assert (second.counts, second.problems, second.located) == (first.counts, first.problems, 0)


def test_a_run_that_grows_asks_for_what_is_new(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    more = [trace(f"N{n}", **cite("exact", f"new {n % 10}")) for n in range(1_000)]
    append(manifest, lines(more))
    again = FakePool()
    report = place(manifest, cache, again)
    assert sorted(again.asked) == [("manual.pdf", f"new {n}") for n in range(10)]
    assert report.citations == 2_010
    assert shown(manifest, cache, "not_found") == ["Q4"]


def test_what_one_run_asked_no_other_run_and_no_other_reading_asks_again(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", runs=(RUN, "R2"))
    build_index(manifest, cache_dir=cache)
    pool = FakePool()
    first, second = place_runs(manifest, [RUN, "R2"], cache_dir=cache, pool=pool)
    assert (first.located, second.located) == (6, 0)
    assert second.counts == first.counts
    otherwise, again = with_profile(manifest, Profile("none")), FakePool()
    assert place(otherwise, cache, again).counts == first.counts
    assert again.asked == []


def touched(path: Path) -> None:
    """The file as if it had been written a second later."""
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 10**9))


def test_a_changed_document_makes_its_states_unknown_until_it_is_looked_at_again(
    tmp_path: Path, cache: Path
) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    touched(manifest.folder / "manual.pdf")
    store = Store(manifest, cache)
    assert shown(manifest, cache, "exact") == []
    assert (store.placed(RUN), store.run_facts(RUN).placed, store.evidence_counts(Filter(RUN))) == (
        None,
        None,
        {},
    )
    assert list(store.page(Filter(RUN), Sort("q_id"), limit=1, offset=0)["evidence"]) == [None]
    assert not is_placed(manifest, RUN, cache)
    again = FakePool()
    place(manifest, cache, again)
    assert len(again.asked) == 5, "the bulletin did not change"
    assert shown(manifest, cache, "exact") == ["Q1", "Q2", "Q8"]
    assert is_placed(manifest, RUN, cache)


def test_a_document_that_appears_is_looked_at(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    (manifest.folder / "lost.pdf").write_bytes(b"%PDF-1.7 found again")
    again = FakePool()
    assert place(manifest, cache, again).problems == ()
    assert again.asked == [("lost.pdf", "lost")]


@pytest.mark.parametrize(
    "documents",
    [
        [*DOCUMENTS, {"doc_id": "elsewhere", "path": "manual.pdf"}],
        [{**DOCUMENTS[0], "paged": False}, *DOCUMENTS[1:]],
        [],
    ],
    ids=["one more", "one without pages", "none"],
)
def test_what_the_manifest_says_of_documents_counts(
    tmp_path: Path, cache: Path, documents: list[object]
) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    runs = [{"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}}]
    changed = manifest_of(manifest.folder, chunks={"path": "chunks.jsonl"}, runs=runs, documents=documents)
    assert Store(changed, cache).placed(RUN) is None


def test_new_chunks_and_another_locator_make_states_unknown(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w", [trace("Q1")])
    place(manifest, cache)
    chunk = {"chunk_id": "c1", "doc_id": "manual", "text": "absent"}
    (manifest.folder / "chunks.jsonl").write_bytes(lines([chunk]))
    build_index(manifest, cache_dir=cache)
    assert Store(manifest, cache).placed(RUN) is None
    place(manifest, cache)
    assert shown(manifest, cache, "not_found") == ["Q1"]
    monkeypatch.setattr(placed_module, "locator_version", lambda: "another")
    assert Store(manifest, cache).placed(RUN) is None


def test_an_open_store_sees_what_is_placed_later_and_a_change_within_a_second(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placed_module, "LOOK_AGAIN", 0.0)
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    store = Store(manifest, cache)
    assert store.matching(Filter(RUN, evidence=("exact",))) == 0
    place(manifest, cache)
    assert store.matching(Filter(RUN, evidence=("exact",))) == 3
    touched(manifest.folder / "manual.pdf")
    assert store.matching(Filter(RUN, evidence=("exact",))) == 0


def spoil(path: Path) -> None:
    """Damage in the middle of a file, of the same length."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b""), Path.unlink])
def test_a_damaged_file_of_placements_is_noticed_and_made_anew(
    tmp_path: Path, cache: Path, damage: Any
) -> None:
    manifest = workspace(tmp_path / "w", TRACES * 20)
    place(manifest, cache)
    folder = index_folder(manifest, RUN, cache) / PLACED_FOLDER
    (part,) = folder.glob("*.parquet")
    damage(part)
    assert Store(manifest, cache).placed(RUN) is None
    assert Store(manifest, cache).run_facts(RUN).placed is None
    again = FakePool()
    place(manifest, cache, again)
    assert again.asked == [], "the answers lie elsewhere"
    assert Store(manifest, cache).placed(RUN) is not None


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b"{}"), Path.unlink])
def test_damaged_answers_are_asked_for_again(tmp_path: Path, cache: Path, damage: Any) -> None:
    manifest = workspace(tmp_path / "w")
    first = place(manifest, cache)
    for path in (cache / "answers").glob("*.parquet"):
        damage(path)
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    again = FakePool()
    assert place(manifest, cache, again).counts == first.counts
    assert len(again.asked) == 5
    quiet = FakePool()
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    place(manifest, cache, quiet)
    assert quiet.asked == []


def test_the_folder_of_answers_is_bounded(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(remembered, "MOST_ANSWERS", 3)
    monkeypatch.setattr(remembered, "MOST_BYTES", 6_000)
    manifest = workspace(tmp_path / "w")
    (cache / "answers").mkdir(parents=True)
    for number in range(9):
        (cache / "answers" / f"{number}.parquet").write_bytes(b"x" * 1_000)
        os.utime(cache / "answers" / f"{number}.parquet", (number, number))
    (cache / "answers" / ".part-left").write_bytes(b"by a process that died")
    place(manifest, cache)
    left = {path.name for path in (cache / "answers").iterdir()}
    assert ".part-left" not in left and "0.parquet" not in left and "8.parquet" in left
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    again = FakePool()
    place(manifest, cache, again)
    assert [quote for _, quote in again.asked] == ["exact", "other page"], "the latest three are kept"


def test_what_hung_is_asked_again_at_the_next_look(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    hung = Problem("timed_out", "no answer", "manual.pdf", "try again")
    first = place(manifest, cache, FakePool({**FOUND, "absent": hung}))
    assert first.reasons["timed_out"] == 1
    assert [problem.code for problem in first.problems] == ["missing", "timed_out"]
    assert shown(manifest, cache, "not_found") == []
    again = FakePool()
    place(manifest, cache, again)
    assert again.asked == [("manual.pdf", "absent")]
    assert shown(manifest, cache, "not_found") == ["Q4"]


def test_a_document_that_hangs_costs_its_time_once_for_all_runs(tmp_path: Path, cache: Path) -> None:
    quotes = [f"hung {number}" for number in range(4 * MOST_FAULTS)]
    manifest = workspace(tmp_path / "w", [trace("Q1", **cite(*quotes))], runs=(RUN, "R2"))
    build_index(manifest, cache_dir=cache)
    hung = Problem("timed_out", "no answer", "manual.pdf", "try again")
    pool = FakePool(dict.fromkeys(quotes, hung))
    for report in place_runs(manifest, [RUN, "R2"], cache_dir=cache, pool=pool):
        assert report.reasons == {"timed_out": len(quotes)}
        assert [problem.code for problem in report.problems] == ["timed_out"]
    assert len(pool.asked) == MOST_FAULTS


def test_repeats_keep_their_own_citations(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", [trace("Q1", **cite("exact")), trace("Q1", **cite("absent"))])
    place(manifest, cache)
    citations = Store(manifest, cache).placed(RUN)
    assert citations is not None
    assert list(zip(citations["repeat"], citations["status"], strict=True)) == [
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


def test_a_run_without_index_and_one_whose_traces_were_replaced_are_refused(
    tmp_path: Path, cache: Path
) -> None:
    manifest = workspace(tmp_path / "w")
    with pytest.raises(StoreFault, match="no index yet"):
        place_run(manifest, RUN, cache_dir=cache, pool=FakePool())
    build_index(manifest, cache_dir=cache)
    (manifest.folder / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q7", **cite("absent"))]))
    with pytest.raises(StoreFault, match="was replaced after it was indexed"):
        place_run(manifest, RUN, cache_dir=cache, pool=FakePool())
    assert Store(manifest, cache).placed(RUN) is None


def test_an_interruption_leaves_nothing_half_written_and_keeps_what_was_found(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "WINDOW", 4)
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)

    class Interrupted(FakePool):
        def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
            for query in queries:
                if query.quote == "absent":
                    raise KeyboardInterrupt
                yield from super().locate_each(path, [query])

    with pytest.raises(KeyboardInterrupt):
        place_run(manifest, RUN, cache_dir=cache, pool=Interrupted(), workers=1)
    assert Store(manifest, cache).placed(RUN) is None
    assert not [path for path in cache.rglob("*") if path.name.startswith(".part-")]
    again = FakePool()
    place(manifest, cache, again)
    assert sorted(quote for _, quote in again.asked) == ["absent", "words"], "the first window was kept"


def test_who_waits_for_another_process_takes_the_index_as_that_left_it(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w", TRACES[:2])
    build_index(manifest, cache_dir=cache)
    real_turn = placing.turn

    @contextmanager
    def turn_after_another_process(folder: Path) -> Iterator[None]:
        monkeypatch.setattr(placing, "turn", real_turn)
        append(manifest, lines(TRACES[2:4]))
        place(manifest, cache)
        with real_turn(folder):
            yield

    monkeypatch.setattr(placing, "turn", turn_after_another_process)
    report = place_run(manifest, RUN, cache_dir=cache, pool=FakePool())
    assert (report.citations, report.located) == (6, 0)
    assert is_placed(manifest, RUN, cache)


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
