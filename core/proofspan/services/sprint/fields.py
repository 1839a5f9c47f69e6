"""The fields that people fill in: of items, and of the sprint plan's two templates with its own labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from proofspan.journal.sprint import DECISION_STATES, PACKAGE_STATUSES, EntryKind

#: One line, a text of several, a list of texts, a list of keys, a number, or one of `choices`.
Shape = Literal["line", "text", "list", "keys", "number", "choice"]


class FieldOf(NamedTuple):
    """A field of an entry: its name in the record, its label for people, and what it takes."""

    name: str
    label: str
    shape: Shape = "line"
    choices: tuple[str, ...] = ()


#: Source: daily checkpoint and work package check-in of the sprint plan (docs/requirements.md).
CHECKPOINT: Final = (
    FieldOf("attempted", "What we attempted (1–3 bullets)", "text"),
    FieldOf("changed", "What changed (files / commits)", "text"),
    FieldOf("ran", "What ran (commands / environments)", "text"),
    FieldOf("outputs", "Outputs (artifacts + hashes)", "text"),
    FieldOf("metrics", "Metrics (before/after)", "text"),
    FieldOf("gates", "Gates (pass/fail + why)", "text"),
    FieldOf("decisions", "Decisions made / pending", "text"),
    FieldOf("risks", "Risks / watch-outs", "text"),
    FieldOf("plan", "Next 24h plan", "text"),
)
CHECKIN: Final = (
    FieldOf("scope", "Check-out scope", "text"),
    FieldOf("changes", "Changes made", "text"),
    FieldOf("runs", "Runs executed", "text"),
    FieldOf("produced", "Artifacts produced", "text"),
    FieldOf("results", "Acceptance criteria results", "text"),
    FieldOf("rationale", "Stop/pivot rationale (if any)", "text"),
    FieldOf("recommendation", "Recommendation (next step)", "text"),
)
_TITLE = FieldOf("title", "Title")

#: The fields of each kind in the order of a form.
FIELDS: Final[Mapping[EntryKind, tuple[FieldOf, ...]]] = {
    "sprint": (
        _TITLE,
        FieldOf("created", "Date created"),
        FieldOf("status", "Status"),
        FieldOf("owner", "Owner"),
        FieldOf("purpose", "Purpose"),
        FieldOf("rule", "Rule"),
    ),
    "goal": (
        _TITLE,
        FieldOf("metric", "Metric"),
        FieldOf("threshold", "Threshold"),
        FieldOf("needed", "Needed", "number"),
        FieldOf("questions", "Of questions", "number"),
        FieldOf("status", "Status"),
        FieldOf("criteria", "Criteria", "list"),
    ),
    "package": (
        _TITLE,
        FieldOf("stream", "Stream"),
        FieldOf("status", "Status", "choice", PACKAGE_STATUSES),
        FieldOf("status_note", "Status in words"),
        FieldOf("artifacts", "Primary artifacts", "list"),
        FieldOf("notes", "Notes", "text"),
        FieldOf("depends_on", "Depends on", "keys"),
        FieldOf("unblocks", "Unblocks", "keys"),
        FieldOf("owner", "Owner"),
        FieldOf("next", "Next step", "list"),
    ),
    "decision": (
        _TITLE,
        FieldOf("state", "State", "choice", DECISION_STATES),
        FieldOf("state_note", "State in words"),
        FieldOf("decision", "Decision", "list"),
        FieldOf("spec", "Proposed spec", "list"),
        FieldOf("spec_from", "Spec from"),
        FieldOf("pros", "Pros", "list"),
        FieldOf("cons", "Cons / watch-outs", "list"),
        FieldOf("mitigation", "Mitigation", "list"),
        FieldOf("stop_rule", "Stop rule", "list"),
        FieldOf("future_work", "Future work", "list"),
        FieldOf("owner", "Owner"),
        FieldOf("next", "Owner / next", "list"),
        FieldOf("depends_on", "Depends on", "keys"),
        FieldOf("unblocks", "Unblocks", "keys"),
    ),
    "risk": (
        FieldOf("text", "Risk", "text"),
        FieldOf("mitigation", "Mitigation", "list"),
        FieldOf("status", "Status"),
        FieldOf("owner", "Owner"),
    ),
    "log": (
        _TITLE,
        FieldOf("text", "Check-in as it was given", "text"),
        FieldOf("notes", "Orchestrator notes", "text"),
    ),
    "checkpoint": (FieldOf("day", "Day", "number"), FieldOf("date", "Date"), *CHECKPOINT),
    "checkin": (_TITLE, *CHECKIN),
    "section": (_TITLE, FieldOf("text", "Text", "text")),
}
