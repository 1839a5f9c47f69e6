"""Citations that were looked for before: known while nothing changed, unknown or looked for again after."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from proofspan.diagnosis.types import Profile
from proofspan.errors import Problem
from proofspan.evidence.locate_bulk import Answer
from proofspan.evidence.types import SpanQuery
from proofspan.services.passes import locating, turns
from proofspan.services.passes.locating import is_placed, place_runs
from proofspan.services.workspace.open import with_profile
from proofspan.store.files import located as placed_module
from proofspan.store.files.located import PLACED_FOLDER
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.query import loaded_runs
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.passes.placing_room import (
    DOCUMENTS,
    FOUND,
    TRACES,
    FakePool,
    cite,
    place,
    place_run,
    shown,
    workspace,
)
from tests.unit.store_workspace import RUN, append, lines, manifest_of, trace

pytestmark = pytest.mark.slow


def test_a_second_look_asks_nothing(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    first, again = place(manifest, cache), FakePool()
    second = place(manifest, cache, again)
    assert again.asked == []
    assert (second.counts, second.problems, second.located) == (first.counts, first.problems, 0)


def test_a_run_that_grows_asks_for_what_is_new(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    more = [trace(f"N{n}", **cite("exact", f"new {n % 10}")) for n in range(1_000)]
    append(manifest, lines(more))
    again = FakePool()
    report = place(manifest, cache, again)
    assert sorted(again.asked) == [("manual.pdf", f"new {n}") for n in range(10)]
    assert report.citations == 2_010
    assert shown(manifest, cache, "not_found") == ["Q4"]


def test_what_one_run_asked_no_other_run_and_no_other_reading_asks_again(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w", runs=(RUN, "R2"))
    build_index(manifest, cache_dir=cache)
    pool = FakePool()
    first, second = place_runs(manifest, [RUN, "R2"], cache_dir=cache, pool=pool)
    assert (first.located, second.located) == (6, 0)
    assert second.counts == first.counts
    otherwise, again = with_profile(manifest, Profile("none")), FakePool()
    assert place(otherwise, cache, again).counts == first.counts
    assert again.asked == []


def touched(path: Path) -> None:
    """The file as if it had been written a second later."""
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 10**9))


def test_a_changed_document_makes_its_states_unknown_until_it_is_looked_at_again(
    tmp_path: Path, cache: Path
) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    touched(manifest.folder / "manual.pdf")
    store = Store(manifest, cache)
    assert shown(manifest, cache, "exact") == []
    assert (store.placed(RUN), store.run_facts(RUN).placed, store.evidence_counts(Filter(RUN))) == (
        None,
        None,
        {},
    )
    assert list(store.page(Filter(RUN), Sort("q_id"), limit=1, offset=0)["evidence"]) == [None]
    assert not is_placed(manifest, RUN, cache)
    again = FakePool()
    place(manifest, cache, again)
    assert len(again.asked) == 5, "the bulletin did not change"
    assert shown(manifest, cache, "exact") == ["Q1", "Q2", "Q8"]
    assert is_placed(manifest, RUN, cache)


def test_a_document_that_appears_is_looked_at(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    (manifest.folder / "lost.pdf").write_bytes(b"%PDF-1.7 found again")
    again = FakePool()
    assert place(manifest, cache, again).problems == ()
    assert again.asked == [("lost.pdf", "lost")]


@pytest.mark.parametrize(
    "documents",
    [
        [*DOCUMENTS, {"doc_id": "elsewhere", "path": "manual.pdf"}],
        [{**DOCUMENTS[0], "paged": False}, *DOCUMENTS[1:]],
        [],
    ],
    ids=["one more", "one without pages", "none"],
)
def test_what_the_manifest_says_of_documents_counts(
    tmp_path: Path, cache: Path, documents: list[object]
) -> None:
    manifest = workspace(tmp_path / "w")
    place(manifest, cache)
    runs = [{"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}}]
    changed = manifest_of(manifest.folder, chunks={"path": "chunks.jsonl"}, runs=runs, documents=documents)
    assert Store(changed, cache).placed(RUN) is None


def test_new_chunks_and_another_locator_make_states_unknown(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w", [trace("Q1")])
    place(manifest, cache)
    chunk = {"chunk_id": "c1", "doc_id": "manual", "text": "absent"}
    (manifest.folder / "chunks.jsonl").write_bytes(lines([chunk]))
    build_index(manifest, cache_dir=cache)
    assert Store(manifest, cache).placed(RUN) is None
    place(manifest, cache)
    assert shown(manifest, cache, "not_found") == ["Q1"]
    monkeypatch.setattr(placed_module, "locator_version", lambda: "another")
    assert Store(manifest, cache).placed(RUN) is None


def test_an_open_store_sees_what_is_placed_later_and_a_change_within_a_second(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_runs, "LOOK_AGAIN", 0.0)
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)
    store = Store(manifest, cache)
    assert store.matching(Filter(RUN, evidence=("exact",))) == 0
    place(manifest, cache)
    assert store.matching(Filter(RUN, evidence=("exact",))) == 3
    touched(manifest.folder / "manual.pdf")
    assert store.matching(Filter(RUN, evidence=("exact",))) == 0


def spoil(path: Path) -> None:
    """Damage in the middle of a file, of the same length."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 40] = b"\xff" * 40
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b""), Path.unlink])
def test_a_damaged_file_of_placements_is_noticed_and_made_again(
    tmp_path: Path, cache: Path, damage: Any
) -> None:
    manifest = workspace(tmp_path / "w", TRACES * 20)
    place(manifest, cache)
    folder = index_folder(manifest, RUN, cache) / PLACED_FOLDER
    (part,) = folder.glob("*.parquet")
    damage(part)
    assert Store(manifest, cache).placed(RUN) is None
    assert Store(manifest, cache).run_facts(RUN).placed is None
    again = FakePool()
    place(manifest, cache, again)
    assert again.asked == [], "the answers lie elsewhere"
    assert Store(manifest, cache).placed(RUN) is not None


@pytest.mark.parametrize("damage", [spoil, lambda path: path.write_bytes(b"{}"), Path.unlink])
def test_damaged_answers_are_asked_for_again(tmp_path: Path, cache: Path, damage: Any) -> None:
    manifest = workspace(tmp_path / "w")
    first = place(manifest, cache)
    for path in (cache / "answers").glob("*.parquet"):
        damage(path)
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    again = FakePool()
    assert place(manifest, cache, again).counts == first.counts
    assert len(again.asked) == 5
    quiet = FakePool()
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    place(manifest, cache, quiet)
    assert quiet.asked == []


def test_the_folder_of_answers_is_bounded(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(placed_module, "MOST_ANSWERS", 3)
    monkeypatch.setattr(placed_module, "MOST_BYTES", 6_000)
    manifest = workspace(tmp_path / "w")
    (cache / "answers").mkdir(parents=True)
    for number in range(9):
        (cache / "answers" / f"{number}.parquet").write_bytes(b"x" * 1_000)
        os.utime(cache / "answers" / f"{number}.parquet", (number, number))
    (cache / "answers" / ".part-left").write_bytes(b"by a process that died")
    place(manifest, cache)
    left = {path.name for path in (cache / "answers").iterdir()}
    assert ".part-left" not in left and "0.parquet" not in left and "8.parquet" in left
    shutil.rmtree(index_folder(manifest, RUN, cache) / PLACED_FOLDER)
    again = FakePool()
    place(manifest, cache, again)
    assert [quote for _, quote in again.asked] == ["exact", "other page"], "the latest three are kept"


def test_what_hung_is_asked_again_at_the_next_look(tmp_path: Path, cache: Path) -> None:
    manifest = workspace(tmp_path / "w")
    hung = Problem("timed_out", "no answer", "manual.pdf", "try again")
    first = place(manifest, cache, FakePool({**FOUND, "absent": hung}))
    assert first.reasons["timed_out"] == 1
    assert [problem.code for problem in first.problems] == ["missing", "timed_out"]
    assert shown(manifest, cache, "not_found") == []
    again = FakePool()
    place(manifest, cache, again)
    assert again.asked == [("manual.pdf", "absent")]
    assert shown(manifest, cache, "not_found") == ["Q4"]


def test_an_interruption_leaves_nothing_half_written_and_keeps_what_was_found(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locating, "WINDOW", 4)
    manifest = workspace(tmp_path / "w")
    build_index(manifest, cache_dir=cache)

    class Interrupted(FakePool):
        def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
            for query in queries:
                if query.quote == "absent":
                    raise KeyboardInterrupt
                yield from super().locate_each(path, [query])

    with pytest.raises(KeyboardInterrupt):
        place_run(manifest, RUN, cache_dir=cache, pool=Interrupted(), workers=1)
    assert Store(manifest, cache).placed(RUN) is None
    assert not [path for path in cache.rglob("*") if path.name.startswith(".part-")]
    again = FakePool()
    place(manifest, cache, again)
    assert sorted(quote for _, quote in again.asked) == ["absent", "words"], "the first window was kept"


def test_who_waits_for_another_process_takes_the_index_as_that_left_it(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = workspace(tmp_path / "w", TRACES[:2])
    build_index(manifest, cache_dir=cache)
    real_turn = turns.turn

    @contextmanager
    def turn_after_another_process(folder: Path) -> Iterator[None]:
        monkeypatch.setattr(turns, "turn", real_turn)
        append(manifest, lines(TRACES[2:4]))
        place(manifest, cache)
        with real_turn(folder):
            yield

    monkeypatch.setattr(turns, "turn", turn_after_another_process)
    report = place_run(manifest, RUN, cache_dir=cache, pool=FakePool())
    assert (report.citations, report.located) == (6, 0)
    assert is_placed(manifest, RUN, cache)
