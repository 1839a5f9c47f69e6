"""Labels on other prompts are those of the labeller, for any chunks in any order."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import verdict
from proofspan.diagnosis.prompt_labels import PromptLabels
from proofspan.diagnosis.types import Profile
from tests.made_traces import made_trace

WORDS = ["the", "oil", "filter", "holds", "four", "litres", "of", "engine", "oil", "is", "changed"]
PROFILES = [
    Profile(),
    Profile("payload"),
    Profile("none", ("no idea",)),
    Profile("seed", ("oil filter", "x")),
]


def made_text(rng: Random) -> str:
    return rng.choice([" ", "\n\n"]).join(rng.choice(WORDS) for _ in range(rng.randrange(12)))


@settings(max_examples=60)
@given(st.integers(0, 1 << 32))
def test_labels_are_those_of_the_labeller(seed: int) -> None:
    rng = Random(seed)
    corpus = Corpus({f"c{number}": made_text(rng) for number in range(8)})
    ids = [*corpus.texts, "unknown"]
    answer = made_text(rng) + rng.choice(["", " not in context", f" citations: [{rng.choice(ids)}]"])
    record = {"q": made_text(rng), "answer": answer, "chunks": []}
    if rng.random() < 0.5:
        record["citations"] = [{"chunk_id": rng.choice(ids)}]
    labels = PromptLabels(made_trace(record), corpus)
    for _ in range(10):
        prompt, profile = rng.sample(ids, rng.randrange(6)), rng.choice(PROFILES)
        trace = made_trace(record | {"chunks": [{"id": each} for each in prompt]})
        row = verdict(trace, corpus, profile)
        assert row is not None and labels.label(prompt, profile) == row.label


def test_an_answer_to_an_unknown_question_has_no_label() -> None:
    trace = made_trace({"q": "", "answer": "Oil.", "chunks": [], "joined_from": []})
    assert PromptLabels(trace, Corpus({"c": "oil"})).label(["c"], Profile()) is None
