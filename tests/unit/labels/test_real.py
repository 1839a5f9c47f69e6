"""The signals on real answers: people's ratings, and ten traces over filings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.bench_verdicts import auc
from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.suggest import add_facts, suggest_profile
from proofspan.diagnosis.types import Profile, ReportRow
from tests.made_traces import made_trace

pytestmark = pytest.mark.real_data


def trace_of(record: dict[str, Any]) -> Trace:
    return made_trace(record, run_id=None)


def test_coverage_separates_what_people_call_unfaithful(
    real_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads((real_data / "inspectorraget" / "clapnq_30_tasks.json").read_text(encoding="utf-8"))
    tasks = {task["task_id"]: task for task in data["tasks"]}
    corpus = Corpus(
        {each["document_id"]: each["text"] for task in tasks.values() for each in task["contexts"]}
    )
    covered: dict[bool, list[float]] = {True: [], False: []}
    labelled: dict[bool, list[float]] = {True: [], False: []}
    for result in data["results"]:
        task = tasks[result["task_id"]]
        record = {
            "q": task["input"][-1]["text"],
            "answer": result["output"][0]["content"],
            "chunks": [{"id": each["document_id"]} for each in task["contexts"]],
        }
        row = reflect(trace_of(record), corpus, Profile(template="none"))
        ratings = [int(each["value"]) for each in result["scores"]["faithfulness"].values()]
        faithful = sum(ratings) / len(ratings) > 2  # of 1 (no) to 4 (yes)
        covered[faithful].append(row.signals.answer_coverage or 0.0)
        labelled[faithful].append(float(row.label == "ok"))
    by_coverage, by_label = auc(covered[True], covered[False]), auc(labelled[True], labelled[False])
    with capsys.disabled():
        sizes = f"{len(covered[False])} of {len(data['results'])} answers unfaithful"
        print(f"\nAUC against people's ratings: coverage {by_coverage:.3f}, label {by_label:.3f}; {sizes}")
    assert by_coverage > 0.93
    assert by_coverage > by_label


def filings(real_data: Path) -> tuple[list[Trace], Corpus]:
    """The ten traces, each with the five reranked chunks that its answerer saw."""
    chunks: dict[str, str] = {}
    traces = []
    for place, line in enumerate((real_data / "financebench" / "rag_traces.jsonl").read_bytes().splitlines()):
        found = orjson.loads(line)
        seen = {
            f"{place}-{n}": each["page_content"] for n, each in enumerate(found["result"]["reranked_chunks"])
        }
        chunks |= seen
        record = {
            "q": found["sample"]["question"],
            "answer": found["result"]["prediction"],
            "chunks": [{"id": name} for name in seen],
        }
        traces.append(trace_of(record))
    return traces, Corpus(chunks)


def rows_of(traces: list[Trace], corpus: Corpus, profile: Profile) -> tuple[list[ReportRow], dict[str, int]]:
    rows, facts = [], {}
    for trace in traces:
        rows.append(reflect(trace, corpus, profile))
        add_facts(facts, trace, rows[-1], profile)
    return rows, facts


def test_ten_filings_are_distinguished_by_the_suggested_profile(real_data: Path) -> None:
    traces, corpus = filings(real_data)
    rows, facts = rows_of(traces, corpus, Profile())
    assert {row.why for row in rows} == {"template/citations violated"}
    suggestion = suggest_profile(facts, Profile())
    assert suggestion is not None
    assert suggestion.profile == Profile(template="none", refusal=("i don't know",))

    rows, _ = rows_of(traces, corpus, suggestion.profile)
    refused = {place for place, row in enumerate(rows) if row.label == "refusal_suspect"}
    assert refused == {0, 1, 2, 4}
    numbers = {place: row.signals.numbers_unsupported for place, row in enumerate(rows)}
    # "3.0 percentage points" of the seventh answer is the difference of two rates that it names.
    assert not [found for found in numbers.values() if found]
    answered = {place: row.signals.answer_coverage or 0.0 for place, row in enumerate(rows)}
    grounded, from_memory = {7, 8}, {5}
    assert min(answered[place] for place in grounded) > 0.5 > max(answered[place] for place in from_memory)
