"""Wording of safety notices that an answer may omit, and of attachments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from proofspan.contracts.records.records import Attachment, AttachmentKind
from proofspan.errors import Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached
from proofspan.services.question.view import QuestionView
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.text import sentence_start
from proofspan.wording import Labels, counted, no_labels, page_words, with_printed

#: Notices named, and words named of each; the rest is counted.
MAX_NOTICES = 3
MAX_WORDS = 12
#: Characters shown of a notice, and of a word.
EXCERPT = 56
WORD_CHARS = 40


def omission_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """Return the rows `Safety`: `WARNING on p. 58 is not mentioned: “Keep your hands …”`.

    The tip of "is not mentioned" lists the words that were looked for: `Found 1 of 13 words: engine. Not
    found: hands, hair, …`.
    """
    rows = []
    for omission in (view.omissions or ())[:MAX_NOTICES]:
        word, kind = SIGNALS[omission.kind]
        section = (omission.section_id or "").strip()[:80]
        of_section = f" of section {section}" if section else ""
        where = of_section if omission.page_idx is None else f" on {page_words(omission.page_idx)}"
        line = " ".join(omission.text.split())
        shown = line if len(line) <= EXCERPT else f"{line[:EXCERPT].rsplit(' ', 1)[0]} …"
        missing = _listed([each for each in omission.words if each not in omission.found])
        words = counted(len(omission.words), "word")
        tip = f"Found none of {words}: {missing}."
        if omission.found:
            found = f"Found {len(omission.found)} of {words}: {_listed(omission.found)}"
            tip = f"{found}. Not found: {missing}."
        pieces = [Piece(word, kind), Piece(f"{where} "), Piece("is not mentioned", tip=tip)]
        rows.append([*pieces, Piece(f": “{shown}”")])
    if (more := len(view.omissions or ()) - MAX_NOTICES) > 0:
        rows.append([Piece(f"and {more:,} more warnings and cautions", "muted")])
    return list(zip(["Safety", *[""] * len(rows)], rows, strict=False))


def notice_ways(
    view: QuestionView, labels: Labels = no_labels
) -> list[tuple[str, dict[str, int | str | None]]]:
    """Return for each notice of `omission_rows` whose document a citation opens, how to show it.

    That is the label of a button, `Show the WARNING on PDF page 42`, and the change of the view; `labels`
    name a document's pages.
    """
    opened_by = {item.citation.doc_id: item.citation.number for item in reversed(view.citations)}
    ways: list[tuple[str, dict[str, int | str | None]]] = []
    for omission in (view.omissions or ())[:MAX_NOTICES]:
        cite, page_idx = opened_by.get(omission.doc_id), omission.page_idx
        if cite is not None and page_idx is not None:
            change = {"cite": cite, "chunk": None, "page": page_idx, "see": omission.attachment_id}
            label = f"Show the {SIGNALS[omission.kind][0]} on {page_words(page_idx)}"
            ways.append((with_printed(label, labels(omission.doc_id)), change))
    return ways


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


def arranged(items: Iterable[Attached]) -> tuple[list[Attached], list[Attached], list[Attached]]:
    """Return notices and media of the cited section or page, and what only lies on the pages next to it.

    Notices are sorted by gravity, everything else stays sorted by distance.
    """
    listed = sorted(items, key=lambda item: item.gravity)
    here = [item for item in listed if not item.is_beside]
    notices = [item for item in here if item.attachment.kind in SAFETY_KINDS]
    media = [item for item in here if item.attachment.kind not in SAFETY_KINDS]
    return notices, media, [item for item in listed if item.is_beside]


def heading_of_media(items: Sequence[Attached]) -> str:
    """Return the kinds and their number: `Tables and symbols (12)`."""
    kinds = {item.attachment.kind for item in items}
    names = [f"{name.lower()}s" for kind, name in MEDIA.items() if kind in kinds]
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{listed.capitalize()} ({len(items):,})"


def described(attachment: Attachment, *, is_drawn: bool) -> dict[str, str]:
    """Return the texts of an attachment: signal word ("" for media), title, text, `alt`, and place.

    The title of a picture is its caption, else the beginning of its text, else its kind. A picture that is
    drawn, or whose caption says it all, has no text. `alt`: `Symbol: Oil pressure. Red Oil pressure …`.
    """
    own, text = (attachment.caption or "").strip(), attachment.text.strip()
    if attachment.kind in SIGNALS:
        name = signal = SIGNALS[attachment.kind][0]
        title = " ".join(own.split())
        title = "" if title.casefold() == signal.casefold() else _short(title)
    else:
        name, signal = MEDIA[attachment.kind], ""
        title = _short(own or text or name)
        text = "" if is_drawn or text == title else text
    words = " ".join(dict.fromkeys((own, attachment.text.strip())))
    section = (attachment.section_id or "").strip()
    return {
        "signal": signal,
        "title": title,
        "text": text,
        "alt": _short(f"{name}: {' '.join(words.split())}", 2 * ATTACHMENT_EXCERPT),
        "place": f"section {_short(section, 80)}" if section else "",
    }


def not_drawn(problem: Problem) -> str:
    """Return why there is no picture and how to fix it, or that it is being drawn."""
    if problem.code == "being_drawn":
        return "Being drawn …"
    fix = f" {sentence_start(problem.fix)}." if problem.fix else ""
    return f"Not drawn: {problem.message}.{fix}".replace("`", "")


def _short(text: str, limit: int = ATTACHMENT_EXCERPT) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
