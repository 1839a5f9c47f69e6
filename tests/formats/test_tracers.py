"""Exports of Langfuse, LangSmith and MLflow: whole traces, rows, pages and tables, and broken ones."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import Fault
from proofspan.traces.formats.payloads import answer_in, passages_in, question_in, score_of, seconds_of
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.spans.langfuse import LANGFUSE
from proofspan.traces.formats.spans.langsmith import LANGSMITH
from proofspan.traces.formats.spans.mlflow import MLFLOW
from proofspan.traces.formats.types import Asked, Format, Reading
from proofspan.traces.registry import FORMATS, recognized

Q, A = "How much oil does the engine hold?", "It holds 4.5 litres."
OIL = {"page_content": "4.5 litres of oil.", "metadata": {"source": "manual.pdf", "page": 3}}
AIR = {"page_content": "2.3 bar of air.", "metadata": {"source": "manual.pdf", "page": 9}}


def read(each: Format, path: Path) -> tuple[list[Asked], Reading]:
    """Read a file that is recognized as this format, and by no other but the tables of any tool."""
    sample = sample_of(path)
    assert (found := recognized(sample)) is not None and found.format is each
    assert {other.name for other in FORMATS if other.detect(sample) is not None} <= {each.name, "table"}
    reading = Reading(path.name)
    return [*each.read(path, reading)], reading


def written(path: Path, *records: object) -> Path:
    """Write records one a line."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def texts(asked: Asked) -> dict[str, list[str | None]]:
    return {name: [each.text for each in passages] for name, passages in asked.lists.items()}


# Payloads


@pytest.mark.parametrize(
    ("value", "question"),
    [
        (Q, Q),
        (json.dumps(json.dumps(Q)), Q),
        ({"args": [Q], "kwargs": {}}, Q),
        ({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": Q}]}, Q),
        (
            [{"role": "user", "content": [{"type": "text", "text": Q}]}, {"role": "assistant", "content": A}],
            Q,
        ),
        ({"messages": [[{"lc": 1, "id": ["HumanMessage"], "kwargs": {"content": Q, "type": "human"}}]]}, Q),
        ({"messages": [["system", "Be brief."], ["human", Q]]}, Q),
        ({"contents": [{"role": "user", "parts": [{"text": Q}]}]}, Q),
        ([{"role": "user", "parts": [{"type": "text", "content": Q}]}], Q),
        ({"topic": Q}, Q),
        ({"temperature": 0, "city": "Bern"}, None),
        ([{"role": ["user"], "type": {}}], None),
        ({"role": "tool", "content": "no question"}, None),
        (7, None),
        ("[not JSON", "[not JSON"),
        (" ", None),
    ],
)
def test_the_question_in_an_input(value: Any, question: str | None) -> None:
    assert question_in(value) == question


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": A}}]}, A),
        ({"generations": [[{"text": A, "type": "ChatGeneration", "message": {"lc": 1}}]]}, A),
        ({"messages": [{"type": "human", "content": Q}, {"type": "ai", "content": A}]}, A),
        ({"index": 0, "message": {"role": "assistant", "content": A}}, A),
        ({"answer": A, "context": [OIL]}, A),
        ([{"toolCallId": "c1", "toolName": "weather"}], None),
        ({"role": "assistant", "content": "", "tool_calls": [{"id": "c1"}]}, None),
    ],
)
def test_the_answer_in_an_output(value: Any, answer: str | None) -> None:
    assert answer_in(value) == answer


@pytest.mark.parametrize(
    "value",
    [
        [OIL, AIR],
        {"documents": [OIL, AIR]},
        {"output": json.dumps([OIL, AIR])},
        [[OIL, 0.9], [AIR, 0.1]],
        [
            {"node": {"id_": "n1", "text": OIL["page_content"], "metadata": OIL["metadata"]}, "score": 0.9},
            AIR,
        ],
        {"matches": [{"id": "m1", "score": 1, "metadata": {"text": "4.5 litres of oil."}}, AIR]},
        {"results": [{"lc": 1, "id": ["Document"], "kwargs": OIL}, {"document": AIR, "score": 0.1}]},
        ["4.5 litres of oil.", "2.3 bar of air."],
    ],
)
def test_the_passages_in_an_output(value: Any) -> None:
    assert [each.text for each in passages_in(value)] == ["4.5 litres of oil.", "2.3 bar of air."]


def test_where_a_passage_lies() -> None:
    metadata = {"file_name": "manual.pdf", "page_label": "4", "page_index": 3, "section": "Oil", "lang": "en"}
    (found,) = passages_in(
        [{"id": "c7", "text": "4.5 litres", "score": 0.5, "metadata": json.dumps(metadata)}]
    )
    assert (found.id, found.document, found.label, found.section) == ("c7", "manual.pdf", "4", "Oil")
    assert (found.page, found.page_base, found.score) == (3, 0, 0.5)
    assert found.more == {"metadata": {"lang": "en"}}
    assert passages_in([OIL])[0].page_base is None, "loaders count pages from 0 and from 1"


def test_scores_and_times() -> None:
    assert (score_of(0.5), score_of("good"), score_of(None)) == (0.5, "good", {})
    assert score_of(["a", 1]) == '["a",1]', "several choices"
    assert score_of(True, by="ann") == {"score": 1.0, "label": "true", "by": "ann"}
    moment = seconds_of("2026-11-02T08:00:00Z")
    assert moment == seconds_of("2026-11-02 08:00:00.000000") == seconds_of("2026-11-02T09:00:00+01:00")
    assert moment == seconds_of(1793606400000) == seconds_of("1793606400000000000") == 1793606400
    assert seconds_of("soon") is None and seconds_of([]) is None


# Langfuse


def observation(n: int, type_: str, parent: int | None, given: object, gave: object, **more: object) -> Any:
    return {
        "id": f"o{n}",
        "traceId": "t1",
        "type": type_,
        "startTime": f"2026-11-02T08:00:0{n}.000Z",
        "endTime": f"2026-11-02T08:00:0{n}.900Z",
        "parentObservationId": None if parent is None else f"o{parent}",
        "input": json.dumps(given),
        "output": json.dumps(gave),
        **more,
    }


STEPS = [
    observation(3, "GENERATION", 0, [{"role": "user", "content": Q}], A, name="llm", model="small-1"),
    observation(2, "SPAN", 0, {"query": Q, "documents": [AIR, OIL]}, [OIL], name="rerank"),
    observation(1, "RETRIEVER", 0, {"query": "oil"}, [AIR, OIL], name="search"),
    observation(0, "SPAN", None, {"question": Q}, A, name="rag", endTime="2026-11-02T08:00:09.000Z"),
]
STAGES = {
    "retrieved": ["2.3 bar of air.", "4.5 litres of oil."],
    "reranked": ["4.5 litres of oil."],
    "chunks": ["4.5 litres of oil."],
}


def snake(row: dict[str, Any]) -> dict[str, Any]:
    return {"".join(f"_{c.lower()}" if c.isupper() else c for c in name): row[name] for name in row}


def as_lines(rows: list[Any], folder: Path) -> Path:
    return written(folder / "rows.jsonl", *rows)


def as_csv(rows: list[Any], folder: Path) -> Path:
    path = folder / "rows.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        table.writeheader()
        table.writerows(rows)
    return path


def as_parquet(rows: list[Any], folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


@pytest.mark.parametrize("write", [as_lines, as_csv, as_parquet])
@pytest.mark.parametrize("rename", [dict, snake])
def test_rows_of_langfuse_in_any_order(
    write: Callable[[list[Any], Path], Path], rename: Callable[[Any], Any], tmp_path: Path
) -> None:
    (asked,), reading = read(LANGFUSE, write([rename(row) for row in STEPS], tmp_path))
    assert (asked.q, asked.answer, texts(asked)) == (Q, A, STAGES)
    assert asked.fields["model"] == "small-1" and asked.fields["trace_id"] == "t1"
    assert (reading.records, reading.lost, reading.left.total()) == (4, 0, 0)


SCORES = [
    {"name": "correct", "value": 1, "stringValue": "True", "dataType": "BOOLEAN", "authorUserId": "ann"},
    {"name": "correct", "value": 0, "stringValue": "False", "dataType": "BOOLEAN", "authorUserId": "bob"},
    {"name": "tone", "value": 0, "stringValue": "curt", "dataType": "CATEGORICAL", "source": "EVAL"},
    {"name": "output", "value": 0, "longStringValue": "4.5 l", "dataType": "CORRECTION"},
]
TRACE = {
    "id": "t1",
    "timestamp": "2026-11-02T08:00:00.000Z",
    "userId": "u1",
    "tags": ["rag"],
    "public": False,
}


def test_scores_of_a_langfuse_trace_are_kept_and_a_correction_is_expected(tmp_path: Path) -> None:
    trace = {**TRACE, "input": None, "output": None, "scores": SCORES}
    export, whole = {"trace": trace, "observations": STEPS}, {**trace, "observations": STEPS}
    page = {"data": [whole], "meta": {"page": 1, "totalItems": 1}}
    for record in (export, whole, page):
        (asked,), reading = read(LANGFUSE, written(tmp_path / "trace.json", record))
        assert (asked.q, asked.answer, texts(asked), asked.expected) == (Q, A, STAGES, "4.5 l")
        assert asked.scores == {
            "correct": [
                {"score": 1.0, "label": "True", "by": "ann"},
                {"score": 0.0, "label": "False", "by": "bob"},
            ],
            "tone": {"label": "curt", "by": "EVAL"},
        }
        assert asked.fields["userId"] == "u1" and reading.lost == 0


def test_scores_of_langfuse_that_are_rows_of_their_own(tmp_path: Path) -> None:
    """As a blob store has them, behind the observations."""
    rows = [snake({**score, "id": f"s{n}", "traceId": "t1"}) for n, score in enumerate(SCORES)]
    assert LANGFUSE.detect(sample_of(written(tmp_path / "scores.jsonl", *rows))) is None
    (asked,), reading = read(LANGFUSE, written(tmp_path / "all.jsonl", *map(snake, STEPS), *rows))
    assert asked.scores["correct"] == {"score": 1.0, "label": "True", "by": "ann"}
    assert (
        [*asked.scores] == ["correct", "correct (bob)", "tone"]
        and asked.expected == "4.5 l"
        and reading.lost == 0
    )


def test_ids_of_observations_and_scores_are_counted(tmp_path: Path) -> None:
    listed = {
        **TRACE,
        "input": Q,
        "output": A,
        "latency": 1.5,
        "observations": ["o1", "o2"],
        "scores": ["s1"],
    }
    (asked,), reading = read(LANGFUSE, written(tmp_path / "traces.json", {"data": [listed], "meta": {}}))
    assert (asked.q, asked.answer, asked.fields["latency_ms"]) == (Q, A, 1500)
    assert reading.left == {"trace.public": 1, "trace.observations by id": 2, "trace.scores by id": 1}


def test_a_row_of_langfuse_traces_is_a_question(tmp_path: Path) -> None:
    row = {**TRACE, "input": json.dumps({"question": Q}), "output": json.dumps(A), "latency": 1.5}
    row |= {"correct": "[0.5, 1]", "tone": '["curt"]', "tags": '["rag"]', "comments": "[]"}
    (asked,), reading = read(LANGFUSE, as_csv([row], tmp_path))
    assert (asked.q, asked.answer, asked.fields["latency_ms"]) == (Q, A, 1500)
    assert asked.scores == {"correct": [0.5, 1.0], "tone": "curt"}, "columns of the user interface"
    assert asked.fields["tags"] == ["rag"] and reading.left == {"trace.public": 1, "trace.comments": 1}


def test_an_output_without_an_answer_is_kept(tmp_path: Path) -> None:
    calls = [{"toolCallId": "c1", "toolName": "weather"}]
    record = {"trace": {**TRACE, "input": Q, "output": json.dumps(json.dumps(calls))}, "observations": []}
    (asked,), _ = read(LANGFUSE, written(tmp_path / "trace.json", record))
    assert asked.answer is None and asked.fields["output"] == calls


# LangSmith


def run(n: int, type_: str, parent: int | None, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
    """Return a run as `langsmith.schemas.Run` 0.15 dumps it, without the fields that are null."""
    return {
        "id": f"r{n}",
        "trace_id": "r0",
        "run_type": type_,
        "parent_run_id": None if parent is None else f"r{parent}",
        "start_time": f"2026-11-02T08:00:0{n}.000000Z",
        "end_time": f"2026-11-02T08:00:0{n}.900000Z",
        "inputs": inputs,
        "outputs": outputs,
        **more,
    }


RUNS = [
    run(0, "chain", None, {"input": Q}, {"input": Q, "output": A}, name="rag", tags=["manual"])
    | {
        "feedback_stats": {"correctness": {"n": 2, "avg": 0.5, "values": {}}},
        "end_time": "2026-11-02T08:00:09Z",
    },
    run(1, "retriever", 0, {"query": Q}, {"documents": [AIR, OIL]}, name="ContextualCompressionRetriever")
    | {"end_time": "2026-11-02T08:00:02.950000Z"},
    run(2, "retriever", 1, {"query": Q}, {"documents": [AIR, OIL]}, name="VectorStoreRetriever"),
]
RUNS[1]["outputs"] = {"documents": [OIL]}
FEEDBACK = {
    "id": "f1",
    "run_id": "r0",
    "trace_id": "r0",
    "key": "helpful",
    "score": 1.0,
    "value": "yes",
    "comment": "Short.",
    "feedback_source": {"type": "api", "user_name": "ann"},
}
HELPFUL = {"score": 1.0, "label": "yes", "explanation": "Short.", "by": "ann"}


def test_runs_of_langsmith_with_feedback_between_them(tmp_path: Path) -> None:
    (asked,), reading = read(LANGSMITH, written(tmp_path / "runs.jsonl", *reversed(RUNS), FEEDBACK))
    assert (asked.q, asked.answer, texts(asked)) == (Q, A, STAGES)
    assert asked.scores == {"correctness": 0.5, "helpful": HELPFUL}
    assert asked.fields["tags"] == ["manual"] and reading.lost == 0 == reading.left.total()


def test_nested_runs_and_pages_of_langsmith(tmp_path: Path) -> None:
    inner = {**RUNS[1], "child_runs": [RUNS[2]]}
    whole = {**RUNS[0], "child_runs": [inner], "feedback": [FEEDBACK], "reference_outputs": {"answer": "4.5"}}
    for record in (whole, {"runs": [whole], "cursors": {}}):
        (asked,), reading = read(LANGSMITH, written(tmp_path / "runs.json", record))
        assert texts(asked) == STAGES and asked.expected == "4.5"
        assert asked.scores == {"helpful": HELPFUL, "correctness": 0.5} and reading.records == 3


def test_a_bulk_export_of_langsmith(tmp_path: Path) -> None:
    dumped = [
        {name: json.dumps(value) if isinstance(value, dict) else value for name, value in each.items()}
        for each in RUNS
    ]
    (asked,), _ = read(LANGSMITH, as_parquet(dumped, tmp_path))
    assert (asked.q, asked.answer, texts(asked)) == (Q, A, STAGES)
    assert asked.scores == {"correctness": 0.5}


def test_a_dotted_order_places_a_run(tmp_path: Path) -> None:
    dotted = [
        {name: value for name, value in each.items() if name not in ("trace_id", "parent_run_id")}
        | {"dotted_order": ".".join(f"20261102T08000{n}000000Zr{n}" for n in range(number + 1))}
        for number, each in enumerate(RUNS)
    ]
    (asked,), _ = read(LANGSMITH, written(tmp_path / "runs.jsonl", *dotted))
    assert (asked.q, texts(asked), asked.fields["trace_id"]) == (Q, STAGES, "r0")


def test_a_batch_of_langsmith_joins_the_start_and_the_end_of_a_run(tmp_path: Path) -> None:
    order = "20261102T080000000001Zr1"
    start = {"id": "r1", "name": "rag", "run_type": "chain", "trace_id": "r1", "inputs": {"question": Q}}
    end = {"trace_id": "r1", "dotted_order": order, "outputs": {"answer": A}, "inputs": {}}
    batch = {"post": [start | {"dotted_order": order, "outputs": None}], "patch": [end]}
    [asked], reading = read(LANGSMITH, written(tmp_path / "batch.json", batch))
    assert (asked.q, asked.answer, reading.lost) == (Q, A, 0)


def test_rows_of_an_experiment_of_langsmith(tmp_path: Path) -> None:
    """As `ExperimentResults.to_pandas` of langsmith 0.15 names the columns."""
    row = {
        "inputs.question": Q,
        "outputs.answer": A,
        "outputs.documents": json.dumps([OIL]),
        "error": None,
        "reference.answer": "4.5 litres",
        "feedback.correctness": 0.5,
        "feedback.tone": "curt",
        "execution_time": 1.25,
        "example_id": "e1",
        "id": "r0",
    }
    for path in (as_csv([row, row], tmp_path), written(tmp_path / "results.jsonl", row, row)):
        (asked,), reading = read(LANGSMITH, path)
        assert (asked.q, asked.answer, texts(asked)) == (Q, A, {"chunks": ["4.5 litres of oil."]})
        assert asked.expected == "4.5 litres" and asked.scores == {"correctness": 0.5, "tone": "curt"}
        assert asked.fields["latency_ms"] == 1250 and reading.left.total() == 0


# MLflow


def span(n: int, type_: str, parent: int | None, given: object, gave: object, **more: Any) -> dict[str, Any]:
    """Return a span as MLflow 3.17 dumps it: attributes are JSON in texts, ids base 64."""
    return {
        "trace_id": "z+p8",
        "span_id": f"s{n}=",
        "parent_span_id": None if parent is None else f"s{parent}=",
        "name": type_.lower(),
        "start_time_unix_nano": 1793606400_000000000 + n,
        "end_time_unix_nano": 1793606400_000000000 + 9_000_000 - n,
        "attributes": {
            "mlflow.traceRequestId": '"tr-1"',
            "mlflow.spanType": json.dumps(type_),
            "mlflow.spanInputs": json.dumps(given),
            "mlflow.spanOutputs": json.dumps(gave),
        },
        **more,
    }


SPANS = [
    span(0, "CHAIN", None, {"question": Q}, A),
    span(1, "RETRIEVER", 0, {"query": Q}, [AIR, OIL]),
    span(2, "RERANKER", 0, {"query": Q, "docs": [AIR, OIL]}, [OIL]),
]


def assessment(name: str, **more: Any) -> dict[str, Any]:
    return {"assessment_name": name, "source": {"source_type": "HUMAN", "source_id": "ann"}, **more}


ASSESSMENTS = [
    assessment("rating", feedback={"value": 4.0}, rationale="Right.", valid=True),
    assessment("rating", feedback={"value": 1.0}, valid=False),
    assessment("expected_response", expectation={"value": "4.5 litres"}),
    assessment(
        "expected_facts",
        expectation={"serialized_value": {"serialization_format": "JSON_FORMAT", "value": '["4.5 litres"]'}},
    ),
    assessment(
        "expected_retrieved_context", expectation={"value": [{"doc_uri": "manual.pdf", "content": "oil"}]}
    ),
]
INFO = {
    "trace_id": "tr-1",
    "state": "OK",
    "request_preview": "cut",
    "tags": {"mlflow.traceName": "answer", "team": "cars"},
    "assessments": ASSESSMENTS,
}


def test_mlflow_traces_in_all_their_files(tmp_path: Path) -> None:
    trace = {"info": INFO, "data": {"spans": SPANS}}
    row = {
        "trace_id": "tr-1",
        "trace": json.dumps(trace),
        "state": "OK",
        "request": json.dumps({"question": Q}),
    }
    table = {**row, "trace": None, "spans": json.dumps(SPANS), "assessments": json.dumps(ASSESSMENTS)}
    files = [
        written(tmp_path / "trace.json", trace),
        written(tmp_path / "traces.jsonl", trace),
        written(tmp_path / "page.json", {"traces": [trace]}),
        as_parquet([row], tmp_path),
        as_csv([{**table, "tags": json.dumps(INFO["tags"])}], tmp_path),
    ]
    for path in files:
        (asked,), reading = read(MLFLOW, path)
        assert (asked.q, asked.answer, texts(asked)) == (Q, A, STAGES), path.name
        assert asked.scores == {"rating": {"score": 4.0, "explanation": "Right.", "by": "ann"}}
        assert asked.expected == "4.5 litres" and [each.document for each in asked.gold] == ["manual.pdf"]
        assert asked.fields["expected_facts"] == ["4.5 litres"] and asked.fields["tags"] == {"team": "cars"}
        assert reading.lost == 0 and asked.fields["latency_ms"] == 9


def test_mlflow_spans_of_before_version_3(tmp_path: Path) -> None:
    old = [
        {
            **{name: each[name] for name in ("name", "attributes")},
            "context": {"span_id": each["span_id"], "trace_id": each["trace_id"]},
            "parent_id": each["parent_span_id"],
            "start_time": each["start_time_unix_nano"],
            "end_time": each["end_time_unix_nano"],
        }
        for each in SPANS
    ]
    record = {"info": {"request_id": "tr-1", "status": "OK"}, "data": {"spans": old}}
    (asked,), reading = read(MLFLOW, written(tmp_path / "trace.json", record))
    assert (asked.q, texts(asked)) == (Q, STAGES) and reading.left.total() == 0


def test_the_information_of_a_trace_alone_is_a_question(tmp_path: Path) -> None:
    info = {
        "trace_id": "tr-2",
        "request_preview": json.dumps({"question": Q}),
        "response_preview": json.dumps(A),
    }
    (asked,), _ = read(MLFLOW, written(tmp_path / "trace.json", {"info": info, "data": {"spans": []}}))
    assert (asked.q, asked.answer) == (Q, A)


# Files that the libraries wrote

DUMPED = Path(__file__).parent / "tracers"


def test_a_chain_as_langchain_traces_it() -> None:
    """Runs of langchain-core 1.7 as `Run` of langsmith 0.15 dumps them."""
    (asked,), reading = read(LANGSMITH, DUMPED / "langsmith_sdk.jsonl")
    assert (asked.q, asked.answer) == (Q, A)
    ((first, second),) = asked.lists.values()
    assert (first.id, first.document, first.page, first.label) == ("c7", "manual.pdf", 41, "42")
    assert (second.text, second.page) == ("Check it.", 12)
    assert asked.fields["name"] == "RunnableSequence" and "tags" not in asked.fields
    assert (reading.records, reading.lost, reading.problems) == (7, 0, [])


def test_a_trace_as_mlflow_writes_it() -> None:
    """`Trace.to_json` of MLflow 3.17, with assessments, without what names the machine."""
    (asked,), reading = read(MLFLOW, DUMPED / "mlflow_sdk.json")
    assert (asked.q, asked.answer, asked.expected) == (Q, "4.5 litres.", "4.5 litres")
    assert {name: len(passages) for name, passages in asked.lists.items()} == {
        "retrieved": 2,
        "reranked": 1,
        "chunks": 1,
    }
    assert asked.scores["rating"] == {"score": 4.0, "by": "ann"}
    assert asked.scores["groundedness"]["label"] == "true"
    assert (reading.records, reading.lost, reading.problems) == (5, 0, [])


# Broken files

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text('ab[{"\\', max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "type", "x"]), inner),
    max_leaves=4,
)
WHOLE: dict[str, tuple[Format, Any]] = {
    "langfuse": (LANGFUSE, {"trace": {**TRACE, "input": Q, "scores": SCORES}, "observations": STEPS}),
    "langfuse_row": (LANGFUSE, STEPS[2]),
    "langsmith": (LANGSMITH, {**RUNS[0], "child_runs": [RUNS[1]], "feedback": [FEEDBACK]}),
    "mlflow": (MLFLOW, {"info": INFO, "data": {"spans": SPANS}}),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value within a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in items for place in places(each, (*path, key)))]


def put(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Return a value with another at a place within it."""
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], other)
    return copy


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
def test_anything_anywhere_is_read_or_a_problem(
    name: str, data: st.DataObject, tmp_path_factory: Any
) -> None:
    each, record = WHOLE[name]
    broken = put(record, data.draw(st.sampled_from(places(record))), data.draw(ANY))
    path = tmp_path_factory.getbasetemp() / f"broken_{name}.json"
    path.write_bytes(orjson.dumps([broken, record]))
    each.detect(sample_of(path))
    reading = Reading(path.name)
    try:
        asked = [*each.read(path, reading)]
    except Fault:
        return
    assert reading.lost <= reading.records and (not reading.lost or reading.problems)
    assert asked, "the other record is read"
    assert orjson.dumps([[one.scores, one.fields] for one in asked])


def test_a_circle_of_parents_and_repeated_ids_are_read(tmp_path: Path) -> None:
    circle = [
        STEPS[3] | {"parentObservationId": "o1"},
        STEPS[2],
        STEPS[2],
        STEPS[0] | {"parentObservationId": "o9"},
    ]
    (asked,), reading = read(LANGFUSE, written(tmp_path / "rows.jsonl", *circle))
    assert (asked.q, asked.answer) == (Q, A) and reading.lost == 0
    assert {each.code for each in reading.problems} == {"spans_cycle", "spans_repeated", "spans_no_parent"}


@pytest.mark.parametrize("each", [LANGFUSE, LANGSMITH, MLFLOW], ids=lambda each: each.name)
def test_a_record_of_something_else_is_a_problem(each: Format, tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    path.write_bytes(orjson.dumps([*WHOLE[each.name][1:], {"a": 1}, 5]))
    reading = Reading(path.name)
    assert len([*each.read(path, reading)]) == 1
    assert [found.code for found in reading.problems] == [f"not_{each.name}", "not_an_object"]
    assert reading.lost == 2
