"""Warnings and cautions that an answer may leave out, in words: what they say, what was looked for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Attachment, AttachmentKind
from proofspan.diagnosis.safety import SafetyOmission
from proofspan.errors import Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached
from proofspan.services.question.view import QuestionView
from proofspan.ui.widgets.markup import Kind, Piece, coded
from proofspan.ui.widgets.text import counted

#: So many notices are told, the rest is counted; so many words of each are named.
MAX_TOLD = 3
MAX_WORDS = 12
#: Characters of a notice that are shown; the page has the rest.
EXCERPT = 56
#: Characters of a word that are shown: a text without a space is one word.
WORD_CHARS = 40


@dataclass(frozen=True, slots=True)
class NoticeWay:
    """Where a notice that may be left out stands: a 0-based page, and a citation of the same document."""

    kind: AttachmentKind
    page_idx: int
    cite: int
    attachment_id: str

    @property
    def words(self) -> str:
        """`Show the WARNING on p. 42`."""
        return f"Show the {SIGNALS[self.kind][0]} on p. {self.page_idx + 1:,}"


def omission_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """`Safety`: `WARNING on p. 58 is not mentioned: “Keep your hands …”`.

    What was looked for, and found, is the tip of "is not mentioned". No row where nothing is left out, or
    where that cannot be known. Pages count from 1, as everywhere on the page.
    """
    omissions = view.omissions or ()
    told = [_told(omission) for omission in omissions[:MAX_TOLD]]
    if len(omissions) > MAX_TOLD:
        told.append([Piece(f"and {len(omissions) - MAX_TOLD:,} more warnings and cautions", "muted")])
    return list(zip(["Safety", *[""] * len(told)], told, strict=False))


def notice_ways(view: QuestionView) -> list[NoticeWay]:
    """The way to each notice that is told; none to one of a document that no citation opens."""
    opened_by = {item.citation.doc_id: item.citation.number for item in reversed(view.citations)}
    return [
        NoticeWay(omission.kind, omission.page_idx, cite, omission.attachment_id)
        for omission in (view.omissions or ())[:MAX_TOLD]
        if omission.page_idx is not None and (cite := opened_by.get(omission.doc_id)) is not None
    ]


def _told(omission: SafetyOmission) -> list[Piece]:
    word, kind = SIGNALS[omission.kind]
    section = (omission.section_id or "").strip()[:80]
    of_section = f" of section {section}" if section else ""
    where = of_section if omission.page_idx is None else f" on p. {omission.page_idx + 1:,}"
    line = " ".join(omission.text.split())
    shown = line if len(line) <= EXCERPT else f"{line[:EXCERPT].rsplit(' ', 1)[0]} …"
    return [
        Piece(word, kind),
        Piece(f"{where} " if where else " "),
        Piece("is not mentioned", tip=_words(omission)),
        Piece(f": “{shown}”"),
    ]


def _words(omission: SafetyOmission) -> str:
    """`Of 13 words looked for 1 was found: engine. Not found: hands, hair, …`."""
    missing = [word for word in omission.words if word not in omission.found]
    count = len(omission.found)
    found = f"{count} {'was' if count == 1 else 'were'} found" if count else "none was found"
    named = (
        f": {_listed(omission.found)}. Not found: {_listed(missing)}" if count else f": {_listed(missing)}"
    )
    return f"Of {counted(len(omission.words), 'word')} looked for {found}{named}."


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    shown = (word if len(word) <= WORD_CHARS else f"{word[:WORD_CHARS]}…" for word in words[:MAX_WORDS])
    return ", ".join(shown) + more


# What is said of attachments: which come first, where they stand, why one is not drawn. Pure.

SIGNALS: Mapping[AttachmentKind, tuple[str, Kind]] = {
    "warning": ("WARNING", "signal-warning"),
    "caution": ("CAUTION", "signal-caution"),
    "note": ("NOTE", "signal-note"),
}
MEDIA: Mapping[AttachmentKind, str] = {"image": "Picture", "table": "Table", "symbol": "Symbol"}
#: Characters of a text that stands for a caption or for a picture that is not drawn.
ATTACHMENT_EXCERPT = 300


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
        (beside if item.is_beside else here).append(item)
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
    return _short(f"{kind}: {' '.join(' '.join(words).split())}", 2 * ATTACHMENT_EXCERPT)


def not_drawn(problem: Problem) -> list[Piece]:
    """Why there is no picture, and what mends it; or that it will be there."""
    if problem.code == "being_drawn":
        return [Piece("Being drawn …", "muted")]
    return coded(f"Not drawn: {problem.message}. {_sentence(problem.fix)}")


def _parted(items: Sequence[Attached]) -> tuple[tuple[Attached, ...], tuple[Attached, ...]]:
    """Notices, the gravest first, and media; otherwise in their order."""
    notices = [item for item in items if item.attachment.kind in SAFETY_KINDS]
    notices.sort(key=lambda item: SAFETY_KINDS.index(item.attachment.kind))
    return tuple(notices), tuple(item for item in items if item.attachment.kind not in SAFETY_KINDS)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _short(text: str, limit: int = ATTACHMENT_EXCERPT) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
