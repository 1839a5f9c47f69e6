"""The sprint plan itself, whose text was decoded with the wrong code page: read as it was meant, and back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from proofspan.errors import InputFault
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.fold import Folded, fold
from proofspan.services.sprint.markdown.plan import Plan, file_text, plan
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.record import record_of


@pytest.fixture(scope="module")
def file(real_data: Path) -> Path:
    found = sorted(real_data.parent.glob("seeds/*sprint*.txt"))
    if not found:
        pytest.skip("the sprint plan is not beside the real data")
    return found[0]


@pytest.fixture(scope="module")
def read(file: Path) -> Plan:
    text, repairs = file_text(file, fix_encoding=True)
    assert sum(repairs.values()) == 65
    return plan(text, (), file=file.name)


@pytest.fixture(scope="module")
def folded(read: Plan) -> Folded:
    return fold(read.entries)


def test_it_is_refused_without_a_repair(file: Path) -> None:
    with pytest.raises(InputFault, match="--fix-encoding"):
        file_text(file, fix_encoding=False)


def test_everything_has_its_place(read: Plan, folded: Folded) -> None:
    assert (read.issues, read.leftovers) == ((), ())
    kinds = Counter(entry.kind for entry in read.entries)
    assert kinds == {"sprint": 1, "section": 10, "goal": 3, "package": 5, "log": 2, "decision": 6, "risk": 4}
    assert [item.key for item in folded.of("goal")] == [
        "section_match_at_1",
        "gt_in_top_20",
        "bundle_coverage",
    ]
    statuses = {item.key: item.line("status") for item in folded.of("package")}
    assert list(statuses.values()) == ["complete", "in_progress", "pending", "in_progress", "in_progress"]
    states = {item.key: item.line("state") for item in folded.of("decision")}
    assert list(states.values()) == ["LOCKED", "LOCKED", "PROPOSED", "PENDING", "PROPOSED", "PROPOSED"]
    assert folded.items["decision", "D2"].listed("unblocks") == ("D3", "WP-A2")
    assert folded.items["decision", "D3"].listed("depends_on") == ("D2",)
    assert all(item.listed("pros") and item.listed("cons") for item in folded.of("decision"))


def test_check_ins_are_kept_with_the_notes_on_them(folded: Folded) -> None:
    first, second = folded.log
    assert first.at == second.at == "2026-02-23"
    assert first.fields["notes"].startswith("- ✅ Good")
    assert [bool(part["text"] and part["notes"]) for part in second.fields["parts"]] == [True] * 3


def test_nothing_is_damaged_and_the_export_is_read_back(read: Plan) -> None:
    record = record_of((read.entries, ()), Manifest("W", Path()), None)
    text = markdown_of(record, entries=False)
    assert not {*"âÃğŸ"} & {*text}
    assert plan(text, read.entries, file="out.md").entries == ()
    assert plan(markdown_of(record), (), file="out.md").entries == read.entries
