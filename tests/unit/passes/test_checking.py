"""Claims of whole runs: checked as the Question page does it, kept, and joined to the rows of the index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
    ClaimEvidence,
    ClaimStatus,
    claim_records,
)
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.errors import InputFault, StoreFault
from proofspan.manifest.types import Manifest
from proofspan.services.export import EXPORTS
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.passes import checking
from proofspan.services.passes.checking import CheckedReport, check_runs, is_checked
from proofspan.services.question.claims import judged_question
from proofspan.services.question.view import load_question
from proofspan.store.files import checked as stored
from proofspan.store.files.checked import CLAIM_COLUMNS, CLAIM_STATUSES, CLAIMS_FOLDER
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import place_of, read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import mapped
from proofspan.traces.records.traces import iter_traces
from tests.unit.store_workspace import CHUNKS, RUN, append, lines, manifest_of, trace, write_workspace

DIFFERS, HOLDS = "The oil filter holds 5 litres.", "The oil filter holds 4 litres."
UNKNOWN = "Nobody mentions elephants anywhere."
STATUSES: Mapping[str, ClaimStatus] = {DIFFERS: "differs", HOLDS: "supported", UNKNOWN: "unsupported"}
TRACES = [
    trace("Q1"),
    trace("Q2", answer=f"{DIFFERS} {HOLDS} {UNKNOWN} citations: [c1]"),
    trace("Q3", answer="not in context"),
    trace("Q4", answer=""),
    trace("Q5", answer="Check the coolant every week. citations: [c2]"),
]


class Scripted(Checker):
    """A checker that needs no rules: what a sentence of `TRACES` is called, by its text."""

    def check(self, trace: Trace, profile: Profile, *rest: object) -> CheckedAnswer:
        texts = [
            each for each in (DIFFERS, HOLDS, "Nobody mentions elephants anywhere.") if each in trace.answer
        ]
        claims = tuple(self._claim(text, trace.answer.index(text)) for text in texts)
        supports = [each.support for each in claims]
        return CheckedAnswer(claims, min(supports) if supports else None)

    def _claim(self, text: str, at: int) -> CheckedClaim:
        status: ClaimStatus = (
            "supported" if text == HOLDS else "differs" if text == DIFFERS else "unsupported"
        )
        evidence = ClaimEvidence("prompt", "c1", 0, 30, HOLDS, "manual") if status != "unsupported" else None
        number = ClaimDifference("number", "5", at + 21, at + 22, "4", 21, 22)
        differences = (number,) if status == "differs" else ()
        support = {"supported": 1.0, "differs": 0.5, "unsupported": 0.123456}[status]
        return CheckedClaim(
            Claim(text, at, at + len(text), "sentence"), status, support, evidence, differences
        )


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "Checker", Scripted)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def workspace(folder: Path, **more: object) -> Manifest:
    return write_workspace(folder, {RUN: TRACES}, **more)


def check(manifest: Manifest, cache: Path, **options: Any) -> CheckedReport:
    build_index(manifest, cache_dir=cache)
    (report,) = check_runs(manifest, [RUN], cache_dir=cache, **options)
    return report


def rows(manifest: Manifest, cache: Path, **parts: Any) -> dict[str, dict[str, Any]]:
    """Claim columns by question, of what a filter keeps."""
    run = Store(manifest, cache)._kept.loaded(RUN)
    names = ["q_id", *CLAIM_COLUMNS.names]
    found = {row["q_id"]: row for row in run.table(names).select(names).to_pylist()}
    shown = Store(manifest, cache).places(Filter(RUN, **parts), Sort("q_id"))["q_id"]
    return {q_id: found[q_id] for q_id in shown}


def claim_files(manifest: Manifest, cache: Path) -> list[Path]:
    return sorted((index_folder(manifest, RUN, cache) / CLAIMS_FOLDER).glob("*.arrow"))


@pytest.mark.usefixtures("scripted")
def test_each_answer_has_its_support_contradictions_and_counts(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    report = check(manifest, cache)
    assert (report.answers, report.checked) == (5, 5)
    assert report.claims == {"supported": 2, "differs": 1, "unsupported": 1}
    assert report.differing == {"number": 1}
    found = rows(manifest, cache)
    assert found["Q2"] == {
        "q_id": "Q2",
        "support": 0.1235,
        "contradictions": 1,
        "claim_count": 3,
        **{f"claims_{status}": 0 for status in CLAIM_STATUSES},
        "claims_supported": 1,
        "claims_differs": 1,
        "claims_unsupported": 1,
        "claim_statuses": ["supported", "differs", "unsupported"],
        "difference_kinds": ["number"],
        "grounded": "contradicted",
        "correct": "unknown",
        "cause": "contradicted",
        "certainty": "certain",
        "cause_sentence": "Wrong number: the answer says 5; its evidence says 4 (c1).",
        "cause_doc": "manual",
        "harm": 1,
    }
    assert (found["Q1"]["support"], found["Q1"]["contradictions"]) == (1.0, 0)
    assert (found["Q3"]["support"], found["Q3"]["contradictions"], found["Q3"]["claim_count"]) == (None, 0, 0)


@pytest.mark.usefixtures("scripted")
def test_lists_are_filtered_sorted_and_counted_by_claims(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    assert list(rows(manifest, cache, contradictions=True)) == ["Q2"]
    assert list(rows(manifest, cache, contradictions=False)) == ["Q1", "Q3", "Q4", "Q5"]
    assert list(rows(manifest, cache, claim=("unsupported",))) == ["Q2"]
    assert list(rows(manifest, cache, difference=("number", "date"))) == ["Q2"]
    assert list(rows(manifest, cache, difference=("date",))) == []
    assert list(rows(manifest, cache, support="0-0.5")) == ["Q2"]
    assert list(rows(manifest, cache, support="0.5-1")) == ["Q1"]
    store = Store(manifest, cache)
    assert store.places(Filter(RUN), Sort("support"))["q_id"].tolist()[:2] == ["Q2", "Q1"]
    assert store.places(Filter(RUN), Sort("contradictions", descending=True))["q_id"][0] == "Q2"
    counted = store.claim_counts(Filter(RUN, claim=("derived",)))
    assert counted == dict.fromkeys(CLAIM_STATUSES, 0) | {"supported": 2, "differs": 1, "unsupported": 1}
    assert store.options(RUN)["difference"] == (("number", 1),)
    checked = store.run_facts(RUN).checked
    assert checked is not None
    assert checked.claims == {"supported": 2, "differs": 1, "unsupported": 1}


@pytest.mark.usefixtures("scripted")
def test_metrics_say_of_how_many_and_what_was_left_out(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    values = run_metrics(Store(manifest, cache), manifest, RUN).values
    support, contradicted = values["claim_support"], values["contradicted_answers"]
    assert (support.value, support.denominator, support.left_out) == (0.56175, 2, {"no_claims": 3})
    assert (contradicted.numerator, contradicted.denominator) == (1, 2)
    claims = values["supported_claims"]
    assert (claims.numerator, claims.denominator) == (2, 4)


def test_a_run_that_is_not_checked_has_no_zeros(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    store = Store(manifest, cache)
    assert not is_checked(manifest, RUN, cache)
    assert not store.are_claims_checked(RUN)
    assert store.run_facts(RUN).checked is None
    assert store.claim_counts(Filter(RUN)) == {}
    assert store.options(RUN)["difference"] == ()
    nothing = dict.fromkeys(CLAIM_COLUMNS.names)
    assert all({**row, "q_id": None} == nothing | {"q_id": None} for row in rows(manifest, cache).values())
    assert not rows(manifest, cache, contradictions=False) and not rows(manifest, cache, support="0-1")
    value = run_metrics(store, manifest, RUN).values["contradicted_answers"]
    assert (value.value, value.left_out) == (None, {"not_checked": 5})
    check(manifest, cache)
    assert is_checked(manifest, RUN, cache)
    assert store.are_claims_checked(RUN), "the same store picks it up"


def test_the_question_page_finds_the_same_claims(tmp_path: Path, cache: Path) -> None:
    gold = [{"q_id": "Q5", "q": "How often?", "chunks": ["c3"]}]
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "gold.jsonl").write_bytes(lines(gold))
    manifest = workspace(tmp_path / "w", gold={"path": "gold.jsonl"})
    check(manifest, cache)
    chunks, _ = read_chunks(manifest.folder / "chunks.jsonl", file="chunks.jsonl")
    corpus = Corpus(mapped(chunks, lambda chunk: chunk.text))
    checker = Checker(corpus.texts, corpus.survey, mapped(chunks, place_of))
    questions, _ = read_gold(manifest.folder / "gold.jsonl", file="gold.jsonl")
    found = iter_traces(manifest.folder / "runs" / f"{RUN}.jsonl", file="R1.jsonl", run_id=RUN)
    live: dict[str, object] = {}
    for each in found:
        assert isinstance(each, Trace)
        view = load_question(each, chunks=chunks, corpus=corpus, profile=Profile(), gold=questions)
        judged = judged_question(view, checker, follows=True)
        assert judged is not None
        live[each.q_id] = orjson.loads(orjson.dumps(claim_records(judged.checked.claims)))
        row, verdict = rows(manifest, cache)[each.q_id], judged.verdict
        assert row["contradictions"] == judged.checked.contradictions
        assert [row[name] for name in ("grounded", "correct", "cause", "certainty", "harm")] == [
            *(verdict.grounded, verdict.correct, verdict.cause, verdict.certainty, verdict.harm)
        ]
        assert (row["cause_sentence"], row["cause_doc"]) == (verdict.sentence, verdict.doc_id)
    assert live == claims_of(manifest, cache)
    assert any(live.values())


def claims_of(manifest: Manifest, cache: Path) -> dict[str, object]:
    """The claims by question, from the export."""
    pieces = EXPORTS["jsonl"].pieces(Store(manifest, cache).rows(Filter(RUN), Sort("q_id"), with_claims=True))
    records = map(orjson.loads, "".join(pieces).splitlines())
    return {record["q_id"]: record["claims"] for record in records}


@pytest.mark.usefixtures("scripted")
def test_an_export_holds_the_claims_as_json(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    assert set(map(repr, claims_of(manifest, cache).values())) == {"None"}
    check(manifest, cache)
    claims: Any = claims_of(manifest, cache)
    assert claims["Q3"] == []
    assert [(each["status"], each["support"]) for each in claims["Q2"]] == [
        ("differs", 0.5), ("supported", 1.0), ("unsupported", 0.1235),
    ]  # fmt: skip
    (difference,) = claims["Q2"][0]["differences"]
    assert (difference["kind"], difference["claimed"], difference["found"]) == ("number", "5", "4")
    store = Store(manifest, cache)
    csv = "".join(EXPORTS["csv"].pieces(store.rows(Filter(RUN), Sort("q_id"), with_claims=True)))
    assert '""status"":""differs""' in csv


@pytest.mark.usefixtures("scripted")
def test_an_export_goes_on_when_its_files_are_replaced(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    read = Store(manifest, cache)._kept.loaded(RUN).claims()
    for path in claim_files(manifest, cache):
        path.unlink()
    assert [text is not None and text[:2] for text in read(np.array([1, 0]))] == ["[{", "[{"]
    assert not Store(manifest, cache).are_claims_checked(RUN)


def test_two_processes_find_what_one_finds(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 300)
    manifest = workspace(tmp_path / "w")
    assert check(manifest, cache, workers=1).checked == 5
    assert len(claim_files(manifest, cache)) == 2
    one = claims_of(manifest, cache)
    other = tmp_path / "other"
    assert check(manifest, other, workers=2).checked == 5
    assert claims_of(manifest, other) == one
    assert rows(manifest, other) == rows(manifest, cache)


def test_an_interrupted_pass_goes_on_where_it_was(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 300)
    manifest = workspace(tmp_path / "w")
    whole, done = checking._check_segment, []

    def stops(*given: Any) -> int:
        if done:
            raise KeyboardInterrupt
        done.append(whole(*given))
        return done[0]

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(checking, "_check_segment", stops)
        check(manifest, cache)
    assert not is_checked(manifest, RUN, cache)
    assert check(manifest, cache).checked == len(TRACES) - done[0]
    assert check(manifest, cache).checked == 0


def test_of_a_file_that_has_grown_only_the_new_lines_are_checked(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    append(manifest, lines([trace("Q6"), trace("Q7")]))
    build_index(manifest, cache_dir=cache)
    assert not is_checked(manifest, RUN, cache)
    steps = []
    assert check(manifest, cache, on_progress=steps.append).checked == 2
    assert [(step.done, step.total, step.rows) for step in (steps[0], steps[-1])] == [(5, 7, 0), (7, 7, 2)]
    assert len(rows(manifest, cache)) == 7


@pytest.mark.parametrize("change", ["chunks", "version", "file"])
def test_what_was_made_by_other_chunks_or_rules_is_checked_again(
    tmp_path: Path, cache: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    stored.claims_version.cache_clear()
    if change == "chunks":
        text = {**CHUNKS[0], "text": "The oil filter holds 5 litres."}
        (manifest.folder / "chunks.jsonl").write_bytes(lines([text, *CHUNKS[1:]]))
        build_index(manifest, cache_dir=cache)
    elif change == "version":
        monkeypatch.setattr(stored, "CLAIMS_VERSION", 0)
    else:
        claim_files(manifest, cache)[0].write_bytes(b"ARROW1 damaged")
        assert not Store(manifest, cache).are_claims_checked(RUN)
    assert check(manifest, cache).checked == 5
    assert Store(manifest, cache).are_claims_checked(RUN)
    assert len(claim_files(manifest, cache)) == 1
    stored.claims_version.cache_clear()


def test_a_damaged_file_of_an_interrupted_pass_is_made_again(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    check(manifest, cache)
    (file,) = claim_files(manifest, cache)
    (file.parent / stored.CLAIMS_FILE).unlink()
    file.write_bytes(file.read_bytes()[:200])
    assert check(manifest, cache).checked == 5
    assert is_checked(manifest, RUN, cache)


def test_traces_that_are_replaced_meanwhile_are_not_mixed(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    (manifest.folder / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q9")]))
    with pytest.raises(InputFault) as raised:
        list(check_runs(manifest, [RUN], cache_dir=cache))
    assert raised.value.problems[0].code == "file_changing"
    assert claim_files(manifest, cache) == []


def test_without_chunks_a_label_and_an_index_nothing_is_checked(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "w"
    workspace(folder)
    runs = [{"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}}]
    manifest = manifest_of(folder, runs=runs)
    with pytest.raises(StoreFault):
        list(check_runs(manifest, [RUN], cache_dir=cache))
    assert check(manifest, cache).claims == {}
    assert rows(manifest, cache)["Q1"]["claim_count"] is None
    value = run_metrics(Store(manifest, cache), manifest, RUN).values["claim_support"]
    assert value.left_out == {"no_label": 5}


def test_a_run_of_a_stored_report_has_no_claims(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "w"
    workspace(folder)
    (folder / "report.jsonl").write_bytes(lines([{"q": "What?", "label": "ok", "why": "", "q_id": "Q1"}]))
    chunks = {"path": "chunks.jsonl"}
    manifest = manifest_of(folder, chunks=chunks, runs=[{"run_id": RUN, "report": {"path": "report.jsonl"}}])
    assert check(manifest, cache).claims == {}
    assert rows(manifest, cache)["Q1"]["claim_count"] is None
