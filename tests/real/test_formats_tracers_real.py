"""Trace exports of Langfuse as its own repository keeps them, of four frameworks."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.spans.langfuse import LANGFUSE
from proofspan.traces.formats.types import Asked, Reading
from proofspan.traces.registry import FORMATS

SEEN = {
    "langgraph-python-2025-08-22": ("Search the web for 'example' and summarize.", 10),
    "llamaindex-2025-06-05": ("What is Langfuse?", 3),
    "pydantic-ai-2025-06-06": ("What is Langfuse?", 4),
    "vercel-aisdk-2025-11-17": ("What is the weather like today in San Francisco?", 4),
}


def read(real_data: Path, name: str) -> tuple[Asked, Reading]:
    path = real_data / "langfuse" / f"{name}.trace.json"
    assert [each.name for each in FORMATS if each.detect(sample_of(path))] == ["langfuse"]
    reading = Reading(path.name)
    (asked,) = LANGFUSE.read(path, reading)
    assert reading.lost == 0 and not reading.problems
    return asked, reading


@pytest.mark.parametrize("name", SEEN)
def test_a_real_trace_is_one_question_with_its_answer(real_data: Path, name: str) -> None:
    asked, reading = read(real_data, name)
    assert (asked.q, reading.records) == SEEN[name]
    if name.startswith("vercel"):  # the model called a tool and gave no answer
        assert asked.answer is None and asked.fields["output"][0]["toolName"] == "getWeather"
    else:
        assert asked.answer and asked.answer[0] not in '"{[' and len(asked.answer) > 100


def test_scores_and_corrections_of_real_traces(real_data: Path) -> None:
    asked, _ = read(real_data, "langgraph-python-2025-08-22")
    assert {name: score["score"] for name, score in asked.scores.items()} == {
        "hallucination": 0.1,
        "toxicity": 0,
    }
    corrected, _ = read(real_data, "pydantic-ai-2025-06-06")
    assert corrected.expected == corrected.answer and not corrected.scores
