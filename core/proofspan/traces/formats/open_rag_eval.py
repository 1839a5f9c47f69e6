"""open-rag-eval reports and answers: a query is a question, its runs are repetitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.nested import entries, first_object, kept, list_of, measure, object_of, text
from proofspan.traces.formats.records import json_of, read_records, sample_of
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample

_LONG = frozenset({"query_id", "query", "query_run", "passage_id", "passage", "generated_answer"})
_RUN_COLUMN = re.compile(r"run_(\d{1,6})_(.+)")
#: The markers after a part of an answer: `[1]`, `[1][2]`, `[1], [2]` or `[1, 2]`.
_MARKERS = re.compile(r"\[\d+(?:,\s*\d+)*\](?:,?\s*\[\d+(?:,\s*\d+)*\])*")
#: What a part of an answer begins with that belongs to the part before.
_BETWEEN = " .,;:\n"
_NUMBER = re.compile(r"\d+")
#: A passage's place in its list, which is all that its id says.
_PLACE = re.compile(r"\[(\d+)\]\Z")
#: What the connectors write instead of a passage's id where there was none.
_NO_PASSAGE = frozenset({"NA", "ERROR"})
_JUDGED = "retrieval_score_umbrela_scores"
_EXPECTED = "generation_score_expected_answer"


def detect(sample: Sample) -> str | None:
    """Return why a source is open-rag-eval's: its report, its table of runs, or its table of passages."""
    entry = first_object(sample.first.get("evaluation"))
    if {"query", "runs"} <= entry.keys():
        return "an entry of evaluation has query and runs"
    if "generated_answer" in sample.first and {"query", "passage_id", "passage"} <= sample.first.keys():
        return "the rows have query, passage_id, passage and generated_answer"
    columns = [name for name in sample.first if _RUN_COLUMN.fullmatch(name)]
    if "query" in sample.first and any(name.endswith("_generated_answer") for name in columns):
        return f"the rows have query and {columns[0]}"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each run of each query."""
    if {"passage", "passage_id"} <= sample_of(path).first.keys():
        yield from _rows(path, reading)
        return
    for place, entry in entries(path, reading, ("evaluation",)):
        shared = {name: _held(value) for name, value in entry.items() if name.startswith("consistency")}
        columns = {name for name in entry if _RUN_COLUMN.fullmatch(name)}
        reading.fields(entry, {"query_id", "query", "runs", *shared, *columns})
        runs = _columns(entry) or list_of(entry.get("runs"))
        runs = [run for run in runs if not isinstance(run, dict) or kept(run, run)] or [{}]
        reading.records += len(runs) - 1  # the runs are the records
        for number, run in enumerate(runs, start=1):
            at = place if len(runs) == 1 else f"{place}, run {number}"
            if isinstance(run, dict):
                yield _asked(at, entry, run, kept(shared, shared), reading)
            else:
                reading.problem("not_an_object", "is no JSON object", at, "Export it again.")


def _columns(entry: Mapping[str, Json]) -> list[Json]:
    """Return the runs of a table's row, whose columns are `run_1_generated_answer` and so on."""
    runs: dict[int, dict[str, Json]] = {}
    for name, value in entry.items():
        if found := _RUN_COLUMN.fullmatch(name):
            runs.setdefault(int(found[1]), {})[found[2]] = value
    return [runs[number] for number in sorted(runs)]


def _held(value: Json) -> Json:
    """Return a value as it was before it was written into a cell."""
    return json_of(value) if isinstance(value, str) else value


def _asked(
    place: str, entry: Mapping[str, Json], run: Mapping[str, Json], shared: dict[str, Json], reading: Reading
) -> Asked:
    q_id, judged = text(entry.get("query_id")), object_of(run.get(_JUDGED))
    reading.fields(run, run.keys(), at="runs.")
    scores: dict[str, Json] = {}
    fields = dict(shared)
    for name, value in run.items():
        if name in ("retrieved_passages", "generated_answer", _EXPECTED) or (name == _JUDGED and judged):
            continue
        short = name.removeprefix("retrieval_score_").removeprefix("generation_score_")
        held = _held(value)
        if isinstance(held, dict | list):
            fields |= kept({short: held}, (short,))
        elif (found := measure(held)) is not None:
            scores[short] = found
    passages = _held(run.get("retrieved_passages"))
    if isinstance(passages, dict):
        seen = [_passage(q_id, name, value, judged.get(name)) for name, value in passages.items()]
    else:
        seen = [Passage(text=text(value)) for value in list_of(passages)]
    parts = _parts(run.get("generated_answer"))
    return Asked(
        place=place,
        q=text(entry.get("query")) or "",
        q_id=q_id,
        answer=parts.answer,
        lists={"chunks": seen} if seen else {},
        cited=[Cited(passage=Passage(), chunk=_id(q_id, name), span=span) for name, span in parts.cited],
        expected=text(run.get(_EXPECTED)),
        scores=scores,
        fields=fields,
    )


def _passage(q_id: str | None, name: str, value: Json, judged: Json) -> Passage:
    more = {} if judged is None else {"umbrela_score": judged}
    return Passage(text=text(value), id=_id(q_id, name), more=more)


def _id(q_id: str | None, name: str) -> str:
    """Return the id of a passage; one that is only a place in the list, "[1]", is joined to the query's."""
    found = _PLACE.match(name)
    return f"{q_id or 'passage'}-{found[1]}" if found else name


class _Answer(NamedTuple):
    """An answer, and which passages each part of it cites: the passage's name and the part's place."""

    answer: str | None
    cited: list[tuple[str, tuple[int, int]]]


def _parts(value: Json) -> _Answer:
    """Return an answer that is a text with markers `[1]`, or a list of `{text, citations}`."""
    parts = _held(value)
    if not isinstance(parts, list) or not all(isinstance(each, dict) and "text" in each for each in parts):
        return _marked(text(parts))
    answer = ""
    cited: list[tuple[str, tuple[int, int]]] = []
    for part in parts:
        words = text(part["text"]) or ""
        if answer and words[:1].isalnum():
            answer += " "
        begin = len(answer) + len(words) - len(words.lstrip(_BETWEEN))
        names = [name for each in list_of(part.get("citations")) if (name := text(each))]
        answer += words
        cited += [(name, (begin, len(answer))) for name in names]
        answer += " " * bool(names) + "".join(names)
    return _Answer(answer or None, cited)


def _marked(answer: str | None) -> _Answer:
    words, end = answer or "", 0
    cited: list[tuple[str, tuple[int, int]]] = []
    for markers in _MARKERS.finditer(words):
        part = words[end : markers.start()].rstrip()
        begin = end + len(part) - len(part.lstrip(_BETWEEN))
        cited += [(f"[{number}]", (begin, end + len(part))) for number in _NUMBER.findall(markers[0])]
        end = markers.end()
    return _Answer(answer, cited)


def _rows(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each query and run of a table with a row for each passage, in its order."""

    def run_of(item: tuple[str, Mapping[str, Json]]) -> tuple[str | None, ...]:
        return tuple(text(item[1].get(name)) for name in ("query_id", "query", "query_run"))

    for (q_id, q, _), group in groupby(read_records(path, reading), run_of):
        rows = list(group)
        for _, row in rows:
            reading.fields(row, _LONG)
        answer = next((found for _, row in rows if (found := text(row.get("generated_answer")))), None)
        marked = _marked(answer)
        names = [(text(row.get("passage_id")) or "", text(row.get("passage"))) for _, row in rows]
        seen = [
            Passage(text=words, id=_id(q_id, name) if name else None)
            for name, words in names
            if name not in _NO_PASSAGE or words not in (None, *_NO_PASSAGE)
        ]
        yield Asked(
            place=rows[0][0],
            q=q or "",
            q_id=q_id,
            answer=marked.answer,
            lists={"chunks": seen} if seen else {},
            cited=[Cited(passage=Passage(), chunk=_id(q_id, name), span=span) for name, span in marked.cited],
        )


OPEN_RAG_EVAL = Format(
    name="open_rag_eval",
    title="open-rag-eval",
    versions="open-rag-eval 0.3.0: the JSON report, the evaluators' CSV, and the answers' CSV",
    suffix=".json",
    example=b'{"version":"0.3.0","generated_at":"2026-01-01T00:00:00Z","evaluation":[{"query_id":"7",'
    b'"query":"How much oil?","runs":[{"retrieved_passages":{"[1]":"It holds 4.5 litres."},'
    b'"generated_answer":[{"text":"4.5 litres","citations":["[1]"]}],'
    b'"generation_score_citation_f1_score":1.0}]}]}\n',
    documentation="Each run of a query is a question, the second and on are repetitions. The parts of an "
    "answer cite passages by `[1]`; each is a citation with its place in the answer. Scores lose the "
    "prefixes `retrieval_score_` and `generation_score_`; UMBRELA's judgements are kept with the passages.",
    detect=detect,
    read=read,
)
