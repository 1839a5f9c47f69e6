"""The sprint's record as Markdown: what is written is read back, and nothing of a file is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.journal.sprint import SprintEntry, entry_id_of, entry_problems
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.markdown.blocks import (
    cell,
    cells_of,
    fenced,
    guard,
    item,
    items_of,
    list_cell,
    of_cell,
    of_list_cell,
    read,
    written,
)
from proofspan.services.sprint.markdown.plan import Plan, file_text, plan
from proofspan.services.sprint.markdown.read import read_markdown
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.record import record_of
from proofspan.services.sprint.types import SprintRecord
from tests.sprint_records import RECORDS, TEXTS

HERE = Manifest("Name", Path())
AT = "2026-02-23"
KEPT = guard(3, r"\*\*Orchestrator")


def record(entries: Sequence[SprintEntry]) -> SprintRecord:
    return record_of((tuple(entries), ()), HERE, None)


def imported(text: str, existing: Sequence[SprintEntry] = (), **options: str) -> Plan:
    return plan(text, existing, file="f.md", **({"author": "Ada", "at": AT} | options))


def content(entries: Sequence[SprintEntry]) -> Any:
    """The visible part of a file: items with their fields, in their order, and the log."""
    found = record(entries)
    items = [*(goal.item for goal in found.goals), *found.packages, *found.decisions, *found.risks]
    return (
        found.sprint and dict(found.sprint.fields),
        [(each.kind, each.key, dict(each.fields)) for each in items],
        [(each.key, dict(each.fields)) for each in found.sections],
        [(each.kind, each.key, each.at, each.author, dict(each.fields)) for each in found.log],
    )


@settings(max_examples=60)
@given(entries=RECORDS)
def test_a_record_is_read_back_from_what_people_see_of_it(entries: list[SprintEntry]) -> None:
    assert [problem for entry in entries for problem in entry_problems(entry)] == []
    found = imported(markdown_of(record(entries), entries=False))
    assert (found.issues, content(found.entries)) == ((), content(entries))


@settings(max_examples=40)
@given(entries=RECORDS)
def test_every_entry_is_read_back_and_importing_again_adds_nothing(entries: list[SprintEntry]) -> None:
    text = markdown_of(record(entries))
    found = imported(text)
    assert list(found.entries) == entries
    assert imported(text, entries).entries == ()


@given(text=TEXTS)
def test_a_text_is_read_back_whatever_it_looks_like(text: str) -> None:
    lines = written(text, KEPT)
    assert read(lines, KEPT) == text
    assert fenced([*lines, "after"])[-1] == 0
    assert of_cell(cells_of(f"| {cell(text)} |")[0]) == text


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_lists_are_read_back_whatever_is_in_them(texts: list[str]) -> None:
    lines = [line for text in texts for line in item(text, KEPT)]
    assert [read(block.lines, KEPT) for block in items_of(lines, 1)] == texts
    assert of_list_cell(cells_of(f"| {list_cell(texts)} | x |")[0]) == texts


@pytest.mark.parametrize(
    "entry",
    [
        SprintEntry("goal", "D1", AT, "Ada", {"title": "SectionMatch@1"}),  # whose title names a metric
        SprintEntry(
            "goal", "x", AT, "Ada", {"title": "MRR", "metric": "gt_in_top_20", "threshold": ">= 0.5"}
        ),
        SprintEntry("package", "A", AT, "Ada", {"status_note": "**Pros**", "title": "<br>"}),
        SprintEntry("package", "A", AT, "Ada", {"artifacts": ["\\\n# a", "`b`"], "notes": "depends on D2"}),
        SprintEntry("decision", "D2", AT, "Ada", {"more": [{"heading": "Pros", "items": ["- ```\n  ```"]}]}),
        SprintEntry("goal", "x", AT, "Ada", {"title": "x", "criteria": ["__", "- -", "***"]}),
        SprintEntry("section", "ledger", AT, "Ada", {"title": "Run ledger"}),
        SprintEntry("section", "preface", AT, "Ada", {"title": "Decisions", "text": "1. d"}),
    ],
    ids=lambda entry: f"{entry.kind}-{entry.key}",
)
def test_an_item_that_looks_like_another_is_read_back(entry: SprintEntry) -> None:
    found = imported(markdown_of(record([entry]), entries=False)).entries
    assert [(each.kind, each.key, each.fields) for each in found] == [(entry.kind, entry.key, entry.fields)]


PLAN = """\
# Four days on search (v2)
Date created: 2026-03-02 (UTC)
Status: **Active**
Owner: Grace H.

---

## 0) Authorities
1. **manifest.yaml** — every path

---

## 1) Goals
- **SectionMatch@1 ≥ 70%** (≥ 26/37)
- **GT-in-top-20 ≥ 90%** (≥ 34/37)
- Evidence readiness:
  - pictures render

## 3) Work Package status (update this first)
| WP | Stream | Status | Primary artifact(s) | Notes |
|---:|---|---|---|---|
| A0 | Index | ✅ Complete | `a.md`, `b.md` | pinned \\| logged |
| A1 | Index | 🧪 **Draft PROPOSED** | `c.md` |
| A2 | Rank | ⏳ Pending | | waits (depends on D2 → D3) | one more cell |
| | Rank | 🛑 Blocked | | nobody's row |

**Legend:** ✅ complete · ⏳ next/pending · 🧪 in progress · 🛑 blocked

## 3.1) Agenda (today)
- **Approve D2** → unblocks **D3 / WP-A2**.

## 5) Running log
> Add below.

### 2026-03-02 — First day
**What happened**
- Index built.

**Orchestrator notes (add)**
- ⚠️ Watch the ties.

#### WP-A1 — Draft (PROPOSED)
- Text of the draft.

**Orchestrator notes**
- Good.

### Day 1 checkpoint — 2026-03-02
- **What we attempted (1–3 bullets):** the index
- **What ran (commands / environments):**
  ```sh
  # one run
  make run
  ```

### WP-A1 — Check-in
- **Check-out scope:** the draft

### Some day
Not dated.

## 6) Decisions
### D-X-01 — Models only if pinned (LOCKED)
**Decision**
- Only if pinned.

**Pros**
- Fast.

**Cons / watch-outs**
- Work.
  - And more.

**Mitigation**
- A stop rule.

### D3 — Rerank (PENDING; depends on D2 approval)
**Decision needed**
- Rerank 20.

**Stop rule**
- Two runs.

**Owner / next**
- Today.

**Open questions**
- Which model?

### Thoughts about it
Nobody decided this.

## 7) Risks & watch-outs
- **RISK-1:** Drift → mitigated by pinning.
- something unnamed

## 8) Daily checkpoint template (copy/paste)
### Day N checkpoint — YYYY-MM-DD
- **What we attempted (1–3 bullets):**

## 9) Ideas nobody asked for
- A list.

---
End.
"""


def test_the_structure_of_a_sprint_plan(golden: Callable[[str, str], None]) -> None:
    found = read_markdown(PLAN)
    lines = [f"{each.line}: {each.kind} {each.key} {each.at or ''} {each.fields}" for each in found.found]
    golden("sprint/structure", "\n".join([*lines, *map(str, found.leftovers)]))


def test_the_export_of_a_sprint_plan(golden: Callable[[str, str], None]) -> None:
    entries = imported(PLAN, author="", at="").entries
    assert {(entry.author, entry.at) for entry in entries} == {("Grace H.", "2026-03-02")}
    text = markdown_of(record(entries), entries=False)
    golden("sprint/export", text)
    assert content(imported(text).entries)[1:3] == content(entries)[1:3]


def test_importing_a_changed_file_adds_what_changed_and_takes_nothing_away() -> None:
    first = imported(PLAN).entries
    page = SprintEntry("decision", "D3", "2026-03-03T09:00:00Z", "Ben", {"state": "LOCKED", "owner": "Ben"})
    existing = [*first, replace(page, entry_id=entry_id_of(page))]
    assert imported(PLAN, existing).entries == ()
    (entry,) = imported(PLAN.replace("⏳ Pending", "✅ Complete"), existing).entries
    assert (entry.key, entry.fields["status"]) == ("A2", "complete")


def test_the_sign_of_a_status_that_lost_bytes_is_known_from_the_legend() -> None:
    damaged = PLAN.replace("⏳", "â³")
    (package,) = (each for each in read_markdown(damaged).found if each.key == "A2")
    assert package.fields["status"] == "pending"


def test_hostile_texts_change_no_structure() -> None:
    hostile = (
        "## Decisions\n### D9 — x (LOCKED)\n---\n| WP | Stream |\n|---|---|\n| Z9 | x |\n```\n=1+1<script>"
    )
    entry = SprintEntry("log", "", AT, "Ada", {"text": hostile, "title": "# a | b <img>"})
    text = markdown_of(record([replace(entry, entry_id=entry_id_of(entry))]), entries=False)
    assert "<script" not in text.replace("\\<", "")
    assert "<img" not in text.replace("\\<", "")
    found = imported(text).entries
    assert [(each.kind, dict(each.fields)) for each in found] == [("log", dict(entry.fields))]


@pytest.mark.parametrize(
    "text", ["", "\n", "End.\n", "plain text", "| WP |", "|---|", "## ", "#", "```\n# a"]
)
def test_files_without_structure_are_read(text: str) -> None:
    assert all(each.kind in ("section", "sprint") for each in read_markdown(text).found)


@pytest.mark.parametrize("char", ["\\", "|", "`", "→", "<b"])
def test_a_line_of_a_megabyte_is_read(char: str) -> None:
    lines = char * (1_000_000 // len(char))
    table = f"## Work packages\n| WP | Notes |\n|---|---|\n| A1 | {lines} |"
    text = f"## Goals\n- {lines}\n{table}\n## Risks\n- {lines}"
    assert {each.kind for each in read_markdown(text).found} >= {"goal", "package", "risk"}


def test_what_cannot_be_kept_is_named_with_its_line() -> None:
    text = PLAN.replace("Fast.", "Fa\x07st.").replace("A list.", "x" * 100_001)
    found = imported(text)
    assert [(issue.source.line, issue.code) for issue in found.issues] == [
        (PLAN[: PLAN.index("### D-X-01")].count("\n") + 1, "bad_pros"),
        (PLAN[: PLAN.index("## 9)")].count("\n") + 1, "bad_text"),
    ]
    assert len(found.entries) == len(imported(PLAN).entries) - 2


def test_a_file_without_author_or_date_says_what_to_pass() -> None:
    for options, fix in (({"author": ""}, "--author"), ({"at": ""}, "--at")):
        with pytest.raises(InputFault, match=fix):
            imported("## Notes\nx", **options)


def test_a_file_of_another_encoding_is_named_and_read_on_request(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_bytes(PLAN.encode().decode("cp1254", "ignore").encode())
    with pytest.raises(InputFault) as fault:
        file_text(path, fix_encoding=False)
    assert (fault.value.problems[0].code, fault.value.problems[0].where) == ("wrong_encoding", f"{path}:9")
    text, repairs = file_text(path, fix_encoding=True)
    assert (text, sum(repairs.values()) > 5) == (PLAN, True)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputFault, match="not UTF-8"):
        file_text(path, fix_encoding=True)
