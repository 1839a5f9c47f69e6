"""Walkthrough: one evidence bundle at a time, large and calm, for showing them to somebody."""

from core.ui import playlist_panel, session, shell, walk_load, walk_panels, walk_state

opened = session.current()
store = shell.store_or_progress(opened)
walk = walk_load.walk(opened, store)
state, stop, position = walk_state.place(opened.view, walk.playlist, store)
notes = walk_state.notes(state, walk, position)

if stop is None:
    shell.notes(notes)
    walk_panels.nothing(state, has_ids=bool(state.ids))
else:
    top, title, left, right = walk_panels.stage()
    scene = walk_load.scene(walk, stop, cite=state.cite, page=state.page, more=walk_state.lists_shown(stop))
    with top:
        walk_panels.top_line(
            walk_state.position_words(position, len(walk.playlist)),
            scene.slide.bundle,
            walk_state.about(opened),
        )
        playlist_panel.playlist_menu(
            state,
            walk.playlist,
            walk.materials.stored,
            whole=lambda: walk_load.whole(opened, store, walk),
        )
    with title:
        walk_panels.title(stop.q)
    with right:
        walk_panels.page(scene)
        walk_panels.bar(
            scene, state, walk.playlist, position, on_act=walk_state.acting(walk.playlist, scene, position)
        )
    with left:
        walk_panels.answer(scene, on_choose=walk_state.choose)
        walk_panels.exhibits(scene, notes, on_more=lambda: walk_state.show_more(stop))
walk_state.presenting(state)
