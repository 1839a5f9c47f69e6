"""The cause of each kind of outcome, what goes before what, and the order by harm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from proofspan.contracts.records.records import Attachment, GoldQuestion, Label
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
    ClaimEvidence,
    ClaimStatus,
    DifferenceKind,
)
from proofspan.diagnosis.labelling import GROUNDED, NOT_ALIGNED, REFUSAL_SUSPECT, VIOLATED
from proofspan.diagnosis.types import Profile, ReportRow, Signals
from proofspan.diagnosis.verdicts.instructions import instructs
from proofspan.diagnosis.verdicts.judge import Case, judge
from proofspan.diagnosis.verdicts.types import (
    CAUSES,
    Cause,
    Correct,
    Correctness,
    GoldPart,
    GoldTrail,
    Holding,
    PartPlace,
    TrailStage,
    Verdict,
)
from proofspan.traces.records.chunks import Place
from tests.made_traces import made_trace

GOLD = GoldQuestion("Q1", "How much oil does the engine take?", answer="5.1 litres")
NO_ANSWER = GoldQuestion("Q1", "What does the service cost?", answerable=False)
OIL = "The engine takes 5.1 litres of oil."
WARNING = Attachment(
    "w-1", "warning", "manual", "7.3", 57, text="Hot oil that is drained burns the skin. See a doctor."
)


def claims(
    *statuses: ClaimStatus,
    text: str = OIL,
    kind: DifferenceKind = "number",
    found: str = "The engine takes 4.3",
) -> CheckedAnswer:
    evidence = ClaimEvidence("prompt", "c2", 0, len(found), found, "manual", 84)
    difference = ClaimDifference(kind, "5.1 litres", 17, 27, "4.3 litres", 10, 20)
    return CheckedAnswer(
        tuple(
            CheckedClaim(
                Claim(text, 0, len(text), "sentence"),
                status,
                {"supported": 0.9, "derived": 0.8, "differs": 0.1}.get(status, 0.2),
                evidence,
                (difference,) if status == "differs" else (),
            )
            for status in statuses
        )
    )


def trail(*parts: Mapping[TrailStage, Holding], by: Any = "text") -> GoldTrail:
    """Return a trail: for each part the stages of the trace, with what they hold."""
    return GoldTrail(
        tuple(
            GoldPart(
                f"Passage {number}: 5.1 litres.",
                "manual",
                84 + number,
                {
                    stage: PartPlace(
                        holding,
                        {"held": 1.0, "part": 0.4}.get(holding, 0.0),
                        None if holding == "absent" or stage == "corpus" else 2,
                        None if holding == "absent" else "c1",
                        0,
                        10 if holding == "held" else 0,
                    )
                    for stage, holding in places.items()
                },
            )
            for number, places in enumerate(parts)
        ),
        by,
    )


HELD = trail({"corpus": "held", "retrieved": "held", "prompt": "held"})
LOST = trail({"corpus": "held", "retrieved": "absent", "prompt": "absent"})


def judged(
    correct: Correct = "unknown",
    checked: CheckedAnswer | None = None,
    *,
    answer: str = OIL,
    label: tuple[Label, str] = GROUNDED,
    gold: GoldQuestion | None = GOLD,
    suspicions: tuple[str, ...] = (),
    record: Mapping[str, object] = {},
    profile: Profile = Profile("none"),  # noqa: B008 - frozen
    found: GoldTrail | None = None,
    follows: bool = True,
    omitted: tuple[Attachment, ...] = (),
    **more: Any,
) -> Verdict:
    chunks = [{"id": "c1"}, {"id": "c2"}]
    trace = made_trace({"q_id": "Q1", "q": GOLD.q, "answer": answer, "chunks": chunks} | dict(record))
    row = ReportRow(trace.q, *label, trace.chunk_ids, (), Signals(), suspicions, "Q1")
    places = {"c1": Place("manual", "7.3", 84), "c2": Place("manual", "7.4", 84)}
    correctness = Correctness(correct, **more)
    return judge(Case(trace, row, profile, checked, gold, correctness, found, places, omitted, follows))


REFUSED: dict[str, Any] = {"answer": "not in context", "label": REFUSAL_SUSPECT, "checked": CheckedAnswer()}
CASES: Mapping[str, tuple[Cause, Callable[[], Verdict]]] = {
    "declines rightly": ("none", lambda: judged("declined_rightly", gold=NO_ANSWER, **REFUSED)),
    "declines, no gold": ("none", lambda: judged("unknown", gold=None, **REFUSED)),
    "declines, held": ("over_refusal", lambda: judged("declined_wrongly", found=HELD, **REFUSED)),
    "declines, held by page": (
        "over_refusal",
        lambda: judged("declined_wrongly", found=HELD._replace(by="page"), **REFUSED),
    ),
    "declines, never retrieved": (
        "missed_top_ranked",
        lambda: judged("declined_wrongly", found=LOST, **REFUSED),
    ),
    "declines, dropped": (
        "not_in_context",
        lambda: judged(
            "declined_wrongly",
            found=trail({"retrieved": "held", "fused": "held", "reranked": "absent", "prompt": "absent"}),
            **REFUSED,
        ),
    ),
    "declines, cut": (
        "not_in_context",
        lambda: judged("declined_wrongly", found=trail({"retrieved": "part", "prompt": "part"}), **REFUSED),
    ),
    "declines, another text of the page": (
        "not_in_context",
        lambda: judged(
            "declined_wrongly",
            found=trail({"corpus": "held", "retrieved": "same_page", "prompt": "same_page"}),
            **REFUSED,
        ),
    ),
    "declines, in no chunk": (
        "missing_content",
        lambda: judged(
            "declined_wrongly",
            found=trail({"corpus": "same_page", "retrieved": "same_page", "prompt": "same_page"}),
            **REFUSED,
        ),
    ),
    "correct": ("none", lambda: judged("correct", claims("supported"), found=HELD)),
    "correct, other words than its evidence": (
        "unsupported",
        lambda: judged("correct", claims("unsupported")),
    ),
    "correct, nothing cited": (
        "wrong_format",
        lambda: judged("correct", claims("supported"), label=VIOLATED, profile=Profile()),
    ),
    "without evidence, nothing cited": (
        "unsupported",
        lambda: judged("correct", claims("unsupported"), label=VIOLATED, profile=Profile()),
    ),
    "correct, no answer of the run cites": (
        "none",
        lambda: judged("correct", claims("supported"), label=VIOLATED, profile=Profile(), follows=False),
    ),
    "correct, cites what was not retrieved": (
        "bad_citation",
        lambda: judged(
            "correct",
            claims("supported"),
            suspicions=("citation_outside_retrieved",),
            record={"citations": [{"chunk_id": "c9"}]},
        ),
    ),
    "correct, cites another page": (
        "bad_citation",
        lambda: judged(
            "correct",
            claims("supported"),
            record={
                "chunks": [{"id": "c1", "page_idx": 85}, {"id": "c2"}],
                "citations": [{"chunk_id": "c1", "doc_id": "manual", "page": 86}],
            },
        ),
    ),
    "correct, cites the page on which its chunk ends": (
        "none",
        lambda: judged(
            "correct",
            claims("supported"),
            record={
                "chunks": [{"id": "c1", "page_idx": 84}, {"id": "c2"}],
                "citations": [{"chunk_id": "c1", "doc_id": "manual", "page": 86}],
            },
        ),
    ),
    "contradicted": ("contradicted", lambda: judged("wrong", claims("supported", "differs"), is_figure=True)),
    "contradicted, correct by its figure": ("contradicted", lambda: judged("correct", claims("differs"))),
    "unanswerable": (
        "answered_unanswerable",
        lambda: judged("wrong", claims("supported"), gold=NO_ANSWER),
    ),
    "wrong subject": (
        "wrong_source",
        lambda: judged("wrong", claims("supported"), label=NOT_ALIGNED, found=LOST),
    ),
    "another document's figure": (
        "wrong_source",
        lambda: judged(
            "wrong",
            claims("supported"),
            is_figure=True,
            found=LOST._replace(parts=(LOST.parts[0]._replace(doc_id="bulletin"),)),
            reason="it says 4.3 where 5.1 is expected",
        ),
    ),
    "another year's figure": (
        "wrong_source",
        lambda: judged(
            "wrong",
            claims("supported", found="In 2016 the engine took 4.3 litres."),
            record={"q": "How much oil did the engine take in 2017?"},
            is_figure=True,
            found=HELD,
        ),
    ),
    "another figure of the prompt": (
        "not_extracted",
        lambda: judged("wrong", claims("supported"), is_figure=True, found=HELD),
    ),
    "the page says what the answer says": (
        "gold_suspect",
        lambda: judged(
            "wrong",
            claims("supported"),
            is_figure=True,
            found=GoldTrail(
                (GoldPart("4.3 litres", "manual", 84, {"prompt": PartPlace("held", 1.0, 2, "c2", 5, 18)}),),
                "text",
            ),
        ),
    ),
    "wrong, never retrieved": (
        "missed_top_ranked",
        lambda: judged("wrong", claims("supported"), found=LOST),
    ),
    "wrong, invented": ("missed_top_ranked", lambda: judged("wrong", claims("unsupported"), found=LOST)),
    "wrong, held": ("not_extracted", lambda: judged("wrong", claims("supported"), found=HELD)),
    "partly, one of two passages": (
        "incomplete",
        lambda: judged(
            "partly",
            claims("supported"),
            found=trail({"prompt": "held"}, {"retrieved": "absent", "prompt": "absent"}),
            missing=("the second",),
        ),
    ),
    "partly, all held": (
        "incomplete",
        lambda: judged("partly", claims("supported"), found=HELD, missing=("every 12 months",)),
    ),
    "partly, nobody knows what the prompt held": (
        "incomplete",
        lambda: judged("partly", claims("supported"), missing=("every 12 months",)),
    ),
    "wrong, nobody knows what the prompt held": (
        "not_extracted",
        lambda: judged("wrong", claims("supported"), found=trail({"retrieved": "held"})),
    ),
    "rounded": (
        "incorrect_specificity",
        lambda: judged("partly", claims("supported"), is_rounded=True, found=HELD),
    ),
    "unsupported, no gold": ("unsupported", lambda: judged("unknown", claims("unsupported"), gold=None)),
    "unsupported in part": (
        "unsupported",
        lambda: judged("unknown", claims("supported", "unsupported"), gold=None),
    ),
    "supported, no gold": ("none", lambda: judged("unknown", claims("supported"), gold=None)),
    "supported, undecided, never retrieved": (
        "missed_top_ranked",
        lambda: judged("unknown", claims("supported"), found=LOST),
    ),
    "an instruction without its warning": (
        "unsafe_omission",
        lambda: judged(
            "correct", claims("supported", text="Drain the oil while it is warm."), omitted=(WARNING,)
        ),
    ),
    "an instruction with another warning": (
        "none",
        lambda: judged("correct", claims("supported", text="Lock the doors."), omitted=(WARNING,)),
    ),
    "a statement without a warning": (
        "none",
        lambda: judged("correct", claims("supported"), omitted=(WARNING,)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_the_first_failure(name: str) -> None:
    expected, make = CASES[name]
    assert make().cause == expected


def test_every_cause_has_a_case() -> None:
    assert {cause for cause, _ in CASES.values()} == set(CAUSES)


def test_sentences(golden: Callable[[str, str], None]) -> None:
    lines = []
    for name, (_, make) in CASES.items():
        found = make()
        lines += [
            f"{name}: {found.cause}, {found.certainty}",
            f"  {found.sentence}",
            f"  → {found.next_step}",
        ]
    golden("verdicts/causes", "\n".join(lines))


def test_harm_orders_causes() -> None:
    ordered = (
        "an instruction without its warning",
        "contradicted",
        "another document's figure",
        "unanswerable",
        "unsupported, no gold",
        "declines, held",
        "partly, all held",
        "declines, never retrieved",
        "supported, no gold",
        "correct",
    )
    harms = [CASES[name][1]().harm for name in ordered]
    assert harms == sorted(harms)


@pytest.mark.parametrize("found", [LOST, HELD, None])
def test_a_wrong_answer_is_above_a_declined_one(found: GoldTrail | None) -> None:
    wrong = judged("wrong", claims("supported"), found=found)
    declined = judged("declined_wrongly", found=found, **REFUSED)
    assert wrong.harm < declined.harm


@pytest.mark.parametrize("status", ["differs", "unsupported"])
def test_what_lacks_support_is_never_good(status: ClaimStatus) -> None:
    for correct in ("correct", "unknown"):
        found = judged(correct, claims(status))  # type: ignore[arg-type]
        assert found.grounded in ("contradicted", "no")
        assert found.cause != "none"
        assert found.harm < judged("correct", claims("supported")).harm


def test_untrusted_text_is_cut_and_on_one_line() -> None:
    long = "<b>x</b>\n" * 500
    found = judged("unknown", claims("unsupported", text=long), gold=None)
    assert "\n" not in found.sentence
    assert len(found.sentence) < 300


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Clamp the other end of the black lead to the bare lug.", True),
        ("1. Press the button.", True),
        ("Before you start, switch the engine off.", True),
        ("Then pull at the seat.", True),
        ("You must fasten the belt.", True),
        ("Never touch the fan.", True),
        ("Drücken Sie die Taste.", True),
        ("Appuyez sur le bouton.", True),
        ("The distance between the marks is 1.0 litre.", False),
        ("Downhill, cruise control brakes with the engine only.", False),
        ("Up to the age of 15 months a child must be carried facing the rear.", False),
        ("A baby carried in arms would be crushed.", False),
        ("Die Anlage hat 5 Sicherungen.", False),
        ("", False),
    ],
)
def test_instructions(sentence: str, expected: bool) -> None:
    assert instructs(sentence) is expected
