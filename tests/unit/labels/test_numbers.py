"""Which numbers of an answer are looked for in the evidence, and what counts as finding them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.diagnosis.corpus import ChunkView
from proofspan.diagnosis.labelling import unsupported_numbers
from proofspan.diagnosis.numbers import claimed_numbers, evidence_values


def open_numbers(answer: str, evidence: str, question: str = "") -> list[str]:
    return list(unsupported_numbers(answer, question, [ChunkView(evidence)]))


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("PPNE is $12,645 million", "total 12645 at year end"),
        ("PPNE is 12645", "total $ 12,645"),
        ("12\u00a0645 and 12\u202f645 and 12'645", "12,645"),
        ("$12645.00", "12,645"),
        ("a rate of 24.60%", "24.6 percent"),
        ("a drop of 5.2%", "(5.2)%"),
        ("minus \u22125.2", "5.2"),
        ("agent 007", "no. 7"),
        ("a 1/16 share", "one of 1/16 each"),
        ("a 1/16 share", "a 1 / 16 share"),
        ("½ of it", "1/2 of it"),
        ("2½ times", "2½"),
        ("costs .5", "costs 0.5"),
        ("costs 0.5", "costs .5"),
        ("from 10-15 mm", "between 10 and 15 mm"),
        ("10–15", "10–15"),
        ("version 4.2.1", "see 4.2.1"),
        ("in 2019, 2020", "2019,2020"),
        ("three times, 3 times", "three times"),
        ("on the 3rd try", "the third try"),
        ("$1.874 billion", "in millions: 1,874"),
        ("$1,874 million", "1.874 billion"),
        ("1,577,000,000", "1,577 (in millions)"),
        ("12/31/2020", "December 31, 2020"),
        ("2020-12-31", "December 31, 2020"),
        ("31.12.2020", "December 31, 2020"),
        ("the 3M company has 3 plants", "3M Company"),
        ("٣٤٥ km", "345 km"),
        ("4 valves", "4.0 valves"),
    ],
)
def test_a_number_is_found_in_another_spelling(answer: str, evidence: str) -> None:
    assert open_numbers(answer, evidence) == []


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("It is 42.", "It is 43.", ["42"]),
        ("12,645 million", "12,646", ["12,645"]),
        ("24.6%", "246 and 24", ["24.6%"]),
        ("a 1/16 share", "1 of 16", ["1/16"]),
        ("3.0 points", "see note 3 of 3M", ["3.0"]),
        ("10-15 mm", "10 to 14 mm", ["15"]),
        ("7, 8 and 7", "none", ["7", "8"]),
        ("12/31/2021", "December 31, 2020", ["2021"]),
        ("$1.9 billion", "1,874", ["1.9"]),
        ("version 4.2.1", "versions 4, 2 and 1", ["4.2.1"]),
        ("1,2,33", "1 2", ["33"]),
        ("x" * 30 + " 99", "", ["99"]),
        ("senior notes 3.625% and note 12", "", ["3.625%"]),
        ("a table: 41,287 and table 41", "", ["41,287"]),
    ],
)
def test_a_number_that_is_nowhere_is_unsupported(answer: str, evidence: str, expected: list[str]) -> None:
    assert open_numbers(answer, evidence) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "1. Open the valve\n2. Close it",
        "**1.** Open\n  10) Close\n(3) Wait",
        "see page 42, pp. 43 and Source 7, step 3",
        "see section 4.2.1, Figure 3, Table 12, Note 7, Abschnitt 5 and Tabelle 6",
        "1 − a/b, (1 - (a / b)) × 100 and a / b * 365",
        "COVID-19, GPT-4, Q80, H2O, v2 and #5",
        "",
        "no digits at all",
    ],
)
def test_what_claims_no_figure_is_not_looked_for(answer: str) -> None:
    assert open_numbers(answer, "") == []


def test_a_number_of_the_question_needs_no_evidence() -> None:
    assert open_numbers("In FY2018 it was 99", "", "What about 2018?") == ["99"]
    assert open_numbers("In 2018 it was 99", "", "What about FY2018?") == ["99"]


def test_a_short_answer_is_no_list() -> None:
    assert open_numbers("42.", "") == ["42"]
    assert open_numbers("12.\n", "") == ["12"]


@given(st.text(alphabet="0123456789.,/½٣ '%-(\n\u00a0ab", max_size=40))
def test_ranges_point_at_the_number_as_written(answer: str) -> None:
    at = 0
    for number in claimed_numbers(answer):
        assert answer[number.start : number.end] == number.text
        assert number.start >= at
        at = number.end


@given(st.text(alphabet="0123456789.,/½٣ '%-(\n\u00a0ab", max_size=40))
def test_every_text_supports_its_own_numbers(text: str) -> None:
    assert open_numbers(text, text) == []


@given(st.integers(0, 10**12), st.integers(0, 99))
def test_separators_do_not_change_a_value(whole: int, cents: int) -> None:
    spaced = f"{whole:_}.{cents:02}".replace("_", "\u202f")
    plain = evidence_values(f"{whole}.{cents:02}")
    assert evidence_values(f"{whole:,}.{cents:02}") == plain == evidence_values(spaced)
