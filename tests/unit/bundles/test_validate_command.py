"""`proofspan bundle validate`: what is found in bundles, and the exit status."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.evidence.bundles import sealed
from tests.bundle_room import JACK, QUOTE, cites, jsonl
from tests.pdf_files import write_pages
from tests.unit.bundles.bundle_command import lines, run, workspace

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture
def folder(bundle_workspace: Path, tmp_path: Path) -> Path:
    """A workspace whose run has three traces; the bundles are not built yet."""
    shutil.copytree(bundle_workspace, tmp_path, dirs_exist_ok=True)
    return tmp_path


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


FINDINGS: list[tuple[Change, str]] = [
    (lambda records: records[0].update(answer="changed"), "sha256_differs"),
    (changed("citation", page_idx=-1), "bundle_schema"),
    (changed("citation", page_idx="3"), "bundle_schema"),
    (changed("citation", page_idx=3.5), "bundle_schema"),
    (changed("citation", page_idx=None), "bundle_schema"),
    (changed("citations.0", number=2.0**64), "bundle_schema"),
    (changed("", citation=None), "bundle_schema"),
    (changed("citation", page_idx=3), "page_out_of_range"),
    (changed("citation", doc_id="nobody"), "document_not_listed"),
    (changed("", level="citation_only"), "level_differs"),
    (changed("media_attachments.0", render_ref="file:../x"), "attachment_not_drawn"),
    (changed("", safety_attachments=[]), "attachments_missing"),
    (changed("documents.0", rev="00000000"), "document_changed"),
    (changed("documents.0", sha256="0" * 64), "document_changed"),
    (changed("", q="another question"), "trace_differs"),
    (changed("", run_id="R7"), "other_run"),
    (changed("", q_id="Q8"), "no_trace"),
    (lambda records: records.pop(0), "bundle_missing"),
    (lambda records: records.append(records[0]), "duplicate_bundle"),
    (lambda records: records.reverse(), "out_of_order"),
    (changed("", bundle_version="2.0"), "bundle_newer"),
    (lambda records: records.__setitem__(0, []), "not_a_bundle"),  # type: ignore[call-overload]
]


@pytest.mark.parametrize(("change", "code"), FINDINGS, ids=[each[1] for each in FINDINGS])
def test_each_thing_that_is_wrong_is_one_finding(change: Change, code: str, folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    change(records)
    (folder / "bundles.jsonl").write_bytes(jsonl(records))
    result = run("validate", folder)
    assert result.exit_code == 1
    found = [line for line in result.stdout.splitlines() if f"({code})" in line]
    assert found, result.stdout
    assert found[0].startswith("error: bundles.jsonl")


def test_the_findings_can_be_read_by_programs(folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    records[1]["answer"] = "changed"
    (folder / "bundles.jsonl").write_bytes(jsonl(records[:2]))
    (run_report,) = orjson.loads(run("validate", folder, "--json").stdout)["runs"]
    assert [(each["line"], each["q_id"], each["code"]) for each in run_report["findings"]] == [
        (2, "Q2", "sha256_differs"),
        (2, "Q2", "trace_differs"),
        (None, "Q3", "bundle_missing"),
    ]
    assert (run_report["ok"], run_report["bundles"]) == (False, 2)
    assert (run_report["coverage"]["covered"], run_report["coverage"]["answered"]) == (1, 2)


def test_coverage_counts_answers_whose_bundle_is_missing_broken_or_of_no_page_now(folder: Path) -> None:
    run("build", folder)
    records = lines(folder / "bundles.jsonl")
    changed("citation", page_idx=99)(records)
    records[2]["citation"] = 3
    strange = sealed({**records[1], "q_id": "Q9", "is_refusal": False})
    (folder / "bundles.jsonl").write_bytes(jsonl([*records, records[0], strange]))
    output = run("validate", folder).stdout
    assert "2 bundles: 1 full, 1 text_only" in output
    assert "0 of 2 answers have a citation" in output
    assert "its level is full, and the rules give text_only: its page can't be shown (" in output
    assert "bundle_missing" not in output


def test_a_document_that_is_replaced_is_found(folder: Path) -> None:
    run("build", folder)
    write_pages(folder / "manual.pdf", [["Another edition."], ["With another text."]])
    result = run("validate", folder)
    assert result.exit_code == 1
    assert "(document_changed)" in result.stdout
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
    assert "it is on page_idx 1 of manual and says “The jack”" in found


def test_what_a_bundle_says_of_its_citations_is_a_warning(tmp_path: Path) -> None:
    workspace(tmp_path, cites(doc_id="manual", page_idx=-1, quote=QUOTE))
    assert run("build", tmp_path).exit_code == 0
    result = run("validate", tmp_path)
    assert result.exit_code == 0
    sentence = "citation 1: page_idx is -1, which is no page: pages are whole numbers from 0"
    assert f"{sentence}; the cited text is “{QUOTE}”" in result.stderr


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
    output = {each["key"]: each["problems"] for each in report["artifacts"]}["runs[R1].bundles"]
    assert [each["code"] for each in output] == ["lines_unreadable", "bundles_older"]
    assert "first: line 2: `citation.page_idx`: -1 is less than the minimum of 0" in output[0]["message"]


def test_the_file_of_a_run_may_be_packed_by_others(tmp_path: Path) -> None:
    workspace(tmp_path)
    run("build", tmp_path)
    packed = tmp_path / "sent.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "bundles.jsonl").read_bytes()))
    assert run("validate", packed, "--workspace", tmp_path).exit_code == 0
    assert run("validate", packed, "--workspace", tmp_path, "--run", "R1").exit_code == 0
    assert JACK.encode() in (tmp_path / "bundles.jsonl").read_bytes()
