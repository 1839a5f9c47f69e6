"""Sprint entries of all kinds for hypothesis, with texts that look like the structure of a Markdown file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from proofspan.journal.sprint import EntryKind, SprintEntry, entry_id_of
from proofspan.services.sprint.fields import FIELDS, FieldOf
from proofspan.services.sprint.markdown.blocks import DERIVED
from proofspan.services.sprint.markdown.words import HEADINGS, LEGEND
from proofspan.services.sprint.types import PARTS

#: Lines that mean something to a reader of Markdown, or to ours.
LINES = (
    *("# a", "## Decisions", "### D2 — b (LOCKED)", "### 2026-02-24 — c", "#### part", "---", "***", "==="),
    *(
        "End.",
        "**Pros**",
        "**Orchestrator notes**",
        "**More: x**",
        "- a",
        "  - b",
        "* c",
        "1. d",
        "2) e",
        "```",
    ),
    *(
        "```py",
        "~~~",
        "- ```",
        "  ```",
        "| a | b |",
        "|---|---|",
        "| WP | Stream |",
        "> q",
        "",
        "  ",
        "a",
        "\\",
    ),
    *(
        "\\# a",
        "\\- b",
        "\\```",
        "<script>",
        "\\<b>",
        "a → b",
        "\\→",
        " → ",
        "• a",
        "a\n• b",
        "`a`",
        "`a`, `b`",
    ),
    *("- **Status:** open", "- **Key:** k", "**RISK-1:** r", "- **What ran (commands / environments):** x"),
    *(
        "*2026-02-24 — Ada*",
        "Owner: me",
        "a · b",
        "Complete",
        "✅ Complete",
        "⏳",
        "**Spec**",
        "(PROPOSED)",
        LEGEND,
    ),
    *(
        "SectionMatch@1",
        "SectionMatch@1 ≥ 70%",
        "x ≥ 0.5",
        "**b** (≥ 1/2)",
        "depends on D2",
        "`a`",
        "`a`, `b`",
    ),
    *("Approve D2 → unblocks D3 / WP-A2", "=1+1", "{#key}", "a {#b}", "Sprint record", "WP-A1 — Check-in"),
    *("Day N checkpoint — YYYY-MM-DD", "<br>", "a|b", "\\|", DERIVED, LEGEND, *HEADINGS.values()),
)
_CHARS = st.text(st.sampled_from("aB 1\\|<>#-*_=`~.:•,)/!{}→—é🧪"), min_size=1, max_size=12)
ONE_LINE = (
    st.one_of(
        st.sampled_from(LINES), _CHARS, st.lists(st.sampled_from(LINES), min_size=2, max_size=3).map(" ".join)
    )
    .map(lambda text: text.replace("\n", " ").strip(" \t"))
    .filter(bool)
)
TEXTS = (
    st.lists(st.one_of(st.sampled_from(LINES), _CHARS), min_size=1, max_size=6)
    .map("\n".join)
    .map(lambda text: text.strip(" \t\n"))
    .filter(bool)
)
_KEYS = st.sampled_from(
    ["D1", "D2", "A1", "RISK-1", "x", "notes", "1", "section_match_at_1", "é", "Pros", "a.b"]
)
_SECTIONS = st.one_of(_KEYS, st.sampled_from([*PARTS, "ledger", "authorities", "entries-2"]))
_TIMES = st.sampled_from(["2026-02-23", "2026-02-23T10:00:00Z", "2026-02-24T00:00:00Z", "2026-02-27"])
_THRESHOLDS = st.sampled_from([">= 0.70", ">= 0.7", "<= 0.45", "> 12", "== 0.125", "< 0.1234567", ">= 1.00"])


def _value(field: FieldOf) -> st.SearchStrategy[Any]:
    if field.name == "threshold":
        return _THRESHOLDS
    if field.name == "metric":
        return st.sampled_from(["section_match_at_1", "gt_in_top_20", "other"])
    if field.shape == "choice":
        return st.sampled_from(field.choices)
    return {
        "line": ONE_LINE,
        "text": TEXTS,
        "list": st.lists(TEXTS, min_size=1, max_size=3),
        "keys": st.lists(_KEYS, min_size=1, max_size=2, unique=True),
        "number": st.integers(0, 99),
    }[field.shape]


def _fields(kind: EntryKind) -> st.SearchStrategy[Mapping[str, Any]]:
    known = {each.name: _value(each) for each in FIELDS[kind]}
    if kind == "decision":
        items = st.lists(TEXTS, min_size=1, max_size=2)
        known["more"] = st.lists(
            st.fixed_dictionaries({"heading": ONE_LINE, "items": items}), min_size=1, max_size=2
        )
    if kind == "log":
        part = st.fixed_dictionaries({"title": ONE_LINE}, optional={"text": TEXTS, "notes": TEXTS})
        known["parts"] = st.lists(part, min_size=1, max_size=2)
    if kind == "checkpoint":
        known["date"] = st.sampled_from(["2026-02-23", "2026-02-24"])
        known["text"] = TEXTS
        return st.fixed_dictionaries({"date": known.pop("date")}, optional=known)
    if kind == "checkin":
        known["text"] = TEXTS
    return st.fixed_dictionaries({}, optional=known).filter(bool)


def _entries(kind: EntryKind) -> st.SearchStrategy[SprintEntry]:
    keys = {"section": _SECTIONS, "sprint": st.just(""), "log": st.just(""), "checkpoint": st.just("")}
    authors = ONE_LINE.filter(lambda text: len(text) <= 100)
    made = st.builds(SprintEntry, st.just(kind), keys.get(kind, _KEYS), _TIMES, authors, _fields(kind))
    return made.map(lambda entry: replace(entry, entry_id=entry_id_of(entry)))


#: Entries of any kind, each once.
RECORDS = st.lists(
    st.one_of(*(_entries(kind) for kind in FIELDS)), max_size=6, unique_by=lambda entry: entry.entry_id
)
