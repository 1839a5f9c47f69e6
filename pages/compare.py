"""Compare: is this run better than another, on which questions, and what was done differently?"""

from proofspan.services.compared_flips import FLIP_EXPORTS, flip_frames
from proofspan.ui import (
    compare_load,
    compare_pair,
    compare_panels,
    compare_question,
    export,
    notices,
    session,
)
from proofspan.ui.state import write_view

opened = session.current()
store = notices.store_or_progress(opened)
state = compare_load.with_other(opened)
if state != opened.view:
    write_view(state)
both = compare_load.compared(opened, state)
compare_panels.heading(state, opened.manifest)
notices.notes(state.notes)

if both is None:
    compare_panels.nothing_to_compare(opened.manifest, state.run)
elif compare_load.is_readable(both, store):
    view, shown = both.view, both.shown
    facts = [store.run_facts(run_id) for run_id in (shown.vs, shown.run)]
    notices.fault_panel(dict.fromkeys(problem for each in facts for problem in each.problems))
    flips = store.flips(shown)
    compare_panels.verdict(flips, view, has_gold=both.has_gold, left_out=both.left_out)
    lists = compare_load.flip_lists(both, store)
    if view.q is not None:
        was, now = (compare_pair.side(side, store, view) for side in (both.other, both.opened))
        compare_question.header(view, compare_pair.step(lists, view), now.q or was.q)
        compare_question.answers(was, now)
        compare_question.pages(was, now)
        compare_question.candidates(was, now, view)
    elif not both.is_same:
        with compare_panels.flips(lists, flips, view):
            export.export_menu(
                lambda: flip_frames(store, shown, view.sort),
                matching=sum(map(len, lists.values())),
                name=f"{opened.manifest.name} {view.run} {view.vs}",
                stem="compare",
                exports=FLIP_EXPORTS,
            )
        labels, buckets = (store.transitions(shown, name) for name in ("label", "bucket"))
        compare_panels.template_note(facts)
        compare_panels.matrices(labels, buckets, view)
        compare_panels.metrics(compare_load.metrics(both, store), view)
        compare_panels.pins(compare_load.pins(both), view)
