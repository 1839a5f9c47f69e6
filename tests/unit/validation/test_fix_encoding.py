"""Files in another encoding, and text that was decoded wrongly: named with the remedy, read on request."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli import group
from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.check import check_workspace
from proofspan.manifest.contents import wide_encoding
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.contents_check import everything
from proofspan.store.index.build import build_index, index_state
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.lines.encodings import change_in, damage_of, fixed, fixed_line
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.traces import iter_traces
from tests.unit.validation.test_mojibake import damaged, texts

TRACE = {
    "q_id": "Q1",
    "q": "How does ΔS detect a failure?",
    "chunks": [{"id": "c1"}],
    "answer": "ΔS ≥ 0.60 — a failure. citations: [c1]",
    "ΔS": 0.37,
    "λ": "convergent",
}
CHUNK = {"id": "c1", "text": "ΔS ≥ 0.60 — a failure, « né » in Łódź"}


def line_of(record: object, page: str = "", *, escaped: bool = False) -> bytes:
    """Return a record as a line, its UTF-8 decoded with the wrong code page."""
    text = json.dumps(record, ensure_ascii=False)
    text = damaged(text, page) if page else text
    return (json.dumps(json.loads(text)) if escaped else text).encode() + b"\n"


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("page", ["windows", "mac_roman"])
def test_keys_and_values_of_a_line_are_repaired(page: str, escaped: bool) -> None:
    line = line_of(TRACE, page, escaped=escaped)
    assert json.loads(line) != TRACE
    assert json.loads(fixed_line(line)) == TRACE
    change = change_in(line)
    assert change is not None and change.meant == "ΔS"


def test_a_line_without_damage_stays_byte_for_byte() -> None:
    for line in (
        line_of(TRACE),
        line_of(TRACE, escaped=True),
        b'{"path": "C:\\\\u00e9 \\u0022 \\ud83d"}\n',
        b"\n",
    ):
        assert fixed_line(line) == line
        assert change_in(line) is None


def test_escapes_that_must_stay_escapes_do() -> None:
    line = b'{"a": "\\u00c3\\u00a9 \\u0022 \\\\u00e9 \\n \\ud83d"}\n'
    assert fixed_line(line) == '{"a": "é \\" \\\\u00e9 \\n \\ud83d"}\n'.encode()


@given(
    st.lists(texts, max_size=4), st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
)
def test_wide_files_are_read_with_and_without_a_mark(lines: list[str], encoding: str) -> None:
    text = "".join(f'{{"q": "{line}"}}\n' for line in lines)
    data = text.encode(encoding)
    pieces = (data[at : at + 7] for at in range(0, len(data), 7))
    assert b"".join(fixed(pieces, where="f")) == text.encode()


def test_bytes_that_are_not_utf_8_are_windows_1252_line_by_line() -> None:
    data = "café — “né”\n".encode("cp1252") + "café — “né”\n".encode() + b"caf\xc3\xa9 \x93\n"
    assert b"".join(fixed([data], where="f")).decode() == "café — “né”\ncafé — “né”\ncafé “\n"


def test_damaged_utf_16_is_refused() -> None:
    with pytest.raises(InputFault) as caught:
        list(fixed(["{}\n".encode("utf-16") + b"\x00\xd8"], where="f.jsonl"))
    assert [each.code for each in caught.value.problems] == ["not_utf8"]
    assert wide_encoding(b"") is None and wide_encoding(b"{}\n") is None


def test_the_damage_of_a_file_is_counted_and_the_first_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        line_of(TRACE) * 3 + line_of(TRACE, "mac_roman") * 2 + line_of(TRACE, "windows", escaped=True)
    )
    found = damage_of(path, file="t.jsonl")
    assert found is not None
    assert (found.code, found.severity, found.where) == ("mojibake", "warning", "t.jsonl:4")
    assert found.message.startswith("3 lines") and "'ŒîS' was 'ΔS' and was read as Mac Roman" in found.message
    assert "fix_encoding: true" in found.fix and "--fix-encoding" in found.fix
    path.write_bytes(line_of(TRACE))
    assert damage_of(path, file="t.jsonl") is None


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress], ids=["plain", "gzip"])
def test_a_repaired_copy_is_made_once_and_has_the_lines_of_the_source(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / ("t.jsonl.gz" if pack is gzip.compress else "t.jsonl")
    path.write_bytes(pack(line_of(TRACE) + b"\n" + line_of({**TRACE, "q_id": "Q2"}, "mac_roman")))
    copy = plain_source(path, cache_dir=tmp_path / "cache", fix_encoding=True)
    assert copy == plain_source(path, cache_dir=tmp_path / "cache", fix_encoding=True) != path
    read = list(iter_traces(copy, file="t.jsonl", run_id="R1"))
    assert [(each.source.line, each.raw) for each in read] == [(1, TRACE), (3, {**TRACE, "q_id": "Q2"})]  # type: ignore[union-attr]
    path.write_bytes(pack(line_of(TRACE, "windows")))
    again = plain_source(path, cache_dir=tmp_path / "cache", fix_encoding=True)
    assert [each.raw for each in iter_traces(again, file="t", run_id="R1")] == [TRACE]  # type: ignore[union-attr]
    assert not copy.exists()  # that of the earlier state


def room(folder: Path, *, page: str, whole: bool | None, traces: bool | None = None) -> Path:
    """Make a workspace whose files were decoded as `page`; `whole` and `traces` are its `fix_encoding`."""
    (folder / "c.jsonl").write_bytes(line_of(CHUNK, page))
    (folder / "t.jsonl").write_bytes(line_of(TRACE, page))
    named = {"path": "t.jsonl"} | ({} if traces is None else {"fix_encoding": traces})
    manifest = {"manifest_version": "1.0", "name": "n", "chunks": {"path": "c.jsonl"}}
    manifest |= {"runs": [{"run_id": "R1", "traces": named}]}
    manifest |= {} if whole is None else {"fix_encoding": whole}
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest))
    return folder


def test_check_names_the_damage_and_a_manifest_key_has_it_read(tmp_path: Path) -> None:
    def codes() -> list[tuple[str, str]]:
        with PdfPool() as pool:
            manifest = load_manifest(tmp_path)
            report = check_workspace(manifest, examine=everything(manifest, pool))
        return [(each.code, each.message.partition(":")[0]) for each in report.problems]

    room(tmp_path, page="mac_roman", whole=None)
    assert codes() == [("mojibake", "`chunks`"), ("mojibake", "`runs[R1].traces`")]
    room(tmp_path, page="mac_roman", whole=None, traces=True)
    assert codes() == [("mojibake", "`chunks`")]
    room(tmp_path, page="mac_roman", whole=True, traces=False)
    assert codes() == [("mojibake", "`runs[R1].traces`")]
    room(tmp_path, page="mac_roman", whole=True)
    assert codes() == []
    for name, record in (("t.jsonl", TRACE), ("c.jsonl", CHUNK)):
        (tmp_path / name).write_bytes(line_of(record).decode().encode("utf-16"))
    assert codes() == []
    room(tmp_path, page="mac_roman", whole=False)
    (tmp_path / "t.jsonl").write_bytes(line_of(TRACE).decode().encode("utf-16"))
    assert codes()[0] == ("not_utf8", "`runs[R1].traces`")


def test_the_index_follows_the_manifest_key_and_a_file_that_grows(tmp_path: Path) -> None:
    cache = tmp_path / "cache"

    def indexed() -> tuple[str, list[object]]:
        manifest = load_manifest(tmp_path)
        state = index_state(manifest, "R1", cache)
        build_index(manifest, cache_dir=cache, workers=1)
        assert index_state(manifest, "R1", cache) == "fresh"
        rows = Store(manifest, cache).rows(Filter("R1"), Sort("file"))
        return state, [value for table in rows for value in table["delta_s"]]

    def made(**keys: bool | None) -> tuple[str, list[object]]:
        room(tmp_path, page="windows", **{"whole": None, **keys})
        return indexed()

    assert made()[1] != [0.37]
    assert made(whole=True) == ("stale", [0.37])
    assert made(traces=True) == ("stale", [0.37])  # the chunks are read as they are
    assert made(whole=True) == ("stale", [0.37])
    with (tmp_path / "t.jsonl").open("ab") as file:
        file.write(line_of({**TRACE, "q_id": "Q2", "ΔS": 0.5}, "mac_roman") + b'{"q": "unfin')
    assert indexed() == ("growing", [0.37, 0.5])
    assert made()[0] == "stale"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, [str(each) for each in arguments])


def test_validate_names_the_damaged_key_and_reads_it_on_request(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(line_of(TRACE, "mac_roman"))
    lines = run("validate", path, "--as", "trace", "--json").stdout.splitlines()
    found = [orjson.loads(line) for line in lines]
    (named,) = (each for each in found if each.get("code") == "mojibake")
    assert named["severity"] == "warning"
    assert (named["line"], named["field"]) == (1, "ŒîS")
    assert "mojibake" not in run("validate", path, "--as", "trace", "--fix-encoding").stdout


def test_triage_and_chunk_ids_warn_and_read_repaired_on_request(tmp_path: Path) -> None:
    traces, chunks = tmp_path / "t.jsonl", tmp_path / "c.jsonl"
    traces.write_bytes(line_of(TRACE, "windows"))
    chunks.write_bytes(line_of(CHUNK, "windows"))
    command = ("triage", traces, chunks, "-o", "-", "--no-claims")
    wrong, right = run(*command), run(*command, "--fix-encoding")
    assert wrong.stderr.count("decoded wrongly") == 2 and "decoded wrongly" not in right.stderr
    assert orjson.loads(right.stdout)["q"] == TRACE["q"] != orjson.loads(wrong.stdout)["q"]
    assert "fix_encoding: true" in run("triage", tmp_path, "-o", "-", "--fix-encoding").stderr
    assert "decoded wrongly" in run("chunk-ids", chunks).stderr
    minted = ("chunk-ids", chunks, "--mint", "-o", "-", "--fix-encoding")
    assert orjson.loads(run(*minted).stdout)["text"] == CHUNK["text"]


def test_locate_warns_and_looks_for_the_repaired_quote_on_request(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("The coverage is « né » ≥ 0.70 – so it counts.\n", encoding="utf-8")
    spans = tmp_path / "spans.jsonl"
    span = {"id": "a", "path": "notes.md", "cited_page_idx": 0, "quote": "« né » ≥ 0.70 – so it counts"}
    spans.write_bytes(line_of(span, "windows"))
    wrong, right = run("locate", spans, "-o", "-"), run("locate", spans, "-o", "-", "--fix-encoding")
    assert "decoded wrongly" in wrong.stderr and "decoded wrongly" not in right.stderr
    assert orjson.loads(wrong.stdout)["status"] != "exact" == orjson.loads(right.stdout)["status"]


def test_an_import_reports_damage_and_writes_repaired_records_on_request(tmp_path: Path) -> None:
    source, mapping = tmp_path / "rows.jsonl", tmp_path / "map.yaml"
    source.write_bytes(line_of({"λ_question": TRACE["q"], "texts": [{"t": CHUNK["text"]}]}, "mac_roman"))
    fields = {"each": "texts[]", "text": "t"}
    value = {
        "mapping_version": "1.0",
        "name": "n",
        "run": {"run_id": "R1"},
        "traces": {"q": "λ_question", "stages": {"reranked": fields}, "seen": "reranked"},
    }
    mapping.write_text(yaml.safe_dump(value, allow_unicode=True))
    command = ("import", "mapped", source, "--mapping", mapping, "--no-pages", "--json", "--to")
    report = orjson.loads(run(*command, tmp_path / "a").stdout)
    assert report["traces"] == 0
    assert ("mojibake", "rows.jsonl:1") in [(each["code"], each["where"]) for each in report["problems"]]
    report = orjson.loads(run(*command, tmp_path / "b", "--fix-encoding").stdout)
    assert (report["traces"], report["problems"]) == (1, [])
    assert CHUNK["text"] in (tmp_path / "b/corpus/chunks.jsonl").read_text("utf-8")
