"""The section fence: one segment of an answer cites one section, unless a whitelist says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding, Placed, shown

#: So many sections are named in a message.
NAMED = 4


def cross_section(sections: Sequence[str | None], context: Context) -> Iterator[Placed]:
    """One finding where a segment cites several sections, at the first citation of another one.

    `sections` are those of the segment's citations in order, None where one is not known.
    """
    if context.allow_cross:
        return
    fenced = [
        (place, section)
        for place, section in enumerate(sections, start=1)
        if section and section not in context.cross_sections
    ]
    named = dict.fromkeys(section for _, section in fenced)
    if len(named) < 2:
        return
    place = next(place for place, section in fenced if section != fenced[0][1])
    listed = ", ".join(shown(section) for section in list(named)[:NAMED])
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    said = f"one segment cites the sections {listed}{more}"
    yield place, Finding("cross_section_reuse", "section_id", said)
