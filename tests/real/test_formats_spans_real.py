"""Spans that Phoenix exported without their links: 65 rows of 13 questions."""

from __future__ import annotations

from pathlib import Path

from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.spans.openinference import OPENINFERENCE
from proofspan.traces.formats.types import Reading
from proofspan.traces.registry import FORMATS


def test_spans_of_phoenix_are_questions_with_answers_and_passages(real_data: Path) -> None:
    path = real_data / "openinference" / "phoenix_spans.jsonl"
    assert [each.name for each in FORMATS if each.detect(sample_of(path))] == ["openinference"]
    reading = Reading(path.name)
    asked = [*OPENINFERENCE.read(path, reading)]
    assert len(asked) == 13 and {each.q for each in asked} == {"What did the author do in college?"}
    assert all(each.answer and each.answer.startswith("In college, the author") for each in asked)
    assert all([len(found) for found in each.lists.values()] == [2] for each in asked)
    assert (reading.records, reading.lost) == (65, 0)
    assert [(each.code, each.message[:2]) for each in reading.problems] == [("spans_by_time", "52")]


def test_no_other_real_file_is_taken_for_spans(real_data: Path) -> None:
    spans = {"openinference", "otlp"}
    taken = [
        path.name
        for path in sorted(real_data.rglob("*.json*"))
        if "json_test_suite" not in path.parts
        and any(each.name in spans and each.detect(sample_of(path)) for each in FORMATS)
    ]
    assert taken == ["phoenix_spans.jsonl"]
