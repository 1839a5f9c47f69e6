"""The demo's answers judged by a reader: 120 of the 244 to the gold set's own wording, drawn by a seed.

`tests/unit/verdicts/demo_truth.jsonl` was written from question, answer, expected answer and, where needed,
the manual and the candidates of each stage, before any rule judged them. A line has the question, the run,
`correct` and `cause` in the words of `diagnosis/verdicts/types.py`, and `why`. `cause` is null where two fit
equally well. How a reader judged:

- An answer that quotes the passage which gold names is correct, also a bare row of a table, and whatever it
  says beside that. Of the expected answer, only what the question asks for has to be there.
- A fragment that gives none of what is asked for (a caption, the announcement of a list, a reference to a
  section) is wrong, not partly correct.
- The cause is the first failure. An answer that is wrong or partly correct, and whose passage was not in the
  prompt, has the cause of that loss. With the passage in the prompt it is `not_extracted` where the answer is
  not of the kind that was asked for. A correct instruction has `unsafe_omission` where the warning that was
  left out is about what it instructs.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping

import pytest

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT
from proofspan.manifest.load import load_manifest
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.traces import iter_traces
from tests.places import CHECKOUT, DEMO

FIELDS = ("q_id", "run_id", "correct", "cause", "why")
LINES = [
    json.loads(line)
    for line in (CHECKOUT / "tests/unit/verdicts/demo_truth.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """Return the answers to the questions as the gold set words them, first seed, by run and question."""
    found = {}
    for run in load_manifest(DEMO).runs:
        assert run.traces is not None
        path = plain_source(DEMO / run.traces.path, cache_dir=tmp_path_factory.getbasetemp())
        for trace in iter_traces(path, file=run.traces.path, run_id=run.run_id):
            if isinstance(trace, Trace) and (trace.paraphrase, trace.seed) == (0, 0):
                found[run.run_id, trace.q_id] = trace.answer
    return found


def test_the_answers_are_those_that_the_seed_draws(answers: Mapping[tuple[str, str], str]) -> None:
    drawn = random.Random(18).sample(sorted(answers), 120)
    assert [(line["q_id"], line["run_id"]) for line in LINES] == sorted((q_id, run) for run, q_id in drawn)


def test_each_line_has_a_known_verdict_and_its_reason() -> None:
    for line in LINES:
        assert tuple(line) == FIELDS
        assert line["correct"] in CORRECT
        assert line["cause"] is None or line["cause"] in CAUSES
        assert line["why"].endswith(".")


def test_the_same_answer_is_judged_alike_in_every_run(answers: Mapping[tuple[str, str], str]) -> None:
    judged: dict[tuple[str, str], set[str]] = {}
    for line in LINES:
        words = answers[line["run_id"], line["q_id"]].split(" citations: ")[0]
        judged.setdefault((line["q_id"], words), set()).add(line["correct"])
    assert all(len(verdicts) == 1 for verdicts in judged.values())


def test_the_set() -> None:
    assert Counter(line["correct"] for line in LINES) == {
        "correct": 48,
        "wrong": 48,
        "declined_wrongly": 17,
        "declined_rightly": 4,
        "partly": 3,
    }
