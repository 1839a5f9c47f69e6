"""Wording of safety notices that an answer may omit, and of attachments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Attachment, AttachmentKind
from proofspan.diagnosis.safety import SafetyOmission
from proofspan.errors import Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached
from proofspan.services.question.view import QuestionView
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.text import sentence_start
from proofspan.wording import counted

#: Notices named, and words named of each; the rest is counted.
MAX_NOTICES = 3
MAX_WORDS = 12
#: Characters shown of a notice, and of a word.
EXCERPT = 56
WORD_CHARS = 40


@dataclass(frozen=True, slots=True)
class NoticeWay:
    """The place of a notice that may be omitted: a 0-based page, and a citation of the same document."""

    kind: AttachmentKind
    page_idx: int
    cite: int
    attachment_id: str

    @property
    def words(self) -> str:
        """Return `Show the WARNING on p. 42`."""
        return f"Show the {SIGNALS[self.kind][0]} on p. {self.page_idx + 1:,}"


def omission_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """Return the rows `Safety`: `WARNING on p. 58 is not mentioned: “Keep your hands …”`.

    The tip of "is not mentioned" lists the words that were looked for and found.
    """
    omissions = view.omissions or ()
    rows = [_omission(omission) for omission in omissions[:MAX_NOTICES]]
    if len(omissions) > MAX_NOTICES:
        rows.append([Piece(f"and {len(omissions) - MAX_NOTICES:,} more warnings and cautions", "muted")])
    return list(zip(["Safety", *[""] * len(rows)], rows, strict=False))


def notice_ways(view: QuestionView) -> list[NoticeWay]:
    """Return the way to each notice of `omission_rows` whose document a citation opens."""
    opened_by = {item.citation.doc_id: item.citation.number for item in reversed(view.citations)}
    return [
        NoticeWay(omission.kind, omission.page_idx, cite, omission.attachment_id)
        for omission in (view.omissions or ())[:MAX_NOTICES]
        if omission.page_idx is not None and (cite := opened_by.get(omission.doc_id)) is not None
    ]


def _omission(omission: SafetyOmission) -> list[Piece]:
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
    """Return `Found 1 of 13 words: engine. Not found: hands, hair, …`."""
    missing = [word for word in omission.words if word not in omission.found]
    words = counted(len(omission.words), "word")
    if not omission.found:
        return f"Found none of {words}: {_listed(missing)}."
    named = _listed(omission.found)
    return f"Found {len(omission.found)} of {words}: {named}. Not found: {_listed(missing)}."


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    shown = (word if len(word) <= WORD_CHARS else f"{word[:WORD_CHARS]}…" for word in words[:MAX_WORDS])
    return ", ".join(shown) + more


# Attachments: their order, their names, and why one is not drawn.

SIGNALS: Mapping[AttachmentKind, tuple[str, Kind]] = {
    "warning": ("WARNING", "signal-warning"),
    "caution": ("CAUTION", "signal-caution"),
    "note": ("NOTE", "signal-note"),
}
MEDIA: Mapping[AttachmentKind, str] = {"image": "Picture", "table": "Table", "symbol": "Symbol"}
BESIDE = "On the pages before and after"
#: Characters of a caption, or of a text instead of one.
ATTACHMENT_EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Arranged:
    """Attachments in the order in which they are shown.

    `notices` and `media` are in the cited section or on the cited page, `beside` on the pages next to it.
    Notices are sorted by gravity, everything else by distance.
    """

    notices: tuple[Attached, ...]
    media: tuple[Attached, ...]
    beside: tuple[Attached, ...]


def arranged(items: Iterable[Attached]) -> Arranged:
    """Return the attachments of the cited place, notices first, and those beside it."""
    listed = sorted(items, key=_gravity)
    here = [item for item in listed if not item.is_beside]
    notices = tuple(item for item in here if item.attachment.kind in SAFETY_KINDS)
    media = tuple(item for item in here if item.attachment.kind not in SAFETY_KINDS)
    return Arranged(notices, media, tuple(item for item in listed if item.is_beside))


def _gravity(item: Attached) -> int:
    kind = item.attachment.kind
    return SAFETY_KINDS.index(kind) if kind in SAFETY_KINDS else len(SAFETY_KINDS)


def heading_of_media(items: Sequence[Attached]) -> str:
    """Return the kinds and their number: `Tables and symbols (12)`."""
    kinds = {item.attachment.kind for item in items}
    names = [f"{name.lower()}s" for kind, name in MEDIA.items() if kind in kinds]
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{listed.capitalize()} ({len(items):,})"


def signal(attachment: Attachment) -> tuple[str, str]:
    """Return a notice's signal word and title; for media "" and the caption."""
    if attachment.kind not in SIGNALS:
        return "", caption(attachment)
    word, title = SIGNALS[attachment.kind][0], " ".join((attachment.caption or "").split())
    return word, "" if title.casefold() == word.casefold() else _short(title)


def section(attachment: Attachment) -> str:
    """Return `section 5.4.2`, or "" without a section."""
    section_id = (attachment.section_id or "").strip()
    return f"section {_short(section_id, 80)}" if section_id else ""


def caption(attachment: Attachment) -> str:
    """Return the line below a picture: its caption, else the beginning of its text, else its kind."""
    return _short((attachment.caption or "").strip() or attachment.text.strip() or MEDIA[attachment.kind])


def text_instead(attachment: Attachment) -> str:
    """Return the text to show if there is no picture; "" if the caption already says it."""
    text = attachment.text.strip()
    return "" if text == caption(attachment) else text


def alt(attachment: Attachment) -> str:
    """Return the alternative text of a picture: `Symbol: Oil pressure. Red Oil pressure …`."""
    words = dict.fromkeys(part.strip() for part in (attachment.caption or "", attachment.text))
    kind = MEDIA.get(attachment.kind) or SIGNALS[attachment.kind][0]
    return _short(f"{kind}: {' '.join(' '.join(words).split())}", 2 * ATTACHMENT_EXCERPT)


def not_drawn(problem: Problem) -> str:
    """Return why there is no picture and how to fix it, or that it is being drawn."""
    if problem.code == "being_drawn":
        return "Being drawn …"
    fix = f" {sentence_start(problem.fix)}." if problem.fix else ""
    return f"Not drawn: {problem.message}.{fix}".replace("`", "")


def _short(text: str, limit: int = ATTACHMENT_EXCERPT) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
