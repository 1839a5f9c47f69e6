"""Answers and chunks that nobody would write: the claims are bounded, say so, and nothing else is lost."""

from __future__ import annotations

import orjson
import pytest

from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.split import MOST_CLAIMS
from proofspan.diagnosis.claims.support import MOST_FIGURES
from proofspan.diagnosis.claims.types import MOST_EVIDENCE, CheckedAnswer, claim_records
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from tests.made_traces import made_trace

SENTENCE = "The oil filter holds 4 litres. "
WIDE = "\n".join("| " + " | ".join(str(row * column) for column in range(400)) + " |" for row in range(20))
ODD = {
    "a number of many digits": "9" * 20_000,
    "many digits and a letter": f"{'9' * 60}x\n{'9' * 60}y",
    "a number of many groups": "9,999" + ",999" * 5_000,
    "figures side by side": "9 " * 10_000,
    "brackets": "(9 " * 5_000,
    "a word of many letters": "a" * 100_000,
    "words without an end": "filter " * 20_000,
    "a table of 400 columns": WIDE,
    "right to left": "مرشح الزيت يتسع لأربعة لترات. " * 500,
    "control characters": "\x00\x07\u202e\ufeff" * 500,
    "marks": "?!.;:" * 5_000,
    "exponents": "1e999999999 litres, 1/0, 10^1000 and ½ ٣٤٥ %.",
    "line ends": "\r\n\u2028" * 5_000,
}


def checked(answer: str, chunk: str) -> CheckedAnswer:
    corpus = Corpus({"c1": SENTENCE, "c2": chunk})
    trace = made_trace({"q": "What holds it?", "answer": answer, "chunks": [{"id": "c1"}, {"id": "c2"}]})
    return Checker(corpus.texts, corpus.survey, {}).check(trace, Profile())


@pytest.mark.parametrize("odd", ODD)
def test_odd_chunks_and_answers_leave_the_other_claims_as_they_are(odd: str) -> None:
    (claim,) = checked(SENTENCE, ODD[odd]).claims
    assert (claim.status, claim.support) == ("supported", 1.0)
    answer = f"{SENTENCE}\n\n{ODD[odd]}"
    first = checked(answer, ODD[odd]).claims[0]
    assert (first.claim.text.strip(), first.status) == (SENTENCE.strip(), "supported")
    for each in checked(answer, ODD[odd]).claims:
        assert answer[each.claim.start : each.claim.end] == each.claim.text
        assert 0 <= each.support <= 1


@pytest.mark.parametrize(
    "answer", [SENTENCE * 70_000, "".join(f"Filter {n} holds {n} litres. " for n in range(5_000))]
)
def test_more_claims_than_are_checked_are_named(answer: str) -> None:
    found = checked(answer, "")
    assert len(found.claims) <= MOST_CLAIMS
    assert found.note


def test_a_chunk_that_is_one_sentence_is_not_repeated_whole_for_each_claim() -> None:
    answer = "".join(f"Filter {n} holds oil. " for n in range(100))
    records = claim_records(checked(answer, "filter holds oil litres " * 8_000).claims)
    texts = [record["evidence"]["text"] for record in records if record["evidence"]]
    assert max(map(len, texts)) <= MOST_EVIDENCE
    assert len(orjson.dumps(records)) < 100 * 2 * MOST_EVIDENCE


def test_figures_that_are_not_compared_are_named() -> None:
    figures = " ".join(map(str, range(10_001, 19_000)))
    chunks = {f"c{number}": figures for number in range(4)}
    corpus = Corpus(chunks)
    trace = made_trace(
        {"q": "?", "answer": "It holds 7.5 litres.", "chunks": [{"id": each} for each in chunks]}
    )
    found = Checker(corpus.texts, corpus.survey, {}).check(trace, Profile())
    assert f"{MOST_FIGURES:,}" in found.note
    assert not checked("It holds 7.5 litres.", figures).note
