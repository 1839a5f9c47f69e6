"""Which typical failures a run shows: each where its signs are there, and not without them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from proofspan.contracts.chunk_ids.audit import Audit
from proofspan.services.health.failure_modes import FailureCounts, failure_modes


def shown(*, audits: Sequence[Audit] = (), **signs: Any) -> dict[str, list[str]]:
    """Return the reasons of each failure that applies."""
    found = failure_modes(FailureCounts("R1", 40, **signs), audits)
    return {mode.problem.code: [reason.text for reason in mode.reasons] for mode in found}


@pytest.mark.parametrize(
    ("signs", "name", "because"),
    [
        ({"codes": {"cross_section_reuse": 4}}, "other_section", ["sections mixed on 4 of 40 questions"]),
        ({"codes": {"cited_not_retrieved": 1}}, "other_section", None),
        ({"evidence": {"not_found": 2}}, "other_section", None),
        ({"evidence": {"page_mismatch": 1}}, "other_section", None),
        ({"codes": {"missing_rev": 3}}, "fields_missing", ["rev missing on 3 of 40 questions"]),
        ({"codes": {"empty_source_url": 3}}, "fields_missing", None),
        ({"codes": {"missing_score": 3}}, "fields_missing", ["no score on 3 of 40 questions"]),
        ({"codes": {"tie_order": 2}}, "order_changes", ["ties out of order on 2 of 40 questions"]),
        ({"codes": {"missing_k_pos": 2}}, "order_changes", None),
        ({"codes": {"bad_k_final": 2}}, "order_changes", None),
        (
            {"codes": {"analyzer_mismatch": 40}, "drifting": 6},
            "wrong_meaning",
            [
                "analyzer differs on 40 of 40 questions",
                "the evidence lacks the question's words on 6 of 40 questions",
            ],
        ),
        ({"codes": {"embed_model_mismatch": 1}}, "wrong_meaning", None),
        ({"codes": {"mismatch_index_hash": 1}}, "wrong_meaning", None),
        (
            {"hits": 30, "missed": 2},
            "span_missed",
            ["of 30 questions with the gold section first, 2 cite no gold passage"],
        ),
        (
            {"outranked": 8, "checked": 8, "adjacent": 1},
            "adjacent_section",
            None,
        ),
        ({"codes": {"not_in_corpus": 5}}, "ids_change", None),
        ({"codes": {"rev_mismatch": 5}}, "ids_change", None),
        ({"suspicions": {"unresolved_chunk_id": 5}}, "ids_change", None),
        ({"audits": [Audit("recomputed", "fail", "1 of 2 comes out different")]}, "ids_change", None),
        ({"audits": [Audit("one_to_one", "fail", "80 % go on")]}, "ids_change", ["80 % go on"]),
        ({"audits": [Audit("citation_match", "fail", "4 of 9 match")]}, "span_missed", ["4 of 9 match"]),
    ],
)
def test_a_mode_applies_by_its_signs(signs: dict[str, Any], name: str, because: list[str] | None) -> None:
    found = shown(**signs)
    assert list(found) == [name]
    assert because is None or found[name] == because


@pytest.mark.parametrize(
    "signs",
    [
        {},
        {"drifting": 6},
        {"hits": 30},
        {"outranked": 8, "checked": 8},
        {"evidence": {"exact": 40}},
        {"codes": {"missing_ts": 40}},
        {"codes": {"tie_order": 0}},
        {"codes": {"empty_citations": 3}},
        {"codes": {"empty_citations": 40, "missing_score": 40}},
        {"audits": [Audit("unique", "fail", "2 ids come twice")]},
        {"audits": [Audit("recomputed", "pass", "all can be computed again")]},
    ],
)
def test_no_mode_applies_without_its_signs(signs: dict[str, Any]) -> None:
    assert not shown(**signs)


def test_every_mode_says_what_to_do_and_opens_the_questions_that_it_counts() -> None:
    codes = {"cross_section_reuse": 4, "missing_rev": 3, "tie_order": 2, "rev_mismatch": 1}
    codes |= {"analyzer_mismatch": 5}
    found = failure_modes(
        FailureCounts("R1", 40, codes, hits=9, missed=1, outranked=600, checked=500, adjacent=3)
    )
    assert [mode.problem.code for mode in found] == [
        *("other_section", "fields_missing", "order_changes", "wrong_meaning"),
        *("span_missed", "adjacent_section", "ids_change"),
    ]
    assert all(mode.problem.fix and mode.reasons[0].shown is not None for mode in found)
    (adjacent,) = found[5].reasons
    assert adjacent.text.startswith("of the first 500 questions")


def test_of_many_fields_the_most_frequent_are_named() -> None:
    codes = {f"missing_f{number}": number for number in range(1, 8)}
    lines = shown(codes=codes)["fields_missing"]
    assert lines[0] == "f7 missing on 7 of 40 questions"
    assert lines[-1] == "and 3 other fields"
    assert len(lines) == 5
