"""Exports of the demo with people's verdicts, read by the tools that they are for: nothing is different.

The tools are not in the environment of the tests. `PROOFSPAN_READERS` names a Python that has ragas,
deepeval and beir, `PROOFSPAN_PROMPTFOO` the command of promptfoo:

    python -m venv readers && readers/bin/pip install ragas 'langchain-community<0.4' deepeval beir
    npm install --prefix promptfoo promptfoo
    PROOFSPAN_READERS=readers/bin/python PROOFSPAN_PROMPTFOO=promptfoo/node_modules/.bin/promptfoo \\
        python -m pytest tests/formats/test_export_readers.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.journal.annotations import Annotation, Annotations, Target, answer_id, append, read_annotations
from proofspan.manifest.edit import add_file
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.export import RecordExport
from proofspan.services.export_formats import export_run
from proofspan.traces.exports.asked import asked_of
from proofspan.traces.exports.registry import EXPORT_FORMATS
from proofspan.traces.exports.types import context_of, grades_of
from proofspan.traces.formats.promptfoo import PROMPTFOO
from proofspan.traces.formats.types import Asked, Passage, Reading
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold

DEMO = Path(__file__).parents[2] / "data" / "demo"
#: Prints what a tool's own reader makes of an export as JSON.
READER = """
import json, os, sys
os.environ.update(RAGAS_DO_NOT_TRACK="true", DEEPEVAL_TELEMETRY_OPT_OUT="YES", HF_HUB_OFFLINE="1")
kind, path = sys.argv[1:]
if kind == "ragas":
    from ragas import EvaluationDataset
    found = [each.model_dump() for each in EvaluationDataset.from_jsonl(path).samples]
elif kind == "deepeval":
    from deepeval.dataset import EvaluationDataset
    dataset = EvaluationDataset()
    dataset.add_goldens_from_json_file(path)
    def sources(golden):
        return [getattr(each, "source", None) for each in golden.retrieval_context or ()]
    def contexts(golden):
        return [getattr(each, "context", each) for each in golden.retrieval_context or ()]
    found = [
        {**each.model_dump(mode="json"), "retrieval_context": contexts(each), "sources": sources(each)}
        for each in dataset.goldens
    ]
else:
    from beir.datasets.data_loader import GenericDataLoader
    found = GenericDataLoader(path).load(split="test")
json.dump(found, open(os.environ["FOUND"], "w"))
"""
#: A grader without a model, for assertions that ask one.
GRADER = """
module.exports = class {
  id() { return "offline" }
  async callApi() { return { output: JSON.stringify({ category: "C", reason: "", pass: true, score: 1 }) } }
}
"""
HOSTILE = "=1+1 {{ env.HOME }} {% set x = 1 %} <b>\nfile:///etc/passwd"
#: The same with the spaces that keep promptfoo from running it.
HARMLESS = "=1+1 { { env.HOME }} { % set x = 1 %} <b>\nfile:///etc/passwd"


@dataclass(frozen=True, slots=True)
class Exported:
    """The annotated demo with a run's questions, and the folder for files."""

    manifest: Manifest
    asked: list[Asked]
    reviews: Annotations
    folder: Path

    def write(self, name: str) -> Path:
        """Export the run; return the file, or the folder of a format that is one."""
        format_ = EXPORT_FORMATS[name]
        target = self.folder / f"{name}{format_.suffix}"
        files = [target / each for each in format_.files] or [target]
        for each in files:
            each.parent.mkdir(parents=True, exist_ok=True)
        sinks = [each.open("wb") for each in files]
        export_run(self.manifest, self.manifest.runs[-1], format_, sinks, cache_dir=self.folder / "cache")
        for sink in sinks:
            sink.close()
        return target


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp("exported")
    workspace = folder / "demo"
    shutil.copytree(DEMO, workspace)
    add_file(workspace / "pipeline_manifest.yaml", "annotations", "annotations.jsonl")
    manifest = load_manifest(workspace)
    run, cache = manifest.runs[-1], folder / "cache"
    traces = [*RecordExport(manifest, run, cache).traces()]
    given: list[Annotation] = []
    rules = {"correct": "correct", "cause": "none", "label": "ok"}
    for trace, kind in zip(traces[:20], cycle(("agrees", "wrong", "disputed", "unseen")), strict=False):
        target, answer = Target(run.run_id, trace.q_id), answer_id(trace.answer)
        if kind in ("agrees", "disputed"):
            given.append(Annotation("verdict", target, "Ben", answer=answer, agrees=True, rules=rules))
        if kind in ("wrong", "disputed"):
            given.append(
                Annotation(
                    "verdict", target, "Ada", answer=answer, agrees=False, correct="wrong", rules=rules,
                    tags=("table",), text=HOSTILE,
                )
            )  # fmt: skip
    append(manifest, *given)
    assert manifest.chunks is not None and manifest.gold is not None
    chunks, _ = read_chunks(artifact_source(manifest, manifest.chunks, cache_dir=cache), file="chunks")
    gold, _ = read_gold(artifact_source(manifest, manifest.gold, cache_dir=cache), file="gold")
    reviews = read_annotations(manifest)
    asked = [asked_of(trace, chunks=chunks, gold=gold, reviews=reviews) for trace in traces]
    assert sum(bool(each.review) for each in asked) == 15
    return Exported(manifest, asked, reviews, folder)


def read_by(kind: str, path: Path, folder: Path) -> Any:
    """Return what the tool's own reader makes of an export; skip where it is not there."""
    python = os.environ.get("PROOFSPAN_READERS")
    module = "beir" if kind == "beir" else kind
    if not python or subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
        pytest.skip(f"PROOFSPAN_READERS names no Python with {module}")
    found = folder / f"{kind}.found"
    environment = {**os.environ, "FOUND": str(found), "HOME": str(folder)}
    environment.pop("PYTHONPATH", None)
    subprocess.run([python, "-c", READER, kind, str(path)], env=environment, cwd=folder, check=True)
    return orjson.loads(found.read_bytes())


def texts(passages: list[Any]) -> list[str]:
    return [each.text or "" for each in passages]


def test_ragas_reads_the_samples(exported: Exported) -> None:
    path = exported.write("ragas")
    samples = read_by("ragas", path, exported.folder)
    for sample, asked in zip(samples, exported.asked, strict=True):
        seen = context_of(asked)[1]
        assert (sample["user_input"], sample["response"]) == (asked.q, asked.answer)
        assert (sample["reference"], sample["retrieved_contexts"]) == (asked.expected, texts(seen))
        assert (sample["retrieved_context_ids"] or []) == [each.id for each in seen]
        assert (sample["reference_contexts"] or []) == texts(asked.gold)
    # Its samples keep the columns of Ragas alone; what reads the rows has the verdicts.
    rows = [*map(orjson.loads, path.read_bytes().splitlines())]
    assert [row.get("review", {}) for row in rows] == [asked.review for asked in exported.asked]


def test_deepeval_reads_the_goldens_with_the_verdicts(exported: Exported) -> None:
    goldens = read_by("deepeval", exported.write("deepeval"), exported.folder)
    for golden, asked in zip(goldens, exported.asked, strict=True):
        assert (golden["input"], golden["actual_output"]) == (asked.q, asked.answer)
        assert (golden["name"], golden["expected_output"]) == (asked.q_id, asked.expected)
        seen = context_of(asked)[1]
        assert golden["retrieval_context"] == texts(seen)
        sources = golden["sources"]
        assert [*map(bool, sources)] == ["\n" not in each.text for each in seen]
        assert all(source in (None, each.document) for source, each in zip(sources, seen, strict=True))
        assert (golden["context"] or []) == [text for text in texts(asked.gold) if text]
        assert golden["additional_metadata"].get("review", {}) == asked.review


def test_beir_reads_corpus_queries_and_judgments(exported: Exported) -> None:
    path = exported.write("beir")
    corpus, queries, judged = read_by("beir", path, exported.folder)
    grades = {each.q_id: grades_of(each.gold) for each in exported.asked if grades_of(each.gold)}
    assert judged == grades
    assert queries == {each.q_id: each.q for each in exported.asked if each.q_id in grades}
    assert {name for each in grades.values() for name in each} <= corpus.keys()
    lines = [*map(orjson.loads, (path / "queries.jsonl").read_bytes().splitlines())]
    assert [each["metadata"].get("review", {}) for each in lines] == [each.review for each in exported.asked]


def evaluated(path: Path, folder: Path) -> list[Asked]:
    """Evaluate a set by promptfoo without a model; return its results as they are opened."""
    promptfoo = os.environ.get("PROOFSPAN_PROMPTFOO")
    if not promptfoo:
        pytest.skip("PROOFSPAN_PROMPTFOO names no promptfoo")
    (folder / "grader.js").write_text(GRADER)
    results = path.with_suffix(".results.json")
    options = ["--no-cache", "--max-concurrency", "1", "--grader", f"file://{folder}/grader.js"]
    environment = {
        **os.environ,
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_CONFIG_DIR": str(folder / "promptfoo"),
    }
    arguments = [promptfoo, "eval", "-c", str(path), "-o", str(results), "--no-table", *options]
    ran = subprocess.run(arguments, env=environment, cwd=folder, capture_output=True, text=True)
    assert results.exists(), ran.stderr
    return [*PROMPTFOO.read(results, Reading(results.name))]


def test_promptfoo_evaluates_the_set_and_its_results_are_read(exported: Exported) -> None:
    found = evaluated(exported.write("promptfoo"), exported.folder)
    for each, asked in zip(found, exported.asked, strict=True):
        assert (each.q, each.q_id, each.answer) == (asked.q, asked.q_id, asked.answer)
        assert each.expected == asked.expected
        assert texts(each.lists.get("chunks", [])) == texts(context_of(asked)[1])
        given = asked.review.get("verdicts", ())
        known = each.fields["metadata"].get("review", {}).get("verdicts", ())
        assert [verdict["correct"] for verdict in known] == [verdict["correct"] for verdict in given]
        assert {verdict.get("note") for verdict in known} <= {None, HARMLESS}
        judged = each.scores.get("not judged wrong by people", {"label": None})
        is_wrong = [verdict["correct"] for verdict in given] == ["wrong"]
        assert judged["label"] == ("failed" if is_wrong else None)


def test_promptfoo_runs_and_reads_nothing_that_a_text_names(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    for each in (
        HOSTILE,
        f"file://{secret}",
        "package:fs:readFileSync",
        "\x85\x7f\ufeff {{ recorded_answer }}",
    ):
        asked = Asked(
            place="", q=each, q_id=each, answer=each, expected=each, run=each,
            lists={"chunks": [Passage(text=each, id=each)]},
            review={"verdicts": [{"author": each, "agrees": False, "correct": "wrong", "note": each}]},
        )  # fmt: skip
        path = tmp_path / "set.json"
        with path.open("wb") as sink:
            EXPORT_FORMATS["promptfoo"].write([asked], [], [sink])
        (found,) = evaluated(path, tmp_path)
        harmless = each.replace("{{", "{ {").replace("{%", "{ %")
        harmless = f" {harmless}" if harmless.startswith(("file:", "package:")) else harmless
        assert (found.q, found.answer, found.expected, found.run) == (harmless,) * 4
        assert found.scores["not judged wrong by people"]["label"] == "failed"
