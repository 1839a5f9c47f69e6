"""Every fault that FAULTS.md declares is found through the product."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from core.cli import group
from core.contracts.records import Trace
from core.evidence.client import PdfPool
from core.evidence.types import FoundSpan
from core.manifest.load import load_manifest
from core.manifest.types import Manifest
from core.services.pagebase import CitedPages, examine_run
from core.services.pagebase_words import sentence
from core.services.placer import Placer
from core.services.questions import QuestionView, load_question
from core.services.spans import choose, locate_view, targets_of
from core.traces.chunks import read_chunks
from core.traces.gold import read_gold
from core.traces.traces import iter_traces
from core.triage.corpus import Corpus
from core.triage.types import Profile
from tests.places import DEMO
from tools.demo.faults import read_faults

Fault = Mapping[str, Any]
FAULTS = read_faults()
RUN = "R005"


@dataclass(frozen=True)
class Product:
    """What a user has at hand: the rows of Triage, the printed words of commands, and the Question page."""

    rows: Mapping[str, Mapping[str, Any]]
    indexed: str
    checked: str
    manifest: Manifest
    questions: Mapping[str, QuestionView]
    placer: Placer
    pages: CitedPages
    metrics: str

    def cited(self, q_id: str) -> FoundSpan:
        """Where the first citation of a question stands, as its page shows it."""
        targets = targets_of(self.questions[q_id])
        chosen = choose(targets, cite=1)
        assert chosen is not None
        view = locate_view(chosen, targets, manifest=self.manifest, placer=self.placer)
        assert view.problem is None and view.chosen is not None
        return view.chosen


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    cache = str(tmp_path_factory.mktemp("cache"))
    indexed = _command("index", str(DEMO), "--run", RUN, "--cache-dir", cache)
    rows = _command("export", "jsonl", str(DEMO), "--run", RUN, "--cache-dir", cache, "-o", "-")
    manifest = load_manifest(DEMO)
    with PdfPool(workers=1) as pool:
        yield Product(
            rows={row["q_id"]: row for row in map(json.loads, rows.splitlines())},
            indexed=indexed,
            checked=_command("check", str(DEMO)),
            manifest=manifest,
            questions=_questions(),
            placer=Placer(pool),
            pages=examine_run(manifest, RUN, cache_dir=Path(cache), document=pool.document),
            metrics=_command("metrics", str(DEMO), "--run", RUN, "--cache-dir", cache),
        )


def _command(*arguments: str) -> str:
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def _questions() -> dict[str, QuestionView]:
    chunks, _ = read_chunks(DEMO / "corpus/chunks.jsonl", file="chunks.jsonl")
    gold, _ = read_gold(DEMO / "gold/goldset.jsonl", file="goldset.jsonl")
    corpus = Corpus({chunk_id: chunk.text for chunk_id, chunk in chunks.items()})
    found = iter_traces(DEMO / "runs" / RUN / "trace.jsonl", file="trace.jsonl", run_id=RUN)
    return {
        trace.q_id: load_question(trace, chunks=chunks, gold=gold, corpus=corpus, profile=Profile())
        for trace in found
        if isinstance(trace, Trace)
    }


def _analyzer_mismatch(fault: Fault, product: Product) -> None:
    assert product.rows
    assert all("analyzer_mismatch" in row["codes"] for row in product.rows.values())


def _no_template(fault: Fault, product: Product) -> None:
    row = product.rows[fault["q_id"]]
    assert (row["label"], row["why"]) == ("generation_drift", "template/citations violated")
    assert "template_violated" in row["codes"]


def _unretrieved_id(fault: Fault, product: Product) -> None:
    row = product.rows[fault["q_id"]]
    assert row["label"] == "generation_drift"
    assert "citation_outside_retrieved" in row["suspicions"]
    assert "cited_not_retrieved" in row["codes"]
    assert row["cited"] > row["cited_retrieved"]


def _misquoted_figure(fault: Fault, product: Product) -> None:
    new, old = (fault[name].split()[0] for name in ("new", "old"))
    assert new in product.rows[fault["q_id"]]["numbers_unsupported"]
    differences = [(each.quote, each.page, each.kind) for each in product.cited(fault["q_id"]).differences]
    assert (new, old, "number") in differences


def _stale_answer(fault: Fault, product: Product) -> None:
    assert product.rows[fault["q_id"]]["label"] == "retrieval_drift"
    repeated = [q_id for q_id, row in product.rows.items() if "answer_repeated" in row["codes"]]
    assert repeated == [fault["q_id"]]


def _stale_report(fault: Fault, product: Product) -> None:
    stale = [row for row in product.rows.values() if "report_stale" in row["suspicions"]]
    assert stale
    assert all(row["stored_label"] != row["label"] for row in stale)


def _bad_line(fault: Fault, product: Product) -> None:
    assert fault["q_id"] not in product.rows
    assert "as declared" in product.checked


def _unfinished_line(fault: Fault, product: Product) -> None:
    assert fault["q_id"] not in product.rows
    assert f"{fault['keep']} bytes of a last line without line end wait" in product.indexed


def _one_based_pages(fault: Fault, product: Product) -> None:
    """Whatever cites the section is found one page earlier; nothing else is found on another page."""
    cited = {
        q_id: view.citations[0].citation.section_id
        for q_id, view in product.questions.items()
        if view.citations and view.citations[0].citation.doc_id == "meridian-2026"
    }
    mismatched = {q_id for q_id in cited if product.cited(q_id).page_mismatch}
    assert mismatched == {q_id for q_id, section in cited.items() if section == fault["section"]}
    assert mismatched
    assert {row["q_id"] for row in product.rows.values() if "page_mismatch" in row["evidence"]} == mismatched
    (said,) = [sentence(finding) for finding in product.pages.findings]
    section = f"in section {fault['section']}"
    assert said.endswith(f"one page earlier than cited, {section}, where the id of its chunk puts it")


def _copied_metrics(fault: Fault, product: Product) -> None:
    copied = (DEMO / "runs" / fault["from"] / "metrics.json").read_bytes()
    assert (DEMO / "runs" / RUN / "metrics.json").read_bytes() == copied
    assert "metrics.json of goldset_v1 differs from what is counted:" in product.metrics
    assert "λ_convergent_rate: 0.2683 in the pack, not measured here" in product.metrics


FINDERS: Mapping[str, Callable[[Fault, Product], None]] = {
    "analyzer_mismatch": _analyzer_mismatch,
    "no_template": _no_template,
    "unretrieved_id": _unretrieved_id,
    "misquoted_figure": _misquoted_figure,
    "stale_answer": _stale_answer,
    "stale_report": _stale_report,
    "bad_line": _bad_line,
    "unfinished_line": _unfinished_line,
    "one_based_pages": _one_based_pages,
    "copied_metrics": _copied_metrics,
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_the_product_finds_the_fault(fault: Fault, product: Product) -> None:
    FINDERS[fault["kind"]](fault, product)


def test_every_fault_and_no_other_is_declared() -> None:
    declared = (DEMO / "FAULTS.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1].split()[0] for line in declared if line.startswith("| F")]
    assert rows == [fault["id"] for fault in FAULTS]
    assert {fault["kind"] for fault in FAULTS} == set(FINDERS)


def test_the_mended_run_has_none_of_it(tmp_path: Path) -> None:
    rows = _command("export", "jsonl", str(DEMO), "--run", "R006", "--cache-dir", str(tmp_path), "-o", "-")
    found = [json.loads(line) for line in rows.splitlines()]
    assert len(found) == 41
    assert not [row["q_id"] for row in found if row["numbers_unsupported"] or row["suspicions"]]
    assert not [row["q_id"] for row in found if row["codes"]]
