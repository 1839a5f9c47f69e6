"""A filter keeps the rows that plain Python keeps which says the same without SQL."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.metrics.ranked import BUCKETS
from proofspan.store.files.checked import CLAIM_STATUSES, DIFFERENCE_KINDS
from proofspan.store.files.columns import fold
from proofspan.store.files.evidence_states import EVIDENCE_STATES
from proofspan.store.query.database import Database, selection
from proofspan.store.query.filters import FLIPS, Filter

words = st.sampled_from(["oil", "Oil filter", "100%", "a_b", "Straße", "", "c:\\x", "“q”", "1.5"])
few = st.lists(words, max_size=3).map(tuple)
row = st.fixed_dictionaries(
    {
        "q": words,
        "answer": words,
        "label": st.sampled_from([*LABELS, None]),
        "suspicions": few,
        "codes": few,
        "docs": few,
        "rank1_section": st.one_of(st.none(), words),
        "numbers_unsupported": few,
        "gold_state": st.sampled_from([*GOLD_STATES, None]),
        "safety_omitted": st.one_of(st.none(), few),
        "about": few,
        "bucket": st.sampled_from(["hit", "score_policy", "retrieval_gap", None]),
        "q_type": st.one_of(st.none(), words),
        "lambda_state": st.one_of(st.none(), words),
        "refused": st.sampled_from([None, True, False]),
        "unranked": st.sampled_from([None, "no_gold"]),
        "top_rank": st.sampled_from([None, 1, 20, 21]),
        "was_label": st.sampled_from([*LABELS, None]),
        "was_bucket": st.sampled_from(["hit", "retrieval_gap", None]),
        "was_correct": st.sampled_from([*CORRECT, None]),
        "was_value_gt_in_top_20": st.sampled_from([None, 0.0, 1.0]),
        "in_cohort": st.booleans(),
        "evidence": st.one_of(st.none(), st.lists(st.sampled_from(EVIDENCE_STATES), max_size=3)),
        "claim_statuses": st.one_of(st.none(), st.lists(st.sampled_from(CLAIM_STATUSES), max_size=3)),
        "difference_kinds": st.one_of(st.none(), st.lists(st.sampled_from(DIFFERENCE_KINDS), max_size=3)),
        "contradictions": st.sampled_from([None, 0, 2]),
        "cause": st.sampled_from([*CAUSES, "none", None]),
        "correct": st.sampled_from([*CORRECT, None]),
        "grounded": st.sampled_from([*GROUNDED, None]),
        "was_cause": st.sampled_from(["contradicted", "none", None]),
        "support": st.sampled_from([None, 0.0, 0.25, 0.6, 1.0]),
        "paraphrase": st.integers(0, 1),
        "seed": st.integers(0, 1),
        "repeat": st.integers(1, 2),
    }
)
#: What each part of a filter may ask for.
PARTS = {
    "label": st.lists(st.sampled_from(LABELS), max_size=2).map(tuple),
    "suspicion": few,
    "code": few,
    "doc": few,
    "section": few,
    "gold": st.lists(st.sampled_from(GOLD_STATES), max_size=2).map(tuple),
    "unsupported": st.sampled_from([None, True, False]),
    "safety": st.sampled_from([None, True, False]),
    "about": few,
    "fails": st.sampled_from([None, True, False]),
    "evidence": st.lists(st.sampled_from(EVIDENCE_STATES), max_size=2).map(tuple),
    "claim": st.lists(st.sampled_from(CLAIM_STATUSES), max_size=2).map(tuple),
    "difference": st.lists(st.sampled_from(DIFFERENCE_KINDS), max_size=2).map(tuple),
    "contradictions": st.sampled_from([None, True, False]),
    "support": st.sampled_from(["", "0-0.25", "0.25-0.6", "1-1"]),
    "cause": st.lists(st.sampled_from(CAUSES), max_size=4).map(tuple),
    "correct": st.lists(st.sampled_from(CORRECT), max_size=3).map(tuple),
    "grounded": st.lists(st.sampled_from(GROUNDED), max_size=2).map(tuple),
    "was_cause": st.lists(st.sampled_from(CAUSES), max_size=3).map(tuple),
    "bucket": st.lists(st.sampled_from(BUCKETS), max_size=2).map(tuple),
    "type": few,
    "state": few,
    "refused": st.sampled_from([None, True, False]),
    "miss": st.sampled_from(["", "gt_in_top_20"]),
    "met": st.sampled_from(["", "gt_in_top_20"]),
    "cohort": st.sampled_from(["", "GAPS"]),
    "was": st.lists(st.sampled_from(LABELS), max_size=2).map(tuple),
    "was_bucket": st.lists(st.sampled_from(BUCKETS), max_size=2).map(tuple),
    "was_correct": st.lists(st.sampled_from(CORRECT), max_size=2).map(tuple),
    "flip": st.sampled_from(["", *FLIPS]),
    "text": words,
    "all_variants": st.booleans(),
    "questions_only": st.booleans(),
}


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """A filter of a few parts: with more of them hardly any row is kept."""
    names = draw(st.sets(st.sampled_from(sorted(PARTS)), max_size=3))
    return Filter("R", outcome="gt_in_top_20", **{name: draw(PARTS[name]) for name in sorted(names)})


SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("q_folded", pa.string()),
        ("answer_folded", pa.string()),
        ("label", pa.dictionary(pa.int32(), pa.string())),
        ("suspicions", pa.list_(pa.string())),
        ("codes", pa.list_(pa.string())),
        ("docs", pa.list_(pa.string())),
        ("rank1_section", pa.dictionary(pa.int32(), pa.string())),
        ("numbers_unsupported", pa.list_(pa.string())),
        ("gold_state", pa.dictionary(pa.int32(), pa.string())),
        ("safety_omitted", pa.list_(pa.string())),
        ("about", pa.list_(pa.string())),
        ("evidence", pa.list_(pa.string())),
        ("claim_statuses", pa.list_(pa.string())),
        ("difference_kinds", pa.list_(pa.string())),
        ("contradictions", pa.int32()),
        ("support", pa.float64()),
        ("cause", pa.string()),
        ("correct", pa.string()),
        ("grounded", pa.string()),
        ("was_cause", pa.string()),
        ("bucket", pa.dictionary(pa.int32(), pa.string())),
        ("q_type", pa.dictionary(pa.int32(), pa.string())),
        ("lambda_state", pa.dictionary(pa.int32(), pa.string())),
        ("refused", pa.bool_()),
        ("unranked", pa.dictionary(pa.int32(), pa.string())),
        ("top_rank", pa.int32()),
        ("was_label", pa.string()),
        ("was_bucket", pa.string()),
        ("was_correct", pa.string()),
        ("was_value_gt_in_top_20", pa.float64()),
        ("in_cohort", pa.bool_()),
        ("paraphrase", pa.int32()),
        ("seed", pa.int32()),
        ("repeat", pa.int32()),
    ]
)
DATABASE = Database()


def fails(record: dict[str, object]) -> bool | None:
    """Whether a row went wrong: by its cause where it has one, else by its gold, else by its label."""
    if record["cause"] is not None:
        return record["cause"] != "none"
    if record["gold_state"] is not None:
        return record["gold_state"] not in ("cited", "declined")
    if record["label"] is None:
        return None
    return record["label"] in ("generation_drift", "retrieval_drift", "refusal_suspect")


def found(record: dict[str, object]) -> bool | None:
    """True if the gold of a row is in the top 20; None if it was not judged."""
    return None if record["unranked"] else record["top_rank"] in (1, 20)


def flip(record: dict[str, object]) -> str | None:
    """How that turned; None where it is not judged in both runs."""
    was = record["was_value_gt_in_top_20"]
    if was is None or found(record) is None:
        return None
    words = {(0, 1): "fixed", (1, 0): "regressed", (1, 1): "both", (0, 0): "neither"}
    return words[int(str(was)[0]), int(bool(found(record)))]


def within(bounds: str, support: object) -> bool:
    """Whether a support lies between two numbers; None does not."""
    least, most = map(float, bounds.split("-"))
    return isinstance(support, float) and least <= support <= most


def keeps(shown: Filter, record: dict[str, object]) -> bool:
    """Apply the filter without SQL."""
    q, answer = str(record["q"]), str(record["answer"])
    searched = q if shown.questions_only else f"{q}\0{answer}"
    return all(
        [
            shown.all_variants or (record["paraphrase"], record["seed"], record["repeat"]) == (0, 0, 1),
            not shown.label or record["label"] in shown.label,
            not shown.suspicion or bool(set(shown.suspicion) & set(record["suspicions"])),  # type: ignore[call-overload]
            not shown.code or bool(set(shown.code) & set(record["codes"])),  # type: ignore[call-overload]
            not shown.doc or bool(set(shown.doc) & set(record["docs"])),  # type: ignore[call-overload]
            not shown.section or record["rank1_section"] in shown.section,
            not shown.gold or record["gold_state"] in shown.gold,
            shown.unsupported is None or bool(record["numbers_unsupported"]) == shown.unsupported,
            shown.safety is None
            or (record["safety_omitted"] is not None and bool(record["safety_omitted"]) == shown.safety),
            not shown.evidence or bool(set(shown.evidence) & set(record["evidence"] or ())),  # type: ignore[call-overload]
            not shown.claim or bool(set(shown.claim) & set(record["claim_statuses"] or ())),  # type: ignore[call-overload]
            not shown.difference or bool(set(shown.difference) & set(record["difference_kinds"] or ())),  # type: ignore[call-overload]
            shown.contradictions is None
            or (
                record["contradictions"] is not None
                and bool(record["contradictions"]) is shown.contradictions
            ),
            not shown.support or within(shown.support, record["support"]),
            not shown.cause or record["cause"] in shown.cause,
            not shown.correct or record["correct"] in shown.correct,
            not shown.grounded or record["grounded"] in shown.grounded,
            not shown.was_cause or record["was_cause"] in shown.was_cause,
            not shown.about or bool(set(shown.about) & set(record["about"])),  # type: ignore[call-overload]
            shown.fails is None or fails(record) is shown.fails,
            not shown.bucket or record["bucket"] in shown.bucket,
            not shown.type or record["q_type"] in shown.type,
            not shown.state or record["lambda_state"] in shown.state,
            shown.refused is None or record["refused"] is shown.refused,
            not shown.miss or found(record) is False,
            not shown.met or found(record) is True,
            not shown.cohort or record["in_cohort"],
            not shown.was or record["was_label"] in shown.was,
            not shown.was_bucket or record["was_bucket"] in shown.was_bucket,
            not shown.was_correct or record["was_correct"] in shown.was_correct,
            not shown.flip or flip(record) == shown.flip,
            any(fold(shown.text) in fold(part) for part in searched.split("\0")),
        ]
    )


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(row, max_size=12), filters())
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
    sql = selection(clause.sql)
    rows = DATABASE.column(sql, clause.params, {"rows": table.select(["row", *clause.columns])})
    assert rows.tolist() == [place for place, record in enumerate(records) if keeps(shown, record)]
