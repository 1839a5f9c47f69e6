"""`proofspan chunk-ids`: audits, minted ids and redirects, as files and exit statuses."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import nullcontext
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli.records.chunk_ids_cmd import command
from proofspan.contracts.records.chunk_id import VERSION_PINS
from proofspan.contracts.records.names import revision
from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text_file import extractor
from proofspan.manifest.load import load_manifest
from proofspan.resources import DEMO
from proofspan.traces.records.redirects import read_redirects
from tests.unit.store_workspace import lines, manifest_of

pytestmark = pytest.mark.slow

TEXT = "# Notes\n\nThe oil filter holds 4 litres.\n\nCheck the coolant every week.\n"
RECORDS = [
    {"id": "n1", "doc_id": "notes", "section_id": "1", "offsets": [9, 39], "text": TEXT[9:39], "more": [1]},
    {"id": "n2", "doc_id": "notes", "section_id": "1", "offsets": [41, 70], "text": TEXT[41:70]},
]


@pytest.fixture
def workspace(tmp_path: Path, pool: PdfPool, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One text, its two chunks under ids that say nothing, and a gold question with offsets."""
    monkeypatch.setattr("proofspan.cli.records.chunk_ids_cmd.PdfPool", lambda **options: nullcontext(pool))
    (tmp_path / "notes.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "chunks.jsonl").write_bytes(lines(RECORDS))
    span = {"doc_id": "notes", "quote": "4 litres", "offsets": [30, 38]}
    (tmp_path / "gold.jsonl").write_bytes(lines([{"q_id": "Q1", "q": "?", "spans": [span]}]))
    manifest_of(
        tmp_path,
        documents=[{"doc_id": "notes", "path": "notes.md", "paged": False}],
        chunks={"path": "chunks.jsonl"},
        gold={"path": "gold.jsonl"},
    )
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def statuses(result: Result) -> dict[str, str]:
    return {each["name"]: each["status"] for each in orjson.loads(result.stdout)["audits"]}


def test_ids_are_printed_with_their_aliases_in_reading_order(tmp_path: Path) -> None:
    ids = [f"{doc}|r=8c1e9a02|s={section}|p=002|b=007" for doc in ("a", "b") for section in ("2.10", "2.9")]
    (tmp_path / "chunks.jsonl").write_bytes(lines([{"id": each, "text": "x"} for each in ("c1", *ids)]))
    result = run(tmp_path / "chunks.jsonl", "--aliases")
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        [
            f"#s02-09#p002-b007\t{ids[1]}",
            f"#s02-10#p002-b007\t{ids[0]}",
            f"#s02-09#p002-b007\t{ids[3]}",
            f"#s02-10#p002-b007\t{ids[2]}",
            "\tc1",
        ],
    )
    assert "2 aliases of several chunks" in result.stderr and "1 id without an alias" in result.stderr
    listed = orjson.loads(run(tmp_path / "chunks.jsonl", "--aliases", "--json").stdout)
    assert listed[-1] == {"alias": None, "chunk_id": "c1"} and len(listed) == 5
    assert run(tmp_path / "chunks.jsonl", "--aliases", "--mint").exit_code == 2


def test_a_bare_file_is_audited_by_itself(workspace: Path) -> None:
    result = run(workspace / "chunks.jsonl")
    assert result.exit_code == 1
    assert "2 of 2 ids do not follow the format" in result.stdout
    assert "id_not_canonical  n1: 'n1' is not DOC|r=REV" in result.stdout
    assert "Mint ids with `proofspan chunk-ids`." in result.stdout
    assert statuses(run(workspace / "chunks.jsonl", "--json")) == {
        "unique": "pass",
        "format": "fail",
        "place": "unknown",
        "order": "unknown",
        "revision": "unknown",
        "citation_match_sample": "unknown",
        "citation_match": "unknown",
    }


def test_minted_ids_pass_every_audit_and_the_older_ones_lead_to_them(workspace: Path) -> None:
    new, led = workspace / "new.jsonl", workspace / "redirects.jsonl"
    result = run(workspace, "--mint", "-o", new)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "2 of 2 chunks have a new id; 1 revision computed from texts\n"
    minted = [orjson.loads(line) for line in new.read_bytes().splitlines()]
    ids = [f"notes|r={revision(TEXT)}|s=1|p=000|b=00{block}" for block in (1, 2)]
    own = {"extractor": extractor(paged=False)}
    assert minted == [
        {**record, "id": new_id, "old_id": record["id"], **own}
        for record, new_id in zip(RECORDS, ids, strict=True)
    ]

    result = run(new, "--documents", workspace, "--against", workspace, "-o", led, "--json")
    assert result.exit_code == 0, result.output
    assert statuses(result) == {
        "unique": "pass",
        "format": "pass",
        "place": "pass",
        "order": "pass",
        "revision": "unknown",
        "citation_match_sample": "pass",
        "citation_match": "pass",
        "recomputed": "pass",
        "at_place": "pass",
        "one_to_one": "pass",
    }
    assert orjson.loads(result.stdout)["redirects"]["shift"] == 2
    found, issues = read_redirects(led, file="redirects.jsonl")
    assert ({old: each.new_ids for old, each in found.items()}, issues) == (
        {"n1": (ids[0],), "n2": (ids[1],)},
        [],
    )
    assert b'"$schema":"urn:proofspan:schema:redirect-1.0"' in led.read_bytes()


def test_too_few_old_ids_that_lead_on_are_a_failure_with_its_next_step(workspace: Path) -> None:
    (workspace / "old.jsonl").write_bytes(lines([*RECORDS, {"id": "n3", "text": "Nothing of this is left."}]))
    result = run(workspace / "chunks.jsonl", "--against", workspace / "old.jsonl", "-o", "-")
    assert result.exit_code == 1
    kinds = [orjson.loads(line)["kind"] for line in result.stdout.splitlines()]
    assert kinds == ["same", "same", "gone"]
    output = run(workspace / "chunks.jsonl", "--against", workspace / "old.jsonl").stdout
    assert (
        "2 of 3 old ids, 67 % (21–94 %), lead to one chunk each; the target is 95 % (2 same, 1 gone)"
        in output
    )
    assert "Check what rev is computed from" in output


def test_a_line_that_is_no_chunk_is_reported_and_the_rest_is_audited(workspace: Path) -> None:
    (workspace / "chunks.jsonl").write_bytes(lines([b"{", *RECORDS]))
    result = run(workspace, "--json")
    assert result.exit_code == 1
    assert orjson.loads(result.stdout)["chunks"] == 2
    assert "chunks.jsonl:1" in result.stderr


def test_a_chunk_of_no_document_keeps_its_id(workspace: Path) -> None:
    (workspace / "bare.jsonl").write_bytes(lines([{"chunk_id": "x", "text": "Text."}]))
    result = run(workspace / "bare.jsonl", "--mint", "-o", "-")
    assert (result.exit_code, orjson.loads(result.stdout)) == (1, {"chunk_id": "x", "text": "Text."})
    assert "1 keep theirs" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--mint"], "--mint needs -o"),
        (["--mint", "-o", "x", "--json"], "leave out --against and --json"),
        (["-o", "x"], "add --against OLD or --mint"),
        (["--against", "old", "--json", "-o", "-"], "would both write to stdout"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    arguments: list[str], expected: str, workspace: Path
) -> None:
    result = run(workspace, *arguments)
    assert result.exit_code == 2
    assert expected in result.output


def test_nothing_is_written_over_an_input_and_a_missing_file_is_unusable(workspace: Path) -> None:
    chunks = workspace / "chunks.jsonl"
    assert isinstance(run(chunks, "--mint", "-o", chunks).exception, InputFault)
    assert isinstance(run(workspace / "none.jsonl").exception, InputFault)
    assert chunks.read_bytes() == lines(RECORDS)


def test_the_help_lists_what_pins_a_version() -> None:
    help_text = " ".join(run("--help").output.split())
    assert ", ".join(sorted(VERSION_PINS)) in help_text


def test_the_demo_passes_every_audit_and_mints_its_own_ids_again(tmp_path: Path) -> None:
    result = run(DEMO, "--json")
    assert set(statuses(result).values()) == {"pass"}, result.stdout
    assert result.exit_code == 0
    assert run(DEMO, "--mint", "-o", tmp_path / "again.jsonl").exit_code == 0
    again = hashlib.sha256((tmp_path / "again.jsonl").read_bytes()).hexdigest()
    chunks = load_manifest(DEMO).chunks
    assert chunks is not None
    assert again == chunks.sha256


@pytest.mark.real_data
def test_an_id_made_without_text_gets_the_revision_of_a_real_manual(real_data: Path, tmp_path: Path) -> None:
    shutil.copy(real_data / "car_manual" / "tiago_owners_manual.pdf", tmp_path / "manual.pdf")
    text = "Unleaded regular grade petrol conforming to IS 2796:2008 and BS IV specification"
    record = {"chunk_id": "m|r=00000000|s=p127|p=127|b=001", "doc_id": "m", "page_idx": 126, "text": text}
    (tmp_path / "chunks.jsonl").write_bytes(lines([record]))
    manifest_of(tmp_path, documents=[{"doc_id": "m", "path": "manual.pdf"}], chunks={"path": "chunks.jsonl"})
    assert run(tmp_path, "--mint", "-o", tmp_path / "new.jsonl").exit_code == 0
    result = run(tmp_path / "new.jsonl", "--documents", tmp_path, "--against", tmp_path, "--json")
    assert result.exit_code == 0
    passing = {name for name, status in statuses(result).items() if status == "pass"}
    assert passing >= {"recomputed", "at_place", "one_to_one"}
    assert orjson.loads(result.stdout)["redirects"]["rev"] == 1
