"""What is said of attachments: which come first, where they stand, why one is not drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records import Attachment, AttachmentKind
from proofspan.errors import Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, lies_beside
from proofspan.ui.safe import Kind, Piece, coded

SIGNALS: Mapping[AttachmentKind, tuple[str, Kind]] = {
    "warning": ("WARNING", "signal-warning"),
    "caution": ("CAUTION", "signal-caution"),
    "note": ("NOTE", "signal-note"),
}
MEDIA: Mapping[AttachmentKind, str] = {"image": "Picture", "table": "Table", "symbol": "Symbol"}
#: Characters of a text that stands for a caption or for a picture that is not drawn.
EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Arranged:
    """Attachments in the order in which they are shown.

    `notices` and `media` lie in the cited section or on the cited page; `beside` on the pages next to it.
    Notices come by gravity, everything else the nearest first.
    """

    notices: tuple[Attached, ...]
    media: tuple[Attached, ...]
    beside: tuple[Attached, ...]


def arranged(items: Iterable[Attached]) -> Arranged:
    """What belongs to the cited place itself, its notices first, and what only lies beside it."""
    here: list[Attached] = []
    beside: list[Attached] = []
    for item in items:
        (beside if lies_beside(item.by, item.pages_away) else here).append(item)
    notices, media = _parted(here)
    notices_beside, media_beside = _parted(beside)
    return Arranged(notices, media, (*notices_beside, *media_beside))


def heading_of_media(items: Sequence[Attached]) -> str:
    """`Tables and symbols (12)`: what the kinds are, and how many."""
    kinds = {item.attachment.kind for item in items}
    names = [f"{name.lower()}s" for kind, name in MEDIA.items() if kind in kinds]
    listed = ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else ""
    return f"{listed.capitalize()} ({len(items):,})"


def signal(attachment: Attachment) -> list[Piece]:
    """A notice's signal word, the words of its own caption where they say more, and its section."""
    word, kind = SIGNALS[attachment.kind]
    caption = (attachment.caption or "").strip()
    own = [] if caption.casefold() in ("", word.casefold()) else [Piece(f" {_short(caption)}", "strong")]
    where = section(attachment)
    return [Piece(word, kind), *own, *([Piece(f" {where}", "muted")] if where else [])]


def section(attachment: Attachment) -> str:
    """`section 5.4.2`; "" where none is given."""
    section_id = (attachment.section_id or "").strip()
    return f"section {_short(section_id, 80)}" if section_id else ""


def caption(attachment: Attachment) -> str:
    """What stands below a picture: its caption, else the beginning of its text, else its kind."""
    return _short((attachment.caption or "").strip() or attachment.text.strip() or MEDIA[attachment.kind])


def text_instead(attachment: Attachment) -> str:
    """The text that is shown where there is no picture; "" where the caption says it already."""
    text = attachment.text.strip()
    return "" if text == caption(attachment) else text


def alt(attachment: Attachment) -> str:
    """A picture in words, for those who don't see it: `Symbol: Oil pressure. Red Oil pressure …`."""
    words = dict.fromkeys(part.strip() for part in (attachment.caption or "", attachment.text))
    kind = MEDIA.get(attachment.kind) or SIGNALS[attachment.kind][0]
    return _short(f"{kind}: {' '.join(' '.join(words).split())}", 2 * EXCERPT)


def not_drawn(problem: Problem) -> list[Piece]:
    """Why there is no picture, and what mends it; or that it will be there."""
    if problem.code == "being_drawn":
        return [Piece("Being drawn …", "muted")]
    return coded(f"Not drawn: {problem.message}. {_sentence(problem.remedy)}")


def _parted(items: Sequence[Attached]) -> tuple[tuple[Attached, ...], tuple[Attached, ...]]:
    """Notices, the gravest first, and media; otherwise in their order."""
    notices = [item for item in items if item.attachment.kind in SAFETY_KINDS]
    notices.sort(key=lambda item: SAFETY_KINDS.index(item.attachment.kind))
    return tuple(notices), tuple(item for item in items if item.attachment.kind not in SAFETY_KINDS)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _short(text: str, limit: int = EXCERPT) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
