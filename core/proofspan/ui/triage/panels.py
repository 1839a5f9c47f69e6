"""The parts of the Triage page around its table. Each draws what it is given and fetches nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from proofspan.contracts.records.records import LABELS, Label
from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.messages import CLAIM_MEANINGS, GOLD_MEANINGS, GOLD_STEPS, MEANINGS, next_step
from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.display_names import (
    BUCKET_NAMES,
    CLAIM_NAMES,
    EVIDENCE_NAMES,
    FILTER_NAMES,
    GOLD_NAMES,
    LABEL_NAMES,
)
from proofspan.evidence.page_base import PageBaseFinding
from proofspan.manifest.types import Run
from proofspan.metrics.ranked import BUCKET_MEANINGS, BUCKET_STEPS, BUCKETS, Bucket
from proofspan.services.compare import WITHOUT_GOLD
from proofspan.services.page_base import in_words
from proofspan.services.workspace.index_job import Event, IndexJob
from proofspan.services.workspace.open import profile_snippet
from proofspan.store.files.checked import CheckedFile
from proofspan.store.files.evidence_states import EVIDENCE, EvidenceState
from proofspan.store.files.located import PlacedFile
from proofspan.store.files.types import Flips
from proofspan.store.query.filters import Flip
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.ui.status.fragments import fragment
from proofspan.ui.status.notices import run_names
from proofspan.ui.triage import table
from proofspan.ui.triage.filters import Choices, show_all
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup, text
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.controls import line, select, show_toggles, toggle, toggle_button
from proofspan.ui.widgets.markup import Piece
from proofspan.wording import counted

#: What is removed from the address with the run to compare with.
_ALONE = {"vs": "", "was": (), "was_bucket": (), "was_correct": (), "flip": "", "outcome": ""}
#: What the toggles of a comparison show, in order, and what it means.
FLIPS_SHOWN: Mapping[Flip, str] = {
    "fixed": "Wrong in the other run, right in this one",
    "regressed": "Right in the other run, wrong in this one",
}


def heading(view: ViewState, runs: Sequence[Run], *, total: int, profile: Profile) -> None:
    """Draw the page's title with the profile that every count depends on, and the choice of another run."""
    noun = "trace" if view.filter.all_variants else "question"
    markup.titled("Triage", f"  {view.run} · {counted(total, noun)} · {profile.describe()}", role="title")
    if names := run_names(runs, but=view.run):
        select(
            "Compare with",
            names,
            view.filter.vs or None,
            key="compared-with",
            placeholder="Compare with …",
            is_clearable=True,
            width=170,
            on_choose=lambda vs: change_view(**({"vs": vs} if vs else _ALONE)),
        )


def label_cards(
    counts: Mapping[Label | None, int],
    view: ViewState,
    *,
    moved: Sequence[tuple[str | None, str | None, int]] = (),
) -> None:
    """Draw a card per label with its count; a click filters by it, and several may be chosen.

    `moved` counts questions by their label in the run that is compared with and in this one, for
    `+3 vs R003`: by how many there are more or fewer.
    """
    whole = sum(counts[label] for label in LABELS)
    with st.container(key="cards"):
        for label in LABELS:
            number = counts[label]
            share = text.share_of(number, whole, unlabelled=counts[None])
            parts = list(map(text.unbroken, share.split(" · "))) if whole else [share]
            if moved:
                more = sum(count * ((now == label) - (was == label)) for was, now, count in moved)
                signed = "±0" if not more else f"{'+' if more > 0 else '−'}{abs(more):,}"
                against = markup.label(f"{signed} vs {view.filter.vs}", limit=30)
                parts.append(text.unbroken(against))
            summary = " · ".join(parts)
            st.button(
                f":{LABEL_COLOURS[label]}-badge[{LABEL_NAMES[label]}] **{number:,}** *{summary}*",
                key=f"card-{label}",
                type="primary" if label in view.filter.label else "secondary",
                width="stretch",
                on_click=toggle,
                args=("label", label),
            )


def gold_line(counts: Mapping[GoldState, int], view: ViewState, *, offered: Choices) -> None:
    """Draw the states of gold passages, a toggle each, worst first; nothing for a run without gold.

    `counts` are those of the list without its gold filter, `offered` the states that the run has: one that
    other filters leave empty stays, so that nothing moves.
    """
    present = {state for state, _ in offered} | {state for state in counts if counts[state]}
    shown = [state for state in GOLD_STATES if state in present.union(view.filter.gold)]
    if not shown:
        return
    listed = {state: counts[state] for state in shown}
    with line("gold"):
        show_toggles("gold", f"{FILTER_NAMES['gold']}:", listed, GOLD_NAMES, GOLD_MEANINGS, view.filter.gold)


def bucket_line(counts: Mapping[Bucket | None, int], view: ViewState) -> None:
    """Draw the ranking buckets, a toggle each, best first. `counts` are those without the bucket filter."""
    listed = {bucket: counts.get(bucket, 0) for bucket in BUCKETS}
    means = {bucket: f"{BUCKET_MEANINGS[bucket]} ({bucket})" for bucket in BUCKETS}
    with line("bucket", width="content"):
        about = f"{FILTER_NAMES['bucket']}:"
        show_toggles("bucket", about, listed, BUCKET_NAMES, means, view.filter.bucket)


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


def cited_line(
    counts: Mapping[EvidenceState, int],
    placed: PlacedFile | None,
    view: ViewState,
    *,
    folder: Path,
    job: IndexJob | None,
) -> None:
    """Draw the evidence states, a toggle each, worst first.

    `counts` are those of the list without its evidence filter; a state that the run has stays when other
    filters leave it empty, so that nothing moves. While citations are not located, `job` does it, or says why
    it could not.
    """
    with line("evidence", width="content"):
        if placed is not None:
            shown = {*placed.counts, *view.filter.evidence}
            present = {state: counts.get(state, 0) for state in EVIDENCE if state in shown}
            means = {state: words.meaning for state, words in EVIDENCE.items()}
            show_toggles("evidence", "Cited text:", present, EVIDENCE_NAMES, means, view.filter.evidence)
        else:
            _pending("Cited text", "located", "locating", folder=folder, job=job)


def claims_line(
    counts: Mapping[ClaimStatus, int],
    checked: CheckedFile | None,
    view: ViewState,
    *,
    folder: Path,
    job: IndexJob | None,
) -> None:
    """Draw the statuses of claims, a toggle each, worst first; `job` checks them, as in `cited_line`.

    `counts` are the questions of the list without its claim filter; a status that the run has stays when
    other filters leave it empty.
    """
    with line("claims", width="content"):
        if checked is not None:
            shown = {*checked.claims, *view.filter.claim}
            present = {status: counts.get(status, 0) for status in CLAIM_MEANINGS if status in shown}
            show_toggles("claim", "Claims:", present, CLAIM_NAMES, CLAIM_MEANINGS, view.filter.claim)
        else:
            _pending("Claims", "checked", "checking", folder=folder, job=job)


def _pending(about: str, done: str, event: Event, *, folder: Path, job: IndexJob | None) -> None:
    """Draw that a run's citations or claims are being worked on, or why they are not."""
    if job is not None and job.is_running:
        _being_done(f"{about}: being {done} …", event, job, job.is_past(event))
        return
    failure = job.failure if job is not None else None
    why = f"not {done}: {failure.splitlines()[-1]}" if failure else f"not {done} yet."
    command = Piece(f"proofspan index {shlex.quote(str(folder))}", "code")
    markup.show(markup.text([Piece(f"{about}: {why} ", "muted"), command], role="hint"))


@fragment(run_every=1.0)
def _being_done(words: str, event: Event, job: IndexJob, was_past: bool) -> None:
    if not job.is_running or (job.is_past(event) and not was_past):
        st.rerun()
    share = job.progress.share if job.progress and job.event == event else 0.0
    with st.container(width="content"):
        markup.note(f"{words} {100 * share:.0f} %" if share else words, "muted")


def safety_line(omitting: int, judged: int, view: ViewState) -> None:
    """Draw how many of the `judged` answers may omit a warning, in the list without its safety filter."""
    with line("safety", width="content"):
        markup.note("Safety:", "muted")
        toggle_button(
            f"**{omitting:,}** of {judged:,} may omit a warning",
            key="safety-omitted",
            help="Neither answer nor citations mention a WARNING or CAUTION of the cited section; "
            "of the questions with a citation to judge by.",
            is_on=bool(view.filter.safety),
            on_click=partial(change_view, safety=None if view.filter.safety else True),
        )


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


def template_notice(suggestion: Suggestion, profile: Profile) -> None:
    """Explain that no answer of the run follows the template, and offer a profile that fits them."""
    with st.container(border=True, key="notice"):
        unreliable = Piece("These labels are unreliable: no answer follows the template.", "strong")
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


def sentence(view: ViewState, *, matching: int, total: int) -> None:
    """Draw in words what is shown and in which order."""
    shown = f"{view.filter.sentence(matching, total)} · {table.order(view.sort)}"
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
        st.pagination(pages, default=at, key=key, on_change=turn_page)


def next_steps(
    labels: Sequence[Label],
    view: ViewState,
    profile: Profile,
    gold: Mapping[GoldState, int],
    buckets: Mapping[Bucket | None, int],
) -> None:
    """Draw what the labels in view mean and what to do about them, under the profile.

    Of the states of `gold` and the `buckets` that call for a next step, those that the filter chooses follow,
    else the most frequent state and all misses.
    """
    lost = [state for state in GOLD_STATES if gold.get(state) and GOLD_STEPS.get(state)]
    states = view.filter.gold or sorted(lost, key=lambda state: -gold[state])[:1]
    failed = [bucket for bucket in BUCKETS if buckets.get(bucket) and BUCKET_STEPS.get(bucket)]

    def step(name: Piece, means: str, words: str | None) -> None:
        heading = markup.text([name, Piece(means, "muted")], role="line")
        markup.show(heading, markup.text([Piece(words or "")], role="line"))

    with st.container(border=True, key="next-step"):
        markup.note("Next step", "strong", role="text")
        for label in labels:
            step(markup.chip(label), MEANINGS[label], next_step(label, profile.template))
        for bucket in failed:
            if not view.filter.bucket or bucket in view.filter.bucket:
                name = Piece(f"{buckets[bucket]:,} {BUCKET_NAMES[bucket]}", "strong")
                step(name, f" {BUCKET_MEANINGS[bucket]}", BUCKET_STEPS.get(bucket))
        for state in lost:
            if state in states:
                name = Piece(f"{gold[state]:,} {GOLD_NAMES[state]}", "strong")
                step(name, f" {GOLD_MEANINGS[state]}", GOLD_STEPS.get(state))


def nothing_matches(total: int) -> None:
    """Explain that no question matches the filter, and offer to clear it."""
    with st.container(border=True, key="empty"):
        markup.note("No question matches this filter.", "strong", role="text")
        st.button(f"Show all {counted(total, 'question')}", key="show-all", on_click=show_all)


def _manifest_lines(profile: Profile) -> None:
    with st.popover("Keep it in the manifest", key="manifest-lines"):
        markup.note("Put this into pipeline_manifest.yaml, in place of `triage:`.")
        st.code(profile_snippet(profile), language="yaml")
