"""Documents that people hand to an API as objects with fields of their own choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofspan.contracts.records.field_values import first_of, index_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Passage
from proofspan.traces.responses.parts import entries

#: The names under which people keep a document's text, the first that holds any counts.
TEXTS = ("text", "content", "snippet", "snippets", "body", "page_content", "chunk", "passage")
#: The names under which they keep what it is part of. A `source` may be a provider, a `title` a section's.
NAMES = ("filename", "file_name", "file", "document", "doc_id", "url", "uri", "source", "title")
#: Numbers of pages, which count from 0 or from 1, so that it is measured.
PAGES = ("page", "page_number")


def passage_of(document: Json, *, id: str | None) -> Passage:
    """Return the passage that a document is: a text, or an object. Its other fields are kept in `more`.

    Without a field of `TEXTS` all its texts but names count, as the API passes them to the model.
    """
    if not isinstance(document, dict):
        return Passage(text=text_of(document), id=id)
    text = next((text for name in TEXTS if (text := _text(document.get(name))) is not None), None)
    page = index_of(first_of(document, PAGES))
    rest = {name: value for name, value in document.items() if name not in (*TEXTS, "id")}
    return Passage(
        text=text or _text([value for name, value in rest.items() if name not in NAMES]),
        id=id,
        document=next((name for each in NAMES if (name := text_of(document.get(each)))), None),
        page=page if page is not None and page >= 0 else None,
        label=text_of(document.get("page_label")),
        more={"document_fields": rest} if rest else {},
    )


def search_result(block: Mapping[str, Json], number: int) -> Passage:
    """Return the passage of a search result that a request gives to the model; `number` counts them."""
    source, title = text_of(block.get("source")), text_of(block.get("title"))
    return Passage(
        text="\n".join(_texts([each.get("text") for each in entries(block.get("content"))])),
        id=f"{source or title or 'result'}#{number}",
        document=source or title,
        more={"title": title} if title else {},
    )


def quoted(passage: Passage, citation: Mapping[str, Json]) -> Passage:
    """Return the passage of a citation that cites a document as a whole."""
    return Passage(
        text=passage.text,
        document=passage.document,
        page=passage.page,
        label=passage.label,
        more={"api_citation": {**citation}} if citation else {},
    )


def _text(value: Json) -> str | None:
    return "\n".join(_texts(value)) or None


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts of a value: of itself, or of the lists in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
