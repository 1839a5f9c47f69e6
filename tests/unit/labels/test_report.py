"""The report's bytes and the Markdown table of the triage recipe."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import ReportRow, Signals, markdown_row, question_cell, row_to_json, table_head
from proofspan.diagnosis.verdicts.types import Correctness, Verdict, verdict_record

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
SHARE = st.none() | st.integers(0, 10_000).map(lambda part: part / 10_000)
SIGNALS = st.builds(
    Signals,
    phrase=st.none() | TEXT,
    query_found=TEXTS,
    query_missing=TEXTS,
    query_coverage=SHARE,
    answer_coverage=SHARE,
    numbers_unsupported=TEXTS,
    cited=st.integers(0, 9),
    cited_retrieved=st.integers(0, 9),
    cited_resolved=st.integers(0, 9),
    support=SHARE,
    contradictions=st.integers(0, 9),
)
ROWS = st.builds(
    ReportRow,
    q=TEXT,
    label=st.sampled_from(LABELS),
    why=TEXT,
    chunks=TEXTS,
    citations_in_answer=TEXTS,
    signals=SIGNALS,
    suspicions=TEXTS,
    q_id=st.none() | TEXT,
    extra=st.dictionaries(st.sampled_from(["paraphrase", "seed", "llm_summary"]), st.integers(1, 5)),
    claims=st.none()
    | st.lists(st.fixed_dictionaries({"text": TEXT, "support": SHARE}), max_size=2).map(tuple),
)


@given(ROWS)
def test_a_row_is_written_with_all_that_it_holds(row: ReportRow) -> None:
    written = orjson.loads(row_to_json(row))
    whole = orjson.loads(orjson.dumps(row))
    if whole["claims"] is None:
        del whole["claims"], whole["signals"]["support"], whole["signals"]["contradictions"]
    extra, q_id, verdict = whole.pop("extra"), whole.pop("q_id"), whole.pop("verdict")
    assert verdict is None
    assert written == whole | extra | ({} if q_id is None else {"q_id": q_id})


def test_keys_are_sorted_and_q_id_is_left_out_without_one() -> None:
    row = ReportRow("Q?", "ok", "because", ("c",), (), Signals(), q_id=None, extra={"seed": 2})
    assert row_to_json(row) == (
        b'{"chunks":["c"],"citations_in_answer":[],"label":"ok","q":"Q?","seed":2,"signals":'
        b'{"answer_coverage":null,"cited":0,"cited_resolved":0,"cited_retrieved":0,"numbers_unsupported":[],'
        b'"phrase":null,"query_coverage":null,"query_found":[],"query_missing":[]},"suspicions":[],'
        b'"why":"because"}'
    )


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("short", "short"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "…"),
        ("a|b", "a\\|b"),
        ("|" * 61, "\\|" * 60 + "…"),
        ("a\r\nb\nc\rd\u2028e\x85f", "a b c d e f"),
        ("", ""),
    ],
)
def test_the_question_is_cut_raw_and_then_escaped(question: str, cell: str) -> None:
    assert question_cell(question) == cell


@given(st.text())
def test_a_row_of_the_table_stays_one_row(question: str) -> None:
    row = ReportRow(question, "ok", "because", (), (), Signals())
    table = table_head() + markdown_row(row)
    assert table.startswith("| q | label | why |\n|---|---|---|\n")
    assert len(table.splitlines()) == 3
    assert table.splitlines()[2].replace("\\|", "").count("|") == 4


def test_a_verdict_is_written_by_its_fields() -> None:
    verdict = Verdict("no", Correctness("wrong"), "unsupported", "certain", "Nothing says it.", harm=4)
    row = ReportRow("Q?", "ok", "because", ("c",), (), Signals(), claims=(), verdict=verdict_record(verdict))
    written = orjson.loads(row_to_json(row))
    assert [written[name] for name in ("grounded", "correct", "cause", "cause_sentence", "certainty")] == [
        *("no", "wrong", "unsupported", "Nothing says it.", "certain")
    ]
