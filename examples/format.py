from collections.abc import Iterator
from pathlib import Path

from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample


def detect(sample: Sample) -> str | None:
    """Return why a source has this format: each of its first records has ask, reply and pages."""
    if sample.records and all({"ask", "reply", "pages"} <= record.keys() for record in sample.records):
        return "every record has ask, reply and pages"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each record."""
    for place, record in read_records(path, reading):
        reading.fields(record, {"ask", "reply", "pages", "rating"})
        if not isinstance(record.get("ask"), str):
            reading.problem("no_question", "has no ask", place, "Export it again.")
            continue
        pages = [
            Passage(text=page["text"], document=page["file"], page=page["number"], page_base=1)
            for page in record.get("pages") or []
        ]
        yield Asked(
            place=place,
            q=record["ask"],
            answer=record.get("reply"),
            lists={"chunks": pages},
            scores={} if record.get("rating") is None else {"rating": record["rating"]},
        )


ASKS = Format(
    name="asks",
    title="Asks",
    versions="asks 1.0",
    suffix=".jsonl",
    example=b'{"ask":"How much oil?","reply":"4.5 litres.","rating":5,'
    b'"pages":[{"file":"manual.pdf","number":3,"text":"It holds 4.5 litres."}]}\n',
    documentation="A record is a question, and its pages are what the model saw.",
    detect=detect,
    read=read,
)
