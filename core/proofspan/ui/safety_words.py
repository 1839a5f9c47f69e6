"""Warnings and cautions that an answer may leave out, in words: what they say, what was looked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofspan.contracts.records import AttachmentKind
from proofspan.diagnosis.safety import SafetyOmission
from proofspan.services.questions import QuestionView
from proofspan.ui.attachment_words import SIGNALS
from proofspan.ui.safe import Piece
from proofspan.ui.words import counted

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
