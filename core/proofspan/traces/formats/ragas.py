"""Ragas data sets, results and annotated metrics: a row or a sample is a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
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
from proofspan.traces.formats.records import json_of, read_records, sample_of
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

#: The names of a row's fields, those of before version 0.2 last.
_Q = ("user_input", "question")
_ANSWER = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_EXPECTED = ("reference", "ground_truth", "ground_truths")
_IDS, _GOLD, _GOLD_IDS = "retrieved_context_ids", "reference_contexts", "reference_context_ids"
USED = frozenset({*_Q, *_ANSWER, *_CONTEXTS, *_EXPECTED, _IDS, _GOLD, _GOLD_IDS})
COPIED = (
    *("persona_name", "query_style", "query_length", "rubrics", "synthesizer_name", "multi_responses"),
    *("reference_tool_calls", "reference_topics", "evolution_type", "metadata", "review"),
)
#: What a row has besides its question, in the names of 0.2 and later, and of before.
_SINCE = frozenset({"response", "retrieved_contexts", "reference", "reference_contexts", "reference_topics"})
_BEFORE = frozenset({"answer", "ground_truth", "ground_truths"})


def detect(sample: Sample) -> str | None:
    """Return why a source is Ragas': its rows or its annotated samples have Ragas' field names."""
    if metrics := [name for each in sample.records for name in _annotated(each)]:
        return f"the samples of {', '.join(metrics[:3])} have metric_input"
    for named, others in (({"user_input"}, _SINCE), ({"question", "contexts"}, _BEFORE)):
        found = sorted({name for each in sample.records for name in others & each.keys()})
        if found and all(named <= each.keys() for each in sample.records):  # an empty cell is left out
            return f"the rows have {' and '.join(sorted(named))} with {' and '.join(found)}"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each row, or for each sample of each annotated metric."""
    first = sample_of(path).first
    metrics = _annotated(first)
    if not metrics:
        for place, row in read_records(path, reading):
            yield _asked(place, row, reading)
        return
    for place, sample in entries(path, reading, *((key,) for key in metrics), used=("name",)):
        metric = metrics.get(place.rpartition(" ")[0], "")
        asked = _annotation(place, sample, metric, reading)
        asked.run = metric if len(metrics) > 1 else ""
        yield asked


def _annotated(record: Mapping[str, Json]) -> dict[str, str]:
    """Return the keys of lists of annotated samples with their metric, in either shape of such a file.

    Where one list has such samples all are taken as such, since of a large file only the beginning is known.
    """
    if "metric_input" in first_object(record.get("samples")):
        return {"samples": text(record.get("name")) or "metric"}
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    is_annotated = any("metric_input" in first_object(each) for each in lists.values())
    return {name: name for name in lists} if is_annotated else {}


def _annotation(place: str, sample: Mapping[str, Json], metric: str, reading: Reading) -> Asked:
    """Return a sample with the metric's verdict, the person's, and what the metric's prompts gave."""
    reading.fields(sample, {"metric_input", "metric_output", "prompts", "is_accepted", "target"})
    asked = _asked(place, object_of(sample.get("metric_input")), reading, at="metric_input.")
    outputs = {
        name: {"prompt_output": prompt.get("prompt_output"), "edited_output": prompt.get("edited_output")}
        for name, prompt in object_of(sample.get("prompts")).items()
        if isinstance(prompt, dict)
    }
    reasons = [text(object_of(each["prompt_output"]).get("reason")) for each in outputs.values()]
    asked.scores[metric] = stated(
        score=number(sample.get("metric_output")),
        explanation="\n".join(reason for reason in reasons if reason),
        by="Ragas",
    )
    accepted = sample.get("is_accepted")
    if accepted is not None:
        label = ("rejected", "accepted")[accepted] if isinstance(accepted, bool) else text(accepted)
        asked.scores[f"{metric}: review"] = stated(
            score=number(sample.get("target")), label=label, by="a person"
        )
    if outputs:
        asked.fields["prompts"] = outputs
    return asked


def _asked(place: str, row: Mapping[str, Json], reading: Reading, at: str = "") -> Asked:
    numbers: dict[str, Json] = {
        name: found
        for name, value in row.items()
        if name not in USED and name not in COPIED and (found := number(value)) is not None
    }
    reading.fields(row, {*USED, *COPIED, *numbers}, at)
    contexts = _passages(first_of(row, _CONTEXTS), row.get(_IDS))
    fields = kept(row, COPIED)
    q, answer = json_of(first_of(row, _Q)), text(first_of(row, _ANSWER))
    if isinstance(q, list):
        fields["conversation"] = q
        last = exchange(q)
        q, answer = last.q, answer or message_text(last.reply)
    expected, *others = list_of(first_of(row, _EXPECTED)) or [None]
    if others:
        fields["references"] = [expected, *others]
    return Asked(
        place=place,
        q=text(q) or "",
        answer=answer,
        lists={"chunks": contexts} if contexts else {},
        expected=text(expected),
        gold=_passages(row.get(_GOLD), row.get(_GOLD_IDS)),
        scores=numbers,
        fields=fields,
    )


def _passages(texts: Json, ids: Json) -> list[Passage]:
    pairs = zip_longest(list_of(texts), list_of(ids))
    found = [Passage(text=text(words), id=text(name)) for words, name in pairs]
    return [each for each in found if each.text or each.id]


RAGAS = Format(
    name="ragas",
    title="Ragas",
    versions="ragas 0.4.3: EvaluationDataset, results as a table, MetricAnnotation; the column names of 0.1",
    suffix=".jsonl",
    example=b'{"user_input":"How much oil?","retrieved_contexts":["It holds 4.5 litres."],'
    b'"response":"4.5 litres.","reference":"4.5 litres","faithfulness":1.0}\n',
    documentation="A row is a question; its contexts are what the model saw, its reference contexts the "
    "gold. Numbers such as `faithfulness` are kept as scores. Of a conversation the last answered question "
    "counts, and all turns are kept as `conversation`. Of an annotated metric each sample is a question, "
    "with the metric's verdict and the person's review of it as scores. In a CSV, lists are read as Python "
    "writes them.",
    detect=detect,
    read=read,
)
