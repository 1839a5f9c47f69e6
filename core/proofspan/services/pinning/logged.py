"""Read what the traces of a run log about its index, models and fusion, from the start of its files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from proofspan.contracts.pinning.agreement import Fused, Logged
from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.errors import Fault
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.store.files.columns import parse_setting, settings_of
from proofspan.traces.lines.reader import MAX_LINE, RawLine, UnusableError, parse_line
from proofspan.traces.lines.unpack import head_of
from proofspan.traces.separate.log_lines import read_log_line

#: How many bytes of each file are read: the settings of a run do not change on the way.
READ = 2 << 20
#: How many candidates of a fused list, and of all, are compared with their scores.
FUSED_OF_ONE, FUSED = 5, 500


def logged_of(manifest: Manifest, run: Run) -> Logged:
    """Return what the first records of a run log. Files and lines that cannot be read are left out.

    `proofspan check` reports those.
    """
    tally = _Tally()
    for artifact in run.trace_artifacts:
        kind = artifact.key.rsplit(".", 1)[-1]
        with suppress(Fault):
            for record in _first_records(artifact_path(manifest, artifact), kind):
                tally.add(record, kind)
    return tally.logged()


def _first_records(path: Path, kind: str) -> Iterator[Mapping[str, Json]]:
    head = head_of(path, READ)
    lines = head.split(b"\n")
    if len(head) == READ:
        lines.pop()  # it may go on
    for data in lines:
        raw = RawLine(1, 0, len(data), data)
        with suppress(UnusableError):
            if not data.strip() or len(data) > MAX_LINE:
                continue
            if kind == "log":
                record, _ = read_log_line(raw)
                stated = {"store": record.store, "index_hash": record.index_hash}
                yield {**stated, "embed_model": record.embed, "analyzer": record.analyzer}
            elif isinstance(value := parse_line(raw), dict):
                yield value


class _Tally:
    """Counts what records log."""

    def __init__(self) -> None:
        self.values: dict[str, Counter[str]] = defaultdict(Counter)
        self.stages: set[str] = set()
        self.fused: list[Fused] = []
        self.longest = self.records = 0

    def add(self, record: Mapping[str, Json], kind: str) -> None:
        self.records += 1
        for setting in settings_of(record):
            name, _, value = parse_setting(setting)
            if name != "rev":
                self.values[name][value] += 1
        if (model := _reranker(record, kind)) is not None:
            self.values["reranker"][model] += 1
        fusion = record.get("fusion")
        if isinstance(fusion, dict) and (k := number_of(fusion.get("k"))) is not None:
            self.values["fusion_k"][f"{k:g}"] += 1
        for name, items in _lists(record, kind).items():
            self.stages.add(name)
            if name == "fused":
                self.longest = max(self.longest, len(items))
                room = min(FUSED_OF_ONE, FUSED - len(self.fused))
                self.fused += islice(filter(None, map(_fused, items)), max(room, 0))

    def logged(self) -> Logged:
        values = {name: dict(counts) for name, counts in self.values.items()}
        return Logged(values, frozenset(self.stages), self.longest, tuple(self.fused), self.records)


def _lists(record: Mapping[str, Json], kind: str) -> dict[str, list[Any]]:
    """Return the ranked lists of a record by the stage that they are of, without those that have no entry."""
    stages = record.get("stages") if kind == "traces" else None
    lists: dict[str, Json] = dict(stages) if isinstance(stages, dict) else {}
    if kind == "retrieved":
        lists = {"fused" if record.get("ranker") == "hybrid" else "retrieved": record}
    elif kind == "rerank":
        lists = {"reranked": record}
    found = {name: each.get("items") if isinstance(each, dict) else each for name, each in lists.items()}
    return {name: each for name, each in found.items() if isinstance(each, list) and each}


def _reranker(record: Mapping[str, Json], kind: str) -> str | None:
    """Return the reranker that a record names: that of a rerank record, or of a trace."""
    places = [record.get("rerank"), record.get("reranker")]
    for place in (record, *places) if kind == "rerank" else places:
        named = place.get("model") if isinstance(place, dict) else place
        if isinstance(named, str) and named.strip():
            return text_of(named)
    return None


def _fused(item: Json) -> Fused | None:
    """Return the fused score of a candidate that logs its rank in the lists, `bm25_rank`."""
    features = item.get("features") if isinstance(item, dict) else None
    if not isinstance(features, dict):
        return None
    found = {name[: -len("_rank")]: value for name, value in features.items() if name.endswith("_rank")}
    ranks = {name: value for name, value in found.items() if type(value) is int and value >= 1}
    score = number_of(features.get("rrf", item.get("score")))
    return Fused(score, ranks) if ranks and score is not None else None
