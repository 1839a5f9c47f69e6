"""`proofspan bundle build|validate`: what is written where, what is found, and the exit status."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from core.cli import group
from core.evidence.bundles import sealed
from core.evidence.client import PdfPool
from core.manifest.types import Manifest
from core.traces.unpack import plain_source
from tests.bundle_room import CATALOGUE, JACK, QUOTE, cites, jsonl, sha256, trace, write_workspace
from tests.pdf_files import write_pages


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["bundle", *map(str, arguments)])


@pytest.fixture(autouse=True)
def one_pool(pool: PdfPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command asks the same workers: starting them takes longer than what they are asked."""
    monkeypatch.setattr("core.cli.bundle_cmd.PdfPool", lambda **options: nullcontext(pool))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    workspace(folder)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A workspace whose run has three traces; the bundles are not built yet."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def workspace(folder: Path, *records: Any, bundles: str = "bundles.jsonl", **more: Any) -> Manifest:
    run = {"run_id": "R1", "traces": {"path": "traces.jsonl"}, "bundles": {"path": bundles, **more}}
    manifest = write_workspace(folder, runs=[run])
    given = records or (trace("Q1"), trace("Q2", citations=[], answer="not in context"), trace("Q3"))
    (folder / "traces.jsonl").write_bytes(jsonl(given))
    return manifest


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_building_writes_one_line_a_trace_and_the_same_bytes_again(folder: Path) -> None:
    result = run("build", folder)
    assert result.exit_code == 0, result.output
    assert "3 bundles: 3 full · 1 show the closest retrieved passage" in result.stdout
    assert "bundle coverage 100 % (34–100 %): 2 of 2 answered questions" in result.stdout
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
    monkeypatch.setattr("core.cli.bundle_cmd.LINES_A_PIECE", 1)
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


def test_what_cannot_be_built_is_told_before_anything_is_written(folder: Path) -> None:
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
    told = str(run("build", tmp_path).exception)
    assert "`runs[R1].bundles`: its folder does not exist" in told
    assert f"mkdir -p {tmp_path}/new" in told


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
    assert "1 bundle of the earlier file belonged to no trace of the run: left out" in result.stderr
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
    assert "not written over" in str(result.exception)
    assert (folder / "bundles.jsonl").read_bytes() == data


def test_another_file_that_is_not_ours_stays_where_the_run_has_its_own(folder: Path) -> None:
    run("build", folder)
    (folder / "notes").write_text("notes of a person\n", encoding="utf-8")
    assert "not written over" in str(run("build", folder, "-o", folder / "notes").exception)
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
    assert "b.jsonl:1: the file is not written over" in str(run("build", tmp_path).exception)
    (tmp_path / "b.jsonl").unlink()
    (tmp_path / "traces.jsonl").unlink()
    told = str(run("build", tmp_path).exception)
    assert ("`runs[R0].traces`: does not exist" in told, "`runs[R1].traces`" in told) == (True, True)
    assert not (tmp_path / "a.jsonl").exists()


def test_a_workspace_without_runs_says_what_to_list(tmp_path: Path) -> None:
    write_workspace(tmp_path, runs=[])
    told = "the manifest lists no run — list a run with its traces under `runs`"
    assert all(told in str(run(what, tmp_path).exception) for what in ("build", "validate"))


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
    (told,) = report["runs"]
    assert told["levels"] == {"safety_citation": 1}
    assert {each["code"] for each in told["problems"]} == {"lines_unreadable", "attachments_not_drawn"}
    assert [each["code"] for each in report["problems"]] == ["lines_unreadable"]


def test_what_names_nothing_to_draw_is_shown_as_text_and_is_no_finding(folder: Path) -> None:
    notice = {name: value for name, value in CATALOGUE[0].items() if name != "render_ref"}
    (folder / "catalogue.jsonl").write_bytes(jsonl([notice, {**CATALOGUE[1], "page_idx": 70}]))
    result = run("build", folder)
    assert result.exit_code == 0
    assert "note: 1 attachment shown as text: the catalogue names nothing to draw" in result.stderr
    assert "warning: 1 attachment can be drawn, but not all is right; first: the picture" in result.stderr
    assert run("validate", folder).exit_code == 0


def test_a_chunk_file_or_catalogue_of_another_hash_is_told_and_labels_nothing(tmp_path: Path) -> None:
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


def test_a_document_that_cannot_be_used_says_what_mends_it(tmp_path: Path) -> None:
    workspace(tmp_path, cites(doc_id="cut", page_idx=0, quote=QUOTE))
    told = "cut: the PDF is broken and cannot be opened — download it again, or save it anew"
    assert told in run("build", tmp_path).stderr


def test_a_manifest_with_the_hash_of_other_bundles_is_told_the_new_one(tmp_path: Path) -> None:
    workspace(tmp_path, sha256="0" * 64)
    result = run("build", tmp_path)
    assert f"sha256: {sha256(tmp_path / 'bundles.jsonl')}" in result.stderr
    assert result.exit_code == 0


Change = Callable[[list[dict[str, Any]]], object]


def changed(part: str, **values: Any) -> Change:
    """Gives fields of the first bundle, or of a part of it, other values, and seals it again."""

    def change(records: list[dict[str, Any]]) -> None:
        inside: Any = records[0]
        for step in filter(None, part.split(".")):
            inside = inside[int(step) if step.isdigit() else step]
        inside.update(values)
        records[0] = sealed(records[0])

    return change


FINDINGS: list[tuple[Change, str, str]] = [
    (
        lambda records: records[0].update(answer="changed"),
        "sha256_differs",
        "was changed after it was",
    ),
    (
        changed("citation", page_idx=-1),
        "bundle_schema",
        "`citation.page_idx`: -1 is less than the minimum of 0",
    ),
    (changed("citation", page_idx="3"), "bundle_schema", '`citation.page_idx`: "3" is not of type'),
    (changed("citation", page_idx=3.5), "bundle_schema", "`citation.page_idx`: 3.5 is not of type"),
    (changed("citation", page_idx=None), "bundle_schema", "`citation.page_idx`: null is not of type"),
    (changed("citations.0", number=2.0**64), "bundle_schema", "is greater than the maximum of"),
    (changed("", citation=None), "bundle_schema", "`citation`: null is not of type"),
    (changed("citation", page_idx=3), "page_out_of_range", "page_idx 3 lies beyond the end of manual"),
    (changed("citation", doc_id="nobody"), "document_not_listed", "the workspace has no document nobody"),
    (
        changed("", level="citation_only"),
        "level_differs",
        "and the rules give full",
    ),
    (changed("media_attachments.0", render_ref="file:../x"), "attachment_not_drawn", "and says “The jack”"),
    (
        changed("", safety_attachments=[]),
        "attachments_missing",
        "1 of the 2 attachments that belong to it is not listed, first the warning w-1",
    ),
    (changed("documents.0", rev="00000000"), "document_changed", "was revision 00000000 and is 8c1e9a02"),
    (changed("documents.0", sha256="0" * 64), "document_changed", "is another file than the one"),
    (changed("", q="another question"), "trace_differs", "is not that of its trace"),
    (changed("", run_id="R7"), "other_run", "belongs to run R7"),
    (changed("", q_id="Q8"), "no_trace", "no trace of the run belongs to it"),
    (lambda records: records.pop(0), "bundle_missing", "Q1: the trace has no bundle"),
    (lambda records: records.append(records[0]), "duplicate_bundle", "stands on line 1 before"),
    (lambda records: records.reverse(), "out_of_order", "stands behind the bundle of a later trace"),
    (changed("", bundle_version="2.0"), "bundle_newer", "1.3 is the last that is read"),
    (lambda records: records.__setitem__(0, []), "not_a_bundle", "the line is no bundle"),  # type: ignore[call-overload]
]


@pytest.mark.parametrize(("change", "code", "message"), FINDINGS, ids=[each[1] for each in FINDINGS])
def test_each_thing_that_is_wrong_is_one_finding(
    change: Change, code: str, message: str, folder: Path
) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    change(records)
    (folder / "bundles.jsonl").write_bytes(jsonl(records))
    result = run("validate", folder)
    assert result.exit_code == 1
    found = [line for line in result.stdout.splitlines() if f"({code})" in line]
    assert found, result.stdout
    assert found[0].startswith("error: bundles.jsonl")
    assert message in found[0]


def test_the_findings_can_be_read_by_programs(folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    records[1]["answer"] = "changed"
    (folder / "bundles.jsonl").write_bytes(jsonl(records[:2]))
    (told,) = orjson.loads(run("validate", folder, "--json").stdout)["runs"]
    assert [(each["line"], each["q_id"], each["code"]) for each in told["findings"]] == [
        (2, "Q2", "sha256_differs"),
        (2, "Q2", "trace_differs"),
        (None, "Q3", "bundle_missing"),
    ]
    assert (told["ok"], told["bundles"]) == (False, 2)
    assert (told["coverage"]["covered"], told["coverage"]["answered"]) == (1, 2)


def test_coverage_counts_answers_whose_bundle_is_missing_broken_or_of_no_page_now(folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    changed("citation", page_idx=99)(records)
    records[2]["citation"] = 3
    strange = sealed({**records[1], "q_id": "Q9", "is_refusal": False})
    (folder / "bundles.jsonl").write_bytes(jsonl([*records, records[0], strange]))
    told = run("validate", folder).stdout
    assert "2 bundles: 1 full, 1 text_only" in told
    assert "0 of 2 answered questions" in told
    assert "its level is full, and the rules give text_only: its page can't be shown (" in told
    assert "bundle_missing" not in told


def test_a_document_that_is_replaced_is_found(folder: Path) -> None:
    run("build", folder)
    write_pages(folder / "manual.pdf", [["Another edition."], ["With another text."]])
    result = run("validate", folder)
    assert result.exit_code == 1
    assert "manual is another file than the one that the bundle was built from" in result.stdout
    assert "(document_replaced)" in result.stdout
    assert run("build", folder).exit_code == 1
    assert {each["level"] for each in lines(folder / "bundles.jsonl")} == {"safety_citation"}
    assert "is not the one that the manifest names" in lines(folder / "bundles.jsonl")[0]["level_reason"]


def test_a_picture_that_is_gone_is_found_with_its_text_and_place(folder: Path) -> None:
    run("build", folder)
    (folder / "media/jack.png").unlink()
    found = run("validate", folder).stdout.splitlines()[0]
    assert found.startswith(
        "error: bundles.jsonl:1: Q1: the picture “Figure 4-1. The jack” (i-1) can't be drawn"
    )
    assert "it stands on page_idx 1 of manual and says “The jack”" in found


def test_what_a_bundle_says_of_its_citations_is_a_warning(tmp_path: Path) -> None:
    workspace(tmp_path, cites(doc_id="manual", page_idx=-1, quote=QUOTE))
    assert run("build", tmp_path).exit_code == 0
    result = run("validate", tmp_path)
    assert result.exit_code == 0
    told = "citation 1: page_idx is -1, which is no page: pages are whole numbers from 0"
    assert f"{told}; the cited text is “{QUOTE}”" in result.stderr


def test_bundles_that_are_not_built_yet_are_missing(folder: Path) -> None:
    result = run("validate", folder)
    assert "proofspan bundle build WORKSPACE" in str(result.exception)
    checked = CliRunner().invoke(group, ["check", str(folder)])
    assert "build them: proofspan bundle build WORKSPACE" in checked.stdout


def test_check_reads_bundles_against_their_schema(folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    records[1]["citation"]["page_idx"] = -1
    older = {"bundle_version": "1.2", "q_id": "Q1"}
    (folder / "bundles.jsonl").write_bytes(jsonl([*records, older]))
    report = orjson.loads(CliRunner().invoke(group, ["check", str(folder), "--json"]).stdout)
    told = {each["key"]: each["problems"] for each in report["artifacts"]}["runs[R1].bundles"]
    assert [each["code"] for each in told] == ["lines_unreadable", "bundles_older"]
    assert "first: line 2: `citation.page_idx`: -1 is less than the minimum of 0" in told[0]["message"]


def test_the_file_of_a_run_may_be_packed_by_others(tmp_path: Path) -> None:
    workspace(tmp_path)
    run("build", tmp_path)
    packed = tmp_path / "sent.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "bundles.jsonl").read_bytes()))
    assert run("validate", packed, "--workspace", tmp_path).exit_code == 0
    assert run("validate", packed, "--workspace", tmp_path, "--run", "R1").exit_code == 0
    assert JACK.encode() in (tmp_path / "bundles.jsonl").read_bytes()
