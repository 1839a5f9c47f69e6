"""Cited text on Triage and Workspace by AppTest: filters, rows, and what a shifted page base reads like."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.page_base import PRODUCER, CitedPages
from proofspan.store.index.build import build_index
from proofspan.ui.health import rules
from tests.pages.conftest import MakeWorkspace, Open, listed, menu, shown, table, trace, unfold
from tests.pdf_files import write_pages
from tests.unit.passes.placing_room import place_run

pytestmark = pytest.mark.slow

PAGES = "Cited pages by run and document"
COLOURS = ("red", "blue", "green", "grey", "white", "brown", "black")
SENTENCES = [f"The {colour} cover opens with the second key." for colour in COLOURS]


def cited(number: int, quote: str, *, page: int) -> dict[str, object]:
    """A question whose payload cites `quote` on the 1-based `page`."""
    payload = [{"snippet_id": "c1", "doc_id": "manual", "section_id": "5.1", "page": page, "quote": quote}]
    return trace(
        f"Q{number}", f"Which cover is number {number}?", f"{quote} citations: [c1]", citations=payload
    )


@pytest.fixture
def located(make_workspace: MakeWorkspace, open_app: Open, tmp_path: Path, pool: PdfPool) -> Open:
    """`located(first, **url)`: seven quotes on seven pages, cited from the number `first` on, all located."""

    def start(first: int, *more: dict[str, object], **url: str) -> AppTest:
        folder = tmp_path / "workspace"
        if not folder.exists():
            texts = [cited(n, quote, page=n + first) for n, quote in enumerate(SENTENCES)]
            make_workspace([*texts, *more], documents=[{"doc_id": "manual", "path": "manual.pdf"}])
            write_pages(folder / "manual.pdf", [[quote] for quote in SENTENCES])
            manifest = load_manifest(folder)
            build_index(manifest, cache_dir=tmp_path / "cache")
            place_run(manifest, "R1", cache_dir=tmp_path / "cache", pool=pool, workers=1)
        return open_app(folder, **url)

    return start


def states(app: AppTest) -> Any:
    """The filter by cited text, opened, whose options have counts."""
    return menu(app, "evidence")


def test_the_states_are_counted_filter_and_say_the_same_as_the_rows(located: Open) -> None:
    app = located(
        1,
        cited(8, "The yellow lid has no key whatsoever.", page=1),
        cited(9, SENTENCES[3], page=2),
    )
    assert states(app).options == ["Not found · 1", "Other page · 1", "Exact match · 8"]
    states(app).set_value(["not_found"]).run()
    assert app.query_params["evidence"] == "not_found"
    assert "1 of 9 questions: cited text: Not found" in shown(app)
    assert [row["issues"].split(" · ")[0] for row in table(app)] == ["Cited text not found"]
    states(app).set_value(["not_found", "page_mismatch"]).run()
    assert len(table(app)) == 2
    assert states(app).options == ["Not found · 1", "Other page · 1", "Exact match · 8"]
    app.button("clear").click().run()
    assert len(table(app)) == 9


def test_a_link_brings_the_filter_and_its_order_back(located: Open) -> None:
    app = located(1, cited(8, "The yellow lid has no key.", page=1), evidence="not_found", sort="evidence")
    assert "1 of 8 questions: cited text: Not found · worst cited text first" in shown(app)
    assert len(table(app)) == 1


def test_a_run_that_counts_from_one_is_reported_in_one_line_that_leads_to_its_questions(
    located: Open,
) -> None:
    app = located(2)
    text = "manual: 7 of 7 quotes, 100 % (65–100 %), are one page earlier than cited"
    assert text in html.unescape(shown(app))
    assert {row["issues"].split(" · ")[0] for row in table(app)} >= {"Cited page is one too high"}
    app.button("pages-shown").click().run()
    assert app.query_params["evidence"] == "page_mismatch"
    assert "pages-shown" not in [button.key for button in app.button]


def test_pages_that_are_cited_rightly_need_no_line(located: Open) -> None:
    app = located(1)
    assert "than cited" not in shown(app)
    assert states(app).options == ["Exact match · 7"]


def test_health_has_the_offsets_the_sentence_and_the_remedy(located: Open) -> None:
    app = located(2, page="pages/health.py")
    (row,) = listed(unfold(app, "pages"), PAGES)
    assert (row["Run"]["text"], row["Run"]["note"], row["−1"]["text"]) == ("R1", "manual", "7")
    assert row["What it says"]["text"].startswith("7 of 7 quotes, 100 % (65–100 %), ")
    assert row["What it says"]["note"] == (
        "Let the producer count page_idx from 0 and page from 1: what it writes is one too high."
    )


def test_health_without_anything_to_fix_names_no_fix(located: Open) -> None:
    app = located(1, page="pages/health.py")
    (row,) = listed(unfold(app, "pages"), PAGES)
    assert row["What it says"] == {"text": "7 of 7 quotes are on the cited page (65–100 %)."}
    assert row["−1"]["text"] == "–"


def test_health_distinguishes_runs_that_cite_nothing_from_runs_that_nobody_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(
        rules.markup, "show", lambda *parts, **_: reported.extend(part.html for part in parts)
    )
    rules.cited_pages({}, PRODUCER)
    rules.cited_pages({"R1": CitedPages((), {})}, PRODUCER)
    assert "are located yet; proofspan index locates them" in reported[0]
    assert "No run cites text that determines its page." in reported[1]


def test_a_filter_on_cited_text_that_is_not_located_says_so(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(), evidence="exact")
    assert "Nothing matches the filter on cited text until citations are located." in shown(app)


def test_warnings_that_are_left_out_are_counted_filtered_by_and_named_in_their_rows(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace(
        catalogue={"path": "catalogue.jsonl"}, documents=[{"doc_id": "manual", "path": "manual.pdf"}]
    )
    write_pages(folder / "manual.pdf", [["WARNING Hot oil burns the skin: wear gloves."]])
    warning = {
        "attachment_id": "w-1",
        "doc_id": "manual",
        "kind": "warning",
        "section_id": "5.1",
        "page_idx": 0,
        "text": "WARNING Hot oil burns the skin: wear gloves.",
    }
    (folder / "catalogue.jsonl").write_text(json.dumps(warning) + "\n")
    app = open_app(folder)
    assert menu(app, "safety").options == ["may omit a warning · 1", "omits no warning · 0"]
    menu(app, "safety").set_value(True).run()
    assert app.query_params["safety"] == "omitted"
    assert ["May omit a warning" in row["issues"] for row in table(app)] == [True]
    menu(app, "safety").set_value(None).run()
    assert len(table(app)) == 3
