"""Every fault that FAULTS.md declares is found through the product."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proofspan.api import open_workspace
from proofspan.cli import group
from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.types import CAUSES
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.health.rule_counts import HealthTable, health_table
from proofspan.services.health.run_findings import RunFinding, fix_first, in_a_sentence, run_findings, to_fix
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.page.target import choose, targets_of
from proofspan.services.page.view import locate_view
from proofspan.services.page_base import CitedPages, examine_run, sentence
from proofspan.services.question.view import QuestionView, load_question
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.traces import iter_traces
from tests.places import DEMO
from tools.demo.faults import declared_causes, read_faults

pytestmark = pytest.mark.slow

Fault = Mapping[str, Any]
FAULTS = read_faults()
RUN = "R005"


@dataclass(frozen=True)
class Product:
    """The product as users see it: the rows of Triage, the output of commands, and the Question page."""

    rows: Mapping[str, Mapping[str, Any]]
    indexed: str
    checked: str
    manifest: Manifest
    questions: Mapping[str, QuestionView]
    placer: Placer
    pages: CitedPages
    metrics: str
    store: Store
    health: HealthTable
    findings: Mapping[str, RunFinding]

    def on_health(self, code: str) -> set[str]:
        """The questions that Health's number of a code (or suspicion, or state) in the run opens."""
        (row,) = (row for row in self.health.rows if row.codes == (code,))
        opened = self.store.places(row.filter(RUN, self.health.now(row)), Sort())["q_id"].tolist()
        assert len(opened) == self.health.now(row).questions
        return set(opened)

    def cited(self, q_id: str) -> FoundSpan:
        """Return the place of the first citation of a question, as its page shows it."""
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
    store = Store(manifest, Path(cache))
    run = manifest.run(RUN)
    assert run is not None
    with PdfPool(workers=1) as pool:
        pages = examine_run(manifest, RUN, cache_dir=Path(cache), document=pool.document)
        health = health_table(store, [run], RUN)
        findings = run_findings(store, manifest, health, run_metrics(store, manifest, RUN), pages)
        yield Product(
            rows={row["q_id"]: row for row in map(json.loads, rows.splitlines())},
            indexed=indexed,
            checked=_command("check", str(DEMO)),
            manifest=manifest,
            questions=_questions(),
            placer=Placer(pool),
            pages=pages,
            metrics=_command("metrics", str(DEMO), "--run", RUN, "--cache-dir", cache),
            store=store,
            health=health,
            findings={finding.problem.code: finding for finding in findings},
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
    assert f"{fault['keep']} bytes) is not finished yet" in product.indexed


def _one_based_pages(fault: Fault, product: Product) -> None:
    """Whatever cites the section is found one page earlier; nothing else is found on another page."""
    cited = {
        q_id: view.citations[0].citation.section_id
        for q_id, view in product.questions.items()
        if view.citations and view.citations[0].citation.doc_id == "meridian-2026"
    }
    mismatched = {q_id for q_id in cited if product.cited(q_id).page_mismatch}
    assert mismatched == {q_id for q_id, section in cited.items() if section == fault["section"]}
    assert mismatched == {fault["cited_by"]}
    assert {row["q_id"] for row in product.rows.values() if "page_mismatch" in row["evidence"]} == mismatched
    (message,) = [sentence(finding) for finding in product.pages.findings]
    section = f"in section {fault['section']}"
    assert message.endswith(f"(1 one page earlier), {section}, where the chunk ids place them")


def _copied_metrics(fault: Fault, product: Product) -> None:
    copied = (DEMO / "runs" / fault["from"] / "metrics.json").read_bytes()
    assert (DEMO / "runs" / RUN / "metrics.json").read_bytes() == copied
    assert "metrics.json of goldset_v1 differs from the computed numbers:" in product.metrics
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


def _on_whole_run(fault: Fault, product: Product) -> None:
    assert len(product.on_health("analyzer_mismatch")) == product.health.questions[0]


def _in(*codes: str) -> Callable[[Fault, Product], None]:
    """The fault's question is among those that each of these opens."""

    def check(fault: Fault, product: Product) -> None:
        assert all(fault["q_id"] in product.on_health(code) for code in codes)

    return check


def _reported(code: str, words: str) -> Callable[[Fault, Product], None]:
    """Health says it of the run as a whole."""

    def check(fault: Fault, product: Product) -> None:
        assert (
            words.format(**fault)
            in f"{product.findings[code].title}: {product.findings[code].problem.message}"
        )

    return check


def _shown_as_off(fault: Fault, product: Product) -> None:
    off = product.on_health("page_mismatch")
    assert off == {row["q_id"] for row in product.rows.values() if "page_mismatch" in row["evidence"]}
    assert product.findings["cited_page_differs"].shown == Filter(RUN, evidence=("page_mismatch",))


#: How each kind of fault shows on Health.
ON_HEALTH: Mapping[str, Callable[[Fault, Product], None]] = {
    "analyzer_mismatch": _on_whole_run,
    "no_template": _in("template_violated"),
    "unretrieved_id": _in("cited_not_retrieved"),
    "misquoted_figure": _in("unsupported", "numbers_differ"),
    "stale_answer": _in("answer_repeated"),
    "stale_report": _reported("report_stale", "stored report disagrees on 8 of 39"),
    "bad_line": _reported("lines_unreadable_declared", "1 line unreadable, as declared"),
    "unfinished_line": _reported("last_line_waits", "The last line of the traces ({keep} bytes)"),
    "one_based_pages": _shown_as_off,
    "copied_metrics": _reported("metrics_pack_differs", "metrics pack differs"),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_the_fault_shows_on_health(fault: Fault, product: Product) -> None:
    ON_HEALTH[fault["kind"]](fault, product)


def test_health_names_what_is_wrong_with_the_run_first(product: Product) -> None:
    findings = tuple(product.findings.values())
    severities = Counter(each.problem.severity for each in to_fix(product.health, findings))
    reported = in_a_sentence(product.health, findings)
    assert reported.startswith(f"R005: {severities['error']} errors and {severities['warning']} warnings; ")
    assert reported.endswith("; rules broken on 39 of 39 questions.")
    first = fix_first(product.health, tuple(product.findings.values()))
    assert first[0].title == "analyzer differs"


def test_every_fault_and_no_other_is_declared() -> None:
    declared = (DEMO / "FAULTS.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1].split()[0] for line in declared if line.startswith("| F")]
    assert rows == [fault["id"] for fault in FAULTS]
    assert {fault["kind"] for fault in FAULTS} == set(FINDERS)


def test_every_fault_of_an_answer_declares_its_cause(product: Product) -> None:
    causes = declared_causes(FAULTS)
    assert set(causes.values()) <= set(CAUSES)
    asked = {fault["q_id"] for fault in FAULTS if "q_id" in fault}
    assert set(causes) & asked == asked & set(product.rows)


def test_the_verdict_on_a_faulty_answer_names_the_declared_cause() -> None:
    rows = open_workspace(DEMO).triage(RUN).rows
    causes = {row.q_id: row.verdict["cause"] for row in rows if row.verdict is not None}
    declared = declared_causes(FAULTS)
    assert {q_id: causes.get(q_id) for q_id in declared} == declared


def test_the_repaired_run_has_none_of_it(tmp_path: Path) -> None:
    rows = _command("export", "jsonl", str(DEMO), "--run", "R006", "--cache-dir", str(tmp_path), "-o", "-")
    found = [json.loads(line) for line in rows.splitlines()]
    assert len(found) == 41
    assert not [row["q_id"] for row in found if row["numbers_unsupported"] or row["suspicions"]]
    assert not [row["q_id"] for row in found if row["codes"]]
    manifest = load_manifest(DEMO)
    store = Store(manifest, tmp_path)
    table = health_table(store, manifest.runs[-1:], "R006")
    findings = run_findings(store, manifest, table, run_metrics(store, manifest, "R006"), None)
    assert in_a_sentence(table, findings) == "R006: No data-quality issues found in 41 questions."
