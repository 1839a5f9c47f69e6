"""Figures by value: what is read, and when two figures agree."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.diagnosis.claims.figures import (
    Figure,
    FigureIndex,
    agrees,
    could_agree,
    figures_of,
    scale_differs,
    scale_of,
    unit_differs,
)
from proofspan.diagnosis.claims.figures import index as index_of_figures
from proofspan.diagnosis.claims.figures.first_digits import digits_in, first_digits_of
from proofspan.diagnosis.claims.figures.index import sameness_of

THOUSANDS = "(in thousands, except per share data)\n"


def last(text: str, language: str = "") -> Figure:
    return figures_of(text, language=language)[-1]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("41,287", "41287", ""),
        ("(12,480)", "-12480", ""),
        ("$ (12,480)", "-12480", "$"),
        ("(5.2)%", "-5.2", "%"),
        ("−5.2 %", "-5.2", "%"),
        ("$41.3 million", "41300000", "$"),
        ("US$ 3bn", "3000000000", "USD"),
        ("€3.5m", "3500000", "EUR"),
        ("$5mm", "5000000", "$"),
        ("5mm", "5", "mm"),
        ("5 m", "5", "m"),
        ("41.3M", "41300000", ""),
        ("3,5 Mio. €", "3500000", "EUR"),
        ("1,2 Mrd. Euro", "1200000000", "EUR"),
        ("12 Tsd. EUR", "12000", "EUR"),
        ("TEUR 41", "41000", "EUR"),
        ("41 TEUR", "41000", "EUR"),
        ("2 milliards d'euros", "2000000000", "EUR"),
        ("12 pour cent", "12", "%"),
        ("12 Prozentpunkte", "12", "pp"),
        ("30 basis points", "30", "bps"),
        ("5 lakh", "500000", ""),
        ("twenty-five thousand", "25000", ""),
        ("two hundred and five", "205", ""),
        ("half a million", "500000", ""),
        ("one and a half metres", "1.5", "m"),
        ("anderthalb Stunden", "1.5", "h"),
        ("zweieinhalb Liter", "2.5", "L"),
        ("one million", "1000000", ""),
        ("fünfundzwanzig Tage", "25", "d"),
        ("dreihundertzwölf", "312", ""),
        ("quatre-vingt-dix-huit kilomètres", "98", "km"),
        ("two thirds", "0.67", ""),
        ("½", "0.5", ""),
        ("2½", "2.5", ""),
        ("1/16", "0.0625", ""),
        ("a 19-year-old", "19", "yr"),
        ("20 °C", "20", "°C"),
        ("60 miles per hour", "60", "mph"),
        ("35 psi", "35", "psi"),
        ("1.234,56", "1234.56", ""),
        ("1,234.56", "1234.56", ""),
        ("1'234", "1234", ""),
        ("1\u202f234", "1234", ""),
        ("٣٤٥ km", "345", "km"),
        (".5", "0.5", ""),
        ("2.5x", "2.5", "times"),
        ("securities1,145", "1145", ""),
    ],
)
def test_value_and_unit_are_read(text: str, value: str, unit: str) -> None:
    (figure,) = figures_of(text)
    assert (figure.value, figure.unit.name) == (Decimal(value), unit)
    assert text[figure.start : figure.end] == figure.text


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("about 40", "~"),
        ("~40", "~"),
        ("rund 40", "~"),
        ("more than 40", ">"),
        ("at least 40", ">"),
        ("plus de 40", ">"),
        ("au moins 40", ">"),
        ("au plus 40", "<"),
        ("up to 40", "<"),
        ("höchstens 40", "<"),
        ("automatic 40", ""),
        ("public 40", ""),
        ("40", ""),
    ],
)
def test_words_before_a_figure_bound_it(text: str, bound: str) -> None:
    assert last(text).bound == bound


@pytest.mark.parametrize(
    ("text", "language", "readings"),
    [
        ("5.500", "de", [5500, Decimal("5.5")]),
        ("5.500", "en", [Decimal("5.5")]),
        ("5.500", "", [Decimal("5.5"), 5500]),
        ("5,500", "", [5500, Decimal("5.5")]),
        ("5,500", "en", [5500]),
        ("12,5", "", [Decimal("12.5")]),
        ("41 287 milliers", "fr", [41287000]),
        ("1.234.567", "", [1234567]),
        ("1,234,567", "", [1234567]),
        ("12,34,567", "", [1234567]),
    ],
)
def test_separators_are_read_by_language(text: str, language: str, readings: list[Decimal]) -> None:
    assert list(last(text, language).readings) == readings


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$10–15 million", [(10_000_000, "$"), (15_000_000, "$")]),
        ("10 to 20 mm", [(10, "mm"), (20, "mm")]),
        ("zwischen 10 und 20 km", [(10, "km"), (20, "km")]),
        ("1,2,33", [(1, ""), (2, ""), (33, "")]),
        ("$ 333 $22 $— $355", [(333, "$"), (22, "$"), (355, "$")]),
    ],
)
def test_several_figures_share_what_belongs_to_all(text: str, found: list[tuple[int, str]]) -> None:
    assert [(figure.value, figure.unit.name) for figure in figures_of(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no figure in here",
        "1. Open the valve\n2. Close it",
        "see page 42, section 4.2, Figure 3, Table 12, Note 7, Abschnitt 5, étape 3",
        "COVID-19, Q80, H2O, 3M, the 8-K and #5",
        "1 − a/b and × 100",
        "as noted [3]",
        "one of them, millions of people",
    ],
)
def test_some_digits_and_words_claim_no_figure(text: str) -> None:
    assert figures_of(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12 March 2017", "date"),
        ("March 12, 2017", "date"),
        ("2017-03-12", "date"),
        ("03/12/2017", "date"),
        ("12. März 2017", "date"),
        ("12 mars 2017", "date"),
        ("Q3 2017", "date"),
        ("3Q17", "date"),
        ("third quarter of 2017", "date"),
        ("3. Quartal 2017", "date"),
        ("FY17", "date"),
        ("fiscal year 2017", "date"),
        ("Geschäftsjahr 2017", "date"),
        ("2017", "year"),
        ("10:30", "time"),
        ("3 pm", "time"),
        ("3:1", "ratio"),
        ("205/55", "ratio"),
        ("4.2.1", "label"),
        ("3rd", "ordinal"),
        ("third", "ordinal"),
        ("3ème", "ordinal"),
    ],
)
def test_kinds_are_distinguished(text: str, kind: str) -> None:
    (figure,) = figures_of(text)
    assert (figure.kind, figure.text) == (kind, text)


@pytest.mark.parametrize(
    ("text", "language", "kind", "value"),
    [
        ("a fifth season", "en", "ordinal", "5"),
        ("a third attempt at it", "en", "ordinal", "3"),
        ("a fifth of the staff", "en", "number", "0.2"),
        ("Costs fell by a third.", "en", "number", "0.33"),
        ("one-fifth smaller", "en", "number", "0.2"),
        ("die fünfte Staffel", "de", "ordinal", "5"),
        ("ein Fünftel der Kosten", "de", "number", "0.2"),
        ("un cinquième joueur", "fr", "ordinal", "5"),
        ("la cinquième saison", "fr", "ordinal", "5"),
        ("un cinquième des coûts", "fr", "number", "0.2"),
    ],
)
def test_an_ordinal_in_words_is_a_share_only_without_a_noun(
    text: str, language: str, kind: str, value: str
) -> None:
    (figure,) = figures_of(text, language=language)
    assert (figure.kind, figure.value) == (kind, Decimal(value))


@pytest.mark.parametrize(
    ("caption", "power", "unit"),
    [
        ("(in thousands, except per share data)", 3, ""),
        ("$ in millions", 6, ""),
        ("(Dollars in millions, except per share amounts)", 6, ""),
        ("(in millions of euros)", 6, ""),
        ("In USD million", 6, "USD"),
        ("(€m)", 6, "EUR"),
        ("(Millions)", 6, ""),
        ("$ million", 6, "$"),
        ("Tsd. EUR", 3, "EUR"),
        ("in Mio. €", 6, "EUR"),
        ("TEUR", 3, "EUR"),
        ("en milliers d'euros", 3, ""),
        ("(en M€)", 6, "EUR"),
        ("(000s)", 3, ""),
    ],
)
def test_a_caption_names_a_scale(caption: str, power: int, unit: str) -> None:
    scale = scale_of(caption)
    assert scale is not None
    assert scale.power == power
    assert unit in ("", scale.unit.name)


@pytest.mark.parametrize(
    "text", ["", "sales of $41.3 million", "in millions of homes", "3 Mio. Euro", "(12)"]
)
def test_prose_is_no_caption(text: str) -> None:
    assert scale_of(text) is None


def test_a_caption_counts_for_what_is_behind_it_without_a_scale_of_its_own() -> None:
    text = f"12 offices\n{THOUSANDS}Revenue 41,287\nPer share 1.25\nShare 5 %\nCash of $3 million\n2017"
    assert [figure.value for figure in figures_of(text)] == [
        12,
        41_287_000,
        Decimal("1.25"),
        5,
        3_000_000,
        2017,
    ]


AGREEING = [
    ("$41.3 million", THOUSANDS + "Revenue 41,287"),
    ("$41.3 million", "41,287"),
    ("$38.0 million", "37,987"),
    ("8,120.4", THOUSANDS + "8,120,377"),
    ("$8,120.4 million", THOUSANDS + "8,120,377"),
    ("5.500", "5,500"),
    ("about $2.7 billion", "2,684 million"),
    ("$41,287 thousand", "$41.287 million"),
    ("12,480", "12.48 thousand"),
    ("a loss of 12,480", "(12,480)"),
    ("12 %", "0.12"),
    ("12%", "12"),
    ("0.12", "12%"),
    ("30 basis points", "0.3%"),
    ("3.0 percentage points", "3.0%"),
    ("1800 thousand", "1800"),
    ("half", "50%"),
    ("one third", "33.3%"),
    ("twelve", "12"),
    ("zwölf", "twelve"),
    ("more than 40", "41.3"),
    ("nearly 50 million", "49.6 million"),
    ("60 mph", "97 km/h"),
    ("100 km", "62 miles"),
    ("32 °F", "0 °C"),
    ("2.4 bar", "35 psi"),
    ("240 kPa", "2.4 bar"),
    ("1 gallon", "3.785 litres"),
    ("2.2 lb", "1 kg"),
    ("90 minutes", "1.5 hours"),
    ("two years", "24 months"),
    ("1.24 t", "1,238"),
    ("4.27 m", "4,268"),
    ("less than half a kilogram", "460 g"),
    ("a little less than one litre", "0.9 litres"),
    ("in the 60s", "in the 1960s"),
    ("205/55", "205/55"),
    ("3,5 Mio. €", "3.5 million euros"),
    ("FY2017", "the year ended December 31, 2017"),
    ("2017", "December 31, 2017"),
    ("31.12.2017", "December 31, 2017"),
    ("03/12/2017", "3 December 2017"),
    ("03/12/2017", "March 12, 2017"),
    ("Q3 2017", "third quarter of 2017"),
    ("March 2017", "12. März 2017"),
    ("3rd", "third"),
    ("3 pm", "15:00"),
    ("4.2.1", "4.2.1"),
]


@pytest.mark.parametrize(("claimed", "printed"), AGREEING)
def test_a_figure_agrees_with_the_same_amount(claimed: str, printed: str) -> None:
    assert agrees(last(claimed), last(printed))
    assert could_agree(last(claimed), last(printed))
    assert FigureIndex(figures_of(printed)).agreeing(last(claimed)) is not None
    assert not unit_differs(last(claimed), last(printed))
    assert not scale_differs(last(claimed), last(printed))


@pytest.mark.parametrize(
    ("claimed", "printed"),
    [
        ("$41.4 million", THOUSANDS + "Revenue 41,287"),
        ("41,288", "41,287"),
        ("8,120.5", THOUSANDS + "8,120,377"),
        ("$2.8 billion", "2,684 million"),
        ("12 %", "0.13"),
        ("2.7 billion", "2,584"),
        ("60 mph", "100 km/h"),
        ("2018", "December 31, 2017"),
        ("Q2 2017", "third quarter of 2017"),
        ("12 March 2017", "13 March 2017"),
        ("3rd", "fourth"),
        ("4.2.1", "4.2.2"),
        ("3:1", "4:1"),
        ("5 kg", "5 km"),
        ("below $30 billion", "below $25 billion"),
        ("140 years", "14"),
        ("MAX 8", "$8.2 million"),
        ("205/55", "195/65"),
    ],
)
def test_another_amount_does_not_agree(claimed: str, printed: str) -> None:
    assert not agrees(last(claimed), last(printed))
    assert not could_agree(last(claimed), last(printed))
    assert FigureIndex(figures_of(printed)).agreeing(last(claimed)) is None


@pytest.mark.parametrize(
    ("claimed", "printed"),
    [
        ("41,287,512", "$41.3 million"),
        ("41.2 million", THOUSANDS + "41,287"),
        ("12,000", "11,987"),
        ("$2 billion", "$1.67 billion"),
        ("$1.4 million", "1,395"),
        ("12 March 2017", "March 2017"),
        ("2.684 billion", "about $2.7 billion"),
    ],
)
def test_what_the_page_does_not_decide_neither_agrees_nor_contradicts(claimed: str, printed: str) -> None:
    assert not agrees(last(claimed), last(printed))
    assert could_agree(last(claimed), last(printed))


@pytest.mark.parametrize(
    ("claimed", "printed", "unit", "scale"),
    [
        ("41.3 billion", "41.3 million", False, True),
        ("$41.3 billion", "$41.3 million", False, True),
        ("5 kg", "5 g", True, False),
        ("$5", "€5", True, False),
        ("5 km", "5 miles", True, False),
        ("5 %", "5 percentage points", False, False),
        ("$5", "5 CAD", False, False),
        ("£5", "5 pounds", False, False),
        ("41.3", "41.3 million", False, False),
        ("41.3 billion", "$ in millions\n41.3", False, False),
        ("12.5 million", "41.3 billion", False, False),
        ("6 kg", "5 g", False, False),
    ],
)
def test_unit_and_scale_differ_only_if_both_are_given(
    claimed: str, printed: str, unit: bool, scale: bool
) -> None:
    assert unit_differs(last(claimed), last(printed)) is unit
    assert scale_differs(last(claimed), last(printed)) is scale


SCALES = [
    ("", 0),
    (" thousand", 3),
    (" million", 6),
    (" billion", 9),
    ("bn", 9),
    (" Mio.", 6),
    (" Mrd.", 9),
    (" milliards", 9),
]


def printed_ways(number: Decimal) -> list[tuple[str, str]]:
    """The texts of a number, with the language that they are written in."""
    english = f"{number:,}"
    swapped = english.translate(str.maketrans(",.", ".,"))
    spaced = english.replace(",", "\u202f")
    return [
        (str(number), "en"),
        (english, "en"),
        (swapped, "de"),
        (spaced.replace(".", ","), "fr"),
        (f"({english})", "en"),
    ]


@given(st.integers(1, 10**9), st.integers(0, 3), st.sampled_from(SCALES), st.data())
def test_a_value_printed_in_any_way_is_read_back(
    digits: int, places: int, scale: tuple[str, int], data: st.DataObject
) -> None:
    number = Decimal(digits).scaleb(-places)
    one, other = (data.draw(st.sampled_from(printed_ways(number))) for _ in range(2))
    word, power = scale
    as_words = word if not one[0].startswith("(") else ""
    claimed = figures_of(f"It was {one[0]}{as_words} in all.", language=one[1])
    printed = figures_of(f"It was {other[0]} in all.", language=other[1])
    assert len(claimed) == len(printed) == 1
    assert number.scaleb(power if as_words else 0) in claimed[0].readings or claimed[0].kind == "year"
    assert number in printed[0].readings
    assert agrees(claimed[0], printed[0])


@given(st.integers(100, 10**9), st.integers(0, 2), st.data())
def test_a_changed_digit_does_not_agree(digits: int, places: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(str(digits)) - 1))
    was = int(str(digits)[place])
    now = data.draw(st.integers(0 if place else 1, 9).filter(lambda digit: digit != was))
    altered = int(str(digits)[:place] + str(now) + str(digits)[place + 1 :])
    claimed = figures_of(f"{Decimal(digits).scaleb(-places):,} million", language="en")
    printed = figures_of(f"{Decimal(altered).scaleb(-places):,} million", language="en")
    assert not agrees(claimed[0], printed[0])
    assert not scale_differs(claimed[0], printed[0])


@given(st.text(alphabet="0123456789.,/½٣ '%-(\n\u00a0abmk$€QFY:h", max_size=60))
def test_any_text_is_read_in_order_and_agrees_with_itself(text: str) -> None:
    at = 0
    figures = figures_of(text)
    index = FigureIndex(figures)
    for figure in figures:
        assert text[figure.start : figure.end] == figure.text
        assert at <= figure.start < figure.end
        at = figure.end
        assert agrees(figure, figure)
        assert index.agreeing(figure) is not None


@given(st.lists(st.integers(1, 99_999), min_size=1, max_size=20), st.integers(1, 99_999))
def test_the_index_finds_what_comparing_each_finds(numbers: list[int], wanted: int) -> None:
    printed = figures_of("\n".join(f"{number:,}" for number in numbers), language="en")
    for words in (str(wanted), f"{wanted / 1000:.1f} million", f"about {wanted}", f"{wanted} %"):
        claimed = last(words)
        found = FigureIndex(printed).agreeing(claimed)
        assert (found is not None) is any(agrees(claimed, figure) for figure in printed)


NUMBERS = (
    "1",
    "3",
    "12",
    "45",
    "60",
    "300",
    "2,684",
    "41,287",
    "2017",
    "1.50",
    "0.12",
    "5,000,000",
    "41287512",
)
AHEAD = ("", "about ", "more than ", "below ", "$", "€", "(", "in ")
BEHIND = (
    *("", " %", " bps", " million", " Mrd. €", " lakh", " kg", " t", " m", " miles", " °C", " °F", " months"),
    *(" hours", "rd", "s", ":30", " pm", ")", " thousand dollars", " points", " USD"),
)
ODD = (
    *("half a million", "twenty-five thousand", "60s", "FY2017", "Q3 2017", "March 12, 2017", "03/12/2017"),
    *("3:1", "4.2.1", "15:00", "third", "12 March", "Q3", "a quarter of a kilogram", "2.7 billion", "205/55"),
)


def many_texts() -> list[str]:
    texts = [f"{ahead}{number}{behind}" for number in NUMBERS for ahead in AHEAD for behind in BEHIND]
    return [*texts, *(f"{THOUSANDS}a row {number}" for number in NUMBERS), *ODD]


def many_figures() -> list[Figure]:
    return [figure for text in many_texts() for figure in figures_of(text)]


def test_the_index_finds_all_that_comparing_each_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_of_figures, "MOST_TRIED", 100_000)
    figures = many_figures()
    index = FigureIndex(figures)
    distinct = {sameness_of(figure): number for number, figure in enumerate(figures)}
    for claimed in [figures[number] for number in distinct.values()]:
        found = {sameness_of(printed) for printed, _ in index.all_agreeing(claimed)}
        assert found == {same for same, number in distinct.items() if agrees(claimed, figures[number])}


@pytest.mark.parametrize("language", ["", "de", "fr"])
def test_a_text_without_the_first_digits_of_a_figure_has_none_that_agrees(language: str) -> None:
    figures = {sameness_of(figure): figure for figure in many_figures()}
    wanted = [(figure, first_digits_of(figure)) for figure in list(figures.values())[::9]]
    more = (
        "1 234,5 km",
        "ein Liter",
        "1,2,3",
        "5'000 Fr.",
        "2018–19",
        "two hundred",
        "12 ½",
        "٤٥ kg",
        "a million",
    )
    for text in (
        *many_texts(),
        *more,
        "0.05 or .45 m",
        "41.287,5 kg",
        "nine",
        "3/4 of a mile",
        "the '60s",
        "05",
    ):
        printed, digits = FigureIndex(figures_of(text, language=language)), digits_in(text).first
        for claimed, its in wanted:
            assert its & digits or printed.agreeing(claimed) is None, (claimed, text)


def test_most_texts_need_not_be_read() -> None:
    (claimed,) = figures_of("4.5 litres")
    assert not first_digits_of(claimed) & digits_in("The tank holds 60 litres, and 7 in reserve.").first
    assert first_digits_of(claimed) & digits_in("The tank holds 4,512 ml.").first


def test_the_index_numbers_each_place_of_a_figure() -> None:
    figures = figures_of("5 kg of flour, 5 kg of salt and 5,000 g of sugar, not 6 kg")
    found = [list(places) for _, places in FigureIndex(figures).all_agreeing(last("5 kg"))]
    assert sorted(found) == [[0, 1], [2]]


def test_the_index_compares_few_of_many_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Figure] = []

    def counting(claimed: Figure, printed: Figure) -> bool:
        compared.append(printed)
        return agrees(claimed, printed)

    monkeypatch.setattr(index_of_figures, "agrees", counting)
    printed = figures_of("\n".join(f"{number * 37:,}" for number in range(100, 10_000)), language="en")
    index = FigureIndex(printed)
    for number in range(1_000):
        index.agreeing(figures_of(f"{number * 353 + 100_000:,}", language="en")[0])
    assert len(compared) < 20 * 1_000
    compared.clear()
    assert len(list(FigureIndex(figures_of("4.5 litres. " * 1_000)).all_agreeing(last("4.5 litres")))) == 1
    assert len(compared) == 1  # what is the same is compared once


def test_many_figures_are_bounded() -> None:
    text = " ".join(f"{number}.{number % 7}" for number in range(20_000))
    assert len(figures_of(text)) == 10_000
    assert len(figures_of("1" * 100_000)) == 0
    assert len(figures_of("1," * 50_000)) <= 10_000
    assert len(figures_of("(" * 50_000 + "1")) == 1
    assert len(figures_of("$ " * 50_000 + "1")) == 1
    assert len(figures_of("Q1 " * 20_000)) == 10_000
    assert len(figures_of("two " * 20_000)) == 10_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("six-and-a-half feet", ["six-and-a-half feet"]),
        ("12 miles (25km)", ["12 miles", "25km"]),
        ("12 A320 aircraft", ["12"]),
        ("a 6 A fuse", ["6 A"]),
        ('he wrote "Jo 3632"', ["3632"]),
        ("in 2018–19", ["2018", "19"]),
        ("grew by 5.2% to $41.3 million", ["5.2%", "$41.3 million"]),
    ],
)
def test_a_figure_has_its_unit_and_not_its_neighbours(text: str, found: list[str]) -> None:
    assert [figure.text for figure in figures_of(text)] == found
