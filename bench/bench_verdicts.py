"""How well verdicts agree with people: the demo's truth and declared faults, and answers that people rated.

    python bench/bench_verdicts.py [--real FOLDER]

Prints for how many of the demo's answers `correct` is decided, how many of those in `tests/unit/verdicts` are
as a reader judged them, each one that is not, the same of causes, and the cause of each declared fault.

FOLDER may hold `inspectorraget/*.json`: tasks with people's ratings of each answer, as InspectorRAGet keeps
them. For each template, and for the profile that Proofspan suggests, this prints the AUC of the default order
(harm, then support) and of support alone against the mean rating of faithfulness, over clear ratings, over
all, and over clear ones of answers with claims, with and without the expected answers. FOLDER may hold
`financebench/rag_traces.jsonl` as well: prints the verdict on each of its answers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple, TypeVar

import orjson
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proofspan.diagnosis.types import TEMPLATES, Profile
from proofspan.manifest.load import load_manifest
from proofspan.services.passes.checking import check_runs
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.places import CHECKOUT, DEMO
from tools.demo.faults import declared_causes, read_faults

TRUTH = CHECKOUT / "tests" / "unit" / "verdicts" / "demo_truth.jsonl"
MAPPING = CHECKOUT / "data" / "mappings" / "financebench.yaml"
#: The run of a workspace that is made here.
RUN = "R001"
#: The mean of ratings from 1 (no) to 4 (yes) at which people agree: bad up to here, good from there.
CLEARLY_BAD, CLEARLY_GOOD = 2.0, 11 / 3
#: A run and a question of it.
Key = tuple[str, str]
Rank = TypeVar("Rank", float, tuple[int, float])


class Agreement(NamedTuple):
    """Answers compared with a reader's judgement: how many agree, and the others with both judgements."""

    compared: int
    agreeing: int
    others: tuple[tuple[Key, str | None, str], ...]


class Ranked(NamedTuple):
    """An answer's position by harm and its support; None without claims."""

    harm: int
    support: float | None

    @property
    def own_support(self) -> float:
        """Return the support; an answer without claims claims nothing wrong."""
        return 1.0 if self.support is None else self.support

    @property
    def order(self) -> tuple[int, float]:
        """Return what the default order sorts by, the most harmful first."""
        return self.harm, self.own_support


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--real", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    print_demo()
    if options.real is not None:
        for path in sorted((options.real / "inspectorraget").glob("*.json")):
            print_rated(orjson.loads(path.read_bytes()))
        if (traces := options.real / "financebench" / "rag_traces.jsonl").exists():
            print_filings(traces)


def print_demo() -> None:
    found = {(row["run_id"], row["q_id"]): row for row in judged(DEMO)[0]}
    correct = {key: row["correct"] for key, row in found.items()}
    decided = sum(value != "unknown" for value in correct.values())
    print(f"demo: correct is decided for {decided} of {len(correct)} answers ({decided / len(correct):.3f})")
    causes = {key: row["cause"] for key, row in found.items()}
    for name, values in (("correct", correct), ("cause", causes)):
        compared = agreement(values, read_truth(TRUTH, name))
        print(f"  {name}: {compared.agreeing} of {compared.compared} as a reader judged them")
        for (run, q_id), value, read in compared.others:
            print(f"    {run} {q_id}: {value}, by reading {read}")
    run = read_faults()[0]["run"]
    for q_id, cause in declared_causes(read_faults()).items():
        print(f"  fault of {run} {q_id}: {causes[run, q_id]}, declared {cause}")


def print_rated(data: Mapping[str, Any]) -> None:
    for with_gold in (False, True):
        print(f"{data['name']}, {'with' if with_gold else 'without'} expected answers")
        profiles = [Profile(template=template) for template in TEMPLATES]
        for profile in profiles:
            with tempfile.TemporaryDirectory() as folder:
                ratings = write_rated(data, Path(folder), profile, with_gold=with_gold)
                rows, suggested = judged(Path(folder))
            if suggested is not None and suggested not in profiles:
                profiles.append(suggested)
            ranked = {row["q_id"]: Ranked(row["harm"], row["support"]) for row in rows}
            print(f"  {profile.describe()}")
            for name, is_good in (("clear", clearly_good), ("all", lambda rating: rating > CLEARLY_BAD)):
                print_aucs(name, ratings, ranked, is_good)
            claiming = {q_id: each for q_id, each in ranked.items() if each.support is not None}
            print_aucs("clear, with claims", ratings, claiming, clearly_good)


def print_aucs(
    name: str, ratings: Mapping[str, float], ranked: Mapping[str, Ranked], is_good: Callable[[float], bool]
) -> None:
    good = [each for q_id, each in ranked.items() if is_good(ratings[q_id])]
    bad = [each for q_id, each in ranked.items() if ratings[q_id] <= CLEARLY_BAD]
    by_order = auc([each.order for each in good], [each.order for each in bad])
    alone = auc([each.own_support for each in good], [each.own_support for each in bad])
    print(f"    {name}: {len(bad)} bad, {len(good)} good; order {by_order:.3f}, support {alone:.3f}")


def print_filings(traces: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "filings"
        command = [sys.executable, "-m", "proofspan.cli", "import", "mapped", str(traces), "--copy"]
        options = ["--mapping", str(MAPPING), "--to", str(to)]
        found = subprocess.run([*command, *options], capture_output=True, text=True)
        if found.returncode > 1:  # 1: documents that the traces name are not there
            sys.exit(found.stderr)
        for row in judged(to)[0]:
            values = ", ".join(str(row[name]) for name in ("correct", "grounded", "cause", "certainty"))
            print(f"{row['q_id']}: {values}\n  {row['q']}\n  {row['cause_sentence']}")


def judged(folder: Path) -> tuple[list[dict[Any, Any]], Profile | None]:
    """Return Triage's lists of a workspace's runs, and the profile that is suggested for the last run."""
    manifest, suggested = load_manifest(folder), None
    found: list[dict[Any, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        build_index(manifest, cache_dir=Path(cache))
        runs = [run.run_id for run in manifest.runs]
        list(check_runs(manifest, runs, cache_dir=Path(cache)))
        store = Store(manifest, Path(cache))
        for run in runs:
            suggestion = store.run_facts(run).suggestion
            suggested = None if suggestion is None else suggestion.profile
            listed = store.page(Filter(run), Sort(), limit=100_000, offset=0).astype(object)
            found += listed.where(listed.notna(), None).to_dict("records")
    return found, suggested


def read_truth(path: Path, name: str) -> dict[Key, str]:
    """Return the reader's `correct` or `cause` by run and question, without those left open."""
    lines = map(orjson.loads, path.read_bytes().splitlines())
    return {(line["run_id"], line["q_id"]): line[name] for line in lines if line[name] is not None}


def agreement(values: Mapping[Key, str], truth: Mapping[Key, str]) -> Agreement:
    """Compare verdicts with a reader's; one that is missing disagrees."""
    others = tuple((key, values.get(key), read) for key, read in truth.items() if values.get(key) != read)
    return Agreement(len(truth), len(truth) - len(others), others)


def clearly_good(rating: float) -> bool:
    """Return whether people agree that an answer is good."""
    return rating > CLEARLY_GOOD - 1e-9


def auc(better: Sequence[Rank], worse: Sequence[Rank]) -> float:
    """Return how often one of the better ranks higher than one of the worse, ties counting half."""
    wins = sum((a > b) + (a == b) / 2 for a in better for b in worse)
    return wins / (len(better) * len(worse))


def write_rated(
    data: Mapping[str, Any], folder: Path, profile: Profile, *, with_gold: bool
) -> dict[str, float]:
    """Write rated answers as a workspace; return the mean rating of each one's faithfulness by `q_id`."""
    tasks = {task["task_id"]: task for task in data["tasks"]}
    texts = {each["document_id"]: each["text"] for task in tasks.values() for each in task["contexts"]}
    traces, gold, ratings = [], [], {}
    for result in data["results"]:
        task, q_id = tasks[result["task_id"]], f"{result['task_id']} {result['model_id']}"
        question = task["input"][-1]["text"]
        seen = [{"id": each["document_id"]} for each in task["contexts"]]
        traces.append({"q_id": q_id, "q": question, "answer": result["output"][0]["content"], "chunks": seen})
        expected = {"q_id": q_id, "q": question, "answerable": task["answerability"] == "ANSWERABLE"}
        gold += [expected | {"answer": target["value"]} for target in task.get("targets", ())[:1]]
        ratings[q_id] = mean(int(each["value"]) for each in result["scores"]["faithfulness"].values())
    _write(folder / "chunks.jsonl", ({"chunk_id": name, "text": text} for name, text in texts.items()))
    _write(folder / "traces.jsonl", traces)
    manifest = {
        "manifest_version": "1.0",
        "name": data["name"],
        "chunks": {"path": "chunks.jsonl"},
        "triage": {"template": profile.template, "refusal": list(profile.refusal)},
        "runs": [{"run_id": RUN, "traces": {"path": "traces.jsonl"}}],
    }
    if with_gold:
        _write(folder / "gold.jsonl", gold)
        manifest["gold"] = {"path": "gold.jsonl"}
    (folder / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return ratings


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


if __name__ == "__main__":
    main()
