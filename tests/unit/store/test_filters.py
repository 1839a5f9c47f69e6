"""A filter as SQL, bound values and a sentence: one table, and the same answer as plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.store.files.columns import fold, fold_all
from proofspan.store.query.database import Database, selection
from proofspan.store.query.filters import SORT_KEYS, Filter, Sort
from proofspan.store.query.metric_sql import FAILS, MEETS, MISSES, measure_of

CASES = [
    (Filter("R"), "paraphrase = 0 AND seed = 0 AND repeat = 1", {}, ""),
    (Filter("R", all_variants=True), "TRUE", {}, ""),
    (
        Filter("R", label=("ok", "refusal_ok"), all_variants=True),
        "label = ANY($label)",
        {"label": ["ok", "refusal_ok"]},
        "Grounded or Correct refusal",
    ),
    (
        Filter("R", suspicion=("report_stale",), all_variants=True),
        "list_has_any(suspicions, $suspicion)",
        {"suspicion": ["report_stale"]},
        "Saved report outdated",
    ),
    (
        Filter("R", code=("analyzer_mismatch", "missing_rev"), all_variants=True),
        "list_has_any(codes, $code)",
        {"code": ["analyzer_mismatch", "missing_rev"]},
        "breaks: analyzer differs or rev missing",
    ),
    (
        Filter("R", doc=("a", "b"), all_variants=True),
        "list_has_any(docs, $doc)",
        {"doc": ["a", "b"]},
        "document a or b",
    ),
    (
        Filter("R", section=("4.2",), all_variants=True),
        "rank1_section = ANY($section)",
        {"section": ["4.2"]},
        "section 4.2",
    ),
    (
        Filter("R", gold=("declined", "uncited"), all_variants=True),
        "gold_state = ANY($gold)",
        {"gold": ["declined", "uncited"]},
        "gold passage: In the prompt, not cited or Correctly refused",
    ),
    (
        Filter("R", evidence=("page_mismatch", "not_found"), all_variants=True),
        "list_has_any(evidence, $evidence)",
        {"evidence": ["page_mismatch", "not_found"]},
        "cited text: Not found or Other page",
    ),
    (
        Filter("R", unsupported=True, all_variants=True),
        "len(numbers_unsupported) > 0",
        {},
        "numbers unsupported",
    ),
    (
        Filter("R", unsupported=False, all_variants=True),
        "NOT len(numbers_unsupported) > 0",
        {},
        "no number unsupported",
    ),
    (
        Filter("R", safety=True, all_variants=True),
        "len(safety_omitted) > 0",
        {},
        "may omit a warning of the cited section",
    ),
    (
        Filter("R", safety=False, all_variants=True),
        "NOT len(safety_omitted) > 0",
        {},
        "omits no warning of the cited section",
    ),
    (
        Filter("R", about=("manual#section=4.2", "manual#page_idx=0"), all_variants=True),
        "list_has_any(about, $about)",
        {"about": ["manual#section=4.2", "manual#page_idx=0"]},
        "about section 4.2 of manual or PDF page 1 of manual",
    ),
    (Filter("R", fails=True, all_variants=True), FAILS.sql, {}, "fails"),
    (Filter("R", fails=False, all_variants=True), f"NOT {FAILS.sql}", {}, "does not fail"),
    (
        Filter("R", text="  Oil\tFILTER ", all_variants=True),
        "(contains(q_folded, $text) OR contains(answer_folded, $text))",
        {"text": "oil filter"},
        "answer or question contains “Oil FILTER”",
    ),
    (
        Filter("R", text="oil", questions_only=True, all_variants=True),
        "contains(q_folded, $text)",
        {"text": "oil"},
        "question contains “oil”",
    ),
    (Filter("R", text=" \n ", all_variants=True), "TRUE", {}, ""),
    (
        Filter("R", bucket=("hit", "retrieval_gap"), all_variants=True),
        "bucket = ANY($bucket)",
        {"bucket": ["hit", "retrieval_gap"]},
        "Hit or Recall miss",
    ),
    (
        Filter("R", type=("limit",), all_variants=True),
        "q_type = ANY($type)",
        {"type": ["limit"]},
        "type limit",
    ),
    (
        Filter("R", state=("divergent", "chaotic"), all_variants=True),
        "lambda_state = ANY($state)",
        {"state": ["divergent", "chaotic"]},
        "λ divergent or chaotic",
    ),
    (Filter("R", refused=True, all_variants=True), "refused", {}, "declines"),
    (Filter("R", refused=False, all_variants=True), "NOT refused", {}, "does not decline"),
    (
        Filter("R", miss="section_match_at_1", all_variants=True),
        MISSES["section_match_at_1"].sql,
        {},
        "SectionMatch@1 missed",
    ),
    (Filter("R", met="mrr", all_variants=True), MEETS["mrr"].sql, {}, "MRR of 1"),
    (
        Filter("R", cohort="RETRIEVAL-GAP", all_variants=True),
        "in_cohort",
        {},
        "of cohort RETRIEVAL-GAP",
    ),
    (Filter("R", vs="R003", outcome="gt_in_top_20", all_variants=True), "TRUE", {}, ""),
    (
        Filter("R", vs="R003", was=("ok", "refusal_ok"), all_variants=True),
        "was_label = ANY($was)",
        {"was": ["ok", "refusal_ok"]},
        "was Grounded or Correct refusal in R003",
    ),
    (
        Filter("R", vs="R003", was_bucket=("score_policy",), all_variants=True),
        "was_bucket = ANY($was_bucket)",
        {"was_bucket": ["score_policy"]},
        "was Ranking miss in R003",
    ),
    (
        Filter("R", cause=("contradicted", "none"), all_variants=True),
        "cause = ANY($cause)",
        {"cause": ["contradicted", "none"]},
        "cause: Contradicts its evidence or No failure found",
    ),
    (
        Filter("R", correct=("wrong",), grounded=("no", "partly"), all_variants=True),
        "grounded = ANY($grounded) AND correct = ANY($correct)",
        {"correct": ["wrong"], "grounded": ["no", "partly"]},
        "Not supported or Partly supported, Wrong",
    ),
    (
        Filter("R", vs="R003", was_cause=("over_refusal",), all_variants=True),
        "was_cause = ANY($was_cause)",
        {"was_cause": ["over_refusal"]},
        "was Over-refusal in R003",
    ),
    (
        Filter("R", vs="R003", flip="fixed", outcome="answered_ok", all_variants=True),
        f"{measure_of('answered_ok').number} = 1 AND was_value_answered_ok = 0",
        {},
        "fixed compared with R003 by answers that do not fail",
    ),
    (
        Filter("R", section=("' OR 1=1 --",), all_variants=True),
        "rank1_section = ANY($section)",
        {"section": ["' OR 1=1 --"]},
        "section ' OR 1=1 --",
    ),
]


@pytest.mark.parametrize(("shown", "sql", "params", "sentence"), CASES)
def test_a_filter_yields_sql_values_and_a_sentence(
    shown: Filter, sql: str, params: dict[str, object], sentence: str
) -> None:
    clause = shown.where()
    assert (clause.sql, clause.params, clause.sentence) == (sql, params, sentence)


def test_parts_are_joined_in_one_order() -> None:
    shown = Filter("R", label=("generation_drift",), section=("4.2",), text="oil")
    assert shown.where().sql == (
        "paraphrase = 0 AND seed = 0 AND repeat = 1 AND label = ANY($label) AND rank1_section = ANY($section)"
        " AND (contains(q_folded, $text) OR contains(answer_folded, $text))"
    )
    assert shown.sentence(12, 240) == (
        "12 of 240 questions: Unsupported answer, section 4.2, answer or question contains “oil”"
    )


@pytest.mark.parametrize(
    ("shown", "counts", "sentence"),
    [
        (Filter("R"), (240, 240), "240 of 240 questions"),
        (Filter("R"), (1, 1), "1 of 1 question"),
        (Filter("R"), (1234, 1_000_000), "1,234 of 1,000,000 questions"),
        (Filter("R", all_variants=True), (0, 12), "0 of 12 traces"),
    ],
)
def test_a_sentence_says_of_how_many(shown: Filter, counts: tuple[int, int], sentence: str) -> None:
    assert shown.sentence(*counts) == sentence


@pytest.mark.parametrize(
    ("shown", "asks"),
    [
        (Filter("R"), False),
        (Filter("R", label=("ok",), was_cause=("none",)), False),
        (Filter("R", cause=("none",)), True),
        (Filter("R", grounded=("yes",)), True),
        (Filter("R", correct=("wrong",)), True),
        (Filter("R", claim=("differs",)), True),
        (Filter("R", contradictions=False), True),
        (Filter("R", support="0-1"), True),
    ],
)
def test_a_filter_knows_whether_it_needs_checked_claims(shown: Filter, asks: bool) -> None:
    assert shown.asks_claims == asks


def test_an_unknown_sort_key_is_refused() -> None:
    with pytest.raises(ValueError, match="no list is sorted by 'q; DROP TABLE rows'"):
        Sort("q; DROP TABLE rows")


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("ΌΣΟΣ", "όσος"),
        ("cafe\u0301", "CAFÉ"),
        ("of\ufb01ce", "Office"),
        ("２０ litres", "20"),
        ("oil\u00a0 filter", "oil filter"),
        ("oil\r\n\tfilter", "Oil Filter"),
        ("İstanbul", "i̇STANBUL"),
    ],
)
def test_folding_finds_what_a_reader_takes_for_the_same(text: str, needle: str) -> None:
    assert fold(needle) in fold(text)


def test_folding_keeps_accents_apart() -> None:
    assert fold("olé") not in fold("ole")


@given(st.lists(st.text() | st.text("aB \n\t\x1f\x7f.ß", max_size=12)))
def test_a_column_is_folded_as_its_texts_are(texts: list[str]) -> None:
    assert fold_all(pa.array(texts, pa.string())).to_pylist() == [fold(text) for text in texts]


@given(st.text())
def test_folding_twice_changes_nothing_and_leaves_single_blanks(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
    assert once.split() == [word for word in once.split(" ") if word]


@given(st.sampled_from(SORT_KEYS), st.booleans())
def test_every_order_is_total(by: str, descending: bool) -> None:
    """Whatever the key, the identity of a trace decides at last; and all columns it reads are named."""
    sort = Sort(by, descending)
    terms = sort.order().split(", ")
    assert [term.split(" ")[0] for term in terms][-4:] == [
        "q_id",
        "paraphrase",
        "seed",
        "repeat",
    ] or by == "q_id"
    assert set(sort.columns()) >= {"q_id", "paraphrase", "seed", "repeat", "severity"}


def test_ranks_without_a_value_come_last_both_ways() -> None:
    table = pa.table(
        {
            "row": np.arange(3),
            "latency_ms": [5.0, None, 2.0],
            "harm": pa.array([None, None, None], pa.int8()),
            "support": [1.0, 1.0, 1.0],
            "severity": [0, 0, 0],
            "numbers_unsupported": pa.array([[], [], []], pa.list_(pa.string())),
            "gold_severity": pa.array([None, None, None], pa.int8()),
            "answer_coverage": [1.0, 1.0, 1.0],
            "q_id": ["a", "b", "c"],
            "paraphrase": [0, 0, 0],
            "seed": [0, 0, 0],
            "repeat": [1, 1, 1],
        }
    )
    for descending, expected in ((False, [2, 0, 1]), (True, [0, 2, 1])):
        sql = selection("TRUE", order=Sort("latency", descending).order())
        assert Database().column(sql, {}, {"rows": table}).tolist() == expected


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (" #s05-04-03#p043-b001 ", r"\|s=0*5[.-]0*4[.-]0*3\|p=043\|b=001"),
        ("#s5.4.3#p43-b1", r"\|s=0*5[.-]0*4[.-]0*3\|p=043\|b=001"),
        ("m|r=d06d89ab|s=5.4.3|p=043|b=001", r"m\|r=d06d89ab\|s=5\.4\.3\|p=043\|b=001"),
        ("#s\ud800#p1-b1", r"\|s=\?\|p=001\|b=001"),
        ("#s(a#p1-b1", r"\|s=\(a\|p=001\|b=001"),
    ],
)
def test_an_id_or_its_alias_is_searched_among_the_citations(text: str, pattern: str) -> None:
    clause = Filter("R1", text=text).where()
    assert "regexp_matches(decode(citations), $cited)" in clause.sql
    assert clause.params["cited"] == f'{pattern}"'
    assert "citations" in clause.columns and "text" not in clause.params


def test_a_part_of_an_alias_is_a_text_like_any_other() -> None:
    assert Filter("R1", text="#s05-04-03#p043").where().params == {"text": "#s05-04-03#p043"}
