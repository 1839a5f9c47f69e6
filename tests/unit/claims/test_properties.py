"""Test properties of checked claims that hold for any texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.diagnosis.claims.check import check_answer
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import split_claims
from proofspan.diagnosis.claims.support import Evidence, EvidenceSource, best_support
from proofspan.diagnosis.claims.units import units_of
from proofspan.diagnosis.corpus import Corpus

WORDS = st.sampled_from(
    ["brake", "oil", "lamp", "tyre", "engine", "check", "wheel", "holds", "litres", "4.5", "20", "Berlin"]
)
SENTENCES = st.lists(WORDS, min_size=3, max_size=9).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=5).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(answer=TEXTS, texts=st.lists(TEXTS, max_size=4), more=TEXTS)
def test_more_passages_never_lower_support(answer: str, texts: list[str], more: str) -> None:
    survey = Corpus({"all": " ".join([answer, *texts, more])}).survey
    sources = [
        EvidenceSource("prompt", str(place), SourceText(text)) for place, text in enumerate([*texts, more])
    ]
    claims = [ReadClaim(claim.text, "en", survey) for claim in split_claims(answer)]
    before = [best_support(claim, Evidence(sources[:-1])).score for claim in claims]
    after = [best_support(claim, Evidence(sources)).score for claim in claims]
    assert all(old <= new + 1e-9 for old, new in zip(before, after, strict=True))
    assert all(0 <= score <= 1 for score in after)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), data=st.data())
def test_a_copied_sentence_is_supported_where_it_is(texts: list[str], data: st.DataObject) -> None:
    sources = [EvidenceSource("prompt", str(place), SourceText(text)) for place, text in enumerate(texts)]
    source = data.draw(st.sampled_from(sources))
    unit = data.draw(st.sampled_from(source.text.units))
    copied = source.text.text[unit.start : unit.end]
    for claim in check_answer(copied, sources, Corpus({}).survey).claims:
        assert claim.support >= 0.95 and claim.status == "supported"
        evidence = claim.evidence
        assert evidence is not None and evidence.chunk_id is not None
        assert evidence.text == texts[int(evidence.chunk_id)][evidence.start : evidence.end]


@settings(max_examples=80, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab 1.,-|\n\t:%$()Aé。"), max_size=120))
def test_units_keep_their_characters_and_order(text: str) -> None:
    found = list(units_of(text))
    assert all(0 <= unit.start < unit.end <= len(text) for unit in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    source = SourceText(text)
    assert len(source.units) == len(source.places) == len(source.offsets)
