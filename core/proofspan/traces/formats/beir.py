"""BEIR data sets: a folder or its ZIP archive with a corpus, queries, judgments and perhaps runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample
from proofspan.traces.lines.archives import Members, archive_of
from proofspan.traces.lines.reader import UnusableError, lines_of, parse_line

_FILES = ("corpus.jsonl", "queries.jsonl")
_PACKED = ("", ".gz", ".zst")
_USED = ("_id", "title", "text", "metadata")
#: Judgments by topic and document, and the split that each topic is in.
_Judged = dict[str, dict[str, int]]


def detect(sample: Sample) -> str | None:
    """Return why a folder or an archive is BEIR's: it has a corpus and queries."""
    if sample.shape not in ("folder", "zip"):
        return None
    last = {name.rsplit("/", 1)[-1] for name in sample.names}
    found = [next((f"{name}{end}" for end in _PACKED if f"{name}{end}" in last), "") for name in _FILES]
    return f"it has {' and '.join(found)}" if all(found) else None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each query, with the texts of its judged and retrieved documents."""
    with Members(path, reading.on_bytes) as members, tempfile.TemporaryFile() as kept:
        judged, splits = _judgments(members, reading)
        runs = _results(members, reading)
        wanted = {each for documents in judged.values() for each in documents if documents[each] > 0}
        wanted |= {each for run in runs.values() for documents in run.values() for each in documents}
        corpus = _Corpus(kept, _lines(members, _named(members, _FILES[0]), reading), wanted, reading)
        for place, query in _lines(members, _named(members, _FILES[1]), reading):
            q_id = text_of(query.get("_id"))
            reading.fields(query, ("_id", "text", "metadata"))
            for run in runs or ("",):
                documents = runs.get(run, {}).get(q_id or "", {})
                yield Asked(
                    place=place,
                    q=text_of(query.get("text")) or "",
                    q_id=q_id,
                    lists={"retrieved": corpus.ranked(documents)} if runs else {},
                    gold=corpus.relevant(judged.get(q_id or "", {})),
                    fields=_fields(query, splits.get(q_id or "")),
                    run=run if len(runs) > 1 else "",
                )


def _fields(query: dict[str, Json], split: str | None) -> dict[str, Json]:
    fields: dict[str, Json] = {"metadata": query["metadata"]} if query.get("metadata") else {}
    return fields | ({"split": split} if split else {})


def _named(members: Members, name: str) -> str:
    ends = tuple(f"{name}{end}" for end in _PACKED)
    found = [each for each in members.names if each.rsplit("/", 1)[-1] in ends]
    if not found:
        fix = "Put the file itself there: links in a folder are not followed."
        raise InputFault.of(
            "missing_file", f"{name} is not there as a file", where=str(members.path), fix=fix
        )
    return min(found)


def _lines(members: Members, name: str, reading: Reading) -> Iterator[tuple[str, dict[str, Json]]]:
    with members.open(name) as source:
        for raw in lines_of(source, final=True):
            reading.records += 1
            place = f"{name} line {raw.line:,}"
            try:
                record = parse_line(raw)
            except UnusableError as why:
                reading.problem(why.code, why.message, place, why.fix)
                continue
            if isinstance(record, dict) and text_of(record.get("_id")) is not None:
                yield place, record
            else:
                message = "is no object with an _id"
                reading.problem("not_an_object", message, place, "Write one object a line, with its _id.")


def _judgments(members: Members, reading: Reading) -> tuple[_Judged, dict[str, str]]:
    judged: _Judged = {}
    splits: dict[str, str] = {}
    for name in sorted(each for each in members.names if "qrels" in each and each.endswith(".tsv")):
        with members.open(name) as source:
            for raw in lines_of(source, final=True):
                fields = raw.data.decode("utf-8", "replace").split("\t")
                if raw.line == 1 and not fields[-1].strip().lstrip("-").isdigit():
                    continue  # the header
                reading.records += 1
                try:
                    q_id, document, relevance = fields
                    judged.setdefault(q_id, {})[document] = int(relevance)
                except ValueError:
                    message = "is no judgment: query, document, relevance, with tabs between"
                    place = f"{name} line {raw.line:,}"
                    reading.problem("not_a_judgment", message, place, "Correct the line.")
                    continue
                splits[q_id] = name.rsplit("/", 1)[-1].removesuffix(".tsv")
                reading.understood["relevance"] += 1
    return judged, splits


def _results(members: Members, reading: Reading) -> dict[str, dict[str, dict[str, float]]]:
    """Return the scores by run, query and document of results as BEIR's evaluation takes them, in JSON."""
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for name in sorted(each for each in members.names if each.endswith(".json")):
        with members.open(name) as source:
            data = source.read(_MOST_RESULTS + 1)
        if len(data) > _MOST_RESULTS:
            message = f"is larger than {_MOST_RESULTS >> 20} MiB"
            reading.problem("too_large", message, name, "Name a smaller run.")
            continue
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            reading.problem("not_json", f"is not valid JSON: {error.msg}", name, "Write it again.")
            continue
        if isinstance(value, dict) and value and all(isinstance(each, dict) for each in value.values()):
            run = {
                query: {
                    document: score
                    for document, each in documents.items()
                    if (score := number_of(each)) is not None
                }
                for query, documents in value.items()
            }
            if any(run.values()):
                reading.records += 1
                reading.understood["score"] += sum(map(len, run.values()))
                runs[name.rsplit("/", 1)[-1]] = run
    return runs


_MOST_RESULTS = 256 << 20


class _Corpus:
    """The documents of a corpus that are asked for, in a temporary file, by their ids."""

    def __init__(
        self,
        kept: BinaryIO,
        documents: Iterator[tuple[str, dict[str, Json]]],
        wanted: set[str],
        reading: Reading,
    ) -> None:
        self._kept = kept
        self._places: dict[str, tuple[int, int]] = {}
        end = 0
        for place, document in documents:
            reading.fields(document, _USED)
            name = text_of(document["_id"]) or ""
            if name in self._places:
                message = f"the _id {name[:80]!r} occurs before; the first one counts"
                reading.problem("duplicate__id", message, place, "Give every document its own _id.")
            elif name in wanted:
                size = kept.write(orjson.dumps(document))
                self._places[name] = end, size
                end += size

    def passage(self, name: str, score: float | None = None, relevance: int | None = None) -> Passage:
        """Return a document as a passage, without text if the corpus does not have it."""
        more: dict[str, Json] = {} if relevance is None else {"relevance": relevance}
        if name not in self._places:
            return Passage(id=name, score=score, more=more)
        start, size = self._places[name]
        self._kept.seek(start)
        document = orjson.loads(self._kept.read(size))
        metadata = document.get("metadata")
        return Passage(
            id=name,
            text=text_of(document.get("text")),
            document=text_of(document.get("title")),
            score=score,
            more=more | ({"metadata": metadata} if metadata else {}),
        )

    def ranked(self, scores: dict[str, float]) -> list[Passage]:
        """Return documents with the best score first, of equal ones the greater id, as trec_eval does."""
        ordered = sorted(scores.items(), key=lambda each: (each[1], each[0]), reverse=True)
        return [self.passage(name, score) for name, score in ordered]

    def relevant(self, judged: dict[str, int]) -> list[Passage]:
        """Return the documents with a relevance above 0, the most relevant first."""
        found = sorted((-relevance, name) for name, relevance in judged.items() if relevance > 0)
        return [self.passage(name, relevance=-falling) for falling, name in found]


def _example() -> bytes:
    files = {
        "manual/corpus.jsonl": b'{"_id":"p12","title":"Engine oil","text":"The engine holds 4.5 litres."}\n'
        b'{"_id":"p40","title":"Tyres","text":"Check the pressure once a month."}\n',
        "manual/queries.jsonl": b'{"_id":"7","text":"How much oil?"}\n',
        "manual/qrels/test.tsv": b"query-id\tcorpus-id\tscore\n7\tp12\t1\n",
    }
    return archive_of(files)


BEIR = Format(
    name="beir",
    title="BEIR",
    versions="beir 2: corpus.jsonl, queries.jsonl, qrels/*.tsv, results in JSON",
    suffix=".zip",
    example=_example(),
    documentation="A folder, or the ZIP archive of it. A query is a question, and a document with a "
    "relevance above 0 holds its answer, in grades; `split` names the file of the judgment. Only documents "
    "that are judged relevant or retrieved are kept of the corpus. JSON files of {query: {document: score}} "
    "are runs.",
    detect=detect,
    read=read,
)
