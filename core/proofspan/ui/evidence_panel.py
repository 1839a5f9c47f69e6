"""What belongs to the chosen passage's place, and how much of the answer's evidence can be shown."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from proofspan.evidence.attachments import Attached
from proofspan.evidence.bundles import Bundle, Level
from proofspan.manifest.types import Manifest
from proofspan.services.desk import Done, Failed, Waiting
from proofspan.services.placer import Placer
from proofspan.ui import safe, waiting
from proofspan.ui.attachment_panels import show_attachments
from proofspan.ui.safe import Piece

LEVELS: Mapping[Level, str] = {
    "full": "Full evidence",
    "safety_citation": "Safety notices and citation",
    "citation_only": "Citation only",
    "text_only": "Text only",
}
#: In place of a level where the answer cites nothing that can be shown: what is retrieved proves no answer.
NOT_CITED = "Retrieved, not cited"
LEVELS_MEAN = (
    "How much of this answer's evidence can be shown: the cited passage on its page with every notice, "
    "picture and table that belongs to it, or less."
)


#: How much of an answer's evidence can be shown, in a word or two, and why.
Judged = tuple[str, str]
Outcome = Done[Judged] | Failed | Waiting


@dataclass(frozen=True, slots=True)
class Belonging:
    """What belongs to the place of the passage `target`, and what draws it."""

    target: str
    found: tuple[Attached, ...]
    manifest: Manifest
    placer: Placer


def level_name(bundle: Bundle) -> str:
    """How much of an answer's evidence its bundle shows, as a badge says it."""
    return NOT_CITED if bundle.citation_origin == "retrieved" else LEVELS[bundle.level]


def belonging(place: Belonging) -> None:
    """The notices, pictures and tables of a place; nothing where there are none."""
    if not place.found:
        return
    safe.show(safe.text([Piece("At this place", "strong")], role="line"))
    digest = hashlib.sha1(place.target.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    show_attachments(place.found, manifest=place.manifest, placer=place.placer, key=f"attached-{digest}")


def level(asked: tuple[Outcome, Hashable] | None) -> None:
    """How much of the answer's evidence a bundle of it can show, with the reason, or that it is being judged.

    Nothing where there is no trace to make a bundle of.
    """
    if asked is None:
        return
    outcome, work = asked
    if isinstance(outcome, Waiting):
        waiting.hint("Checking how much of the evidence can be shown …", [work])
    elif isinstance(outcome, Failed):
        said = f"How much of the evidence can be shown is not known: {outcome.fault.problems[0].message}."
        safe.show(safe.text([Piece(said, "muted")], role="hint"))
    else:
        name, reason = outcome.value
        pieces = [Piece(name, "badge", tip=LEVELS_MEAN), Piece(f" {reason}")]
        safe.show(safe.text(pieces, role="hint", limit=600))
