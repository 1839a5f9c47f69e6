"""Logs of Inspect: a `.eval` archive or the same in JSON, where a sample is a question."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from proofspan.contracts.records.field_values import index_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.errors import Fault
from proofspan.traces.formats.nested import kept, stated
from proofspan.traces.formats.payloads import content_text, sources_in
from proofspan.traces.formats.records import parsed, read_lists
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample
from proofspan.traces.lines.archives import Members, archive_of
from proofspan.traces.lines.json_values import MAX_ENTRY
from proofspan.traces.lines.reader import RawLine, UnusableError

_SAMPLE = re.compile(r"samples/(.*)_epoch_(\d+)\.json")
_COPIED = ("choices", "metadata", "error", "limit", "total_time", "working_time", "model_usage", "uuid")
_USED = frozenset({"id", "epoch", "input", "target", "messages", "output", "scores", "score", *_COPIED})
#: The numbers of the letters that scorers write: correct, partial, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ATTACHED = re.compile(r"(?:attachment|tc)://([0-9a-f]{32})")


def detect(sample: Sample) -> str | None:
    """Return why a source is a log of Inspect: its samples and header, or in JSON its eval."""
    if sample.shape == "zip":
        has_head = {"header.json", "_journal/start.json"} & {*sample.names}
        has_sample = any(map(_SAMPLE.fullmatch, sample.names))
        return "the archive has samples/ and a header" if has_head and has_sample else None
    run = sample.first.get("eval")
    if isinstance(run, dict) and {"task", "model"} <= run.keys() and {"plan", "status"} & sample.first.keys():
        return "the object has eval, with its task and model, and plan or status"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each sample in each epoch."""
    if zipfile.is_zipfile(path):
        with Members(path, reading.on_bytes) as members:
            yield from _archive(members, reading)
        return
    rest: dict[str, Json] = {}
    for _, place, sample in read_lists(path, reading, "samples", rest=rest):
        yield _asked(sample, place, _run_name(rest), reading)
    reading.fields(rest, {"eval", "samples"})


def _archive(members: Members, reading: Reading) -> Iterator[Asked]:
    header = next((each for each in ("header.json", "_journal/start.json") if each in members.names), "")
    head = _member(members, header, reading) if header else None
    if head is not None:
        reading.fields(head, {"eval"})
    name = _run_name(head or {})
    found = [(match, each) for each in members.names if (match := _SAMPLE.fullmatch(each)) is not None]
    for match, each in sorted(found, key=lambda pair: (int(pair[0][2][:9]), _natural(pair[0][1]))):
        reading.records += 1
        if (sample := _member(members, each, reading, lost=True)) is not None:
            yield _asked({"id": match[1], "epoch": int(match[2][:9]), **sample}, each, name, reading)


def _natural(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() and len(name) < 16 else (1 << 60, name)


def _member(members: Members, name: str, reading: Reading, *, lost: bool = False) -> dict[str, Json] | None:
    """Return the object of a member; None with a problem for one that cannot be used."""
    try:
        with members.open(name) as source:
            data = source.read(MAX_ENTRY + 1)
        if len(data) > MAX_ENTRY:
            fix = "Write the log with log_realtime=False and without images."
            raise UnusableError("too_large", f"is larger than {MAX_ENTRY >> 20} MiB", fix)
        value = parsed(RawLine(1, 0, len(data), data), name, reading)
    except UnusableError as why:
        reading.problem(why.code, why.message, name, why.fix, lost=lost)
        return None
    except Fault as fault:
        for number, each in enumerate(fault.problems):
            reading.problem(each.code, each.message, name, each.fix, lost=lost and not number)
        return None
    if isinstance(value, dict):
        return value
    reading.problem("not_an_object", "is no JSON object", name, "Write the log again.", lost=lost)
    return None


def _run_name(head: Mapping[str, Json]) -> str:
    """Return the name of a log's run: its task and its model."""
    run = head.get("eval")
    names = [text_of(run.get(name)) for name in ("task", "model")] if isinstance(run, dict) else []
    return ", ".join(name for name in names if name)


def _asked(sample: dict[str, Json], place: str, run: str, reading: Reading) -> Asked:
    attached = sample.get("attachments")
    if isinstance(attached, dict) and attached:
        sample = {**sample, **{name: _whole(sample.get(name), attached) for name in _WITH_ATTACHED}}
    reading.fields(sample, {*_USED, "attachments"})
    messages = sample.get("messages")
    turns = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    answer, cited = _answer(sample.get("output"))
    target = sample.get("target")
    targets = [text for each in (target if isinstance(target, list) else [target]) if (text := text_of(each))]
    fields = kept(sample, _COPIED) | ({"epoch": sample["epoch"]} if sample.get("epoch") else {})
    passages = _passages(turns) or sources_in(sample.get("metadata"))
    return Asked(
        place=place,
        q=_question(sample.get("input")) or "",
        q_id=text_of(sample.get("id")),
        answer=answer,
        lists={"chunks": passages} if passages else {},
        cited=cited,
        expected=targets[0].strip() or None if targets else None,
        scores=_scores(sample),
        fields=fields | ({"targets": targets} if len(targets) > 1 else {}),
        run=run,
    )


_WITH_ATTACHED = ("input", "messages", "output", "target", "scores", "metadata")


def _whole(value: Json, attached: Mapping[str, Json]) -> Json:
    """Return a value with the texts that the log keeps once, as attachments, in their places."""
    if isinstance(value, str):
        match = _ATTACHED.fullmatch(value)
        return attached.get(match[1], value) if match else value
    if isinstance(value, dict):
        return {name: _whole(each, attached) for name, each in value.items()}
    return [_whole(each, attached) for each in value] if isinstance(value, list) else value


def _question(given: Json) -> str | None:
    """Return what is asked: the input, of messages the last one of the user."""
    if not isinstance(given, list):
        return text_of(given)
    asked = [content_text(each.get("content")) for each in given if _by(each, "user")]
    return next((text for text in reversed(asked) if text), None)


def _by(message: Json, role: str) -> bool:
    return isinstance(message, dict) and message.get("role") == role


def _answer(output: Json) -> tuple[str | None, list[Cited]]:
    """Return the completion with its citations: the text of the first choice."""
    choices = output.get("choices") if isinstance(output, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if content is None and isinstance(output, dict):
        content = output.get("completion")
    answer, cited, begin = content_text(content), list[Cited](), 0
    for part in content if isinstance(content, list) else ():
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            continue
        given = part.get("citations") if isinstance(part, dict) else None
        for each in given if isinstance(given, list) else ():
            if isinstance(each, dict):
                cited.append(_cited(each, begin, len(text)))
        begin += len(text)
    return answer, cited


def _cited(each: dict[str, Json], begin: int, size: int) -> Cited:
    """Return a citation of a part of the answer; its pages and characters count from 0, half open."""
    quote, span = each.get("cited_text"), (begin, begin + size)
    if isinstance(quote, list) and len(quote) == 2 and all(type(number) is int for number in quote):
        span = begin + quote[0], begin + quote[1]
    place = each.get("range")
    place = place if isinstance(place, dict) else {}
    start, end = place.get("start_index"), place.get("end_index")
    kind = place.get("type")
    known = {"cited_text", "range", "title", "url"}
    passage = Passage(
        text=quote if isinstance(quote, str) else None,
        document=text_of(each.get("title")) or text_of(each.get("url")),
        page=index_of(start) if kind == "page" else None,
        page_base=0 if kind == "page" else None,
        offsets=(start, end) if kind == "char" and type(start) is int and type(end) is int else None,
        more={name: value for name, value in each.items() if name not in known and value is not None}
        | ({"url": each["url"]} if each.get("url") else {})
        | ({"range": place} if place else {}),
    )
    is_web = each.get("type") == "url"
    return Cited(passage=passage, span=span, reason="it names a web page" if is_web else "")


def _passages(messages: list[dict[str, Json]]) -> list[Passage]:
    """Return the results of tools that the model saw."""
    return [
        Passage(text=text, more=stated(function=each.get("function"), tool_call_id=each.get("tool_call_id")))
        for each in messages
        if _by(each, "tool") and (text := content_text(each.get("content"))) is not None
    ]


def _scores(sample: Mapping[str, Json]) -> dict[str, Json]:
    """Return the scores by scorer; the single one of logs before version 2 is "score"."""
    scores = sample.get("scores")
    scores = scores if isinstance(scores, dict) else {"score": sample.get("score")}
    found: dict[str, Json] = {}
    for name, score in scores.items():
        score = score if isinstance(score, dict) else {"value": score}
        value = score.get("value")
        parts = value if isinstance(value, dict) else {"": value}
        for part, each in parts.items():
            if (judged := _score(score, each)) != {}:
                found[f"{name}.{part}" if part else name] = judged
    return found


def _score(score: Mapping[str, Json], value: Json) -> dict[str, Json]:
    number = float(value) if isinstance(value, bool) else number_of(value)
    label = value if isinstance(value, str) and value else None
    if isinstance(value, list):
        label = orjson.dumps(value).decode()
    if number is None and label is not None:
        number = _LETTERS.get(label)
    more = {name: score.get(name) for name in ("explanation", "answer", "metadata", "reason")}
    return stated(score=number, label=label, **more)


def _example() -> bytes:
    sample = {
        "id": 7,
        "epoch": 1,
        "input": "How much oil?",
        "target": "4.5 litres",
        "messages": [
            {"role": "user", "content": "How much oil?", "source": "input"},
            {"role": "tool", "content": "The engine holds 4.5 litres.", "function": "search"},
        ],
        "output": {"model": "m", "choices": [{"message": {"role": "assistant", "content": "4.5 litres."}}]},
        "scores": {"match": {"value": "C", "answer": "4.5 litres", "explanation": "It is in the answer."}},
    }
    head = {"version": 2, "status": "success", "eval": {"task": "manual", "model": "openai/m"}}
    return archive_of({"samples/7_epoch_1.json": orjson.dumps(sample), "header.json": orjson.dumps(head)})


INSPECT = Format(
    name="inspect",
    title="Inspect logs",
    versions="inspect-ai 0.3.285, log versions 1 and 2",
    suffix=".eval",
    example=_example(),
    documentation="A `.eval` archive, also packed with Zstandard, or a log in JSON. A sample is a question, "
    "a further epoch a repetition; results of tools, or documents in its metadata, are what the model saw. "
    "Of several targets the first is the expected answer. The letters C, P, I and N are scores of 1, 0.5, 0 "
    "and 0. A log without its header is read from its journal.",
    detect=detect,
    read=read,
)
