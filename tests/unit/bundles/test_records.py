"""A bundle: its record and back, its canonical bytes, its hash, its level."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from proofspan.contracts.records.records import Attachment, AttachmentKind, TraceKey
from proofspan.contracts.records.schemas import schema
from proofspan.errors import Problem
from proofspan.evidence.bundles import (
    Bundle,
    BundleAttachment,
    BundleCitation,
    BundleDocument,
    ValueProblem,
    bundle_from,
    bundle_id,
    canonical,
    given,
    has_unknown,
    record_of,
    sha256_of,
)
from proofspan.evidence.levels import judge
from proofspan.evidence.types import Difference, FoundSpan, TextRange

EXAMPLE: dict[str, Any] = schema("bundle")["examples"][0]
FOUND = FoundSpan("exact", 41, False, 1.0, ((72.0, 140.0, 318.0, 152.0),))
CITED = BundleCitation(
    "payload",
    number=1,
    doc_id="manual",
    section_number="4.2",
    page_idx=41,
    page_idx_from="record",
    shown_page_idx=41,
    found=FOUND,
)
GONE = Problem("missing", "the file does not exist")


def bundle(**more: Any) -> Bundle:
    return Bundle("id", "R1", "Q1", "q", "a", "text_only", "", citation=CITED, citations=(CITED,), **more)


def attachment(kind: AttachmentKind = "warning", *, drawable: bool = True, **more: Any) -> BundleAttachment:
    problem = None if drawable else GONE
    return BundleAttachment(Attachment(f"{kind[0]}-1", kind, **more), "section", None, drawable, problem)


def test_a_record_read_and_written_again_is_the_same() -> None:
    made = record_of(
        bundle(
            safety_attachments=(attachment(box=(1.0, 2.0, 3.0, 4.0)),),
            media_attachments=(attachment("image", drawable=False),),
            documents=(BundleDocument("manual", sha256="0" * 64),),
            problems=(ValueProblem("text_cut", "cut", value=5),),
        )
    )
    read = orjson.loads(canonical(made))
    assert canonical(record_of(bundle_from(read))) == canonical(made)


def test_the_hash_is_of_the_canonical_bytes_without_itself() -> None:
    made = record_of(bundle())
    turned = dict(reversed(made.items()))
    assert sha256_of(turned) == made["sha256"] == sha256_of(orjson.loads(canonical(made)))
    assert sha256_of({**made, "answer": "another"}) != made["sha256"]


def test_unknown_fields_outlive_reading_and_writing() -> None:
    record = copy.deepcopy(EXAMPLE)
    record |= {"reviewed_by": "M", "raw": [1], "x": {"deep": None}}
    record["citation"]["grade"] = 5
    record["safety_attachments"][0]["symbol"] = "triangle"
    written = record_of(bundle_from(record))
    assert {name: written[name] for name in ("reviewed_by", "raw", "x")} == {
        "reviewed_by": "M",
        "raw": [1],
        "x": {"deep": None},
    }
    assert written["citation"]["grade"] == 5
    assert written["safety_attachments"][0]["symbol"] == "triangle"
    assert written["sha256"] == sha256_of(written)
    assert has_unknown(record) and not has_unknown(record_of(bundle()))


@pytest.mark.parametrize("name", ["citations", "documents", "safety_attachments"])
def test_unknown_fields_in_every_list_outlive_building_again(name: str) -> None:
    documents = (BundleDocument("manual"),)
    made = bundle(safety_attachments=(attachment(),), documents=documents)
    earlier = record_of(made)
    earlier[name][0]["reviewed_by"] = "M"
    assert has_unknown(earlier)
    assert record_of(replace(made, raw=earlier))[name][0]["reviewed_by"] == "M"


def test_unknown_fields_of_another_citation_or_attachment_stay_with_it() -> None:
    earlier = record_of(bundle(safety_attachments=(attachment(),)))
    earlier["citation"]["grade"] = earlier["safety_attachments"][0]["symbol"] = "kept"
    cited = replace(CITED, page_idx=7, shown_page_idx=7)
    other = replace(bundle(raw=earlier), citation=cited, safety_attachments=(attachment("note"),))
    written = record_of(other)
    assert "grade" not in written["citation"]
    assert "symbol" not in written["safety_attachments"][0]


def test_an_id_is_that_of_its_trace_alone() -> None:
    keys = [TraceKey("R1", "Q1"), TraceKey("R1", "Q1", 1), TraceKey("R1", "Q1", 0, 1)]
    keys += [TraceKey("R1", "Q1", 0, 0, 2), TraceKey("R1Q", "1"), TraceKey("R2", "Q1")]
    assert len({bundle_id(key) for key in keys}) == len(keys)
    assert bundle_id(keys[0]) == bundle_id(TraceKey("R1", "Q1")) == "eb9cf677-71e2-5946-a650-18c9ed283ac0"


def test_counts_may_be_written_with_a_point() -> None:
    record = copy.deepcopy(EXAMPLE)
    record["citation"]["page_idx"] = 41.0
    read = bundle_from(record).citation
    assert read is not None
    assert type(read.page_idx) is int


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-1, -1), ("3", "3"), (3.5, 3.5), (None, None), ([1], "[1]"), ("x" * 300, "x" * 200 + "…")],
)
def test_a_given_value_is_reported_in_brief(value: Any, expected: Any) -> None:
    assert given(value) == expected


NOT_FOUND = FoundSpan("not_found", None, False, 0.0, note="page_idx 41 has no text to compare the quote with")
TEXT = FoundSpan("exact", None, False, 1.0, ranges=(TextRange(3, 9, 2, 2), TextRange(10, 12, 3, 4)))
ELSEWHERE = FoundSpan("fuzzy", 42, True, 0.9, FOUND.rects, (Difference("2.3", "2.5", "number"),))
LEVELS: list[tuple[Bundle, str]] = [
    (bundle(), "full"),
    (bundle(safety_attachments=(attachment(),), media_attachments=(attachment("image"),)), "full"),
    (
        bundle(
            safety_attachments=(attachment(),),
            media_attachments=(attachment("image", drawable=False, caption="Figure 5-3"),),
        ),
        "safety_citation",
    ),
    (
        bundle(safety_attachments=(attachment(), attachment("note", drawable=False, caption="Note"))),
        "citation_only",
    ),
    (replace(bundle(), citation=replace(CITED, found=NOT_FOUND)), "citation_only"),
    (replace(bundle(), citation=replace(CITED, found=ELSEWHERE, shown_page_idx=42)), "full"),
    (replace(bundle(), citation=replace(CITED, found=TEXT, page_idx=0, shown_page_idx=0)), "full"),
    (replace(bundle(), citation=replace(CITED, origin="retrieved"), citations=()), "full"),
    (
        replace(bundle(), citation=None, citations=(replace(CITED, shown_page_idx=None, problems=(GONE,)),)),
        "text_only",
    ),
    (replace(bundle(), citation=None, citations=()), "text_only"),
    (
        replace(
            bundle(problems=(Problem("passage_not_shown", "no passage: gone"),)), citation=None, citations=()
        ),
        "text_only",
    ),
    (
        bundle(problems=(Problem("attachments_cut", "…"),), safety_attachments=(attachment(),)),
        "citation_only",
    ),
    (
        bundle(documents=(BundleDocument("manual", sha256="0" * 64, problem=Problem("x", "Replaced")),)),
        "full",
    ),
]


def test_the_rules_give_each_level_with_its_reason(golden: Callable[[str, str], None]) -> None:
    levels = [judge(made) for made, _ in LEVELS]
    assert [level for level, _ in levels] == [level for _, level in LEVELS]
    golden("bundle/levels", "\n".join(f"{level}: {reason}" for level, reason in levels))


def test_a_sentence_holds_nothing_that_acts_on_a_screen() -> None:
    caption = "\u202e\x1b[31m\n  Figure" + " x" * 200
    _, reason = judge(bundle(media_attachments=(attachment("image", drawable=False, caption=caption),)))
    assert reason.isprintable()
    assert len(reason) < 300
