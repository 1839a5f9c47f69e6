"""The Question page's panels: each draws what it receives and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.contracts.records.records import LABELS, StageName, TraceKey
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN
from proofspan.diagnosis.messages import suspicion_text
from proofspan.diagnosis.types import ReportRow
from proofspan.display_names import COLUMN_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.services.question.markdown import question_markdown
from proofspan.services.question.rules import BrokenRule
from proofspan.services.question.variants import ASPECTS, Steadiness
from proofspan.services.question.view import QuestionView
from proofspan.store.files.types import Neighbours
from proofspan.traces.records.scores import scores_of
from proofspan.ui.question.candidates import KEY, candidates_grid, row_key
from proofspan.ui.triage.table import gold_rank
from proofspan.ui.viewer.claim_places import ShownClaims
from proofspan.ui.visit.view_state import ViewState, change_view, question_name, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import LABEL_COLOURS
from proofspan.ui.widgets.controls import feed, show_steps
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Markup, Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Grid, Row, show_grid
from proofspan.ui.widgets.text import variant
from proofspan.ui.wording import question
from proofspan.ui.wording.citation import with_pages
from proofspan.ui.wording.safety import notice_ways
from proofspan.wording import Labels, counted, with_printed

STAGE_NAMES = {"chunks": "in the prompt", "reranked": "reranked", "fused": "fused", "retrieved": "retrieved"}
STAGE_KEY = "stage"
#: Scores of an answer that are listed; others are in its record.
MOST_SCORES = 40


def header(
    view: QuestionView, *, repeat: int, beside: Neighbours, has_verdict: bool, of: Sequence[Markup]
) -> DeltaGenerator:
    """Show the question, and its position in the list with the neighbours.

    A question that the filter does not show has no neighbours. Without a verdict its label leads, with the
    reason, or the reason why it has no label. `of` marks what the page is drawn for. Return the container of
    the component that steps (see `navigation.show_steps_ahead`).
    """
    trace = view.trace
    key = TraceKey(trace.run_id or "", trace.q_id, trace.paraphrase, trace.seed, repeat)
    short = question.short_id(trace.q_id)
    tip = trace.q_id if short != trace.q_id else ""
    name = Piece(" · ".join([short, *variant(key)]), "muted", tip=tip)
    lead = [] if has_verdict else _label_pieces(view)
    shown = read_view()
    run = trace.run_id or shown.run
    walk = shown.change(run=run, chunk=None, page=None, stage=None, ids=shown.ids, at=1)
    if not walk.has_playlist:  # the list that the question is in
        walk = walk.change(whole=True)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        markup.show(*of, markup.text([name, *lead], role="line"))
        # In a narrow window the page is below the answer: `steps.js` scrolls there.
        st.button("See the page ↓", key="see-page", type="tertiary")
        show_steps(beside, "shown", walk=walk)
        wire = st.container(key="ahead")
    if view.is_question_known:
        markup.show(markup.text([Piece(view.trace.q, "h1")], role="title", limit=1_000))
    return wire


def sides() -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """Return the containers of answer, page and the rest: the page is beside both, in a narrow window between
    them, so that a chosen citation's place is never far from it (see style.css)."""
    both = st.container(key="sides")
    return (
        both.container(border=True, key="answer"),
        both.container(key="page-side"),
        both.container(key="reading"),
    )


def _label_pieces(view: QuestionView) -> list[Piece]:
    chip, reason = question.label_chip(view)
    return [chip, Piece(reason, "muted")]


def why(view: QuestionView, indexed: Mapping[str, Any], *, has_verdict: bool, labels: Labels) -> None:
    """Show the label's reasons: the signals with their values, and each issue; folded behind a verdict.

    `indexed` is the question's row of the index, `labels` name a document's pages.
    """
    docs = {each.doc_id for each in view.omissions or ()}
    printed = labels(docs.pop()) if len(docs) == 1 else ()
    row, stored = view.row, view.stored
    if stored is None and row is not None:
        # The label's rules are those of answers by a template: of others they would blame a paraphrase.
        has_label = view.profile.template != "none"
        if has_verdict:
            title = f"Reference label: {LABEL_NAMES[row.label]}" if has_label else "Signals"
            with st.expander(title, key="why"):
                lead = _label_pieces(view) if has_label or row.label == "ok" else ()
                _why(view, row, indexed, printed, lead=lead)
        else:
            with st.container(border=True, key="why", gap="xsmall"):
                _why(view, row, indexed, printed)
        return
    with st.container(border=True, key="why", gap="xsmall"):
        if stored is not None:
            head = [Piece("As stored ", "h2"), Piece(stored.source.file, "muted")]
            markup.show(markup.text(head, role="line"), markup.facts(question.stored_rows(view, stored)))
        elif view.is_question_known:
            message = "Without usable chunks there is no evidence to judge by, and so no label, no signals."
            markup.note(message, "muted")
        else:
            markup.note(suspicion_text(QUESTION_UNKNOWN), "muted")


def _why(
    view: QuestionView,
    row: ReportRow,
    indexed: Mapping[str, Any],
    printed: Sequence[str],
    *,
    lead: Sequence[Piece] = (),
) -> None:
    tip = f"How answers are read here: {view.profile.describe()}. The manifest's triage part sets it."
    profile = Piece(f"profile: template {view.profile.template}", "muted", tip=tip)
    title = [Piece("Why this label ", "h2")] if view.profile.template != "none" else []
    markup.show(
        *([markup.text(lead, role="line")] if lead else []),
        markup.text([*title, profile], role="line"),
        markup.facts(
            [(name, with_pages(each, printed)) for name, each in question.signal_rows(view, row, indexed)]
        ),
    )
    if ways := notice_ways(view):  # a button for each notice that the answer may omit, which opens its page
        with st.container(horizontal=True, gap="small", key="notice-pages"):
            for place, (words, change) in enumerate(ways):
                st.button(
                    markup.label(with_printed(words, printed)),
                    key=f"notice-{place}",
                    type="tertiary",
                    on_click=change_view,
                    kwargs=change,
                )


def candidates(
    view: QuestionView,
    *,
    chosen: str | None,
    stage: StageName | None,
    titles: Mapping[str, str],
    labels: Labels,
    of: str,
) -> None:
    """Show the ranked list of one stage, the URL's or the last; a click on a row shows the chunk's place.

    `titles` are those of the workspace's documents, `labels` the printed page numbers of one;
    `of` names the question (see `markup.place`).
    """
    if not view.stages:
        markup.note("The trace lists no candidates, so there is nothing to compare.")
        return
    stages = {each.name: each for each in reversed(view.stages)}
    usual = next(iter(stages))
    name = stage if stage in stages else usual
    feed(STAGE_KEY, name)

    def choose_stage() -> None:
        chosen = st.session_state[STAGE_KEY]
        change_view(stage=None if chosen == usual else chosen)

    st.segmented_control(
        "Stage",
        list(stages),
        required=True,
        format_func=lambda name: f"{STAGE_NAMES[name]} · {len(stages[name].candidates)}",
        label_visibility="collapsed",
        key=STAGE_KEY,
        on_change=choose_stage,
    )
    ids = {row_key(each.candidate.chunk_id): each.candidate.chunk_id for each in stages[name].candidates}
    show_grid(
        candidates_grid(stages[name], titles, labels=labels),
        key=KEY,
        chosen=None if chosen is None else row_key(chosen),
        of=of,
        on_choose=lambda key: change_view(chunk=ids[key], cite=None, page=None),
    )


def copy_for_llm(view: QuestionView, claims: ShownClaims | None) -> None:
    """Show the button that copies the question with its claims, its evidence and the cause as Markdown."""
    words = question_markdown(
        view,
        checked=claims.checked if claims else None,
        verdict=claims.verdict if claims else None,
    )
    show_copying(words, name="for an LLM", key="copy-for-llm", with_link=False, shows_text=False)


def scores(view: QuestionView, *, tools: Sequence[str]) -> None:
    """Show the scores that other tools gave this answer, with who gave them and why; nothing without any.

    `tools` are the tools whose files the workspace was made of.
    """
    found = list(scores_of(view.trace.raw))
    if not found:
        return
    source = f"from {tools[0]}" if len(tools) == 1 else "of other tools"
    with st.expander(f"Scores {markup.label(source)} · {len(found):,}", expanded=True, key="scores"):
        rows = [(each.name, [*question.score_pieces(each)]) for each in found[:MOST_SCORES]]
        markup.show(markup.facts(rows))
        if len(found) > MOST_SCORES:
            markup.note(f"{len(found) - MOST_SCORES:,} more are in the raw record.", "muted")


def raw_record(view: QuestionView) -> None:
    """Show the record as it is in its file, with the place of the line, once it is opened."""

    def draw() -> None:
        source = view.trace.source
        where = f"line {source.line:,}, byte {source.offset:,}, {source.length:,} bytes"
        if not source.length:  # an entry of a JSON array has no bytes of its own
            where = f"entry {source.line:,}"
        st.text(markup.clean(f"{source.file}, {where}"))
        record = orjson.dumps((view.stored or view.trace).raw, option=orjson.OPT_INDENT_2)
        text = record.decode("utf-8", "replace")
        if len(text) <= markup.LIMIT:
            st.json(markup.clean(text), expanded=1)
        else:
            st.code(markup.clean(text[: markup.LIMIT]), language=None, wrap_lines=True)
            st.caption(f"{len(text) - markup.LIMIT:,} more characters are in the file.")

    fold("record", "Raw record", draw)


def no_such_variant(missing: TraceKey, instead: TraceKey) -> None:
    """Show that the run has the question but not this trace of it, with the way to `instead`."""
    is_variant = bool(missing.paraphrase or missing.seed)
    parts = [f"paraphrase {missing.paraphrase} with seed {missing.seed}"] if is_variant else []
    parts += [f"repeat {missing.repeat}"] if missing.repeat > 1 else []
    q_id = question.short_id(missing.q_id)
    message = f"{q_id} has no {', '.join(parts) or 'first trace'} in {missing.run_id}."
    name = question_name(instead.q_id, instead.repeat)
    link = read_view().change(run=instead.run_id, q=name, p=instead.paraphrase, s=instead.seed)
    with st.container(border=True, key="no-variant"):
        markup.note(message, "h1", role="line", tip=missing.q_id)
        st.page_link(
            "pages/question.py",
            label=markup.label(f"Open {' · '.join([q_id, *variant(instead)])}"),
            query_params=link.params(),
            width="content",
        )


def nothing_to_open(*, is_filtered: bool) -> None:
    """Show that the list is empty, with the way back."""
    words = "No question matches the filter." if is_filtered else "This run has no question yet."
    markup.note(words, "h1", role="title")
    st.page_link("pages/triage.py", label="Back to Triage")


# The contract rules that a question breaks.

#: Rules shown, the rest is folded; messages shown of each rule, and places of each message.
MAX_RULES, MAX_MESSAGES, MAX_PLACES = 3, 4, 4
_SEVERITIES = ("error", "warning")


def show_findings(broken: Sequence[BrokenRule], view: ViewState) -> None:
    """Show the broken rules of the question, the worst first and the rest folded; nothing if none."""
    if not broken:
        return
    with st.container(border=True, key="contract", gap="xsmall"):
        _show_rules(broken[:MAX_RULES], view, head=heading(broken))
        if rest := broken[MAX_RULES:]:
            with st.expander(counted(len(rest), "more broken rule"), key="contract-rest"):
                _show_rules(rest, view)


def heading(broken: Sequence[BrokenRule]) -> list[Piece]:
    """Return `Contract 3 rules broken: 2 errors, 1 warning`."""
    severities = [each.rule.severity for each in broken]
    counts = [counted(severities.count(each), each) for each in _SEVERITIES if each in severities]
    total = f"{counted(len(broken), 'rule')} broken: {', '.join(counts)}"
    return [Piece("Contract", "h2", term="term.contract"), Piece(f" {total}", "muted")]


def rule_rows(each: BrokenRule) -> Iterator[tuple[str, list[Piece]]]:
    """Yield a rule's rows: its title, where it is broken and how, then its code and fix."""
    title = each.rule.title
    messages: dict[str, list[str]] = {}  # the places of each, so that it is shown once
    for problem in each.problems:
        messages.setdefault(problem.message, []).append(problem.where)
    for message, fields in islice(messages.items(), MAX_MESSAGES):
        is_named = fields == [message.partition(" ")[0]]  # by the sentence itself
        yield title, [*([] if is_named else _places(fields)), Piece(message)]
        title = ""
    if len(messages) > MAX_MESSAGES:
        yield "", [Piece(f"and {counted(len(messages) - MAX_MESSAGES, 'more finding')} like these", "muted")]
    step = markup.coded(f"Next step: {each.rule.fix}", "muted") if each.rule.fix else []
    code = Piece(each.rule.code, "code", tip=each.rule.meaning, term=f"rule.{each.rule.code}")
    yield "", [code, Piece("  "), *step]


def _places(fields: Sequence[str]) -> Iterator[Piece]:
    named = [field for field in fields if field]
    for place, field in enumerate(named[:MAX_PLACES]):
        yield from [Piece(", ", "muted")] if place else []
        yield Piece(field, "code")
    if left_out := named[MAX_PLACES:]:
        yield Piece(f" and {counted(len(left_out), 'more place')}", "muted", tip=", ".join(left_out))
    if named:
        yield Piece(": ", "muted")


def _show_rules(broken: Sequence[BrokenRule], view: ViewState, *, head: Sequence[Piece] = ()) -> None:
    top = [markup.text(head, role="line")] if head else []
    markup.show(*top, markup.facts([row for each in broken for row in rule_rows(each)]))
    shared = [each for each in broken if each.is_shared]
    if not shared:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        markup.note(f"All questions of {view.run} that break them:", "muted", width="content")
        for each in shared:
            st.page_link(
                "pages/triage.py",
                label=markup.label(f"{each.questions:,} {each.rule.title}"),
                query_params=view.without_filter().change(code=(each.rule.code,)).as_list().params(),
                width="content",
            )


# The question's paraphrases and seeds: what stays the same, and the way to each trace.

_COLUMNS = (
    Column(Cell(COLUMN_NAMES["label"])),
    Column(Cell(COLUMN_NAMES["section"]), "end"),
    Column(Cell(COLUMN_NAMES["gold_rank"]), "end"),
)


def show_variants(
    steadiness: Steadiness, traces: Callable[[], pd.DataFrame], view: ViewState, *, of: str
) -> None:
    """Show what stays the same, and folded the question's `traces` in this run; `of` names the question."""
    with st.expander(markup.label(stability_words(steadiness), limit=160), key="variants"):
        show_grid(variants_grid(traces(), view), key="variants-grid", of=of)


def stability_words(each: Steadiness) -> str:
    """Return `3 paraphrases × 2 seeds · changes: rank 1, cited chunks · stays: label · λ divergent`."""
    parts = [f"{counted(each.paraphrases, 'paraphrase')} × {counted(each.seeds, 'seed')}"]
    for stays, verb in ((False, "changes"), (True, "stays")):
        names = [words for aspect, words in ASPECTS.items() if each.stays[aspect] is stays]
        parts += [f"{verb}: {', '.join(names)}"] if names else []
    parts += [f"λ {', '.join(each.states)}"] if each.states else []
    return " · ".join(parts)


def variants_grid(traces: pd.DataFrame, view: ViewState) -> Grid:
    """Return a row per trace with a link to it; the shown one is marked."""
    rows: list[Row] = []
    listed: set[int] = set()
    for record in traces.to_dict("records"):
        variant = (int(record[name]) for name in ("paraphrase", "seed", "repeat"))
        key = TraceKey(view.run, record["q_id"], *variant)
        name = f"p{key.paraphrase} · s{key.seed}{f' · #{key.repeat}' if key.repeat > 1 else ''}"
        is_shown = key == view.key
        q = question_name(key.q_id, key.repeat)
        link = view.change(q=q, p=key.paraphrase, s=key.seed, cite=None, chunk=None, page=None)
        # The text of a paraphrase, once for all its seeds.
        asked = [] if key.paraphrase in listed else [str(record["q"])[:200]]
        head = Cell(
            name,
            note=" · ".join([*(["shown here"] if is_shown else []), *asked]),
            href=None if is_shown else link.link("question"),
            spoken="" if is_shown else f"open {name}",
        )
        label, state, section = record["label"], record["lambda_state"], record["rank1_section"]
        logged = f"λ {state[:60]}" if isinstance(state, str) else ""
        verdict = Cell(NO_LABEL, note=logged, look="quiet")
        if label in LABELS:
            verdict = Cell(LABEL_NAMES[label], note=logged, tip=label, look=LABEL_COLOURS[label])
        top = Cell(section[:60]) if isinstance(section, str) and section else NOTHING
        rows.append(Row(head, (verdict, top, gold_rank(record["unranked"], record["section_rank"]))))
        listed.add(key.paraphrase)
    return Grid("This question in other words and with other seeds", "Trace", _COLUMNS, tuple(rows))
