"""Write an entry: a form, the entry exactly as it will be shown, and only then its line in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from proofspan.contracts.records.records import Json
from proofspan.errors import Fault, Problem
from proofspan.journal.sprint import EntryKind, SprintEntry, append, entry_problems
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.draft import checkpoint_draft
from proofspan.services.sprint.fields import FIELDS, FieldOf
from proofspan.services.sprint.fold import fold, links
from proofspan.store.query.store import Store
from proofspan.ui.sprint import drafts
from proofspan.ui.sprint.drafts import ADDED, Draft
from proofspan.ui.sprint.entries import Shown, reveal, show_entry, title_words
from proofspan.ui.sprint.items import show_item
from proofspan.ui.sprint.load import Sprint
from proofspan.ui.sprint.words import KIND_NAMES, STATES, STATUSES, moment, name_of
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.author import author, remember_author
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import begin, feed, segments, select
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Height in CSS pixels of the fields for a list and for a text.
LIST_PIXELS, TEXT_PIXELS = 96, 128
_NEW = ""
#: Shapes of fields that take several lines.
_TALL = ("text", "list")


def add_button(sprint: Sprint) -> None:
    """Draw the button that begins an entry, or why nothing can be written."""
    if not sprint.record.can_write:
        st.button(
            "Add entry",
            key="sprint-add",
            icon=":material/edit:",
            disabled=drafts.active() is not None,
            on_click=drafts.open_form,
            args=(sprint, "log"),
        )


def correct(sprint: Sprint, entry: SprintEntry) -> None:
    """Open the draft of a correction of the entry."""
    drafts.open_form(sprint, entry.kind, entry.key, corrects=entry)


def form_panel(opened: session.Opened, store: Store, shown: Shown) -> None:
    """Draw the open draft: its form, or its preview."""
    draft = drafts.active()
    if draft is None or shown.sprint.record.can_write:
        return
    with st.container(border=True, key="writing"):
        if draft.is_previewed:
            _preview(draft, opened.manifest, shown)
        else:
            _form(draft, shown, partial(_known_of, opened.manifest, store, shown.sprint))
    reveal("writing", f"{drafts.times_opened()} {draft.is_previewed}")


def _known_of(manifest: Manifest, store: Store, sprint: Sprint, date: str) -> Mapping[str, Json]:
    """Return what the runs say of a day's checkpoint; without a date, of the last run's day or of today."""
    written = {entry.fields.get("date") for entry in sprint.entries.values() if entry.kind == "checkpoint"}
    last = max(((row.ts or "")[:10] for row in sprint.record.ledger), default="")
    date = date or (last if last and last not in written else drafts.now()[:10])
    return checkpoint_draft(manifest, store, sprint.record, date)


def _form(draft: Draft, shown: Shown, known_of: Callable[[str], Mapping[str, Json]]) -> None:
    sprint = shown.sprint

    def choose(kind: EntryKind) -> None:
        drafts.begin(sprint, kind, fields=known_of("") if kind == "checkpoint" else {})

    is_new = draft.corrects is None
    if is_new:
        markup.note("Add to the record", "h2", role="line")
        names = {kind: KIND_NAMES[kind] for kind in ADDED}
        segments("Kind of entry", names, draft.kind, key="draft-kind", on_choose=choose)
    else:
        entry = sprint.entries.get(draft.corrects or "")
        name = title_words(entry) if entry is not None else KIND_NAMES[draft.kind]
        markup.titled("Correct ", shortened(name, 120))
        markup.note("A new entry beside the old one, which stays in the file, struck through.", "muted")
    fields = FIELDS[draft.kind]
    with st.container(key="draft-lines"):
        if is_new and draft.is_item:
            _which(draft, sprint)
        if is_new and not draft.key and (draft.is_item or draft.kind == "checkin"):
            label = "Work package" if draft.kind == "checkin" else "Id"
            _line(draft, FieldOf("key", label), _key_hint(draft.kind, sprint))
        for each in fields:
            if each.shape not in _TALL:
                _field(draft, each)
    with st.container(key="draft-texts"):
        for each in fields:
            if each.shape in _TALL:
                _field(draft, each)
    if draft.kind == "checkpoint":
        st.button(
            "Fill in what the runs of this date say",
            key="draft-fill",
            help="Fills in day, runs, outputs, numbers and goals where nothing else was typed",
            on_click=lambda: drafts.fill(draft, known_of(draft.values.get("date", ""))),
        )
    _problems(draft)
    with st.container(horizontal=True, vertical_alignment="bottom", key="draft-buttons"):
        _author()
        st.button(
            "Preview", key="draft-preview", type="primary", on_click=_ask_preview, args=(draft.name, sprint)
        )
        st.button("Discard", key="draft-discard", type="tertiary", on_click=drafts.drop, args=(draft,))


def _which(draft: Draft, sprint: Sprint) -> None:
    """Draw the choice between a new item and one of those that there are."""
    items = [item for item in sprint.items.values() if item.kind == draft.kind]
    new = f"New {KIND_NAMES[draft.kind].lower()}"
    names = {_NEW: new} | {
        item.key: shortened(" · ".join(filter(None, (item.name, name_of(item)))), 80) for item in items
    }
    select(
        f"Which {KIND_NAMES[draft.kind].lower()}",
        names,
        draft.key,
        key="draft-which",
        on_choose=lambda key: drafts.begin(sprint, draft.kind, key),
        shows_words=True,
    )


def _key_hint(kind: EntryKind, sprint: Sprint) -> str:
    """Return which ids there are."""
    of = "package" if kind == "checkin" else kind
    keys = [item.key for item in sprint.items.values() if item.kind == of]
    known = shortened(", ".join(keys[-8:]), 80)
    if kind == "checkin":
        return f"The work package: {known}" if known else "The work package, such as A1"
    return f"A new id; there are {known}" if known else "A short id, such as D1"


def _author() -> None:
    key = "draft-author"
    st.text_input(
        "Your name",
        begin(key, author()) or "",
        key=key,
        max_chars=100,
        placeholder="Asked once, written with each entry",
        on_change=lambda: remember_author(st.session_state[key]),
    )


def _field(draft: Draft, each: FieldOf) -> None:
    key, value = _widget_key(draft, each), draft.values.get(each.name, "")
    keep = partial(_typed, draft.name, each.name, key)
    if each.shape == "choice":
        signs = STATES if each.name == "state" else STATUSES
        names = {"": "–"} | {choice: signs[choice].words for choice in each.choices}
        feed(key, value)
        title, choices = markup.label(each.label), list(names)
        st.selectbox(title, choices, key=key, format_func=lambda choice: names[choice], on_change=keep)
    elif each.shape in _TALL:
        st.text_area(
            each.label,
            begin(key, value) or "",
            key=key,
            height=LIST_PIXELS if each.shape == "list" else TEXT_PIXELS,
            max_chars=100_000,
            placeholder=_HINTS.get(each.shape),
            on_change=keep,
        )
    else:
        _line(draft, each, _HINTS.get(each.shape) or _HINTS.get(each.name, ""))


def _line(draft: Draft, each: FieldOf, hint: str) -> None:
    key, value = _widget_key(draft, each), draft.values.get(each.name, "")
    st.text_input(
        markup.label(each.label),
        begin(key, value) or "",
        key=key,
        max_chars=500,
        placeholder=markup.clean(hint),
        on_change=partial(_typed, draft.name, each.name, key),
    )


#: What is written in an empty field, by its shape or its name.
_HINTS = {"list": "A point a line", "keys": "Such as D3, WP-A2", "date": "YYYY-MM-DD"}


def _widget_key(draft: Draft, each: FieldOf) -> str:
    return f"draft-{each.name}-{draft.name}"


def _typed(name: str, field_name: str, key: str) -> None:
    """Keep what was typed into a field of the draft of that name."""
    draft = drafts.active()
    if draft is not None and draft.name == name:
        typed = str(st.session_state.get(key) or "")
        drafts.put(replace(draft, values={**draft.values, field_name: typed}, problems=(), at=""))


def _ask_preview(name: str, sprint: Sprint) -> None:
    draft = drafts.active()
    if draft is not None and draft.name == name:
        problems = _problems_of(draft, sprint)
        drafts.put(replace(draft, is_previewed=not problems, problems=problems))


def _problems_of(draft: Draft, sprint: Sprint) -> tuple[Problem, ...]:
    """Return why the draft cannot become an entry."""
    if not author():
        return (Problem("no_author", "your name is missing", fix="enter it above; it is asked for once"),)
    entry = draft.entry(author(), draft.at or drafts.now())
    if not entry.fields:
        message = "nothing was changed" if draft.key else "nothing was written"
        return (Problem("empty_entry", message, fix="fill in a field"),)
    if draft.is_item and not draft.key and not entry.key:
        return (Problem("no_key", "the id is missing", fix="enter a short id, such as D6"),)
    if draft.is_item and not draft.key and f"{entry.kind}:{entry.key}" in sprint.items:
        message = f"{entry.key} is there already"
        return (Problem("key_taken", message, fix="choose it above to change it, or enter another id"),)
    return tuple(
        replace(found, where="", fix=_FIXES.get(found.code, "correct this field"))
        for found in entry_problems(entry)
    )


_DATE = "write it as 2026-02-27"
_IDS = "write ids with commas between them, such as D3, WP-A2"
#: What to do about a field that the schema does not allow, by the problem's code.
_FIXES = {
    "bad_key": "use letters, digits, dots and hyphens, no blanks",
    "bad_unblocks": _IDS,
    "bad_depends_on": _IDS,
    "bad_date": _DATE,
    "missing_date": _DATE,
    "wrong_type_day": "write a whole number",
}


def _problems(draft: Draft) -> None:
    if draft.problems:
        fault_panel(draft.problems)


def _preview(draft: Draft, manifest: Manifest, shown: Shown) -> None:
    """Draw the entry as it will be shown, what was added meanwhile, and the button that saves it."""
    entry = draft.entry(author(), draft.at or drafts.now())
    markup.titled("Preview ", "as it will be shown; nothing is saved yet")
    with st.container(key="preview", border=True):
        _as_shown(entry, shown)
    _meanwhile(draft, shown.sprint)
    _problems(draft)
    with st.container(horizontal=True, key="draft-buttons"):
        st.button(
            "Save", key="draft-save", type="primary", on_click=_save, args=(manifest, draft.name, entry)
        )
        st.button("Edit", key="draft-edit", on_click=drafts.put, args=(replace(draft, is_previewed=False),))
        st.button("Discard", key="draft-discard", type="tertiary", on_click=drafts.drop, args=(draft,))


def _as_shown(entry: SprintEntry, shown: Shown) -> None:
    record = shown.sprint.record
    folded = fold((*record.entries, entry))
    linked = links(folded.of("decision"), folded.of("package"))
    after = Sprint.of(
        replace(
            record,
            goals=(),
            packages=folded.of("package"),
            decisions=folded.of("decision"),
            risks=folded.of("risk"),
            sections=(*folded.of("section"), *folded.of("goal")),
            entries=(*record.entries, entry),
            unblocks=linked.unblocks,
            waits_for=linked.waits_for,
        )
    )
    to_come = Shown(after, shown.view)
    item = after.item_of(entry)
    if item is not None:
        show_item(item, to_come, None, place="preview")
        markup.note("New in its history", "h3", role="heading")
    corrected = after.entries.get(entry.corrects or "")
    show_entry(corrected or entry, to_come, place="preview")


def _meanwhile(draft: Draft, sprint: Sprint) -> None:
    """Draw what others have added since the draft was begun; on the same item, that it was changed."""
    added = [entry for name, entry in sprint.entries.items() if name not in draft.seen]
    if not added:
        return
    verb = "was" if len(added) == 1 else "were"
    words = f"{counted(len(added), 'entry', 'entries')} {verb} added meanwhile"
    names = ", ".join(
        dict.fromkeys(shortened(f"{title_words(entry)} by {entry.author}", 80) for entry in added[:3])
    )
    item = sprint.items.get(f"{draft.kind}:{draft.key}")
    is_among = item is not None and any(sprint.item_of(entry) is item for entry in added)
    more = (
        " This item is among them; your entry changes only the fields that you changed." if is_among else ""
    )
    markup.show(markup.text([Piece(f"{words}: ", "strong"), Piece(f"{names}.{more}")], role="says"))


def _save(manifest: Manifest, name: str, entry: SprintEntry) -> None:
    """Append the entry; only then is it called saved. What was typed stays where that fails."""
    draft = drafts.active()
    if draft is None or draft.name != name:
        return
    drafts.put(replace(draft, at=entry.at))
    try:
        written = append(manifest, entry)
    except Fault as fault:
        drafts.put(replace(draft, at=entry.at, problems=tuple(fault.problems)))
        return
    drafts.drop(draft)
    drafts.keep_saved(f"{title_words(written)} by {written.author}, {moment(written.at)}")
    item = f"{written.kind}:{written.key}" if draft.is_item else f"entry:{written.entry_id}"
    change_view(item=item, find="", kind=(), author=None, day=None, leaf=1)
