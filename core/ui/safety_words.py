"""Warnings and cautions that an answer may leave out, in words: what they say, what was looked for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.services.questions import QuestionView
from core.triage.safety import SafetyOmission
from core.ui.attachment_words import SIGNALS
from core.ui.safe import Piece
from core.ui.words import counted

#: So many notices are told, the rest is counted; so many words of each are named.
MAX_TOLD = 3
MAX_WORDS = 12
#: Characters of a notice that are shown; the page has the rest.
EXCERPT = 110
#: Characters of a word that are shown: a text without a space is one word.
WORD_CHARS = 40


@dataclass(frozen=True, slots=True)
class NoticePage:
    """Where a notice that may be left out stands: a 0-based page, and a citation of the same document."""

    words: str
    page_idx: int
    cite: int


def omission_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """`May omit`: `WARNING of section 7.3.2, p. 58, not mentioned: “Keep your hands …” · of 13 words …`.

    No row where nothing is left out, or where that cannot be known. Pages count from 1, as everywhere on the
    page.
    """
    omissions = view.omissions or ()
    told = [_told(omission) for omission in omissions[:MAX_TOLD]]
    if len(omissions) > MAX_TOLD:
        told.append([Piece(f"and {len(omissions) - MAX_TOLD:,} more warnings and cautions", "muted")])
    return list(zip(["May omit", *[""] * len(told)], told, strict=False))


def notice_pages(view: QuestionView) -> list[NoticePage]:
    """The pages of the notices that are told, each once; none of a document that no citation opens."""
    opened_by = {item.citation.doc_id: item.citation.number for item in reversed(view.citations)}
    found: dict[tuple[int, int], list[SafetyOmission]] = {}
    for omission in (view.omissions or ())[:MAX_TOLD]:
        cite = opened_by.get(omission.doc_id)
        if cite is not None and omission.page_idx is not None:
            found.setdefault((cite, omission.page_idx), []).append(omission)
    return [NoticePage(_way(there, page_idx), page_idx, cite) for (cite, page_idx), there in found.items()]


def _way(omissions: Sequence[SafetyOmission], page_idx: int) -> str:
    what = SIGNALS[omissions[0].kind][0] if len(omissions) == 1 else f"{len(omissions)} notices"
    return f"Show the {what} on p. {page_idx + 1}"


def _told(omission: SafetyOmission) -> list[Piece]:
    word, kind = SIGNALS[omission.kind]
    where = "" if omission.page_idx is None else f", p. {omission.page_idx + 1}"
    line = " ".join(omission.text.split())
    shown = line if len(line) <= EXCERPT else f"{line[:EXCERPT].rsplit(' ', 1)[0]} …"
    return [
        Piece(word, kind),
        Piece(f"{_of_section(omission)}{where}, not mentioned: “{shown}”", tip=line if shown != line else ""),
        Piece(_words(omission), "muted"),
    ]


def _words(omission: SafetyOmission) -> str:
    """` · of 13 words looked for 1 was found: engine · not hands, hair, …`."""
    missing = [word for word in omission.words if word not in omission.found]
    count = len(omission.found)
    found = f"{count} {'was' if count == 1 else 'were'} found" if count else "none was found"
    named = f": {_listed(omission.found)} · not {_listed(missing)}" if count else f": {_listed(missing)}"
    return f" · of {counted(len(omission.words), 'word')} looked for {found}{named}"


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    shown = (word if len(word) <= WORD_CHARS else f"{word[:WORD_CHARS]}…" for word in words[:MAX_WORDS])
    return ", ".join(shown) + more


def _of_section(omission: SafetyOmission) -> str:
    section = (omission.section_id or "").strip()
    return f" of section {section[:80]}" if section else ""
