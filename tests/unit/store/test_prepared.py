"""The corpus prepared in the cache: the same as the parsed one, made once, and made again where damaged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.manifest.types import Manifest
from proofspan.services.passes.checking import check_runs
from proofspan.store.files import prepared
from proofspan.store.files.prepared import PREPARED_FOLDER, prepared_file, read_prepared, write_prepared
from proofspan.store.index import labelling
from proofspan.store.index.build import build_index
from proofspan.store.index.labelling import find_inputs, labeller_for, prepared_corpus
from proofspan.traces.records.chunks import chunk_from
from tests.unit.store_workspace import CHUNKS, RUN, append, lines, table_of, trace, write_workspace

#: With everything a chunk file may hold: offsets, lines of text, no place, other letters, and bad lines.
RICH = [
    *CHUNKS,
    {
        "chunk_id": "d1",
        "doc_id": "manual",
        "page_idx": 4,
        "offsets": {"start": 3, "end": 9},
        "text": "Öl \n ΣΑΣ",
    },
    {"chunk_id": "d2", "span": [2, 4], "section_number": "7", "text": ""},
    {"chunk_id": "d2", "span": [2, 5], "section_number": "7", "text": "Straße 7, 4.5 Nm"},
    b"{no json",
    {"id": 7, "text": "a number names it"},
]
REDIRECTS = [
    {"old_id": "was1", "kind": "shift", "new_ids": ["c1"], "confidence": 0.9},
    {"old_id": "was12", "kind": "split", "new_ids": ["c1", "d1"], "confidence": 1.0},
    {"old_id": "gone", "kind": "gone", "new_ids": [], "confidence": 1.0},
    {"old_id": "", "kind": "shift"},
]
TRACES = [
    trace("Q1"),
    trace("Q2", chunks=[{"id": "was12"}, {"id": "d2"}, {"id": "unknown"}]),
    trace("Q3", answer="It holds 5 litres of oil, nowhere.\ncitations: [was1]"),
]


def room(folder: Path) -> Manifest:
    """A workspace with everything above."""
    folder.mkdir(exist_ok=True)
    (folder / "redirects.jsonl").write_bytes(lines(REDIRECTS))
    (folder / "gold.jsonl").write_bytes(
        lines([{"q_id": "Q1", "q": "What?", "chunks": ["was1"], "sections": ["4.2"]}])
    )
    named = {name: {"path": f"{name}.jsonl"} for name in ("redirects", "gold")}
    manifest = write_workspace(folder, {RUN: TRACES}, **named)
    (folder / "chunks.jsonl").write_bytes(lines(RICH))
    return manifest


def stored(cache: Path) -> Path:
    """The only file of a prepared corpus."""
    (path,) = (cache / PREPARED_FOLDER).glob("*.chunks")
    return path


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The chunk files that are parsed."""
    parsed: list[Path] = []
    read = labelling.read_chunks

    def listed(path: Path, *, file: str) -> object:
        parsed.append(path)
        return read(path, file=file)

    monkeypatch.setattr(labelling, "read_chunks", listed)
    return parsed


def test_what_is_prepared_is_what_is_parsed(tmp_path: Path, cache: Path) -> None:
    manifest = room(tmp_path)
    inputs = find_inputs(manifest, Profile(), None, cache_dir=cache)
    made, opened = labeller_for(inputs)[0], labeller_for(inputs)[0]
    assert stored(cache).exists()
    assert opened.issues == made.issues
    assert len(made.issues) == 3
    assert made.corpus is not None
    assert opened.corpus is not None
    for one, other in (
        (opened.known.texts, made.known.texts),
        (opened.known.places, made.known.places),
        (opened.known.offsets, made.known.offsets),
    ):
        assert list(one.items()) == list(other.items())
        for former in ("was1", "was12", "gone", "unknown"):
            assert one.get(former) == other.get(former)
            assert (former in one) == (former in other)
    assert opened.corpus.former == made.corpus.former == {"was1", "was12"}
    assert opened.known.places.redirects == made.known.places.redirects  # type: ignore[attr-defined]
    assert opened.corpus.survey == made.corpus.survey
    for chunk_id in (*made.known.texts, "was1", "was12", "unknown"):
        one, other = opened.corpus.views[chunk_id], made.corpus.views[chunk_id]
        assert (one.text, one.lower, one.words, one.numbers) == (
            other.text,
            other.lower,
            other.words,
            other.numbers,
        )


def test_an_index_is_the_same_with_a_prepared_corpus(tmp_path: Path, cache: Path, parses: list[Path]) -> None:
    manifest, other = room(tmp_path / "room"), tmp_path / "other"
    build_index(manifest, cache_dir=cache)
    shutil.copytree(cache / PREPARED_FOLDER, other / PREPARED_FOLDER)
    build_index(manifest, cache_dir=other)
    assert len(parses) == 1
    for path in cache.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (other / path.relative_to(cache)).read_bytes()


def test_chunks_are_parsed_once_for_index_appended_lines_and_claims(
    tmp_path: Path, cache: Path, parses: list[Path]
) -> None:
    manifest = room(tmp_path)
    build_index(manifest, cache_dir=cache)
    append(manifest, lines([trace("Q9")]))
    build_index(manifest, cache_dir=cache)
    list(check_runs(manifest, [RUN], cache_dir=cache))
    assert len(parses) == 1
    assert isinstance(prepared_corpus(manifest, cache_dir=cache), Corpus)


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [Path.unlink, empty, shorten, flip])
def test_a_damaged_corpus_is_prepared_again(
    tmp_path: Path, cache: Path, parses: list[Path], damage: Callable[[Path], None]
) -> None:
    manifest = room(tmp_path)
    build_index(manifest, cache_dir=cache)
    rows, path = table_of(manifest, RUN, cache), stored(cache)
    whole = path.read_bytes()
    damage(path)
    shutil.rmtree(next(cache.glob("index-*")))
    build_index(manifest, cache_dir=cache)
    assert len(parses) == 2
    assert table_of(manifest, RUN, cache) == rows
    assert len(stored(cache).read_bytes()) == len(whole)


@pytest.mark.parametrize("changed", ["chunks", "redirects"])
def test_another_state_of_a_file_is_another_corpus(
    tmp_path: Path, cache: Path, parses: list[Path], changed: str
) -> None:
    manifest = room(tmp_path)
    build_index(manifest, cache_dir=cache)
    path = tmp_path / f"{changed}.jsonl"
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"c1", b"c2", 1))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    build_index(manifest, cache_dir=cache)
    assert len(parses) == 2
    assert len(list((cache / PREPARED_FOLDER).glob("*.chunks"))) == 2


def test_a_file_that_changes_while_it_is_read_is_not_stored(tmp_path: Path, cache: Path) -> None:
    manifest = room(tmp_path)
    inputs = find_inputs(manifest, Profile(), None, cache_dir=cache)
    (tmp_path / "chunks.jsonl").write_bytes(lines(CHUNKS))
    labeller_for(inputs)
    assert not list((cache / PREPARED_FOLDER).glob("*.chunks"))


def test_those_used_last_have_room(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "MOST_BYTES", 10_000)
    for number in range(4):
        manifest = room(tmp_path / str(number))
        text = "oil " * 500 + str(number)
        (tmp_path / str(number) / "chunks.jsonl").write_bytes(lines([{"chunk_id": "c1", "text": text}]))
        build_index(manifest, cache_dir=cache)
        newest = prepared_corpus(manifest, cache_dir=cache)
        assert newest is not None
        assert newest.texts["c1"] == text
    files = list((cache / PREPARED_FOLDER).glob("*.chunks"))
    assert 1 <= len(files) < 4


def test_an_index_needs_no_room_for_prepared_chunks(tmp_path: Path, cache: Path) -> None:
    manifest = room(tmp_path)
    cache.mkdir(exist_ok=True)
    (cache / PREPARED_FOLDER).write_text("in the way")
    build_index(manifest, cache_dir=cache)
    assert next(row["label"] for row in table_of(manifest, RUN, cache)) == "ok"
    assert prepared_corpus(manifest, cache_dir=cache) is None


def test_chunks_without_any_record_are_prepared_too(tmp_path: Path, cache: Path, parses: list[Path]) -> None:
    manifest = write_workspace(tmp_path, {RUN: TRACES})
    (tmp_path / "chunks.jsonl").write_bytes(b"")
    inputs = find_inputs(manifest, Profile(), None, cache_dir=cache)
    made, opened = labeller_for(inputs)[0], labeller_for(inputs)[0]
    assert dict(opened.known.texts) == dict(made.known.texts) == {}
    assert len(parses) == 1


def test_a_text_that_arrow_does_not_take_is_not_stored(tmp_path: Path, cache: Path) -> None:
    chunk = chunk_from({"chunk_id": "c1", "text": "half a \ud800 letter"})
    path = prepared_file(cache, "state")
    path.parent.mkdir(parents=True)
    write_prepared(path, {"c1": chunk}, Corpus({"c1": chunk.text}), ())
    assert read_prepared(path) is None
    assert not list(path.parent.iterdir())
