"""Where two answers differ: every word is marked once, and no text is lost."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proofspan.services.compare import AnswerDifference, Part, answer_difference


def marked(parts: tuple[Part, ...]) -> str:
    """Words that differ as [words], numbers as <number>."""
    signs = {"same": ("", ""), "words": ("[", "]"), "number": ("<", ">")}
    return "".join(f"{signs[part.change][0]}{part.text}{signs[part.change][1]}" for part in parts)


@pytest.mark.parametrize(
    ("was", "now", "was_marked", "now_marked"),
    [
        ("Fill 2.5 bar, cold.", "Fill 2.3 bar, cold.", "Fill <2.5> bar, cold.", "Fill <2.3> bar, cold."),
        ("Use 5W-30.", "Use grade 5W-30.", "Use 5W-30.", "Use [grade] 5W-30."),
        ("not in context", "Press SET.", "[not in context]", "[Press SET.]"),
        ("", "Press SET.", "", "[Press SET.]"),
        ("Press  SET.\n", "Press SET.", "Press  SET.\n", "Press SET."),
        ("a b c d", "a d", "a [b c] d", "a d"),
        ("Turn 10 20 times", "Turn times", "Turn [10 20] times", "Turn times"),
        ("5 bar, 7 km", "7 km", "[5 bar,] 7 km", "7 km"),
        ("7 bar and 5", "5 or 7 bar", "7 bar [and 5]", "[5 or] 7 bar"),
        (" \n", "", " \n", ""),
    ],
)
def test_what_differs_is_marked_on_both_sides(was: str, now: str, was_marked: str, now_marked: str) -> None:
    found = answer_difference(was, now)
    assert (marked(found.was), marked(found.now)) == (was_marked, now_marked)
    assert found.is_same == (was.split() == now.split())


@pytest.mark.parametrize(
    ("was", "now", "figures"),
    [
        ("Every 15,000 km or 12 months.", "Every 10,000 km or 12 months.", (("15,000 km", "10,000 km"),)),
        ("The tank holds 55 litres.", "The tank holds 50 litres of fuel.", (("55 litres", "50 litres"),)),
        ("It locks after 45 seconds.", "It locks after 54 seconds.", (("45 seconds", "54 seconds"),)),
        ("Der Druck beträgt 2,3 bar.", "Der Druck beträgt 2,5 bar.", (("2,3 bar", "2,5 bar"),)),
        ("The range is 5 miles.", "The range is 5 km.", (("5 miles", "5 km"),)),
    ],
)
def test_values_of_one_quantity_that_differ_are_named(
    was: str, now: str, figures: tuple[tuple[str, str], ...]
) -> None:
    assert answer_difference(was, now).figures == figures


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("The tyre pressure is 2.3 bar.", "Change the oil every 15,000 km."),
        ("Change the oil every 15,000 km.", "Change the oil every 12 months."),
        ("The pressure is 2.3 bar at the front.", "The pressure is 2.5 bar at the rear."),
        ("The range is 1,000 m.", "The range is 1 km."),
        ("It costs 70 euros and takes 5 hours.", "See section 9.1.3."),
        ("1 and 1 and 2", "2, 3"),
        (
            "Long press of + or − 10 km/h 5 km/h Range that can be set 30 to 180 km/h 30 to 160 km/h",
            "A short press of + or − changes the set speed by 1 km/h, a long press by 10 km/h.",
        ),
    ],
)
def test_numbers_of_two_sentences_are_not_called_different(was: str, now: str) -> None:
    for one, other in ((was, now), (now, was)):
        found = answer_difference(one, other)
        assert not found.figures and not found.is_same
        assert {part.change for part in (*found.was, *found.now)} <= {"same", "words"}


text = st.text(alphabet="ab1.5, \n\t-é", max_size=40)


@settings(max_examples=80)
@given(text, text)
@example("\u2003", "a\x1fb")
def test_each_side_joins_back_to_its_text(was: str, now: str) -> None:
    found = answer_difference(was, now)
    assert "".join(part.text for part in found.was) == was
    assert "".join(part.text for part in found.now) == now
    assert same_words(found, "was") == same_words(found, "now")
    assert all(part.text for part in (*found.was, *found.now))


def same_words(found: AnswerDifference, side: str) -> str:
    """Return the text that a side shares with the other, without white space."""
    parts: tuple[Part, ...] = getattr(found, side)
    return "".join("".join(part.text.split()) for part in parts if part.change == "same")


def test_long_answers_are_compared_between_their_equal_ends() -> None:
    was, now = ("same start " + words * 400 + "same end" for words in ("x y ", "y x "))
    found = answer_difference(was, now)
    assert found.is_rough
    assert found.was[0].text.startswith("same start") and found.now[-1].text.endswith("same end")
    assert answer_difference(was, was).is_same and not answer_difference(was, was).is_rough
