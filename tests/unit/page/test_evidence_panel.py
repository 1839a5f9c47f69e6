"""How much of an answer's evidence its bundle shows, as a badge says it."""

from __future__ import annotations

from dataclasses import replace

from proofspan.contracts.records.schemas import schema
from proofspan.evidence.bundles import bundle_from
from proofspan.ui.question.attachments import level_name


def test_a_retrieved_passage_is_no_evidence_of_an_answer_that_cites_nothing() -> None:
    bundle = replace(bundle_from(schema("bundle")["examples"][0]), level="full")
    assert level_name(replace(bundle, citation_origin="payload")) == "Full evidence"
    assert level_name(replace(bundle, citation_origin="retrieved")) == "Retrieved, not cited"
