"""From traces to the lines of a file: in order, each of a length that can be read, and counted."""

from __future__ import annotations

import shutil
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import Fault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Built, build_bundles, line_of, load_sources
from proofspan.services.bundles.report import Earlier, RunReport
from proofspan.store.index.build import build_index
from tests.bundle_room import (
    QUOTE,
    bundles_from,
    cited,
    cites,
    jsonl,
    one,
    sources_of,
    trace,
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
    records = [*(trace(seed=seed) for seed in range(3)), cites(doc_id="notes", quote="holds 0.4 litres")]
    made = bundles_from(
        records, sources_of(manifest, pool), workers=2, on_progress=lambda *step: steps.append(step)
    )
    assert [each.level for each in made] == ["full"] * 4
    assert sorted(steps) == [(1, 2), (2, 2)]


#: Repeats, a bad line, and an answer that cites nothing.
RECORDS = [
    *(trace("Q2"), b"{torn", trace("Q1"), trace("Q2"), trace("Q1", paraphrase=1)),
    trace("Q3", citations=[], answer="not in context"),
]


def built_from(manifest: Manifest, pool: PdfPool, **options: int) -> list[Built | LineIssue]:
    """Build the run's bundles from the index as it is in the workspace's folder `cache`."""
    sources, problems = load_sources(manifest, pool)
    assert problems == ()
    cache_dir = manifest.folder / "cache"
    return list(build_bundles(manifest, "R1", sources=sources, cache_dir=cache_dir, **options))


def test_a_run_is_built_in_the_order_of_its_traces(tmp_path: Path, pool: PdfPool) -> None:
    manifest = write_workspace(tmp_path)
    (tmp_path / "traces.jsonl").write_bytes(jsonl(RECORDS) + b'{"q": "still being wri')
    build_index(manifest, cache_dir=tmp_path / "cache")
    built = built_from(manifest, pool)
    assert [each.source.line for each in built if isinstance(each, LineIssue)] == [2]
    keys = [each[0].key for each in built if not isinstance(each, LineIssue)]
    assert [(key.q_id, key.paraphrase, key.repeat) for key in keys] == [
        ("Q2", 0, 1),
        ("Q1", 0, 1),
        ("Q2", 0, 2),
        ("Q1", 1, 1),
        ("Q3", 0, 1),
    ]
    assert built_from(manifest, pool, workers=2) == built


def test_an_index_that_grew_gives_the_same_bundles(tmp_path: Path, pool: PdfPool) -> None:
    manifest = write_workspace(tmp_path)
    for count in (2, 4, len(RECORDS)):
        (tmp_path / "traces.jsonl").write_bytes(jsonl(RECORDS[:count]))
        build_index(manifest, cache_dir=tmp_path / "cache")
    built = built_from(manifest, pool)
    shutil.rmtree(tmp_path / "cache")
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert built_from(manifest, pool) == built


def test_only_the_lines_of_answers_without_a_citation_to_show_are_read(
    tmp_path: Path, pool: PdfPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path)
    (tmp_path / "traces.jsonl").write_bytes(jsonl(RECORDS))
    build_index(manifest, cache_dir=tmp_path / "cache")
    read: list[bytes] = []

    class Counted(FileIO):
        def read(self, size: int | None = -1) -> bytes:
            read.append(super().read(size))
            return read[-1]

        def readinto(self, buffer: Any) -> int:
            read.append(super().read(len(buffer)))
            buffer[: len(read[-1])] = read[-1]
            return len(read[-1])

    def open_path(path: Path, *mode: Any, **options: Any) -> Any:
        if path.name != "traces.jsonl":
            return opened(path, *mode, **options)
        raw = Counted(path)
        return BufferedReader(raw) if options.get("buffering", -1) else raw

    opened = Path.open
    monkeypatch.setattr(Path, "open", open_path)
    assert sum(not isinstance(each, LineIssue) for each in built_from(manifest, pool)) == 5
    assert read == [b"\n" + jsonl(RECORDS[-1:])], "the last line alone, from the line end before it"


def test_a_line_that_changed_since_it_was_indexed_is_a_fault(tmp_path: Path, pool: PdfPool) -> None:
    manifest = write_workspace(tmp_path)
    (tmp_path / "traces.jsonl").write_bytes(jsonl(RECORDS))
    build_index(manifest, cache_dir=tmp_path / "cache")
    (tmp_path / "traces.jsonl").write_bytes(jsonl(RECORDS[::-1]))
    with pytest.raises(Fault) as caught:
        built_from(manifest, pool)
    assert [(each.code, each.where) for each in caught.value.problems] == [("line_changed", "traces.jsonl:6")]


def test_a_run_without_an_index_is_a_fault(manifest: Manifest, pool: PdfPool) -> None:
    with pytest.raises(Fault) as caught:
        built_from(manifest, pool)
    assert [each.code for each in caught.value.problems] == ["not_indexed"]


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
    assert (report.covered, report.answered, report.uncovered_passages) == (1, 3, 1)
    assert report.coverage_in_words() == (
        "bundle coverage 33 % (6–79 %): 1 of 3 answers have a citation that can be shown, "
        "1 only the closest retrieved passage"
    )
    assert RunReport("R1").coverage_in_words() == "bundle coverage: no question was answered"
