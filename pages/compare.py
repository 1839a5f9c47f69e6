"""Compare: is this run better than another, on which questions, and what was done differently?"""

from functools import partial

from proofspan.services.compare import FLIP_EXPORTS, compared_pins, flip_frames
from proofspan.ui.compare import load, panels, question
from proofspan.ui.question.steps import show_steps_ahead
from proofspan.ui.status import notices, release
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import write_view
from proofspan.ui.widgets import export_menu
from proofspan.ui.widgets.fold import fold

opened = session.current()
store = notices.store_or_progress(opened)
state = load.with_other(opened)
if state != opened.view:
    write_view(state)
both = load.compared(opened, state)
panels.heading(state, opened.manifest)
notices.notes(state.notes)

if both is None:
    panels.nothing_to_compare(opened.manifest, state.run)
elif load.is_readable(both, store):
    view, shown = both.opened.view, both.shown
    facts = [store.run_facts(run_id) for run_id in (shown.vs, shown.run)]
    notices.fault_panel(dict.fromkeys(problem for each in facts for problem in each.problems))
    flips = store.flips(shown)
    is_whole = view.q is None and shown.run != shown.vs
    ready = release.verdict_of(opened, store, shown.vs) if is_whole else None
    panels.verdict(flips, load.changes(both, store) if view.q is None else {}, both, ready)
    lists = load.flip_lists(both, store)
    if view.q is not None:
        was, now = (load.side(side, store, view) for side in (both.other, both.opened))
        beside, what = load.step(lists, view)
        wire = question.header(view, beside, what, was, now)
        question.answers(was, now, view)
        question.pages(was, now, view)
        question.candidates(was, now, view)
        with wire:
            show_steps_ahead(beside, partial(load.key_at, lists))
    elif is_whole:
        release.wait_for_claims(opened, store, shown.vs)
        if any(map(len, lists.values())):
            with panels.flips(lists, flips, view):
                export_menu.export_menu(
                    lambda: flip_frames(store, shown, view.sort),
                    matching=sum(map(len, lists.values())),
                    name=f"{opened.manifest.name} {view.run} {view.vs}",
                    stem="compare",
                    exports=FLIP_EXPORTS,
                )
        panels.template_note(facts)
        fold(
            "moves", "Correctness, causes and ranking", lambda: panels.matrices(load.moves(both, store), view)
        )
        fold("metrics", "All metrics", lambda: panels.metrics(load.metrics(both, store), view))
        pins = compared_pins(opened.manifest, both.other.run, opened.run)
        fold("pins", f"Configuration changes: {len(pins.differing):,}", lambda: panels.pins(pins, view))
