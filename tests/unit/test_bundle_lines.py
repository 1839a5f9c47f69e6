"""From traces to the lines of a file: in order, each of a length that can be read, and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.contracts.records.records import LineIssue
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import build_bundles, bundles_of, line_of, load_sources
from proofspan.services.bundles.report import Earlier, RunReport
from tests.bundle_room import (
    QUOTE,
    bundles_from,
    cited,
    cites,
    jsonl,
    one,
    sources_of,
    trace,
    trace_of,
    write_workspace,
)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return write_workspace(tmp_path_factory.mktemp("room"))


def test_a_bundle_fits_into_a_line(
    manifest: Manifest, pool: PdfPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = one(trace(), manifest, pool)
    assert line_of(made, Earlier())[0] == made
    monkeypatch.setattr("proofspan.services.bundles.build.MAX_LINE", 2_000)
    small = line_of(made, Earlier())[0]
    assert (small.level, small.attachments, small.citations) == ("citation_only", (), ())
    assert small.citation == made.citation


def test_a_bundle_fits_into_a_line_whatever_a_citation_is_called(manifest: Manifest, pool: PdfPool) -> None:
    section = "4" * (9 << 20)
    made = one(cites(doc_id="manual", page_idx=1, section_id=section, quote=QUOTE), manifest, pool)
    built, line = line_of(made, Earlier())
    assert len(line) < 10_000
    assert cited(built).section_number == section[:1_000]
    assert [problem.code for problem in built.problems] == ["bundle_cut"]


def test_equal_quotes_are_looked_for_once(manifest: Manifest, pool: PdfPool) -> None:
    steps: list[tuple[int, int]] = []
    traces = [trace_of(trace(seed=seed)) for seed in range(3)] + [
        trace_of(cites(doc_id="notes", quote="holds 0.4 litres"))
    ]
    made = bundles_of(
        traces, sources_of(manifest, pool), workers=2, on_progress=lambda *step: steps.append(step)
    )
    assert [each.level for each in made] == ["full"] * 4
    assert sorted(steps) == [(1, 2), (2, 2)]


def test_a_run_is_built_in_the_order_of_its_traces(tmp_path: Path, pool: PdfPool) -> None:
    manifest = write_workspace(tmp_path)
    records = [trace("Q2"), b"{torn", trace("Q1"), trace("Q2"), trace("Q1", paraphrase=1)]
    (tmp_path / "traces.jsonl").write_bytes(jsonl(records) + b'{"q": "still being wri')
    sources, problems = load_sources(manifest, pool)
    built = list(build_bundles(manifest, "R1", sources=sources))
    assert problems == ()
    assert [each.source.line for each in built if isinstance(each, LineIssue)] == [2]
    keys = [each[0].key for each in built if not isinstance(each, LineIssue)]
    assert [(key.q_id, key.paraphrase, key.repeat) for key in keys] == [
        ("Q2", 0, 1),
        ("Q1", 0, 1),
        ("Q2", 0, 2),
        ("Q1", 1, 1),
    ]
    again = list(build_bundles(manifest, "R1", sources=load_sources(manifest, pool)[0], workers=2))
    assert again == built


def test_coverage_counts_answered_questions_once(manifest: Manifest, pool: PdfPool) -> None:
    records = [
        trace("Q1"),
        trace("Q1"),
        trace("Q1", seed=1),
        trace("Q2", citations=[{"doc_id": "gone"}]),
        trace("Q3", answer="not in context"),
        trace("Q4", answer=" "),
        trace("Q5", citations=[{"doc_id": "gone"}], chunks=[], answer="It is so."),
    ]
    report = RunReport("R1")
    for each in bundles_from(records, sources_of(manifest, pool)):
        report.add(each)
    assert (report.covered, report.answered, report.covering_passages) == (2, 3, 1)
    assert report.coverage_in_words() == (
        "bundle coverage 67 % (21–94 %): 2 of 3 answered questions at citation_only or better, "
        "1 by the closest retrieved passage"
    )
    assert RunReport("R1").coverage_in_words() == "bundle coverage: no question was answered"
