"""Files of what is shown: nothing lost, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import orjson
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.workspace.export_cmd import command
from proofspan.errors import InputFault, StoreFault
from proofspan.services.export import COLUMNS, EXPORTS
from tests.unit.store_workspace import trace, write_workspace

pytestmark = pytest.mark.slow

ROW: dict[str, object] = dict.fromkeys(COLUMNS) | {
    "run_id": "R1",
    "q_id": "Q1",
    "q": "Which flux?",
    "answer": "rosin",
    "label": "ok",
    "why": "fine",
    "docs": ["manual", "bulletin"],
    "cited": 2.0,
    "answer_coverage": 0.5,
    "numbers_unsupported": [],
    "line": 7,
}


def frame(**changes: object) -> pd.DataFrame:
    return pd.DataFrame([{**ROW, **changes}], columns=list(COLUMNS))


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_holds_every_column_with_lists_joined_and_nothing_for_what_is_missing() -> None:
    (row,) = read_csv("".join(EXPORTS["csv"].pieces([frame()])))
    assert tuple(row) == COLUMNS
    assert (row["docs"], row["cited"], row["latency_ms"]) == ("manual; bulletin", "2", "")


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_text_that_a_spreadsheet_would_run_gets_a_quote(start: str) -> None:
    (row,) = read_csv("".join(EXPORTS["csv"].pieces([frame(q=start, suspicions=[start])])))
    assert row["q"].startswith("'")
    assert row["suspicions"].startswith("'")


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_no_cell_of_text_begins_as_a_formula(text: str) -> None:
    (row,) = read_csv("".join(EXPORTS["csv"].pieces([frame(answer=text)])))
    assert row["answer"].removeprefix("'") == text.removeprefix("'")
    assert not row["answer"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_jsonl_keeps_lists_and_nulls_and_sorts_its_keys() -> None:
    (line,) = "".join(EXPORTS["jsonl"].pieces([frame()])).splitlines()
    record = orjson.loads(line)
    assert list(record) == sorted(COLUMNS)
    assert (record["docs"], record["cited"], record["latency_ms"]) == (["manual", "bulletin"], 2, None)


def test_markdown_is_the_recipes_table() -> None:
    text = "".join(EXPORTS["markdown"].pieces([frame(q="a|b\nc" + "x" * 60), frame(label=None, why=None)]))
    assert text == (
        "| q | label | why |\n|---|---|---|\n"
        f"| a\\|b c{'x' * 55}… | **ok** | fine |\n"
        "| Which flux? | **no label** |  |\n"
    )


def test_markdown_has_the_rank_of_the_gold_section_where_that_is_judged() -> None:
    judged = [
        frame(bucket="score_policy", section_rank=1_203.0),
        frame(bucket="retrieval_gap", unranked=None),
        frame(unranked="unanswerable"),
    ]
    assert "".join(EXPORTS["markdown"].pieces(judged)) == (
        "| q | label | why | bucket | gold section at |\n|---|---|---|---|---:|\n"
        "| Which flux? | **ok** | fine | score_policy | 1,203 |\n"
        "| Which flux? | **ok** | fine | retrieval_gap | none |\n"
        "| Which flux? | **ok** | fine |  |  |\n"
    )


def test_markdown_names_the_broken_rules_where_any_is_broken() -> None:
    many = ["tie_order", "rev_mismatch", "missing_rev", "analyzer_mismatch", "bad_offsets"]
    broken = [frame(codes=[]), frame(codes=many), frame(codes=["analyzer_mismatch"])]
    assert "".join(EXPORTS["markdown"].pieces(broken[1:])) == (
        "| q | label | why | breaks |\n|---|---|---|---|\n"
        "| Which flux? | **ok** | fine | bad_offsets, missing_rev, analyzer_mismatch, rev_mismatch +1 |\n"
        "| Which flux? | **ok** | fine | analyzer_mismatch |\n"
    )
    assert "breaks" not in "".join(EXPORTS["markdown"].pieces(broken))  # the first piece decides


def test_markdown_has_the_verdicts_where_claims_are_checked() -> None:
    judged = {"grounded": "contradicted", "correct": "wrong", "cause": "contradicted"}
    because = "Wrong number: the answer says <b>5|6</b>."
    assert "".join(EXPORTS["markdown"].pieces([frame(**judged, cause_sentence=because), frame()])) == (
        "| q | label | why | grounded | correct | cause | because |\n|---|---|---|---|---|---|---|\n"
        "| Which flux? | **ok** | fine | contradicted | wrong | contradicted | "
        "Wrong number: the answer says &lt;b>5\\|6&lt;/b>. |\n"
        "| Which flux? | **ok** | fine |  |  |  |  |\n"
    )


def test_an_empty_list_is_a_file_with_its_header() -> None:
    assert "".join(EXPORTS["csv"].pieces([])) == ",".join(COLUMNS) + "\r\n"
    assert "".join(EXPORTS["jsonl"].pieces([])) == ""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    records = [
        trace("Q1"),
        trace("Q2", answer="The oil filter holds 5 litres."),
        trace("Q3", answer="not in context"),
    ]
    return write_workspace(tmp_path / "workspace", {"R1": records, "R2": [trace("Q9")]}).folder


def export(workspace: Path, tmp_path: Path, kind: str, *options: str) -> str:
    cache = ["--cache-dir", str(tmp_path / "cache")]
    output = tmp_path / f"out.{kind}"
    result = CliRunner().invoke(
        command, [kind, str(workspace), *cache, "-o", str(output), *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return output.read_bytes().decode()


def test_the_command_writes_the_latest_run_worst_first(workspace: Path, tmp_path: Path) -> None:
    rows = read_csv(export(workspace, tmp_path, "csv", "--run", "R1"))
    assert [(row["q_id"], row["cause"], row["harm"]) for row in rows] == [
        *(("Q2", "contradicted", "1"), ("Q1", "none", "9"), ("Q3", "none", "9"))
    ]
    assert [row["q_id"] for row in read_csv(export(workspace, tmp_path, "csv"))] == ["Q9"]


def test_the_command_takes_the_filters_of_the_page(workspace: Path, tmp_path: Path) -> None:
    options = ("--run", "R1", "--label", "generation_drift", "--unsupported", "--text", "litres")
    rows = [orjson.loads(line) for line in export(workspace, tmp_path, "jsonl", *options).splitlines()]
    assert [(row["q_id"], row["numbers_unsupported"]) for row in rows] == [("Q2", ["5"])]


@pytest.mark.parametrize(
    ("options", "q_ids"),
    [
        (("--cause", "contradicted"), ["Q2"]),
        (("--cause", "none", "--sort", "q_id"), ["Q1", "Q3"]),
        (("--grounded", "contradicted", "--grounded", "yes", "--sort", "q_id"), ["Q1", "Q2"]),
        (("--correct", "wrong"), []),
        (("--fails",), ["Q2"]),
        (("--against", "R1", "--was-cause", "contradicted"), ["Q2"]),
    ],
)
def test_the_command_filters_by_verdicts_and_has_them_made_first(
    workspace: Path, tmp_path: Path, options: tuple[str, ...], q_ids: list[str]
) -> None:
    text = export(workspace, tmp_path, "jsonl", "--run", "R1", *options)
    rows = [orjson.loads(line) for line in text.splitlines()]
    assert [row["q_id"] for row in rows] == q_ids
    assert all(row["cause_sentence"] and row["certainty"] for row in rows)


def test_an_order_that_needs_no_verdict_has_none_made(workspace: Path, tmp_path: Path) -> None:
    text = export(workspace, tmp_path, "jsonl", "--run", "R1", "--sort", "label")
    assert {orjson.loads(line)["cause"] for line in text.splitlines()} == {None}


def test_the_command_asks_what_another_run_had(workspace: Path, tmp_path: Path) -> None:
    options = ("--run", "R1", "--against", "R1", "--was", "ok", "--flip", "both", "--outcome", "answered_ok")
    rows = [orjson.loads(line) for line in export(workspace, tmp_path, "jsonl", *options).splitlines()]
    assert [(row["q_id"], row["bucket"], row["unranked"]) for row in rows] == [("Q1", None, "no_gold")]
    assert export(workspace, tmp_path, "jsonl", "--run", "R1", "--bucket", "hit") == ""
    for options in (("--against", "R7"), ("--cohort", "none of ours")):
        with pytest.raises(InputFault):
            export(workspace, tmp_path, "jsonl", *options)


def test_a_filter_on_cited_text_has_it_looked_for_first(workspace: Path, tmp_path: Path) -> None:
    (before, *_) = export(workspace, tmp_path, "jsonl", "--run", "R1").splitlines()
    assert orjson.loads(before)["evidence"] is None
    options = ("--run", "R1", "--evidence", "not_placed", "--omits-no-warning")
    assert export(workspace, tmp_path, "jsonl", *options) == "", "there is no catalogue to know warnings from"
    rows = [orjson.loads(line) for line in export(workspace, tmp_path, "jsonl", *options[:-1]).splitlines()]
    assert {row["q_id"]: row["evidence"] for row in rows} == {"Q1": ["not_placed"]}


def test_an_order_by_cited_text_has_it_looked_for_first(workspace: Path, tmp_path: Path) -> None:
    (first, *_) = export(workspace, tmp_path, "jsonl", "--run", "R1", "--sort", "evidence").splitlines()
    assert (orjson.loads(first)["q_id"], orjson.loads(first)["evidence"]) == ("Q1", ["not_placed"])


def test_the_command_reads_with_another_profile(workspace: Path, tmp_path: Path) -> None:
    text = export(workspace, tmp_path, "markdown", "--run", "R1", "--template", "none", "--refusal", "not in")
    assert text.count("**generation_drift**") <= 1
    assert "refusal_suspect" in text


@pytest.mark.parametrize("kind", list(EXPORTS))
def test_the_same_list_gives_the_same_bytes(kind: str, workspace: Path, tmp_path: Path) -> None:
    assert export(workspace, tmp_path, kind) == export(workspace, tmp_path, kind)


def test_a_run_that_cannot_be_read_leaves_the_earlier_export(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(workspace, tmp_path, "csv")
    before = (tmp_path / "out.csv").read_bytes()

    def torn(*_: object, **__: object) -> Iterator[pd.DataFrame]:
        yield frame()
        raise StoreFault.of("damaged", "the index is damaged")

    monkeypatch.setattr("proofspan.store.query.store.Store.rows", torn)
    with pytest.raises(StoreFault):
        export(workspace, tmp_path, "csv")
    assert (tmp_path / "out.csv").read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.part")] == []


@pytest.mark.parametrize("name", ["pipeline_manifest.yaml", "runs/R1.jsonl", "chunks.jsonl"])
def test_an_export_is_never_written_over_the_workspace(workspace: Path, tmp_path: Path, name: str) -> None:
    before = (workspace / name).read_bytes()
    with pytest.raises(InputFault, match="this is an input"):
        export(workspace, tmp_path, "csv", "-o", str(workspace / name))
    assert (workspace / name).read_bytes() == before
