"""Triage: which questions went wrong and why, most harmful first, and what to do about each kind."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from proofspan.contracts.records.chunk_id import parse_alias
from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault
from proofspan.journal.annotations import Annotations, read_annotations, refusal
from proofspan.services.export import triage_exports, with_reviews
from proofspan.services.page_base import worth_saying
from proofspan.services.question.filter_values import unknown_values
from proofspan.services.rows import Frames
from proofspan.ui.status import documents, notices
from proofspan.ui.triage import bulk, chosen, failure_map, filters, outcomes, panels, review, scores, table
from proofspan.ui.triage.sets import downloads_of
from proofspan.ui.triage.shown_first import ShownFirst
from proofspan.ui.visit import session
from proofspan.ui.widgets import export_menu, markup
from proofspan.ui.widgets.chunk_choice import named_chunks, show_choice
from proofspan.wording import counted

opened = session.current()
view = opened.view
store = notices.store_or_progress(opened)
facts = store.run_facts(view.run)
total = store.total(view.run, all_variants=view.filter.all_variants)
matching = store.matching(view.filter)
pages = max(1, -(-matching // table.ROWS_A_PAGE))
view = view.change(at=min(view.at, pages))

cited = session.cited_pages(opened, store, view.run)
# Findings on cited pages as a whole that only a change at their source would fix.
off_pages = [finding for finding in worth_saying(cited.findings) if finding.is_systematic] if cited else []
has_citations = facts.placed.citations > 0 if facts.placed else bool(opened.manifest.documents)
can_be_judged = opened.manifest.chunks is not None and not facts.from_report
is_judged = can_be_judged and facts.checked is not None
job = session.locating(opened, store) if has_citations or can_be_judged else None
vs = view.vs if view.vs in store.runs() else None

with st.container(horizontal=True, vertical_alignment="center", key="head"):
    panels.heading(view, opened.manifest.runs, total=total, profile=opened.profile)
    onward = st.container(
        horizontal=True, vertical_alignment="center", width="content", wrap=False, gap="small", key="onward"
    )
notices.notes(view.notes)
with st.container(horizontal=True, vertical_alignment="center", gap="small", key="unread"):
    notices.waiting_notice(facts.waiting_bytes)
    notices.line_issue_notice(facts, view)
notices.fault_panel(() if facts.unread_bytes else facts.problems)  # that only a part is read is above
own = profile_from(session.workspace().triage)
if opened.profile != own:
    panels.profile_notice(opened.profile, own)
if facts.suggestion:
    panels.template_notice(facts.suggestion, opened.profile, is_judged=is_judged)

offset = (view.at - 1) * table.ROWS_A_PAGE
found = store.page(
    view.filter,
    view.sort,
    limit=table.ROWS_A_PAGE,
    offset=offset,
    with_claims=is_judged,
    scores=view.shown_scores,
)
first = ShownFirst(
    opened,
    store,
    found,
    claims=can_be_judged and not is_judged,
    citations=has_citations and facts.placed is None,
    follows=facts.suggestion is None,
)
found = first.frame()

# Rows show verdicts as soon as those of a page are made, and these are counted above them, no labels.
is_working = facts.unread_bytes > 0 or (job is not None and job.is_running)
is_pending = can_be_judged and not is_judged and is_working
if is_judged:
    moved = store.transitions(replace(view.filter, cause=(), correct=()), "cause") if vs else []
    groups = outcomes.cause_groups(store.outcome_counts(view.filter), moved)
elif is_pending:
    groups = outcomes.pending(first.verdicts(found), matching)
else:
    moved = store.transitions(replace(view.filter, label=()), "label") if vs else []
    groups = outcomes.label_groups(store.counts(view.filter), moved)
if groups:
    panels.strip(groups, view, is_pending=is_pending)

# People wait for the table: the lines above it are drawn after it, in the room that is kept for them.
above = st.container(key=f"above-{sum(map(bool, (off_pages, vs)))}", gap="xsmall")
with above:
    lines_above = st.container(gap="xsmall")
    bar = st.container(horizontal=True, vertical_alignment="center", key="filters")
    with bar:
        filters.search(view)
    beside = st.container(horizontal=True, vertical_alignment="center", key="sentence")
    with beside:
        panels.sentence(
            view, matching=matching, total=total, is_judged=is_judged, can_be_judged=can_be_judged
        )
labels = documents.PageLabels(opened.manifest)
keeps_reviews = opened.manifest.annotations is not None or bool(view.filter.review or view.filter.assigned)
reviews = Annotations()
with suppress(Fault):  # Question shows why reviews cannot be read
    reviews = session.reviews(opened)
is_reviewed = view.run in reviews.runs
can_review = opened.manifest.annotations is not None and refusal(opened.manifest) is None
if table.KEY not in st.session_state:  # the table was not there in the run before: another page was
    chosen.close()
among = partial(store.among, view.filter, view.sort)
if matching:
    gold: Mapping[str, GoldQuestion] = {}
    with suppress(Fault):  # a lost gold file is among the run's own problems
        gold, _ = session.gold(opened)
    listed = opened.manifest.documents
    known = table.Known(
        offsets=cited.offsets if cited else {},
        gold=gold,
        titles={each.doc_id: each.title or each.doc_id for each in listed} if len(listed) > 1 else {},
        # Where no answer of the run follows the template, the notice above says so once.
        hidden=("template_absent",) if facts.suggestion else (),
        labels=labels,
        reviews=reviews.verdicts,
    )
    rows = table.triage_rows(found, view, known)
    table.show_table(
        rows,
        view,
        is_judged=is_judged or "claims" in found,
        has_gold=bool(gold),
        is_reviewed=is_reviewed,
        ticks=chosen.ticks(opened.manifest, view.run, asks=review.is_open()) if can_review else None,
        on_tick=partial(chosen.choose, opened.manifest, view.run),
    )

options = session.options(opened, store)


def counted_by(name: str) -> filters.Choices:
    """Return the values of a filter with their numbers of questions in the list without that filter."""
    if name == "safety":
        numbers = {str(of): store.matching(replace(view.filter, safety=of)) for of in (True, False)}
        return list(numbers.items()) if any(numbers.values()) else []
    if name in ("cause", "correct", "grounded"):
        return list(store.verdict_counts(view.filter, name).items())  # type: ignore[arg-type]
    counts: Mapping[str, Any] = {
        "label": store.counts,
        "gold": store.gold_counts,
        "bucket": store.bucket_counts,
        "evidence": store.evidence_counts,
        "claim": store.claim_counts,
    }
    return [(value, count) for value, count in counts[name](view.filter).items() if value and count]


def scores_menu() -> None:
    """Draw the menu of scores of other tools."""
    counted = partial(store.score_counts, view.filter)
    scores.scores_menu(view, names_of=partial(store.score_names, view.run), counted_by=counted)


def reviews_menu() -> None:
    """Draw the menu of people's reviews."""

    def form() -> None:
        keys = chosen.chosen(opened.manifest, view.run)
        if not keys:
            rows = partial(store.rows, view.filter, view.sort)
            bulk.bulk_form(opened.manifest, rows, matching=matching)
            return
        listed = among(keys)
        chosen.left_out(keys, listed)
        bulk.bulk_form(opened.manifest, lambda: [listed], matching=len(listed), are_chosen=True)

    review.review_menu(view, reviews, matching=store.matching, bulk=form)


def exported_rows() -> Frames:
    """Return the rows of the list, with what people say of them where the workspace keeps that."""
    rows = store.rows(view.filter, view.sort, with_claims=True, scores=view.shown_scores)
    if opened.manifest.annotations is None:
        return rows
    return with_reviews(rows, read_annotations(opened.manifest))


with lines_above:
    if keeps_reviews and not chosen.is_open():
        bulk.bulk_line(opened.manifest)
    if parse_alias(view.filter.text) is not None:
        with suppress(Fault):  # lost chunks are among the run's own problems
            named = named_chunks(view.filter.text, session.chunks(opened)[0])
            show_choice(view.filter.text.strip(), named, view)
    notices.notes(unknown_values(view.filter, options, store))
    if facts.placed is None and view.filter.evidence:
        notices.notes(["Nothing matches the filter on cited text until citations are located."])
    if facts.checked is None and view.filter.asks_claims:
        notices.notes(["Nothing matches the filter on claims until they are checked."])
    if view.vs and vs is None:
        notices.notes([f"Run {view.vs} is not indexed, so nothing is compared with it."])
    if vs:
        by = panels.outcomes_for(view, has_gold=opened.manifest.gold is not None)
        panels.flip_line(store.flips(replace(view.filter, outcome=by[0])), view, outcomes=by)
    if off_pages:
        panels.page_base_line(off_pages, view)
with bar:
    filters.filter_bar(
        options,
        view,
        counted_by=counted_by,
        facts=facts,
        cohorts=[(cohort.name, len(cohort.q_ids)) for cohort in session.cohorts(opened).values()],
        reviews=reviews_menu if keeps_reviews else None,
        scores=scores_menu if store.has_scores(view.run) or view.shown_scores else None,
    )
with beside:
    panels.status(
        facts,
        has_citations=has_citations,
        can_be_judged=can_be_judged,
        folder=opened.manifest.folder,
        job=job,
    )
    is_toggled = vs is not None and view.filter.flip in panels.FLIPS_SHOWN
    filters.chips(view, elsewhere={"flip"} if is_toggled else ())
    filters.clear_button(view)
    if keeps_reviews:
        review.progress_line(view, matching=store.matching)
    st.space("stretch")
    filters.columns_menu(view, but=("reviewed",) if is_reviewed or not keeps_reviews else ())
with onward:
    if matching:
        panels.walk_through(view)
    export_menu.export_menu(
        exported_rows,
        matching=matching,
        exports=triage_exports(view.shown_scores, has_reviews=opened.manifest.annotations is not None),
        sets={} if facts.from_report else downloads_of(opened, store, view),
        name=f"{opened.manifest.name} {view.run}",
    )

if can_review:
    chosen.review_dialog(opened.manifest, view.run, among)
if matching:
    panels.paging(matching, view, rows_a_page=table.ROWS_A_PAGE)
    with st.container(key="below"):
        # Gold and ranking say more than a label does; a cause has both in it.
        asks_gold, asks_ranking = view.filter.gold or not is_judged, view.filter.bucket or not is_judged
        panels.next_steps(
            () if is_pending else groups,
            view,
            opened.profile,
            store.gold_counts(view.filter) if asks_gold else {},
            store.bucket_counts(view.filter) if asks_ranking else {},
        )
        failure_map.show_failures(
            store.failures_by_document(view.filter),
            view,
            within=lambda place: store.failures(view.filter, within=place),
            sections=session.sections_or_none(opened),
            titles={document.doc_id: document.title or "" for document in opened.manifest.documents},
            unpaged=opened.manifest.unpaged,
            is_judged=is_judged,
            labels=labels,
        )
    labels.request()
elif view.is_filtered:
    panels.nothing_matches(total)
else:
    markup.note(f"{view.run} holds {counted(0, 'question')}.", "strong", role="text")
    notices.empty_run_panels(store, view.run)
if matching and (job is not None or facts.unread_bytes):
    first.request()
