"""How well claims' support agrees with people: sets in the format of `score_claims`, given as a folder.

    python bench/bench_claims.py FOLDER [--set NAME …]

FOLDER holds SET.chunks.jsonl, SET.traces.jsonl and SET.truth.jsonl. The truth has `q_id` and `bad` (1 or 0),
for minimal pairs `pair`, and where it is known `sentences`: lists of the places of supporting chunks. Prints
for each set AUC, macro-F1 and balanced accuracy at the published threshold, the share of pairs whose edited
half scores lower, the share of answers whose best sentence is in the gold set, and microseconds of processor
time an answer.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from proofspan.contracts.records.records import NOWHERE, Trace
from proofspan.diagnosis.claims.check import SUPPORTED, Checker
from proofspan.diagnosis.claims.types import CheckedAnswer
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.chunks import place_of, read_chunks
from proofspan.traces.records.trace_record import trace_from

PROFILE = Profile(template="none")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", dest="sets", nargs="*", help="only these sets")
    options = parser.parse_args()
    for truth in sorted(options.folder.glob("*.truth.jsonl")):
        name = truth.name.removesuffix(".truth.jsonl")
        if not options.sets or name in options.sets:
            print(name, measures(options.folder, name))


def measures(folder: Path, name: str, *, every: int = 1) -> dict[str, float]:
    """Check the answers of a set and compare with its truth; by default all, else one pair in `every`."""
    chunks, _ = read_chunks(folder / f"{name}.chunks.jsonl", file=name)
    traces = [
        trace
        for line in lines(folder / f"{name}.traces.jsonl")
        if isinstance(trace := trace_from(line, NOWHERE, run_id=None), Trace)
    ]
    traces = [trace for number, trace in enumerate(traces) if number // 2 % every == 0]
    truth = {record["q_id"]: record for record in lines(folder / f"{name}.truth.jsonl")}
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in chunks.items()})
    checker = Checker(
        corpus.texts, corpus.survey, {chunk_id: place_of(chunk) for chunk_id, chunk in chunks.items()}
    )
    started = time.process_time()
    checked = [checker.check(trace, PROFILE) for trace in traces]
    spent = time.process_time() - started
    bad = [truth[trace.q_id]["bad"] for trace in traces]
    support = [1.0 if each.support is None else each.support for each in checked]
    called = [score < SUPPORTED for score in support]
    flagged = [each.contradictions > 0 for each in checked]
    found: dict[str, float] = {
        "n": len(traces),
        "auc": roc_auc_score(bad, [-score for score in support]),
        "macro_f1": f1_score(bad, called, average="macro"),
        "balanced": balanced_accuracy_score(bad, called),
        "accused_bad": share([flag for flag, is_bad in zip(flagged, bad, strict=True) if is_bad]),
        "accused_good": share([flag for flag, is_bad in zip(flagged, bad, strict=True) if not is_bad]),
    }
    if "pair" in truth[traces[0].q_id]:
        pairs: dict[int, dict[int, float]] = defaultdict(dict)
        for trace, score in zip(traces, support, strict=True):
            record = truth[trace.q_id]
            pairs[record["pair"]][record["bad"]] = score
        found["pairs"] = share([pair[1] < pair[0] for pair in pairs.values()])
    hits = [
        hit
        for trace, each in zip(traces, checked, strict=True)
        if (hit := best_is_gold(trace, each, truth[trace.q_id].get("sentences", []))) is not None
    ]
    if hits:
        found["best_sentence"] = share(hits)
    return {key: round(value, 3) for key, value in found.items()} | {"us": round(spent / len(traces) * 1e6)}


def best_is_gold(trace: Trace, checked: CheckedAnswer, gold: Sequence[Sequence[int]]) -> bool | None:
    """Return whether people named the evidence of the best supported claim; None where they named none."""
    wanted = {trace.chunk_ids[place] for places in gold for place in places}
    if not wanted:
        return None
    best = max(checked.claims, key=lambda each: each.support, default=None)
    return best is not None and best.evidence is not None and best.evidence.chunk_id in wanted


def share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def lines(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as stream:
        return [orjson.loads(line) for line in stream]


if __name__ == "__main__":
    main()
