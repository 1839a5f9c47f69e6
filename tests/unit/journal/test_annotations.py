"""Annotations of answers: which lines count, whatever their order, and which are refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS
from proofspan.contracts.records.schemas import schema_alone
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT
from proofspan.errors import InputFault
from proofspan.journal.annotations import (
    Annotation,
    Target,
    annotations_of,
    append,
    folded,
    line_of,
    problems_of,
    read_annotations,
    refusal,
)
from proofspan.journal.lines import read_journal
from proofspan.manifest.types import Artifact, Manifest
from tests.places import CHECKOUT

Q80, Q97 = Target("R006", "Q80"), Target("R006", "Q97", paraphrase=1)
AGREES = Annotation("verdict", Q80, "Ada", "2026-02-27T10:00:00.000Z", agrees=True)
WRONG = Annotation("verdict", Q80, "Ada", "2026-02-27T10:00:01.000Z", agrees=False, correct="wrong")
NOTE = Annotation("note", Q97, "Ben", "2026-02-27T10:00:02.000Z", text="See <b>it</b>.", tags=("table",))


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return Manifest("W", tmp_path, annotations=Artifact("annotations", "notes.jsonl", kind="journal"))


def file_of(manifest: Manifest) -> Path:
    return manifest.folder / "notes.jsonl"


def test_the_schema_knows_the_values_of_verdicts() -> None:
    properties = schema_alone("annotation")["properties"]
    assert properties["correct"]["enum"] == list(CORRECT)
    assert properties["cause"]["enum"] == list(CAUSES)
    assert sorted(properties["label"]["enum"]) == sorted(LABELS)


def test_what_is_saved_is_read_again(manifest: Manifest) -> None:
    saved = append(manifest, AGREES, NOTE)
    saved += append(manifest, replace(NOTE, at=""))
    assert saved[-1].at > NOTE.at
    found = read_annotations(manifest)
    assert [replace(each, source=None) for each in found.entries] == list(saved)
    assert (found.issues, found.is_seen(Q80), found.is_seen(Q97)) == ((), True, False)
    assert append(manifest, AGREES) == saved[:1]  # a repeated save adds nothing
    assert len(file_of(manifest).read_bytes().splitlines()) == 3


def test_the_last_verdict_of_each_person_counts(manifest: Manifest) -> None:
    append(manifest, AGREES, WRONG, replace(AGREES, author="Ben"))
    verdicts = read_annotations(manifest).verdicts[Q80]
    assert {name: each.correct for name, each in verdicts.items()} == {"Ada": "wrong", "Ben": None}
    assert WRONG.value("correct") == "wrong"
    assert replace(AGREES, rules={"correct": "partly"}).value("correct") == "partly"
    assert replace(WRONG, rules={"cause": "incomplete"}).value("cause") is None


def test_a_line_is_withdrawn_by_its_own_author_alone(manifest: Manifest) -> None:
    (wrong, note) = append(manifest, WRONG, NOTE)
    at = "2026-02-28T10:00:00.000Z"
    append(manifest, Annotation("withdrawal", Q80, "Ben", at, withdraws=wrong.entry_id))
    assert read_annotations(manifest).is_seen(Q80)
    append(manifest, Annotation("withdrawal", Q80, "Ada", at, withdraws=wrong.entry_id))
    append(manifest, Annotation("withdrawal", Q97, "Ben", at, withdraws=note.entry_id))
    found = read_annotations(manifest)
    assert (found.is_seen(Q80), found.notes) == (False, {})


def test_notes_of_other_runs_are_known_newest_first(manifest: Manifest) -> None:
    earlier = replace(WRONG, target=Target("R005", "Q80"), at="2026-02-01T10:00:00.000Z")
    note = replace(NOTE, target=Target("R004", "Q80"))
    append(manifest, note, earlier, AGREES)
    found = read_annotations(manifest).of_question("Q80", but=Q80)
    assert [each.target.run_id for each in found] == ["R004", "R005"]


def test_the_last_assignment_counts(manifest: Manifest) -> None:
    assign = Annotation("assignment", Q80, "Ada", "2026-02-27T10:00:00.000Z", assignee="Ben")
    append(manifest, assign, replace(assign, target=Q97))
    append(manifest, replace(assign, target=Q97, assignee=None, at="2026-02-27T11:00:00.000Z"))
    assert read_annotations(manifest).assignees == {Q80: "Ben"}


@pytest.mark.parametrize(
    "bad",
    [
        replace(AGREES, author=""),
        replace(AGREES, author="Ada\x1b[31m"),
        replace(AGREES, author="Ada\nBen"),
        replace(AGREES, author="A" * 101),
        replace(WRONG, correct="terrible"),
        replace(WRONG, correct=None),
        replace(NOTE, text="\x00"),
        replace(NOTE, text="\ud800"),
        replace(NOTE, text="x" * 20_001),
        replace(NOTE, tags=("",)),
        replace(NOTE, text=None, tags=()),
        replace(AGREES, at="27 Feb"),
        replace(AGREES, withdraws="0" * 16),
    ],
)
def test_what_is_not_valid_is_refused_and_nothing_is_added(manifest: Manifest, bad: Annotation) -> None:
    assert problems_of(bad)
    with pytest.raises(InputFault):
        append(manifest, AGREES, bad)
    assert not file_of(manifest).exists()


def test_broken_lines_are_named_and_lose_nothing(manifest: Manifest) -> None:
    append(manifest, AGREES)
    (edited,) = append(manifest, NOTE)
    data = file_of(manifest).read_bytes().replace(b"<b>it</b>", b"the picture")
    bad_time = orjson.dumps({**line_of(WRONG), "at": "2026-02-31T00:00:00Z"})
    lines = [b"{", b"[]", b'{"kind": "vote"}', bad_time]
    file_of(manifest).write_bytes(data + b"\n".join(lines) + b'\n{"kind": "no')
    append(manifest, replace(WRONG, at="2026-03-01T00:00:00Z"))
    found = read_annotations(manifest)
    assert [(issue.source.line, issue.code) for issue in found.issues] == [
        (2, "edited_entry"),
        (3, "not_json"),
        (4, "not_an_object"),
        (5, "missing_at"),
        (6, "bad_at"),
        (7, "not_json"),
    ]
    assert found.verdicts[Q80]["Ada"].correct == "wrong"
    assert found.notes[Q97][0].entry_id != edited.entry_id


def test_a_full_disk_loses_nothing(
    manifest: Manifest, disk_full_within_a_line: Callable[[], AbstractContextManager[None]]
) -> None:
    append(manifest, AGREES)
    with disk_full_within_a_line(), pytest.raises(InputFault, match="No space left"):
        append(manifest, WRONG)
    assert read_annotations(manifest).verdicts[Q80]["Ada"].agrees
    append(manifest, WRONG)
    assert not read_annotations(manifest).verdicts[Q80]["Ada"].agrees


def test_a_workspace_without_a_file_names_the_line_to_add(tmp_path: Path) -> None:
    manifest = Manifest("W", tmp_path)
    assert read_annotations(manifest).entries == ()
    problem = refusal(manifest)
    assert problem is not None
    assert problem.fix == "add the line: annotations: {path: annotations.jsonl}"


_TARGETS = st.sampled_from([Q80, Q97, Target("R005", "Q80")])
_TIMES = st.integers(0, 5).map(lambda second: f"2026-02-27T10:00:0{second}.000Z")
_LINES = st.one_of(
    st.builds(replace, st.just(AGREES), target=_TARGETS, at=_TIMES, author=st.sampled_from("AB")),
    st.builds(replace, st.just(WRONG), target=_TARGETS, at=_TIMES, correct=st.sampled_from(CORRECT)),
    st.builds(replace, st.just(NOTE), target=_TARGETS, at=_TIMES, author=st.sampled_from("AB")),
    st.builds(
        lambda target, at, name: Annotation("assignment", target, "A", at, assignee=name),
        *(_TARGETS, _TIMES, st.sampled_from(["A", "B", None])),
    ),
)


@given(st.lists(_LINES, max_size=12), st.randoms())
def test_the_files_of_two_people_join_in_any_order(lines: list[Annotation], chance: object) -> None:
    whole = _with_ids(lines)
    mixed = [*whole, *whole[:3]]
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = folded(whole), folded({each.entry_id: each for each in mixed}.values())
    assert {target: dict(each) for target, each in one.verdicts.items()} == other.verdicts
    assert one.assignees == other.assignees
    assert {each.entry_id for notes in one.notes.values() for each in notes} == {
        each.entry_id for notes in other.notes.values() for each in notes
    }


def _with_ids(lines: list[Annotation]) -> list[Annotation]:
    found = {str(line_of(each)["entry_id"]): each for each in lines}
    return [replace(each, entry_id=name) for name, each in found.items()]


def test_two_files_are_one_by_putting_them_behind_each_other(manifest: Manifest, tmp_path: Path) -> None:
    append(manifest, AGREES, NOTE)
    mine = file_of(manifest).read_bytes()
    append(manifest, WRONG)
    both = tmp_path / "both.jsonl"
    both.write_bytes(file_of(manifest).read_bytes() + mine)
    joined = annotations_of(read_journal(both, file="both.jsonl"))
    assert joined.issues == ()
    assert joined.verdicts == {
        target: {
            name: replace(each, source=joined.verdicts[target][name].source) for name, each in found.items()
        }
        for target, found in read_annotations(manifest).verdicts.items()
    }


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_of_1000_notes_by_two_writers_that_are_killed_none_that_was_acknowledged_is_lost(
    manifest: Manifest, kills: int, request: pytest.FixtureRequest
) -> None:
    if kills > 10 and "slow" not in request.config.getoption("markexpr"):
        pytest.skip(f"{kills} kills take a while: choose them with -m slow")
    notes = 1_000 if kills > 10 else 60
    command = [sys.executable, "-m", "tests.annotation_writer", manifest.folder, notes, kills, 7]
    run = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, cwd=CHECKOUT)
    acknowledged = run.stdout.split()
    found = read_annotations(manifest)
    assert len(acknowledged) >= notes
    assert {*acknowledged} <= {each.entry_id for each in found.entries}
    assert {issue.code for issue in found.issues} <= {"not_json", "unfinished_line"}
    assert {each.author for each in found.entries} == {"Ada", "Ben"}
