"""A tiny real cross-encoder: an ONNX graph that counts the words that a question and a text share.

A word's vector is its own axis, scaled by the word's weight, and zero for special tokens. A pair's score is
the product of the question's vector with the text's, so a test can say what the score has to be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
LENGTH = 64


def write_model(
    folder: Path,
    words: Sequence[str],
    *,
    weights: Mapping[str, float] | None = None,
    outputs: int = 1,
    length: int = LENGTH,
    place: str = "model.onnx",
    opset: int = 17,
) -> Path:
    """Write a model that knows these words into a folder and return it. `weights` are 1 where not given."""
    folder.mkdir(parents=True, exist_ok=True)
    known = [*SPECIAL, *dict.fromkeys(word.lower() for word in words)]
    scale = [0.0 if word in SPECIAL else (weights or {}).get(word, 1.0) for word in known]
    (folder / place).parent.mkdir(exist_ok=True)
    onnx.save(graph_of(np.diag(scale).astype(np.float32), outputs=outputs, opset=opset), folder / place)
    tokenizer_of(known).save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": length, "pad_token_id": 0}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 1e30}))
    return folder


def tokenizer_of(known: Sequence[str]) -> Tokenizer:
    """A tokenizer of whole words."""
    tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(known)}, unk_token="[UNK]"))  # noqa: S106 - a word
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Split(Regex(r"\W+"), "removed")
    special = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
    )
    return tokenizer


def graph_of(vectors: np.ndarray, *, outputs: int = 1, opset: int = 17) -> onnx.ModelProto:
    """The graph: sum the vectors of question and text, and multiply both sums."""
    nodes = [
        helper.make_node("Gather", ["vectors", "input_ids"], ["each"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["kinds"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["mask", "kinds"], ["in_text"]),
        helper.make_node("Sub", ["mask", "in_text"], ["in_question"]),
    ]
    for side in ("question", "text"):
        nodes += [
            helper.make_node("Unsqueeze", [f"in_{side}", "last"], [f"{side}_column"]),
            helper.make_node("Mul", ["each", f"{side}_column"], [f"{side}_words"]),
            helper.make_node("ReduceSum", [f"{side}_words", "second"], [side], keepdims=0),
        ]
    nodes += [
        helper.make_node("Mul", ["question", "text"], ["product"]),
        helper.make_node("ReduceSum", ["product", "second"], ["score"], keepdims=1),
    ]
    if outputs != 1:
        nodes += [
            helper.make_node("Neg", ["score"], ["less"]),
            helper.make_node("Concat", [*["less"] * (outputs - 1), "score"], ["logits"], axis=1),
        ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    result = helper.make_tensor_value_info(
        "score" if outputs == 1 else "logits", TensorProto.FLOAT, ["pairs", outputs]
    )
    constants = {"vectors": vectors, "last": np.array([2]), "second": np.array([1])}
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "overlap", inputs, [result], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def save_graph(folder: Path, change: Any) -> None:
    """Change the graph of a model in place."""
    model = onnx.load(folder / "model.onnx")
    change(model)
    onnx.save(model, folder / "model.onnx")
