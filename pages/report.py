"""Release report: the verdict on a run with its reasons and proofs, on one page to hand over."""

from proofspan.ui.report import load, panels
from proofspan.ui.status import background, notices, release
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import write_view

opened = session.current()
store = notices.store_or_progress(opened)
view = opened.view
other = release.compared_with(opened)
if other != view.vs:
    write_view(view.change(vs=other, at=view.at, ids=view.ids))
verdict = release.verdict_of(opened, store)
report, looking = load.with_what_if(opened, store, load.report_of(opened, store, verdict))
is_whole = looking is None
panels.head(
    report, {kind: load.file_of(opened, store, report, kind, is_whole=is_whole) for kind in load.KINDS}
)
notices.notes(view.notes)
release.wait_for_claims(opened, store, *([verdict.against] if verdict.against is not None else []))
panels.headline(report)
panels.numbers(report)
panels.both(report, view)
proofs, awaited = load.proofs(opened, store, report)
panels.see(report, proofs, view, is_ready=awaited is None)
if waiting := [key for key in (awaited, looking) if key is not None]:
    background.rerun_after(waiting)
