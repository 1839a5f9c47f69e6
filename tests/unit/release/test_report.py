"""The release report: its content against verdict, metrics and lists, and its files read again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.evidence.drawing import Drawing, Run, Words
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.values import counted_in_words
from proofspan.resources import DEMO
from proofspan.services.compare import FLIP_KINDS, flip_list
from proofspan.services.documents.document_cache import Placer
from proofspan.services.gate import release_verdict
from proofspan.services.metrics.run_metrics import HEADLINES, run_metrics
from proofspan.services.passes.checking import check_runs
from proofspan.services.report.content import ReleaseReport, release_report
from proofspan.services.report.proofs import proofs_of, reader_of
from proofspan.services.report.sheet import report_sheet
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import built, trace, write_workspace

pytestmark = pytest.mark.slow

MUPDF: Any = pymupdf  # its Python half carries no types


@pytest.fixture(scope="module")
def demo(checked: Callable[[Path], Path]) -> tuple[Manifest, Store, Path]:
    """The demo with its checked index."""
    manifest, cache = load_manifest(DEMO), checked(DEMO)
    return manifest, Store(manifest, cache), cache


@pytest.fixture(scope="module")
def report(demo: tuple[Manifest, Store, Path]) -> ReleaseReport:
    """The report on R006 against R004."""
    manifest, store, _ = demo
    return release_report(store, manifest, release_verdict(store, manifest, "R006", against="R004"))


def page_of(data: bytes) -> tuple[int, str]:
    """Return how many pages a PDF has, and the text of the first on one line."""
    with MUPDF.open(stream=data, filetype="pdf") as pdf:
        return pdf.page_count, " ".join(pdf[0].get_text().split())


def of(store: Store, manifest: Manifest, run_id: str) -> ReleaseReport:
    return release_report(store, manifest, release_verdict(store, manifest, run_id))


def test_numbers_are_those_of_verdict_metrics_and_compare(
    demo: tuple[Manifest, Store, Path], report: ReleaseReport
) -> None:
    manifest, store, _ = demo
    measured = run_metrics(store, manifest, "R006")
    assert [each.metric_id for each in report.numbers] == [*HEADLINES]
    for each in report.numbers:
        assert counted_in_words(measured.values[each.metric_id]) in each.sure
        verdict = measured.verdicts.get(each.metric_id)
        assert each.status == (verdict.status if verdict else "unknown")
        assert "paired over" in each.change
    assert [why.reason for why in report.why] == list(report.verdict.reasons[: len(report.why)])
    assert report.changes[0].rstrip(".") == report.verdict.changes[0]
    assert "27 Feb 2026" in report.about and "41 questions" in report.about
    ranking = next(why for why in report.why if why.reason.check == "section_match_at_1")
    assert [close.words for close in ranking.closest] == ["gold at rank 2"] * 2


def test_counts_are_those_of_the_lists_and_flips_those_of_compare(
    demo: tuple[Manifest, Store, Path], report: ReleaseReport
) -> None:
    _, store, _ = demo
    for count in report.counts:
        assert count.now == store.matching(count.shown)
        assert None not in (count.was, count.now, count.fixed, count.regressed)
        gain = (count.fixed or 0) - (count.regressed or 0)
        change = (count.now or 0) - (count.was or 0)
        assert change == (
            gain if count.name == "Correct answers" else -gain
        )  # both runs ask the same questions
    correct = report.counts[0]
    assert correct.now == run_metrics(store, load_manifest(DEMO), "R006").values["correct_answers"].numerator
    flips = store.flips(Filter("R006", vs="R004", outcome="correct_answers"))
    assert (correct.fixed, correct.regressed) == (flips.fixed, flips.regressed)
    for flip in report.flips:
        shown = Filter("R006", vs="R004", outcome=flip.outcome)
        assert flip.q_id in set(flip_list(store, shown, flip.kind, Sort())["q_id"])
    assert {flip.kind for flip in report.flips} == {*FLIP_KINDS}
    assert len(report.flips) == 5


def test_a_run_without_another_and_one_without_gold_say_so(
    demo: tuple[Manifest, Store, Path], tmp_path: Path
) -> None:
    manifest, store, _ = demo
    first = of(store, manifest, "R001")
    assert first.flips == () and "another run" in first.flips_note
    assert all(count.was is count.fixed is None and count.now is not None for count in first.counts)
    assert not any(number.change for number in first.numbers)
    bare = write_workspace(tmp_path, {"R1": [trace("Q1")], "R2": [trace("Q1")]})
    index = built(bare, tmp_path / "cache")
    without = of(index, bare, "R2")
    assert {count.now for count in without.counts} == {None}, "neither gold nor claims"
    assert {number.number for number in without.numbers} == {"–"}
    list(check_runs(bare, ["R1", "R2"], cache_dir=tmp_path / "cache"))
    with_claims = of(Store(bare, tmp_path / "cache"), bare, "R2")
    assert {each.name: each.now for each in with_claims.counts}["Number differs"] == 0
    assert any("At least 6 flips" in change for change in with_claims.changes)


def test_hostile_names_stay_words_on_one_page(tmp_path: Path, pool: PdfPool) -> None:
    evil = "<img src=x onerror=alert(1)>\u202e\x07" + "W" * 120
    bare = write_workspace(
        tmp_path,
        {"R1": [trace("Q1", q=evil)], "R2": [trace("Q1", q=evil)]},
        name=evil,
    )
    found = of(built(bare, tmp_path / "cache"), bare, "R2")
    count, text = page_of(pool.draw(report_sheet(found, ()), to="pdf").data)
    assert count == 1 and found.verdict.words in text
    drawing = Drawing(300, 60, (Words((5, 5, 295, 55), ((Run("<b>bold</b> & <img src='/etc/passwd'>"),),)),))
    assert "<b>bold</b> & <img src='/etc/passwd'>" in page_of(pool.draw(drawing, to="pdf").data)[1]
    assert "\u202e" not in text and "\x07" not in text


def test_the_proofs_have_pictures_or_say_why_not(
    demo: tuple[Manifest, Store, Path], report: ReleaseReport, pool: PdfPool, tmp_path: Path
) -> None:
    manifest, store, cache = demo
    read = reader_of(store, manifest, "R006", cache_dir=cache)
    proofs = proofs_of(report.flips, read, manifest=manifest, placer=Placer(pool))
    assert [bool(proof.crop.picture or proof.crop.text) for proof in proofs] == [True] * len(report.flips)
    for crop in (proof.crop for proof in proofs if proof.crop.picture):
        assert any(box.layer == "cited" for box in crop.boxes)
        for x, y, width, height in (box.rect for box in crop.boxes):
            assert x >= 0 and y >= 0 and x + width <= 100.001 and y + height <= 100.001
    count, text = page_of(pool.draw(report_sheet(report, proofs), to="pdf").data)
    assert count == 1
    for words in (report.title, report.verdict.words, report.headline, *(each.q_id for each in report.flips)):
        assert " ".join(words.split()) in text, words
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder)
    for document in manifest.documents:
        (folder / document.artifact.path).unlink()
    lost = load_manifest(folder)
    proofs = proofs_of(report.flips, read, manifest=lost, placer=Placer(pool))
    assert all(proof.crop.missing and proof.crop.picture is None for proof in proofs)
    assert "No picture" in page_of(pool.draw(report_sheet(report, proofs), to="pdf").data)[1]


def test_the_command_writes_a_pdf_and_a_png(checked: Callable[[Path], Path], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(checked(DEMO), cache)
    options = ["report", str(DEMO), "--run", "R006", "--against", "R004", "--cache-dir", str(cache), "-o"]
    png = tmp_path / "report.png"
    result = CliRunner().invoke(group, [*options, str(png)])
    assert result.exit_code == 0, result.output
    picture = MUPDF.Pixmap(png.read_bytes())
    assert (picture.width, picture.height) == (1684, 1190)
    refused = CliRunner().invoke(group, [*options, str(tmp_path / "report.html")])
    assert refused.exit_code == 2 and not (tmp_path / "report.html").exists()


def test_closest_to_a_goal_on_claims_is_the_answer_that_lacks_least(tmp_path: Path) -> None:
    lost = "Nobody mentions elephants anywhere."
    answers = {
        "Q1": lost,
        "Q2": f"The oil filter holds 4 litres. {lost}",
        "Q3": f"The oil filter holds 4 litres. Check the coolant every week. {lost}",
    }
    traces = [trace(q_id, answer=f"{text}\ncitations: [c1]") for q_id, text in answers.items()]
    goals = {"grounded_answers": ">= 0.9", "citation_overlap": "none"}
    manifest = write_workspace(tmp_path, {"R1": traces}, goals=goals)
    built(manifest, tmp_path / "cache")
    list(check_runs(manifest, ["R1"], cache_dir=tmp_path / "cache"))
    found = of(Store(manifest, tmp_path / "cache"), manifest, "R1")
    (why,) = (each for each in found.why if each.reason.check == "grounded_answers")
    assert why.lead == "Closest"
    assert [(each.q_id, each.words) for each in why.closest] == [
        ("Q3", "1 of 3 claims not supported"),
        ("Q2", "1 of 2 claims not supported"),
    ]
    assert found.what_if is None and found.steps == found.changes
