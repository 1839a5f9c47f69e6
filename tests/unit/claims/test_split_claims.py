"""Splitting an answer into claims."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.diagnosis.answers import claims_of
from proofspan.diagnosis.claims.split import (
    LONGEST_CLAIM,
    MOST_CLAIMS,
    MOST_TEXT,
    claims_in,
    split_claims,
)

SENTENCES = [
    ("Sales rose 3.5 % in 2017. Costs fell.", ["Sales rose 3.5 % in 2017.", "Costs fell."]),
    ("See e.g. section 4.2. Dr. Smith agrees.", ["See e.g. section 4.2.", "Dr. Smith agrees."]),
    ("It costs approx. 5 EUR. Mr. J. R. Low pays.", ["It costs approx. 5 EUR.", "Mr. J. R. Low pays."]),
    ("Bemis Company, Inc. It was bought.", ["Bemis Company, Inc.", "It was bought."]),
    ("Acme Inc. Shareholders agreed to it.", ["Acme Inc. Shareholders agreed to it."]),
    ("He lives in the U.S. The house is old.", ["He lives in the U.S.", "The house is old."]),
    ("The U.S. Army came at 5 p.m. It rained.", ["The U.S. Army came at 5 p.m.", "It rained."]),
    (
        "It was sold by Shout! Factory. Stop now! Munich is far.",
        ["It was sold by Shout! Factory.", "Stop now!", "Munich is far."],
    ),
    ("Keep 50 m. Then brake hard.", ["Keep 50 m.", "Then brake hard."]),
    ("It takes 20 min. Wait for the lamp.", ["It takes 20 min.", "Wait for the lamp."]),
    ("See Fig. 3. It shows No. 5 in Sec. 4.", ["See Fig. 3.", "It shows No. 5 in Sec. 4."]),
    (
        "It needs v1.2.3. Get it at https://a.b/c?d=1. Run it.",
        ["It needs v1.2.3.", "Get it at https://a.b/c?d=1.", "Run it."],
    ),
    (
        "Wait... what it says is new. It is... Fine then.",
        ["Wait... what it says is new.", "It is...", "Fine then."],
    ),
    ("The oil is cold.The lamp is on.", ["The oil is cold.", "The lamp is on."]),
    ("Use Node.js in System.Out mode.", ["Use Node.js in System.Out mode."]),
    ('It says "Stop. Turn back." Then it ends.', ['It says "Stop. Turn back."', "Then it ends."]),
    (
        "She asks 'What is it? It is red' at dawn. It is.",
        ["She asks 'What is it? It is red' at dawn.", "It is."],
    ),
    ("It is hot (see p. 3. It is red) and loud.", ["It is hot (see p. 3. It is red) and loud."]),
    ("**Sales rose. Costs fell.**", ["Sales rose.", "Costs fell."]),
    ("The *oil* is cold. Use `a. B` here.", ["The *oil* is cold.", "Use `a. B` here."]),
    (
        "Read [the manual. Part 2](http://a.b/c). Then go.",
        ["Read [the manual. Part 2](http://a.b/c).", "Then go."],
    ),
    (
        "Das Öl muss bzw. kann z. B. Öl 5 sein. Es ist d. h. kalt.",
        ["Das Öl muss bzw. kann z. B. Öl 5 sein.", "Es ist d. h. kalt."],
    ),
    ("Am 3. Mai war es der 2. Gang. Es war kalt.", ["Am 3. Mai war es der 2. Gang.", "Es war kalt."]),
    ("Der Umsatz war 3,5 Mio. Euro. Er stieg.", ["Der Umsatz war 3,5 Mio. Euro.", "Er stieg."]),
    ("M. Dupont paie 5 000 €. Voir l'art. 3.", ["M. Dupont paie 5 000 €.", "Voir l'art. 3."]),
    ("Est-ce chaud ? Oui ! C'est très chaud.", ["C'est très chaud."]),
    (
        "安全な場所に停めてください。車を離れてください！",
        ["安全な場所に停めてください。", "車を離れてください！"],
    ),
    (
        "油箱容量为45升；机油容量为4升。更换间隔是一年。",
        ["油箱容量为45升", "机油容量为4升。", "更换间隔是一年。"],
    ),
    (
        "彼は「止まれ。動くな。」と言った。それは本当だ。",
        ["彼は「止まれ。動くな。」と言った。", "それは本当だ。"],
    ),
    ("一、油很冷的。\n二、水很热的。", ["油很冷的。", "水很热的。"]),
    ("他说：“停车。熄火。”然后他离开了。", ["他说：“停车。熄火。”", "然后他离开了。"]),
    ("¿Es frío? La Sra. Low ve la pág. 3. Es frío.", ["La Sra. Low ve la pág. 3.", "Es frío."]),
    ("तेल ठंडा है। पानी गर्म है।", ["तेल ठंडा है।", "पानी गर्म है।"]),
    (
        "الزيت بارد. الماء ساخن؛ المصباح الأحمر مضاء الآن. هل هو جديد؟",
        ["الزيت بارد.", "الماء ساخن؛ المصباح الأحمر مضاء الآن."],
    ),
    ("น้ำมันเย็น ไฟแดงติด", ["น้ำมันเย็น ไฟแดงติด"]),
    ("השמן קר. המים חמים.", ["השמן קר.", "המים חמים."]),
]
LISTS = [
    ("1. Press the pedal.\n2. Turn the key.", ["Press the pedal.", "Turn the key."]),
    ("Do this: 1. Press it down. 2. Turn the key.", ["Do this: 1. Press it down.", "Turn the key."]),
    (
        "- **Oil:** every 15,000 km\n* Filter: each year\n• Belts",
        ["**Oil:** every 15,000 km", "Filter: each year", "Belts"],
    ),
    ("a) one is red\n   and stays on\nb) two is green", ["one is red\n   and stays on", "two is green"]),
    ("- Engine oil:\n  - petrol: 4.5 l\n  - diesel: 5.1 l", ["petrol: 4.5 l", "diesel: 5.1 l"]),
    ("- [x] checked the oil\n- [ ] check the air", ["checked the oil", "check the air"]),
    ("1. **Oil**\n2. **Air**", ["Oil", "Air"]),
    ("1. **The oil**\n   It is changed each year.", ["It is changed each year."]),
    ("(480) thousand was the loss.", ["(480) thousand was the loss."]),
    ("5. Mai war ein Montag.", ["5. Mai war ein Montag."]),
    ("Include the following. 1. Oil is low.\n\n2.", ["Include the following.", "Oil is low."]),
    ("> The oil is cold.\n> It stays cold.", ["The oil is cold.", "It stays cold."]),
    (
        "The tank of this car holds rather more than forty-five litres\nand a reserve.",
        ["The tank of this car holds rather more than forty-five litres\nand a reserve."],
    ),
    ("Sales 2017: 5\nSales 2018: 6", ["Sales 2017: 5", "Sales 2018: 6"]),
    ("①油很冷的。\n②水很热的。", ["油很冷的。", "水很热的。"]),
    ("Step 1: Press the pedal.\nStep 2: Turn the key.", ["Press the pedal.", "Turn the key."]),
]
TABLES = [
    ("| Item | 2017 |\n|---|---|\n| Revenue | 41,287 |", ["| Revenue | 41,287 |"]),
    (
        "Item | 2017\n--- | ---:\nRevenue | 41,287\nCosts | 3\n\nIt rose.",
        ["Revenue | 41,287", "Costs | 3", "It rose."],
    ),
    ("| Item | 2017 |\n| Revenue | 41,287 |\n| Costs | 3 |", ["| Revenue | 41,287 |", "| Costs | 3 |"]),
    ("| a | b |\n|---|---|\n| **Assets** | |\n| Cash | none |", ["| Cash | none |"]),
    ("Revenue\t41,287\t39,000\nCosts\t3\t4", ["Revenue\t41,287\t39,000", "Costs\t3\t4"]),
]
NO_CLAIMS = [
    ("## Sales\n\nSales rose in 2017.", ["Sales rose in 2017."]),
    ("Sales\n=====\nThey rose in 2017.\n\n---\n\nCosts fell.", ["They rose in 2017.", "Costs fell."]),
    ("**Sales in 2017**\n\nThey rose.", ["They rose."]),
    ("**Sales rose in 2017.**\n\nCosts fell.", ["Sales rose in 2017.", "Costs fell."]),
    ("**Sales rose to 5**", ["Sales rose to 5"]),
    ("Signal Conditioning\nThe signal is filtered.", ["The signal is filtered."]),
    ("Use this:\n```\nrun it now\n```\nIt prints a table.", ["It prints a table."]),
    ("```markdown\nThe oil is cold.\n```\nIt is red.", ["The oil is cold.", "It is red."]),
    ("The oil is cold.\n~~~sh\nrm it now", ["The oil is cold."]),
    ("Sure! Here is the answer:\nThe oil is cold.", ["The oil is cold."]),
    ("Here's the answer: The oil is cold. I hope this helps!", ["The oil is cold."]),
    ("Hello! Great question. The oil is cold. Let me know if you need more.", ["The oil is cold."]),
    ("Sure, I can answer your question based on the document. The oil is cold.", ["The oil is cold."]),
    ("As a helpful assistant, I can provide information on oil. It is cold.", ["It is cold."]),
    ("I can see the mark at 5 litres.", ["I can see the mark at 5 litres."]),
    ("Dear Sir,\nThe oil is cold.\nBest regards,\nX", ["The oil is cold."]),
    ("Thanks to its two pumps the oil is cold.", ["Thanks to its two pumps the oil is cold."]),
    ("If you need more power, shift down.", ["If you need more power, shift down."]),
    ("Yes, the oil is cold.", ["the oil is cold."]),
    ("No. The oil is cold.", ["The oil is cold."]),
    ("No. 5 is the oil.", ["No. 5 is the oil."]),
    ("Nein, das Öl ist kalt. Gern geschehen!", ["das Öl ist kalt."]),
    ("Based on the provided context, the oil is cold.", ["the oil is cold."]),
    ("According to the manual, the oil is cold.", ["the oil is cold."]),
    ("The document states that the oil is cold.", ["the oil is cold."]),
    ("Answer: 4.5 l", ["4.5 l"]),
    ("42", ["42"]),
    ("The oil is cold. Sources: manual p. 3", ["The oil is cold."]),
    ("The oil is cold.\n\nSources:\n- manual, page 3\n- bulletin", ["The oil is cold."]),
    ("The oil is cold.\n**Quellen:** Handbuch, S. 3", ["The oil is cold."]),
    ("The oil is cold (see section 4.1).", ["The oil is cold"]),
    (
        "The oil is cold [page 3], as is air (see the sun).",
        ["The oil is cold [page 3], as is air (see the sun)."],
    ),
    ("The oil is cold (3M_2018_10K, page 45).", ["The oil is cold"]),
    ("It takes a while (1.5 s, or 2 s).", ["It takes a while (1.5 s, or 2 s)."]),
    (
        "<p>The oil is <b>cold</b>.</p><ul><li>Red lamp</li><li>Hot air<br/></li></ul>",
        ["The oil is <b>cold", "Red lamp", "Hot air"],
    ),
    ("Is 3 < 4 and <c> 5?\nIt is 3 < 4 and 5 > 4.", ["It is 3 < 4 and 5 > 4."]),
    ("<think>\nMaybe the oil is hot.\n</think>\nThe oil is cold.", ["The oil is cold."]),
    ("<think>Maybe the oil is hot.", []),
    ("The oil is cold【4:0†source】.", ["The oil is cold"]),
    ("I don't know.", []),
    ("No costs are listed for 2016 in the provided context. It is red.", ["It is red."]),
    ("The context does not mention the oil. It is red.", ["It is red."]),
    ("The text does not give a date, but the oil is cold.", ["the oil is cold."]),
    ("The oil is cold and red, but its age is not stated in the context.", ["The oil is cold and red"]),
    ("Das Handbuch enthält keine Angaben dazu. Es ist rot.", ["Es ist rot."]),
    ("Le contexte ne précise pas la date. Il est rouge.", ["Il est rouge."]),
    ("", []),
    (" \n\t", []),
    ("...", []),
]
CLAUSES = [
    (
        "The engine holds 5.1 litres; the gearbox holds 1.9 litres.",
        ["The engine holds 5.1 litres", "the gearbox holds 1.9 litres."],
    ),
    ("It is red; loud.", ["It is red; loud."]),
    (
        "Red is one new oil; blue is one new fuel; and none is green.",
        ["Red is one new oil", "blue is one new fuel; and none is green."],
    ),
    (
        "It is sold in: the old city here; all of the north; South Sudan too.",
        ["It is sold in: the old city here; all of the north; South Sudan too."],
    ),
    ("It is " + "a b c; " * 30 + "d.", ["It is " + "a b c; " * 30 + "d."]),
    (
        "It is hot (the oil is red; the air is blue) now.",
        ["It is hot (the oil is red; the air is blue) now."],
    ),
    ("You can do the following: \n\n1.", []),
    ("The approach has these three parts:\n\n1.", ["The approach has these three parts"]),
    ("Signal filters\n3.", ["Signal filters"]),
    ("Total:\n12", ["12"]),
]


@pytest.mark.parametrize(("answer", "claims"), SENTENCES + LISTS + TABLES + NO_CLAIMS + CLAUSES)
def test_claims(answer: str, claims: list[str] | None) -> None:
    found = split_claims(answer)
    assert all(answer[claim.start : claim.end] == claim.text for claim in found)
    assert [claim.text for claim in found] == claims


@pytest.mark.parametrize(
    "answer",
    [
        "What does the oil cost in 2017?\nThe oil costs 5 EUR.",
        "What does the oil cost in 2017\nThe oil costs 5 EUR.",
        "Question: What does the oil cost in 2017?\nAnswer: The oil costs 5 EUR.",
        "What does the new oil cost in 2017. The oil costs 5 EUR.",
    ],
)
def test_a_repeated_question_is_no_claim(answer: str) -> None:
    found = claims_in(answer, question="What does the oil cost in 2017?").claims
    assert [claim.text for claim in found] == ["The oil costs 5 EUR."]


def test_an_answer_in_the_question_s_words_is_a_claim() -> None:
    found = claims_in("The battery is under the floor.", question="Is the battery under the floor?").claims
    assert len(found) == 1


def test_kinds() -> None:
    answer = "It is red.\n\n- one item\n\n| a | 5 |\n|---|---|\n| b | 6 |\n\nThe oil is cold; the air is hot."
    assert [claim.kind for claim in split_claims(answer)] == [
        "sentence",
        "item",
        "row",
        "clause",
        "clause",
    ]


def test_citations_and_refusals_are_no_part_of_claims() -> None:
    answer = "The oil is cold [c1]. It is red [2][3] now. Not in context! citations: [c1, c2]"
    blanked = claims_of(answer, answer.lower(), [("c1", "c2")], ["not in context"])
    split = claims_in(answer, "Is it?", blanked=blanked)
    assert [claim.text for claim in split.claims] == ["The oil is cold", "It is red [2][3] now."]
    assert all(answer[claim.start : claim.end] == claim.text for claim in split.claims)
    assert [split.text[claim.start : claim.end].split() for claim in split.claims] == [
        ["The", "oil", "is", "cold"],
        ["It", "is", "red", "now."],
    ]
    assert split.note == ""


def test_a_long_answer_is_cut_with_a_note() -> None:
    many = claims_in("The oil is cold. " * (MOST_CLAIMS + 1))
    assert len(many.claims) == MOST_CLAIMS
    assert many.note == f"only the first {MOST_CLAIMS:,} claims were checked"
    assert not claims_in("The oil is cold. " * MOST_CLAIMS).note
    long = claims_in("The oil is cold. " + "A b " * MOST_TEXT)
    assert [claim.text for claim in long.claims] == ["The oil is cold."]
    assert long.note == f"only the first {MOST_TEXT:,} characters of the answer were checked"


def test_a_claim_is_bounded() -> None:
    answer = "1,234 " * 10_000 + "x" * 5_000
    found = split_claims(answer)
    assert max(len(claim.text) for claim in found) <= LONGEST_CLAIM
    assert "".join("".join(claim.text for claim in found).split()) == answer.replace(" ", "")


PIECES = [
    "The oil is cold",
    "a",
    "A ",
    "5",
    "1.",
    ". ",
    ".",
    "! ",
    "? ",
    "; ",
    ": ",
    "\n",
    "\n\n",
    "\r\n",
    "* ",
]
PIECES += [
    "- ",
    "**",
    "_",
    "`",
    "```",
    "| ",
    "|",
    "---",
    "#",
    "# ",
    "(",
    ")",
    "[",
    "]",
    '"',
    "'",
    " '",
    "“",
    "”",
]
PIECES += [
    "„",
    "«",
    "。",
    "「",
    "」",
    "；",
    "।",
    "؟",
    "z. B. ",
    "Dr. ",
    "no. ",
    "【",
    "†",
    "】",
    ">",
    "\t",
    " ",
]
PIECES += ["\u2028", "e.g. ", "Sources:", "Yes, ", "Answer: ", "not in the provided context", ", but "]
PIECES += ["<think>", "</think>", "<br>", "<p ", "(a, page 3)", "see page 3", "ي", "İ", "ß", "😀"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join), st.booleans())
def test_any_text_is_split(answer: str, is_cited: bool) -> None:
    blanked = claims_of(answer, answer.lower(), [("5",)]) if is_cited else None
    split = claims_in(answer, "The oil is cold", blanked=blanked)
    assert len(split.text) == len(answer)
    end = 0
    for claim in split.claims:
        assert answer[claim.start : claim.end] == claim.text
        assert end <= claim.start < claim.end
        assert re.search(r"\w", split.text[claim.start : claim.end])
        end = claim.end


@pytest.mark.parametrize(
    "unit", sorted({*PIECES, "a;", "A\n", "A. ", "**a", "(a ", "'a ", "(see 1", "[1", "1 ", "a.b"})
)
def test_monotonous_text_is_split(unit: str) -> None:
    """Keep an eye on the time: a pattern that is not linear takes minutes for one of these."""
    answer = unit * (50_000 // len(unit))
    for claim in claims_in(answer, "a").claims:
        assert answer[claim.start : claim.end] == claim.text
