"""The rules that a question breaks: its record's findings, its run's, and how many others break them."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.manifest.types import Manifest
from proofspan.services.question.rules import BrokenRule, broken_rules
from proofspan.services.question.view import QuestionView, load_question, stored_question
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.stored_reports import read_report
from proofspan.traces.records.traces import read_trace_at
from tests.unit.store_workspace import ENVELOPE, built, lines, manifest_of, trace, write_workspace

PINNED = {"run_id": "R1", "traces": {"path": "runs/R1.jsonl"}, "pinned": {"analyzer": "lowercase"}}
STATE = ENVELOPE | {"mem_rev": "r1", "mem_hash": "sha256:" + "aa" * 32}


def answered(number: int, **more: object) -> dict[str, object]:
    """A trace with a question and an answer of its own."""
    answer = f"Torque the bolts to 30 Nm, number {number}.\ncitations: [c1]"
    return trace(f"Q{number}", **{"q": f"Which bolts, {number}?", "answer": answer} | STATE | more)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """Four traces that break a rule each, one of them what the analyzer of two others breaks too."""
    folder = tmp_path_factory.mktemp("workspace")
    stale = {"q": "Which bolts, 9?", "answer": answered(1)["answer"], "analyzer": "stem"}
    write_workspace(
        folder,
        {
            "R1": [
                answered(1, analyzer="stem"),
                answered(2, analyzer="stem", mem_rev="r2"),
                answered(3, answer="It holds oil."),
                answered(1),
                answered(9, **stale),
                answered(5, analyzer="stem", paraphrase=1, answer="Check the oil."),
            ]
        },
    )
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=[PINNED])


@pytest.fixture(scope="module")
def store(manifest: Manifest) -> Store:
    return built(manifest, manifest.folder / "cache")


def view_of(manifest: Manifest, store: Store, key: TraceKey) -> tuple[QuestionView, list[str]]:
    """The question as its page loads it, and its codes in the index."""
    found = store.find(key)
    assert found is not None
    path = manifest.folder / "runs" / "R1.jsonl"
    read = read_trace_at(path, found.source, run_id=key.run_id, q_id=key.q_id)
    chunks, _ = read_chunks(manifest.folder / "chunks.jsonl", file="chunks.jsonl")
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in chunks.items()})
    codes = found.row["codes"]
    assert isinstance(codes, list)
    return load_question(read, chunks=chunks, gold={}, corpus=corpus, profile=Profile()), codes


def broken(manifest: Manifest, store: Store, key: TraceKey) -> dict[str, BrokenRule]:
    view, codes = view_of(manifest, store, key)
    found = broken_rules(store, manifest, key, view, codes=codes, corpus={"c1", "c2", "c3"})
    assert {each.rule.code for each in found} == set(codes)  # page and table cannot differ
    return {each.rule.code: each for each in found}


def test_a_finding_says_its_place_its_values_and_how_many_questions_have_it(
    manifest: Manifest, store: Store
) -> None:
    differs = broken(manifest, store, TraceKey("R1", "Q1"))["analyzer_mismatch"]
    (finding,) = differs.problems
    assert ("stem" in finding.message, "lowercase" in finding.message) == (True, True)
    assert (differs.questions, differs.is_shared) == (3, True)
    of_variant = broken(manifest, store, TraceKey("R1", "Q5", paraphrase=1))["analyzer_mismatch"]
    assert (of_variant.questions, of_variant.is_shared) == (3, True)


@pytest.mark.parametrize(
    ("key", "code", "expected"),
    [
        (TraceKey("R1", "Q2"), "memory_desync", "mem_rev is r2 and mem_hash is sha256:aaaa"),
        (TraceKey("R1", "Q1", repeat=2), "duplicate_question", "this is answer 2 of the run"),
        (TraceKey("R1", "Q9"), "answer_repeated", "candidates, answer and citations are those of Q1"),
        (TraceKey("R1", "Q3"), "template_violated", "no citations where the profile looks (template seed)"),
    ],
)
def test_what_only_the_run_shows_has_its_sentence(
    manifest: Manifest, store: Store, key: TraceKey, code: str, expected: str
) -> None:
    (finding,) = broken(manifest, store, key)[code].problems
    assert finding.message.startswith(expected)


def test_errors_come_first_and_a_record_in_order_has_none(manifest: Manifest, store: Store) -> None:
    assert store.same_answer(TraceKey("R1", "Q3")) is None
    assert store.same_answer(TraceKey("R1", "Q1")) is None  # the first of its kind
    assert broken(manifest, store, TraceKey("R1", "Q1", repeat=2)).keys() == {"duplicate_question"}


def test_a_question_of_a_report_alone_has_the_codes_of_the_index(tmp_path: Path, cache: Path) -> None:
    write_workspace(tmp_path, {})
    row = {"q_id": "Q1", "q": "Which oil?", "label": "ok"}
    (tmp_path / "report.jsonl").write_bytes(lines([row, row]))
    manifest = manifest_of(tmp_path, runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    store = built(manifest, cache)
    (_, second), _ = read_report(tmp_path / "report.jsonl", file="report.jsonl")
    view = stored_question(second, run_id="R1", chunks={}, gold={}, profile=Profile(), unpaged=frozenset())
    key = TraceKey("R1", "Q1", repeat=2)
    (found,) = broken_rules(store, manifest, key, view, codes=["duplicate_question"], corpus=())
    assert (found.rule.code, found.is_shared) == ("duplicate_question", False)
