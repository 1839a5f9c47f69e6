"""A cross-encoder from a folder: the same pairs give the same scores, whatever is scored beside them."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.services.rerank import model as model_module
from proofspan.services.rerank.model import CrossEncoder
from tests.rerank_models import write_model

WORDS = [f"w{number}" for number in range(40)]
TEXTS = st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=70).map(" ".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    weights = {word: (number + 1) / 7 for number, word in enumerate(WORDS)}
    return write_model(tmp_path_factory.mktemp("models") / "overlap", WORDS, weights=weights)


@pytest.fixture(scope="module")
def encoder(folder: Path) -> CrossEncoder:
    return CrossEncoder(folder)


def test_the_score_is_the_models(encoder: CrossEncoder) -> None:
    pairs = [("w0 w1", "w1 w1 w2"), ("w0", "w3"), ("W6?", "w6!")]
    found = encoder.score(pairs)
    assert [found.by_pair[pair] for pair in pairs] == [round(2 * (2 / 7) ** 2, 6), 0.0, 1.0]
    assert (found.cut, found.cut_questions) == (0, 0)
    assert found.seconds > 0


def test_of_two_outputs_the_difference_counts(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_model(tmp_path, WORDS, outputs=2))
    assert encoder.score([("w1", "w1 w1")]).by_pair["w1", "w1 w1"] == 4.0
    assert encoder.record()["score"]["kind"] == "logit of relevant less logit of not relevant"


@settings(max_examples=15)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=40), data=st.data())
def test_order_repeats_and_neighbours_do_not_matter(
    encoder: CrossEncoder, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    whole = encoder.score(pairs).by_pair
    assert encoder.score(data.draw(st.permutations(pairs)) + pairs[:3]).by_pair == whole
    some = data.draw(st.lists(st.sampled_from(pairs), max_size=5))
    assert all(encoder.score([pair]).by_pair[pair] == whole[pair] for pair in some)


def test_a_long_text_is_cut_and_a_long_question_keeps_half(encoder: CrossEncoder) -> None:
    assert (encoder.max_tokens, encoder.question_tokens) == (64, 30)
    room = 64 - 3 - 1
    at_end = " ".join(["w0"] * room + ["w39"])
    found = encoder.score([("w39", at_end), ("w39", at_end.removeprefix("w0 "))])
    assert found.by_pair["w39", at_end] == 0.0
    assert found.by_pair["w39", at_end.removeprefix("w0 ")] > 0
    assert (found.cut, found.cut_questions) == (1, 0)
    question = " ".join(["w0"] * 30 + ["w39"])
    found = encoder.score([(question, "w39"), (question.removeprefix("w0 "), "w39")])
    assert found.by_pair[question, "w39"] == 0.0
    assert found.by_pair[question.removeprefix("w0 "), "w39"] > 0
    assert (found.cut, found.cut_questions) == (0, 1)


def test_the_record_pins_every_file(encoder: CrossEncoder, folder: Path) -> None:
    record = encoder.record()
    names = ["model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json"]
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    assert record["weights"] == {"source": "the folder overlap", "sha256": hashes[names[0]], "files": hashes}
    assert record["tokenizer"] == {"name": "tokenizer.json", "sha256": hashes["tokenizer.json"]}
    assert (record["model"], record["threads"]) == ("overlap", {"inter_op": 1, "intra_op": 1})
    assert str(folder.parent) not in json.dumps(record)


def test_weights_may_be_in_a_folder_of_their_own(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_model(tmp_path, WORDS, place="onnx/model.onnx"), threads=2)
    assert next(iter(encoder.record()["weights"]["files"])) == "onnx/model.onnx"
    assert encoder.record()["threads"]["intra_op"] == 2


@pytest.mark.parametrize(
    ("config", "tokenizer", "length"),
    [
        ({}, {}, 512),
        ({"max_position_embeddings": 512}, {"model_max_length": 128}, 128),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, {}, 512),
        ({"max_position_embeddings": True}, {"model_max_length": "long"}, 512),
    ],
)
def test_the_longest_pair(
    tmp_path: Path, config: dict[str, object], tokenizer: dict[str, object], length: int
) -> None:
    folder = write_model(tmp_path, WORDS)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    assert CrossEncoder(folder).max_tokens == length


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_error_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(InputFault) as refused:
        CrossEncoder(folder)
    (problem,) = refused.value.problems
    assert problem.code == "extra_missing"
    assert "pip install 'proofspan[rerank]'" in problem.fix


def test_progress_is_reported_for_every_batch(encoder: CrossEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_module, "BATCH", 2)
    monkeypatch.setattr(model_module, "TOKENIZED", 3)
    seen: list[tuple[int, int]] = []
    encoder.score([(word, "w1") for word in WORDS[:5]], on_pairs=lambda *done: seen.append(done))
    assert seen == [(2, 5), (3, 5), (5, 5)]
