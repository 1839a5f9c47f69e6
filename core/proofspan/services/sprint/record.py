"""The sprint's record as a whole: entries, goals against the runs, ledger, agenda."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from proofspan.errors import ManifestFault
from proofspan.journal.sprint import Record, read_sprint, refusal
from proofspan.manifest.paths import journal_path
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.fold import Links, fold, links
from proofspan.services.sprint.goals_now import goals_now
from proofspan.services.sprint.ledger import ledger, sums_of
from proofspan.services.sprint.types import AgendaItem, Item, SprintRecord
from proofspan.services.stop_rule import stop_rules
from proofspan.store.query.store import Store

#: The states in which a decision or a work package no longer keeps others waiting.
_DONE = frozenset({"ACCEPTED", "LOCKED", "complete"})


def sprint_record(manifest: Manifest, store: Store | None) -> SprintRecord:
    """Return the workspace's record; without a store, goals and ledger have no numbers.

    Raises ManifestFault if the path of the record is refused, InputFault if it cannot be read.
    """
    return record_of(read_sprint(manifest), manifest, store)


def record_of(read: Record, manifest: Manifest, store: Store | None) -> SprintRecord:
    """Return what some entries add up to in a workspace."""
    entries, issues = read
    folded = fold(entries)
    decisions, packages = folded.of("decision"), folded.of("package")
    linked = links(decisions, packages)
    sprint = next(iter(folded.of("sprint")), None)
    sums = sums_of(manifest, store)
    return SprintRecord(
        title=(sprint.line("title") if sprint is not None else "") or manifest.name,
        sprint=sprint,
        goals=goals_now(manifest, store, folded.of("goal"), sums),
        packages=packages,
        decisions=decisions,
        risks=folded.of("risk"),
        agenda=tuple(agenda(decisions, packages, linked)),
        ledger=ledger(manifest, sums),
        log=folded.log[::-1],
        sections=folded.of("section"),
        entries=entries,
        stopped=_stopped(manifest, store),
        issues=issues,
        problems=linked.problems,
        can_write=why_not_writable(manifest),
        unblocks=linked.unblocks,
        waits_for=linked.waits_for,
        corrected=folded.corrected,
    )


def agenda(decisions: Sequence[Item], packages: Sequence[Item], linked: Links) -> Iterator[AgendaItem]:
    """Yield what is open: decisions, then work that can begin, then what waits for others."""
    done = {item.name for item in (*decisions, *packages) if _state(item) in _DONE}
    waiting: list[AgendaItem] = []
    ready: list[AgendaItem] = []
    for item in (*decisions, *packages):
        state = _state(item)
        if state not in ("PROPOSED", "PENDING", "pending", "blocked"):
            continue
        title = item.line("title") or item.line("stream")
        named = f"{item.name}: {title}" if title else item.name
        after = linked.unblocks.get(item.name, ())
        before = tuple(name for name in linked.waits_for.get(item.name, ()) if name not in done)
        if before or state == "blocked":
            waiting.append(AgendaItem(f"{named} waits", item, after, before, "wait"))
        elif item.kind == "decision":
            verb = "Approve or adjust" if state == "PROPOSED" else "Decide"
            yield AgendaItem(f"{verb} {named}", item, after)
        else:
            ready.append(AgendaItem(f"Begin {named}", item, after, (), "do"))
    yield from (*ready, *waiting)


def _state(item: Item) -> str:
    return item.line("state" if item.kind == "decision" else "status")


def why_not_writable(manifest: Manifest) -> str:
    """Return why nothing can be added to the record, with what to do about it; "" if it can."""
    problem = refusal(manifest)
    if problem is not None or manifest.sprint is None:
        return "" if problem is None else f"{problem.message}: {problem.fix}"
    try:
        path = journal_path(manifest, manifest.sprint)
    except ManifestFault as fault:
        return fault.problems[0].message
    wanted = path if os.path.lexists(path) else path.parent
    if path.is_symlink() or not os.access(wanted, os.W_OK):
        return f"{wanted} cannot be written"
    return ""


def _stopped(manifest: Manifest, store: Store | None) -> tuple[str, ...]:
    """Return a sentence for each class of runs for which the stop rule is raised."""
    return () if store is None else tuple(each.sentence for each in stop_rules(store, manifest))
