"""Packed sources: unpacked once, whole or not at all, and never beyond their bound."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest

from proofspan.errors import InputFault
from proofspan.traces.lines import unpack
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.traces import iter_traces
from tests.unit.store_workspace import trace, write_workspace

DATA = b'{"q": "one"}\n{"q": "two"}\n'


def packed(path: Path, data: bytes = DATA) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(data))
    else:
        with pyarrow.output_stream(str(path), compression="zstd") as out:
            out.write(data)
    return path


def test_a_plain_file_stays_where_it_is(tmp_path: Path) -> None:
    assert plain_source(tmp_path / "t.jsonl", cache_dir=tmp_path / "cache") == tmp_path / "t.jsonl"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.jsonl.zst"])
def test_a_packed_file_is_unpacked_once(tmp_path: Path, name: str) -> None:
    source, cache = packed(tmp_path / name), tmp_path / "cache"
    plain = plain_source(source, cache_dir=cache)
    assert plain.read_bytes() == DATA
    assert plain.stat().st_mtime_ns == source.stat().st_mtime_ns
    inode = plain.stat().st_ino
    assert plain_source(source, cache_dir=cache).stat().st_ino == inode
    assert [path.name for path in plain.parent.iterdir()] == [plain.name]
    assert [item.source.offset for item in iter_traces(plain, file=name, run_id="R1")] == [0, 13]


def test_a_changed_source_is_unpacked_again(tmp_path: Path) -> None:
    source = packed(tmp_path / "t.jsonl.gz")
    before = plain_source(source, cache_dir=tmp_path / "cache")
    packed(source, DATA + DATA)
    after = plain_source(source, cache_dir=tmp_path / "cache")
    assert before != after
    assert after.read_bytes() == DATA + DATA


def test_only_the_copy_of_the_latest_state_is_kept_and_who_reads_another_reads_on(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    source, other = packed(tmp_path / "t.gz"), packed(tmp_path / "other.gz")
    copies = {plain_source(other, cache_dir=cache)}
    with plain_source(source, cache_dir=cache).open("rb") as reader:
        for times in (2, 3, 4):
            packed(source, DATA * times)
            latest = plain_source(source, cache_dir=cache)
        assert reader.read() == DATA
    assert latest.read_bytes() == DATA * 4
    assert set(latest.parent.iterdir()) == {latest, *copies}


@pytest.mark.parametrize("left", [b"", DATA[:13], DATA + DATA])
def test_a_copy_of_another_size_than_in_its_name_is_made_again(tmp_path: Path, left: bytes) -> None:
    source = packed(tmp_path / "t.gz")
    copy = plain_source(source, cache_dir=tmp_path / "cache")
    copy.write_bytes(left)
    assert plain_source(source, cache_dir=tmp_path / "cache") == copy
    assert copy.read_bytes() == DATA
    assert list(copy.parent.iterdir()) == [copy]


def test_a_source_that_changes_while_it_is_unpacked_leaves_the_later_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, cache = packed(tmp_path / "t.gz"), tmp_path / "cache"
    plain_pieces, later = unpack._pieces, []

    def slow(path: Path, limit: int) -> Iterator[bytes]:
        yield from plain_pieces(path, limit)
        monkeypatch.undo()
        packed(source, DATA * 2)
        later.append(plain_source(source, cache_dir=cache))

    monkeypatch.setattr(unpack, "_pieces", slow)
    earlier = plain_source(source, cache_dir=cache)
    assert earlier.read_bytes() == DATA
    assert later[0].read_bytes() == DATA * 2
    assert plain_source(source, cache_dir=cache) == later[0]


UNPACKING = """
import sys, time
from pathlib import Path
from proofspan.traces.lines import unpack
pieces = unpack._pieces
def stuck(path, limit):
    yield from pieces(path, limit)
    print("unpacking", flush=True)
    time.sleep(60)
unpack._pieces = stuck
unpack.plain_source(Path(sys.argv[1]), cache_dir=Path(sys.argv[2]))
"""


def test_what_a_killed_process_has_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    source, other, cache = packed(tmp_path / "t.gz"), packed(tmp_path / "other.gz"), tmp_path / "cache"
    command = [sys.executable, "-c", UNPACKING, str(source), str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "unpacking\n"
        (part,) = (cache / "unpacked").glob("*.part")
        first = plain_source(other, cache_dir=cache)
        assert part.exists()
        process.kill()
    assert part.exists()
    copy = plain_source(source, cache_dir=cache)
    assert copy.read_bytes() == DATA
    assert set(copy.parent.iterdir()) == {first, copy}


def test_many_at_once_get_whole_copies(tmp_path: Path) -> None:
    sources = [packed(tmp_path / f"{number}.gz", DATA * 1000) for number in range(4)] * 4
    with ThreadPoolExecutor(8) as pool:
        copies = list(pool.map(lambda source: plain_source(source, cache_dir=tmp_path / "cache"), sources))
    assert all(copy.read_bytes() == DATA * 1000 for copy in copies)
    assert set((tmp_path / "cache" / "unpacked").iterdir()) == set(copies)


@pytest.mark.parametrize("name", ["bomb.gz", "bomb.zst"])
def test_a_bomb_is_stopped_at_its_bound_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(unpack, "ALWAYS_ALLOWED", 1 << 20)
    source = packed(tmp_path / name, b"\0" * (64 << 20))
    with pytest.raises(InputFault) as caught:
        plain_source(source, cache_dir=tmp_path / "cache")
    assert caught.value.problems[0].code == "unpacks_too_large"
    assert list((tmp_path / "cache" / "unpacked").iterdir()) == []


@pytest.mark.parametrize("name", ["t.gz", "t.zst"])
@pytest.mark.parametrize("kept", [0.5, None])
def test_a_damaged_archive_is_a_fault_and_leaves_nothing(
    tmp_path: Path, name: str, kept: float | None
) -> None:
    source = packed(tmp_path / name, os.urandom(200_000))
    whole = source.read_bytes()
    source.write_bytes(b"no archive at all" if kept is None else whole[: int(len(whole) * kept)])
    with pytest.raises(InputFault) as caught:
        plain_source(source, cache_dir=tmp_path / "cache")
    assert caught.value.problems[0].code == "damaged_archive"
    assert list((tmp_path / "cache" / "unpacked").iterdir()) == []


def test_a_wrong_checksum_is_noticed(tmp_path: Path) -> None:
    source = tmp_path / "t.gz"
    data = bytearray(gzip.compress(DATA))
    data[-8:-4] = (zlib.crc32(b"something else")).to_bytes(4, "little")
    source.write_bytes(bytes(data))
    with pytest.raises(InputFault, match="cannot be unpacked"):
        plain_source(source, cache_dir=tmp_path / "cache")


def test_a_missing_source_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="does not exist"):
        plain_source(tmp_path / "none.gz", cache_dir=tmp_path)


def test_a_cache_that_cannot_be_written_says_how_to_choose_another(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    with pytest.raises(InputFault) as caught:
        plain_source(packed(tmp_path / "t.gz"), cache_dir=tmp_path / "cache")
    assert caught.value.problems[0].code == "cache_not_writable"
    assert "--cache-dir" in caught.value.problems[0].fix


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"mounting a small file system needs rights: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def assert_names_what_to_do(message: str, source: Path, folder: Path) -> None:
    assert f"{source}: " in message
    assert f"{folder} cannot be written: No space left on device" in message
    assert "free some space" in message
    assert "--cache-dir" in message


@pytest.mark.parametrize("name", ["t.gz", "t.zst"])
def test_a_cache_that_fills_up_is_a_fault_and_leaves_nothing(
    tmp_path: Path, small_disk: Path, name: str
) -> None:
    source, folder = packed(tmp_path / name, DATA * 10_000), small_disk / "unpacked"
    with pytest.raises(InputFault) as caught:
        plain_source(source, cache_dir=small_disk)
    assert caught.value.problems[0].code == "cache_not_writable"
    assert_names_what_to_do(str(caught.value), source, folder)
    assert list(folder.iterdir()) == []


def test_a_cache_without_room_for_the_last_bytes_is_the_same_fault(tmp_path: Path, small_disk: Path) -> None:
    source, folder = packed(tmp_path / "t.gz"), small_disk / "unpacked"
    (small_disk / "other").write_bytes(bytes(64 << 10))
    with pytest.raises(InputFault) as caught:
        plain_source(source, cache_dir=small_disk)
    assert_names_what_to_do(str(caught.value), source, folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["index", ".", "--cache-dir", "small"], 1),  # its other runs are indexed all the same
        (["bundle", "build", ".", "--run", "R1", "-o", "bundles.jsonl", "--cache-dir", "small"], 2),
        (["triage", "runs/R1.jsonl.gz", "chunks.jsonl", "-o", "report.jsonl"], 2),
    ],
)
def test_commands_say_that_the_disk_is_full(
    tmp_path: Path, small_disk: Path, arguments: list[str], status: int
) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    packed(tmp_path / "runs" / "R1.jsonl.gz", DATA * 10_000)
    manifest = tmp_path / "pipeline_manifest.yaml"
    manifest.write_text(manifest.read_text().replace("runs/R1.jsonl", "runs/R1.jsonl.gz"))
    ended = subprocess.run(
        [sys.executable, "-m", "proofspan.cli", *arguments],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(small_disk)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == status, ended.stderr
    assert "R1.jsonl.gz: the file cannot be unpacked: " in ended.stderr
    assert "cannot be written: No space left on device" in ended.stderr
    assert "free some space" in ended.stderr
    assert [path for path in small_disk.rglob("*") if path.suffix in (".part", ".jsonl")] == []
    assert not (tmp_path / "bundles.jsonl").exists()
    assert not (tmp_path / "report.jsonl").exists()
