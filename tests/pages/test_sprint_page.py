"""Sprint: goals, decisions and log as they are shown, what is written, and text that is hostile."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest
from streamlit.testing.v1 import AppTest

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.journal.sprint import EntryKind, SprintEntry, append_all, read_sprint
from proofspan.manifest.load import load_manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, judge
from proofspan.metrics.values import Tally, metric_value
from proofspan.services.sprint.draft import drafted
from proofspan.services.sprint.types import GoalNow, Item, SprintRecord
from proofspan.ui.sprint import form, load
from proofspan.ui.sprint.drafts import Draft, typed, value_of
from proofspan.ui.sprint.entries import title_words
from proofspan.ui.sprint.load import Sprint
from proofspan.ui.visit.view_state import ViewState
from tests.pages.conftest import MakeWorkspace, Open, grids, shown

pytestmark = pytest.mark.slow

PAGE = "pages/sprint.py"
FILE = "sprint.jsonl"
ADA, BEN = "Ada", "Ben"
HOSTILE = "<img src=x onerror=alert(1)> ![x](http://evil.example) **b** $x$ :red[r] `c`\u202e"


def entry(kind: EntryKind, key: str, at: str, author: str = ADA, **fields: Json) -> SprintEntry:
    corrects = fields.pop("corrects", None)
    at = f"2026-02-{at}:00Z" if "T" in at else f"2026-02-{at}"
    return drafted(kind, key, at=at, author=author, fields=fields, corrects=corrects)


APPROVED = entry("decision", "D2", "24T09:05", BEN, state="ACCEPTED")
DENSE = entry("log", "", "24T11:00", title="Dense run", text="R002 is in:\n16 of 37", notes="Too good?")
RECORD = (
    entry("sprint", "", "23T08:00", title="Five days", owner=BEN, status="Active"),
    entry("goal", "G1", "23T08:00", title="Evidence readiness by hand", status="Nearly"),
    entry("package", "A1", "23T09:00", title="Section text", status="in_progress", stream="Rerank"),
    entry("package", "A2", "23T09:01", title="Rerank", status="pending", depends_on=["D2"], owner=ADA),
    entry(
        "decision",
        "D2",
        "23T15:25",
        title="Section text",
        state="PROPOSED",
        decision=["Concatenate chunks."],
        pros=["Stable.", "Small."],
        cons=["May overflow."],
        unblocks=["WP-A2"],
    ),
    APPROVED,
    entry("decision", "D2", "24T09:11", state="PROPOSED", state_note="tokenizer", corrects=APPROVED.entry_id),
    entry("risk", "RISK-1", "23T16:00", text="Drift of kernels", mitigation=["Pin them"]),
    DENSE,
    entry("log", "", "24T11:20", title="Dense run", text="13 of 37", corrects=DENSE.entry_id),
    entry("checkpoint", "", "24T18:00", BEN, day=2, date="2026-02-24", attempted="- dense", plan="Rerank"),
    entry("section", "authorities", "23T08:00", title="Authorities", text="1. the manifest"),
)


@pytest.fixture
def record(make_workspace: MakeWorkspace) -> Callable[..., Path]:
    """`record(*entries)`: a workspace whose record has these entries."""

    def make(*entries: SprintEntry, **manifest: Any) -> Path:
        folder = make_workspace(sprint={"path": FILE}, **manifest)
        append_all(load_manifest(folder), entries)
        return folder

    return make


def written(folder: Path) -> tuple[SprintEntry, ...]:
    return read_sprint(load_manifest(folder))[0]


def words(app: AppTest) -> list[str]:
    """The page as it reads: a line for each text, row of a table, link and button."""
    lines: list[str] = []
    for element in app.main:
        proto = element.proto
        if element.type == "html":
            text = re.sub(r"<style>.*?</style>|<[^>]+>", "\n", str(proto.body), flags=re.DOTALL)
            lines += [html.unescape(line).strip() for line in text.splitlines() if line.strip()]
        elif element.type in ("page_link", "button", "text_input", "selectbox", "expander"):
            lines.append(f"[{proto.label}]")
        elif element.type == "bidi_component" and bytes(proto.bytes).startswith(b'{"table":'):
            lines += _rows(orjson.loads(bytes(proto.bytes)))
    return [line.replace("\u00a0", " ") for line in lines]


def _rows(table: dict[str, Any]) -> Iterable[str]:
    yield " | ".join(column["head"].get("text", "") for column in table["columns"])
    for row in table["rows"]:
        cells = (row["cells"][column["name"]] for column in table["columns"])
        chips = (
            " ".join([*(chip["text"] for chip in cell.get("chips", ())), cell.get("text", "")])
            for cell in cells
        )
        yield " | ".join(text.strip() for text in chips)


def test_without_a_record_the_page_says_how_to_get_one(small: Path, open_shared: Open) -> None:
    app = open_shared(small, page=PAGE)
    assert not app.exception
    assert "sprint: {path: sprint/log.jsonl}" in html.unescape(shown(app))
    assert "proofspan sprint import" in shown(app)
    assert not app.button


def test_the_page_in_its_words(
    record: Callable[..., Path], open_app: Open, golden: Callable[[str, str], None]
) -> None:
    app = open_app(record(*RECORD), page=PAGE, item="decision:D2")
    assert not app.exception
    lines = words(app)
    release = slice(lines.index("Release check of R1:"), lines.index("[See why in Trends]"))
    assert len(lines[release]) == 3
    del lines[release]
    golden("sprint/page", "\n".join(lines))


def test_goals_against_now_and_the_stop_rule(
    record: Callable[..., Path], open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    goal, metric = DEFAULT_GOALS["section_match_at_1"], METRICS["section_match_at_1"]
    was, now = (metric_value(metric, Tally(of=37, total=right)) for right in (21, 25))
    item = Item("goal", "G1", {"title": "First section right"}, (RECORD[1],))
    needs = {"needed": 26, "questions": 37, "moved_by": "R6", "was": was}
    measured = GoalNow(item, metric.metric_id, "R6", now, judge(goal, now), **needs)
    stopped = ("the last 2 runs of class recall lifted nothing: stop",)
    made = SprintRecord("Five days", goals=(measured,), stopped=stopped)
    monkeypatch.setattr(load, "sprint_record", lambda manifest, store: made)
    app = open_app(record(), page=PAGE)
    assert not app.exception
    lines = words(app)
    card = ["First section right", "by", "SectionMatch@1", "68 %", "25 of 37 · 51–80 % in R6"]
    card += [
        "✗ not reached",
        "goal 26 of 37",
        ", 1 more",
        "R6: 21 of 37 → 25 of 37",
        "[View 12 failing questions]",
        "[Trends]",
    ]
    start = lines.index(card[0])
    assert lines[start : start + len(card)] == card
    rule = lines.index("Stop rule:")
    assert lines[rule + 1] == stopped[0]
    bar = re.search(
        r'ps-gauge"[^>]*><span style="width: ([\d.]+)%"></span>.*?<b style="left: ([\d.]+)%">', shown(app)
    )
    assert bar is not None and bar.groups() == ("67.6", "70.3")


def test_what_was_corrected_is_struck_through_beside_its_correction(
    record: Callable[..., Path], open_app: Open
) -> None:
    page = shown(open_app(record(*RECORD), page=PAGE, item="decision:D2"))
    assert '<span class="ps-muted">? Proposed → </span><del class="ps-removed">✓ Accepted</del>' in page
    void, correction = (
        page.index('<del class="ps-removed">R002 is in:\n16 of 37</del>'),
        page.index("13 of 37"),
    )
    assert void < correction
    assert '<del class="ps-removed">13 of 37' not in page


def test_hostile_text_stays_text(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(
        entry("sprint", "", "23", title=HOSTILE, purpose=HOSTILE),
        entry("goal", "G1", "23", title=HOSTILE, status=HOSTILE, criteria=[HOSTILE]),
        entry(
            "package", "A1", "23", title=HOSTILE, stream=HOSTILE, owner=HOSTILE, next=[HOSTILE], notes=HOSTILE
        ),
        entry("decision", "D1", "23", HOSTILE, title=HOSTILE, state="PENDING", pros=[HOSTILE], odd=HOSTILE),
        entry("risk", "R1", "23", text=HOSTILE, mitigation=[HOSTILE]),
        entry("log", "", "23", HOSTILE, title=HOSTILE, text=HOSTILE, notes=HOSTILE),
        entry("section", "s", "23", title=HOSTILE, text=HOSTILE),
    )
    for item in ("decision:D1", "package:A1", "risk:R1", "goal:G1"):
        app = open_app(folder, page=PAGE, item=item)
        assert not app.exception
        page = shown(app)
        assert "<img" not in page and "\u202e" not in page
        assert html.escape("<img src=x onerror=alert(1)>") in page
        assert not app.markdown
        labels = [
            str(each.proto.label)
            for kind in ("page_link", "expander", "button", "selectbox")
            for each in app.main.get(kind)
        ]
        assert not [label for label in labels if "![x]" in label or "$x$" in label or ":red[" in label]


def test_lines_that_hold_no_entry_are_named(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(*RECORD)
    with (folder / FILE).open("ab") as file:
        file.write(b'{"kind": "decision"}\nnot json\n')
    app = open_app(folder, page=PAGE)
    assert not app.exception
    assert "2 problems of the record" in [each.label for each in app.expander]
    assert f"{FILE}:13" in shown(app)


# What the address asks for.


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["Day 2 checkpoint · 2026-02-24", "Dense run"]),
        ({"find": "tokenizer"}, ["Decision D2"]),
        ({"find": "SECTION text"}, ["Decision D2", "Work package A1"]),
        ({"kind": ("risk",)}, ["Risk RISK-1"]),
        ({"kind": ("risk", "section")}, ["Risk RISK-1", "Section authorities"]),
        ({"author": BEN}, ["Day 2 checkpoint · 2026-02-24"]),
        ({"author": BEN, "find": "e"}, ["Day 2 checkpoint · 2026-02-24", "Decision D2"]),
        ({"day": "2026-02-23"}, []),
        ({"day": "2026-02-23", "kind": ("risk",)}, ["Risk RISK-1"]),
        ({"find": "nowhere"}, []),
    ],
)
def test_the_log_has_what_the_address_asks_for(asked: dict[str, Any], found: list[str]) -> None:
    sprint = Sprint.of(SprintRecord("", entries=RECORD))
    assert list(map(title_words, sprint.logged(ViewState(**asked)))) == found


def listed(app: AppTest) -> list[str]:
    """The titles of the entries of the running log."""
    lines = [line[1:-1] for line in words(app) if line.startswith("[Entry")]
    return [line.replace("\\", "") for line in lines]


def test_a_long_log_has_pages_and_a_link_to_an_entry_opens_its_page(
    record: Callable[..., Path], open_app: Open
) -> None:
    many = [entry("log", "", f"24T{n // 60:02}:{n % 60:02}", title=f"Entry {n}", text="x") for n in range(45)]
    folder = record(*many)
    assert listed(open_app(folder, page=PAGE)) == [f"Entry {n}" for n in range(44, 24, -1)]
    assert listed(open_app(folder, page=PAGE, leaf="3")) == [f"Entry {n}" for n in range(4, -1, -1)]
    app = open_app(folder, page=PAGE, item=f"entry:{many[3].entry_id}")
    assert "Page 3 of 3 · 45 entries" in shown(app)
    assert any("open-entry" in key for key in keys(app))


def keys(app: AppTest) -> list[str]:
    """The keys of the buttons."""
    return [str(button.key) for button in app.button]


def test_packages_are_filtered_by_status_and_stream(record: Callable[..., Path], open_app: Open) -> None:
    app = open_app(record(*RECORD), page=PAGE)
    app.button("status-0").click().run()
    assert app.query_params["status"] == "in_progress"
    assert [row["head"]["text"] for row in grids(app)["Work packages"]["rows"]] == ["WP-A1 · Section text"]
    app.button("status-0").click().run()
    assert "status" not in app.query_params


def test_a_kind_is_added_to_those_of_the_address_as_it_is_by_then(
    record: Callable[..., Path], open_app: Open
) -> None:
    app = open_app(record(*RECORD), page=PAGE)
    app.query_params["kind"] = "risk"  # chosen since, in a run that was cut short
    app.button("kind-decision").click().run()
    assert app.query_params["kind"] == ["risk", "decision"]


# Writing.


def begin(app: AppTest, kind: str) -> AppTest:
    """Open a draft of that kind."""
    app.button("sprint-add").click().run()
    return app.segmented_control("draft-kind").set_value(kind).run()


def field(app: AppTest, label: str) -> Any:
    """The field of the form with that label."""
    return next(each for each in (*app.text_input, *app.text_area, *app.selectbox) if each.label == label)


def test_a_decision_is_previewed_and_only_then_saved(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(*RECORD)
    app = begin(open_app(folder, page=PAGE), "decision")
    field(app, "Your name").set_value(" Cleo  Ray ").run()
    field(app, "Id").set_value("D7").run()
    field(app, "Title").set_value("Titles first").run()
    field(app, "Pros").set_value("Fixes Q97\n- Fixes Q108\n  and Q98").run()
    field(app, "Unblocks").set_value("D3, WP-A2").run()
    app.button("draft-preview").click().run()
    assert "nothing is saved yet" in shown(app)
    assert "• Fixes Q108\n   and Q98" in shown(app)
    assert len(written(folder)) == len(RECORD)
    app.button("draft-save").click().run()
    assert not app.exception
    last = written(folder)[-1]
    assert (last.kind, last.key, last.author) == ("decision", "D7", "Cleo Ray")
    assert last.fields == {
        "title": "Titles first",
        "state": "PROPOSED",
        "pros": ["Fixes Q97", "Fixes Q108\nand Q98"],
        "unblocks": ["D3", "WP-A2"],
    }
    assert "✓ Saved" in shown(app)
    assert app.query_params["item"] == "decision:D7"
    assert "✓ Saved" not in shown(app.run())
    assert field(begin(app, "log"), "Your name").value == "Cleo Ray"


def test_a_change_of_an_item_has_only_what_was_changed(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(*RECORD)
    app = open_app(folder, page=PAGE, item="decision:D2")
    app.button("change-decision-D2").click().run()
    field(app, "Your name").set_value("Cleo").run()
    field(app, "State").set_value("ACCEPTED").run()
    field(app, "State in words").set_value("").run()
    field(app, "Unblocks").set_value("WP-A1").run()
    other = entry("decision", "D2", "25T08:00", BEN, mitigation=["Cut by tokens."])
    append_all(load_manifest(folder), [other])
    app.button("draft-preview").click().run()
    page = shown(app)
    assert "1 entry was added meanwhile" in page and "This item is among them" in page
    assert "Cut by tokens." in page
    assert "<dt>Unblocks</dt><dd>WP-A1, WP-A2</dd>" in page[: page.index("New in its history")]
    app.button("draft-save").click().run()
    assert written(folder)[-1].fields == {"state": "ACCEPTED", "state_note": None, "unblocks": ["WP-A1"]}
    assert "Cut by tokens." in shown(app)


def test_an_entry_is_corrected_beside_itself(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(
        RECORD[0], entry("log", "", "24", title="Dense", text="16", parts=[{"title": "A", "text": "b"}])
    )
    (wrong,) = (each for each in written(folder) if each.kind == "log")
    app = open_app(folder, page=PAGE, item=f"entry:{wrong.entry_id}")
    app.button(f"correct-open-entry-log-{wrong.entry_id}").click().run()
    field(app, "Your name").set_value("Cleo").run()
    field(app, "Check-in as it was given").set_value("13").run()
    app.button("draft-preview").click().run()
    assert '<del class="ps-removed">16</del>' in shown(app)
    app.button("draft-save").click().run()
    last = written(folder)[-1]
    assert last.corrects == wrong.entry_id
    assert last.fields == {**wrong.fields, "text": "13"}


def test_a_checkpoint_begins_with_what_the_runs_say(record: Callable[..., Path], open_app: Open) -> None:
    runs = [
        {"run_id": "R1", "title": "first", "ts": "2026-02-25T10:00:00Z", "traces": {"path": "trace.jsonl"}}
    ]
    app = begin(open_app(record(*RECORD, runs=runs), page=PAGE), "checkpoint")
    assert (field(app, "Day").value, field(app, "Date").value) == ("1", "2026-02-25")
    assert "R1: first" in field(app, "What ran (commands / environments)").value
    field(app, "Next 24h plan").set_value("Rest").run()
    field(app, "Date").set_value("2026-02-26").run()
    app.button("draft-fill").click().run()
    assert field(app, "What ran (commands / environments)").value == ""
    assert field(app, "Next 24h plan").value == "Rest"


def test_what_cannot_be_saved_is_not_previewed(record: Callable[..., Path], open_app: Open) -> None:
    app = begin(open_app(record(*RECORD), page=PAGE), "decision")
    field(app, "Title").set_value("t").run()
    for label, text, problem in (
        ("Id", "D9", "Your name is missing"),
        ("Your name", "Cleo", ""),
        ("Id", "", "The id is missing"),
        ("Id", "D2", "D2 is there already"),
        ("Id", "a b", "no blanks"),
    ):
        field(app, label).set_value(text).run()
        if problem:
            app.button("draft-preview").click().run()
            assert problem in shown(app)
            assert "draft-save" not in keys(app)
    assert field(app, "Title").value == "t"


def test_a_failed_save_keeps_what_was_typed(
    record: Callable[..., Path], open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> SprintEntry:
        raise InputFault.of("journal_not_written", "no space left on device", where=FILE, fix="free some")

    folder = record(*RECORD)
    app = begin(open_app(folder, page=PAGE), "log")
    field(app, "Your name").set_value("Cleo").run()
    field(app, "Check-in as it was given").set_value("All is well").run()
    app.button("draft-preview").click().run()
    with monkeypatch.context() as patch:
        patch.setattr(form, "append", full)
        app.button("draft-save").click().run()
    assert "No space left on device" in shown(app) and "✓ Saved" not in shown(app)
    assert len(written(folder)) == len(RECORD)
    app.button("draft-save").click().run()
    assert written(folder)[-1].fields == {"text": "All is well"}
    assert len(written(folder)) == len(RECORD) + 1


def test_a_draft_survives_a_change_of_page(record: Callable[..., Path], open_app: Open) -> None:
    app = begin(open_app(record(*RECORD), page=PAGE), "risk")
    field(app, "Risk").set_value("Kernels drift").run()
    app.switch_page("pages/health.py").run()
    app.switch_page(PAGE).run()
    assert field(app, "Risk").value == "Kernels drift"
    app.button("draft-discard").click().run()
    assert "sprint-add" in keys(app) and "draft-preview" not in keys(app)


def test_a_record_with_a_hash_is_read_only(record: Callable[..., Path], open_app: Open) -> None:
    folder = record(*RECORD)
    manifest = folder / "pipeline_manifest.yaml"
    manifest.write_text(manifest.read_text().replace(f"path: {FILE}", f"path: {FILE}\n  sha256: {'0' * 64}"))
    app = open_app(folder, page=PAGE, item="decision:D2")
    assert not app.exception
    assert "Read only: " in shown(app)
    assert not {"sprint-add", "change-decision-D2"} & set(keys(app))
    assert not [key for key in keys(app) if key.startswith("correct-")]


def test_what_is_typed_becomes_the_value_and_is_typed_again() -> None:
    items = ["One", "Two\nand a half", "Three"]
    assert value_of("list", typed("list", items)) == items
    assert value_of("keys", "D3;  WP-A2,D4") == ["D3", "WP-A2", "D4"]
    assert value_of("number", " 3 ") == 3 and value_of("number", "three") == "three"
    assert value_of("text", " a\r\nb ") == "a\nb" and value_of("line", "  ") is None


def test_a_correction_has_the_key_as_it_was_written() -> None:
    wrong = SprintEntry(
        "package", "WP-A1", "2026-02-23", ADA, {"status": "pending", "odd": "kept"}, entry_id="0" * 16
    )
    draft = Draft(
        "package", "WP-A1", wrong.entry_id, {"status": "complete"}, {"status": "pending"}, wrong.fields
    )
    entry = draft.entry(BEN, "2026-02-24")
    assert (entry.key, entry.corrects) == ("WP-A1", wrong.entry_id)
    assert entry.fields == {"status": "complete", "odd": "kept"}
