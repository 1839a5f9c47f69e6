"""`proofspan review`: what is added is listed and measured, and the files of two people become one."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.records.review_cmd import command
from proofspan.cli.records.validate_cmd import command as validate
from proofspan.errors import Fault
from proofspan.journal.annotations import (
    Annotation,
    Annotations,
    Target,
    annotations_of,
    folded,
    line_of,
    read_annotations,
)
from proofspan.journal.lines import entries_in
from proofspan.journal.merged import merged
from proofspan.manifest.types import Manifest
from proofspan.services.review import agreement, ruled
from tests.unit.store_workspace import built, trace, write_workspace

TIME = "2026-02-27T10:00:0{}.000Z"
WRONG = Annotation("verdict", Target("R1", "Q1"), "Ada", TIME.format(2), agrees=False, correct="wrong")
ENTRIES = [
    Annotation("verdict", Target("R1", "Q1"), "Ada", TIME.format(1), agrees=True),
    WRONG,
    Annotation("note", Target("R1", "Q2", 1), "Ben", TIME.format(3), text="a\nb"),
    Annotation("assignment", Target("R1", "Q2"), "Ben", TIME.format(3), assignee="Ada"),
    Annotation("withdrawal", WRONG.target, "Ada", TIME.format(4), withdraws=str(line_of(WRONG)["entry_id"])),
]


def lines_of(*annotations: Annotation) -> bytes:
    return b"".join(orjson.dumps(line_of(each)) + b"\n" for each in annotations)


#: Lines that hold no annotation: broken off, no object, of no kind, and of no day.
BROKEN = (b'{"kind": "verd', b"[1]", b'{"kind":"x"}', lines_of(WRONG).strip().replace(b"02-27", b"02-31"))


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    traces = [trace("Q1"), trace("Q2", answer="not in context"), trace("Q3")]
    return write_workspace(tmp_path / "w", {"R1": traces}, annotations={"path": "annotations.jsonl"})


def review(*arguments: str | Path, **env: str) -> Result:
    result = CliRunner(env=env).invoke(command, [str(each) for each in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def add(manifest: Manifest, tmp_path: Path) -> Any:
    def added(q_id: str, *options: str, **env: str) -> Result:
        return review("add", manifest.folder, q_id, "--cache-dir", tmp_path / "cache", *options, **env)

    return added


def test_what_is_added_is_listed_and_measured(manifest: Manifest, tmp_path: Path, add: Any) -> None:
    first = add("Q1", "--author", " Ada  L ", "--agree", "--tag", "oil").stdout.split()[0]
    add("Q1", "--correct", "wrong", "--cause", "incomplete", "--text", "No.", PROOFSPAN_AUTHOR="Ben")
    add("Q2", "--agree", "--author", "Ada L")
    add("Q2", "--tag", "later", "--author", "Ben")
    known = read_annotations(manifest)
    ada, ben = (known.verdicts[Target("R1", "Q1")][name] for name in ("Ada L", "Ben"))
    assert (ada.entry_id, ada.agrees, ada.tags) == (first, True, ("oil",))
    assert ada.rules["label"] == "ok"
    assert (ben.rules, ben.answer) == (ada.rules, ada.answer)

    listed = json.loads(review("list", manifest.folder, "--json").stdout)
    assert [(each["author"], each["q_id"], each["kind"], each["disputed"]) for each in listed["entries"]] == [
        ("Ada L", "Q1", "verdict", True),
        ("Ben", "Q1", "verdict", True),
        ("Ada L", "Q2", "verdict", False),
        ("Ben", "Q2", "note", False),
    ]
    for asked, count in (
        (("--author", "Ben"), 2),
        (("--question", "Q2"), 2),
        (("--kind", "note"), 1),
        (("--disputed",), 2),
        (("--run", "R2"), 0),
    ):
        assert len(json.loads(review("list", manifest.folder, "--json", *asked).stdout)["entries"]) == count
    table = review("list", manifest.folder).stdout.splitlines()
    assert len(table) == 5
    assert "(disputed)" in table[1]
    assert "#oil" in table[1]

    rules = ruled(built(manifest, tmp_path / "cache"), "R1")
    for field in ("correct", "label"):
        asking = ("agreement", manifest.folder, "--cache-dir", tmp_path / "cache", "--field", field)
        found = json.loads(review(*asking, "--json").stdout)
        wanted = agreement(known, rules, rules.__getitem__, field)
        assert found["alpha"] == wanted.alpha._asdict()
        assert [each["n"] for each in found["pairs"]] == [each.kappa.n for each in wanted.pairs]
        assert len(found["disagreements"]) == len(wanted.disagreements)
        assert review(*asking).exit_code == 0


def test_who_writes_is_named_by_an_option_or_by_git(
    manifest: Manifest, tmp_path: Path, add: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.delenv("PROOFSPAN_AUTHOR", raising=False)
    assert add("Q1", "--agree").exit_code == 2
    config.write_text("[user]\n\tname = Grace\n")
    add("Q1", "--agree")
    assert read_annotations(manifest).authors == ("Grace",)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("Q9", "--agree"), "unknown_question"),
        (("Q1", "--seed", "7", "--agree"), "unknown_question"),
        (("Q1", "--agree", "--run", "R9"), "unknown_run"),
        (("Q1", "--text", "\x1b[2J"), "bad_text"),
    ],
)
def test_what_cannot_be_saved_is_refused(
    manifest: Manifest, add: Any, options: tuple[str, ...], code: str
) -> None:
    with pytest.raises(Fault) as caught:
        add(*options, "--author", "Ada")
    assert [each.code for each in caught.value.problems] == [code]
    assert not (manifest.folder / "annotations.jsonl").exists()


def test_a_workspace_that_keeps_no_reviews_takes_none(tmp_path: Path) -> None:
    folder = write_workspace(tmp_path / "w", {"R1": [trace("Q1")]}).folder
    with pytest.raises(Fault) as caught:
        review("add", folder, "Q1", "--agree", "--author", "Ada")
    assert [each.code for each in caught.value.problems] == ["no_annotations_file"]
    assert review("add", folder, "Q1", "--author", "Ada").exit_code == 2
    assert review("add", folder, "Q1", "--agree", "--correct", "wrong", "--author", "Ada").exit_code == 2


@given(
    st.lists(
        st.lists(st.sampled_from([*map(lines_of, ENTRIES), *(each + b"\n" for each in BROKEN)])), max_size=3
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_files_and_lines_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[bytes]], random: Any
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    every = [line for lines in files for line in lines]
    paths = [folder / str(place) for place in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        path.write_bytes(b"".join(lines))
    whole = merged(paths)
    assert sorted(whole.data.splitlines(keepends=True)) == sorted({*every})
    assert (whole.given, len(whole.issues)) == (len(every), sum(line.strip() in BROKEN for line in every))
    for path, lines in zip(paths, files, strict=True):
        random.shuffle(lines)
        path.write_bytes(b"".join(lines))
    for order in permutations(paths):
        assert merged(order).data == whole.data
    united = folder / "united"
    united.write_bytes(whole.data)
    assert merged([united, *paths]).data == whole.data
    read = annotations_of(entries_in(enumerate(whole.data.split(b"\n"), 1), "united"))
    wanted = folded(
        annotations_of(entries_in([(place, line.strip()) for place, line in enumerate(every, 1)], "")).entries
    )
    assert (read.assignees, {*read.notes}, verdicts(read)) == (
        wanted.assignees,
        {*wanted.notes},
        verdicts(wanted),
    )


def verdicts(known: Annotations) -> dict[Target, dict[str, str]]:
    return {target: {name: each.at for name, each in of.items()} for target, of in known.verdicts.items()}


def test_two_files_become_one_and_broken_lines_are_named(tmp_path: Path) -> None:
    one, other, out = (tmp_path / name for name in ("one", "other", "out"))
    one.write_bytes(b"\xef\xbb\xbf" + lines_of(*ENTRIES[:3]).replace(b"\n", b"\r\n") + BROKEN[0])
    edited = lines_of(ENTRIES[3]).replace(b'"assignee":"Ada"', b'"assignee":"Eve"')
    spaced = orjson.dumps(line_of(ENTRIES[2]), option=orjson.OPT_INDENT_2).replace(b"\n", b" ")
    other.write_bytes(edited + spaced + b"\n\n" + lines_of(ENTRIES[4]))
    result = review("merge", one, other, "-o", out)
    assert result.exit_code == 1
    assert f"{one}:4" in result.stderr
    assert f"{other}:1" in result.stderr
    assert "7 lines of 2 files: 6 kept, 1 repeated" in result.stderr
    assert out.read_bytes().splitlines()[-1] == BROKEN[0]
    again = tmp_path / "again"
    assert review("merge", other, one, "-o", again).exit_code == 1
    assert again.read_bytes() == out.read_bytes()
    for files, code in (((tmp_path / "none", "-o", again), "missing_file"), (("-o", one), "output_is_input")):
        with pytest.raises(Fault) as caught:
            review("merge", one, *files)
        assert [each.code for each in caught.value.problems] == [code]


def test_validate_knows_annotations(manifest: Manifest) -> None:
    file = manifest.folder / "annotations.jsonl"
    for content, line in (
        (b"", None),
        (lines_of(*ENTRIES, WRONG)[:-1], None),
        (lines_of(*ENTRIES) + BROKEN[2], 6),
    ):
        if content:
            file.write_bytes(content)
        for path in (manifest.folder, *([file] if content else [])):  # a repeated line is no finding
            result = CliRunner().invoke(validate, [str(path), "--as", "annotation", "--json"])
            found = [orjson.loads(each).get("line") for each in result.stdout.splitlines()]
            assert {*found} == {line, None}
            assert result.exit_code == (1 if line else 0)
