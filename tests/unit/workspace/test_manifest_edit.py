"""A run added to a manifest: comments and all other bytes stay, in whichever way the file is written."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import InputFault, ManifestFault
from proofspan.manifest.edit import add_file, add_run
from proofspan.manifest.load import load_manifest

HEAD = 'manifest_version: "1.0"\nname: test\n'
ENTRY = {
    "run_id": "R9",
    "title": "k: 10 # λ, 'quoted', true",
    "class": "whatif",
    "traces": {"path": "runs/R9/trace.jsonl", "sha256": "0" * 64},
    "pinned": {"a": "1.10", "b": True, "c": None, "d": "yes", "e": "012", "f": "two\nlines"},
}
BLOCKS = {
    "indentless": "runs:\n- run_id: R1\n  traces: {path: a.jsonl}\n",
    "indented": "runs:\n    -   run_id: R1\n        traces:\n            path: a.jsonl # why\n",
    "comments": "runs: # all\n# first\n- run_id: R1 # it\n  report: {path: r}\n\n# the end\ngates: {}\n",
    "last key null": "runs:\n- run_id: R1\n  pinned:\n    a:\n",
    "block text": "runs:\n- run_id: R1\n  title: |+\n    long\n\n\ngoals: {}\n",
    "anchors": "x-base: &base {a: b}\nruns: &all\n  - &one\n    run_id: R1\n    pinned: *base\n",
    "alias last": "x-base: &base {a: b}\nruns:\n- run_id: R1\n  pinned: *base # shared\n# after\n",
    "no line end": "runs:\n- run_id: R1",
    "marked end": "runs:\n- run_id: R1\n...\n# no more\n",
    "empty list": "runs: []  # none yet\ngoals: {}\n",
    "empty at the end": "runs: [ ]",
    "flow": "runs: [{run_id: R1, traces: {path: a.jsonl}},\n  {run_id: R2},\n]\n",
    "flow with a comment": "runs: [\n  {run_id: R1} # it\n]\n",
    "flow with a bracket in a comment": "runs: [ # ]\n]\n",
    "no runs": "goals: {}\n# the end\n",
    "nothing": "",
}


def manifest_file(folder: Path, text: str, name: str = "pipeline_manifest.yaml") -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


def check_added(file: Path, before: str) -> str:
    """The manifest is what it was and has the run, and only something was put in at one place."""
    old = load_manifest(file)
    assert add_run(file, ENTRY) is True
    after = file.read_bytes().decode()
    new = load_manifest(file)
    assert new.raw == {**old.raw, "runs": [*old.raw.get("runs", []), ENTRY]}
    kept = before.replace("runs: []  #", "runs:  #").replace("runs: [ ]", "runs:")
    start = next((at for at, sign in enumerate(kept) if after[at] != sign), len(kept))
    assert after.endswith(kept[start:])
    assert add_run(file, ENTRY) is False
    assert file.read_bytes().decode() == after
    assert [*file.parent.iterdir()] == [file]
    return after


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_run_is_added_and_every_line_stays(tmp_path: Path, name: str, line_end: str) -> None:
    before = (HEAD + BLOCKS[name]).replace("\n", line_end)
    after = check_added(manifest_file(tmp_path, before), before)
    assert after.count("\n") == after.count(line_end)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_file_is_added_and_every_line_stays(tmp_path: Path, name: str, line_end: str) -> None:
    before = (HEAD + BLOCKS[name]).replace("\n", line_end)
    check_file_added(manifest_file(tmp_path, before), before)


def test_a_file_is_added_to_a_manifest_in_json(tmp_path: Path) -> None:
    before = '{"manifest_version": "1.0", "name": "test"}\n'
    check_file_added(manifest_file(tmp_path, before), before)


def check_file_added(file: Path, before: str) -> None:
    old = load_manifest(file)
    assert add_file(file, "annotations", "notes.jsonl") is True
    after = file.read_bytes().decode()
    assert load_manifest(file).raw == {**old.raw, "annotations": {"path": "notes.jsonl"}}
    start = next((at for at, sign in enumerate(before) if after[at] != sign), len(before))
    assert after.endswith(before[start:])
    assert add_file(file, "annotations", "other.jsonl") is False
    assert file.read_bytes().decode() == after


def test_a_manifest_with_a_mark_an_indent_and_signs_before_the_runs(tmp_path: Path) -> None:
    before = "\ufeff" + "".join(
        f"  {line}\n" for line in (HEAD + "x-é: λ 𝄞\n" + BLOCKS["comments"]).splitlines()
    )
    after = check_added(manifest_file(tmp_path, before, "other.yml"), before)
    assert after.startswith("\ufeff  manifest")
    assert "\n  - run_id: R9\n    title:" in after


@pytest.mark.parametrize("runs", ["", ', "runs": []', ', "runs": [{"run_id": "R1"}]'])
def test_a_manifest_in_json(tmp_path: Path, runs: str) -> None:
    before = '{"manifest_version": "1.0", "name": "test"' + runs + "}\n"
    check_added(manifest_file(tmp_path, before), before)


def test_what_cannot_be_edited_is_refused_with_the_entry_to_add_by_hand(tmp_path: Path) -> None:
    before = HEAD + "x-runs: &all\n- run_id: R1\nruns: *all\n"
    file = manifest_file(tmp_path, before)
    with pytest.raises(InputFault) as refused:
        add_run(file, ENTRY)
    (problem,) = refused.value.problems
    assert problem.code == "manifest_not_edited"
    assert '"run_id": "R9"' in problem.fix
    assert file.read_text() == before


def test_a_run_of_the_id_with_other_content_is_refused(tmp_path: Path) -> None:
    file = manifest_file(tmp_path, HEAD + "runs:\n- run_id: R9\n")
    with pytest.raises(InputFault, match="has a run `R9` with other content"):
        add_run(file, ENTRY)


def test_an_entry_that_breaks_the_schema_is_refused(tmp_path: Path) -> None:
    before = HEAD + BLOCKS["indentless"]
    file = manifest_file(tmp_path, before)
    with pytest.raises(ManifestFault) as refused:
        add_run(file, {"run_id": "R9", "traces": {"path": ""}})
    assert [problem.code for problem in refused.value.problems] == ["schema"]
    assert file.read_text() == before


def test_a_manifest_that_is_a_link_stays_one_and_keeps_its_mode(tmp_path: Path) -> None:
    file = manifest_file(tmp_path, HEAD)
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(file.name)
    assert add_run(link, ENTRY)
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert load_manifest(file).run("R9") is not None


@pytest.mark.parametrize("refused", ["fsync", "replace"])
def test_a_full_disk_leaves_the_manifest_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    file = manifest_file(tmp_path, HEAD)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[refused], full)
    with pytest.raises(InputFault, match="No space left on device"):
        add_run(file, ENTRY)
    assert ([*tmp_path.iterdir()], file.read_text()) == ([file], HEAD)


def test_runs_added_at_the_same_time_are_all_there(tmp_path: Path) -> None:
    file = manifest_file(tmp_path, HEAD + BLOCKS["comments"])
    threads = [threading.Thread(target=add_run, args=(file, {"run_id": f"N{n}"})) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = load_manifest(file).runs
    assert {run.run_id for run in runs} == {"R1", *(f"N{n}" for n in range(12))}


VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12) | st.booleans() | st.none(),
    lambda inner: st.dictionaries(st.text("abc-: ", min_size=1, max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=25)  # each goes to the disk
@given(
    pinned=st.dictionaries(st.text("abc:#- ", min_size=1, max_size=5), VALUES, max_size=4),
    title=st.text(max_size=20),
)
def test_any_text_is_read_back_or_the_manifest_stays(
    tmp_path_factory: pytest.TempPathFactory, pinned: dict[str, object], title: str
) -> None:
    before = HEAD + BLOCKS["indented"]
    file = manifest_file(tmp_path_factory.mktemp("manifest"), before)
    entry = {"run_id": "R9", "title": title, "pinned": pinned}
    try:
        add_run(file, entry)
    except InputFault:
        assert file.read_text() == before
    else:
        assert load_manifest(file).raw["runs"][-1] == entry
