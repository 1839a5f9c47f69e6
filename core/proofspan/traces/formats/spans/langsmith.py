"""LangSmith exports: runs of any order, nested or one after the other, with their feedback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import first_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import (
    add_score,
    answer_in,
    cell_of,
    score_of,
    seconds_of,
    unquoted,
)
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.steps import fill
from proofspan.traces.formats.spans.traced import Span, SpanKind
from proofspan.traces.formats.types import Asked, Format, Reading, Sample

_KINDS: Mapping[str, SpanKind] = {
    **dict.fromkeys(("chain", "prompt", "parser"), "chain"),
    "llm": "llm",
    "chat_model": "llm",
    "retriever": "retriever",
    "embedding": "embedding",
    "tool": "tool",
}
#: Lists of runs in the pages of the API and in files that scripts write of them.
_PAGES = ("runs", "traces")
_COPIED = ("name", "tags", "session_id", "session_name", "reference_example_id", "status", "error")
_RUN = frozenset(
    {
        *("id", "trace_id", "dotted_order", "parent_run_id", "run_type", "name", "start_time", "end_time"),
        *("inputs", "outputs", "child_runs", "feedback_stats", "feedback", "reference_outputs", "extra"),
    }
)
_FEEDBACK = frozenset(
    ("id", "run_id", "trace_id", "key", "score", "value", "comment", "correction", "feedback_source")
)


def detect(sample: Sample) -> str | None:
    """Return why a source is LangSmith's: its records are runs, or pages of runs."""
    entries = [each for record in sample.records for each in (_entries(record) or [{}])]
    if entries and all(map(_is_result, entries)):
        return "every record is an example of an experiment with inputs, outputs and feedback"
    kinds = {_is_run(each) or (_is_feedback(each) and None) for each in entries}
    if True in kinds and False not in kinds:
        return "every record is a run with its run_type and the id of its trace"
    return None


def _entries(record: Mapping[str, Json]) -> list[Json]:
    """Return the runs of a page or of a batch, or the record itself."""
    if isinstance(started := record.get("post"), list):
        return _batch(started, record.get("patch"))
    found = next((record[name] for name in _PAGES if isinstance(record.get(name), list)), None)
    return found if isinstance(found, list) and "run_type" not in record else [record]


def _batch(started: list[Json], ended: Json) -> list[Json]:
    """Return the runs of a batch as a client sends it: those that started, with what their ends add."""
    runs: dict[str, dict[str, Json]] = {}
    others: list[Json] = []
    for each in [*started, *(ended if isinstance(ended, list) else [])]:
        ids = _ids(each) if isinstance(each, dict) else []
        if not isinstance(each, dict) or not (own := text_of(each.get("id")) or (ids[-1] if ids else "")):
            others.append(each)
            continue
        run = runs.setdefault(own, {"id": own})
        run.update((name, value) for name, value in each.items() if value not in (None, {}, []))
    return [*runs.values(), *others]


def _is_run(record: Json) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("run_type"), str)
        and "inputs" in record
        and not record.keys().isdisjoint(("trace_id", "dotted_order", "session_id", "parent_run_id"))
    )


def _is_result(record: Json) -> bool:
    """Return whether a record is a row of an experiment's table, whose columns are like `inputs.question`."""
    return (
        isinstance(record, dict)
        and record.keys() >= {"example_id", "execution_time"}
        and bool(_under(record, "inputs"))
    )


def _under(row: Mapping[str, Json], name: str) -> dict[str, Json]:
    return {key.removeprefix(f"{name}."): row[key] for key in row if key.startswith(f"{name}.")}


def _is_feedback(record: Json) -> bool:
    return isinstance(record, dict) and isinstance(record.get("key"), str) and "run_id" in record


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    yield from questions(_spans(path, reading), reading)


def _spans(path: Path, reading: Reading) -> Iterator[Span]:
    for place, record in read_records(path, reading):
        waiting: list[tuple[Json, Span | None]] = [(each, None) for each in reversed(_entries(record))]
        while waiting:
            each, above = waiting.pop()
            reading.records += above is not None
            if isinstance(each, dict) and (
                _is_run(each) or (above and isinstance(each.get("run_type"), str))
            ):
                span = _span(place, each, reading, above)
                children = unquoted(each.get("child_runs"))
                waiting += [
                    (child, span) for child in reversed(children if isinstance(children, list) else [])
                ]
                yield span
            elif isinstance(each, dict) and _is_result(each):
                yield _result(place, each, reading)
            elif isinstance(each, dict) and _is_feedback(each):
                yield _feedback_span(place, each, reading)
            else:
                message = "is neither a run nor feedback of LangSmith"
                reading.problem("not_langsmith", message, place, "Export it again; the other runs are read.")


def _span(place: str, run: dict[str, Json], reading: Reading, above: Span | None) -> Span:
    own_id = text_of(run.get("id")) or ""
    span = Span(
        place=place,
        trace=text_of(run.get("trace_id")) or (above.trace if above else _first_step(run) or own_id),
        id=own_id,
        parent=text_of(run.get("parent_run_id")) or (above.id if above else _step_above(run)),
        kind=_KINDS.get(str(run["run_type"]), "chain"),
        name=text_of(run.get("name")) or "",
        start=seconds_of(run.get("start_time")),
        end=seconds_of(run.get("end_time")),
    )
    fill(span, run.get("inputs"), run.get("outputs"))
    span.expected = answer_in(run.get("reference_outputs"))
    extra = unquoted(run.get("extra"))
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    copied: Mapping[str, Json] = {"error": run.get("error")}
    if span.parent is None:  # LangChain gives each step tags and metadata of its own
        copied = {**{field: run.get(field) for field in _COPIED}, "metadata": metadata}
    reading.fields(run, {*_RUN, *copied})
    if isinstance(extra, dict):
        reading.fields(extra, copied, "extra.")
    for field, value in copied.items():
        if (kept := unquoted(value)) not in (None, "", [], {}):
            span.fields[field] = kept
    _judge(span, run, reading)
    return span


def _first_step(run: Mapping[str, Json]) -> str | None:
    """Return the id of the root of a run by its dotted order, `TIMEZid.TIMEZid`."""
    return _ids(run)[0] if _ids(run) else None


def _step_above(run: Mapping[str, Json]) -> str | None:
    return _ids(run)[-2] if len(_ids(run)) > 1 else None


def _ids(run: Mapping[str, Json]) -> list[str]:
    order = run.get("dotted_order")
    steps = order.split(".") if isinstance(order, str) and "Z" in order else []
    return [step.partition("Z")[2] for step in steps]


def _judge(span: Span, run: Mapping[str, Json], reading: Reading) -> None:
    """Add the feedback that a run holds: one by one, or their averages."""
    feedback = unquoted(run.get("feedback"))
    for each in feedback if isinstance(feedback, list) else []:
        if isinstance(each, dict):
            _add_feedback(span, each, reading)
    stats = unquoted(run.get("feedback_stats"))
    for name, each in stats.items() if isinstance(stats, dict) else ():
        if isinstance(each, dict) and name not in span.scores:
            values = each.get("values")
            label = ", ".join(f"{value}" for value in values) if isinstance(values, dict) else None
            add_score(span.scores, name, score_of(each.get("avg"), label=label))


def _result(place: str, row: dict[str, Json], reading: Reading) -> Span:
    """Return a row of `ExperimentResults.to_pandas` as the one step of a trace."""
    used = [name for name in row if name.startswith(("inputs.", "outputs.", "reference.", "feedback."))]
    reading.fields(row, {"id", "example_id", "execution_time", "error", *used})
    span = Span(
        place=place, trace=text_of(row.get("id")) or place, id=text_of(row.get("id")) or "", start=0.0
    )
    span.end = number_of(cell_of(row.get("execution_time")))
    fill(span, _under(row, "inputs"), _under(row, "outputs"))
    span.expected = answer_in(_under(row, "reference"))
    for name, value in _under(row, "feedback").items():
        add_score(span.scores, name, score_of(cell_of(value)))
    for name in ("example_id", "error"):
        if row.get(name) not in (None, ""):
            span.fields[name] = row[name]
    return span


def _feedback_span(place: str, feedback: dict[str, Json], reading: Reading) -> Span:
    """Return feedback that is a record of its own as a step below the run that it judges."""
    run = text_of(feedback.get("run_id"))
    trace = text_of(feedback.get("trace_id")) or run or ""
    span = Span(place=place, trace=trace, id="", parent=run, name=_by(feedback) or "")
    _add_feedback(span, feedback, reading)
    return span


def _by(feedback: Mapping[str, Json]) -> str | None:
    """Return who gave feedback: a name, an id, or the kind of its source."""
    source = unquoted(feedback.get("feedback_source"))
    return text_of(first_of(source, ("user_name", "user_id", "type"))) if isinstance(source, dict) else None


def _add_feedback(span: Span, feedback: dict[str, Json], reading: Reading) -> None:
    reading.fields(feedback, _FEEDBACK, "feedback.")
    value, score = feedback.get("value"), feedback.get("score")
    explanation, by = text_of(feedback.get("comment")), _by(feedback)
    if score is None:
        judged = score_of(value, explanation=explanation, by=by)
    else:
        judged = score_of(score, label=text_of(value), explanation=explanation, by=by)
    add_score(span.scores, feedback.get("key"), judged)
    if (correction := answer_in(feedback.get("correction"))) is not None:
        span.expected = correction


_ROOT = "6b1f0000-0000-4000-8000-000000000001"
LANGSMITH = Format(
    name="langsmith",
    title="LangSmith",
    versions="langsmith 0.15 (Run, Feedback), bulk exports in Parquet, tables of experiments",
    suffix=".jsonl",
    example=(
        b'{"id":"%(r)s","trace_id":"%(r)s","name":"rag","run_type":"chain","parent_run_id":null,'
        b'"start_time":"2026-11-02T08:00:00Z","end_time":"2026-11-02T08:00:02Z","tags":["manual"],'
        b'"inputs":{"question":"How much oil does the engine hold?"},"outputs":{"answer":"4.5 litres."},'
        b'"feedback_stats":{"correctness":{"n":1,"avg":1.0,"values":{}}}}\n'
        b'{"id":"c2","trace_id":"%(r)s","name":"VectorStoreRetriever","run_type":"retriever",'
        b'"parent_run_id":"%(r)s","start_time":"2026-11-02T08:00:00.1Z","end_time":"2026-11-02T08:00:00.3Z",'
        b'"inputs":{"query":"How much oil does the engine hold?"},"outputs":{"documents":[{"type":"Document",'
        b'"page_content":"It holds 4.5 litres of oil.","metadata":{"source":"manual.pdf","page":3}}]}}\n'
        % {b"r": _ROOT.encode()}
    ),
    documentation="A trace is a question, also where its runs are nested in `child_runs`. Retrievers give "
    "the retrieved passages; runs named like a reranker or a compression give the reranked ones. Feedback is "
    "kept as scores, one by one where the export has it, else the averages of `feedback_stats`. A row of an "
    "experiment's table is a question with its expected answer.",
    detect=detect,
    read=read,
)
