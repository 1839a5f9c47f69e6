"""Records of a workspace, made of the live object that a model API or a framework returned.

An object becomes what its SDK would write as JSON, and is read as the file of it would be, by
`proofspan.traces.responses`. The list of a stream's events is taken for a response as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, Unpack

import orjson

from proofspan.adapters.payload import plain
from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault

#: The methods by which SDKs without pydantic write an object: Azure's, and others'.
_DUMPS = ("as_dict", "to_dict", "dict")
_DEEPEST = 64
#: The beginning of a PDF in base64; the file itself is no part of a record.
_PDF = "JVBERi0"


class Exchange(TypedDict, total=False):
    """The keywords of these functions.

    `question` is the question's text, which is else that of the request. `request` are the arguments of the
    call, as a dictionary or an object: it has the names of the documents. `page_base` is the number of a
    document's first page; it is required where the response has pages and the API does not say it.
    """

    question: str | None
    request: object
    page_base: Literal[0, 1]


class Records(NamedTuple):
    """Native records: `traces`, a question with its answer each, and the `chunks` that they name."""

    traces: list[dict[str, Json]]
    chunks: list[dict[str, Json]]


def anthropic_records(message: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a `Message` of Anthropic."""
    return _records(("anthropic",), message, **exchange)


def openai_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a `Response` of OpenAI's Responses API."""
    return _records(("openai",), response, **exchange)


def cohere_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a chat response of Cohere, version 2 of the API."""
    return _records(("cohere",), response, **exchange)


def mistral_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a chat or conversation response of Mistral."""
    return _records(("mistral",), response, **exchange)


def bedrock_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a response of Converse, RetrieveAndGenerate or Retrieve."""
    return _records(("bedrock_converse", "bedrock_knowledge_base"), response, **exchange)


def gemini_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a `GenerateContentResponse` of Gemini or Vertex AI."""
    return _records(("gemini",), response, **exchange)


def azure_search_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a response of an Azure AI Search knowledge base, a search or a chat on data."""
    return _records(("azure_search",), response, **exchange)


def langchain_records(messages: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of messages in their order, of one answer, or of a retrieval chain's output."""
    response = {"messages": messages} if isinstance(messages, list | tuple) else messages
    return _records(("langchain",), response, **exchange)


def llamaindex_records(response: object, **exchange: Unpack[Exchange]) -> Records:
    """Return the records of a `Response`, an `AgentChatResponse` or a `ChatResponse`."""
    return _records(("llamaindex",), response, **exchange)


def _records(
    names: tuple[str, ...],
    response: object,
    *,
    question: str | None = None,
    request: object = None,
    page_base: Literal[0, 1] | None = None,
) -> Records:
    """Return the records of a response in the first of the formats that recognizes it.

    Raises InputFault with the problems for an error of the API, for anything that is no such response, and
    for pages whose base is not stated.
    """
    # Imported on first use: they take longer than the payloads, which many import alone.
    from proofspan.traces.formats.native import Native
    from proofspan.traces.formats.records import sample_of
    from proofspan.traces.formats.types import Reading
    from proofspan.traces.registry import FORMATS

    saved = {"question": question, "request": _json(request), "response": _json(response)}
    known = {each.name: each for each in FORMATS}
    with tempfile.TemporaryDirectory() as folder:
        path, reading = Path(folder) / "response.json", Reading("the response")
        path.write_bytes(orjson.dumps({name: value for name, value in saved.items() if value is not None}))
        sample = sample_of(path)
        found = [known[name] for name in names]
        chosen = next((each for each in found if each.detect(sample)), found[0])
        native = Native(Path(folder), unknown_base=page_base or 0)
        native.write(chosen.read(path, reading), reading)
        if reading.lost or not native.questions:
            raise InputFault(*reading.problems)
        if page_base is None and native.guessed and not native.has_page_zero:
            message = "the response does not say whether its pages count from 0 or from 1"
            fix = "Pass page_base=0 or page_base=1."
            raise InputFault.of("page_base_unknown", message, where="the response", fix=fix)
        made = native.converted("response")
        runs = [made.traces or (), *(traces for _, traces in made.more_runs)]
        return Records([trace for traces in runs for trace in traces], list(made.chunks or ()))


def _json(value: object, inside: frozenset[int] = frozenset()) -> Json:
    """Return an object as JSON, by the method of its SDK; null for what is no value, such as bytes.

    `inside` are the ids of the objects around it; an object within itself is left out.
    """
    if isinstance(value, Enum):
        return _json(value.value, inside)
    if value is None or isinstance(value, bool):
        return value
    if (known := plain(value)) is not None:
        return None if isinstance(known, str) and known.startswith(_PDF) else known
    if len(inside) > _DEEPEST or id(value) in inside:
        return None
    inside |= {id(value)}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_json(each, inside) for each in value]
    if (dump := _dump_of(value)) is not None:
        return _json(dump(), inside)
    if isinstance(value, Mapping):
        return {str(name): _json(each, inside) for name, each in value.items()}
    if is_dataclass(value):
        return {each.name: _json(getattr(value, each.name), inside) for each in fields(value)}
    return None


def _dump_of(value: object) -> Callable[[], object] | None:
    """Return the method by which an object's SDK writes it; None without one."""
    if isinstance(value, dict):
        return None
    model_dump = getattr(value, "model_dump", None)
    if callable(model_dump):
        return partial(model_dump, mode="json", warnings=False)
    return next((dump for name in _DUMPS if callable(dump := getattr(value, name, None))), None)
