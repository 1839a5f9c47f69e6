"""Walkthrough: one evidence bundle at a time, large and calm, for showing them to somebody."""

from functools import partial

from proofspan.services.desk import Done, Failed
from proofspan.ui import notices, playlist_panel, session, walk_load, walk_panels, walk_state

opened = session.current()
store = notices.store_or_progress(opened)
walk = walk_load.walk(opened, store)
state, stop, position = walk_state.place(opened.view, walk.playlist, store)
notes = walk_state.notes(state, walk, position)

if stop is None:
    notices.notes(notes)
    walk_panels.nothing(state, has_ids=bool(state.ids))
else:
    asked = walk_state.asked(state, stop)
    outcome, work = walk_load.scene(walk, asked)
    scene = outcome.value if isinstance(outcome, Done) else None
    view = scene.slide.view if scene else walk_load.question(walk, stop)
    stage = walk_panels.stage()
    with stage.top:
        walk_panels.top_line(position, len(walk.playlist), scene, about=walk_state.about(opened))
        playlist_panel.playlist_menu(
            state, walk.playlist, walk.materials.stored, whole=partial(walk_load.whole, opened, store, walk)
        )
    with stage.title:
        walk_panels.title(stop.q)
    with stage.page:
        if scene is not None:
            walk_panels.page(scene, see=state.see)
        elif isinstance(outcome, Failed):
            walk_panels.no_page(outcome.fault.problems[0])
        else:
            walk_panels.page_to_come(work)
    with stage.answer:
        walk_panels.answer(view, scene, on_choose=walk_state.choose)
    with stage.exhibits:
        walk_panels.exhibits(scene, notes, on_more=partial(walk_state.show_more, stop))
    # Last, for it tells the browser that its wish was answered: by then all of it is there.
    with stage.bar:
        walk_panels.bar(
            scene, state, walk.playlist, position, on_act=walk_state.acting(walk.playlist, scene, position)
        )
    walk_load.ahead(walk, position)
walk_state.presenting(state)
