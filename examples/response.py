from collections.abc import Mapping

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.responses.base import asked, cited_chunks, response_format
from proofspan.traces.responses.exchanges import Exchange


def is_response(record: Mapping[str, Json]) -> bool:
    """Return whether a record is a response as the API returns it."""
    return isinstance(record.get("reply"), str) and isinstance(record.get("quotes"), list)


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a response with its citations."""
    response = exchange.response
    cited = [
        Cited(
            passage=Passage(text=quote["text"], document=quote["file"], page=quote["page"], page_base=1),
            span=(quote["from"], quote["to"]),
        )
        for quote in response["quotes"]
    ]
    return asked(
        exchange,
        reading,
        question=exchange.request.get("ask"),
        answer=response["reply"],
        cited=cited,
        lists={"chunks": cited_chunks(cited)},
        used=("reply", "quotes"),
        asked_by=("ask",),
        kept=("usage",),
    )


REPLIES = response_format(
    name="replies",
    title="Replies",
    versions="version 1 of the API",
    why="it has reply and quotes",
    example=b'{"request":{"ask":"How much oil?"},"response":{"id":"r1","reply":"4.5 litres.","quotes":['
    b'{"file":"manual.pdf","page":3,"text":"It holds 4.5 litres.","from":0,"to":10}]}}',
    documentation="A response is a question, and each of its quotes a citation.",
    is_response=is_response,
    asked_of=asked_of,
)
