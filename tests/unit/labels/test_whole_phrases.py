"""A marked phrase begins and ends with a whole word or number."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.diagnosis.types import PhraseMatch
from proofspan.diagnosis.words import placed_phrases
from proofspan.ui.wording.answer import whole_phrases


def marked(answer: str, *evidence: str) -> list[str]:
    """The words marked where the reference finds its phrases in the evidence."""
    found = [
        PhraseMatch(phrase, start, end)
        for phrase, start, end in placed_phrases(answer)
        if any(phrase.lower() in text.lower() for text in evidence)
    ]
    whole = whole_phrases(answer, found, evidence)
    assert all(answer[each.answer_start : each.answer_end] == each.phrase for each in whole)
    return [each.phrase for each in whole]


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("every 15,000 km", "Oil every 15,000 km.", ["every 15,000", "15,000 km"]),
        ("takes 15,000", "It takes 15 bolts.", ["takes"]),
        ("strip it 1/16 inch longer", "strip it 1/32 inch longer", ["strip it"]),
        ("the driver's seat belt", "the driver's seat belt", ["the driver's", "driver's seat belt"]),
        ("Öldruck prüfen und nachfüllen", "Den Öldruck prüfen", ["Öldruck prüfen"]),
        ("at 80 km/h on it", "drive at 80 km/h on it", ["at 80 km/h", "km/h on it"]),
        ("until 12:30 there", "open until 12:30", ["until 12:30"]),
        ("end of it. Next one", "end of it. Next one", ["end of it", "Next one"]),
    ],
)
def test_a_phrase_takes_the_whole_word_in_or_leaves_it_out(
    answer: str, evidence: str, expected: list[str]
) -> None:
    assert marked(answer, evidence) == expected


WORDS = st.lists(st.sampled_from(["oil", "15,000", "1.5", "Öl", "driver's", "km", "5W-30", "x"]), max_size=12)


@given(WORDS, WORDS)
def test_no_mark_ends_between_two_digits_or_two_letters(answer_words: list[str], known: list[str]) -> None:
    answer = " ".join(answer_words)
    for phrase in marked(answer, " ".join(known)):
        assert set(re.split(r"\s+", phrase)) <= set(answer_words)
