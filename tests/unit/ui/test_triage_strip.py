"""The strip of outcomes on Triage: its groups, what each keeps, and the bar."""

from __future__ import annotations

from typing import get_args

import pytest

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.messages import CAUSE_MEANINGS
from proofspan.diagnosis.verdicts.judge import CAUSE_STEPS
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, Cause, Correct
from proofspan.display_names import CAUSE_NAMES
from proofspan.resources import text_of
from proofspan.store.query.filters import Filter
from proofspan.ui.triage.outcomes import Group, cause_groups, label_groups, pending
from proofspan.ui.widgets.markup import bar

COUNTS: dict[tuple[Cause | None, Correct | None], int] = {
    ("none", "correct"): 7,
    ("none", "declined_rightly"): 2,
    ("none", "unknown"): 3,
    ("contradicted", "wrong"): 2,
    ("contradicted", "unknown"): 1,
    ("over_refusal", "declined_wrongly"): 4,
    (None, None): 5,
}


def test_causes_come_most_harmful_first_and_what_has_none_by_correctness() -> None:
    groups = cause_groups(COUNTS)
    assert [(group.key, group.questions) for group in groups] == [
        *(("contradicted", 3), ("over_refusal", 4), ("unknown", 3), ("declined", 2), ("correct", 7)),
        ("unjudged", 5),
    ]
    assert sum(group.questions for group in groups) == sum(COUNTS.values())


@pytest.mark.parametrize("group", cause_groups(COUNTS), ids=lambda group: group.key)
def test_a_group_keeps_as_many_questions_as_it_counts(group: Group) -> None:
    causes, correct = group.change.get("cause", ()), group.change.get("correct", ())
    kept = sum(
        count
        for (cause, value), count in COUNTS.items()
        if cause in causes and (not correct or value in correct)
    )
    assert kept == (group.questions if group.change else 0)


def test_while_verdicts_are_made_those_of_the_rows_are_counted_and_the_rest() -> None:
    assert [(group.key, group.questions) for group in pending(COUNTS, 41)] == [
        *((group.key, group.questions) for group in cause_groups(COUNTS)),
        ("unjudged", 17),
    ]
    assert [(group.key, group.questions) for group in pending({}, 41)] == [("unjudged", 41)]
    assert pending(COUNTS, 24) == cause_groups(COUNTS) and not pending({}, 0)


def test_a_group_is_chosen_alone_or_among_others() -> None:
    groups = {group.key: group for group in cause_groups(COUNTS)}
    both = Filter("R", cause=("contradicted", "over_refusal"))
    assert [key for key, group in groups.items() if group.is_chosen(both)] == ["contradicted", "over_refusal"]
    right = Filter("R", cause=("none",), correct=("correct",))
    assert [key for key, group in groups.items() if group.is_chosen(right)] == ["correct"]
    assert not any(group.is_chosen(Filter("R")) for group in groups.values())
    narrower = Filter("R", cause=("contradicted",), correct=("wrong",))
    assert not any(group.is_chosen(narrower) for group in groups.values())


def test_a_group_says_how_many_more_there_are_also_where_none_are_left() -> None:
    moved = [("contradicted", "none", 2), ("over_refusal", "over_refusal", 1), ("none", "incomplete", 1)]
    groups = {group.key: group for group in cause_groups({("incomplete", "partly"): 1}, moved)}
    assert {key: group.more for key, group in groups.items()} == {"contradicted": -2, "incomplete": 1}
    assert groups["contradicted"].questions == 0


def test_without_verdicts_groups_are_labels_and_all_are_there() -> None:
    counts = dict.fromkeys(LABELS, 0) | {"ok": 3, None: 2}
    groups = label_groups(counts)
    assert [group.key for group in groups] == [*LABELS, "unjudged"]
    assert groups[-2].change == {"label": ("ok",)}
    assert [group.key for group in label_groups(counts | {None: 0})] == list(LABELS)


def test_every_cause_has_a_name_a_meaning_a_step_and_a_colour() -> None:
    styles = text_of("ui/triage/triage.css")
    assert set(CAUSE_NAMES) == set(CAUSE_MEANINGS) == set(CAUSE_STEPS) == set(CAUSES) == set(get_args(Cause))
    keys = [*CAUSES[:-1], *LABELS, "unknown", "declined", "correct", "unjudged"]
    assert all(f".ps-part-{key}," in styles for key in keys)
    assert len(CORRECT) == 6


def test_a_bar_takes_only_names_of_ours_and_shows_foreign_words_as_text() -> None:
    drawn = bar([("correct", 3, "<b>Correct</b> 3"), ("unknown", 0, "Not known 0")]).html
    assert 'class="ps-part-correct" style="flex-grow: 3"' in drawn
    assert "ps-part-unknown" not in drawn, "nothing takes no room"
    assert "<b>" not in drawn and "&lt;b&gt;Correct" in drawn
    for name, count in (('x" onload="', 1), ("a b", 1), ("correct", "1; color: red")):
        with pytest.raises(ValueError, match="names of our own"):
            bar([(name, count, "")])  # type: ignore[list-item]
