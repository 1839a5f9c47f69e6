"""The parts of the Triage page around its table. Each draws what it is given and fetches nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.messages import GOLD_MEANINGS, GOLD_STEPS, next_step
from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.judge import CAUSE_STEPS
from proofspan.diagnosis.verdicts.types import CAUSES
from proofspan.display_names import BUCKET_NAMES, GOLD_NAMES
from proofspan.evidence.page_base import PageBaseFinding
from proofspan.manifest.types import Run
from proofspan.metrics.ranked import BUCKET_MEANINGS, BUCKET_STEPS, BUCKETS, Bucket
from proofspan.services.compare import WITHOUT_GOLD
from proofspan.services.page_base import in_words
from proofspan.services.workspace.index_job import Event, IndexJob
from proofspan.services.workspace.open import profile_snippet
from proofspan.store.files.types import Flips, RunFacts
from proofspan.store.query.filters import Flip, Sort
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.status.notices import run_names
from proofspan.ui.triage import table
from proofspan.ui.triage.filters import show_all
from proofspan.ui.triage.outcomes import Group
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, select, toggle_button
from proofspan.ui.widgets.markup import Piece
from proofspan.wording import counted

#: What is removed from the address with the run to compare with.
_ALONE = {
    "vs": "",
    "flip": "",
    "outcome": "",
    "was": (),
    "was_cause": (),
    "was_bucket": (),
    "was_correct": (),
}
#: The most groups of which the next step is shown.
MOST_STEPS = 3
#: Pixels of a number of the pages below the table.
PAGE_PIXELS = 44
#: What the toggles of a comparison show, in order, and what it means.
FLIPS_SHOWN: Mapping[Flip, str] = {
    "fixed": "Wrong in the other run, right in this one",
    "regressed": "Right in the other run, wrong in this one",
}


def heading(view: ViewState, runs: Sequence[Run], *, total: int, profile: Profile) -> None:
    """Draw the page's title, and the choice of another run; the profile of the labels is its tip."""
    noun = "trace" if view.filter.all_variants else "question"
    tip = f"Labels: {profile.describe()}"
    markup.titled("Triage", f"  {view.run} · {counted(total, noun)}", level="h1", tip=tip, role="title")
    if names := run_names(runs, but=view.run):
        select(
            "Compare with",
            names,
            view.filter.vs or None,
            key="compared-with",
            placeholder="Compare …",
            is_clearable=True,
            width=170,
            on_choose=lambda vs: change_view(**({"vs": vs} if vs else _ALONE)),
        )


def strip(groups: Sequence[Group], view: ViewState, *, is_pending: bool) -> None:
    """Draw the questions of a list as a bar of groups, and below it a button per group with its count.

    A click keeps the group alone, and one on the group that is kept shows all. While verdicts are pending,
    there is room for all groups, and none can be kept.
    """

    def count_of(group: Group) -> str:
        more = f" ({group.more:+,})".replace("-", "−") if group.more else ""
        return f"{group.questions:,}{more}"

    def title_of(group: Group) -> str:
        return f"{'✓ ' if group.is_chosen(view.filter) else ''}{group.name} {count_of(group)}"

    with st.container(key="strip", gap=None):
        parts = [(each.key, each.questions, title_of(each)) for each in groups]
        markup.show(markup.bar(parts, grows=is_pending, terms={each.key: each.term for each in groups}))
        with line("strip"):
            for group in groups:
                if not group.change:
                    markup.note(title_of(group), tip=group.means)
                    continue
                is_on = group.is_chosen(view.filter)
                change = dict.fromkeys(group.change, ()) if is_on else dict(group.change)
                count, more, rest = count_of(group).partition(" ")
                means = f"{group.means} {rest} compared with {view.filter.vs}." if more else group.means
                toggle_button(
                    f"{group.name} **{count}**{more}{rest}",
                    key=f"group-{group.key}",
                    help=markup.label(means, limit=200),
                    is_on=is_on,
                    on_click=partial(change_view, **change),
                    disabled=is_pending,
                )


def outcomes_for(view: ViewState, *, has_gold: bool) -> tuple[str, ...]:
    """Return what questions can be right by here, the one of the address first."""
    known = tuple(OUTCOMES) if has_gold else WITHOUT_GOLD
    asked = view.filter.outcome
    return tuple(dict.fromkeys([*([asked] if asked else []), *known]))


def flip_line(flips: Flips, view: ViewState, *, outcomes: Sequence[str]) -> None:
    """Draw how many questions were fixed and how many regressed, a toggle each.

    `flips` counts the list without its flip filter, by the first of `outcomes`.
    """

    def in_address(outcome: str) -> str:
        return "" if outcome == next(iter(OUTCOMES)) else outcome

    left_out = {
        "cannot be judged in one of the runs": flips.left_out,
        f"only in {view.run}": flips.only_here,
        f"only in {view.filter.vs}": flips.only_there,
    }
    with line("flip"):
        markup.note(f"Compared with {view.filter.vs}:", "muted")
        for kind, means in FLIPS_SHOWN.items():
            is_on = view.filter.flip == kind
            change = partial(change_view, flip="" if is_on else kind, outcome=in_address(outcomes[0]))
            number = f"**{getattr(flips, kind):,}** {kind}"
            toggle_button(number, key=f"flip-{kind}", help=means, is_on=is_on, on_click=change)
        tip = "; ".join(f"{count:,} {words}" for words, count in left_out.items() if count)
        markup.note(f"of {flips.judged:,} by", "muted", tip=tip)
        select(
            "Right by",
            {outcome: words for outcome, words in OUTCOMES.items() if outcome in outcomes},
            outcomes[0],
            key="flip-outcome",
            width=175,
            on_choose=lambda outcome: change_view(outcome=in_address(outcome)),
        )
        list_shown = view.as_list().params()
        st.page_link("pages/compare.py", label="Compare", query_params=list_shown, width="content")


def status(
    facts: RunFacts, *, has_citations: bool, can_be_judged: bool, folder: Path, job: IndexJob | None
) -> None:
    """Draw what is being worked on of the run's claims and citations, or why they are not there.

    `job` works on them, claims first, or says why it could not.
    """
    if facts.unread_bytes and (can_be_judged or has_citations):
        markup.note("Claims and cited text: once all traces are read", "muted")
        return
    lacks_claims = can_be_judged and facts.checked is None
    if lacks_claims:
        _pending("Claims", "checked", "checking", folder=folder, job=job)
    is_at_claims = lacks_claims and job is not None and job.is_running and job.event != "locating"
    if has_citations and facts.placed is None and not is_at_claims:
        _pending("Cited text", "located", "locating", folder=folder, job=job)


def _pending(about: str, done: str, event: Event, *, folder: Path, job: IndexJob | None) -> None:
    """Draw that a run's citations or claims are being worked on, or why they are not."""
    if job is not None and job.is_running:
        _being_done(f"{about}: being {done} …", event, job, job.is_past(event))
        return
    failure = job.failure if job is not None else None
    why = f"not {done}: {failure.splitlines()[-1]}" if failure else f"not {done} yet."
    command = Piece(f"proofspan index {shlex.quote(str(folder))}", "code")
    markup.show(markup.text([Piece(f"{about}: {why} ", "muted"), command], role="hint"))


@fragment()
def _being_done(words: str, event: Event, job: IndexJob, was_past: bool) -> None:
    steps = session.jobs().progress
    seen = steps.count
    if not job.is_running or (job.is_past(event) and not was_past):
        st.rerun()
    run_again_after(steps, seen)
    share = job.progress.share if job.progress and job.event == event else 0.0
    with st.container(width="content"):
        note = f"{words} {100 * share:.0f} %" if share else words
        markup.note(note.replace(" ", "\N{NO-BREAK SPACE}"), "muted")


def page_base_line(findings: Sequence[PageBaseFinding], view: ViewState) -> None:
    """Draw the first of these findings in one quiet line, with links to its questions and to the fix."""
    with line("pages"):
        markup.note(f"{in_words(findings[0])}.")
        if view.filter.evidence != ("page_mismatch",):
            st.button(
                "Show these questions",
                key="pages-shown",
                type="tertiary",
                on_click=change_view,
                kwargs={"evidence": ("page_mismatch",)},
            )
        title = f"What to do (and {len(findings) - 1:,} more)" if len(findings) > 1 else "What to do"
        st.page_link("pages/health.py", label=title, query_params=view.params(), width="content")


def template_notice(suggestion: Suggestion, profile: Profile, *, is_judged: bool) -> None:
    """Explain that no answer of the run follows the template, and offer a profile that fits them.

    With verdicts (`is_judged`) only the labels depend on that.
    """
    with st.container(border=True, key="notice"):
        which = "No answer of this run follows the template: its labels are unreliable, its verdicts are not."
        if not is_judged:
            which = "These labels are unreliable: no answer follows the template."
        unreliable = Piece(which, "strong")
        fits = f"This profile fits the answers: {suggestion.profile.describe()}."
        reason = Piece(f"Read with {profile.describe()}, {suggestion.reason}. {fits}")
        markup.show(markup.text([unreliable]), markup.text([reason], role="hint"))
        with st.container(horizontal=True):
            st.button(
                "Apply this profile",
                key="apply-profile",
                type="primary",
                on_click=change_view,
                kwargs={"profile": suggestion.profile},
            )
            _manifest_lines(suggestion.profile)


def profile_notice(profile: Profile, own: Profile) -> None:
    """Explain that the URL's profile is not the manifest's, and how to keep or leave it."""
    with st.container(key="notice", horizontal=True, vertical_alignment="center"):
        markup.note(f"Read with {profile.describe()}, not with the manifest's {own.describe()}.")
        st.button("Back to the manifest's", key="own-profile", on_click=change_view, kwargs={"profile": None})
        _manifest_lines(profile)


def sentence(view: ViewState, *, matching: int, total: int, is_judged: bool, can_be_judged: bool) -> None:
    """Draw in words what is shown and in which order; without verdicts that is by label."""
    ordered = table.order(view.sort)
    if view.sort == Sort() and not is_judged:
        ordered = "sorted by label until the claims are checked" if can_be_judged else "worst label first"
    shown = f"{view.filter.sentence(matching, total)} · {ordered}"
    named = (("suspicion", view.filter.suspicion), ("code", view.filter.code))
    tip = "; ".join(f"{name}: {', '.join(chosen)}" for name, chosen in named if chosen)
    markup.note(shown, tip=tip, role="line")


def walk_through(view: ViewState) -> None:
    """Draw the link that shows this list on Walkthrough."""
    st.page_link(
        "pages/walkthrough.py",
        label="Walk through",
        icon=":material/slideshow:",
        query_params=view.as_list().params(),
        width="content",
    )


def paging(matching: int, view: ViewState, *, rows_a_page: int) -> None:
    """Draw the pages of the table, where there is more than one."""
    pages = -(-matching // rows_a_page)
    if pages < 2:
        return
    at = min(view.at, pages)
    # A widget that begins at a value cannot be given another one: where the URL has another page than was
    # chosen, a new widget takes its place.
    turn = int(st.session_state.get("table-turn", 0))
    if st.session_state.get(f"table-page:{turn}", at) != at:
        turn += 1
        st.session_state["table-turn"] = turn
    key = f"table-page:{turn}"
    turn_page = lambda: change_view(at=int(st.session_state[key]))  # noqa: E731
    with st.container(horizontal=True, horizontal_alignment="center"):
        # As wide as its content it would have room for one number.
        st.pagination(
            pages, default=at, key=key, on_change=turn_page, width=PAGE_PIXELS * (min(pages, 7) + 3)
        )


def next_steps(
    groups: Sequence[Group],
    view: ViewState,
    profile: Profile,
    gold: Mapping[GoldState, int],
    buckets: Mapping[Bucket | None, int],
) -> None:
    """Draw what to do about the groups that are chosen, else about the first that call for something.

    Without verdicts groups are labels, whose steps depend on the profile. Of the states of `gold` and the
    `buckets` that call for a next step, those that the filter chooses follow, else the most frequent state
    and all misses.
    """

    def step_of(group: Group) -> str:
        if group.key in CAUSES:
            return CAUSE_STEPS[group.key]
        return next_step(group.key, profile.template) or "" if group.key in LABELS else ""

    lost = [state for state in GOLD_STATES if gold.get(state) and GOLD_STEPS.get(state)]
    states = view.filter.gold or sorted(lost, key=lambda state: -gold[state])[:1]
    failed = [bucket for bucket in BUCKETS if buckets.get(bucket) and BUCKET_STEPS.get(bucket)]
    present = [(group, step_of(group)) for group in groups if group.questions and group.change]
    chosen = [each for each in present if each[0].is_chosen(view.filter)]
    steps = [
        _Step(group.key, group.name, group.questions, group.means, words, group.change, group.term)
        for group, words in chosen or [each for each in present if each[1]][:MOST_STEPS]
    ]
    for bucket in failed:
        if not view.filter.bucket or bucket in view.filter.bucket:
            name, count, means = BUCKET_NAMES[bucket], buckets[bucket], BUCKET_MEANINGS[bucket]
            keep: Mapping[str, tuple[str, ...]] = {"bucket": (bucket,)}
            then, term = BUCKET_STEPS[bucket], f"bucket.{bucket}"
            steps.append(_Step(f"bucket-{bucket}", name, count, means, then, keep, term))
    for state in lost:
        if state in states:
            name, count, means = GOLD_NAMES[state], gold[state], GOLD_MEANINGS[state]
            then, term, keep = GOLD_STEPS[state], f"gold.{state}", {"gold": (state,)}
            steps.append(_Step(f"gold-{state}", name, count, means, then, keep, term))
    if not steps:
        return
    with st.container(border=True, key="next-step", gap="xsmall"):
        markup.note("Next step", "h2", role="text")
        for step in steps:
            _draw_step(step, view)


class _Step(NamedTuple):
    """A next step: what to do about some questions of a list, and the filters that keep them alone."""

    key: str
    name: str
    questions: int
    means: str
    words: str
    change: Mapping[str, tuple[str, ...]]
    term: str


def _draw_step(step: _Step, view: ViewState) -> None:
    """Draw a step, and after it the way to its questions: as the list, or, where they are, one by one."""
    is_shown = all(set(getattr(view.filter, name)) == set(values) for name, values in step.change.items())
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"step-to-{step.key}"):
        name = Piece(step.name, "strong", tip=step.means, term=step.term)
        count = Piece(f" {step.questions:,}", "strong")
        markup.show(markup.text([name, count, Piece(f"  {step.words or step.means}")], role="line"))
        if is_shown:
            walk = view.as_list().params()
            title = f"Walk through {step.questions:,}"
            st.page_link("pages/walkthrough.py", label=title, query_params=walk, width="content")
        else:
            st.button(
                f"Show {counted(step.questions, 'question')}",
                key=f"show-{step.key}",
                type="tertiary",
                on_click=change_view,
                kwargs=dict(step.change),
            )


def nothing_matches(total: int) -> None:
    """Explain that no question matches the filter, and offer to clear it."""
    with st.container(border=True, key="empty"):
        markup.note("No question matches this filter.", "strong", role="text")
        st.button(f"Show all {counted(total, 'question')}", key="show-all", on_click=show_all)


def _manifest_lines(profile: Profile) -> None:
    with st.popover("Keep it in the manifest", key="manifest-lines"):
        markup.note("Put this into pipeline_manifest.yaml, in place of `triage:`.")
        st.code(profile_snippet(profile), language="yaml")
