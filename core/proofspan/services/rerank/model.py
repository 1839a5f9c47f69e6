"""A local cross-encoder from a folder, on the CPU: question and text in, a score out. Nothing is downloaded.

The folder is laid out as models are exported: `model.onnx` or `onnx/model.onnx`, `tokenizer.json`,
`config.json`. The same pairs give the same scores on a machine: one thread unless more are asked for, and
each pair is padded by its own length alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.fingerprints import sha256_of
from proofspan.wording import counted

if TYPE_CHECKING:  # of the extra
    import onnxruntime
    import tokenizers

#: Where the weights are, the first that is there.
WEIGHTS = ("model.onnx", "onnx/model.onnx")
TOKENIZER, CONFIG, TOKENIZER_CONFIG = "tokenizer.json", "config.json", "tokenizer_config.json"
#: Pairs are padded to a multiple of this many tokens, and scored in batches of `BATCH`.
PAD_TO, BATCH = 32, 16
#: Pairs whose tokens are kept at a time.
TOKENIZED = 1024
#: The longest pair in tokens where the folder states no length, and the shortest limit that makes sense.
LENGTH, SHORTEST = 512, 8
#: Scores are rounded, so that the last bits of a sum decide no order.
DECIMALS = 6

#: The inputs of encoders of pairs; others cannot be filled.
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
#: Models whose positions begin behind the padding's, so that some of `max_position_embeddings` are not used.
_LATE_POSITIONS = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert"})
#: A tokenizer without a limit states a number such as 1e30.
_NO_LIMIT = 1_000_000
_SOURCE_PLACES = re.compile(
    r"^\[ONNXRuntimeError\] : \d+ : \w+ : |Load model from \S+ failed:|/onnxruntime_src/.*\) (?=[A-Z])"
)
_EXPORT = "export a cross-encoder of this form: optimum-cli export onnx --task text-classification"

#: The libraries that the scores depend on.
LIBRARIES = ("onnxruntime", "tokenizers")

Pair = tuple[str, str]
#: Called with the number of pairs that are done, and of all.
OnPairs = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of each pair. `cut` are pairs whose text was shortened, `cut_questions` shortened questions.

    `seconds` were spent inside the model.
    """

    by_pair: Mapping[Pair, float]
    cut: int
    cut_questions: int
    seconds: float


class CrossEncoder:
    """A cross-encoder that is ready to score."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        """Load the model. Raises InputFault if it or the extra that runs it is missing, or cannot be used."""
        self.name, self.threads = folder.resolve().name, threads
        self._folder, self._weights = folder, _weights_in(folder)
        config = _settings(folder / CONFIG)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self._session = _session(self._weights, threads)
        self._types = self._input_types()
        self._pad = _whole(config, "pad_token_id") or 0
        self.max_tokens = _max_tokens(config, _settings(folder / TOKENIZER_CONFIG))
        #: A question keeps this many tokens; the text gets what is left.
        self.question_tokens = (self.max_tokens - self._tokenizer.num_special_tokens_to_add(True)) // 2
        if self.question_tokens < SHORTEST // 4:
            message = f"the longest pair that the folder allows has {self.max_tokens} tokens"
            raise _unusable("model_too_short", message, folder, "correct model_max_length in its config")
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        #: 1 for a logit, 2 for the logits of "not relevant" and "relevant".
        self._outputs = self._answer(self._tokenizer.encode_batch([("a", "b")]), self._width(1)).shape[1]

    def score(self, pairs: Sequence[Pair], *, on_pairs: OnPairs | None = None) -> Scores:
        """Return the score of each pair of question and text, higher for a better text.

        The order of the pairs does not matter. Raises InputFault if the model fails.
        """
        distinct = sorted(set(pairs))
        questions = {question: self._shortened(question) for question, _ in distinct}
        found: dict[Pair, float] = {}
        cut, seconds = 0, 0.0
        for start in range(0, len(distinct), TOKENIZED):
            part = distinct[start : start + TOKENIZED]
            self._tokenizer.enable_truncation(self.max_tokens, strategy="only_second")
            encoded = self._tokenizer.encode_batch([(questions[question], text) for question, text in part])
            self._tokenizer.no_truncation()
            cut += sum(bool(each.overflowing) for each in encoded)
            for batch, width in _batches([self._width(len(each.ids)) for each in encoded]):
                began = perf_counter()
                values = self._answer([encoded[at] for at in batch], width)
                seconds += perf_counter() - began
                for at, value in zip(batch, self._as_scores(values), strict=True):
                    found[part[at]] = value
                if on_pairs is not None:
                    on_pairs(len(found), len(distinct))
        return Scores(found, cut, sum(text != whole for whole, text in questions.items()), seconds)

    def record(self) -> dict[str, Json]:
        """Return the model as a pinning record has it: hashes of its files, truncation, score, threads."""
        beside = sorted(self._weights.parent.glob("*.onnx[._]data"))  # weights that are kept beside
        named = [
            self._weights,
            *beside,
            *(self._folder / name for name in (TOKENIZER, CONFIG, TOKENIZER_CONFIG)),
        ]
        hashes = {
            each.relative_to(self._folder).as_posix(): sha256_of(each) for each in named if each.is_file()
        }
        kind = "logit" if self._outputs == 1 else "logit of relevant less logit of not relevant"
        return {
            "model": self.name,
            "weights": {
                "source": f"the folder {self.name}",
                "sha256": next(iter(hashes.values())),
                "files": hashes,
            },
            "tokenizer": {"name": TOKENIZER, "sha256": hashes[TOKENIZER]},
            "truncation": {
                "max_tokens": self.max_tokens,
                "question_tokens": self.question_tokens,
                "rule": "the question keeps at most question_tokens, the text what is left of max_tokens",
            },
            "batches": {"pairs": BATCH, "padded_to_a_multiple_of": PAD_TO},
            "score": {"kind": kind, "decimals": DECIMALS},
            "provider": "CPUExecutionProvider",
            "threads": {"inter_op": 1, "intra_op": self.threads},
        }

    def _input_types(self) -> dict[str, Any]:
        inputs = {each.name: _TYPES.get(each.type) for each in self._session.get_inputs()}
        if "input_ids" in inputs and all(kind and name in _INPUTS for name, kind in inputs.items()):
            return inputs
        found = ", ".join(f"{each.name} {each.type}" for each in self._session.get_inputs())
        message = f"the model's inputs are {found or 'none'}, not {', '.join(_INPUTS)} as whole numbers"
        raise _unusable("model_inputs", message, self._weights, _EXPORT)

    def _width(self, length: int) -> int:
        """Return the length that a pair is padded to."""
        return min(-(-length // PAD_TO) * PAD_TO, self.max_tokens)

    def _shortened(self, question: str) -> str:
        encoding = self._tokenizer.encode(question, add_special_tokens=False)
        if len(encoding.ids) <= self.question_tokens:
            return question
        return question[: encoding.offsets[self.question_tokens - 1][1]]

    def _answer(self, encodings: Sequence[tokenizers.Encoding], width: int) -> np.ndarray:
        """Return the model's output for a batch, shape (pairs, 1 or 2)."""
        shape = (len(encodings), width)
        ids, mask, types = np.full(shape, self._pad), np.zeros(shape), np.zeros(shape)
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[row, :length], mask[row, :length], types[row, :length] = encoding.ids, 1, encoding.type_ids
        arrays = dict(zip(_INPUTS, (ids, mask, types), strict=True))
        fed = {name: arrays[name].astype(kind) for name, kind in self._types.items()}
        try:
            output = np.asarray(self._session.run(None, fed)[0])
        except Exception as error:  # its errors have no class of their own
            message = (
                f"the model fails on {counted(shape[0], 'pair')} of {width} tokens: {_first_line(error)}"
            )
            raise _unusable("model_failed", message, self._weights, _EXPORT) from error
        output = output.reshape(-1, 1) if output.ndim == 1 else output
        if output.ndim != 2 or output.shape[0] != shape[0] or output.shape[1] not in (1, 2):
            message = (
                f"the output for {counted(shape[0], 'pair')} has the shape {output.shape}, not 1 or 2 logits"
            )
            fix = f"an encoder of single texts has no score for a pair; {_EXPORT}"
            raise _unusable("model_outputs", message, self._weights, fix)
        return output

    def _as_scores(self, output: np.ndarray) -> list[float]:
        exact = output.astype(np.float64)
        scores = exact[:, 0] if self._outputs == 1 else exact[:, 1] - exact[:, 0]
        if not np.isfinite(scores).all():
            message = "the model's score is not a finite number"
            raise _unusable("score_not_finite", message, self._weights, "use weights of another precision")
        rounded: list[float] = (np.round(scores, DECIMALS) + 0.0).tolist()  # no -0.0
        return rounded


def _batches(widths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    """Yield the places of pairs of one width in batches, the narrow ones first."""
    by_width = sorted(range(len(widths)), key=lambda at: (widths[at], at))
    for width, group in groupby(by_width, key=widths.__getitem__):
        places = list(group)
        for start in range(0, len(places), BATCH):
            yield places[start : start + BATCH], width


def _weights_in(folder: Path) -> Path:
    if not folder.is_dir():
        message = "this is not a folder" if folder.exists() else "the folder does not exist"
        raise _unusable("no_model", message, folder, f"name a folder with {WEIGHTS[0]} and {TOKENIZER}")
    for name in WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    others = ", ".join(sorted(each.name for each in folder.iterdir())[:8]) or "nothing"
    message = f"the folder has no weights ({' or '.join(WEIGHTS)}); it has {others}"
    raise _unusable("no_weights", message, folder, _EXPORT)


def _settings(file: Path) -> Mapping[str, Json]:
    """Return the settings of a file; none where it is missing."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        message = f"the file cannot be read: {_first_line(error)}"
        raise _unusable("model_config", message, file, "copy it again from where the model came") from error
    return value if isinstance(value, dict) else {}


def _whole(settings: Mapping[str, Json], name: str) -> int | None:
    value = settings.get(name)
    return value if type(value) is int and value >= 0 else None


def _max_tokens(config: Mapping[str, Json], tokenizer: Mapping[str, Json]) -> int:
    """Return the longest pair by the tokenizer's limit and the model's positions, the smaller one."""
    positions, stated = _whole(config, "max_position_embeddings"), tokenizer.get("model_max_length")
    limits = []
    if positions is not None:
        is_late = config.get("model_type") in _LATE_POSITIONS
        limits.append(positions - ((_whole(config, "pad_token_id") or 0) + 1 if is_late else 0))
    if isinstance(stated, int | float) and stated < _NO_LIMIT:
        limits.append(int(stated))
    return min(limits, default=LENGTH)


def _tokenizer(file: Path) -> tokenizers.Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _not_installed(error) from error
    if not file.is_file():
        fix = f"copy {TOKENIZER} of the same model into the folder"
        raise _unusable("no_tokenizer", f"the folder has no {TOKENIZER}", file.parent, fix)
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # its errors have no class of their own
        message = f"the tokenizer cannot be read: {_first_line(error)}"
        raise _unusable("bad_tokenizer", message, file, "copy it again from where the model came") from error


def _session(weights: Path, threads: int) -> onnxruntime.InferenceSession:
    try:
        import onnxruntime
    except ImportError as error:
        raise _not_installed(error) from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what matters is raised
    try:
        # By its path: then weights that are kept beside are read from its folder only.
        return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class of their own
        message = f"the weights cannot be used: {_first_line(error)}"
        fix = (
            f"copy them again, or {_EXPORT}, with an opset that ONNX Runtime {onnxruntime.__version__} knows"
        )
        raise _unusable("bad_weights", message, weights, fix) from error


def _first_line(error: Exception) -> str:
    """Return the first line of an error without ONNX Runtime's own places in its source."""
    text = _SOURCE_PLACES.sub("", str(error).strip()).split("\n", 1)[0]
    return text[:300] or type(error).__name__


def _not_installed(error: ImportError) -> InputFault:
    message = f"a model needs the extra for reranking, which is not installed ({error})"
    fix = "pip install 'proofspan[rerank]'; scores from elsewhere (--scores) need no extra"
    return InputFault.of("extra_missing", message, fix=fix)


def _unusable(code: str, message: str, where: Path, fix: str) -> InputFault:
    return InputFault.of(code, message, where=str(where), fix=fix)
