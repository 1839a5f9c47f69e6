"""A trace checked against the contract: every breach at its place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.contracts.records.chunk_id import ChunkId, mint
from proofspan.contracts.records.records import Trace
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Artifact, Document, Manifest, Run
from proofspan.traces.contract import MOST, context_of, trace_codes, trace_problems
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.traces import iter_traces
from tests.places import DEMO
from tests.unit.contract_lines import block, candidate, found, line, trace
from tests.unit.contracts.citation_payloads import payload


def test_a_trace_that_keeps_the_contract_has_no_finding() -> None:
    assert found(line()) == []
    assert found(line(), NO_CONTEXT) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"citations": [payload(rev=...)]}, [("missing_rev", "citations[1].rev")]),
        (
            {"citations": ["hb-0007", 7]},
            [("bare_citation", "citations[1]"), ("wrong_type_citations", "citations[2]")],
        ),
        ({"citations": [payload(), payload(k_pos=0)]}, [("bad_k_pos", "citations[2].k_pos")]),
        (
            {"citations": [payload(), payload(section_id="b")]},
            [("cross_section_reuse", "citations[2].section_id")],
        ),
        (
            {"citations": [payload(), payload(offsets={"start": 0, "end": 1, "unit": "token"})]},
            [("mixed_offset_units", "citations[2].offsets")],
        ),
        ({"λ": "stable"}, [("unknown_lambda_state", "λ")]),
        ({"q": "", "joined_from": {"answer": "a.jsonl:1"}}, [("question_unknown", "q")]),
        ({"q": ""}, []),
        ({"λ": ..., "metrics": {"λ_observe": "?"}}, [("unknown_lambda_state", "metrics.λ_observe")]),
        ({"analyzer": "icu"}, [("analyzer_mismatch", "analyzer")]),
        ({"index_hash": "beef", "store": "faiss"}, [("mismatch_index_hash", "index_hash")]),
        ({"index_hash": "2f7d", "store": "faiss", "embed_model": "bge-large-en-v1.5:cls"}, []),
        ({"chunks": [candidate("hb-0007", 0.9, page=0)]}, [("page_below_one", "chunks[1].page")]),
        ({"chunks": [candidate("hb-0007", 0.9, page_idx=4, page=4)]}, [("pages_disagree", "chunks[1].page")]),
        ({"chunks": [candidate("hb-0007", 0.9, page_idx=-1)]}, []),
        ({"chunks": [candidate("hb-0007", 0.9, score_norm=7)]}, [("bad_score_norm", "chunks[1].score_norm")]),
        ({"chunks": [candidate("hb-0007", "0.9")]}, [("wrong_type_score", "chunks[1].score")]),
        ({"chunks": [candidate("hb-0007"), candidate("hb-0001")]}, [("tie_order", "chunks[1]")]),
        (
            {"chunks": [candidate("hb-0007"), candidate("hb-0007", 0.1)]},
            [("duplicate_candidate", "chunks[2]")],
        ),
        (
            {"chunks": [candidate("hb-0007", 0.9), candidate("7"), candidate(7, 0.1)]},
            [("duplicate_candidate", "chunks[3]")],
        ),
        (
            {"chunks": [candidate("hb-0007"), candidate("hb-0008", None)]},
            [("missing_score", "chunks[2].score")],
        ),
        (
            {"chunks": [candidate("hb-0007", k_pos=2), candidate("hb-0008", 0.4, k_pos=2)]},
            [("bad_k_pos", "chunks[2].k_pos")],
        ),
        ({"chunks": [candidate("hb-0008")]}, [("cited_not_retrieved", "citations[1]")]),
        ({"answer": "A. citations: [hb-0007, hb-9]"}, [("cited_not_retrieved", "answer")]),
        ({"answer": "", "citations": []}, []),
        ({"answer": "Admins do.", "citations": []}, [("empty_citations", "citations")]),
        ({"answer": "Admins do.", "citations": ...}, [("empty_citations", "citations")]),
        ({"answer": "Admins do. citations: [hb-0007]", "citations": ...}, []),
        (
            {"answer": '{"error": "rev", "fix": "data-contracts"}', "citations": []},
            [("contract_stop", "answer")],
        ),
        ({"answer": "", "citations": [], "error": "rev", "fix": "x"}, [("contract_stop", "error")]),
    ],
)
def test_each_breach_is_reported_at_its_place(
    changes: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert found(line(**changes)) == expected


def test_a_candidate_owes_a_payload_only_where_it_states_one() -> None:
    whole = payload(score_raw=..., score_norm=..., k_pos=..., score=0.9)
    assert found(line(chunks=[whole])) == []
    scoreless = {name: value for name, value in whole.items() if name != "score"}
    assert found(line(chunks=[scoreless])) == [("missing_score", "chunks[1].score_raw")]
    stages = {"retrieved": [whole, payload(snippet_id="b", analyzer="icu", rev=...)]}
    assert found(line(stages=stages)) == [
        ("missing_rev", "stages.retrieved[2].rev"),
        ("analyzer_mismatch", "stages.retrieved[2].analyzer"),
    ]


def test_a_list_that_wraps_its_items_is_read_too() -> None:
    stages = {"fused": {"items": [candidate("b"), candidate("a")]}}
    assert found(line(stages=stages)) == [("tie_order", "stages.fused[1]")]


def test_a_stage_without_scores_is_a_finding_and_chunks_without_make_no_claim() -> None:
    bare = [{"id": "hb-0007", "page_idx": 3}, {"id": "hb-0008"}]
    assert found(line(chunks=bare)) == []
    assert found(line(stages={"retrieved": bare})) == [("missing_score", "stages.retrieved[1].score")]


def test_citations_may_come_before_or_together_but_not_only_after() -> None:
    unnamed = {"answer": "Admins do.", "citations": ...}
    assert found(line(**unnamed) | {"citations": [payload()]}) == [("cite_after_answer", "citations")]
    assert found({"citations": [payload()], **line(**unnamed)}) == []
    assert found(line(answer="Admins do [hb-0007].")) == []
    logged = {"citations": [{"snippet_id": "hb-0007", "score_raw": 1, "k_pos": 1}], "citations_from": "log"}
    assert found(line(**unnamed) | logged) == []
    assert found(line(answer="Admins do."), declines=True) == []


def test_an_auditable_block_is_judged_by_its_own_keys_and_five_fields() -> None:
    assert found(line(answer=block())) == []
    assert found(line(answer=block(), citations=...)) == []
    assert found(line(answer=block(ends_with_citations=True))) == [("cite_after_answer", "answer")]
    assert found(line(answer=block(tokens=...))) == [("missing_tokens", "answer.citations[1].tokens")]
    assert found(line(answer=block(snippet_id="elsewhere"))) == [
        ("cited_not_retrieved", "answer.citations[1]")
    ]
    bare = '{"citations": [], "answer": "Admins do.", "λ": "odd"}'
    assert found(line(answer=bare, citations=[])) == [
        ("unknown_lambda_state", "answer.λ"),
        ("empty_citations", "citations"),
    ]


def test_an_answer_that_declines_owes_no_citations() -> None:
    obj = line(answer="not in context", citations=[])
    assert found(obj, declines=True) == []
    assert found(obj) == [("empty_citations", "citations")]


def test_sections_are_fenced_per_segment() -> None:
    other = payload(snippet_id="hb-0008", section_id="other", k_pos=19, score_norm=0.5)
    parts = [{"seg": 1, "text": "a", "citations": [payload()]}, {"seg": 2, "text": "b", "citations": [other]}]
    assert found(line(citations=..., segments=parts)) == []
    parts[0]["citations"] = [payload(), other]
    assert found(line(citations=..., segments=parts)) == [
        ("cross_section_reuse", "segments[1].citations[2].section_id")
    ]
    parts[0]["citations"] = []
    assert found(line(citations=..., segments=parts)) == [("empty_citations", "segments[1].citations")]


def test_a_segment_may_point_at_the_traces_own_citations() -> None:
    other = payload(snippet_id="hb-0008", section_id="other", k_pos=19, score_norm=0.5)
    parts = [{"text": "a", "citations": ["hb-0007"]}, {"text": "b", "citations": [other]}]
    assert found(line(citations=[payload(), other], segments=parts)) == []
    parts[0]["citations"] = ["hb-0007", "hb-0008"]
    assert found(line(citations=[payload(), other], segments=parts)) == [
        ("cross_section_reuse", "segments[1].citations[2].section_id")
    ]
    parts[0]["citations"] = [payload(snippet_id="hb-0008", k_pos=...)]
    assert found(line(citations=[payload(), other], segments=parts)) == [
        ("missing_k_pos", "segments[1].citations[1].k_pos")
    ]


def test_an_answer_that_cites_in_its_text_alone_is_fenced_by_its_candidates_sections() -> None:
    chunks = [candidate("a", 0.9, section_id="1"), candidate("b", 0.8, section_id="2")]
    obj = line(chunks=chunks, citations=..., answer="A. citations: [a, b]")
    assert found(obj) == [("cross_section_reuse", "answer")]
    assert found(obj, Context(allow_cross=True)) == []
    minted = [mint(ChunkId("d", "00000000", section, 1, 1)) for section in ("1", "2")]
    chunks = [{"id": chunk_id} for chunk_id in minted]
    obj = line(chunks=chunks, citations=..., answer=f"A. citations: [{', '.join(minted)}]")
    assert found(obj) == [("cross_section_reuse", "answer")]


def test_without_a_pin_a_payload_is_held_against_what_the_trace_logs() -> None:
    obj = line(analyzer="icu", index_hash="beef", embed_model="other")
    assert found(obj, NO_CONTEXT) == [
        ("mismatch_index_hash", "citations[1].index_hash"),
        ("embed_model_mismatch", "citations[1].embed_model"),
        ("analyzer_mismatch", "citations[1].analyzer"),
    ]


def test_findings_of_one_code_are_counted_beyond_some_dozens() -> None:
    corpus = {"hb-0007"}
    context = Context(corpus=corpus)
    assert found(line(), context) == [("not_in_corpus", "chunks[2]")]
    many = [candidate(f"c{number}", 9 - number / 10) for number in range(MOST + 6)]
    obj = line(chunks=[candidate("hb-0007", 9.5), *many])
    findings = trace_problems(trace(obj), context, declines=False)
    assert [finding.code for finding in findings] == ["not_in_corpus"] * (MOST + 1)
    assert findings[-1].message == "6 more like it"
    assert findings[-1].where == f"chunks[{MOST + 2}]"


def test_nothing_was_retrieved_where_the_trace_says_so_and_only_there() -> None:
    assert found(line(chunks=[])) == [("cited_not_retrieved", "citations[1]")]
    assert found(line(chunks=...)) == []


def test_the_revision_in_an_id_is_held_against_the_manifest_where_the_corpus_lacks_the_id() -> None:
    old, new = (mint(ChunkId("handbook", rev, "4", 1, 1)) for rev in ("aaaaaaaa", "bbbbbbbb"))
    revs = {"handbook": "bbbbbbbb"}
    obj = line(
        chunks=[candidate(old, 3), candidate(new, 2)],
        citations=[payload(snippet_id=new, rev="bbbbbbbb")],
        answer=f"A. citations: [{new}]",
    )
    assert found(obj, Context(revs=revs)) == [("rev_mismatch", "chunks[1]")]
    assert found(obj, Context(revs={"handbook": "3b91f2a"})) == [("rev_mismatch", "citations[1].rev")]
    assert found(obj, Context(revs=revs, corpus={old, new})) == []
    assert found(obj, Context(revs=revs, corpus={new})) == [
        ("rev_mismatch", "chunks[1]"),
        ("not_in_corpus", "chunks[1]"),
    ]


def test_a_context_is_made_of_pins_revisions_and_the_whitelist() -> None:
    document = Document("handbook", Artifact("documents[handbook]", "h.pdf"), rev="3b91f2a")
    pinned = {"index_hash": 42161389, "analyzer": "icu", "embed_model": None, "record": "pins.json"}
    run = Run("R1", None, pinned=pinned)
    manifest = Manifest("m", Path(), documents=(document,), contract={"allow_cross_section": ["4.1", 5]})
    context = context_of(manifest, run, None)
    assert (context.index_hash, context.embed_model, context.analyzer) == ("42161389", None, "icu")
    assert context.revs == {"handbook": "3b91f2a"}
    assert (context.allow_cross, context.cross_sections) == (False, frozenset({"4.1", "5"}))
    assert context_of(Manifest("m", Path(), contract={"allow_cross_section": True}), run, None).allow_cross


def test_the_demo_breaks_the_contract_where_its_faults_are_declared(tmp_path: Path) -> None:
    manifest = load_manifest(DEMO)
    assert manifest.chunks is not None
    lines = (DEMO / manifest.chunks.path).read_bytes().splitlines()
    corpus = {orjson.loads(each)["chunk_id"] for each in lines}
    codes: dict[str, Counter[str]] = {}
    for run in manifest.runs:
        assert run.traces is not None
        path = plain_source(DEMO / run.traces.path, cache_dir=tmp_path)
        context = context_of(manifest, run, corpus)
        traces = iter_traces(path, file="t", run_id=run.run_id, final=True)
        codes[run.run_id] = Counter(
            code
            for each in traces
            if isinstance(each, Trace)
            for code in trace_codes(each, context, declines="not in context" in each.answer)
        )
    faulty = codes.pop("R005")
    assert faulty == {"analyzer_mismatch": 39, "cite_after_answer": 2, "cited_not_retrieved": 2}
    assert not any(codes.values()), codes


def test_a_foreign_record_breaks_rules_of_logging_only_where_it_claims_the_contract() -> None:
    strange = [candidate("x"), candidate("x")]
    bare = {"q": "Who?", "chunks": strange, "answer": "Admins do.", "citations": [{"snippet_id": "y"}]}
    foreign = Context(is_foreign=True)
    assert [code for code, _ in found(bare, foreign)] == ["duplicate_candidate", "cited_not_retrieved"]
    assert "envelope_missing" in dict(found(bare, Context()))
    assert "missing_ts" in dict(found({**bare, "schema_version": "1.0"}, foreign))
