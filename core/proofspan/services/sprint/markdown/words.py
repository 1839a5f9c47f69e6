"""The headings, labels and signs of a sprint's record in Markdown, as the sprint plan writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from proofspan.journal.sprint import PackageStatus
from proofspan.services.sprint.fields import FIELDS

TITLE: Final = "Sprint record"
#: The headings of the parts, and of what is only written.
HEADINGS: Final[Mapping[str, str]] = {
    "goals": "Sprint goals",
    "packages": "Work package status",
    "agenda": "Alignment agenda",
    "ledger": "Run ledger",
    "log": "Running log",
    "decisions": "Decisions",
    "risks": "Risks and watch-outs",
    "checkpoint-template": "Daily checkpoint template (copy/paste)",
    "checkin-template": "Work package check-in template (copy/paste under the WP)",
    "entries": "Entries (all of the record; `proofspan sprint import` reads them back)",
}
#: Parts that become no section: templates, and the entries themselves.
UNKEPT: Final = ("checkpoint-template", "checkin-template", "entries")
#: Words in a heading → the part that it opens. The first that fits counts.
_PARTS: Final[tuple[tuple[str, str], ...]] = (
    (r"checkpoint template", "checkpoint-template"),
    (r"check-?in template", "checkin-template"),
    (r"entries\b.*\bimport\b", "entries"),
    (r"work packages?( status)?\b", "packages"),
    (r"(alignment )?agenda\b", "agenda"),
    (r"run ledger$", "ledger"),
    (r"(sprint )?goals\b", "goals"),
    (r"running log\b", "log"),
    (r"decisions\b", "decisions"),
    (r"risks\b", "risks"),
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*[.)]?\s+")
_TEMPLATE = ("checkpoint-template", "checkin-template")


def part_of(heading: str) -> str:
    """Return the part that a heading opens, "" for a heading of its own."""
    words = _NUMBER.sub("", heading, count=1) if _NUMBER.match(heading) else heading
    for pattern, part in _PARTS:
        found = re.search(pattern, words, re.IGNORECASE)
        if found is not None and (part in _TEMPLATE or found.start() == 0):
            return part
    return ""


def slug(heading: str) -> str:
    """Return a section's key: `4) Where things are` has `where-things-are`."""
    words = _NUMBER.sub("", heading, count=1) if _NUMBER.match(heading) else heading
    words = re.sub(r"\s*\([^()]*\)\s*$", "", words) or words
    kept = "".join(char if char.isalnum() else "-" for char in words.casefold())
    return re.sub(r"-+", "-", kept)[:60].strip("-") or "section"


#: The lines at the top of a record, by field; those of `_BOLD` are written in bold.
HEADER: Final[Mapping[str, str]] = {
    each.label: each.name for each in FIELDS["sprint"] if each.name != "title"
}
BOLD: Final = frozenset({"status"})

#: The signs and words of a work package's status; the first word is written.
STATUSES: Final[Mapping[PackageStatus, tuple[str, tuple[str, ...]]]] = {
    "complete": ("✅", ("Complete", "completed", "done")),
    "pending": ("⏳", ("Pending", "next", "next/pending", "todo")),
    "in_progress": ("🧪", ("In progress", "started", "proposed")),
    "blocked": ("🛑", ("Blocked",)),
    "dropped": ("🚫", ("Dropped", "cancelled")),
}
LEGEND: Final = "**Legend:** " + " · ".join(f"{sign} {words[0].lower()}" for sign, words in STATUSES.values())

LEGEND_LINE: Final = r"(?i:\**legend:)"

#: The labels in bold of a decision, as they are written, by field.
LABELS: Final[Mapping[str, str]] = {
    **{each.name: each.label for each in FIELDS["decision"]},
    "spec_from": "Spec from",
}
_ALIASES: Final[Mapping[str, str]] = {
    "decision needed": "decision",
    "cons": "cons",
    "watch-outs": "cons",
    "spec": "spec",
    "next": "next",
    "risks": "cons",
}
#: What comes before the heading of a further list of a decision where it could be one of the labels.
MORE: Final = "More: "
LABEL = re.compile(r"\*\*(.+?)\*\*(:?)[ \t]*$")
SPEC = re.compile(r"(?:proposed )?spec \(from (.+)\)", re.IGNORECASE)


def label_of(words: str) -> str:
    """Return the field of a decision's label in bold, "" for another label."""
    plain = words.rstrip(":").casefold()
    known = {label.casefold(): name for name, label in LABELS.items()}
    return known.get(plain) or _ALIASES.get(plain, "")


#: The label above the notes on a check-in.
NOTES: Final = "Orchestrator notes"
NOTES_LABEL: Final = r"\*\*Orchestrator notes[^*\n]*\*\*:?[ \t]*$"
#: The line below a log entry's heading: its time, the entry that it corrects, its author.
BYLINE: Final = (
    r"\*(\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}Z)?)(?: \(corrects ([0-9a-f]{16})\))? — (.+)\*[ \t]*$"
)
