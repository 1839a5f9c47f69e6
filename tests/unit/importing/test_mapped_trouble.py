"""The mapped import with invalid input: problems with their places, and nothing half done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from proofspan.errors import Fault
from proofspan.traces.importers import sources
from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.mapping import load_mapping
from proofspan.traces.importers.workspace import import_source
from tests.places import CHECKOUT
from tests.unit.importing.mapped_room import MAPPING, RECORD, bytes_in, imported, traces_in, write_source

MAPPINGS = CHECKOUT / "data" / "mappings"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "foreign")


def test_bad_lines_are_reported_by_number_and_the_rest_is_imported(source: Path, tmp_path: Path) -> None:
    lines = ["{not json", json.dumps(RECORD), '{"question": null}', "[1, 2]", json.dumps(RECORD)[:-1]]
    source.write_text("\n".join(lines))
    report = imported(source, tmp_path / "ws")
    assert sorted((each.source.line, each.code) for each in report.issues) == [
        (1, "not_json"),
        (3, "q_missing"),
        (4, "q_missing"),
        (5, "not_json"),
    ]
    assert report.traces == 1


def test_an_each_that_leads_nowhere_is_counted_and_named(source: Path, tmp_path: Path) -> None:
    mapping = source.parent / "map.yaml"
    mapping.write_text(MAPPING.replace("each: ctx[]", "each: ctxz[]"))
    report = imported(source, tmp_path / "ws")
    counts = {each.key: (each.found, each.absent, each.unusable) for each in report.fields}
    assert counts["traces.stages.retrieved.each"] == (0, 1, 0)
    assert counts["traces.stages.reranked.each"] == counts["gold.spans.each"] == (1, 0, 0)
    (problem,) = report.problems
    assert problem.code == "each_not_found"
    assert "`traces.stages.retrieved.each`" in problem.message


def test_a_record_without_a_list_where_the_others_have_one_is_counted(source: Path, tmp_path: Path) -> None:
    records = [RECORD, {**RECORD, "ctx": "str"}, {**RECORD, "ctx": []}, {**RECORD, "ctx": None}]
    source.write_text("".join(json.dumps(each) + "\n" for each in records))
    report = imported(source, tmp_path / "ws")
    (count,) = (each for each in report.fields if each.key == "traces.stages.retrieved.each")
    assert (count.found, count.absent, count.unusable, count.first_unusable) == (2, 1, 1, 2)
    (problem,) = report.problems
    assert problem.code == "each_no_list"
    assert report.has_findings


@pytest.mark.parametrize("indent", [None, 1])
def test_the_entries_of_an_array_are_named_by_their_own_lines(
    source: Path, tmp_path: Path, indent: int | None
) -> None:
    records = [RECORD, {"question": None}, {**RECORD, "out": {"text": 5}}]
    text = json.dumps(records, indent=indent)
    source.write_text(text)
    report = imported(source, tmp_path / "ws")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line == " {"] or [1, 1, 1]
    assert [(each.source.line, each.code) for each in report.issues] == [(lines[1], "q_missing")]
    (count,) = (each for each in report.fields if each.key == "traces.answer")
    assert count.first_unusable == lines[2]


def test_a_folder_with_anything_in_it_is_left_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(Fault) as caught:
            imported(source, target, force=force)
        assert caught.value.problems[0].code == ("not_an_import" if force else "not_empty")
    assert bytes_in(target) == {"mine.txt": b"mine"}


def test_force_replaces_what_an_import_made_and_keeps_the_rest(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    imported(source, target)
    (target / "annotations.jsonl").write_text('{"note": 1}\n')
    source.write_text(json.dumps({**RECORD, "question": "New?"}) + "\n")
    with pytest.raises(Fault, match="not empty"):
        imported(source, target)
    imported(source, target, force=True)
    assert traces_in(target)[0].q == "New?"
    assert (target / "annotations.jsonl").read_text() == '{"note": 1}\n'
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_force_does_not_overwrite_a_manifest_that_was_edited(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    imported(source, target)
    edited = (target / "pipeline_manifest.yaml").read_text() + "# mine\n"
    (target / "pipeline_manifest.yaml").write_text(edited)
    with pytest.raises(Fault, match="changed since"):
        imported(source, target, force=True)
    assert (target / "pipeline_manifest.yaml").read_text() == edited


def test_a_place_that_cannot_be_written_is_named(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Fault) as caught:
        imported(source, tmp_path / "file" / "ws")
    assert caught.value.problems[0].code == "not_writable"


def test_a_failed_import_leaves_nothing_behind(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("proofspan.traces.importers.workspace.shutil.copyfile", full)
    with pytest.raises(Fault, match="No space left"):
        imported(source, tmp_path / "ws")
    assert [each.name for each in tmp_path.iterdir()] == ["foreign"]


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("q: question\n  answer", "q: a..b\n  answer"), 8, "not a path"),
        (("{path: pg, base: 1}\n      score", "pg\n      score"), 16, "base"),
        (("seen: reranked", "seen: fused"), 21, "'fused'"),
        (("'p\\. (\\d+)'", "'p'"), 32, "0 groups"),
        (("run_id: R001", "run_id: ../R1"), 4, "run_id"),
        (("name: Some pipeline", "nom: x"), 2, "nom"),
        (("documents: {pattern", "documents: {patern"), 33, "patern"),
        (("  seen: reranked\n", ""), 7, "seen"),
    ],
)
def test_a_wrong_mapping_says_where_and_what(
    source: Path, tmp_path: Path, change: tuple[str, str], line: int, says: str
) -> None:
    mapping = source.parent / "map.yaml"
    assert change[0] in MAPPING
    mapping.write_text(MAPPING.replace(*change))
    with pytest.raises(Fault) as caught:
        imported(source, tmp_path / "ws")
    reported = [str(problem) for problem in caught.value.problems]
    assert any(says in each and f"map.yaml:{line}:" in each for each in reported), reported
    assert not (tmp_path / "ws").exists()


@pytest.mark.parametrize("name", [*sorted(each.name for each in MAPPINGS.iterdir()), ""])
def test_every_example_of_a_mapping_can_be_used(name: str, tmp_path: Path) -> None:
    file = MAPPINGS / name
    if not name:  # the example in the documentation
        text = (CHECKOUT / "docs" / "formats.md").read_text("utf-8")
        (shown,) = [each for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "group_by" in each]
        file = tmp_path / "map.yaml"
        file.write_text(f'mapping_version: "1.0"\nname: n\nrun: {{run_id: R001}}\n{shown}')
    assert load_mapping(file).groups


def test_a_mapping_that_is_not_there_or_a_folder_is_called_so(source: Path, tmp_path: Path) -> None:
    for name, code in (("nope.yaml", "missing_file"), ("pdf", "not_a_file")):
        with pytest.raises(Fault) as caught:
            import_source(MAPPED, source, workspace=tmp_path / "ws", files={"mapping": source.parent / name})
        (problem,) = caught.value.problems
        assert problem.code == code and "permissions" not in problem.fix


def test_a_source_that_is_no_json_is_named_with_its_remedy(source: Path, tmp_path: Path) -> None:
    source.write_text("<html><body>Sign in</body></html>\n")
    with pytest.raises(Fault) as caught:
        imported(source, tmp_path / "ws")
    assert caught.value.problems[0].code == "not_jsonl"
    with pytest.raises(Fault) as caught:
        imported(source.with_name("absent.jsonl"), tmp_path / "ws")
    assert caught.value.problems[0].code == "missing_file"


def test_an_object_that_is_too_large_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_OBJECT", 20)
    source.write_text('{\n"rows": [{"q": "?"}, {"q": "?"}]\n}\n')
    with pytest.raises(Fault) as caught:
        imported(source, tmp_path / "ws")
    assert [each.code for each in caught.value.problems] == ["object_too_large"]


def test_a_box_must_say_what_it_is_measured_in(source: Path, tmp_path: Path) -> None:
    (source.parent / "map.yaml").write_text(
        'mapping_version: "1.0"\nname: Boxes\nchunks: {text: body, bbox: {path: rect}}\n'
    )
    with pytest.raises(Fault) as raised:
        imported(source, tmp_path / "ws")
    assert "points, unit (0 to 1) or per_mille (0 to 1000)" in raised.value.problems[0].fix
