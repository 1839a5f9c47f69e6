"""DeepEval data sets, test runs and evaluation results: a golden or a test case is a question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import first_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.nested import (
    entries,
    exchange,
    first_object,
    kept,
    list_of,
    message_text,
    number,
    object_of,
    stated,
    text,
)
from proofspan.traces.formats.payloads import add_score
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

#: Fields in the names of a data set or an evaluation result, and of a test run.
_ANSWER = ("actual_output", "actualOutput")
_EXPECTED = ("expected_output", "expectedOutput")
_CONTEXTS = ("retrieval_context", "retrievalContext")
_METRICS = ("metrics_data", "metricsData")
_SPANS = ("retrieverSpans", "retriever_spans")
_USED = frozenset(
    {"input", "turns", "context", "success", "trace", *_ANSWER, *_EXPECTED, *_CONTEXTS, *_METRICS}
)
#: A metric's fields that its score keeps.
_METRIC = frozenset({"name", "score", "success", "reason", "error", "evaluation_model", "evaluationModel"})
COPIED = (
    *("name", "comments", "tags", "metadata", "scenario", "flaky", "persona", "expectations", "order"),
    *("source_file", "sourceFile", "tools_called", "toolsCalled", "expected_tools", "expectedTools"),
    *("additional_metadata", "additionalMetadata", "custom_column_key_values", "customColumnKeyValues"),
    *("expected_outcome", "expectedOutcome", "user_description", "userDescription"),
    *("expected_labels", "expectedLabels", "classifications", "token_cost", "tokenCost"),
    *("input_token_count", "inputTokenCount", "output_token_count", "outputTokenCount"),
    *("completion_time", "completionTime", "run_duration", "runDuration"),
    *("evaluation_cost", "evaluationCost"),
)
#: The lists that a file's object may hold.
_WAYS = tuple(
    (*before, name)
    for before in ((), ("testRunData",))
    for name in ("testCases", "test_results", "test_cases", "goldens", "conversationalTestCases")
)
#: A passage with its source, as a data set is written, and a source before a passage elsewhere.
_MARKED = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<text>.*)\Z", re.DOTALL)
_FILE_FIRST = re.compile(r"(?P<source>[^\n:|]{1,200}\.pdf): (?P<text>.+)\Z", re.DOTALL | re.IGNORECASE)


def detect(sample: Sample) -> str | None:
    """Return why a source is DeepEval's: its records have input and an output, or turns, in its names."""
    cases = [each for each in sample.records if _is_case(each)]
    if cases and all(
        "input" in each or "turns" in each for each in sample.records
    ):  # an empty cell is left out
        return f"the records have {_named(cases[0])}"
    run = object_of(sample.first.get("testRunData")) or sample.first
    for name in ("testCases", "test_results", "goldens", "conversationalTestCases"):
        if _is_case(first := first_object(run.get(name))):
            return f"{name} has {_named(first)}"
    return None


def _is_case(record: Mapping[str, Json]) -> bool:
    if isinstance(record.get("turns"), list) and {"scenario", "expected_outcome", "expectedOutcome"} & {
        *record
    }:
        return True
    return "input" in record and bool({*_ANSWER, *_EXPECTED} & record.keys())


def _named(record: Mapping[str, Json]) -> str:
    return " and ".join(
        name for name in ("scenario", "turns", "input", *_ANSWER, *_EXPECTED) if name in record
    )


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each golden, test case and conversation."""
    for place, case in entries(path, reading, *_WAYS):
        reading.fields(case, {*_USED, *COPIED})
        q, answer, contexts = case.get("input"), text(first_of(case, _ANSWER)), first_of(case, _CONTEXTS)
        fields = kept(case, COPIED)
        if turns := case.get("turns"):
            fields["conversation"] = turns
            last = exchange(list_of(turns))
            q, answer = last.q, message_text(last.reply)
            contexts = first_of(last.reply, _CONTEXTS)
        trace = object_of(case.get("trace"))
        reading.fields(trace, {"input", "output", *_SPANS, *_METRICS}, at="trace.")
        metadata = object_of(fields.get("additional_metadata"))
        documents = object_of(metadata.get("documents"))
        if documents and documents.keys() <= {"retrieval_context", "context"}:  # of an export of a workspace
            others = {name: value for name, value in metadata.items() if name != "documents"}
            fields = kept(fields | {"additional_metadata": others}, fields)
        else:
            documents = {}
        seen = _placed(_split(contexts) or _retrieved(trace), documents.get("retrieval_context"))
        yield Asked(
            place=place,
            q=text(q) or "",
            answer=answer,
            lists={"chunks": seen} if seen else {},
            expected=text(first_of(case, _EXPECTED)),
            gold=_placed(_split(case.get("context")), documents.get("context")),
            scores=_scores(case, reading),
            fields=fields,
        )


def _retrieved(trace: Mapping[str, Json]) -> list[Json]:
    """Return what the retrievers of a test case's trace returned."""
    spans = map(object_of, list_of(first_of(trace, _SPANS)))
    return [each for span in spans for each in list_of(first_of(span, (*_CONTEXTS, "output")))]


def _scores(case: Mapping[str, Json], reading: Reading) -> dict[str, Json]:
    """Return the outcome of a test case and its metrics by their names."""
    scores: dict[str, Json] = {}
    if (outcome := _label(case.get("success"))) is not None:
        scores["success"] = outcome
    for each in list_of(first_of(case, _METRICS)):
        metric = each if isinstance(each, dict) else {"score": each}
        if score := _score(metric, reading):
            add_score(scores, text(metric.get("name")) or "metric", score)
    return scores


def _label(success: Json) -> str | None:
    return ("failed", "passed")[success] if isinstance(success, bool) else text(success)


def _score(metric: Mapping[str, Json], reading: Reading) -> dict[str, Json]:
    reading.fields(metric, _METRIC, at="metrics_data.")
    return stated(
        score=number(metric.get("score")),
        label=_label(metric.get("success")),
        explanation=text(first_of(metric, ("reason", "error"))),
        by=text(first_of(metric, ("evaluation_model", "evaluationModel"))),
    )


def _split(value: Json) -> list[Json]:
    """Return the passages of a list, or of a text in which a data set joins them by `|`."""
    found = list_of(value)
    if isinstance(value, str) and found == [value]:
        return [part for part in value.split("|") if part.strip()]
    return found


def _placed(contexts: list[Json], documents: Json) -> list[Passage]:
    """Return contexts as passages, with the documents that are listed in their order."""
    passages = [_passage(each) for each in contexts]
    if isinstance(documents, list) and len(documents) == len(passages):
        for passage, document in zip(passages, documents, strict=True):
            passage.document = text(document)
    return passages


def _passage(value: Json) -> Passage:
    if isinstance(value, dict) and isinstance(words := first_of(value, ("context", "text")), str):
        more = {
            name: each for name, each in value.items() if name not in ("context", "text", "source", "score")
        }
        score = number(value.get("score"))
        return Passage(text=words, document=text(value.get("source")), score=score, more=more)
    words = text(value) or ""
    found = _MARKED.match(words) or _FILE_FIRST.match(words)
    return Passage(text=found["text"], document=found["source"]) if found else Passage(text=words)


DEEPEVAL = Format(
    name="deepeval",
    title="DeepEval",
    versions="deepeval 4.3.1: EvaluationDataset.save_as (JSON, JSONL, CSV), TestRun, EvaluationResult; "
    "snake_case and camelCase",
    suffix=".json",
    example=b'[{"input":"How much oil?","actual_output":"4.5 litres.","expected_output":"4.5 litres",'
    b'"retrieval_context":["It holds 4.5 litres."],"context":["4.5 litres of oil."],"name":"oil"}]\n',
    documentation="A golden or a test case is a question; its retrieval context is what the model saw, else "
    "what the retrievers in its trace returned, its context the gold. Metrics are kept as scores with their "
    "reasons. Of a conversation the last answered question counts, and all turns are kept as `conversation`. "
    "JSONL and CSV join passages by `|`, so a passage that holds one is split. A source before a passage is "
    "its document.",
    detect=detect,
    read=read,
)
