"""A filter as SQL, bound values and a sentence: one table, and the same answer as plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.contracts.records import LABELS
from core.store.clauses import FAILS
from core.store.database import Database
from core.store.filters import SORT_KEYS, Filter, Sort
from core.store.folding import fold, fold_all
from core.store.placed import EVIDENCE_STATES
from core.store.statements import statement
from core.triage.gold import GOLD_STATES

CASES = [
    (Filter("R"), "paraphrase = 0 AND seed = 0 AND repeat = 1", {}, ""),
    (Filter("R", all_variants=True), "TRUE", {}, ""),
    (
        Filter("R", label=("ok", "refusal_ok"), all_variants=True),
        "label = ANY($label)",
        {"label": ["ok", "refusal_ok"]},
        "ok or refusal_ok",
    ),
    (
        Filter("R", suspicion=("report_stale",), all_variants=True),
        "list_has_any(suspicions, $suspicion)",
        {"suspicion": ["report_stale"]},
        "report_stale",
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
        "gold seen, not cited or rightly declined",
    ),
    (
        Filter("R", evidence=("page_mismatch", "not_found"), all_variants=True),
        "list_has_any(evidence, $evidence)",
        {"evidence": ["page_mismatch", "not_found"]},
        "cited text not found or on another page than cited",
    ),
    (
        Filter("R", unsupported=True, all_variants=True),
        "len(numbers_unsupported) > 0",
        {},
        "numbers unsupported",
    ),
    (
        Filter("R", unsupported=False, all_variants=True),
        "len(numbers_unsupported) = 0",
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
        "len(safety_omitted) = 0",
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
        "12 of 240 questions: generation_drift, section 4.2, answer or question contains “oil”"
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


# The same filters over the same rows in plain Python

words = st.sampled_from(["oil", "Oil filter", "100%", "a_b", "Straße", "", "c:\\x", "“q”", "1.5"])
few = st.lists(words, max_size=3).map(tuple)
row = st.fixed_dictionaries(
    {
        "q": words,
        "answer": words,
        "label": st.sampled_from([*LABELS, None]),
        "suspicions": few,
        "docs": few,
        "rank1_section": st.one_of(st.none(), words),
        "numbers_unsupported": few,
        "gold_state": st.sampled_from([*GOLD_STATES, None]),
        "safety_omitted": st.one_of(st.none(), few),
        "about": few,
        "evidence": st.one_of(st.none(), st.lists(st.sampled_from(EVIDENCE_STATES), max_size=3)),
        "paraphrase": st.integers(0, 1),
        "seed": st.integers(0, 1),
        "repeat": st.integers(1, 2),
    }
)
filters = st.builds(
    Filter,
    run=st.just("R"),
    label=st.lists(st.sampled_from(LABELS), max_size=2).map(tuple),
    suspicion=few,
    doc=few,
    section=few,
    gold=st.lists(st.sampled_from(GOLD_STATES), max_size=2).map(tuple),
    unsupported=st.sampled_from([None, True, False]),
    safety=st.sampled_from([None, True, False]),
    about=few,
    fails=st.sampled_from([None, True, False]),
    evidence=st.lists(st.sampled_from(EVIDENCE_STATES), max_size=2).map(tuple),
    text=words,
    all_variants=st.booleans(),
    questions_only=st.booleans(),
)
SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("q_folded", pa.string()),
        ("answer_folded", pa.string()),
        ("label", pa.dictionary(pa.int32(), pa.string())),
        ("suspicions", pa.list_(pa.string())),
        ("docs", pa.list_(pa.string())),
        ("rank1_section", pa.dictionary(pa.int32(), pa.string())),
        ("numbers_unsupported", pa.list_(pa.string())),
        ("gold_state", pa.dictionary(pa.int32(), pa.string())),
        ("safety_omitted", pa.list_(pa.string())),
        ("about", pa.list_(pa.string())),
        ("evidence", pa.list_(pa.string())),
        ("paraphrase", pa.int32()),
        ("seed", pa.int32()),
        ("repeat", pa.int32()),
    ]
)
DATABASE = Database()


def fails(record: dict[str, object]) -> bool | None:
    """Whether a row went wrong: by its gold where that is known, else by its label."""
    if record["gold_state"] is not None:
        return record["gold_state"] not in ("cited", "declined")
    if record["label"] is None:
        return None
    return record["label"] in ("generation_drift", "retrieval_drift", "refusal_suspect")


def keeps(shown: Filter, record: dict[str, object]) -> bool:
    """The filter's meaning, said without SQL."""
    q, answer = str(record["q"]), str(record["answer"])
    searched = q if shown.questions_only else f"{q}\0{answer}"
    return all(
        [
            shown.all_variants or (record["paraphrase"], record["seed"], record["repeat"]) == (0, 0, 1),
            not shown.label or record["label"] in shown.label,
            not shown.suspicion or bool(set(shown.suspicion) & set(record["suspicions"])),  # type: ignore[call-overload]
            not shown.doc or bool(set(shown.doc) & set(record["docs"])),  # type: ignore[call-overload]
            not shown.section or record["rank1_section"] in shown.section,
            not shown.gold or record["gold_state"] in shown.gold,
            shown.unsupported is None or bool(record["numbers_unsupported"]) == shown.unsupported,
            shown.safety is None
            or (record["safety_omitted"] is not None and bool(record["safety_omitted"]) == shown.safety),
            not shown.evidence or bool(set(shown.evidence) & set(record["evidence"] or ())),  # type: ignore[call-overload]
            not shown.about or bool(set(shown.about) & set(record["about"])),  # type: ignore[call-overload]
            shown.fails is None or fails(record) is shown.fails,
            any(fold(shown.text) in fold(part) for part in searched.split("\0")),
        ]
    )


@settings(deadline=None)
@given(st.lists(row, max_size=12), filters)
def test_sql_keeps_what_plain_python_keeps(records: list[dict[str, object]], shown: Filter) -> None:
    table = pa.Table.from_pylist(
        [
            {
                **record,
                "row": place,
                "q_folded": fold(str(record["q"])),
                "answer_folded": fold(str(record["answer"])),
            }
            for place, record in enumerate(records)
        ],
        schema=SCHEMA,
    )
    clause = shown.where()
    sql = statement("ordered").format(where=clause.sql, order="row")
    found = DATABASE.column(sql, clause.params, {"rows": table.select(["row", *clause.columns])})
    assert found.tolist() == [place for place, record in enumerate(records) if keeps(shown, record)]


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
        sql = statement("ordered").format(where="TRUE", order=Sort("latency", descending).order())
        assert DATABASE.column(sql, {}, {"rows": table}).tolist() == expected
