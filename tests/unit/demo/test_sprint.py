"""The record of the demo's sprint has the numbers of its runs, and is what its source makes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofspan.journal.cohorts import read_cohorts
from proofspan.journal.sprint import SprintEntry, line_of, read_sprint
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.metrics.cohorts import conversions
from proofspan.services.sprint.fields import CHECKIN, CHECKPOINT
from proofspan.services.sprint.fold import fold
from proofspan.services.sprint.markdown.plan import plan
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.record import record_of
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from tests.places import DEMO
from tools.demo.sprint import entries, sprint_log

_NUMBER = re.compile(r"(SectionMatch@1|GT-in-top-20) of (R\d{3}) is (\d+) of (\d+)")
_CONVERTED = re.compile(r"(R\d{3}) converts (\d+) of the (\d+) of ([A-Z-]+)")
_METRICS = {"SectionMatch@1": "section_match_at_1", "GT-in-top-20": "gt_in_top_20"}


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load_manifest(DEMO)


def prose(found: tuple[SprintEntry, ...]) -> Iterator[str]:
    """The texts of all entries that count."""
    corrected = fold(found).corrected
    for entry in found:
        if entry.entry_id not in corrected:
            yield str(dict(entry.fields))


def test_the_log_is_what_its_source_makes(manifest: Manifest) -> None:
    assert sprint_log() == (DEMO / "sprint/log.jsonl").read_bytes()
    found, issues = read_sprint(manifest)
    assert issues == ()
    assert [line_of(entry) for entry in found] == [line_of(entry) for entry in entries()]
    assert [entry.at for entry in found] == sorted(entry.at for entry in found)


@pytest.mark.slow
def test_its_numbers_are_those_of_the_runs(manifest: Manifest, tmp_path: Path) -> None:
    build_index(manifest, cache_dir=tmp_path)
    store = Store(manifest, tmp_path)
    sums = store.run_sums([run.run_id for run in manifest.runs])
    texts = list(prose(read_sprint(manifest)[0]))
    numbers = [match for text in texts for match in _NUMBER.findall(text)]
    assert len(numbers) > 20
    for name, run_id, part, whole in numbers:
        tally = sums[run_id].measures[_METRICS[name]]
        assert (round(tally.total), tally.of) == (int(part), int(whole)), (name, run_id)
    cohorts = read_cohorts(manifest)
    converted = [match for text in texts for match in _CONVERTED.findall(text)]
    assert {name for *_, name in converted} == set(cohorts)
    for run_id, part, whole, name in converted:
        (there,) = [each for each in conversions(store, manifest, cohorts[name]) if each.run_id == run_id]
        assert (there.hits, there.questions) == (int(part), int(whole)), (name, run_id)
    record = record_of(read_sprint(manifest), manifest, store)
    first, second, evidence = record.goals
    assert (first.needed, first.questions, first.moved_by) == (26, 37, "R006")
    assert (first.verdict and first.verdict.status, second.verdict and second.verdict.status) == (
        "fail",
        "pass",
    )
    assert (second.needed, evidence.metric_id) == (34, "bundle_coverage")
    assert [each.action for each in record.agenda] == ["decide", "do", "wait"]
    assert len(record.stopped) == 1 and "recall" in record.stopped[0]


def test_every_number_of_a_run_is_written_so_that_it_is_checked(manifest: Manifest) -> None:
    for text in prose(read_sprint(manifest)[0]):
        rest = _CONVERTED.sub("", _NUMBER.sub("", text))
        assert re.search(r"\d+ of (?:the )?\d+", rest) is None, rest


def test_it_shows_every_kind_of_entry(manifest: Manifest) -> None:
    record = record_of(read_sprint(manifest), manifest, None)
    assert {entry.kind for entry in record.entries} == {
        *("sprint", "goal", "package", "decision", "risk", "log", "checkpoint", "checkin", "section")
    }
    assert len(record.corrected) == 1
    assert record.problems == ()
    days = [entry for entry in record.log if entry.kind == "checkpoint"]
    assert [entry.fields["day"] for entry in days] == [5, 4, 3, 2, 1]
    assert all({each.name for each in CHECKPOINT} <= entry.fields.keys() for entry in days)
    reports = [entry for entry in record.log if entry.kind == "checkin"]
    assert reports and all({each.name for each in CHECKIN} <= entry.fields.keys() for entry in reports)


def test_its_export_is_read_back(manifest: Manifest) -> None:
    record = record_of(read_sprint(manifest), manifest, None)
    found = plan(markdown_of(record), (), file="demo.md")
    assert [line_of(entry) for entry in found.entries] == [line_of(entry) for entry in record.entries]
    assert plan(markdown_of(record, entries=False), record.entries, file="demo.md").entries == ()
