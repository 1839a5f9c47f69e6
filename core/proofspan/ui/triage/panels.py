"""The parts of the Triage page around its table. Each draws what it is given and fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from proofspan.contracts.records.records import LABELS, Label
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.messages import gold_meaning, gold_step, meaning, next_step
from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.display_names import BUCKET_NAMES, FILTER_NAMES, GOLD_NAMES
from proofspan.metrics.ranked import BUCKETS, Bucket, bucket_meaning, bucket_step
from proofspan.services.workspace.open import profile_snippet
from proofspan.ui.triage import table
from proofspan.ui.triage.filters import Choices, show_all
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup, text
from proofspan.ui.widgets.chart import badge
from proofspan.ui.widgets.controls import line, show_toggles, toggle
from proofspan.wording import counted


def heading(view: ViewState, *, total: int, profile: Profile) -> None:
    """Draw the page's title with the profile that every count depends on."""
    noun = "trace" if view.filter.all_variants else "question"
    about = f"  {view.run} · {counted(total, noun)} · {profile.describe()}"
    markup.show(markup.text([markup.Piece("Triage"), markup.Piece(about, "muted")], role="title"))


def label_cards(
    counts: Mapping[Label, int],
    view: ViewState,
    *,
    unlabelled: int,
    moved: Sequence[tuple[str | None, str | None, int]] = (),
) -> None:
    """Draw a card per label with its count; a click filters by it, and several may be chosen.

    `moved` counts questions by their label in the run that is compared with and in this one.
    """
    whole = sum(counts.values())
    with st.container(key="cards"):
        for label in LABELS:
            count = counts.get(label, 0)
            summary = text.unbroken(text.share_of(count, whole, unlabelled=unlabelled))
            summary += f" · {_against(moved, label, view)}" if moved else ""
            st.button(
                f"{badge(label)} **{count:,}** *{summary}*",
                key=f"card-{label}",
                type="primary" if label in view.filter.label else "secondary",
                width="stretch",
                on_click=toggle,
                args=("label", label),
            )


def _against(moved: Sequence[tuple[str | None, str | None, int]], label: Label, view: ViewState) -> str:
    """Return `+3 vs R003`: by how many questions of both runs there are more or fewer."""
    more = sum(count * ((now == label) - (was == label)) for was, now, count in moved)
    signed = "±0" if not more else f"{'+' if more > 0 else '−'}{abs(more):,}"
    return markup.label(f"{signed} vs {view.filter.vs}", limit=30).replace(" ", "\u00a0")


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
        show_toggles("gold", f"{FILTER_NAMES['gold']}:", listed, GOLD_NAMES, gold_meaning, view.filter.gold)


def bucket_line(counts: Mapping[Bucket | None, int], view: ViewState) -> None:
    """Draw the ranking buckets, a toggle each, best first. `counts` are those without the bucket filter."""
    listed = {bucket: counts.get(bucket, 0) for bucket in BUCKETS}
    meaning = lambda bucket: f"{bucket_meaning(bucket)} ({bucket})"  # noqa: E731
    with line("bucket", width="content"):
        about = f"{FILTER_NAMES['bucket']}:"
        show_toggles("bucket", about, listed, BUCKET_NAMES, meaning, view.filter.bucket)


def template_notice(suggestion: Suggestion, profile: Profile) -> None:
    """Explain that no answer of the run follows the template, and offer a profile that fits them."""
    with st.container(border=True, key="notice"):
        markup.show(
            markup.text(
                [markup.Piece("These labels are unreliable: no answer follows the template.", "strong")]
            ),
            markup.text(
                [
                    markup.Piece(
                        f"Read with {profile.describe()}, {suggestion.reason}. "
                        f"This profile fits the answers: {suggestion.profile.describe()}."
                    )
                ],
                role="hint",
            ),
        )
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
        words_shown = f"Read with {profile.describe()}, not with the manifest's {own.describe()}."
        markup.note(words_shown)
        st.button("Back to the manifest's", key="own-profile", on_click=change_view, kwargs={"profile": None})
        _manifest_lines(profile)


def sentence(view: ViewState, *, matching: int, total: int) -> None:
    """Draw in words what is shown and in which order."""
    codes = view.filter.suspicion
    shown = f"{view.filter.sentence(matching, total)} · {table.order(view.sort)}"
    named = (("suspicion", codes), ("code", view.filter.code))
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
    key = _page_key(at)
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.pagination(pages, default=at, key=key, on_change=_turn_page, args=(key,))


def _page_key(at: int) -> str:
    """Return a new key where the URL has another page than was chosen: a widget that begins at a value cannot
    be given another one.
    """
    turn = int(st.session_state.get("table-turn", 0))
    if st.session_state.get(f"table-page:{turn}", at) != at:
        turn += 1
        st.session_state["table-turn"] = turn
    return f"table-page:{turn}"


def next_steps(
    labels: Sequence[Label],
    profile: Profile,
    gold: Mapping[GoldState, int],
    buckets: Mapping[Bucket, int],
) -> None:
    """Draw what the labels in view mean and what to do about them, under the profile.

    `buckets` and `gold` are failed buckets and lost gold states with their counts, in the order to be shown.
    """
    with st.container(border=True, key="next-step"):
        markup.note("Next step", "strong", role="text")
        for label in labels:
            markup.show(
                markup.text([markup.chip(label), markup.Piece(meaning(label), "muted")], role="line"),
                markup.text([markup.Piece(next_step(label, profile.template))], role="line"),
            )
        for bucket, count in buckets.items():
            failed = markup.Piece(f"{count:,} {BUCKET_NAMES[bucket]}", "strong")
            markup.show(
                markup.text([failed, markup.Piece(f" {bucket_meaning(bucket)}", "muted")], role="line"),
                markup.text([markup.Piece(bucket_step(bucket) or "")], role="line"),
            )
        for state, count in gold.items():
            lost = markup.Piece(f"{count:,} {GOLD_NAMES[state]}", "strong")
            markup.show(
                markup.text([lost, markup.Piece(f" {gold_meaning(state)}", "muted")], role="line"),
                markup.text([markup.Piece(gold_step(state) or "")], role="line"),
            )


def lost_gold(counts: Mapping[GoldState, int], chosen: Sequence[GoldState]) -> dict[GoldState, int]:
    """Return the states that call for a next step: those chosen, else the most frequent one."""
    wanting = {state: counts[state] for state in GOLD_STATES if counts.get(state) and gold_step(state)}
    shown = chosen or sorted(wanting, key=lambda state: -wanting[state])[:1]
    return {state: count for state, count in wanting.items() if state in shown}


def failed_buckets(counts: Mapping[Bucket | None, int], chosen: Sequence[Bucket]) -> dict[Bucket, int]:
    """Return the buckets that call for a next step: those chosen, else all misses."""
    failed = {bucket: counts.get(bucket, 0) for bucket in BUCKETS if bucket_step(bucket)}
    return {bucket: count for bucket, count in failed.items() if count and (not chosen or bucket in chosen)}


def nothing_matches(total: int) -> None:
    """Explain that no question matches the filter, and offer to clear it."""
    with st.container(border=True, key="empty"):
        markup.note("No question matches this filter.", "strong", role="text")
        st.button(f"Show all {counted(total, 'question')}", key="show-all", on_click=show_all)


def _manifest_lines(profile: Profile) -> None:
    with st.popover("Keep it in the manifest", key="manifest-lines"):
        markup.note("Put this into pipeline_manifest.yaml, in place of `triage:`.")
        st.code(profile_snippet(profile), language="yaml")


def _turn_page(key: str) -> None:
    change_view(at=int(st.session_state[key]))
