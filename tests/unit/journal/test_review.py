"""Verdicts of people beside each other and beside the rules."""

from __future__ import annotations

import pytest

from proofspan.journal.annotations import Annotation, Target, disputed, folded
from proofspan.services.review import RULES, agreement, progress

TARGETS = [Target("R1", f"Q{number}") for number in range(1, 6)]
RULED = {target: {"correct": "correct", "cause": "none", "label": "ok"} for target in TARGETS[:4]}


def verdict(place: int, author: str, correct: str | None = None, cause: str | None = None) -> Annotation:
    target = TARGETS[place - 1]
    agrees, at = correct is None and cause is None, "2026-02-27T10:00:00.000Z"
    own = Annotation("verdict", target, author, at, agrees=agrees, correct=correct, cause=cause)
    return Annotation(
        **{**{name: getattr(own, name) for name in own.__slots__}, "rules": RULED.get(target, {})}
    )


GIVEN = folded(
    [
        verdict(1, "Ada"),
        verdict(1, "Ben"),
        verdict(2, "Ada", correct="wrong"),
        verdict(2, "Ben", correct="partly"),
        verdict(3, "Ada", cause="incomplete"),
        verdict(5, "Ben", correct="wrong"),
    ]
)


def test_the_working_list_goes_on_with_the_first_unseen_answer() -> None:
    assert progress(GIVEN, TARGETS, "Ben") == ("Ben", 3, 5, TARGETS[2])
    assert progress(GIVEN, TARGETS, None) == (None, 4, 5, TARGETS[3])
    assert progress(GIVEN, TARGETS[:2], "Ada") == ("Ada", 2, 2, None)


def test_people_are_compared_with_each_other_and_with_the_rules_of_today() -> None:
    report = agreement(GIVEN, TARGETS, lambda target: RULED.get(target, {}), "correct")
    assert report.people == ("Ada", "Ben")
    assert (report.alpha.n, report.alpha.same) == (2, 1)
    assert [(each.one, each.other, each.kappa.n, each.kappa.same) for each in report.pairs] == [
        ("Ada", "Ben", 2, 1),
        ("Ada", RULES, 2, 1),
        ("Ben", RULES, 2, 1),
    ]
    assert [(each.target, dict(each.values)) for each in report.disagreements] == [
        (TARGETS[1], {"Ada": "wrong", "Ben": "partly", RULES: "correct"})
    ]
    assert report.by_rule == (("correct", 2, 1),)


def test_a_cause_is_compared_where_it_is_given() -> None:
    report = agreement(GIVEN, TARGETS, lambda target: RULED.get(target, {}), "cause")
    assert [each.target for each in report.disagreements] == [TARGETS[2]]
    assert report.by_rule == (("none", 2, 1),)
    assert [disputed(GIVEN.verdicts[target]) for target in (TARGETS[0], TARGETS[1])] == [False, True]
    with pytest.raises(KeyError):
        agreement(GIVEN, TARGETS, lambda target: {}, "colour")
