"""The catalogue as an index needs it: the notices to look for, and what is lost without the file."""

from __future__ import annotations

from dataclasses import dataclass

from proofspan.contracts.records import Attachment, LineIssue
from proofspan.diagnosis.notices import KINDS, MOST_NOTICES, Notices
from proofspan.errors import Fault, Problem
from proofspan.store.sidefile import Loss, SideFile
from proofspan.traces.catalogue import read_catalogue


@dataclass(frozen=True, slots=True)
class Catalogued:
    """The warnings and cautions of a catalogue; None where there is no file, or one without any attachment.

    `issues` are the lines that hold no attachment, `problems` say why the whole file could not be used.
    """

    notices: tuple[Attachment, ...] | None = None
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


NOT_CATALOGUED = Catalogued()
CATALOGUE_LOSS = Loss(
    "catalogue_unusable", "the catalogue", "which warnings the answers leave out is not known"
)


def read_notices(catalogue: SideFile) -> Catalogued:
    """Reads the catalogue's warnings and cautions. A file that is no catalogue at all gives a problem."""
    if catalogue.path is None:
        return NOT_CATALOGUED
    try:
        found, issues = read_catalogue(catalogue.path, file=catalogue.file)
    except Fault as fault:
        return Catalogued(problems=fault.problems)
    notices = tuple(attachment for attachment in found.values() if attachment.kind in KINDS)
    return Catalogued(notices if found else None, tuple(issues))


def crowded_problems(notices: Notices, *, file: str) -> tuple[Problem, ...]:
    """One problem for all sections with more notices than are looked for."""
    if not notices.crowded:
        return ()
    doc_id, section, count = notices.crowded[0]
    others = len(notices.crowded) - 1
    more = f", and so have {others:,} other sections" if others else ""
    message = (
        f"section {section[:80]} of {doc_id[:80] or 'no document'} has {count:,} warnings and cautions"
        f"{more}; only the first {MOST_NOTICES} of a section are looked for in the answers"
    )
    remedy = "give each entry of the catalogue the narrowest section that it stands in"
    return (Problem("section_crowded", message, file, remedy, severity="warning"),)
