"""Model folders that cannot be used: each a clear error with its remedy; nothing outside is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from proofspan.errors import InputFault
from proofspan.services.rerank.model import CrossEncoder
from tests.rerank_models import save_graph, write_model

WORDS = ["oil", "filter"]


def refused(folder: Path) -> tuple[str, str, str]:
    """Return code, message and remedy of the one problem of a folder that is scored with."""
    with pytest.raises(InputFault) as error:
        CrossEncoder(folder).score([("oil", "filter oil")])
    (problem,) = error.value.problems
    assert problem.fix
    assert "\n" not in problem.message
    return problem.code, problem.message, problem.where


def of_graph(change: Callable[[onnx.ModelProto], None]) -> Callable[[Path], None]:
    return lambda folder: save_graph(folder, change)


def vectors(model: onnx.ModelProto) -> onnx.TensorProto:
    return next(each for each in model.graph.initializer if each.name == "vectors")


def rename_input(model: onnx.ModelProto) -> None:
    model.graph.input[0].name = "pixel_values"
    model.graph.node[0].input[1] = "pixel_values"


def add_float_input(model: onnx.ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("temperature", TensorProto.FLOAT, [1]))


def show_each_token(model: onnx.ModelProto) -> None:
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("each", TensorProto.FLOAT, [None, None, 6]))


def set_opset(model: onnx.ModelProto) -> None:
    model.opset_import[0].version = 999


def give_nan(model: onnx.ModelProto) -> None:
    vectors(model).CopyFrom(numpy_helper.from_array(np.full((6, 6), np.nan, np.float32), "vectors"))


def know_fewer_words(model: onnx.ModelProto) -> None:
    vectors(model).CopyFrom(numpy_helper.from_array(np.zeros((4, 4), np.float32), "vectors"))


def keep_vectors_at(location: str) -> Callable[[Path], None]:
    def change(model: onnx.ModelProto) -> None:
        tensor = vectors(model)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, "length": str(6 * 6 * 4)}.items():
            tensor.external_data.add(key=key, value=value)

    def apply(folder: Path) -> None:
        model = onnx.load(folder / "model.onnx")
        change(model)
        (folder / "model.onnx").write_bytes(model.SerializeToString())

    return apply


def written(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


def removed(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def cut(folder: Path) -> None:
    data = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(data[: len(data) // 2])


BROKEN: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "no weights": (removed("model.onnx"), "no_weights", "it has config.json, link.bin, tokenizer.json"),
    "no tokenizer": (removed("tokenizer.json"), "no_tokenizer", "has no tokenizer.json"),
    "half the weights": (cut, "bad_weights", "the weights cannot be used"),
    "no model at all": (written("model.onnx", "<html>"), "bad_weights", "the weights cannot be used"),
    "empty weights": (written("model.onnx", ""), "bad_weights", "the weights cannot be used"),
    "another opset": (of_graph(set_opset), "bad_weights", "used: ONNX Runtime only *guarantees* support"),
    "another input": (of_graph(rename_input), "model_inputs", "pixel_values tensor(int64)"),
    "one input more": (of_graph(add_float_input), "model_inputs", "temperature tensor(float)"),
    "an output for each token": (of_graph(show_each_token), "model_outputs", "(1, 32, 6)"),
    "no finite score": (of_graph(give_nan), "score_not_finite", "not a finite number"),
    "fewer words than the tokenizer": (of_graph(know_fewer_words), "model_failed", "out of data bounds"),
    "a broken tokenizer": (written("tokenizer.json", "{"), "bad_tokenizer", "the tokenizer cannot be read"),
    "another tokenizer": (written("tokenizer.json", "[]"), "bad_tokenizer", "the tokenizer cannot be read"),
    "a broken config": (written("config.json", "{"), "model_config", "cannot be read"),
    "no room": (written("config.json", '{"max_position_embeddings": 5}'), "model_too_short", "5 tokens"),
    "weights outside": (keep_vectors_at("../secret.bin"), "bad_weights", "escapes model directory"),
    "weights anywhere": (keep_vectors_at("/etc/passwd"), "bad_weights", "Absolute path not allowed"),
    "weights behind a link": (keep_vectors_at("link.bin"), "bad_weights", "escapes model directory"),
    "weights that are missing": (keep_vectors_at("gone.bin"), "bad_weights", "does not exist"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path, name: str) -> None:
    change, code, words = BROKEN[name]
    folder = write_model(tmp_path / "model", WORDS)
    (tmp_path / "secret.bin").write_bytes(bytes(6 * 6 * 4))
    (folder / "link.bin").symlink_to("../secret.bin")
    change(folder)
    found, message, where = refused(folder)
    assert (found, words in message) == (code, True), message
    assert where.startswith(str(folder))


def test_weights_beside_the_graph_are_read_and_hashed(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "model", WORDS)
    keep_vectors_at("model.onnx_data")(folder)
    (folder / "model.onnx_data").write_bytes(np.eye(6, dtype=np.float32).tobytes())
    encoder = CrossEncoder(folder)
    assert encoder.score([("oil", "oil oil")]).by_pair["oil", "oil oil"] == 2.0 + 1.0  # [SEP] counts too
    assert list(encoder.record()["weights"]["files"])[:2] == ["model.onnx", "model.onnx_data"]


@pytest.mark.parametrize("outputs", [3, 7])
def test_classes_are_no_score(tmp_path: Path, outputs: int) -> None:
    code, message, _ = refused(write_model(tmp_path, WORDS, outputs=outputs))
    assert (code, f"(1, {outputs})" in message) == ("model_outputs", True)


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    assert refused(tmp_path / "nowhere")[:2] == ("no_model", "the folder does not exist")
    assert refused(tmp_path / "model.onnx")[:2] == ("no_model", "this is not a folder")
