"""Makes the demo workspace, byte for byte the same each time: `python -m tools.demo.build [--to FOLDER]`.

Needs the development dependencies. `--summary` prints how the runs came out.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import yaml
from threadpoolctl import threadpool_limits

from proofspan.manifest.load import MANIFEST_NAME
from tools.demo import pinning, timings
from tools.demo.bundles import bundle_files
from tools.demo.catalogue import catalogue
from tools.demo.faults import Planter, lines, read_faults, table, unreadable_lines
from tools.demo.gold import gold_record, wordings
from tools.demo.metrics import COHORTS, copy_packs, metrics_files
from tools.demo.pinning import sha256
from tools.demo.places import Places
from tools.demo.records import Facts, chunk_records, lambda_states, timed, trace_record
from tools.demo.reports import report
from tools.demo.runs import SETTINGS, Outcome, Pipeline, Setting
from tools.demo.sources import BULLETIN, MANUAL, PATHS, TITLES, Indexes, Sources, load
from tools.demo.sprint import LOG, sprint_log
from tools.demo.summary import summary

Json = Any
Variant = tuple[int, int]

HERE = Path(__file__).parent
DEFAULT = HERE.parents[1] / "data" / "demo"
CHUNKS, GOLD, CATALOGUE = "corpus/chunks.jsonl", "gold/goldset.jsonl", "corpus/catalogue.jsonl"
ZSTD_LEVEL = 19
GOALS = {
    "section_match_at_1": ">= 0.70",
    "gt_in_top_20": ">= 0.90",
    "delta_s_mean": "<= 0.45, warn < 0.60",
    "anchor_coverage": ">= 0.70",
    "citation_match": ">= 0.95",
    "lambda_convergent": ">= 0.80",
}
GATES = {
    "flips": [{"from": "ok", "to": ["retrieval_drift", "generation_drift"]}],
    "suspicions": {"citation_outside_retrieved": "0"},
    "codes": {"analyzer_mismatch": "0", "answer_repeated": "0"},
    "line_issues": "0",
    "generation_drift": "<= 0.20",
}


def build(*, twice: bool = True) -> dict[str, bytes]:
    """Every file of the workspace by its path.

    The record of a run has the hashes of two runs, which show that it is deterministic. Without `twice` the
    first counts for both: enough where the files are compared with those of another build.
    """
    with threadpool_limits(1):
        return _Build(load(), twice=twice).files()


class _Build:
    """The steps of a build, which share the sources, the indexes and the files made so far."""

    def __init__(self, sources: Sources, *, twice: bool) -> None:
        self.sources = sources
        self.faults = read_faults()
        self.timings = timings.read()
        self.places = Places(sources.documents[MANUAL])
        self.indexes = Indexes(sources.pieces)
        #: Those of the second run.
        self.indexes_again = Indexes(sources.pieces) if twice else None
        self.made: dict[str, bytes] = {}

    def files(self) -> dict[str, bytes]:
        """Corpus, gold set and runs, and the manifest that names them."""
        sources, made = self.sources, self.made
        made.update({PATHS[doc_id]: data for doc_id, data in sources.documents.items()})
        vectors = self.indexes.of(SETTINGS[0]).dense.chunks
        made[CHUNKS] = jsonl(chunk_records(sources.pieces, PATHS, sources.hashes, vectors))
        memory = sha256(made[CHUNKS])
        made[CATALOGUE] = jsonl(catalogue(sources.placed, memory=memory))
        made[GOLD] = jsonl(
            gold_record(question, sources.pieces, self.places, doc_id=MANUAL, memory=memory)
            for question in sources.questions
        )
        runs = [self._run(setting) for setting in SETTINGS]
        made["FAULTS.md"] = table(self.faults).encode()
        for run in runs:
            run["bundles"] = {"path": run["traces"]["path"].replace("/trace.", "/bundles.")}
        made |= bundle_files(made | {MANIFEST_NAME: self._manifest(runs).encode()})
        for run in runs:
            run["bundles"] = self._artifact(run["bundles"]["path"])
            run["metrics"] = {"path": f"runs/{run['run_id']}/metrics.json"}
        made |= metrics_files(made | {MANIFEST_NAME: self._manifest(runs).encode()})
        copy_packs(made, self.faults)
        for run in runs:
            run["metrics"] = self._artifact(run["metrics"]["path"])
        made[LOG] = sprint_log()
        made[MANIFEST_NAME] = self._manifest(runs).encode()
        return made

    def _run(self, setting: Setting) -> dict[str, Json]:
        """Makes a run's files; gives its entry of the manifest."""
        index, chunks = self.indexes.of(setting), self.made[CHUNKS]
        read = {path: sha256(self.made[path]) for path in (*PATHS.values(), CHUNKS, GOLD)}
        faults = [fault for fault in self.faults if fault["run"] == setting.run_id]
        clean = self._traces(setting, self.indexes)
        reported = clean
        if any(fault["kind"] == "stale_report" for fault in faults):
            reported = self._traces(setting.before_faults(), self.indexes)
        traces = f"runs/{setting.run_id}/trace.jsonl" + (".zst" if setting.is_stability else "")
        again = clean if self.indexes_again is None else self._traces(setting, self.indexes_again)
        outputs = [self._output(setting, records, faults) for records in (clean, again)]
        self.made[traces] = outputs[0]
        reports, pins = f"runs/{setting.run_id}/report.jsonl", pinning.pinned(setting, chunks)
        self.made[reports] = report(reported, self.sources.pieces)
        self.made[pins["record"]] = pinning.record(
            setting, index, read, chunks, traces=traces, outputs=outputs
        )
        bad = unreadable_lines(faults)
        return {
            "run_id": setting.run_id,
            "ts": setting.ts,
            "title": setting.title,
            "class": setting.kind,
            **({"baseline": setting.baseline} if setting.baseline else {}),
            "traces": self._artifact(traces) | ({"unreadable_lines": bad} if bad else {}),
            "report": self._artifact(reports),
            "pinned": pins,
        }

    def _output(self, setting: Setting, clean: list[dict[str, Json]], faults: list[Json]) -> bytes:
        """The trace file of a run, with the faults that are declared for it."""
        records = [orjson.loads(orjson.dumps(record)) for record in clean]
        Planter(self.sources.pieces, PATHS).plant(records, faults)
        data = lines(records, faults)
        return pack(data) if setting.is_stability else data

    def _traces(self, setting: Setting, indexes: Indexes) -> list[dict[str, Json]]:
        """One trace record a question, paraphrase and seed, in this order."""
        pipeline = Pipeline(setting, indexes.of(setting))
        index_hash = pinning.index_hash(setting, self.made[CHUNKS])
        facts = Facts(PATHS, sha256(self.made[CHUNKS]), index_hash, self.places)
        recorded = self.timings[setting.run_id]
        found: list[dict[str, Json]] = []
        elapsed = 0.0
        for question in self.sources.questions:
            asked = wordings(question)
            outcomes = {(p, s): pipeline.answer(asked[p], s) for p, s in setting.variants}
            for variant, record in _siblings(setting, facts, question, outcomes):
                latency = recorded[timings.variant_key(question["q_id"], *variant)]
                elapsed += sum(latency.values())
                found.append(timed(record, latency, elapsed))
        return found

    def _manifest(self, runs: list[dict[str, Json]]) -> str:
        documents = [
            {"doc_id": doc_id, "title": TITLES[doc_id], "rev": self.sources.rev(doc_id)}
            | ({"paged": False} if doc_id == BULLETIN else {})
            | self._artifact(PATHS[doc_id])
            for doc_id in (MANUAL, BULLETIN)
        ]
        manifest = {
            "manifest_version": "1.0",
            "name": TITLES[MANUAL],
            "documents": documents,
            "chunks": self._artifact(CHUNKS),
            "gold": self._artifact(GOLD) | {"version": "1"},
            "catalogue": self._artifact(CATALOGUE),
            "triage": {"template": "seed", "refusal": ["not in context"]},
            "goals": GOALS,
            "gates": GATES,
            "runs": runs,
            "sprint": {"path": LOG},
            "cohorts": {"path": COHORTS},
        }
        return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)

    def _artifact(self, path: str) -> dict[str, Json]:
        return {"path": path, "sha256": sha256(self.made[path])}


def _siblings(
    setting: Setting, facts: Facts, question: Mapping[str, Json], outcomes: Mapping[Variant, Outcome]
) -> Iterable[tuple[Variant, dict[str, Json]]]:
    """The traces of one question; λ needs several wordings and seeds."""
    states = lambda_states(outcomes) if setting.is_stability else {}
    for variant, outcome in outcomes.items():
        record = trace_record(setting, facts, question, variant, outcome)
        yield variant, record | ({"λ": states[variant]} if states else {})


def jsonl(records: Iterable[Mapping[str, Json]]) -> bytes:
    """One record a line."""
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


@lru_cache(maxsize=1)
def pack(data: bytes) -> bytes:
    """Compressed as `.zst`; the same bytes give the same bytes."""
    packed: bytes = pyarrow.Codec("zstd", compression_level=ZSTD_LEVEL).compress(data, asbytes=True)
    return packed


def write(folder: Path) -> dict[str, bytes]:
    """Replaces the workspace in the folder: what an older build left there goes. Gives what it wrote.

    ValueError for a folder that holds something else than a workspace: nothing is deleted there.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST_NAME).is_file():
        raise ValueError(f"{folder} is not empty and no workspace: name a new folder, or empty it yourself")
    files = build()
    if folder.exists():
        shutil.rmtree(folder)
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=DEFAULT, help="folder to write the workspace to")
    parser.add_argument("--summary", action="store_true", help="print how each run came out")
    options = parser.parse_args()
    files = write(options.to)
    if options.summary:
        print(summary(files))
