"""How the runs of a build came out, in a small table, so that a person can judge how their story reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.trace_record import rank_one_place, stages, top_stage
from tools.demo.reports import as_trace

Json = Any
TOP = 20
#: The questions that are hard on purpose.
GAPS = ("Q80", "Q90", "Q99", "Q100", "Q103", "Q110")


def summary(files: Mapping[str, bytes]) -> str:
    """One line a run: SectionMatch@1, GT-in-top-20 and labels over paraphrase 0, seed 0; then the gaps."""
    gold = {each["q_id"]: each for each in _records(files["gold/goldset.jsonl"])}
    corpus = Corpus({each["chunk_id"]: each["text"] for each in _records(files["corpus/chunks.jsonl"])})
    runs = sorted({path.split("/")[1] for path in files if path.startswith("runs/")})
    lines = [f"{sum(map(len, files.values())) / 1e6:.1f} MB in {len(files)} files"]
    for run_id in runs:
        lines.append(_run(run_id, _traces(files, run_id), gold, corpus))
    return "\n".join(lines)


def _run(run_id: str, records: Sequence[Mapping[str, Json]], gold: Mapping[str, Json], corpus: Corpus) -> str:
    first = [each for each in records if not each["paraphrase"] and not each["seed"]]
    labels = Counter(reflect(as_trace(each), corpus, Profile()).label for each in first)
    asked = {each["q_id"]: each for each in first if gold[each["q_id"]]["answerable"]}
    ranks = {q_id: _rank(each, set(gold[q_id]["sections"])) for q_id, each in asked.items()}
    hits = sum(_is_first(each, set(gold[q_id]["sections"])) for q_id, each in asked.items())
    held = sum(rank is not None for rank in ranks.values())
    states = Counter(each["λ"] for each in records if "λ" in each)
    stress = sum(each["ΔS"] for each in first) / len(first)
    named = " ".join(f"{label}={labels[label]}" for label in LABELS if labels[label])
    gaps = " ".join(f"{q_id}:{ranks[q_id] or '-'}" for q_id in GAPS if q_id in ranks)
    lambdas = " ".join(f"{state}={count}" for state, count in states.most_common())
    return (
        f"{run_id}  SM@1 {hits}/{len(asked)}  GT20 {held}/{len(asked)}  ΔS {stress:.2f}  {named}"
        f"\n      gaps {gaps}" + (f"\n      λ {lambdas}" if states else "")
    )


def _rank(record: Mapping[str, Json], sections: set[str]) -> int | None:
    """The rank of the first chunk of a gold section in the list that the top 20 are read from."""
    trace = as_trace(record)
    name = top_stage(trace)
    found = next((stage.candidates for stage in stages(trace) if stage.name == name), ())
    return next((each.rank for each in found[:TOP] if each.section_id in sections), None)


def _is_first(record: Mapping[str, Json], sections: set[str]) -> bool:
    place = rank_one_place(as_trace(record))
    return place is not None and place.section_id in sections


def _traces(files: Mapping[str, bytes], run_id: str) -> list[dict[str, Json]]:
    """The traces of a run, lines that do not parse left out."""
    path = f"runs/{run_id}/trace.jsonl"
    data = files.get(path)
    if data is None:
        data = pyarrow.input_stream(pyarrow.BufferReader(files[path + ".zst"]), compression="zstd").read()
    return _records(data)


def _records(data: bytes) -> list[dict[str, Json]]:
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
    return found
