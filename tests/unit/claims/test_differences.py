"""Differences between claims and their evidence: what is accused, and what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.diagnosis.claims.differences import differences_of
from proofspan.diagnosis.claims.differences.compare import MOST_DIFFERENCES, MOST_SOURCE
from proofspan.diagnosis.claims.types import ClaimDifference


def kinds(claim: str, source: str, **languages: str) -> list[tuple[str, str, str]]:
    """Return the differences as kind, claimed and found words."""
    found = differences_of(claim, source, **languages)
    for each in found:
        assert claim[each.claimed_start : each.claimed_end] == each.claimed
        assert source[each.found_start : each.found_end] == each.found
    return [(each.kind, each.claimed, each.found) for each in found]


BATTERY = (
    "The battery is covered for eight years or 160,000 km, whichever comes first. "
    "The workshop in Lyon tests the battery every 24 months."
)
FUEL = (
    "The fuel tank holds 52 litres. Fuel consumption fell by 0.4 litres after the update in March 2021. "
    "Switch the engine off before you open the fuel cap."
)
RESULTS = (
    "Operating profit rose to $41.3 million in 2019 from $37.0 million in 2018. "
    "The Hamburg plant closed in October. Free cash flow was negative in the second half."
)
TYRES = (
    "Snow chains must be fitted to the front wheels. Snow chains may be used on roads with packed snow "
    "unless the tyres have spikes. Some tyres are marked with an arrow. Keep the tyre pressure above 2.3 bar."
)


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("Additives are allowed.", "Additives are not allowed.", ("negation", "allowed", "not allowed")),
        (
            "The horn does not work without a key.",
            "The horn works without a key.",
            ("negation", "not work", "works"),
        ),
        (
            "The heating of the mirrors switches itself off after 20 minutes.",
            "The button starts the heating of the mirrors. It works while the engine runs and switches "
            "itself off after 12 minutes.",
            ("number", "20 minutes", "12 minutes"),
        ),
        (
            "Eva books seats for two, reaching Bern at 8:40 PM, and they bring their dogs.",
            "You will be in Bern at 6:40 PM.",
            ("number", "8:40 PM", "6:40 PM"),
        ),
        (
            "Rents rose by 4 % in May to 315 crowns a month.",
            "In the town, rents went up 4 % in May and are 280 crowns now.",
            ("number", "315", "280"),
        ),
        (
            "The mill has ordered 14 sets of the 856 S drive.",
            "By then the mill had ordered 14 sets of the 846 S drive, 10 of them in May.",
            ("number", "856", "846"),
        ),
        ("The oil is hotter than 118 °F.", "The oil is hotter than 118 °C.", ("unit", "118 °F", "118 °C")),
        (
            "Sensors on the bar are switched off.",
            "NOTE\nSensors on the bar are not switched off.",
            ("negation", "switched", "not switched"),
        ),
        (
            "The eye of the bumper is screwed in clockwise.",
            "The eye of the bumper is screwed in anticlockwise.",
            ("direction", "clockwise", "anticlockwise"),
        ),
        # words in each other's place, all others in order
        (
            "Turn the key to the left to lock the door, to the right to unlock it.",
            "Turn the key to the right to lock the door, to the left to unlock it.",
            ("direction", "left", "right"),
        ),
        (
            "The lamp of the pump turns from red to green.",
            "After the start the lamp of the pump turns from green to red.",
            ("direction", "red", "green"),
        ),
        (
            "Two beeps of the horn mean open, and one means shut.",
            "Two beeps of the horn mean shut, and one means open.",
            ("direction", "open", "shut"),
        ),
        # what another sentence says of something else does not speak for the claim
        (
            "After a long drive the gauge of the tyre reads too low.",
            "After a long drive the gauge of the tyre reads too high. The seat is too low at first.",
            ("direction", "low", "high"),
        ),
        # numbers, units, scales
        ("The fuel tank holds 62 litres.", FUEL, ("number", "62 litres", "52 litres")),
        (
            "Operating profit rose to $43.1 million in 2019.",
            RESULTS,
            ("number", "$43.1 million", "$41.3 million"),
        ),
        ("The battery is covered for 180,000 km.", BATTERY, ("number", "180,000 km", "160,000 km")),
        (
            "Operating profit rose to $41.3 billion in 2019.",
            RESULTS,
            ("scale", "$41.3 billion", "$41.3 million"),
        ),
        ("The workshop tests the battery every 24 weeks.", BATTERY, ("unit", "24 weeks", "24 months")),
        # a digit, and a figure that is elsewhere in the source
        ("Profit in 2019 was at $43.1 million.", RESULTS, ("number", "$43.1 million", "$41.3 million")),
        # exchanged
        ("Staff went from 70 to 40.", "Staff went from 40 to 70.", ("direction", "70 to 40", "40 to 70")),
        (
            "Sales were 40 units and returns were 70 units.",
            "Returns were 40 units, while sales were 70 units.",
            ("number", "40", "70"),
        ),
        ("Norda acquired Vesta in 2014.", "In spring, Vesta acquired Norda.", ("name", "Norda", "Vesta")),
        # dates and periods
        ("The Hamburg plant closed in December.", RESULTS, ("date", "December", "October")),
        ("Fuel consumption fell after the update in March 2012.", FUEL, ("date", "March 2012", "March 2021")),
        # negation
        ("The Hamburg plant did not close in October.", RESULTS, ("negation", "not close", "closed")),
        ("The workshop in Lyon never tests the battery.", BATTERY, ("negation", "never tests", "tests")),
        # direction
        ("Fuel consumption rose by 0.4 litres after the update.", FUEL, ("direction", "rose", "fell")),
        ("Operating loss rose to $41.3 million in 2019.", RESULTS, ("direction", "loss", "profit")),
        ("Free cash flow was positive in the second half.", RESULTS, ("direction", "positive", "negative")),
        ("The Hamburg plant opened in October.", RESULTS, ("direction", "opened", "closed")),
        ("Switch the engine off after you open the fuel cap.", FUEL, ("direction", "after", "before")),
        ("Keep the tyre pressure below 2.3 bar.", TYRES, ("direction", "below", "above")),
        ("Snow chains must be fitted to the rear wheels.", TYRES, ("direction", "rear", "front")),
        # names
        ("The workshop in Turin tests the battery.", BATTERY, ("name", "Turin", "Lyon")),
        ("The Bremen plant closed in October.", RESULTS, ("name", "Bremen", "Hamburg")),
        # quantifiers and modality
        ("All tyres are marked with an arrow.", TYRES, ("quantifier", "All", "Some")),
        ("No tyres are marked with an arrow.", TYRES, ("quantifier", "No", "Some")),
        ("Snow chains may be fitted to the front wheels.", TYRES, ("modality", "may", "must")),
        ("Snow chains must be used on roads with packed snow.", TYRES, ("modality", "must", "may")),
        # what is only possible; a verb of duty before small words
        (
            "A worn seal will leak under load.",
            "A worn seal can leak under load.",
            ("modality", "will", "can"),
        ),
        (
            "During the test the fan must be on.",
            "During the test the fan may be on.",
            ("modality", "must", "may"),
        ),
        # a part of a whole is not all of it; only some are not all
        (
            "All of the committee's proposals concern the harbour.",
            "The committee met in May. Three of its proposals concern the harbour.",
            ("quantifier", "All", "Three"),
        ),
        (
            "Only some of the rooms have smoke alarms.",
            "All nine rooms have smoke alarms.",
            ("quantifier", "some", "All"),
        ),
        # parts of two clauses in each other's place
        (
            "The spare keys hang behind the counter, and the torch lies in the top drawer.",
            "The torch hangs behind the counter, the flags are in the cellar, and the spare keys lie in the "
            "top drawer.",
            ("name", "spare keys", "torch"),
        ),
        (
            "The east gate serves the ferries and the quay, and the west gate serves the coaches.",
            "The east gate serves the coaches. The west gate serves the ferries and the quay.",
            ("name", "east", "west"),
        ),
        # a limit with the same figure; the other way round is another sentence
        (
            "The fan of the dryer switches itself on again below 70 °C.",
            "Above 70 °C the fan of the dryer switches itself on again.",
            ("direction", "below", "Above"),
        ),
        (
            "The bolt of the saddle is screwed in clockwise.",
            "The bolt of the saddle is screwed in anticlockwise. Later, turn the bolt of the saddle out "
            "clockwise.",
            ("direction", "clockwise", "anticlockwise"),
        ),
        (
            "Glue the plus strip first and the minus strip last.",
            "Peel the plus strip off first. Glue the minus strip first and the plus strip last.",
            ("direction", "plus", "minus"),
        ),
        # denied of what the sentence before names, or in a sentence that names it once more
        (
            "The night nurse also checks the fire doors.",
            "The night nurse walks through both floors. She does not check the fire doors.",
            ("negation", "checks", "not check"),
        ),
        (
            "There is a cash refund for unused tickets.",
            "Unused tickets lapse at midnight. There is no cash refund.",
            ("negation", "cash", "no cash"),
        ),
        (
            "Dogs are admitted to the reading room.",
            "The reading room opens at nine. Dogs are neither fed nor admitted.",
            ("negation", "admitted", "nor admitted"),
        ),
        (
            "The pump goes off by itself after an hour.",
            "The pump does not go off by itself after an hour.",
            ("negation", "goes", "not go"),
        ),
    ],
)
def test_a_contradiction_names_both_words(claim: str, source: str, expected: tuple[str, str, str]) -> None:
    assert expected in kinds(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "The expert mentions scratches on the mirror, but these do not date to the first owner.",
            "Some tried to date the scratches on the mirror to the first owner, but the expert's test of the "
            "mirror disproves a first-owner date of the scratches.",
        ),
        (
            "The badge is shown in various brochures, films and other media, which others may own.",
            "On Monday the badge (though not the various brochures, films and other media with it) was free.",
        ),
        # a condition that is denied
        (
            "The cap must not be opened unless the engine is cold.",
            "Never open the cap while the engine is hot.",
        ),
        # the same in another order
        (
            "The red and the green lamp of the pump are lit.",
            "The green and the red lamp of the pump are lit.",
        ),
        (
            "The lamp turns red on the left and green on the right side.",
            "On the left the lamp turns red, and green on the right side.",
        ),
        # the same in other words
        ("The fuel tank has a capacity of 52 l.", FUEL),
        ("Fuel consumption decreased by 0.4 litres following the update in March 2021.", FUEL),
        ("Operating profit grew to about $41 million.", RESULTS),
        ("Operating profit rose by $4.3 million in 2019.", RESULTS),
        ("Operating profit was higher in 2019 than in 2018.", RESULTS),
        ("In 2018 operating profit was lower, at $37.0 million.", RESULTS),
        ("The Hamburg factory was shut in autumn.", RESULTS),
        ("The engine must be off before the fuel cap is opened.", FUEL),
        ("The tyre pressure must not be below 2.3 bar.", TYRES),
        ("Not all tyres are marked with an arrow.", TYRES),
        ("The battery warranty lasts eight years.", BATTERY),
        ("Every 24 months, the battery is tested at the Lyon workshop.", BATTERY),
        # the source says both
        ("Prices rose in May.", "Prices fell in April. Prices rose in May."),
        ("Sales fell in the north.", "Sales rose in the south, and fell in the north."),
        # the source says the opposite of something else
        ("The handbrake light goes on.", "The fuel gauge is below the speedometer. The radio goes off."),
        ("The price of steel rose.", "The number of employees fell."),
        ("The Paris office opened in 2011.", "The Rome office closed in 2013."),
        # a pair of opposites that says the same of exchanged partners
        ("The sensor is above the grille.", "The grille is below the sensor."),
        ("Norda bought the mill from Vesta.", "Vesta sold the mill to Norda."),
        ("Check the oil after the test drive.", "The test drive comes before you check the oil."),
        # a double change
        ("The door is not closed during the test.", "The door is open during the test."),
        ("Revenue did not fall in the third quarter.", "Revenue rose in the third quarter."),
        # all includes some; can says nothing of must
        ("Some filters have a date code.", "All filters have a date code."),
        ("You can press the button to start the engine.", "You must press the button to start the engine."),
        # exchanged, but the same
        ("Norda met Vesta in 2014.", "In 2014, Vesta met Norda."),
        ("Norda acquired Vesta in 2014.", "In 2014, Norda acquired Vesta, and Vesta left Rome."),
        ("Norda was acquired by Vesta.", "Vesta acquired Norda."),
        ("Sales were 70 units and returns were 40 units.", "Returns were 40 units, sales 70 units."),
        ("Sales and returns were 70 and 40 units respectively.", "Returns were 40 units, sales 70 units."),
        ("Profit rose from $37.0 million to $41.3 million.", RESULTS),
        # numbers of figures and sections
        ("The valve is shown in figure 2-39.", "The valve is shown in figure 2-38."),
        # a name in another form, an abbreviation, a part of it
        ("The German plant closed in October.", "The plant in Germany closed in October."),
        ("The EU adopted the rule in 2016.", "The European Union adopted the rule in 2016."),
        ("In Anna Weber's report the error is named.", "Weber's report names the error."),
        # words that are something else here
        ("The company will close to forty branches.", "The company will open forty branches."),
        ("New York has the larger depot.", "The old depot is in York."),
        ("The driver may open the hatch.", "In May the driver opened the hatch."),
        ("A free-standing unit is heavier.", "Paid units are heavier."),
        # questions of wording
        ("The pump is not only quiet but light.", "The pump is quiet and light."),
        ("The vehicle has no fewer than six airbags.", "The vehicle has six airbags."),
        # the parts of a list in another order, and two clauses in another order
        (
            "The harbour lies near Ostia, Anzio, Nettuno and Gaeta.",
            "The harbour lies near Gaeta, Nettuno, Anzio, and Ostia.",
        ),
        (
            "The torch lies in the top drawer, and the spare keys hang behind the counter.",
            "The spare keys hang behind the counter, and the torch lies in the top drawer.",
        ),
        (
            "The east gate serves the coaches, and the west gate serves the ferries.",
            "The west gate serves the ferries. The east gate serves the coaches.",
        ),
        (
            "The torch is in the drawer and the keys are behind the counter.",
            "The torch is not behind the counter, and the keys are not in the drawer.",
        ),
        # two changes that cancel each other
        (
            "The heater of the dryer switches itself off below 70 °C.",
            "Above 70 °C the heater of the dryer switches itself on.",
        ),
        (
            "The heater of the dryer does not stay on below 70 °C.",
            "Above 70 °C the heater of the dryer stays on.",
        ),
        (
            "Turn the bolt of the saddle out clockwise.",
            "The bolt of the saddle goes out clockwise, in anticlockwise.",
        ),
        # a negation with a limit says when something holds after all
        (
            "The lid may be opened once the drum stands still.",
            "The lid may not be opened until the drum stands still.",
        ),
        (
            "The loan cannot be repaid before the third year is over.",
            "The loan can be repaid only after the third year is over.",
        ),
        ("Visitors may enter only with a guide.", "Visitors may not enter except with a guide."),
        # what the sentence before is about is not what this one denies
        (
            "The day nurse checks the fire doors.",
            "The day nurse checks the fire doors. The night nurse does not check the fire doors.",
        ),
        (
            "There is a refund for late trains.",
            "There is a refund for late trains. There is no refund for coffee.",
        ),
        # can, where the source says will; a request; a modal of another verb
        ("A worn seal can leak under load.", "A worn seal will leak under load."),
        ("Eva will carry the chairs.", "Eva, could you carry the chairs?"),
        ("The seal will be replaced in May.", "The seal can leak. It will be replaced in May."),
        (
            "During the test the fan may be on.",
            "During the test the fan must be off, and later it may be on.",
        ),
        # some of all, and a count that is no part
        ("Some of the rooms have smoke alarms.", "All nine rooms have smoke alarms."),
        (
            "All of the proposals concern the harbour.",
            "The three proposals of the board concern the harbour.",
        ),
        (
            "Visitors may enter with a guide.",
            "Visitors may not enter without a guide.",
        ),
        # what a sibling of the true sentence says
        (
            "The rear tyres need 2.2 bar when the van is empty.",
            "The front tyres take a pressure of 2.4 bar in summer.",
        ),
        (
            "Orders are expected to reach 310 units in the second quarter of 2031.",
            "Orders reached 280 units in the third quarter of 2030.",
        ),
        (
            "Rents in the second quarter rose to 310 crowns a month.",
            "Fourth-quarter rents rose to 280 crowns a month.",
        ),
        (
            "The soup of Brenner Lane Kitchen contains 46 g of fat.",
            "The soup of Old Mill Kitchen contains 31 g of fat.",
        ),
        ("The rear axle is 19 mm wider than the front axle.", "The axle is 1,789 mm wide."),
        ("The mill is said to cost $3.5 billion a year.", "The mill is said to cost $12.25 a tonne."),
        ("Oak was used for ships 4,000 years ago.", "A village was founded here 900 years ago."),
        ("The guests are always welcomed with tea.", "Such guests are never seen in winter."),
        (
            "The shop offers exclusive covers to its members.",
            "The shop offers its members everything, including covers and lamps.",
        ),
        (
            "The toolbox has seven wrenches from 8 to 19 mm.",
            "6 to 19 mm, sold singly: 12 kinds.",
        ),
        ("The rear tyres need 2.2 bar.", "The front tyres need 2.4 bar."),
        ("Plant B makes 300 pumps a day.", "Plant A makes 250 pumps a day."),
        ("In Lyon the shop opens at 9:00.", "In Turin the shop opens at 10:00."),
        ("A ticket for adults costs 14 euros.", "A ticket for children costs 9 euros."),
        ("The large box holds 14 litres.", "The small box holds 9 litres."),
        ("Anna runs 5 km on Mondays.", "Ben runs 7 km on Mondays."),
        ("Sales in Spain grew by 5%.", "Sales in France grew by 7%."),
    ],
)
def test_nothing_is_accused_where_nothing_contradicts(claim: str, source: str) -> None:
    assert kinds(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        (
            "The guarantee covers rust damage to the body.",
            "The guarantee covers rust damage to the body, unless the paint was repaired elsewhere.",
            ("qualifier", "", "unless the paint was repaired elsewhere"),
        ),
        (
            "Trailers of 1,800 kg can be towed uphill.",
            "Trailers of up to 1,800 kg can be towed uphill.",
            None,  # "can" says that it is a limit
        ),
        (
            "The pump delivers 40 litres a minute.",
            "The pump delivers up to 40 litres a minute.",
            ("qualifier", "40 litres", "up to 40 litres"),
        ),
        (
            "The guarantee covers rust damage to the body if the paint is original.",
            "The guarantee covers rust damage to the body, unless the paint was repaired elsewhere.",
            None,
        ),
        (
            "The swimming pool may be used by guests.",
            "The swimming pool may be used by guests as long as a lifeguard is present.",
            ("qualifier", "", "as long as a lifeguard is present"),
        ),
        (
            "Members can borrow the boats.",
            "Members can borrow the boats if they hold a licence.",
            ("qualifier", "", "if they hold a licence"),
        ),
        (
            "The cellar is heated by the old boiler.",
            "The cellar is dry; it is lit by lamps and is heated by the old boiler as long as oil is left.",
            ("qualifier", "", "as long as oil is left"),
        ),
        (  # a condition that only says what for
            "Turn the crank of the window to the right.",
            "Turn the crank of the window to the right if you want to close it.",
            None,
        ),
        (
            "The north bridge is twice as long.",
            "The north bridge is twice as long as the south bridge.",
            None,
        ),
        (
            "The wool carpets of the hall last.",
            "The wool carpets of the hall last as long as the building.",
            None,
        ),
        (  # "usually" says that there are limits
            "The swimming pool may usually be used by guests.",
            "The swimming pool may be used by guests as long as a lifeguard is present.",
            None,
        ),
        (
            "The guard asks visitors about cameras.",
            "The guard asks visitors about cameras even if the gate is closed.",
            None,
        ),
        (
            "The guarantee covers glass.",
            "The guarantee covers rust damage to the body, unless the paint was repaired elsewhere.",
            None,
        ),
    ],
)
def test_a_dropped_qualifier(claim: str, source: str, expected: tuple[str, str, str] | None) -> None:
    assert kinds(claim, source) == ([expected] if expected else [])


def test_a_qualifier_that_the_answer_names_elsewhere_is_not_dropped() -> None:
    claim = "The guarantee covers rust damage to the body."
    source = "The guarantee covers rust damage to the body, unless the paint was repaired elsewhere."
    assert differences_of(claim, source)
    assert not differences_of(claim, source, beside=f"{claim} Paint repaired elsewhere ends it.")


@pytest.mark.parametrize(
    ("language", "claim", "source", "expected"),
    [
        (
            "de",
            "Der Umsatz ist 2020 gesunken.",
            "Der Umsatz ist 2020 gestiegen.",
            ("direction", "gesunken", "gestiegen"),
        ),
        (
            "de",
            "Der Tank fasst 62 Liter Benzin.",
            "Der Tank fasst 52 Liter Benzin.",
            ("number", "62 Liter", "52 Liter"),
        ),
        (
            "de",
            "Die Batterie muss beim Laden nicht abgeklemmt werden.",
            "Die Batterie muss beim Laden abgeklemmt werden.",
            ("negation", "nicht abgeklemmt", "abgeklemmt"),
        ),
        (
            "de",
            "Alle Reifen tragen einen Pfeil.",
            "Einige Reifen tragen einen Pfeil.",
            ("quantifier", "Alle", "Einige"),
        ),
        (
            "fr",
            "Les ventes ont baissé en 2020.",
            "Les ventes ont augmenté en 2020.",
            ("direction", "baissé", "augmenté"),
        ),
        (
            "fr",
            "Le réservoir contient 62 litres.",
            "Le réservoir contient 52 litres.",
            ("number", "62 litres", "52 litres"),
        ),
        (
            "fr",
            "Le conducteur peut serrer le frein.",
            "Le conducteur doit serrer le frein.",
            ("modality", "peut", "doit"),
        ),
    ],
)
def test_german_and_french(language: str, claim: str, source: str, expected: tuple[str, str, str]) -> None:
    assert expected in kinds(claim, source, language=language, source_language=language)


@pytest.mark.parametrize(
    ("language", "claim", "source"),
    [
        ("de", "Der Umsatz nahm 2020 zu.", "Der Umsatz ist 2020 gestiegen."),
        ("de", "Der Verlust stieg 2020.", "2020 stieg der Verlust, während der Gewinn der Tochter sank."),
        ("de", "Die Tür ist nicht offen.", "Die Tür ist geschlossen."),
        ("fr", "Les ventes ont progressé en 2020.", "Les ventes ont augmenté en 2020."),
        ("fr", "Ouvrez le capot avant de remplir.", "Avant de remplir, ouvrez le capot."),
        ("es", "La puerta no está abierta.", "La puerta está abierta."),
    ],
)
def test_german_french_and_others_without_a_difference(language: str, claim: str, source: str) -> None:
    assert kinds(claim, source, language=language, source_language=language) == []


def test_another_text_may_agree_with_the_claim() -> None:
    claim, source = "The workshop in Turin tests the battery.", BATTERY
    assert differences_of(claim, source)
    assert differences_of(claim, source, elsewhere=["Turin is a city."])
    assert not differences_of(claim, source, elsewhere=["A workshop in Turin tests it too."])


def test_across_languages_only_figures_and_names_are_compared() -> None:
    source = "The XR-5 pump delivers 40 litres. It is not heavy."
    assert kinds("Die Pumpe ist schwer.", source, language="de", source_language="en") == []


def test_evidence_within_a_source_gives_places_of_the_source() -> None:
    before = "Unrelated words come first. "
    source = before + "The fuel tank holds 52 litres."
    (found,) = differences_of("The fuel tank holds 62 litres.", source, len(before), len(source))
    assert source[found.found_start : found.found_end] == "52 litres"


def test_a_long_source_is_cut_around_the_evidence() -> None:
    filler = "Nothing of this is about the matter. " * 2_000
    evidence = "The fuel tank holds 52 litres."
    source = filler + evidence + " " + filler
    assert len(source) > 2 * MOST_SOURCE
    (found,) = differences_of(
        "The fuel tank holds 62 litres.", source, len(filler), len(filler) + len(evidence)
    )
    assert source[found.found_start : found.found_end] == "52 litres"


def test_differences_are_bounded_and_in_the_order_of_the_claim() -> None:
    months = [f"On day {at} the meter{at} showed {at + 100} units." for at in range(1, 30)]
    claim = " ".join(months)
    source = claim.replace(" units", "7 units")
    found = differences_of(claim, source)
    assert len(found) <= MOST_DIFFERENCES
    assert [each.claimed_start for each in found] == sorted(each.claimed_start for each in found)


WORDS = st.sampled_from(
    """
    the pump motor door valve not no never rose fell before after opens closes must may all some up to 5 12.5
    2019 2020 May March Hamburg Lyon unless only profit loss kg % $40 more less with without is are was in
    of . , ; and der die nicht gestiegen gesunken les pas augmenté baisse
    """.split()  # noqa: SIM905
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)


@given(SENTENCES, st.sampled_from(["en", "de", "fr", "es"]))
def test_a_text_never_differs_from_itself(text: str, language: str) -> None:
    assert differences_of(text, text, language=language, source_language=language) == ()


@given(SENTENCES, SENTENCES, st.sampled_from(["en", "de", "fr", None]))
def test_places_hold(claim: str, source: str, language: str | None) -> None:
    for each in differences_of(claim, source, language=language, source_language=language):
        assert claim[each.claimed_start : each.claimed_end] == each.claimed
        assert source[each.found_start : each.found_end] == each.found


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_compared(claim: str, source: str) -> None:
    assert isinstance(differences_of(claim, source), tuple)


@given(st.permutations(["Cats sleep a lot.", "Rain is wet.", "The sky was grey.", "Ships carry cargo."]))
def test_the_order_of_unrelated_sentences_does_not_matter(others: list[str]) -> None:
    source = " ".join([*others[:2], "The fuel tank holds 52 litres.", *others[2:]])
    found = differences_of("The fuel tank holds 62 litres.", source)
    assert [(each.kind, each.claimed, each.found) for each in found] == [("number", "62 litres", "52 litres")]


def test_a_difference_is_what_check_expects() -> None:
    (found,) = differences_of("The fuel tank holds 62 litres.", FUEL)
    assert isinstance(found, ClaimDifference)
