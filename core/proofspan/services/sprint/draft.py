"""Entries before they are saved: what a person or a script gave, and a checkpoint begun from the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import EntryKind, SprintEntry, entry_id_of
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import judge
from proofspan.metrics.values import counted_in_words, metric_value
from proofspan.services.sprint.fold import key_of, without_empty
from proofspan.services.sprint.goals_now import goal_of
from proofspan.services.sprint.types import LedgerRow, SprintRecord
from proofspan.store.query.store import Store

#: The metrics of a checkpoint: those that the sprint plan has goals for.
_GOALS = ("section_match_at_1", "gt_in_top_20")


def drafted(
    kind: EntryKind,
    key: str,
    *,
    at: str,
    author: str,
    fields: Mapping[str, Json],
    corrects: str | None = None,
    keep_empty: bool = False,
) -> SprintEntry:
    """Return an entry of what was given, with its id, not yet checked.

    White space around each text goes, and line ends become line feeds. Empty fields are left out, or with
    `keep_empty` take away what the item has.
    """
    tidy = {name: _tidy(value) for name, value in fields.items()}
    kept = tidy if keep_empty else without_empty(tidy)
    entry = SprintEntry(kind, key_of(kind, key.strip()), at, author.strip(), kept, corrects or None)
    return SprintEntry(entry.kind, entry.key, at, entry.author, kept, entry.corrects, entry_id_of(entry))


def _tidy(value: Json) -> Json:
    """Return a value with its texts stripped; None for an empty one."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n") or None
    if isinstance(value, list | tuple):
        return [each for each in map(_tidy, value) if each is not None and each != {}]
    return (
        without_empty({name: _tidy(each) for name, each in value.items()})
        if isinstance(value, dict)
        else value
    )


def written_now() -> str:
    """Return the time at which a person saves an entry, in UTC to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def checkpoint_draft(
    manifest: Manifest, store: Store | None, record: SprintRecord, date: str
) -> dict[str, Json]:
    """Return the fields of a day's checkpoint that the ledger knows: the day, runs, outputs, numbers, gates.

    `date` is `YYYY-MM-DD`. The day counts from that of the first run. What people have to say is left empty.
    """
    rows = [row for row in record.ledger if (row.ts or "")[:10] == date]
    days = sorted({row.ts[:10] for row in record.ledger if row.ts})
    found: dict[str, Json] = {"date": date}
    if date in days:
        found["day"] = days.index(date) + 1
    if not rows:
        return found
    found["ran"] = "\n".join(f"- {row.run_id}: {row.title or 'a run'}" for row in rows)
    found["outputs"] = "\n".join(_outputs(row) for row in rows)
    if numbers := "\n".join(line for row in rows for line in _numbers(manifest, store, row)):
        found["metrics"] = numbers
    if gates := "\n".join(_gates(store, record, rows[-1].run_id)):
        found["gates"] = gates
    return found


def _outputs(row: LedgerRow) -> str:
    files = ", ".join(f"{path} ({sha256[:12]})" if sha256 else path for path, sha256 in row.outputs)
    return f"- {row.run_id}: {files}"


def _numbers(manifest: Manifest, store: Store | None, row: LedgerRow) -> Iterator[str]:
    """Yield `R004: SectionMatch@1 18 of 37 (R003) → 21 of 37`, a line per metric that both runs have."""
    indexed = store.runs() if store is not None else ()
    wanted = [name for name in (row.baseline, row.run_id) if name in indexed]
    if store is None or row.run_id not in indexed:
        return
    sums = store.run_sums(wanted)
    for metric_id in _GOALS:
        metric = METRICS[metric_id]
        values = [metric_value(metric, sums[name].measures[metric_id]) for name in wanted]
        words = [counted_in_words(value) for value in values if value.value is not None]
        if len(words) == 2:
            yield f"- {row.run_id}: {metric.name} {words[0]} ({row.baseline}) → {words[1]}"
        elif words:
            yield f"- {row.run_id}: {metric.name} {words[0]}"


def _gates(store: Store | None, record: SprintRecord, run_id: str) -> Iterator[str]:
    """Yield the verdict on each goal that can be counted of a run."""
    if store is None or run_id not in store.runs():
        return
    measures = store.run_sums([run_id])[run_id].measures
    for goal in record.goals:
        metric_id = goal.metric_id or ""
        judged = goal_of(goal.item, metric_id)
        if judged is not None and metric_id in measures:
            value = metric_value(METRICS[metric_id], measures[metric_id])
            name = goal.item.line("title") or METRICS[metric_id].name
            yield f"- {name}: {judge(judged, value).why}, {counted_in_words(value)} ({run_id})"
