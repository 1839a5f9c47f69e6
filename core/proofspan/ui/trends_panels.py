"""The parts of Trends around its figures. Each draws what it is given and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from proofspan.metrics.buckets import BUCKET_NAMES, BUCKETS, bucket_meaning, bucket_step
from proofspan.metrics.catalogue import GROUPS, METRICS
from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import left_out_in_words
from proofspan.services.ranks import RankOrder, Ranks, sorted_questions
from proofspan.services.trends import RunTrend, Trends
from proofspan.store.measuring import Slice
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.compare_matrices import Transitions, bucket_matrix
from proofspan.ui.fragments import fragment
from proofspan.ui.grid import show_grid
from proofspan.ui.inputs import feed, search_field
from proofspan.ui.other_runs import LOOK_AGAIN_SECONDS
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, change_view
from proofspan.ui.trends_export import metrics_export
from proofspan.ui.trends_points import base
from proofspan.ui.trends_ranks import ORDERS, ROWS_A_PAGE, rank_grid
from proofspan.ui.trends_refusals import refusal_grid
from proofspan.ui.trends_table import metric_grid, slice_grid
from proofspan.ui.words import counted

#: Slice → its metrics.
Slices = Mapping[str, Mapping[str, MetricValue]]
_SLICES: Mapping[Slice, str] = {
    "section": "section",
    "document": "document",
    "type": "question type",
    "bucket": "bucket",
}


def heading(trends: Trends, view: ViewState) -> None:
    """What is shown, and the way to the run that it is compared with."""
    run = trends.current
    about = f"  {run.run_id} · {counted(run.questions, 'question')} · {counted(len(trends.runs), 'run')}"
    about += f" · compared with {trends.other.run_id}" if trends.other is not None else ""
    with st.container(horizontal=True, vertical_alignment="center", key="trends-head"):
        safe.show(safe.text([Piece("Trends"), Piece(about, "muted")], role="title"), width="content")
        if trends.other is not None:
            st.space("stretch")
            st.page_link(
                "pages/compare.py",
                label=safe.label(f"Compare with {trends.other.run_id}"),
                icon=":material/compare_arrows:",
                query_params=base(view, run.run_id).change(vs=trends.other.run_id).params(),
            )


def scope(trends: Trends, view: ViewState, *, has_gold: bool) -> None:
    """What the numbers below are of, where a reader may take them for something else."""
    said = []
    if view.is_filtered:
        said.append("These are all questions of each run: the filter of Triage does not restrict them.")
    if not has_gold:
        said.append(
            "The workspace names no gold set, so nothing says where an answer stands: ranking, citations and "
            "refusals are not measured. Add gold: {path: …} to its manifest."
        )
    if len(trends.runs) == 1 and not trends.missing:
        said.append("This is the only run so far: there is nothing yet to compare it with.")
    for each in said:
        safe.show(safe.text([Piece(each, "muted")], role="hint"))


def missing_runs(missing: Sequence[str], at_work: Callable[[], bool]) -> None:
    """Which runs are not among the numbers; while they are being indexed, the page looks again by itself."""
    if missing and at_work():
        _waiting(tuple(missing), at_work)
    elif missing:
        _missing(missing, "without an index; proofspan index says why")


@fragment(run_every=LOOK_AGAIN_SECONDS)
def _waiting(missing: tuple[str, ...], at_work: Callable[[], bool]) -> None:
    if not at_work():
        st.rerun()
    _missing(missing, "being indexed; they appear here when they are done")


def _missing(missing: Sequence[str], why: str) -> None:
    named = ", ".join(missing[:5]) + (f" and {len(missing) - 5:,} more" if len(missing) > 5 else "")
    safe.show(safe.text([Piece(f"{counted(len(missing), 'run')} {why}: {named}.")], role="hint"))


def refusals(run: RunTrend, view: ViewState) -> None:
    """Refused? × gold in the top 20?"""
    about = f"Does {run.run_id} decline where it should answer? Of answerable questions."
    with panel("refusals", "Refusals", about):
        if sum(run.refusals.values()):
            show_grid(refusal_grid(run, view), key="refusal-cells")
        else:
            _nothing(run.measured.values["gt_in_top_20"])


def bucket_flow(trends: Trends, moves: Transitions, view: ViewState) -> None:
    """How the shown run's buckets came from those of the other run, and each bucket's next step."""
    run, other = trends.current, trends.other
    about = (
        f"Rows: what questions were in {other.run_id}; columns: what they are in {run.run_id}. Open a cell."
        if other is not None
        else "How questions move between buckets shows with a second run."
    )
    with panel("flow", "From bucket to bucket", about):
        if other is not None and any(run.buckets.get(bucket) for bucket in BUCKETS):
            compared = base(view, run.run_id).change(vs=other.run_id)
            show_grid(bucket_matrix(moves, compared), key="flow-cells")
        for bucket in BUCKETS:
            step, count = bucket_step(bucket), run.buckets.get(bucket, 0)
            if step and count:
                told = [Piece(f"{count:,} {bucket}", "strong", tip=bucket_meaning(bucket))]
                told += [Piece(f" {BUCKET_NAMES[bucket]}. ", "muted"), Piece(step)]
                safe.show(safe.text(told, role="hint"))


def rank_panel(trends: Trends, known: Ranks, view: ViewState) -> None:
    """The heat map of ranks, with what it is sorted by, a search, and its pages."""
    other = trends.other.run_id if trends.other is not None else None
    run = trends.current.run_id
    about = (
        "The place of the gold section in the last stage's list: 1 is a hit, – is not found. "
        "Open a question from its number."
    )
    with panel("ranks", "Rank of the gold section, question by question", about):
        if not known.questions:
            _nothing(trends.current.measured.values["section_match_at_1"])
            return
        order = view.order or ("falls" if other else "question")
        with st.container(horizontal=True, vertical_alignment="center", key="trend-sort"):
            _order(order, compared=other is not None)
            _search(view)
        found = sorted_questions(known, order, view.find, run=run, against=other)
        pages = max(1, -(-len(found) // ROWS_A_PAGE))
        leaf = min(view.leaf, pages)
        if not found:
            safe.show(safe.text([Piece("No judged question holds these words.", "strong")], role="hint"))
            return
        shown = found[(leaf - 1) * ROWS_A_PAGE : leaf * ROWS_A_PAGE]
        titles = {each.run_id: each.run.title or "" for each in trends.runs}
        show_grid(rank_grid(known, shown, view, runs=titles, run=run, against=other), key="rank-cells")
        with st.container(horizontal=True, vertical_alignment="center"):
            told = f"{len(shown):,} of {counted(len(found), 'judged question')}"
            safe.show(safe.text([Piece(told, "muted")], role="hint"), width="content")
            if pages > 1:
                st.pagination(
                    pages, default=leaf, key=f"leaf:{leaf}", on_change=_turn, args=(f"leaf:{leaf}",)
                )


def _order(order: RankOrder, *, compared: bool) -> None:
    key = "rank-order"
    if not compared:
        return
    feed(key, order)
    st.segmented_control(
        "Sorted by",
        list(ORDERS),
        required=True,
        format_func=lambda name: ORDERS[name],
        label_visibility="collapsed",
        key=key,
        on_change=lambda: change_view(order=st.session_state[key], leaf=1),
    )


def _search(view: ViewState) -> None:
    key = "rank-find"
    search_field(
        "Search questions",
        key=key,
        value=view.find,
        placeholder="Search questions …",
        width=220,
        on_change=lambda: change_view(find=st.session_state[key], leaf=1),
    )


def _turn(key: str) -> None:
    change_view(leaf=int(st.session_state[key]))


def metrics_panel(
    trends: Trends,
    view: ViewState,
    slices: Slices | None,
    *,
    workspace: str,
) -> None:
    """Every metric of the shown run, with its definition behind a fold; `slices` are those of `view.by`."""
    run = trends.current
    about = f"What {run.run_id} comes to: each number with what it counts, how sure it is, what is left out."
    with panel("metrics", "All metrics", about):
        with st.container(horizontal=True, vertical_alignment="center", key="metric-head"):
            _slice_choice(view)
            st.space("stretch")
            metrics_export(run, slices, name=workspace)
        _stored_pack(run)
        if view.by is None or slices is None:
            show_grid(metric_grid(run, trends.other, view), key="metric-cells")
        elif slices:
            show_grid(slice_grid(slices, view.by, run.run_id, view), key=f"metric-cells-{view.by}")
        else:
            told = f"No question of {run.run_id} has a {_SLICES[view.by]}."
            safe.show(safe.text([Piece(told, "strong")], role="hint"))
        with st.expander("How is this counted?", key="counted"):
            definitions()


def definitions() -> None:
    """Each metric's definition and source."""
    for group, title in GROUPS.items():
        safe.show(
            safe.text([Piece(title)], role="heading"),
            safe.facts(
                [
                    (metric.name, [Piece(metric.counted), Piece(f"  {metric.source}.", "muted")])
                    for metric in METRICS.values()
                    if metric.group == group
                ]
            ),
        )


def _slice_choice(view: ViewState) -> None:
    key = "metrics-by"
    chosen = view.by or "whole"
    feed(key, chosen)
    st.segmented_control(
        "Sliced by",
        ["whole", *_SLICES],
        required=True,
        format_func=lambda name: "whole run" if name == "whole" else f"by {_SLICES[name]}",
        label_visibility="collapsed",
        key=key,
        on_change=lambda: change_view(by=None if st.session_state[key] == "whole" else st.session_state[key]),
    )


def _stored_pack(run: RunTrend) -> None:
    """What the run's stored metrics pack says otherwise than what is counted now."""
    if not run.measured.differences:
        return
    with st.container(border=True, key="pack"):
        safe.show(
            safe.text([Piece("The stored metrics pack differs from what is counted here.", "strong")]),
            *(safe.text([Piece(each.in_words())], role="hint") for each in run.measured.differences),
        )


def _nothing(value: MetricValue) -> None:
    told = f"Nothing to count: {left_out_in_words(value) or 'no questions'}."
    safe.show(safe.text([Piece(told)], role="hint"))
