"""Whether a pinning record agrees with the manifest's pins and with what the traces of its run log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from proofspan.contracts.pinning.hashes import same_hash, same_revision
from proofspan.contracts.pinning.requirements import NONE, Use, at, is_faiss, is_placeholder
from proofspan.contracts.records.field_values import index_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.context import shown
from proofspan.contracts.rules.parity import same_analyzer, same_embed_model, same_index
from proofspan.errors import Problem
from proofspan.wording import counted

#: The code of a field whose value is not what was pinned or logged.
CONTRADICTS: Final = "pin_contradicts"
#: Logged scores are compared to this: pipelines round them, to four decimals at the least.
_ROUNDED: Final = 5e-5
#: The constants of reciprocal rank fusion that are tried to say which one the scores fit.
_TRIED: Final = range(1_001)


class Fused(NamedTuple):
    """A candidate's logged rrf score and its rank in each list, from 1."""

    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Logged:
    """The settings that the traces of a run log.

    `values` maps index_hash, embed_model, analyzer, reranker and fusion_k to how many records log each value.
    `stages` are the names of their ranked lists, `longest` the length of the longest fused one, `fused` are
    some of its candidates. `records` were read.
    """

    values: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stages: frozenset[str] = frozenset()
    longest: int = 0
    fused: tuple[Fused, ...] = ()
    records: int = 0

    @property
    def uses(self) -> frozenset[Use]:
        """Return what the run uses by its traces."""
        found: set[Use] = set()
        if "fused" in self.stages:
            found.add("fusion")
        if "reranked" in self.stages or _named(self.values.get("reranker", ())):
            found.add("reranker")
        if _named(self.values.get("embed_model", ())):
            found.add("embedding")
        if any(map(is_faiss, self.values.get("index_hash", ()))):
            found.add("faiss")
        return frozenset(found)


def _named(values: Iterable[Json]) -> bool:
    """Return whether one of the values is the name of something; `none` says that there is nothing."""
    return any(value and str(value).strip().lower() != NONE for value in values)


def pinned_uses(pins: Mapping[str, Json], kind: str | None) -> frozenset[Use]:
    """Return what a run uses by the manifest: its pins and its class."""
    found: set[Use] = set()
    if _named([pins.get("embed_model")]):
        found.add("embedding")
    if _named([pins.get("reranker")]) or (kind or "").lower() in ("rerank", "reranker", "reranking"):
        found.add("reranker")
    if _named([pins.get("fusion")]):
        found.add("fusion")
    if is_faiss(pins.get("index_hash")):
        found.add("faiss")
    return frozenset(found)


def same_pinned_index(a: str, b: str) -> bool:
    """Return whether two index hashes may be of one index; digits may be abbreviated."""
    if same_index(a, b):
        return True
    (store, _, digits), (other_store, _, other) = a.rpartition(":"), b.rpartition(":")
    return same_index(store or other_store, other_store or store) and same_hash(digits, other) is not False


#: Setting → the field of the record that states it, and whether two of its values may be the same.
_COMPARED: Final[Mapping[str, tuple[str, Callable[[str, str], bool]]]] = {
    "index_hash": ("index.index_hash", same_pinned_index),
    "embed_model": ("embedding.model", same_embed_model),
    "analyzer": ("index.analyzer", same_analyzer),
    "reranker": ("reranker.model", same_embed_model),
}


def contradictions(
    record: Mapping[str, Json], pins: Mapping[str, Json], logged: Logged, *, run_id: str
) -> Iterator[Problem]:
    """Yield an error for each field that differs from the manifest's pin, or from what most traces log.

    A few traces that differ are at fault themselves, and the rules of parity report them.
    """
    stated_run = text_of(record.get("run_id"))
    if stated_run is not None and stated_run != run_id and not is_placeholder(stated_run):
        yield contradiction("run_id", f"is {shown(stated_run)}: it is the record of another run")
    for setting, (path, is_same) in _COMPARED.items():
        stated, pin = _stated(record, setting), text_of(pins.get(setting))
        if stated is not None and pin is not None and not is_same(stated, pin):
            yield contradiction(path, f"is {shown(stated)}, but the manifest pins {shown(pin)}")
        read = at(record, "index.read_path_analyzer") if setting == "analyzer" else None
        stated = read if isinstance(read, str) and read else stated
        values = logged.values.get(setting, {})
        differing = (
            {} if stated is None else {each: n for each, n in values.items() if not is_same(stated, each)}
        )
        total, other = sum(values.values()), sum(differing.values())
        if stated is not None and 2 * other > total:
            most = max(differing, key=lambda each: (differing[each], each))
            log = f"{differing[most]:,} of {counted(total, 'record')} log {shown(most)}"
            yield contradiction(path, f"is {shown(stated)}, but {log}")
    yield from _other_pins(record, pins)
    yield from _fusion(record, logged)


def _stated(record: Mapping[str, Json], setting: str) -> str | None:
    """Return the record's value of a setting as the traces would log it."""
    path = _COMPARED[setting][0]
    value = at(record, path)
    if isinstance(value, Mapping):  # an analyzer with its parts
        value = value.get("name")
    if value is None:  # the short form, as in the manifest
        value = record.get(setting)
    if not isinstance(value, str) or not value.strip() or is_placeholder(value):
        return None
    pooling = at(record, "embedding.pooling")
    has_pooling = setting == "embed_model" and isinstance(pooling, str) and ":" not in value
    return f"{value}:{pooling}" if has_pooling else value


def _other_pins(record: Mapping[str, Json], pins: Mapping[str, Json], path: str = "") -> Iterator[Problem]:
    """Compare what the manifest pins under the same names as the record, such as `fusion: {k: 60}`."""
    for name, pin in pins.items():
        where, value = f"{path}.{name}" if path else name, record.get(name)
        if isinstance(pin, Mapping) and isinstance(value, Mapping):
            yield from _other_pins(value, pin, where)
            continue
        stated, pinned = _scalar(value), _scalar(pin)
        if where in (*_COMPARED, "record") or stated is None or pinned is None or is_placeholder(value):
            continue
        if stated != pinned and same_revision(stated, pinned) is not True:
            yield contradiction(where, f"is {shown(value)}, but the manifest pins {shown(pin)}")


def _scalar(value: Json) -> str | None:
    """Return a text, number or truth value as text, so that a manifest's "60" equals 60."""
    if isinstance(value, bool):
        return str(value).lower()
    number = number_of(value)
    return f"{number:g}" if number is not None else text_of(value)


def _fusion(record: Mapping[str, Json], logged: Logged) -> Iterator[Problem]:
    """Compare the fusion with the length of the fused lists, and with their scores."""
    top, k = index_of(at(record, "fusion.top")), number_of(at(record, "fusion.k"))
    if top is not None and logged.longest > top:
        yield contradiction("fusion.top", f"is {top:,}, but a fused list has {logged.longest:,} candidates")
    logged_k = logged.values.get("fusion_k", {})
    most = max(logged_k, key=lambda each: (logged_k[each], each), default=None)
    if k is not None and most is not None and most != f"{k:g}":
        yield contradiction("fusion.k", f"is {k:g}, but {counted(logged_k[most], 'record')} log {most}")
        return
    weights = at(record, "fusion.weights")
    weights = weights if isinstance(weights, Mapping) else {}
    if k is None or k < 0 or not logged.fused or 2 * _fitting(logged, k, weights) >= len(logged.fused):
        return
    fits = next((each for each in _TRIED if 2 * _fitting(logged, each, weights) > len(logged.fused)), None)
    if fits is not None:  # else the scores are of another formula or other weights
        yield contradiction("fusion.k", f"is {k:g}, but the logged scores fit k = {fits}")


def _fitting(logged: Logged, k: float, weights: Mapping[str, Json]) -> int:
    """Count the logged scores that reciprocal rank fusion gives with this constant."""

    def score(ranks: Mapping[str, int]) -> float:
        parts = ((number_of(weights.get(name, 1)), rank) for name, rank in ranks.items())
        return sum((1.0 if weight is None else weight) / (k + rank) for weight, rank in parts)

    return sum(abs(score(each.ranks) - each.score) <= _ROUNDED for each in logged.fused)


def contradiction(path: str, message: str) -> Problem:
    """Return the problem of a field that differs from what it is compared with."""
    fix = "correct the record, or make the run again with what it states"
    return Problem(CONTRADICTS, f"`{path}` {message}", path, fix)
