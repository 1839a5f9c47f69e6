"""Deterministic workspaces with gold and several runs: the same arguments give the same bytes.

    python bench/make_runs.py OUT --runs 30 --questions 1000 [--variants 1]

writes OUT/pipeline_manifest.yaml with chunks, gold and a trace file a run: 4,000 short chunks in 400 sections
of ten documents, questions of five types (one in twenty without an answer in the documents), traces of about
700 bytes with 20 candidates. A run ranks the gold chunk the better the later it is, so that questions are
fixed and regress. `--variants 6` writes three paraphrases by two seeds of every question.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import orjson

CHUNKS, PER_SECTION, PER_DOCUMENT, LISTED = 4_000, 10, 400, 20
TYPES = ("figure", "procedure", "limit", "warning", "lookup")
STATES = ("convergent", "convergent", "convergent", "divergent", "recursive")
WORDS = "valve filter brake coolant torque battery sensor clutch pump gasket lamp fuse relay seal".split()  # noqa: SIM905


def chunk_id(number: int) -> str:
    return f"c{number:05d}"


def chunks() -> Iterator[dict[str, object]]:
    for number in range(CHUNKS):
        document, inside = divmod(number, PER_DOCUMENT)
        section, order = divmod(inside, PER_SECTION)
        yield {
            "chunk_id": chunk_id(number),
            "doc_id": f"doc-{document}",
            "section_id": f"{section // 5 + 1}.{section % 5 + 1}",
            "page_idx": inside // 4,
            "order_in_section": order,
            "text": f"The {WORDS[number % 14]} of part {number} takes {number % 97} units of it.",
        }


def gold_chunk(question: int) -> int:
    """The chunk that answers a question: the first of a section."""
    return (question * 7_919 % (CHUNKS // PER_SECTION)) * PER_SECTION


def gold(questions: int) -> Iterator[dict[str, object]]:
    for number in range(questions):
        first = gold_chunk(number)
        yield {
            "q_id": f"Q{number:07d}",
            "q": question(number),
            "type": TYPES[number % 5],
            **(
                {"answerable": False}
                if number % 20 == 19
                else {"chunks": [chunk_id(first), chunk_id(first + 1)], "anchor": f"part {first} takes"}
            ),
        }


def question(number: int) -> str:
    first = gold_chunk(number)
    return f"What does the {WORDS[first % 14]} of part {first} take?"


def traces(run: int, questions: int, *, variants: int) -> Iterator[dict[str, object]]:
    rng = random.Random(run)
    for number, variant in itertools.product(range(questions), range(variants)):
        first = gold_chunk(number)
        listed = [chunk_id(rng.randrange(CHUNKS)) for _ in range(LISTED)]
        rank = int(rng.expovariate(0.2 + 0.01 * run))
        if rank < LISTED:
            listed[rank] = chunk_id(first)
        is_refusal = rng.random() < 0.1
        text = f"Part {first} takes {first % 97} units. citations: [{listed[0]}, {listed[1]}]"
        yield {
            "q_id": f"Q{number:07d}",
            "q": question(number),
            "paraphrase": variant % 3,
            "seed": variant // 3,
            "chunks": [{"id": each, "score": 1 - place / 50} for place, each in enumerate(listed)],
            "answer": "not in context" if is_refusal else text,
            "ΔS": round(rng.random(), 3),
            "λ": rng.choice(STATES),
            "latency_ms": rng.randint(200, 4_000),
        }


def write(out: Path, *, runs: int, questions: int, variants: int = 1) -> None:
    """Write the workspace; nothing where it is there."""
    manifest = out / "pipeline_manifest.yaml"
    if manifest.exists():
        return
    out.mkdir(parents=True, exist_ok=True)
    _write_lines(out / "chunks.jsonl", chunks())
    _write_lines(out / "gold.jsonl", gold(questions))
    listed = []
    for run in range(1, runs + 1):
        _write_lines(out / f"R{run:03d}.jsonl", traces(run, questions, variants=variants))
        listed.append({"run_id": f"R{run:03d}", "traces": {"path": f"R{run:03d}.jsonl"}})
    body = {
        "manifest_version": "1.0",
        "name": "bench",
        "documents": [],
        "chunks": {"path": "chunks.jsonl"},
        "gold": {"path": "gold.jsonl"},
        "runs": listed,
    }
    manifest.write_bytes(orjson.dumps(body))  # JSON is YAML


def _write_lines(path: Path, records: Iterator[dict[str, object]]) -> None:
    with path.open("wb") as stream:
        stream.writelines(orjson.dumps(record) + b"\n" for record in records)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--variants", type=int, default=1)
    options = parser.parse_args()
    write(options.out, runs=options.runs, questions=options.questions, variants=options.variants)


if __name__ == "__main__":
    main()
