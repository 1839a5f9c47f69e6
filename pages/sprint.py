"""Sprint: are we there, what is decided or done next, and how did we get here?"""

import streamlit as st

from proofspan.services.sprint.types import Item
from proofspan.ui.sprint import drafts, form, head, items, ledger, load, log
from proofspan.ui.sprint.entries import Shown
from proofspan.ui.sprint.export import export_popover
from proofspan.ui.status import notices
from proofspan.ui.visit import session

opened = session.current(needs_run=False)
view = opened.view
if opened.manifest.sprint is None:
    head.nothing_named(opened.manifest)
    st.stop()
latest = load.latest(opened)
indexed = latest is not None and session.index(latest)[0] is not None
is_reading = latest is not None and (not indexed or session.others_are_indexed(latest))
store = session.store_of(opened)
sprint = load.load(opened, store)


def edit(item: Item) -> None:
    """Open the draft of a change of the item."""
    drafts.open_form(sprint, item.kind, item.key)


can_write = not sprint.record.can_write
change = edit if can_write else None
shown = Shown(sprint, view, (lambda entry: form.correct(sprint, entry)) if can_write else None)
with st.container(horizontal=True, vertical_alignment="center", key="sprint-head"):
    head.title_line(sprint)
    with st.container(horizontal=True, wrap=False, width="content", key="sprint-tools"):
        form.add_button(sprint)
        export_popover(opened.manifest, sprint.record)
head.about_line(sprint.record)
notices.notes(view.notes)
head.read_only(sprint.record)
form.form_panel(opened, store, shown)
head.show_goals(shown, change, is_reading=is_reading)
if latest is not None:
    head.release_part(latest, store, view, indexed=indexed, is_reading=is_reading)
head.agenda_panel(shown)
items.packages_panel(shown, change)
items.decisions_panel(shown, change)
items.risks_panel(shown, change)
log.log_panel(shown)
ledger.ledger_panel(shown)
ledger.sections(shown)
head.unread_lines(sprint.record)
