"""TREC runs and judgments (qrels): a topic is a question, a run a run, a line a document at a rank."""

from __future__ import annotations

import io
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain, groupby
from math import isnan
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from proofspan.contracts.records.records import Json
from proofspan.errors import Fault
from proofspan.manifest.contents import QRELS, TREC_RUN
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample
from proofspan.traces.lines.reader import MAX_LINE, lines_of
from proofspan.traces.lines.unpack import no_progress, open_plain

#: Files of a folder that are looked at.
_MOST_FILES = 200
_HEAD = 8_192
#: Temporary files among which the lines of a run are divided if its topics are not one after the other.
_PARTS = 64
#: Bytes of lines that are read together.
_TOGETHER = 64 << 10
_TEXTS = "queries.tsv, topics.tsv or a file of lines with an id, a tab and a question"


class _Lines(NamedTuple):
    """Lines of a run, field by field."""

    topics: Sequence[str]
    documents: Sequence[str]
    ranks: Sequence[int]
    scores: Sequence[float]
    tags: Sequence[str]

    def between(self, begin: int, end: int) -> _Lines:
        return _Lines._make(field[begin:end] for field in self)


_NO_LINES = _Lines((), (), (), (), ())


def kind_of(head: bytes) -> Literal["run", "qrels"] | None:
    """Return whether a file is a run or judgments by its first bytes; None for anything else."""
    lines = [line for line in head.splitlines() if line.strip()][:20]
    if len(head) >= _HEAD and len(lines) > 1:
        lines.pop()
    if lines and all(map(TREC_RUN.fullmatch, lines)):
        return "run"
    is_judged = lines and (all(map(QRELS.fullmatch, lines)) or _is_header(lines[0]))
    return "qrels" if is_judged else None


def _is_header(line: bytes) -> bool:
    """Return whether a line is the header of BEIR's judgments."""
    return line.split() == [b"query-id", b"corpus-id", b"score"]


def _kinds(folder: Path) -> dict[Path, Literal["run", "qrels"]]:
    """Return which files of a folder are runs and judgments, in the order of their names."""
    files = sorted(each for each in folder.iterdir() if each.is_file() and not each.is_symlink())[
        :_MOST_FILES
    ]
    found: dict[Path, Literal["run", "qrels"]] = {}
    for each in files[:_MOST_FILES]:
        with suppress(Fault), open_plain(each) as source:
            if (kind := kind_of(source.read(_HEAD))) is not None:
                found[each] = kind
    return found


def detect(sample: Sample) -> str | None:
    """Return why a source is TREC's: each line has the fields of a run or of judgments."""
    if sample.shape == "folder":
        kinds = _kinds(sample.path)
        names = [f"{path.name} is {_NAMES[kind]}" for path, kind in kinds.items()]
        return "; ".join(names[:5]) if names else None
    kind = kind_of(sample.head[:_HEAD]) if sample.shape in ("text", "table") else None
    return None if kind is None else f"every line has the fields of {_NAMES[kind]}"


_NAMES = {
    "run": "a run (topic, Q0, document, rank, score, tag)",
    "qrels": "judgments (topic, 0, document, n)",
}


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each topic of each run, and for each judged topic that it does not have.

    Of a file, those of its kind's partner beside it: the judgments in its folder, or the runs.
    """
    folder = path if path.is_dir() else path.parent
    kinds = _kinds(folder)
    if path.is_file() and kinds.get(path) == "run":
        kinds = {each: kind for each, kind in kinds.items() if each == path or kind == "qrels"}
    runs = [each for each, kind in kinds.items() if kind == "run"]
    judgments = [each for each, kind in kinds.items() if kind == "qrels"]
    if path.is_file() and kinds.get(path) == "qrels":
        judgments = [path]
    if len(judgments) > 1:
        names = ", ".join(each.name for each in judgments)
        message = f"there are several judgments ({names}); a document has the relevance of the last"
        fix = "Leave the judgments that belong to the run in the folder."
        reading.problem("several_judgments", message, folder.name, fix, lost=False)
    judged: dict[str, dict[str, int]] = {}
    for each in judgments:
        read_judgments(each, judged, reading)
    texts = _texts(folder, kinds, reading)
    for run in runs:
        yield from _run(run, judged, texts, reading, name=run.name if len(runs) > 1 else "")
    if not runs:
        for topic in judged:
            yield _asked(topic, _NO_LINES, judged, texts, place=f"topic {topic}", name="")


def read_judgments(path: Path, judged: dict[str, dict[str, int]], reading: Reading) -> None:
    """Add the relevance of each judged document by topic, of qrels with and without their second field."""
    with open_plain(path) as source:
        for raw in lines_of(source, final=True):
            fields = raw.data.decode("utf-8", "replace").split()
            if raw.line == 1 and _is_header(raw.data):
                continue
            reading.records += 1
            try:
                topic, document, relevance = fields if len(fields) == 3 else (fields[0], *fields[2:])
                judged.setdefault(topic, {})[document] = int(relevance)
                reading.understood["relevance"] += 1
            except (ValueError, IndexError):
                message = "is no judgment: topic, 0, document, relevance"
                place = f"{path.name} line {raw.line:,}"
                reading.problem("not_a_judgment", message, place, "Correct the line.")


def _texts(folder: Path, known: Iterable[Path], reading: Reading) -> dict[str, str]:
    """Return the questions by topic of the file beside a run that has them, {} without one."""
    texts: dict[str, str] = {}
    others = sorted(each for each in folder.glob("*.tsv") if each not in known and each.is_file())
    for each in others[:_MOST_FILES]:
        with open_plain(each) as source:
            for raw in lines_of(source, final=True):
                topic, tab, text = raw.data.decode("utf-8", "replace").partition("\t")
                if tab and text.strip() and "\t" not in text:
                    texts[topic.strip()] = text.strip()
    if not texts:
        message = "the topics have no text; they are named by their ids"
        fix = f"Put {_TEXTS} beside it."
        reading.problem("no_topic_texts", message, folder.name or ".", fix, lost=False)
    return texts


def _run(
    path: Path, judged: dict[str, dict[str, int]], texts: dict[str, str], reading: Reading, *, name: str
) -> Iterator[Asked]:
    seen: set[str] = set()
    with ExitStack() as stack:
        sources: list[Path] = [path]
        if not _is_grouped(path):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            sources = _divided(path, folder, reading)
        for source in sources:
            blocks = _run_lines(source, path.name, reading, is_part=source is not path)
            if source is not path:
                blocks = iter([_by_topic(blocks)])
            for found in _topics(blocks):
                topic = found.topics[0]
                seen.add(topic)
                if len({*found.documents}) < len(found.documents):
                    message, fix = "has a document twice", "Keep the better score."
                    place = f"{path.name} topic {topic}"
                    reading.problem("duplicate_document", message, place, fix, lost=False)
                yield _asked(topic, found, judged, texts, place=f"topic {topic}", name=name)
    for topic in (each for each in judged if each not in seen):
        yield _asked(topic, _NO_LINES, judged, texts, place=f"topic {topic}", name=name)


def _topics(blocks: Iterable[_Lines]) -> Iterator[_Lines]:
    """Yield the lines of each topic, which are one after the other."""
    parts: list[_Lines] = []
    for block in blocks:
        begin = 0
        for topic, group in groupby(block.topics):
            if parts and parts[0].topics[0] != topic:
                yield _joined(parts)
                parts.clear()
            end = begin + len([*group])
            parts.append(block.between(begin, end))
            begin = end
    if parts:
        yield _joined(parts)


def _joined(parts: Sequence[_Lines]) -> _Lines:
    if len(parts) == 1:
        return parts[0]
    return _Lines._make([*chain.from_iterable(field)] for field in zip(*parts, strict=True))


def _by_topic(blocks: Iterable[_Lines]) -> _Lines:
    """Return all lines, those of each topic in their order."""
    lines = _joined([_NO_LINES, *blocks])
    order = sorted(range(len(lines.topics)), key=lines.topics.__getitem__)
    return _Lines._make([field[number] for number in order] for field in lines)


def _is_grouped(path: Path) -> bool:
    """Return whether the lines of each topic are one after the other."""
    seen: set[bytes] = set()
    last = b""
    begins: tuple[bytes, ...] = ()  # of lines with the same topic
    with open_plain(path) as source:
        for line in iter(partial(source.readline, MAX_LINE), b""):
            if line.startswith(begins):
                continue
            topic = line.split(None, 1)[0] if line.strip() else last
            if topic != last:
                if topic in seen:
                    return False
                seen.add(topic)
                last, begins = topic, (topic + b" ", topic + b"\t")
    return True


def _divided(path: Path, folder: Path, reading: Reading) -> list[Path]:
    """Divide a run among files so that all lines of a topic are in one."""
    parts = [folder / f"{number:02}" for number in range(_PARTS)]
    with ExitStack() as stack, open_plain(path, reading.on_bytes) as source:
        files = [stack.enter_context(each.open("wb")) for each in parts]
        while line := source.readline(MAX_LINE):
            if line.strip():
                files[zlib.crc32(line.split(None, 1)[0]) % _PARTS].write(line)
    return parts


def _run_lines(path: Path, name: str, reading: Reading, *, is_part: bool) -> Iterator[_Lines]:
    """Yield the lines of a run in blocks; what is no line of a run is a problem."""
    number = used = 0
    with open_plain(path, no_progress if is_part else reading.on_bytes) as source:
        while block := source.read(_TOGETHER) + source.readline(MAX_LINE):
            if (lines := _block(block)) is not None:
                number += len(lines.topics)
            else:
                found = []
                for raw in io.BytesIO(block):
                    number += 1
                    if (line := _line(raw)) is not None:
                        found.append(line)
                    elif not raw.isspace():
                        reading.records += 1
                        place = repr(raw[:80].decode("utf-8", "replace")) if is_part else f"line {number:,}"
                        message = "is no line of a run: topic, Q0, document, rank, score, tag"
                        reading.problem("not_a_run", message, f"{name} {place}", "Correct the line.")
                lines = _Lines(*zip(*found, strict=True)) if found else _NO_LINES
            used += len(lines.topics)
            yield lines
    reading.records += used
    reading.understood.update(dict.fromkeys(("topic", "document", "rank", "score", "tag"), used))


def _line(raw: bytes) -> tuple[str, str, int, float, str] | None:
    """Return topic, document, rank, score and tag of a line; None for what is no line of a run."""
    try:
        topic, _, document, rank, score, *tag = raw.decode("utf-8", "replace").split()
        line = topic, document, int(rank), float(score), tag[0] if tag else ""
    except ValueError:
        return None
    return None if isnan(line[3]) else line


def _block(block: bytes) -> _Lines | None:
    """Return lines that have six fields each, in a fifth of the time; None where one does not."""
    if b"\0" in block:
        return None
    try:
        fields = block.decode().removesuffix("\n").replace("\n", " \0 ").split()  # the ends of lines too
        if len(fields) % 7 != 6 or fields.count("\0") != len(fields) // 7 or {*fields[6::7]} - {"\0"}:
            return None
        ranks, scores = [*map(int, fields[3::7])], [*map(float, fields[4::7])]
    except ValueError:
        return None
    lines = _Lines(fields[::7], fields[2::7], ranks, scores, fields[5::7])
    return None if any(map(isnan, lines.scores)) else lines


def _trec_order(lines: _Lines) -> list[int]:
    """Return the order in which trec_eval 9 puts a topic's lines, whatever their ranks.

    The best score in single precision is first, and of equal ones the greater id.
    """
    scores = np.array(lines.scores, dtype=np.float32)
    order = np.argsort(-scores)
    if bool((scores[order[1:]] < scores[order[:-1]]).all()):
        found: list[int] = order.tolist()
        return found
    keys = zip(scores.tolist(), lines.documents, range(len(scores)), strict=True)
    return [number for _, _, number in sorted(keys, reverse=True)]


def _asked(
    topic: str,
    lines: _Lines,
    judged: dict[str, dict[str, int]],
    texts: dict[str, str],
    *,
    place: str,
    name: str,
) -> Asked:
    relevance = judged.get(topic, {})
    _, documents, ranks, scores, _ = lines
    retrieved = []
    for position, number in enumerate(_trec_order(lines), start=1):
        document, rank = documents[number], ranks[number]
        more: dict[str, Json] = {"trec_rank": rank} if rank != position else {}
        if document in relevance:
            more["relevance"] = relevance[document]
        retrieved.append(Passage(id=document, score=scores[number], more=more))
    gold = sorted((-number, document) for document, number in relevance.items() if number > 0)
    tags = sorted(filter(None, {*lines.tags}))
    return Asked(
        place=place,
        q=texts.get(topic, f"topic {topic}"),
        q_id=topic,
        lists={"retrieved": retrieved},
        gold=[Passage(id=document, more={"relevance": -falling}) for falling, document in gold],
        fields={"tag": ", ".join(tags)} if tags else {},
        run=name,
    )


TREC = Format(
    name="trec",
    title="TREC run and qrels",
    versions="trec_eval 9",
    suffix=".run",
    example=b"7 Q0 manual-p12 1 14.25 bm25\n7 Q0 manual-p3 2 13.5 bm25\n8 Q0 manual-p40 1 9.75 bm25\n",
    documentation="A topic is a question, and a document with a relevance above 0 holds its answer, in "
    "grades. A "
    "folder, or a run beside its qrels: each run of a folder is a run. Documents are ordered as trec_eval "
    "does, by score and then by id; a rank that differs from that is kept as `trec_rank`. Questions "
    "come from a TSV file of ids and texts beside it.",
    detect=detect,
    read=read,
)
