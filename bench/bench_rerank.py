"""Reranking outside the model: how much time all else takes beside a cross-encoder of a usual size.

    python bench/bench_rerank.py [--runs 3] [--layers 6] [--width 384] [--cohort NAME]

The model is made here with random weights, in the form and size of a common one (6 layers of width 384, 12
heads, 22 million parameters), as is its word-piece tokenizer, from the demo's chunks. Timed is everything
that `proofspan rerank` does with run R003 of the demo once it is started: reading the run, chunks and gold,
loading and hashing the model, texts, tokens, batches, new order, ranks, records. Inside is the time in the
model's session. The fastest of the rounds counts; the ratio holds on a busy machine only roughly.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import orjson
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordPieceTrainer

from proofspan.manifest.load import load_manifest
from proofspan.resources import DEMO
from proofspan.services.rerank.model import CrossEncoder
from proofspan.services.rerank.results import Outcome, rerank_records
from proofspan.services.rerank.scoring import with_model
from proofspan.services.rerank.selection import chosen_cohort, read_sources, select

RUN, VOCABULARY, POSITIONS, HEADS = "R003", 30_522, 512, 12
#: The most time outside the model, as a share of the time inside.
MOST = 0.10


class Graph:
    """An encoder's graph while it is built: nodes in their order, and weights drawn from one seed."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.held: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(0)

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def hold(self, value: np.ndarray) -> str:
        name = f"held_{len(self.held)}"
        self.held.append(numpy_helper.from_array(value, name))
        return name

    def weights(self, *shape: int) -> str:
        return self.hold(self._random.normal(0, 0.02, shape).astype(np.float32))

    def linear(self, value: str, inside: int, outside: int) -> str:
        product = self.op("MatMul", value, self.weights(inside, outside))
        return self.op("Add", product, self.weights(outside))

    def normed(self, value: str, width: int) -> str:
        scale, bias = self.hold(np.ones(width, np.float32)), self.hold(np.zeros(width, np.float32))
        return self.op("LayerNormalization", value, scale, bias, axis=-1)

    def heads(self, value: str, width: int, order: tuple[int, ...]) -> str:
        split = self.op("Reshape", value, self.hold(np.array([0, 0, HEADS, width // HEADS])))
        return self.op("Transpose", split, perm=order)


def write_encoder(folder: Path, *, layers: int, width: int) -> None:
    """Write a BERT-like encoder of pairs with one logit, and its tokenizer, into a folder."""
    graph = Graph()
    words = graph.op("Gather", graph.weights(VOCABULARY, width), "input_ids")
    length = graph.op("Shape", "input_ids", start=1)
    scalar = graph.op("Squeeze", length)
    places = graph.op("Range", graph.hold(np.array(0)), scalar, graph.hold(np.array(1)))
    position = graph.op("Gather", graph.weights(POSITIONS, width), places)
    kinds = graph.op("Gather", graph.weights(2, width), "token_type_ids")
    state = graph.normed(graph.op("Add", graph.op("Add", words, position), kinds), width)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.op("Sub", graph.hold(np.array(1, np.float32)), mask)
    penalty = graph.op("Mul", absent, graph.hold(np.array(-1e4, np.float32)))
    penalty = graph.op("Unsqueeze", penalty, graph.hold(np.array([1, 2])))
    for _ in range(layers):
        q, k, v = (graph.linear(state, width, width) for _ in range(3))
        q, v = (graph.heads(each, width, (0, 2, 1, 3)) for each in (q, v))
        k = graph.heads(k, width, (0, 2, 3, 1))
        scaled = graph.op(
            "Mul", graph.op("MatMul", q, k), graph.hold(np.array((width / HEADS) ** -0.5, np.float32))
        )
        shares = graph.op("Softmax", graph.op("Add", scaled, penalty), axis=-1)
        read = graph.op("Transpose", graph.op("MatMul", shares, v), perm=(0, 2, 1, 3))
        read = graph.op("Reshape", read, graph.hold(np.array([0, 0, width])))
        state = graph.normed(graph.op("Add", state, graph.linear(read, width, width)), width)
        wide = graph.linear(state, width, 4 * width)
        half = graph.op("Erf", graph.op("Mul", wide, graph.hold(np.array(0.5**0.5, np.float32))))
        gate = graph.op("Add", half, graph.hold(np.array(1, np.float32)))
        gelu = graph.op("Mul", graph.op("Mul", wide, gate), graph.hold(np.array(0.5, np.float32)))
        state = graph.normed(graph.op("Add", state, graph.linear(gelu, 4 * width, width)), width)
    first = graph.op("Gather", state, graph.hold(np.array(0)), axis=1)
    graph.nodes.append(
        helper.make_node(
            "Identity",
            [graph.linear(graph.op("Tanh", graph.linear(first, width, width)), width, 1)],
            ["logits"],
        )
    )
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["pairs", 1])
    made = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.held)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": POSITIONS, "pad_token_id": 0}))
    write_tokenizer(folder / "tokenizer.json")


def write_tokenizer(file: Path) -> None:
    """Write a word-piece tokenizer that was trained on the demo's chunks."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))  # noqa: S106 - a word
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    with (DEMO / "corpus/chunks.jsonl").open("rb") as chunks:
        texts = [orjson.loads(line)["text"] for line in chunks]
    tokenizer.train_from_iterator(
        texts, WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special, show_progress=False)
    )
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids
    )
    tokenizer.save(str(file))


def timed(model_folder: Path, cohort: str | None, cache: Path) -> tuple[float, float, int]:
    """Return the seconds of a whole rerank, those inside the model, and the number of records."""
    manifest = load_manifest(DEMO)
    began = time.perf_counter()
    run, chosen = manifest.run(RUN), chosen_cohort(manifest, cohort) if cohort else None
    assert run is not None
    selection = select(manifest, run, chosen, cache_dir=cache)
    model = CrossEncoder(model_folder)
    reranked = with_model(selection, read_sources(manifest, cache_dir=cache), model)
    records = [orjson.dumps(record) for record in rerank_records(reranked, Outcome())]
    return time.perf_counter() - began, reranked.seconds, len(records)


def main() -> None:
    """Make the model, rerank, and print the ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--cohort", help="a cohort of the demo; all questions where none is named")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proofspan-bench-") as folder:
        model = Path(folder) / "encoder"
        model.mkdir()
        write_encoder(model, layers=options.layers, width=options.width)
        size = (model / "model.onnx").stat().st_size / 1e6
        print(f"{options.layers} layers of width {options.width}, {size:,.0f} MB, one thread")
        rounds = [timed(model, options.cohort, Path(folder) / "cache") for _ in range(options.runs)]
    whole, inside, records = min(rounds)
    share = (whole - inside) / inside
    verdict = "good" if share <= MOST else "MISSED"
    print(f"{records} questions: {whole:.2f} s, of which {inside:.2f} s inside the model")
    print(f"outside the model: {share:.1%} of the time inside (at most {MOST:.0%}): {verdict}")


if __name__ == "__main__":
    main()
