"""The format of an API's responses, and the parts of its questions that all such formats make alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from proofspan.contracts.records.field_values import index_of, text_of
from proofspan.contracts.records.records import NO_QUESTION, Json, StageName
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample
from proofspan.traces.responses.exchanges import Exchange, error_of, exchanges_of
from proofspan.traces.responses.parts import Record, digest_of, marked
from proofspan.traces.responses.streams import whole_responses

#: Why a citation of a web page leads to no page.
WEB_PAGE = "names a web page, which is not among the documents"
#: Why a citation leads nowhere if nothing else says so.
NOWHERE = "has neither a quote nor the name of a document"

AskedOf = Callable[[Exchange, Reading], Asked | None]


def response_format(
    *,
    name: str,
    title: str,
    versions: str,
    example: bytes,
    documentation: str,
    why: str,
    is_response: Callable[[Mapping[str, Json]], bool],
    asked_of: AskedOf,
    is_error: Callable[[Mapping[str, Json]], bool] = lambda _: False,
    is_snake: bool = False,
    suffix: str = ".json",
) -> Format:
    """Return the format of an API's responses.

    A source has it if each of its first records is a response by `is_response` or an error, and at least one
    is by `is_response` or by `is_error`, which recognizes the errors of this API alone. `asked_of` returns
    the question of a response; None for one that it noted as a problem. `is_snake`: the API writes keys in
    snake case, so that others are spelled so first.
    """

    def exchanges(records: Iterable[tuple[str, Record]], reading: Reading) -> Iterator[Exchange]:
        for place, record in whole_responses(records, reading):
            yield from exchanges_of(place, record, is_response, reading, is_snake=is_snake)

    def detect(sample: Sample) -> str | None:
        records = (("", dict(record)) for record in sample.records)
        found = [each.response for each in exchanges(records, Reading(sample.path.name))]
        own = [is_response(each) or is_error(each) for each in found]
        fits = all(mine or error_of(each) is not None for mine, each in zip(own, found, strict=True))
        return why if any(own) and fits else None

    def read(path: Path, reading: Reading) -> Iterator[Asked]:
        for exchange in exchanges(read_records(path, reading), reading):
            place = exchange.place
            if (error := error_of(exchange.response)) is not None:
                message, fix = f"the API returned an error: {error}", "Ask again and save that response."
                reading.problem("api_error", message, place, fix)
            elif not is_response(exchange.response):
                message = f"is not a response of {title}"
                reading.problem("not_a_response", message, place, "Save the response as the API returned it.")
            elif (asked := asked_of(exchange, reading)) is not None:
                yield asked

    return Format(
        name=name,
        title=title,
        versions=versions,
        suffix=suffix,
        example=example,
        documentation=documentation,
        detect=detect,
        read=read,
    )


def asked(
    exchange: Exchange,
    reading: Reading,
    *,
    question: str | None,
    answer: str | None,
    cited: Sequence[Cited] = (),
    lists: Mapping[StageName, list[Passage]] | None = None,
    used: Collection[str],
    kept: Collection[str],
    asked_by: Collection[str] = (),
    id_name: str = "id",
    model: str | None = None,
) -> Asked:
    """Return the question of an exchange, and count its fields.

    `used` are the response's fields that were read, `kept` those that are copied into the trace, `asked_by`
    the request's fields that were read. The answers of a model are a run of their own; `model` is it where
    the response does not have it as `model`. Without a question in the source the response's id, else its
    place, is the question's id.
    """
    response = exchange.response
    bare = [each for each in cited if not (each.reason or each.passage.document or each.passage.text)]
    listed = chain.from_iterable((lists or {}).values()) if bare else ()
    known = {each.id for each in listed if each.document or each.text}
    for each in bare:
        each.reason = "" if each.chunk is not None and each.chunk in known else NOWHERE
    reading.fields(response, {*used, *kept, id_name, "model"})
    reading.fields(exchange.request, {*asked_by}, at="request.")
    reading.fields(exchange.beside, exchange.beside, at="beside.")
    q = (exchange.question or question or "").strip()
    response_id, model = text_of(response.get(id_name)), model or text_of(response.get("model"))
    own = {name: response[name] for name in (id_name, *kept) if response.get(name) not in (None, [], {})}
    fields: Record = {"response": own} if own else {}
    if model:
        fields["model"] = model
    if exchange.beside:
        fields["beside_response"] = exchange.beside
    return Asked(
        place=exchange.place,
        q=q or NO_QUESTION,
        q_id=exchange.q_id or (None if q else response_id or exchange.place),
        answer=answer,
        lists={name: passages for name, passages in (lists or {}).items() if passages},
        cited=[*cited],
        fields=fields,
        run=model or "",
    )


def cited_chunks(cited: Sequence[Cited]) -> list[Passage]:
    """Return the texts that citations quote and no list has, each once, and have the citations name them.

    The API saw them, and often nothing else of what it saw is in the file, such as the text of a PDF.
    """
    found: dict[str, Passage] = {}
    for each in cited:
        passage = each.passage
        if each.chunk is not None or not passage.text:
            continue
        place = f"{passage.document or 'text'} {passage.page or ''} {passage.text}"
        each.chunk = f"{passage.document or 'cited'}-{digest_of(place)[:12]}"
        found.setdefault(each.chunk, replace(passage, id=each.chunk, more={}))
    return [*found.values()]


def cited_by_markers(
    answer: str, marker: re.Pattern[str], sources: Mapping[str, tuple[Passage, str]]
) -> Iterator[Cited]:
    """Yield a citation for each marker of an answer.

    `sources` are what markers name: a passage of the question's lists, and why it leads to no page.
    """
    for name, span in marked(answer, marker):
        if name in sources:
            passage, reason = sources[name]
            where = replace(passage, text=None, score=None, more={})
            yield Cited(passage=where, chunk=passage.id, span=span, reason=reason)
        else:
            reason = f"names source {name}, which is not among those of the response"
            yield Cited(passage=Passage(), span=span, reason=reason)


def question_of(messages: Json) -> str | None:
    """Return the text of the last message of a user that has any; a text alone is the question itself."""
    if isinstance(messages, str):
        return messages
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") in (None, "user"):
            text = text_in(message.get("content"))
            if text.strip():
                return text
    return None


def text_in(content: Json) -> str:
    """Return the text of a message's content: a text, or blocks of which those with `text` count."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def objects(value: Json, reading: Reading, place: str, what: str) -> Iterator[tuple[str, Record]]:
    """Yield the objects of a list, each with its place: "line 3, citation 2". Others are problems.

    `what` is what an entry is called in messages. None and a missing list are an empty one.
    """
    if value is None:
        return
    if not isinstance(value, list):
        message = f"its {what}s are no list"
        reading.problem("not_a_list", message, place, "Save the response as the API returned it.", lost=False)
        return
    for number, entry in enumerate(value, start=1):
        at = f"{place}, {what} {number:,}"
        if isinstance(entry, dict):
            yield at, entry
        else:
            fix = "Save the response as the API returned it."
            reading.problem("not_an_object", "is no JSON object", at, fix, lost=False)


def last_page_of(end: int | None) -> int | None:
    """Return the last page of a range of pages from 1 by its exclusive end."""
    return None if end is None else end - 1


def range_of(start: Json, end: Json) -> tuple[int, int] | None:
    """Return a half-open range of indexes from 0; None unless both are such and in order."""
    first, last = index_of(start), index_of(end)
    return None if first is None or last is None or not 0 <= first < last else (first, last)


def citation_passage(
    citation: Mapping[str, Json],
    *,
    quote: Json,
    dropped: Collection[str],
    document: str | None = None,
    page: int | None = None,
    last_page: int | None = None,
    offsets: tuple[int, int] | None = None,
) -> Passage:
    """Return the passage of a citation; what the API says of it besides `dropped` is in `more`.

    A page counts from 1. `more` has one field, `api_citation`, since an API's own names such as `id` and
    `page` mean something else in a citation of a trace.
    """
    rest = {name: value for name, value in citation.items() if name not in dropped and value is not None}
    return Passage(
        text=quote if isinstance(quote, str) and quote else None,
        document=document,
        page=page,
        last_page=last_page,
        page_base=1,
        offsets=offsets,
        more={"api_citation": rest} if rest else {},
    )
