"""Help: its glossary is complete and in docs, its keys are those of scripts, its palette finds questions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.contracts.rules.catalogue import FAMILIES, RULES
from proofspan.display_names import NAMES
from proofspan.manifest.load import load_manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.resources import PACKAGE
from proofspan.services.release import STATE_NAMES
from proofspan.store.query.store import Store
from proofspan.ui import keys
from proofspan.ui.help import glossary, show, tour
from proofspan.ui.status import release
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import MakeWorkspace, Open, table
from tests.places import CHECKOUT, DEMO

REGISTRIES: dict[str, Any] = {
    **{"issue" if kind == "suspicion" else kind: names for kind, names in NAMES.items()},
    "release": STATE_NAMES,
    "metric": METRICS,
    "rule": {**RULES, **FAMILIES},
}


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_label_cause_code_and_metric_has_an_entry(kind: str) -> None:
    known = {each.term.partition(".")[2] for each in glossary.entries() if each.term.startswith(f"{kind}.")}
    assert known == set(REGISTRIES[kind])


def test_entries_are_distinct_and_have_a_meaning() -> None:
    entries = glossary.entries()
    assert len({each.term for each in entries}) == len(entries)
    assert all(each.name and each.meaning.endswith(".") and "{}" not in each.meaning for each in entries)


def test_the_document_is_the_glossary() -> None:
    written = (CHECKOUT / "docs/glossary.md").read_text(encoding="utf-8")
    assert written == glossary.markdown(), "python -m proofspan.ui.help.glossary > docs/glossary.md"


def test_every_term_that_a_page_names_has_an_entry() -> None:
    """Those with a code are made of their registry, so that only the literal ones are looked up."""
    known = {each.term for each in glossary.entries()}
    kinds = {term.partition(".")[0] for term in known}
    paths = [path for path in (PACKAGE / "ui").rglob("*.py") if path.parent.name != "help"]
    sources = "".join(path.read_text(encoding="utf-8") for path in paths)
    literal = set(re.findall(rf'"((?:{"|".join(kinds)})\.[^"{{}}]+)"', sources))
    assert len(literal) > 30 and literal <= known
    assert set(re.findall(r'term=f"([a-z]+)\.', sources)) <= kinds


def test_a_code_has_one_term() -> None:
    assert glossary.term_of("analyzer_mismatch") == "rule.analyzer_mismatch"
    assert glossary.term_of("figures_differ") == "finding.figures_differ"
    assert glossary.term_of("x") == ""


def test_the_checks_of_a_release_are_explained() -> None:
    known = {each.term for each in glossary.entries()}
    names = (
        *(f"suspicion_{each}" for each in NAMES["suspicion"]),
        *(f"code_{each}" for each in RULES),
        *(f"cause_{each}" for each in NAMES["cause"]),
        *("flips", "flips_2", "causes", "line_issues", "stop_rule", "pinning", "determinism", *METRICS),
    )
    assert {release.check_term(name) for name in names} <= known
    assert release.check_term("questions") == ""


@pytest.mark.parametrize(
    ("script", "place"),
    [("viewer/js/keys.js", "Page viewer"), ("walkthrough/bar.js", "Walkthrough")],
)
def test_the_sheet_has_the_keys_of_the_scripts(script: str, place: str) -> None:
    text = (PACKAGE / "ui" / script).read_text(encoding="utf-8")
    tables = "".join(re.findall(r"^const [A-Z_]+ = \{(.*?)\};", text, re.DOTALL | re.MULTILINE))
    used = {first or bare for first, bare in re.findall(r'(?:"([^"]+)"|\b(\w+)): ', tables)}
    used |= set(re.findall(r'key === "(\w+)"', text))
    arrows = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→", "Escape": "Esc"}
    listed = {key.upper() for row in keys.SHEET[place] for key in row.split(" ")}
    assert used
    assert {arrows.get(key, key).upper() for key in used} <= listed


@pytest.fixture(scope="module")
def demo(request: pytest.FixtureRequest) -> Store:
    built: Callable[[Path], Path] = request.getfixturevalue("built")
    return Store(load_manifest(DEMO), built(DEMO))


@pytest.mark.parametrize(
    ("words", "first"), [("Q84", "Q84"), ("q8", "Q80"), ("dipstick shows", "Q84"), ("", None)]
)
def test_a_question_is_found_by_its_id_and_by_its_words(demo: Store, words: str, first: str | None) -> None:
    found = show.questions(demo, ViewState().change(run=tour.FAULTY), words)
    assert len(found) <= show.MOST
    assert (found[0]["name"].split("  ")[0] if found else None) == first
    assert all(f"q={each['name'].split('  ')[0]}" in each["address"] for each in found)


def test_the_next_failure_goes_through_all_that_fail(demo: Store) -> None:
    view, seen = ViewState().change(run=tour.FAULTY), list[str]()
    for _ in range(3):
        address = show.next_failure(demo, view)
        seen.append(re.findall(r"[?&]q=(\w+)", address)[0])
        view = view.change(q=seen[-1])
    assert len(set(seen)) == 3


@pytest.mark.parametrize(
    "sent",
    [
        None,
        [],
        {"words": "x"},
        {"number": True},
        {"number": -1},
        {"number": 1, "words": 2},
        {"number": 1, "failure": 1},
    ],
)
def test_what_is_no_request_is_ignored(sent: object) -> None:
    assert show.asked_from(sent) is None


def test_a_request_is_cut_to_its_length() -> None:
    asked = show.asked_from({"number": 1, "words": " x" * 1_000})
    assert asked is not None and len(asked.words) == show.MAX_WORDS


def test_the_demo_has_a_tour_and_other_workspaces_have_none(make_workspace: MakeWorkspace) -> None:
    manifest = load_manifest(DEMO)
    steps = orjson.loads(show.packed(manifest))["tour"]
    assert [each["address"] for each in steps] == [
        tour.address(number) for number in range(1, len(steps) + 1)
    ]
    assert 5 <= len(steps) <= 6
    assert {step.view.run for step in tour.STEPS} - {""} <= {run.run_id for run in manifest.runs}
    assert orjson.loads(show.packed(load_manifest(make_workspace())))["tour"] == []


def test_the_welcome_is_on_the_demo_until_it_is_dismissed(open_shared: Open) -> None:
    page = open_shared(DEMO, run=tour.FAULTY)
    page.button(key="welcome-dismiss").click().run()
    assert not [each for each in page.button if each.key == "welcome-dismiss"]


def test_other_workspaces_have_no_welcome(open_shared: Open, small: Path) -> None:
    page = open_shared(small)
    assert not page.exception
    assert not [each for each in page.button if each.key == "welcome-dismiss"]


def test_a_change_of_the_list_keeps_the_open_term_and_the_step(open_shared: Open) -> None:
    page = open_shared(DEMO, run=tour.FAULTY, tour="1", help="label.ok")
    page.text_input(key="search").set_value("oil").run()
    assert {name: page.query_params[name] for name in ("tour", "help")} == {
        "tour": "1",
        "help": "label.ok",
    }
    assert all("tour=" not in link["address"] for link in table(page))
