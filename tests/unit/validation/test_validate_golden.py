"""Files that break each rule of the contract once, and the table of exactly the findings that they give.

`python -m tests.unit.validation.test_validate_golden` rewrites the table; read it before
you commit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proofspan.cli.records.validate_cmd import piped_line
from proofspan.contracts.rules.catalogue import RULES, Finding, is_of_family
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.services.validation import Tally, validate
from tests.places import CHECKOUT

FOLDER = CHECKOUT / "tests/golden/contract"
TABLE = FOLDER / "findings.tsv"
HEAD = "where\trecord\tcode\tfield\tmessage\tnext step\n"


@dataclass(frozen=True, slots=True)
class Case:
    """Files that are validated together, what their records are, and what they are held against."""

    files: tuple[str, ...]
    record_type: str | None
    context: Context = NO_CONTEXT
    chunks: str | None = None


LIVE = Context(index_hash="faiss:2f7d", embed_model="bge", analyzer="lowercase", revs={"handbook": "3b91f2a"})
SEPARATE = ("run_queries", "run_retrieved", "run_rerank", "run_prompts", "run_answers")
CASES = (
    Case(("bytes.jsonl",), "citation"),
    Case(("marked.jsonl",), "citation"),
    Case(("damaged.jsonl",), "citation"),
    Case(("queries.jsonl",), "query"),
    Case(("citations.jsonl",), "citation", LIVE),
    Case(("auditable.jsonl",), "auditable-answer"),
    Case(("traces.jsonl",), "trace", LIVE, "corpus.jsonl"),
    Case(tuple(f"{name}.jsonl" for name in SEPARATE), None, chunks="corpus.jsonl"),
    Case(("log.log",), "log", LIVE),
    Case(("rag_traces.jsonl",), "rag-traces", LIVE),
    Case(("chunks.jsonl",), "chunk"),
    Case(("gold.jsonl",), "gold"),
    Case(("metrics.json",), "metrics"),
    Case(("report.jsonl",), "report"),
    Case(("redirects.jsonl",), "redirect"),
    Case(("catalogue.jsonl",), "catalogue"),
    Case(("seed_records.jsonl",), None),
)
#: Codes that no small file of records has, with where they are tested: mostly under the code itself.
ELSEWHERE = {
    "other_run": "tests/unit/validation/test_validating_workspaces.py",
    "line_too_long": "tests/hostile/test_validate.py",
    "more_findings": "tests/unit/contracts/test_schema_findings.py",
    "template_violated": "tests/unit/store/test_codes.py",
    "question_unknown": "tests/unit/traces/test_joined.py",
    "answer_repeated": "tests/unit/store/test_late.py",
    "rev_extended": "tests/unit/chunk_ids/test_chunk_audit.py",
    "id_not_recomputable": "tests/unit/chunk_ids/test_chunk_sources.py",
    "chunk_order": "tests/unit/chunk_ids/test_chunk_audit.py",
    "text_not_at_place": "tests/unit/chunk_ids/test_chunk_sources.py at_place",
    "gold_not_covered": "tests/unit/verdicts/test_gold_cover.py",
    "metrics_pack_missing": "tests/unit/contracts/test_run_contract.py",
}


def found_in(case: Case) -> Iterator[Finding]:
    """Return the findings of validating the case's files."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        yield from validate(
            [FOLDER / name for name in case.files],
            case.record_type,
            cache_dir=Path(folder),
            context=case.context,
            chunks=FOLDER / case.chunks if case.chunks else None,
            tally=tally,
        )
    assert not tally.problems


def table() -> str:
    """All findings of all cases as lines of a table, files by their names alone."""
    lines = (piped_line(found).decode() for case in CASES for found in found_in(case))
    return HEAD + "".join(lines).replace(f"{FOLDER}/", "")


def test_the_files_give_exactly_the_findings_of_the_table() -> None:
    assert table() == TABLE.read_text()


def test_every_rule_is_broken_in_a_file_or_tested_elsewhere() -> None:
    reported = {line.split("\t")[2] for line in TABLE.read_text().splitlines()[1:]}
    assert set(RULES) - reported == set(ELSEWHERE)
    assert {code.split("_")[0] for code in reported if is_of_family(code)} == {
        "missing",
        "empty",
        "wrong",
        "bad",
    }
    for code, place in ELSEWHERE.items():
        test, _, word = place.partition(" ")
        assert (word or code) in (CHECKOUT / test).read_text(), (code, test)


def test_every_file_is_validated() -> None:
    read = {name for case in CASES for name in (*case.files, case.chunks)}
    assert {path.name for path in FOLDER.iterdir()} - read == {TABLE.name}


if __name__ == "__main__":
    TABLE.write_text(table())
