"""`proofspan bundle build`: the file, the printed report, and the exit status."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.manifest.types import Manifest
from proofspan.traces.lines.unpack import plain_source
from tests.bundle_room import CATALOGUE, QUOTE, cites, jsonl, sha256, trace, write_workspace
from tests.unit.bundles.bundle_command import lines, run, workspace

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_pool")]


@pytest.fixture
def folder(bundle_workspace: Path, tmp_path: Path) -> Path:
    """A workspace whose run has three traces; the bundles are not built yet."""
    shutil.copytree(bundle_workspace, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_building_writes_one_line_a_trace_and_the_same_bytes_again(folder: Path) -> None:
    result = run("build", folder)
    assert result.exit_code == 0, result.output
    assert "3 bundles: 3 full · 1 show the closest retrieved passage" in result.stdout
    assert (
        "bundle coverage 100 % (34–100 %): 2 of 2 answers have a citation that can be shown" in result.stdout
    )
    first = (folder / "bundles.jsonl").read_bytes()
    assert [each["q_id"] for each in lines(folder / "bundles.jsonl")] == ["Q1", "Q2", "Q3"]
    assert run("build", folder, "--workers", 1).exit_code == 0
    assert (folder / "bundles.jsonl").read_bytes() == first
    assert run("validate", folder).exit_code == 0


def test_the_bytes_do_not_depend_on_where_the_workspace_lies(tmp_path: Path) -> None:
    workspace(tmp_path / "a", trace(), cites(doc_id="gone", page_idx=1, quote=QUOTE), cites(doc_id="cut"))
    gone, outside = ({**CATALOGUE[1], "attachment_id": name, "render_ref": f"file:{name}"} for name in "go")
    (tmp_path / "a/catalogue.jsonl").write_bytes(jsonl([*CATALOGUE, gone, outside]))
    (tmp_path / "a/media/o").symlink_to("../../secret.png")
    shutil.copytree(tmp_path / "a", tmp_path / "b and c", symlinks=True)
    (tmp_path / "linked").symlink_to("a")
    (tmp_path / "secret.png").touch()
    found = []
    for name in ("a", "b and c", "linked", "b and c/../a"):
        run("build", tmp_path / name)
        found.append((tmp_path / name / "bundles.jsonl").read_bytes())
    assert len(set(found)) == 1
    assert b"leads outside its folder" in found[0]
    assert str(tmp_path).encode() not in found[0]


@pytest.mark.parametrize("name", ["bundles.jsonl.gz", "bundles.jsonl.zst"])
def test_a_packed_name_is_written_packed(name: str, tmp_path: Path) -> None:
    workspace(tmp_path, bundles=name)
    assert run("build", tmp_path).exit_code == 0
    first = (tmp_path / name).read_bytes()
    assert not first.startswith(b"{")
    plain = plain_source(tmp_path / name, cache_dir=tmp_path / "cache")
    assert len(lines(plain)) == 3
    run("build", tmp_path)
    assert (tmp_path / name).read_bytes() == first
    assert run("validate", tmp_path).exit_code == 0


def test_pieces_of_a_packed_file_are_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofspan.cli.evidence.bundle_cmd.LINES_A_PIECE", 1)
    for name in ("bundles.jsonl.gz", "bundles.jsonl.zst"):
        workspace(tmp_path / name, bundles=name)
        assert run("build", tmp_path / name).exit_code == 0
        assert len(lines(plain_source(tmp_path / name / name, cache_dir=tmp_path / "cache"))) == 3


def test_a_run_that_names_no_file_says_which_line_to_add(tmp_path: Path) -> None:
    write_workspace(tmp_path, runs=[{"run_id": "R1", "traces": {"path": "traces.jsonl"}}])
    (tmp_path / "traces.jsonl").write_bytes(jsonl([trace()]))
    for command in ("build", "validate"):
        result = CliRunner().invoke(group, ["bundle", command, str(tmp_path)])
        assert result.exit_code != 0
        assert "add to the run: bundles: {path: runs/R1/bundles.jsonl}" in str(result.exception)
    assert run("build", tmp_path, "-o", tmp_path / "out.jsonl").exit_code == 0
    assert len(lines(tmp_path / "out.jsonl")) == 1
    assert run("validate", tmp_path / "out.jsonl").exit_code == 2
    assert run("validate", tmp_path / "out.jsonl", "--workspace", tmp_path).exit_code == 0


def test_what_cannot_be_built_is_reported_before_anything_is_written(folder: Path) -> None:
    assert "unknown_run" in str(run("build", folder, "--run", "R9").exception.problems)  # type: ignore[union-attr]
    assert run("build", folder, "-o", folder / "traces.jsonl").exit_code != 0
    (folder / "pipeline_manifest.yaml").write_bytes(
        (folder / "pipeline_manifest.yaml").read_bytes().replace(b'"bundles.jsonl"', b'"traces.jsonl"')
    )
    before = (folder / "traces.jsonl").read_bytes()
    assert run("build", folder).exit_code != 0
    assert (folder / "traces.jsonl").read_bytes() == before


def test_a_folder_that_is_not_there_is_to_be_made(tmp_path: Path) -> None:
    workspace(tmp_path, bundles="new/bundles.jsonl")
    output = str(run("build", tmp_path).exception)
    assert "`runs[R1].bundles`: its folder does not exist" in output
    assert f"mkdir -p {tmp_path}/new" in output


def test_stdout_holds_the_bundles_alone(folder: Path) -> None:
    result = run("build", folder, "-o", "-")
    assert [orjson.loads(line)["q_id"] for line in result.stdout.splitlines()] == ["Q1", "Q2", "Q3"]
    assert "3 bundles" in result.stderr
    assert not (folder / "bundles.jsonl").exists()


def test_a_report_as_json_leaves_stdout_to_the_bundles(folder: Path) -> None:
    result = run("build", folder, "-o", "-", "--json")
    assert [orjson.loads(line)["q_id"] for line in result.stdout.splitlines()] == ["Q1", "Q2", "Q3"]
    assert orjson.loads(result.stderr)["runs"][0]["bundles"] == 3


def test_an_older_file_is_upgraded_with_what_it_knew(folder: Path) -> None:
    older = {"bundle_version": "1.2", "q_id": "Q3", "q": "old", "answer": "old", "reviewer": {"name": "M"}}
    gone = {"bundle_version": "1.2", "q_id": "Q9", "x": 1}
    (folder / "bundles.jsonl").write_bytes(jsonl([older, gone, b"{torn"]))
    found = run("validate", folder)
    assert found.exit_code == 1
    assert found.stdout.count("(bundle_older)") == 2
    beside = run("build", folder, "-o", folder / "beside.jsonl")
    assert "left out" not in beside.stderr
    assert lines(folder / "beside.jsonl")[2]["reviewer"] == {"name": "M"}
    result = run("build", folder)
    assert result.exit_code == 0
    assert "1 bundle of the earlier file had no trace in the run: left out" in result.stderr
    assert "1 line of the earlier file held no bundle: left out" in result.stderr
    first, _, third = lines(folder / "bundles.jsonl")
    assert (third["bundle_version"], third["reviewer"], third["q"]) == ("1.3", {"name": "M"}, first["q"])
    written = (folder / "bundles.jsonl").read_bytes()
    assert run("build", folder).exit_code == 0
    assert (folder / "bundles.jsonl").read_bytes() == written
    assert run("validate", folder).exit_code == 0


@pytest.mark.parametrize(
    "data",
    [
        b'{"bundle_version": "2.0", "q_id": "Q1"}\n',
        b'{"q_id": "Q1", "q": "a row of a report", "label": "ok"}\n',
        b"q_id,answer\nQ1,yes\n",
        b"notes of a person\n",
    ],
)
def test_a_file_that_is_not_ours_to_replace_stays(data: bytes, folder: Path) -> None:
    (folder / "bundles.jsonl").write_bytes(data)
    result = run("build", folder)
    assert "not overwritten" in str(result.exception)
    assert (folder / "bundles.jsonl").read_bytes() == data


def test_another_file_that_is_not_ours_stays_where_the_run_has_its_own(folder: Path) -> None:
    run("build", folder)
    (folder / "notes").write_text("notes of a person\n", encoding="utf-8")
    assert "not overwritten" in str(run("build", folder, "-o", folder / "notes").exception)
    assert (folder / "notes").read_text(encoding="utf-8") == "notes of a person\n"


def two_runs(folder: Path) -> Manifest:
    """A workspace of two runs with the same traces."""
    named = ({"traces": {"path": "traces.jsonl"}, "bundles": {"path": f"{name}.jsonl"}} for name in "ab")
    manifest = write_workspace(folder, runs=[{"run_id": f"R{n}", **each} for n, each in enumerate(named)])
    (folder / "traces.jsonl").write_bytes(jsonl([trace()]))
    return manifest


def test_the_bundles_of_another_run_are_not_written_over(tmp_path: Path) -> None:
    two_runs(tmp_path)
    assert run("build", tmp_path).exit_code == 0
    result = run("build", tmp_path, "--run", "R0", "-o", tmp_path / "b.jsonl")
    assert "b.jsonl: this is an input" in str(result.exception)
    assert lines(tmp_path / "b.jsonl")[0]["run_id"] == "R1"


def test_no_run_is_built_where_one_of_them_cannot_be(tmp_path: Path) -> None:
    two_runs(tmp_path)
    (tmp_path / "b.jsonl").write_text("notes of a person\n", encoding="utf-8")
    assert "b.jsonl:1: the file is not overwritten" in str(run("build", tmp_path).exception)
    (tmp_path / "b.jsonl").unlink()
    (tmp_path / "traces.jsonl").unlink()
    output = str(run("build", tmp_path).exception)
    assert ("`runs[R0].traces`: does not exist" in output, "`runs[R1].traces`" in output) == (True, True)
    assert not (tmp_path / "a.jsonl").exists()


def test_a_workspace_without_runs_says_what_to_list(tmp_path: Path) -> None:
    write_workspace(tmp_path, runs=[])
    text = "the manifest lists no run — list a run with its traces under `runs`"
    assert all(text in str(run(what, tmp_path).exception) for what in ("build", "validate"))


def test_unreadable_lines_and_undrawn_pictures_are_findings(folder: Path) -> None:
    (folder / "traces.jsonl").write_bytes(jsonl([trace(), b"{torn"]))
    flawed = {**CATALOGUE[1], "render_ref": "file:x.png"}
    (folder / "catalogue.jsonl").write_bytes(jsonl([CATALOGUE[0], flawed, []]))
    result = run("build", folder)
    assert result.exit_code == 1
    assert "1 line of the traces could not be read" in result.stderr
    assert "`catalogue`: 1 line could not be read" in result.stderr
    assert "1 attachment can't be drawn; first: the picture “Figure 4-1. The jack” (i-1)" in result.stderr
    report = orjson.loads(run("build", folder, "--json").stdout)
    (run_report,) = report["runs"]
    assert run_report["levels"] == {"safety_citation": 1}
    assert {each["code"] for each in run_report["problems"]} == {"lines_unreadable", "attachments_not_drawn"}
    assert [each["code"] for each in report["problems"]] == ["lines_unreadable"]


def test_what_names_nothing_to_draw_is_shown_as_text_and_is_no_finding(folder: Path) -> None:
    notice = {name: value for name, value in CATALOGUE[0].items() if name != "render_ref"}
    (folder / "catalogue.jsonl").write_bytes(jsonl([notice, {**CATALOGUE[1], "page_idx": 70}]))
    result = run("build", folder)
    assert result.exit_code == 0
    assert "note: 1 attachment shown as text: the catalogue names nothing to draw" in result.stderr
    assert "warning: 1 attachment can be drawn but has a problem; first: the picture" in result.stderr
    assert run("validate", folder).exit_code == 0


def test_a_chunk_file_or_catalogue_of_another_hash_is_reported_and_labels_nothing(tmp_path: Path) -> None:
    workspace(tmp_path)
    text = (tmp_path / "pipeline_manifest.yaml").read_text(encoding="utf-8")
    for name in ("chunks.jsonl", "catalogue.jsonl"):
        text = text.replace(f'"path":"{name}"', f'"path":"{name}","sha256":"{"0" * 64}"')
    (tmp_path / "pipeline_manifest.yaml").write_text(text, encoding="utf-8")
    result = run("build", tmp_path)
    assert result.exit_code == 1
    assert "`chunks`: is not the file that the manifest names" in result.stderr
    assert "`catalogue`: is not the file that the manifest names" in result.stderr
    assert {each["label"] for each in lines(tmp_path / "bundles.jsonl")} == {None}


def test_a_document_that_cannot_be_used_is_reported_with_its_fix(tmp_path: Path) -> None:
    workspace(tmp_path, cites(doc_id="cut", page_idx=0, quote=QUOTE))
    text = "cut: the PDF is broken and cannot be opened — download it again, or save it again"
    assert text in run("build", tmp_path).stderr


def test_for_a_manifest_with_the_hash_of_other_bundles_the_new_hash_is_reported(tmp_path: Path) -> None:
    workspace(tmp_path, sha256="0" * 64)
    result = run("build", tmp_path)
    assert f"sha256: {sha256(tmp_path / 'bundles.jsonl')}" in result.stderr
    assert result.exit_code == 0
