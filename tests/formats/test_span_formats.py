"""OpenInference spans and OTLP JSON: what the SDKs dump, in every spelling, and broken.

The files in `spans` are one pipeline, traced with opentelemetry-sdk 1.45.2 and dumped by
`ReadableSpan.to_json` and opentelemetry-exporter-otlp-proto-common 1.45.2, with the names of
openinference-semantic-conventions 0.1.42 and opentelemetry-semantic-conventions 0.66b2.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import Fault
from proofspan.services.opening.open import open_source
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.spans import otlp
from proofspan.traces.formats.spans.attributes import nested
from proofspan.traces.formats.spans.openinference import OPENINFERENCE
from proofspan.traces.formats.spans.otlp import OTLP
from proofspan.traces.formats.types import Asked, Format, Passage, Reading
from proofspan.traces.registry import FORMATS

SPANS = Path(__file__).parent / "spans"
Q, A = "How much oil does the engine hold?", "It holds 4.5 litres."


def read(each: Format, path: Path) -> tuple[list[Asked], Reading]:
    """Read a file that this format alone recognizes."""
    assert [other.name for other in FORMATS if other.detect(sample_of(path)) is not None] == [each.name]
    reading = Reading(path.name)
    return [*each.read(path, reading)], reading


def rows(name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (SPANS / name).read_bytes().splitlines()]


def written(path: Path, *records: object) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def ids(asked: Asked) -> dict[str, list[str | None]]:
    return {name: [each.id for each in passages] for name, passages in asked.lists.items()}


def alike(asked: Asked) -> Asked:
    """Return a question without the ids of its trace and what OTLP alone has."""
    fields = {name: value for name, value in asked.fields.items() if name not in ("trace_id", "service")}
    return replace(asked, place="", fields=fields | {"latency_ms": None})


@pytest.mark.parametrize("each", [OPENINFERENCE, OTLP], ids=["rows", "otlp"])
def test_spans_with_the_names_of_openinference(each: Format) -> None:
    name = "openinference_sdk.jsonl" if each is OPENINFERENCE else "openinference_otlp.json"
    (asked,), reading = read(each, SPANS / name)
    assert (asked.q, asked.answer) == (Q, A)
    assert ids(asked) == {"retrieved": ["c1", "c2"], "reranked": ["c2", "c1"], "chunks": ["c2", "c1"]}
    assert asked.lists["retrieved"][0] == Passage(
        text="The engine holds 4.5 litres of oil.", id="c1", document="manual.pdf", page=3, score=0.8
    )
    assert asked.scores == {"correct": {"score": 1.0, "label": "yes", "by": "HUMAN"}}
    assert (
        asked.fields
        | {
            "session_id": "s1",
            "user_id": "ann",
            "metadata": {"release": "7"},
            "tags": ["rag"],
            "model": "small-1",
            "prompt_tokens": 50,
            "reranker_model": "rank-1",
        }
        == asked.fields
    )
    assert (reading.records, reading.lost, reading.problems) == (4, 0, [])
    assert reading.understood["attributes.reranker.output_documents.document.content"] == 1
    assert reading.left["attributes.llm.input_messages.message.content"] == 1


@pytest.mark.parametrize("each", [OPENINFERENCE, OTLP], ids=["rows", "otlp"])
def test_spans_with_the_names_of_genai(each: Format) -> None:
    name = "genai_sdk.jsonl" if each is OPENINFERENCE else "genai_otlp.json"
    (asked,), reading = read(each, SPANS / name)
    assert (asked.q, asked.answer) == (Q, A)
    assert asked.lists == {"chunks": [Passage(id="c1", score=0.8), Passage(id="c2", score=0.4)]}
    assert asked.scores == {"relevance": {"score": 0.9, "label": "good", "explanation": "It says so."}}
    assert asked.fields["model"] == "small-1-2026" and asked.fields["data_source"] == "manual"
    assert (reading.records, reading.lost, reading.problems) == (3, 0, [])


def phoenix_rows(*, flat: bool) -> list[dict[str, Any]]:
    """Return the SDK's spans as rows of Phoenix: with objects and lists, or as columns with dots."""
    found: list[dict[str, Any]] = []
    for row in rows("openinference_sdk.jsonl"):
        attributes = nested(row["attributes"])
        for at in ("retrieval", "reranker", "llm"):
            below: Any = attributes.get(at, {})
            for name, value in below.items():
                if isinstance(value, dict) and "0" in value:
                    below[name] = [
                        {f"{kind}.{key}": held for key, held in each[kind].items()}
                        for each in value.values()
                        for kind in each
                    ]
        if "annotations" in attributes:
            del attributes["annotations"]
        own = {name: row[name] for name in ("name", "parent_id", "start_time", "end_time")}
        own |= {"span_kind": row["attributes"]["openinference.span.kind"], "status_code": "OK", "events": []}
        if flat:
            columns = {f"attributes.{name}": value for name, value in leaves(attributes)}
            columns |= {f"context.{name}": row["context"][name] for name in ("trace_id", "span_id")}
            found.append(own | columns)
        else:
            whole = {"context": row["context"], "attributes": attributes}
            found.append(own | whole | {"parent_id": row["parent_id"] or "None"})
    return found


def leaves(tree: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{below}", held) for below, held in leaves(value))
        else:
            yield name, value


def test_objects_columns_with_dots_and_parquet_say_the_same(tmp_path: Path) -> None:
    (whole,), _ = read(OPENINFERENCE, SPANS / "openinference_sdk.jsonl")
    whole = replace(whole, scores={})
    objects = written(tmp_path / "objects.jsonl", *phoenix_rows(flat=False))
    columns = written(tmp_path / "columns.jsonl", *phoenix_rows(flat=True))
    table = tmp_path / "spans.parquet"
    typed = [
        row | {name: datetime.fromisoformat(row[name]) for name in ("start_time", "end_time")}
        for row in phoenix_rows(flat=True)
    ]
    pq.write_table(
        pa.Table.from_pylist(
            typed,
            pa.unify_schemas(
                [pa.Table.from_pylist([row]).schema for row in typed], promote_options="permissive"
            ),
        ),
        table,
    )
    for path in (objects, columns, table):
        (asked,), reading = read(OPENINFERENCE, path)
        assert alike(asked) == alike(whole)
        assert reading.lost == 0 and not reading.problems


def test_pages_of_the_api_annotations_evaluations_and_errors(tmp_path: Path) -> None:
    search, _, _, query = phoenix_rows(flat=False)
    query |= {
        "status_code": "ERROR",
        "status_message": "too slow",
        "eval": {"Relevance": {"score": 0.5, "label": None}},
    }
    query["annotations"] = [
        {"name": "note", "annotator_kind": "HUMAN", "result": {"score": None, "label": "good"}}
    ]
    path = written(tmp_path / "page.json", {"data": [search, query, "x"], "next_cursor": None})
    assert OPENINFERENCE.detect(sample_of(path)) is None
    path = written(tmp_path / "page.json", {"data": [search, query], "next_cursor": None})
    (asked,), reading = read(OPENINFERENCE, path)
    assert asked.scores == {"note": {"label": "good", "by": "HUMAN"}, "Relevance": 0.5}
    assert asked.fields["error"] == "too slow" and reading.records == 2


def genai_log() -> dict[str, Any]:
    """Return an evaluation as a log record of the retrieval in `genai_otlp.json`."""
    spans = orjson.loads((SPANS / "genai_otlp.json").read_bytes())["resourceSpans"][0]["scopeSpans"][0][
        "spans"
    ]
    attributes = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "kind"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.25}},
    ]
    record = {"timeUnixNano": "1", "traceId": spans[0]["traceId"], "spanId": spans[0]["spanId"]}
    record |= {"eventName": "gen_ai.evaluation.result", "attributes": attributes}
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [record, 5]}]}]}


def test_lines_of_a_collector_with_evaluations_in_log_records(tmp_path: Path) -> None:
    export = orjson.loads((SPANS / "genai_otlp.json").read_bytes())
    (asked,), reading = read(OTLP, written(tmp_path / "collector.jsonl", genai_log(), export))
    assert asked.scores["kind"] == 0.25 and len(asked.scores) == 2
    assert (reading.records, reading.lost) == (5, 1)
    assert [each.code for each in reading.problems] == ["not_an_object"]


def test_a_large_object_is_read_span_by_span(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,), before = read(OTLP, SPANS / "openinference_otlp.json")
    monkeypatch.setattr(otlp, "_LARGE", 100)
    (asked,), reading = read(OTLP, SPANS / "openinference_otlp.json")
    assert alike(asked) == alike(whole) and "service" not in asked.fields
    assert (reading.records, reading.lost, reading.problems) == (before.records, 0, [])
    assert reading.left["resource.service.name"] == 1


def test_messages_in_events_and_names_of_older_versions(tmp_path: Path) -> None:
    def event(name: str, **attributes: str) -> dict[str, Any]:
        pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
        return {"name": name, "timeUnixNano": "5", "attributes": pairs}

    span = {
        "trace_id": "t",
        "span_id": "s",
        "name": "chat",
        "start_time_unix_nano": "1",
        "end_time_unix_nano": "9",
    }
    span |= {
        "status": {"code": 2},
        "attributes": [{"key": "gen_ai.operation.name", "value": {"string_value": "chat"}}],
    }
    span["events"] = [
        event("gen_ai.user.message", content=Q),
        event("gen_ai.choice", message=orjson.dumps({"content": A}).decode()),
        event("exception", **{"exception.message": "cut off"}),
        event("other", mark="x"),
    ]
    older = {"batches": [{"instrumentationLibrarySpans": [{"spans": [span]}]}]}
    (asked,), reading = read(OTLP, written(tmp_path / "old.json", older))
    assert (asked.q, asked.answer, asked.fields["error"]) == (Q, A, "cut off")
    assert reading.left["event other: mark"] == 1


def test_a_workspace_of_ids_without_texts_has_its_chunks_by_id(tmp_path: Path) -> None:
    opened = open_source(SPANS / "genai_otlp.json", workspace=tmp_path / "w")
    (trace,) = (
        orjson.loads(line) for line in next((tmp_path / "w").rglob("trace*.jsonl")).read_bytes().splitlines()
    )
    assert opened.report.traces == 1 and [each["id"] for each in trace["chunks"]] == ["c1", "c2"]


NAMES = st.sampled_from(
    ("a.b", "0", "", "content", "document", "score", "metadata", "key", "value", "intValue")
)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False)
TEXTS = st.text(max_size=4) | st.sampled_from(("None", "9" * 19, "-" + "9" * 19, "[[1]]", '{"content": 3}'))
ANY = st.recursive(
    LEAVES | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, each in items for found in places(each, (*path, name)))]


@pytest.mark.parametrize("name", sorted(path.name for path in SPANS.iterdir()))
@given(data=st.data())
def test_anything_anywhere_is_read_or_a_problem(
    name: str, data: st.DataObject, tmp_path_factory: Any
) -> None:
    each = OTLP if "otlp" in name else OPENINFERENCE
    records = copy.deepcopy(
        rows(name) if each is OPENINFERENCE else [orjson.loads((SPANS / name).read_bytes())]
    )
    *above, last = data.draw(st.sampled_from([path for path in places(records) if path]))
    node: Any = records
    for step in above:
        node = node[step]
    node[last] = data.draw(ANY)
    path = written(tmp_path_factory.getbasetemp() / f"broken_{name}l", *records)
    each.detect(sample_of(path))
    reading = Reading(path.name)
    try:
        asked = [*each.read(path, reading)]
    except Fault:
        return
    assert (asked or reading.problems or not reading.records) and reading.lost <= reading.records
    for question in asked:
        orjson.dumps([question.fields, question.scores], option=orjson.OPT_NON_STR_KEYS)
        assert all(
            passage.text is None or isinstance(passage.text, str)
            for passages in question.lists.values()
            for passage in passages
        )
