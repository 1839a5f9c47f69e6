"""Responses with anything anywhere: no error but a Fault, and nothing lost without a problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofspan.traces.formats.native import Native
from proofspan.traces.formats.types import Format, Reading
from proofspan.traces.responses.anthropic import ANTHROPIC
from proofspan.traces.responses.azure_search import AZURE_SEARCH
from proofspan.traces.responses.bedrock import CONVERSE, KNOWLEDGE_BASE
from proofspan.traces.responses.cohere import COHERE
from proofspan.traces.responses.gemini import GEMINI
from proofspan.traces.responses.langchain_v1 import LANGCHAIN
from proofspan.traces.responses.llamaindex import LLAMAINDEX
from proofspan.traces.responses.mistral import MISTRAL
from proofspan.traces.responses.openai import OPENAI

DUMPS = Path(__file__).parent / "responses"
GROUNDED = (CONVERSE, KNOWLEDGE_BASE, GEMINI, AZURE_SEARCH, LLAMAINDEX)
FORMATS = {each.name: each for each in (ANTHROPIC, OPENAI, COHERE, MISTRAL, *GROUNDED, LANGCHAIN)}

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def steps(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to each value in a record."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from steps(inner, (*path, key))


def changed(record: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """Return a copy of a record with another value at a place."""
    if not path:
        return value
    copy = deepcopy(record)
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy


def opened(each: Format, text: str, folder: Path) -> tuple[Reading, int]:
    """Read a file and write its native records; return what was read, and how many questions."""
    path, reading = folder / "source.jsonl", Reading("source.jsonl")
    path.write_text(text)
    native = Native(folder, unknown_base=0)
    native.write(each.read(path, reading), reading)
    return reading, native.questions


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_anything_at_any_place_loses_nothing(name: str, data: st.DataObject, tmp_path: Path) -> None:
    records = [json.loads(line) for line in (DUMPS / f"{name}.jsonl").read_text().splitlines()]
    record = data.draw(st.sampled_from(records))
    path = data.draw(st.sampled_from([*steps(record)]))
    hostile = changed(record, path, data.draw(ANYTHING))
    lines = "\n".join(map(json.dumps, [record, hostile]))
    reading, questions = opened(FORMATS[name], lines + "\n", tmp_path)
    assert reading.records == 2
    # A conversation has several questions, and one that a damaged message ends counts as lost beside them.
    assert questions + reading.lost >= 2 if name == LANGCHAIN.name else questions + reading.lost == 2
    assert len(reading.problems) >= reading.lost


@pytest.mark.parametrize("name", FORMATS)
def test_a_truncated_file_loses_its_last_record_alone(name: str, tmp_path: Path) -> None:
    text = (DUMPS / f"{name}.jsonl").read_text()
    lines = text.splitlines()
    whole = opened(FORMATS[name], text, tmp_path)[0]
    reading, questions = opened(FORMATS[name], text[: -len(lines[-1]) // 2], tmp_path)
    assert reading.records == len(lines) and questions + reading.lost == len(lines)
    assert reading.lost >= 1 and len(whole.problems) <= len(reading.problems)
