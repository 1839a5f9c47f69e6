"""Compare answers with expected answers."""
# ruff: noqa: E501 - a case is a line

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.diagnosis.claims.types import CheckedClaim, Claim, ClaimDifference
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.verdicts.expected import MOST_ANSWER, compare_expected
from proofspan.diagnosis.verdicts.types import Correct, Correctness

#: A corpus whose words are as rare as those of most corpora of a hundred chunks.
_SURVEY = Corpus({str(number): "the car and its engine have a battery" for number in range(9)}).survey


def _compare(
    question: str, expected: str | None, answer: str, *, is_refusal: bool = False, quote: str = ""
) -> Correctness:
    spans = (GoldSpan("manual", 3, quote),) if quote else ()
    gold = GoldQuestion("Q1", question, answer=expected, spans=spans)
    found = compare_expected(answer, gold, question=question, is_refusal=is_refusal, survey=_SURVEY)
    for marks, text in ((found.answer_marks, answer), (found.expected_marks, expected or "")):
        assert all(0 <= start < end <= len(text) for start, end in marks)
    return found


#: Question, expected answer, answer, verdict.
_FIGURES: list[tuple[str, str, str, Correct]] = [
    ("How much oil fits in?", "4.5 litres.", "4.5 litres", "correct"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 4.5 litres of oil at a change.", "correct"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 4.8 litres of oil.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "The engine takes 5.4 litres of oil.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "The oil needs 4,500 ml.", "correct"),
    ("How much oil fits in?", "4.5 litres.", "Ask a workshop how the oil of this engine has to be changed.", "wrong"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.684 billion.", "correct"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.7 billion.", "partly"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2.68 billion.", "correct"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2,864 million.", "wrong"),
    ("What was the revenue?", "$2,684 million", "Revenue was $2,684 billion.", "wrong"),
    ("What is net PPE in USD billions?", "$8.70", "Net PPE was $8.738 billion.", "correct"),
    ("What is net PPE (in USD millions)?", "$12645.00", "It is $12,645 million.", "correct"),
    ("What is net PPE (in USD millions)?", "$12645.00", "It is $12,465 million.", "wrong"),
    ("By how much did the cost change?", "It fell from 24.6% to 21.6%.", "The cost fell from 24.6% to 21.6%, by 3 points.", "correct"),
    ("By how much did the cost change?", "It fell from 24.6% to 21.6%.", "The cost fell from 24.6% to 22.6%.", "wrong"),
    ("Was there a drop in cash?", "Yes, a decline of ~42%.", "Yes, cash dropped from $1,874 million to $1,093 million.", "correct"),
    ("How long must I wait?", "90 minutes", "You have to wait 1.5 hours.", "correct"),
    ("How long must I wait?", "Five minutes.", "Wait for 5 minutes before you look.", "correct"),
    ("How long must I wait?", "Five minutes.", "Wait for 15 minutes before you look.", "wrong"),
    ("How often is the filter changed?", "Once a year.", "The filter is changed annually.", "unknown"),
    ("How often is the filter changed?", "Every 12 months.", "The filter is changed once a year.", "unknown"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years, instead of 60,000 km.", "Every 20,000 km or 2 years.", "correct"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years.", "The filter is changed every 20,000 km.", "partly"),
    ("How often is the filter changed?", "Every 20,000 km or 2 years.", "The filter is changed every 20,000 km or 3 years.", "wrong"),
    ("How tight are the bolts, and when are they checked?", "110 Nm, checked after 50 km.", "Tighten the bolts to 110 Nm and have them checked after 50 km.", "correct"),
    ("Which pressure do the rear tyres need?", "2.9 bar at the rear, 2.6 bar in front.", "Rear tyres: 2.9 bar, front tyres: 2.6 bar", "correct"),
    ("How wide is the gate?", "About 4 m.", "The gate is 4.1 m wide.", "correct"),
    ("At what depth are winter tyres replaced?", "At 4 mm.", "Replace summer tyres at 3 mm and winter tyres at 4 mm.", "correct"),
    ("How much oil does the diesel take?", "5.1 litres.", "The diesel takes 4.3 litres, while the petrol engine takes 5.1 litres.", "unknown"),
    ("How long do I wait before I read the dipstick?", "Five minutes.", "A musty smell goes away if the fan runs five minutes more.", "wrong"),
    ("What was the change in sales?", "-3.2%", "Sales decreased by 3.2%.", "correct"),
    ("What was the change in sales?", "-3.2%", "Sales changed by 3.2%.", "unknown"),
]  # fmt: skip
_DATES: list[tuple[str, str, str, Correct]] = [
    ("When was the plant opened?", "12 May 1998", "The plant was opened on May 12, 1998.", "correct"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened on 12.05.1998.", "correct"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened on 21 May 1998.", "wrong"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened in 1989.", "wrong"),
    ("When was the plant opened?", "12 May 1998", "The plant was opened in 1998.", "partly"),
    ("When was the plant opened?", "In 1998.", "The plant was opened on 12 May 1998.", "correct"),
    ("Which year had the most sales?", "2019", "Sales were highest in 2021.", "wrong"),
]  # fmt: skip
_POLARITY: list[tuple[str, str, str, Correct]] = [
    ("May I tow a trailer?", "Yes.", "Yes, you may tow a trailer.", "correct"),
    ("May I tow a trailer?", "Yes.", "No, you may not.", "wrong"),
    ("May I tow a trailer?", "No.", "You may not tow a trailer with this car.", "correct"),
    ("May I tow a trailer?", "Yes.", "You may not tow a trailer with this car.", "wrong"),
    ("May I tow a trailer?", "Yes.", "You may tow a trailer with this car.", "correct"),
    ("May I tow a trailer?", "Yes.", "The hitch is red.", "unknown"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "Yes, it helps from 30 cm.", "correct"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "No, it only helps from 30 cm.", "wrong"),
    ("Does it help below the limit?", "Yes, from 30 cm.", "Yes, it helps from 50 cm.", "wrong"),
    ("Darf ich einen Anhänger ziehen?", "Nein.", "Nein, das dürfen Sie nicht.", "correct"),
    ("Darf ich einen Anhänger ziehen?", "Nein.", "Ja, Sie dürfen einen Anhänger ziehen.", "wrong"),
    ("Puis-je tracter une remorque ?", "Oui.", "Non, ce n'est pas permis.", "wrong"),
    ("Puis-je tracter une remorque ?", "Oui.", "Oui, jusqu'à 750 kg.", "correct"),
]  # fmt: skip
_NAMES: list[tuple[str, str, str, Correct]] = [
    ("Who wrote the report?", "Maria Keller", "The report was written by Maria Keller.", "correct"),
    ("Who wrote the report?", "Maria Keller", "Maria Keller", "correct"),
    ("Who wrote the report?", "Maria Keller", "The report was written by Jonas Weber.", "wrong"),
    ("Who wrote the report?", "Maria Keller is an engineer who likes sailing and has run the lab since May.", "Maria Keller", "correct"),
    ("Where is the plant?", "In Lyon and Toulouse.", "The plant is in Lyon.", "partly"),
    ("Where is the plant?", "In Lyon, France.", "It is in Hamburg, Germany.", "wrong"),
    ("Where is the lake?", "In Southeast Norway.", "The lake is in South East Norway.", "correct"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 0W-20.", "correct"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 5W-30.", "wrong"),
    ("Which oil is right?", "Grade 0W-20.", "Use oil of grade 0W20.", "correct"),
]  # fmt: skip
_LISTS: list[tuple[str, str, str, Correct]] = [
    ("Which colours are there?", "Red, green and blue.", "There are blue, red and green.", "correct"),
    ("Which colours are there?", "Red, green and blue.", "There are red and green ones.", "partly"),
    ("Which metals are used?", "Copper, zinc, tin and lead.", "- tin\n- lead\n- zinc\n- copper", "correct"),
    ("Which metals are used?", "Copper, zinc, tin and lead.", "Copper and zinc are used.", "partly"),
    ("What do I need?", "A jack, a wrench and gloves.", "You need gloves, a wrench and a jack.", "correct"),
    ("Which companies did they buy?", "- Norvik Foods\n- Altana Glass\n- Pemberton Mills", "They bought Altana Glass, Norvik Foods and Pemberton Mills.", "correct"),
    ("Which companies did they buy?", "- Norvik Foods\n- Altana Glass\n- Pemberton Mills", "They bought Altana Glass in May and Norvik Foods in June.", "partly"),
]  # fmt: skip
_TEXTS: list[tuple[str, str, str, Correct]] = [
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push on its left edge until you hear a click and pull the handle out.", "correct"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push the right edge until it clicks, then pull the handle.", "wrong"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "Push the left edge until it clicks.", "partly"),
    ("How do I open the flap?", "Push the left edge until it clicks, then pull the handle.", "The warranty covers paint and rust for many years after delivery.", "wrong"),
    ("Why does the lamp flash?", "Because the sensor is dirty.", "The lamp flashes since there is dirt on the sensor.", "correct"),
    ("Which way is it turned?", "Clockwise.", "Turn it anticlockwise.", "wrong"),
    ("Which way is it turned?", "Anticlockwise; it has a left-hand thread.", "It is screwed in anticlockwise.", "correct"),
    ("Is gross margin useful here?", "Performance is not measured through gross margin.", "Gross margin is not a useful measure of the performance of a bank.", "correct"),
    ("What does the valve do?", "It releases pressure when the tank is too hot.", "It lets excess steam out once the temperature climbs.", "unknown"),
    ("What is the gasket made of?", "Rubber.", "An elastomer.", "unknown"),
    ("Is the cover removable?", "The cover cannot be removed.", "The cover can be removed.", "wrong"),
    ("Wie öffne ich die Klappe?", "Drücken Sie den linken Rand, bis er einrastet.", "Den linken Rand drücken, bis er einrastet.", "correct"),
    ("Wie viel Öl passt hinein?", "4,5 Liter.", "Es passen 4,5 l Öl hinein.", "correct"),
    ("Wie viel Öl passt hinein?", "4,5 Liter.", "Es passen 5,4 l Öl hinein.", "wrong"),
    ("Quelle est la pression des pneus ?", "2,4 bars.", "La pression des pneus est de 2,4 bars.", "correct"),
    ("Quelle est la pression des pneus ?", "2,4 bars.", "La pression des pneus est de 2,9 bars.", "wrong"),
    ("How much oil fits in?", "4.5 litres.", "Es passen 4,5 Liter Öl hinein.", "correct"),
    ("What does the valve do?", "It releases pressure when the tank is too hot.", "Das Ventil lässt den Druck ab, wenn der Tank zu heiß ist.", "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected", "answer", "value"),
    [*_FIGURES, *_DATES, *_POLARITY, *_NAMES, *_LISTS, *_TEXTS],
    ids=lambda text: str(text)[:30],
)
def test_the_answer_is_judged(question: str, expected: str, answer: str, value: Correct) -> None:
    found = _compare(question, expected, answer)
    assert found.value == value, found.reason
    assert found.reason


def test_what_differs_is_marked_in_both_texts() -> None:
    answer, expected = "The engine takes 4.8 litres of oil.", "4.5 litres."
    found = _compare("How much oil fits in?", expected, answer)
    assert [answer[slice(*marks)] for marks in found.answer_marks] == ["4.8 litres"]
    assert [expected[slice(*marks)] for marks in found.expected_marks] == ["4.5 litres"]
    assert found.is_figure
    assert not found.is_rounded


@pytest.mark.parametrize("answer", ["Revenue was $2.7 billion.", "Revenue was $2.68 billion."])
def test_a_rounded_figure_is_no_wrong_one(answer: str) -> None:
    found = _compare("What was the revenue?", "$2,684 million", answer)
    assert found.is_rounded
    assert not found.is_figure
    assert found.answer_marks


def test_what_is_missing_is_named() -> None:
    found = _compare("How often is the filter changed?", "Every 20,000 km or 2 years.", "Every 20,000 km.")
    assert found.missing == ("2 years",)


def test_a_refusal_is_right_only_where_there_is_no_answer() -> None:
    gold = GoldQuestion("Q1", "What does it cost?", answerable=False)
    arguments = {"question": gold.q, "survey": _SURVEY}
    assert compare_expected("not in context", gold, is_refusal=True, **arguments).value == "declined_rightly"
    assert compare_expected("It costs 5 euros.", gold, is_refusal=False, **arguments).value == "wrong"
    assert (
        _compare("What does it cost?", "5 euros.", "not in context", is_refusal=True).value
        == "declined_wrongly"
    )
    answer = "The documents do not say what it costs."
    assert _compare("What does it cost?", "5 euros.", answer).value == "declined_wrongly"
    assert _compare("What does it cost?", "The documents do not say.", answer).value == "declined_rightly"
    assert _compare("What does it cost?", "The documents do not say.", "It costs 5 euros.").value == "wrong"


def test_without_an_expected_answer_only_the_gold_passage_can_show_that_it_is_right() -> None:
    question, quote = "How do I open the flap?", "Push the left edge of the flap until it clicks."
    assert (
        compare_expected("Push it.", None, question=question, is_refusal=False, survey=_SURVEY).value
        == "unknown"
    )
    assert _compare(question, None, "Push the left edge until it clicks.").value == "unknown"
    assert _compare(question, None, "Push the left edge until it clicks.", quote=quote).value == "correct"
    assert _compare(question, None, "Pull the handle out.", quote=quote).value == "unknown"


def test_the_gold_passage_words_the_answer_as_well() -> None:
    question, expected = (
        "May I use it downhill?",
        "Only as far as the engine can brake; beyond that change down.",
    )
    quote = "Downhill, the cruise control brakes with the engine only."
    assert _compare(question, expected, quote, quote=quote).value == "correct"
    other = "The lamp in the boot goes out when the tailgate is closed."
    assert _compare(question, expected, other, quote=quote).value == "wrong"


def test_an_empty_answer_is_wrong() -> None:
    assert _compare("How much oil fits in?", "4.5 litres.", "  ").value == "wrong"


def test_citations_are_not_read_as_part_of_the_answer() -> None:
    answer = "The engine takes 4.8 litres. citations: [manual|4.5 litres]"
    gold = GoldQuestion("Q1", "How much oil fits in?", answer="4.5 litres.")
    blanked = answer[:28] + " " * (len(answer) - 28)
    found = compare_expected(answer, gold, question=gold.q, is_refusal=False, survey=_SURVEY, blanked=blanked)
    assert found.value == "wrong"


def test_an_answer_that_contradicts_its_evidence_is_not_correct() -> None:
    answer = "The engine takes 4.5 litres of oil."
    gold = GoldQuestion("Q1", "How much oil fits in?", answer="4.5 litres.")
    difference = ClaimDifference("number", "4.5", 17, 20, "4.8", 4, 7)
    claim = CheckedClaim(Claim(answer, 0, 35, "sentence"), "differs", 0.1, None, (difference,))
    found = compare_expected(answer, gold, question=gold.q, is_refusal=False, survey=_SURVEY, checked=[claim])
    assert found.value == "partly"
    assert found.answer_marks == ((17, 20),)


_CASES = [*_FIGURES, *_DATES, *_POLARITY, *_NAMES, *_LISTS, *_TEXTS]
_WORDS = st.sampled_from(
    "pump valve lever cabin seat belt lamp fuse hose tank pedal wheel green narrow remove tighten press".split()  # noqa: SIM905
)


@given(st.sampled_from(_CASES))
def test_the_expected_answer_itself_is_correct(case: tuple[str, str, str, Correct]) -> None:
    question, expected, _, _ = case
    assert _compare(question, expected, expected).value == "correct"
    assert _compare(question, expected, f"{expected}\n").value == "correct"


@settings(max_examples=60)
@given(
    st.lists(_WORDS, min_size=1, max_size=9), st.integers(2, 99_999), st.sampled_from(["km", "kg", "%", ""])
)
def test_the_expected_answer_in_a_sentence_is_correct(words: list[str], value: int, unit: str) -> None:
    expected = f"{' '.join(words)} {value:,} {unit}".strip()
    assert _compare("How much is it?", expected, f"As the manual says: {expected}.").value == "correct"


_FIGURED = [case for case in _CASES if any(map(str.isdigit, case[1]))]


@settings(max_examples=150)
@given(st.sampled_from(_FIGURED), st.data())
def test_a_changed_digit_is_never_correct(case: tuple[str, str, str, Correct], data: st.DataObject) -> None:
    question, expected, _, _ = case
    places = [place for place, char in enumerate(expected) if char.isdigit()]
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from(string.digits.replace(expected[place], "")))
    answer = expected[:place] + digit + expected[place + 1 :]
    assert _compare(question, expected, answer).value != "correct"
    assert _compare(question, expected, f"The answer to this is: {answer}").value != "correct"


@given(st.permutations(["copper", "zinc", "tin", "lead", "nickel"]))
def test_the_order_of_a_list_does_not_matter(metals: list[str]) -> None:
    question, expected = "Which metals are used?", "Copper, zinc, tin, lead and nickel."
    assert _compare(question, expected, f"{', '.join(metals[:-1])} and {metals[-1]}").value == "correct"
    assert _compare(question, expected, "\n".join(f"- {each}" for each in metals)).value == "correct"
    assert _compare(question, expected, ", ".join(metals[:3])).value == "partly"


@settings(max_examples=60)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=80))
def test_any_text_can_be_compared(answer: str, expected: str, question: str) -> None:
    found = _compare(question, expected, answer)
    assert found.reason
    same = _compare(question, expected, expected)
    assume(expected.strip())
    assert same.value in ("correct", "declined_rightly")


@pytest.mark.parametrize(
    "answer",
    [
        "The engine takes 4.8 litres. " * 70_000,
        " ".join(map(str, range(300_000))),
        "(" * 500_000,
        "instead of " * 100_000,
        "A, " * 300_000,
        "x" * 2_000_000,
        "No, it " * 200_000,
        "Maria Keller " * 100_000,
        "4,7 " * 200_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_answers_are_compared_within_bounds(answer: str) -> None:
    found = _compare("How much oil fits in?", "4.5 litres.", answer)
    assert found.value != "correct"
    assert all(end <= MOST_ANSWER for _, end in found.answer_marks)
    assert _compare("How much oil fits in?", answer, "4.5 litres.").reason
