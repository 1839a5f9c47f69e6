"""How claims are checked against what the answerer saw: support, best evidence, status."""

from __future__ import annotations

from proofspan.contracts.records.records import NOWHERE, Trace
from proofspan.diagnosis.claims.check import SUPPORTED, Checker, check_answer
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import MOST_CLAIMS
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import CheckedAnswer
from proofspan.diagnosis.claims.units import units_of
from proofspan.diagnosis.claims.word_forms import forms, language_of
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.chunks import Place
from proofspan.traces.records.trace_record import trace_from

CHUNKS = {
    "brakes": "The parking brake holds the car on slopes of up to 20 percent. "
    "Release it before you drive off. If the warning lamp stays on, have the brake checked by a workshop.",
    "oil": "Check the engine oil every 1,000 km. The engine holds 4.5 litres of oil. "
    "Never fill in more oil than the upper mark shows.",
    "tyres": "The tyre pressure is 2.4 bar in front and 2.2 bar at the rear.",
    "winter": "Winter tyres must have a tread of at least 4 mm. Snow chains fit the front wheels only.",
}
PLACES = {name: Place("manual", None, page) for page, name in enumerate(CHUNKS)}


def check(answer: str, *ids: str, **more: object) -> CheckedAnswer:
    """Check an answer to whose prompt some chunks belonged, by default the first two."""
    record = {"q": "?", "answer": answer, "chunks": [{"id": each} for each in ids or ("brakes", "oil")]}
    trace = trace_from(record | more, NOWHERE, run_id="R")
    assert isinstance(trace, Trace)
    return Checker(CHUNKS, Corpus(CHUNKS).survey, PLACES).check(trace, Profile(template="none"))


def test_a_sentence_of_the_source_is_supported_by_it() -> None:
    checked = check("The engine holds 4.5 litres of oil.")
    (claim,) = checked.claims
    assert claim.status == "supported" and claim.support >= 0.95
    evidence = claim.evidence
    assert evidence is not None and evidence.chunk_id == "oil" and evidence.page_idx == 1
    assert (
        evidence.text == CHUNKS["oil"][evidence.start : evidence.end] == "The engine holds 4.5 litres of oil."
    )


def test_what_no_source_says_is_unsupported() -> None:
    checked = check("The radio plays music from a telephone through the loudspeakers.")
    assert checked.claims[0].status == "unsupported" and checked.claims[0].support < SUPPORTED
    assert checked.support is not None and checked.support < SUPPORTED


def test_a_refusal_claims_nothing() -> None:
    assert check("not in context") == check("") == CheckedAnswer()


def test_evidence_outside_the_prompt_is_named_as_such() -> None:
    chains = "Snow chains fit the front wheels only."
    assert check(chains).claims[0].status == "unsupported"
    stages = {"retrieved": [{"id": "brakes"}, {"id": "winter"}]}
    retrieved = check(chains, stages=stages).claims[0]
    assert retrieved.status == "supported"
    assert retrieved.evidence is not None and retrieved.evidence.origin == "retrieved"
    cited = check(chains, citations=[{"doc_id": "manual", "page_idx": 3}]).claims[0]
    assert cited.evidence is not None and cited.evidence.origin == "cited_page"
    # The prompt comes first wherever it is good enough.
    assert check(chains, "winter", stages=stages).claims[0].evidence.origin == "prompt"  # type: ignore[union-attr]


def test_the_weakest_claim_leads_the_answer() -> None:
    good = "The engine holds 4.5 litres of oil."
    mixed = check(good + " The radio plays music from a telephone.")
    scores = [claim.support for claim in mixed.claims]
    assert mixed.support == round((min(scores) + sum(scores) / 2) / 2, 4)
    assert [good] == [claim.claim.text for claim in mixed.claims if claim.status == "supported"]


def test_units_are_sentences_items_and_rows() -> None:
    text = (
        "Open the lid. Close it\nslowly.\n\n- First item\n- Second item\n\n"
        "| Part | Torque |\n|---|---|\n| Bolt | 9 Nm |"
        "\n\nOrganic growth\n \n 0.3\n \n(1.5)\n \nCash flow 12,480 (3,210) 16 %\n"
    )
    assert [text[unit.start : unit.end] for unit in units_of(text)] == [
        "Open the lid.",
        "Close it\nslowly.",
        "- First item",
        "- Second item",
        "| Part | Torque |",
        "| Bolt | 9 Nm |",
        "Organic growth\n \n 0.3\n \n(1.5)",
        "Cash flow 12,480 (3,210) 16 %",
    ]


def test_languages_are_recognised_by_their_function_words() -> None:
    assert language_of("Release the brake before you drive off and check that it is free.") == "en"
    assert language_of("Lösen Sie die Bremse, bevor Sie mit dem Auto fahren.") == "de"
    assert language_of("Desserrez le frein avant de rouler avec la voiture.") == "fr"
    assert language_of("Отпустите тормоз") == "ru"
    assert language_of("4.5 l") is None


def test_forms_join_inflections() -> None:
    en, de, fr = forms("en"), forms("de"), forms("fr")
    assert en["operates"] == en["operating"] == en["operation"]
    assert en["Tyres"] == en["tyre"] and en["fell"] == en["fall"] and en["seven"] == "7"
    assert de["Bremsen"] == de["Bremse"] and de["Prüfung"] == de["prüfen"]
    assert fr["freins"] == fr["frein"] and fr["moteurs"] == fr["moteur"]


def test_a_word_cut_at_a_line_end_is_one_word() -> None:
    assert "accelerat" in SourceText("Release the acceler-\nator pedal slowly.").index


def test_without_sources_nothing_is_supported() -> None:
    (claim,) = check_answer("The engine holds oil.", [], Corpus({}).survey).claims
    assert claim.status == "unsupported" and claim.support == 0 and claim.evidence is None


FLAT = (
    "Company: TESSERA\nFiling: report\n\n(in millions) and tools at June 30 consisted of the following:"
    "\u00a02031 \u00a02030Land$412 \u00a0$398Buildings and fences9,310 \u00a09,288Gross works and tools"
    "21,733 \u00a020,914Less wear(8,002 )\u00a0(7,655)Total$13,731 \u00a0$13,259Wear was $640 , $610 and "
    "$590 for the years that ended on June 30, 2031, 2030 and 2029."
)


def test_a_table_without_line_breaks_has_its_rows() -> None:
    texts = [FLAT[unit.start : unit.end].replace("\u00a0", " ") for unit in units_of(FLAT)]
    at = texts.index("Land$412  $398")
    assert texts[at : at + 5] == [
        "Land$412  $398",
        "Buildings and fences9,310  9,288",
        "Gross works and tools21,733  20,914",
        "Less wear(8,002 ) (7,655)",
        "Total$13,731  $13,259",
    ]
    assert texts[at + 5].startswith("Wear was $640")


def test_the_row_with_the_figure_is_the_evidence() -> None:
    chunks = {"flat": FLAT, "other": "Works and tools, net, of all years are in the notes."}
    answer = "Tessera's works and tools, net, were $13,731 million in 2031."
    sources = [EvidenceSource("prompt", name, SourceText(text)) for name, text in chunks.items()]
    (claim,) = check_answer(answer, sources, Corpus(chunks).survey).claims
    assert claim.status == "supported"
    assert claim.evidence is not None and claim.evidence.text.startswith("Total$13,731")


def test_a_name_written_as_one_word_is_found_and_no_heading_is_evidence() -> None:
    chunks = {
        "rate": "Company: NORTHERNEXPRESS\nPeriod: 2032\n\nThe effective tax rate was 21.6 percent and 24.6 "
        "percent for 2032 and 2031, respectively. The reduction is due to single items.",
        "other": "Effects of currencies (3) (9) (1)\nBalance, December 31 $ 962 $ 1,024 $ 790",
    }
    answer = (
        "The effective tax rate of Northern Express decreased from 24.6% in FY2031 to 21.6% in FY2032, "
        "a change of -3.0 percentage points."
    )
    sources = [EvidenceSource("prompt", name, SourceText(text)) for name, text in chunks.items()]
    (claim,) = check_answer(answer, sources, Corpus(chunks).survey).claims
    assert (claim.status, claim.formula) == (
        "derived",
        "24.6 percent − 21.6 percent = 3.0 percentage points",
    )
    assert claim.evidence is not None and claim.evidence.text.startswith("The effective tax rate was")


TABLE = (
    "Table 3. Loads\nPlace Load at most\nBoot floor 120 kg\nGlove box 3 kg\nRoof rails 60 kg\n"
    "Trailer with brakes 1,200 kg\nTrailer without brakes 600 kg"
)


def statuses(answer: str, *texts: str, question: str = "") -> list[str]:
    """Check an answer against texts, by default the table, and return the statuses of its claims."""
    chunks = {str(number): text for number, text in enumerate(texts or (TABLE,))}
    sources = [EvidenceSource("prompt", name, SourceText(text)) for name, text in chunks.items()]
    checked = check_answer(answer, sources, Corpus(chunks).survey, question=question)
    return [claim.status for claim in checked.claims]


def test_the_figure_of_another_row_differs() -> None:
    assert statuses("The glove box may be loaded with 3 kg.") == ["supported"]
    assert statuses("The glove box may be loaded with 60 kg.") == ["differs"]
    assert statuses("A trailer with brakes may weigh 600 kg.") == ["differs"]
    assert statuses("A trailer without brakes may weigh 600 kg.") == ["supported"]


def test_figures_compare_by_value() -> None:
    assert statuses("The trailer with brakes may weigh 1.2 tonnes.") == ["supported"]
    assert statuses("The roof rails hold about 60,000 g.") == ["supported"]


def test_what_follows_by_arithmetic_is_derived() -> None:
    chunks = {"report": "Revenue was 8,412 million in 2024. Costs were 7,130 million in 2024."}
    sources = [EvidenceSource("prompt", "report", SourceText(chunks["report"]))]
    answer = "Revenue was 1,282 million more than the costs in 2024."
    (claim,) = check_answer(answer, sources, Corpus(chunks).survey).claims
    assert (claim.status, claim.formula) == ("derived", "8,412 million − 7,130 million = 1,282 million")


def test_a_claim_in_another_language_is_never_unsupported_for_its_words() -> None:
    (claim,) = check("Das Getriebe der Hinterachse wird nach der ersten Fahrt gespült.").claims
    assert claim.status == "other_language"
    (figures,) = check("Die Feststellbremse hält bis zu einer Steigung von 20 Prozent.").claims
    assert figures.status == "other_language" and figures.support == 1.0
    # Nothing in it can be compared, so that it decides nothing about the answer.
    assert check("Das Getriebe wird nach der ersten Fahrt nicht gespült.").support is None
    tank = "The tank of the car holds 48 litres when it is full, and the lamp comes on at the end."
    assert statuses("Der Tank fasst höchstens 58 Liter.", tank) == ["differs"]
    assert statuses("Der Tank fasst höchstens 48 Liter.", tank) == ["other_language"]


def test_nonsense_is_bounded_and_says_so() -> None:
    many = check(" ".join(f"Claim {number} says that lamp {number} glows." for number in range(5_000)))
    assert len(many.claims) <= MOST_CLAIMS and "claims" in many.note
    assert "characters" in check("word " * 400_000).note
    figures = check("The sizes are " + ", ".join(map(str, range(10_000))) + " mm.")
    assert all(0 <= claim.support <= 1 for claim in figures.claims)
    wide = "| " + " | ".join(f"c{number}" for number in range(400)) + " |\n"
    row = "| " + " | ".join(f"{number},5" for number in range(400)) + " |"
    assert len(statuses("The value of c7 is 7,5.", wide + row)) == 1
    assert statuses("גובה הרכב הוא 1.46 מטר.", CHUNKS["oil"]) == ["other_language"]


def test_words_that_share_no_sentence_support_less() -> None:
    together, apart = (
        check(words).support for words in ("Engine oil, slopes, parking", "Engine, slopes, oil, parking")
    )
    assert together is not None and apart is not None
    assert together > apart


def test_a_pronoun_needs_somebody_whom_the_question_names() -> None:
    source = EvidenceSource("prompt", "c", SourceText("Ada Byron wrote the first programme in 1843."))

    def support(question: str) -> float:
        checked = check_answer("She wrote a programme.", [source], Corpus({}).survey, question=question)
        return checked.claims[0].support

    assert support("What does it say?") < support("What did Ada Byron do?")
    # in small letters, or by a description, the question may name her
    assert support("what did ada do") == support("What did Ada Byron do?")
    assert support("What did the first known author do?") == support("What did Ada Byron do?")
