"""People's verdicts in the formats of other tools, a set of tests for promptfoo, and the filters by both."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.workspace.export_cmd import command
from proofspan.contracts.records.records import Json
from proofspan.journal.annotations import Annotation, Target, answer_id, append, folded
from proofspan.manifest.load import load_manifest
from proofspan.services.export_formats import keys_of, packed_run
from proofspan.services.opening.open import open_source
from proofspan.store.query.filters import Filter, Sort
from proofspan.traces.exports.registry import EXPORT_FORMATS
from proofspan.traces.exports.reviews import REVIEW_COLUMNS, review_columns, review_of
from proofspan.traces.formats.promptfoo import PROMPTFOO
from proofspan.traces.formats.types import Asked, Passage, Reading
from proofspan.traces.importers.workspace import GOLD
from proofspan.traces.separate.log_lines import parse_log_line
from tests.formats.test_exports_round_trip import FULL, PASSAGES, TEXTS, left, written
from tests.formats.test_formats import recognized, sample_of
from tests.unit.store_workspace import built, trace, write_workspace

ANSWER = "4.5 litres."
TARGET = Target("R1", "Q1")
ADA = Annotation(
    "verdict", TARGET, "Ada", "2026-02-27T10:00:00.000Z", answer=answer_id(ANSWER), agrees=False,
    correct="wrong", rules={"correct": "correct", "label": "ok"}, tags=("table", "unit"), text="=1+1",
)  # fmt: skip
BEN = Annotation(
    "verdict", TARGET, "Ben", "2026-02-27T11:00:00.000Z", answer=answer_id("4 litres."), agrees=True,
    rules={"correct": "correct", "label": "ok"},
)  # fmt: skip
NOTE = Annotation("note", TARGET, "Eve", "2026-02-27T12:00:00.000Z", text="{{ env.HOME }}")
BOTH = review_of(folded([BEN, NOTE, ADA]), TARGET, ANSWER)
REVIEWED = replace(FULL, review=BOTH)


def one(*annotations: Annotation) -> dict[str, Json]:
    return review_of(folded(annotations), TARGET, ANSWER)


def test_a_review_has_the_last_verdict_of_each_person_and_says_what_it_is_about() -> None:
    earlier = replace(ADA, at="2026-02-26T10:00:00.000Z", correct="partly")
    assert review_of(folded([earlier, ADA, BEN, NOTE]), TARGET, ANSWER) == BOTH
    ada, ben = BOTH["verdicts"]
    assert ada == {
        "author": "Ada", "at": ADA.at, "agrees": False, "correct": "wrong", "tags": ["table", "unit"],
        "note": "=1+1",
    }  # fmt: skip
    assert ben == {
        "author": "Ben", "at": BEN.at, "agrees": True, "correct": "correct", "label": "ok",
        "of_another_answer": True,
    }  # fmt: skip
    assert (BOTH["disputed"], BOTH["notes"][0]["author"]) == (True, "Eve")
    assert one() == {} and "disputed" not in one(ADA)
    assert review_columns(BOTH).keys() <= {*REVIEW_COLUMNS}
    assert review_columns(one(ADA))["review_tags"] == "table, unit"
    assert review_columns(BOTH)["review_label"] == [None, "ok"]


@pytest.mark.parametrize("name", sorted(EXPORT_FORMATS))
def test_what_people_say_is_written_or_counted(name: str) -> None:
    data = b"".join(written(name, REVIEWED))
    is_held = name != "trec"
    assert all((person in data) == is_held for person in (b"Ada", b"Ben", b"Eve"))
    lost = {"review.verdicts": 2, "review.notes": 1}
    assert left(name, REVIEWED) == left(name, FULL) | ({} if is_held else lost)


def test_each_format_has_it_in_its_own_place() -> None:
    assert orjson.loads(written("ragas", REVIEWED)[0])["review"] == BOTH
    assert orjson.loads(written("deepeval", REVIEWED)[0])[0]["additional_metadata"]["review"] == BOTH
    _, queries, judged, _ = written("beir", REVIEWED)
    assert orjson.loads(queries)["metadata"] == {"answer": "4.5 litres", "review": BOTH}
    assert judged == written("beir", FULL)[2], "a verdict on an answer judges no passage"
    chain = orjson.loads(written("openinference", REVIEWED)[0].splitlines()[0])
    people = [each for each in chain["annotations"] if each.get("annotator_kind") == "HUMAN"]
    assert [(each["name"], each["identifier"], each.get("label")) for each in people] == [
        *(("review", "Ada", "disagrees"), ("review.correct", "Ada", "wrong"), ("review", "Ben", "agrees")),
        *(("review.correct", "Ben", "correct"), ("review.label", "Ben", "ok"), ("note", "Eve", None)),
    ]
    assert people[0]["explanation"] == "=1+1" and people[0]["metadata"]["tags"] == ["table", "unit"]
    (test,) = orjson.loads(written("promptfoo", REVIEWED)[0])["tests"]
    assert test["metadata"]["review"]["verdicts"] == BOTH["verdicts"]
    alone = replace(FULL, review=one(ADA), fields={"review_note": "of another export"})
    rows = csv.DictReader(io.StringIO(b"".join(written("table", REVIEWED, alone)).decode()))
    several, single = rows
    assert orjson.loads(several["review_correct"]) == ["wrong", "correct"]
    assert several["review_disputed"] == "true" and single["review_disputed"] == ""
    assert (single["review_note"], single["earlier_review_note"]) == ("'=1+1", "of another export")


# promptfoo


@pytest.mark.parametrize(
    ("asked", "expected", "metrics"),
    [
        (FULL, "4.5 litres", ["expected answer"]),
        (replace(FULL, review=one(ADA)), "4.5 litres", ["expected answer", "not judged wrong by people"]),
        (REVIEWED, "4.5 litres", ["expected answer", "not judged wrong by people"]),  # Ben's is of another
        (replace(FULL, review=one(ADA, replace(BEN, answer=None))), "4.5 litres", ["expected answer"]),
        (replace(FULL, answerable=False), "4.5 litres", ["declines"]),
        (replace(FULL, expected=None), None, []),
        (replace(FULL, expected=None, review=one(BEN)), None, []),
        (replace(FULL, expected=None, review=one(replace(BEN, answer=None))), ANSWER, ["expected answer"]),
        (
            replace(FULL, expected=None, review=one(replace(ADA, correct="declined_rightly"))),
            None,
            ["declines"],
        ),
    ],
)
def test_promptfoo_asserts_what_gold_and_people_establish(
    asked: Asked, expected: str | None, metrics: list[str]
) -> None:
    (test,) = orjson.loads(written("promptfoo", asked)[0])["tests"]
    assert [each["metric"] for each in test["assert"]] == metrics
    assert test["vars"].get("expected") == expected
    assert test["metadata"].get("expected_by") == ("people" if expected == ANSWER else None)
    assert test["vars"]["context"] == ["It holds 4.5 litres.", "Check the oil weekly."]


def test_no_text_of_others_is_run_by_promptfoo() -> None:
    """It renders templates in variables, and runs or loads what they or the metadata name."""
    texts = ["{{ env.HOME }}", "{%if 1%}", "{{{#", "file:///etc/passwd", "package:a:b", "\x85\x7f\ufeff"]
    passages = [Passage(text=each, id=each, document=each, more={"$ref": each}) for each in texts]
    hostile = [
        Asked(
            place="", q=each, q_id=each, answer=each, expected=each, lists={"chunks": passages},
            gold=passages, run=each, review=one(replace(ADA, text=each, author=each)),
        )
        for each in texts
    ]  # fmt: skip
    data = written("promptfoo", *hostile)[0]
    config = orjson.loads(data)
    assert config == yaml.safe_load(data), "promptfoo reads it as YAML"
    for test in config["tests"]:
        assert {each["value"] for each in test.pop("assert")} == {"{{expected}}", "{{recorded_answer}}"}
    del config["prompts"]
    rest = orjson.dumps(config)
    assert not any(sign in rest for sign in (b"{{", b"{%", b"{#", b'"file:', b'"package:', b"$ref"))
    assert config["tests"][0]["vars"]["recorded_answer"] == "{ { env.HOME }}"


#: Texts that begin no template.
PLAIN = TEXTS.map(lambda text: text.replace("{", "("))
PLAIN_PASSAGES = PASSAGES.map(
    lambda listed: [replace(each, text=(each.text or "").replace("{", "(")) for each in listed]
)


@given(q=PLAIN, answer=PLAIN, expected=st.none() | PLAIN, listed=PLAIN_PASSAGES)
def test_whatever_promptfoo_holds_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    q: str,
    answer: str,
    expected: str | None,
    listed: list[Passage],
) -> None:
    asked = Asked(
        place="tests 1", q=q, q_id="Q1", answer=answer, lists={"chunks": listed}, expected=expected,
        gold=listed, run="hybrid",
    )  # fmt: skip
    file = tmp_path_factory.getbasetemp() / "set.json"
    file.write_bytes(written("promptfoo", asked)[0])
    found = recognized(sample_of(file))
    assert found is not None and found.format is PROMPTFOO
    (again,) = PROMPTFOO.read(file, Reading("set.json"))
    assert again == asked


def test_a_set_of_tests_is_opened_with_its_places_and_verdicts(tmp_path: Path) -> None:
    file = tmp_path / "set.json"
    file.write_bytes(written("promptfoo", replace(REVIEWED, answerable=False), replace(FULL, q_id="Q2"))[0])
    open_source(file, workspace=tmp_path / "workspace")
    first, second = map(
        orjson.loads, (tmp_path / "workspace/runs/R001/trace.jsonl").read_bytes().splitlines()
    )
    assert (first["q_id"], first["answer"]) == ("Q1", ANSWER)
    assert [each["author"] for each in first["metadata"]["review"]["verdicts"]] == ["Ada", "Ben"]
    assert "metadata" not in second
    gold = [*map(orjson.loads, (tmp_path / "workspace" / GOLD).read_bytes().splitlines())]
    assert gold[1]["answer"] == "4.5 litres"


def test_an_expected_answer_that_names_a_variable_is_its_value(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    result = {
        "vars": {"question": "q", "wanted": "4.5 litres"}, "success": True, "namedScores": {}, "testIdx": 3,
        "prompt": {"raw": "q"}, "promptIdx": 0, "response": {"output": "a"}, "metadata": {"q_id": "Q7"},
        "testCase": {"assert": [{"type": "similar", "value": "{{ wanted }}"}]},
    }  # fmt: skip
    file.write_bytes(orjson.dumps([result]))
    (asked,) = PROMPTFOO.read(file, Reading("results.json"))
    assert (asked.expected, asked.q_id) == ("4.5 litres", "Q7")


# Filters


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    records = [trace("Q1"), trace("Q2"), trace("Q3"), trace("Q3", seed=1)]
    manifest = write_workspace(
        tmp_path / "workspace", {"R1": records}, annotations={"path": "annotations.jsonl"}
    )
    q1, q2, q3 = (Target("R1", name) for name in ("Q1", "Q2", "Q3"))
    append(
        manifest,
        Annotation("verdict", q1, "Ada", ADA.at, agrees=False, correct="wrong", text="=1+1"),
        Annotation("verdict", q1, "Ben", BEN.at, agrees=False, correct="partly"),
        Annotation("verdict", q2, "Ben", agrees=True),
        Annotation("assignment", q3, "Ada", assignee="Ben"),
    )
    return manifest.folder


def export(workspace: Path, kind: str, *options: str) -> bytes:
    target = workspace.parent / "out.jsonl"
    arguments = [kind, str(workspace), "-o", str(target), "--cache-dir", f"{workspace}.cache", *options]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return target.read_bytes()


@pytest.mark.parametrize(
    ("options", "q_ids"),
    [
        (("--review", "seen"), ["Q1", "Q2"]),
        (("--review", "seen", "--reviewer", "Ada"), ["Q1"]),
        (("--review", "unseen"), ["Q3"]),
        (("--review", "unseen", "--all-variants"), ["Q3", "Q3"]),
        (("--review", "agreed"), ["Q2"]),
        (("--review", "disagreed"), ["Q1"]),
        (("--review", "disagreed", "--reviewer", "Eve"), []),
        (("--review", "disputed"), ["Q1"]),
        (("--assigned", "Ben"), ["Q3"]),
        (("--review", "seen", "--text", "no such text"), []),
        ((), ["Q1", "Q2", "Q3"]),
    ],
)
def test_every_kind_takes_the_filters_of_the_page(
    workspace: Path, options: tuple[str, ...], q_ids: list[str]
) -> None:
    rows = [*map(orjson.loads, export(workspace, "jsonl", "--sort", "q_id", *options).splitlines())]
    assert [row["q_id"] for row in rows] == q_ids
    tests = orjson.loads(export(workspace, "promptfoo", *options))["tests"]
    assert [test["description"] for test in tests] == q_ids
    lines = export(workspace, "log", *options).decode().splitlines()
    assert [parse_log_line(line)[0].qid for line in lines] == q_ids


def test_what_orders_or_widens_a_list_is_refused_elsewhere(workspace: Path) -> None:
    for arguments in (
        ("ragas", "--sort", "q_id"),
        ("csv", "--reviewer", "Ada"),
        ("csv", "--review", "disputed", "--reviewer", "Ada"),
    ):
        kind, *options = arguments
        result = CliRunner().invoke(command, [kind, str(workspace), "-o", "-", *options])
        assert result.exit_code == 2


def test_a_list_has_the_verdicts_in_columns(workspace: Path) -> None:
    first, second, third = csv.DictReader(
        io.StringIO(export(workspace, "csv", "--sort", "q_id").decode(), newline="")
    )
    assert (first["review_author"], first["review_correct"]) == ("Ada; Ben", "wrong; partly")
    assert (first["review_disputed"], first["review_note"]) == ("True", "'=1+1; ")
    assert (second["review_author"], second["review_agrees"], third["review_author"]) == ("Ben", "True", "")
    rows = export(workspace, "markdown", "--sort", "q_id").decode().splitlines()
    assert [row.split(" | ")[-1] for row in rows[2:]] == [
        *("disputed; Ada: wrong; Ben: partly |", "Ben: agrees |", " |")
    ]


def test_a_list_of_the_page_is_a_set_with_its_verdicts(workspace: Path) -> None:
    cache, manifest = workspace.parent / "cache", load_manifest(workspace)
    store = built(manifest, cache)
    only = keys_of("R1", store.places(Filter("R1", review="disagreed"), Sort()))
    ragas, beir = (
        packed_run(manifest, manifest.runs[0], EXPORT_FORMATS[name], cache_dir=cache, only=only)
        for name in ("ragas", "beir")
    )
    (sample,) = map(orjson.loads, ragas.splitlines())
    assert [each["author"] for each in sample["review"]["verdicts"]] == ["Ada", "Ben"]
    with zipfile.ZipFile(io.BytesIO(beir)) as archive:
        assert archive.namelist() == [*EXPORT_FORMATS["beir"].files]
        assert orjson.loads(archive.read("queries.jsonl"))["_id"] == "Q1"


def test_a_line_that_is_no_annotation_is_a_problem(workspace: Path) -> None:
    with (workspace / "annotations.jsonl").open("ab") as file:
        file.write(b"{}\n")
    arguments = ["ragas", str(workspace), "-o", "-", "--cache-dir", f"{workspace}.cache"]
    result = CliRunner().invoke(command, arguments)
    assert (
        result.exit_code,
        "lines_unreadable" in result.stderr or "could not be read" in result.stderr,
    ) == (1, True)
    assert orjson.loads(result.stdout.splitlines()[0])["review"]["disputed"] is True
