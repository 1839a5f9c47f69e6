"""Figures that follow by arithmetic, and those that do not."""

from __future__ import annotations

import random

import pytest

from proofspan.diagnosis.claims.derived import Formula, derivation
from proofspan.diagnosis.claims.figures import figures_of
from proofspan.diagnosis.corpus import ChunkView
from proofspan.diagnosis.labelling import unsupported_numbers

ENGINES = "Power 81 96\nTorque 200 300\nCylinders 3 4\nSpeed 180 195\nAutomatic 10.9 s 9.4 s\nUse 5.4 4.5"
TABLE = (
    "Revenue 12,480 11,930\nCost of sales 8,120 7,714\nOperating expenses 2,205 2,116\nOther income 318 295"
)


def formula(claim: str, evidence: str = TABLE, *, at: int = 0) -> str | None:
    """The formula for the figure of a claim at this place; its other figures are those that it names."""
    figures = figures_of(claim, language="en")
    claimed = figures.pop(at)
    found = derivation(claimed, figures_of(evidence, language="en"), claim=claim, stated=figures)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Gross profit was 4,360, the difference of the two.", "12,480 − 8,120 = 4,360"),
        ("Gross profit was 4,360 (12,480 less 8,120).", "12,480 − 8,120 = 4,360"),
        ("Revenue of 12,480 and cost of 8,120 leave 4,360.", "12,480 − 8,120 = 4,360"),
        ("Costs total 10,325: 8,120 and 2,205.", "8,120 + 2,205 = 10,325"),
        ("An increase of 4.6% from 11,930 to 12,480.", "(12,480 − 11,930) / 11,930 = 4.6%"),
        ("A decline of 4.4% from 12,480 to 11,930.", "(11,930 − 12,480) / 12,480 = −4.4%"),
        ("Ein Anstieg von 4.61 % von 11,930 auf 12,480", "(12,480 − 11,930) / 11,930 = 4.61 %"),
        ("Cost is a share of 65.1% of revenue: 8,120 of 12,480.", "8,120 / 12,480 = 65.1%"),
        ("The ratio is 1.54: 12,480 to 8,120.", "12,480 / 8,120 = 1.54"),
        ("It is 1.5 seconds quicker than the other.", "10.9 s − 9.4 s = 1.5 seconds"),
        ("On average 12,205 (11,930 and 12,480).", "(11,930 + 12,480) / 2 = 12,205"),
        ("2,155 is what is left of 12,480 after costs of 8,120 and 2,205.", "12,480 − 8,120 − 2,205 = 2,155"),
    ],
)
def test_a_figure_follows(claim: str, expected: str) -> None:
    places = [
        place
        for place, figure in enumerate(figures_of(claim))
        if figure.text == expected.split("= ")[1].lstrip("−")
    ]
    evidence = f"{TABLE}\n{ENGINES}" if "seconds" in claim else TABLE
    assert formula(claim, evidence, at=places[0]) == expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("It was 4,361, a difference.", TABLE),
        ("It was 23.", "shares 18, 41 and 5"),
        ("A plan with a 25% co-payment.", "20% off, 5% of it, 180 a month, 1,500 a year"),
        ("Net sales were $1.7 billion, more than ever.", "$1.8 billion, $130.4 million"),
        ("They pay $300 more.", "$900, $350, $250"),
        ("An increase of 307% of earnings per share", "$2.79 a share, from $0.91"),
        ("Built in the 1920s, ten years earlier.", "in the 1930s, a ten-year plan"),
        ("The price was 20,000.", "10,000 and 10,000"),
        ("The ratio is 12%.", "3 of 25"),
        ("It grew by 20%.", "10%, 15%, 25%, 30%, 35%, 40%, 50%, 60%"),
        ("It was 4,360.", "12,480"),
        ("In 2017", "1,000 1,017"),
        ("It was 0.", "12,480 12,480"),
        ("The difference is 4,360 kg.", "12,480 km and 8,120 km"),
    ],
)
def test_a_figure_does_not_follow_or_only_by_chance(claim: str, evidence: str) -> None:
    assert formula(claim, evidence) is None


@pytest.mark.parametrize(("digits", "most"), [(3, 0.02), (4, 0.02), (5, 0.02)])
def test_random_numbers_rarely_follow_from_a_table(digits: int, most: float) -> None:
    rng = random.Random(17)
    hits, tries = 0, 0
    for _ in range(10):
        table = figures_of(
            "\n".join(f"{rng.randint(100, 99_999):,} {rng.randint(100, 99_999):,}" for _ in range(20))
        )
        for _ in range(30):
            claimed = figures_of(f"{rng.randint(10 ** (digits - 1), 10**digits - 1):,}")[0]
            hits += derivation(claimed, table, claim="It was that much.") is not None
            tries += 1
    assert hits / tries <= most


def test_the_work_is_bounded() -> None:
    many = figures_of("\n".join(f"{1000 + 7 * number:,}" for number in range(5_000)))
    found = derivation(figures_of("987,654,321")[0], many, claim="the total, the difference and the average")
    assert found is None or isinstance(found, Formula)


def open_numbers(answer: str, evidence: str, question: str = "") -> list[str]:
    return list(unsupported_numbers(answer, question, [ChunkView(evidence)]))


THOUSANDS = "(in thousands, except per share data)\n2017 2016\nTotal current liabilities 41,287 39,120\n"


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("Current liabilities were $41.3 million in 2017.", THOUSANDS),
        ("Net sales were 8,120.4.", "Tsd. EUR\nUmsatzerlöse 8,120,377 7,714,002"),
        ("The range is 5.500 km.", "Die Reichweite: 5,500 km"),
        ("It is 1 − 9,360/12,480 = 25.0% of 12,480.", "9,360 of 12,480 came back, 25 percent did not"),
        ("Gross profit was 4,360, revenue of 12,480 less cost of 8,120.", TABLE),
        ("The tax rate fell from 24.6% to 21.6%, a change of −3.0 percentage points.", "24.6% 21.6%"),
        ("About half of it, 2.5 hours.", "50% of the time, or 150 minutes"),
        ("In the 60s", "in the 1960s"),
        ("in 2018–19", "in 2018-2019"),
        ("on 31.12.2017", "on 31 December 2017"),
        ("zwölf Monate, 12 Monate", "twelve months"),
    ],
)
def test_a_number_is_supported_by_value(answer: str, evidence: str) -> None:
    assert open_numbers(answer, evidence) == []


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("Current liabilities were $41.4 million.", THOUSANDS, ["41.4"]),
        ("Current liabilities were $41.3 billion.", THOUSANDS, ["41.3"]),
        ("Net debt stays below $30 billion.", "net debt of under $25 billion", ["30"]),
        ("The tax rate fell from 24.6% to 21.6%, a change of −4.0 points.", "24.6% 21.6%", ["4.0"]),
        ("41,287,512", "$41.3 million", ["41,287,512"]),
        ("sales of $2 billion", "sales of $1.67 billion", ["2"]),
        ("a 737 MAX 8", "a profit of $8.2 million and a 737", ["8"]),
        ("a 44-year-old", "a 43-year-old", ["44"]),
    ],
)
def test_a_number_that_no_reading_supports_stays_open(
    answer: str, evidence: str, expected: list[str]
) -> None:
    assert open_numbers(answer, evidence) == expected


def test_ten_thousand_numbers_stay_open_and_bounded() -> None:
    answer = " ".join(f"{number}.5" for number in range(10_000))
    assert len(open_numbers(answer, " ".join(f"{number}.25" for number in range(10_000)))) > 9_000
