"""Every format that is opened without a mapping: recognized by its content, read, and made a workspace."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services.opening.open import open_source, recognize
from proofspan.traces.formats.records import read_records, sample_of
from proofspan.traces.formats.types import Format, Reading
from proofspan.traces.registry import FORMATS, recognized


def example(each: Format, folder: Path) -> Path:
    """Write a format's example."""
    path = folder / f"example{each.suffix}"
    path.write_bytes(each.example)
    return path


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_an_example_is_recognized_and_opens(each: Format, tmp_path: Path) -> None:
    found = recognized(sample_of(example(each, tmp_path)))
    assert found is not None and found.format is each and found.why
    opened = open_source(example(each, tmp_path), workspace=tmp_path / "workspace")
    assert opened.report.traces >= 1 and opened.reading.lost == 0
    assert opened.reading.understood and load_manifest(tmp_path / "workspace").runs


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_a_format_is_named_once_and_described(each: Format) -> None:
    assert [other.name for other in FORMATS].count(each.name) == 1
    assert each.title and each.versions and each.documentation.endswith(".")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'{"id": "msg_1", "type": "message", "content": [{"type": "te', "not_json"),
        (b'[{"user_input": "q"', "truncated"),
        (b'{"some": "thing"}', "unknown_format"),
    ],
)
def test_a_broken_file_is_called_broken_and_another_one_unknown(
    content: bytes, code: str, tmp_path: Path
) -> None:
    (tmp_path / "f.json").write_bytes(content)
    with pytest.raises(InputFault) as caught:
        recognize(tmp_path / "f.json")
    assert [each.code for each in caught.value.problems] == [code]


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_reading_says_how_many_bytes_are_read_and_how_many_there_are(each: Format, tmp_path: Path) -> None:
    path, counts = example(each, tmp_path), list[tuple[int, int]]()
    for _ in each.read(path, Reading(path.name, on_bytes=lambda *bytes_read: counts.append(bytes_read))):
        pass
    whole = path.stat().st_size
    if each.suffix in (".zip", ".eval"):
        with zipfile.ZipFile(path) as archive:
            whole = sum(member.file_size for member in archive.infolist())
    assert counts[-1] == (whole, whole) and counts == sorted(counts)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_of_a_packed_file_its_own_bytes_are_counted(ending: str, tmp_path: Path) -> None:
    path, counts = tmp_path / f"rows.jsonl{ending}", list[tuple[int, int]]()
    rows = b"".join(b'{"user_input":"%d","response":"%x"}\n' % (n, n**40) for n in range(40_000))
    path.write_bytes(gzip.compress(rows, 1) if ending == ".gz" else pa.compress(rows, "zstd", asbytes=True))
    for _ in read_records(path, Reading(path.name, on_bytes=lambda *bytes_read: counts.append(bytes_read))):
        pass
    size = path.stat().st_size
    assert counts[-1] == (size, size) and 0 < counts[0][0] < size
