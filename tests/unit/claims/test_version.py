"""Claims that are checked otherwise need another `CLAIMS_VERSION`, or older results would be shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import orjson

from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.chunks import place_of, read_chunks
from proofspan.traces.records.redirects import mapped
from proofspan.version import CLAIMS_VERSION
from tests.made_traces import made_trace
from tests.places import CHECKOUT, DEMO

TESTS = CHECKOUT / "tests"
CASES = TESTS / "unit" / "claims" / "demo_claims.jsonl"
GOLDEN = "claims/demo"
#: The digest of the golden claims by version, the current one last.
RECORDED = TESTS / "golden" / "claims_versions.json"


def in_words(case_id: str, checked: CheckedClaim) -> str:
    """One line: id, status, support, place of the evidence, differences, formula."""
    found = checked.evidence
    place = f"{found.origin} {found.chunk_id} {found.start}-{found.end}" if found else "nothing"
    differing = (f"{each.kind}: {each.claimed} / {each.found}" for each in checked.differences)
    parts = [case_id, checked.status, f"{checked.support:.4f}", place, *differing, checked.formula]
    return " | ".join(filter(None, (" ".join(part.split()) for part in parts)))


def test_changed_claims_have_another_version(golden: Callable[[str, str], None]) -> None:
    chunks, _ = read_chunks(DEMO / "corpus" / "chunks.jsonl", file="chunks.jsonl")
    corpus = Corpus(mapped(chunks, lambda chunk: chunk.text))
    checker = Checker(corpus.texts, corpus.survey, mapped(chunks, place_of))
    lines = []
    for line in CASES.read_bytes().splitlines():
        case = orjson.loads(line)
        record = {
            "q": case["question"],
            "answer": case["claim"],
            "chunks": [{"id": c} for c in case["chunks"]],
        }
        answer = checker.check(made_trace(record), Profile())
        lines += [in_words(case["id"], each) for each in answer.claims]
    unlisted = {"q": "How much oil does the engine hold?", "answer": "The engine holds 4.5 litres of oil."}
    for case_id, record in (("listed-none", unlisted | {"chunks": []}), ("unlisted", unlisted)):
        answer = checker.check(made_trace(record), Profile())
        lines += [in_words(case_id, each) for each in answer.claims] or [f"{case_id} | {answer.note}"]
    text = "\n".join(lines)
    golden(GOLDEN, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded.get(str(CLAIMS_VERSION)) == digest, (
        "claims are checked otherwise: raise CLAIMS_VERSION in proofspan/version.py and record its digest "
        f"in {RECORDED.name}: {digest}"
    )
    assert max(map(int, recorded)) == CLAIMS_VERSION
    assert len(set(recorded.values())) == len(recorded)
