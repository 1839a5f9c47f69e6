"""Health: is everything there that the manifest names, and which lines could not be read?"""

from core.services.pagebase import writer_of
from core.ui import checks, health_artifacts, page_base_panel, session, shell

manifest = session.workspace()
opened = session.current() if manifest.runs else session.without_runs(manifest)
report = checks.check(opened, hashes=True)
health_artifacts.heading(opened.manifest, report)
shell.notes(opened.view.notes)
health_artifacts.artifacts(report)
if manifest.runs:
    health_artifacts.runs(opened.manifest, opened.view, session.run_facts(opened))
    if opened.manifest.documents:
        page_base_panel.cited_pages(session.cited_pages_of_runs(opened), writer_of(opened.manifest))
    store = shell.store_or_progress(opened)
    shell.waiting_notice(store.run_facts(opened.view.run).waiting_bytes)
    health_artifacts.line_issues(store.line_issues(opened.view.run), opened.view.run)
else:
    shell.fault_panel([session.no_runs(manifest)])
