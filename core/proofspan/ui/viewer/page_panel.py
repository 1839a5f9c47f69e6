"""The page side of Question: which page, the location of the chosen passage, a citation to copy, the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.services.page.shapes import Percent
from proofspan.services.page.strip_marks import page_marks
from proofspan.services.page.target import Target, targets_of
from proofspan.services.page.view import PageView
from proofspan.services.page.zoom import detail_of
from proofspan.services.question.view import QuestionView
from proofspan.ui.claims.claim_list import ClaimLine
from proofspan.ui.status import background, documents, notices
from proofspan.ui.viewer import text_frame, viewer
from proofspan.ui.viewer.claim_places import ShownClaims, send_places
from proofspan.ui.viewer.span_cards import SpanCard, cards_of
from proofspan.ui.viewer.strip import draw_strip, page_strip
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording import citation, question
from proofspan.ui.wording import claims as claim_words
from proofspan.ui.wording.citation import reference
from proofspan.wording import Labels, no_labels, page_words, printed_on

#: What is beside the gold page, by the layer of its passage.
_BESIDE_GOLD = {"cited": "Cited", "claim": "Claim", "retrieved": "Retrieved"}


def _header(
    shown: PageView,
    *,
    apart: tuple[Target, Target] | None = None,
    is_beside: bool = False,
    of: str = "",
    labels: Labels = no_labels,
) -> None:
    """Title and place of the document, and what can be copied of it.

    With the cited and the gold passage on pages `apart`, a switch that names the other page and shows both.
    """
    mark = [markup.place("page", of)] if of else []
    title = question.document_name(shown) or "No document"
    words = markup.text(
        [
            Piece(f"{title}  ", "h2"),
            Piece(question.place_words(shown), "muted", tip=question.place_tip(shown)),
        ],
        role="hint",
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="page-head"):
        markup.show(*mark, words)
        if apart is not None:
            st.button(
                markup.label(_switch(shown, apart, is_beside=is_beside, labels=labels), limit=40),
                key="beside",
                type="primary" if is_beside else "secondary",
                help="Show one page" if is_beside else "Show both pages beside each other",
                on_click=change_view,
                kwargs={"beside": not is_beside},
            )
        if shown.problem is None and not shown.is_pending:
            show_copying(reference(shown), name="citation", key="citation", shows_text=False)


def _switch(shown: PageView, apart: tuple[Target, Target], *, is_beside: bool, labels: Labels) -> str:
    """Return `Gold on p. 12` or `Cited on PDF page 12`, the page that is not shown, or `Cited | Gold`."""
    cited, gold = apart
    other = cited if shown.target.kind == "gold" else gold
    name = _BESIDE_GOLD.get(cited.kind, "Cited")
    found = shown.found.get(other.id)
    page_idx = found.page_idx if found and found.page_idx is not None else other.query.cited_page_idx
    if is_beside or page_idx is None:
        return f"{name} | Gold"
    printed = printed_on(page_idx, labels(other.doc_id)).strip()
    return f"{'Gold' if other is gold else name} on {f'p. {printed}' if printed else page_words(page_idx)}"


def page(
    shown: PageView | None,
    *,
    view: QuestionView,
    region: Percent | None = None,
    claims: ShownClaims | None = None,
    apart: tuple[Target, Target] | None = None,
    gold_page: PageView | None = None,
    of: str,
    labels: Labels,
) -> DeltaGenerator:
    """Draw the page of the chosen passage and how well it agrees, or a panel without a page.

    `region` of the page is outlined and scrolled to; evidence of `claims` is lit when they are pointed at.
    `apart` are the cited and the gold passage where they are on different pages, `gold_page` the latter's
    page where it is shown beside. `of` names what is shown (see `markup.place`), on the first and on the last
    element; `labels` name the pages of a document. Return the container above the page for the level of the
    answer's evidence.
    """
    if shown is None:
        markup.show(
            markup.place("page", of),
            markup.text(
                [Piece("No citation, candidate or gold span names a document.", "strong")], role="line"
            ),
            markup.text([Piece("There is no page to show for this question.")], role="hint"),
        )
        level = st.container(key="level")
        end_of_page(of)
        return level
    _header(shown, apart=apart, is_beside=gold_page is not None, of=of, labels=labels)
    targets = targets_of(view)
    origins = {target.id: citation.origin(view, target) for target in (*targets, shown.target)}
    answer = view.trace.answer
    line = claims.line(shown.target) if claims is not None else None
    level = _findings(shown, answer=answer, quote_from=origins[shown.target.id], line=line)
    cards = cards_of(shown, targets, answer=answer, origins=origins)
    if gold_page is None:
        _place(shown, targets, cards, region, claims, of=of)
        end_of_page(of)
        return level
    with st.container(key="both-pages"):
        with st.container(key="page-of-passage", gap="xsmall"):
            markup.note(_BESIDE_GOLD.get(shown.target.kind, "Cited"), "h3")
            _place(shown, targets, cards, region, claims, of=of)
        with st.container(key="page-of-gold", gap="xsmall"):
            _beside(gold_page, cards_of(gold_page, targets, answer=answer, origins=origins), of=of)
    end_of_page(of)
    return level


def end_of_page(of: str, *, key: str = "page-end") -> None:
    """Mark the end of what belongs to a question: what follows is of another one (see question.css).

    Every `key` begins with `page-end`.
    """
    with st.container(key=key):
        markup.show(markup.place("page", of))


def _beside(shown: PageView, cards: Mapping[str, SpanCard], *, of: str) -> None:
    """Draw the gold page beside the other one; it is not turned."""
    place, tip = question.place_words(shown), question.place_tip(shown)
    markup.show(markup.text([Piece("Gold  ", "h3"), Piece(place, "muted", tip=tip)], role="hint"))
    if shown.problem is not None:
        notices.fault_panel([shown.problem])
        return
    if shown.is_pending:
        background.placeholder(
            "Locating the gold passage in its document …", [shown.work], key="gold-waiting"
        )
    elif shown.text is not None:
        text_frame.show_text(
            shown.text, name=question.spoken_place(shown), focus=shown.target.id, key="text-reveal-gold"
        )
    else:
        alone = replace(shown, page_count=None)
        drawn_page(alone, (shown.target,), cards=cards, key="page-of-gold-drawn", of=of, beside="Gold")


def chunk_alone(shown: PageView, *, region: Percent | None = None) -> None:
    """Draw the place of a chunk that was opened without a question; `region` of the page is outlined."""
    _header(shown)
    _findings(shown, answer="", quote_from="chunk")
    targets = (shown.target,)
    _place(shown, targets, cards_of(shown, targets, answer="", origins={}), region)


def _findings(
    shown: PageView, *, answer: str, quote_from: str | None, line: ClaimLine | None = None
) -> DeltaGenerator:
    """Problems of the document; then the figures that differ and how well the rest agrees, or why there is
    no page. `line` is the claim whose evidence is shown. Return the container of the level."""
    notices.fault_panel(shown.revision)
    if shown.problem is not None:
        notices.fault_panel([shown.problem])
        if background.is_worth_another_try(shown.problem):
            st.button("Try again", key="page-again", on_click=documents.try_again, args=(shown.path,))
    figures: list[list[Piece]] = []
    finding: list[Piece] = []
    if shown.problem is None and not shown.is_pending:
        if line is not None:
            figures, finding = claim_words.claim_finding(shown, line)
        else:
            figures, finding = citation.findings(shown, answer=answer, quote_from=quote_from)
    finding = citation.with_pages(finding, shown.labels)
    if line is None and citation.is_as_cited(shown):
        whole = "".join(each.text for each in finding)
        finding = [replace(each, tip=whole) for each in finding]
    for pieces in figures:
        markup.show(markup.text(pieces, role="says"))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="finding"):
        if finding:
            markup.show(markup.text(finding, role="hint"))
        if finding and citation.is_elsewhere(shown):
            st.button("Back to the passage", key="page-back", on_click=change_view, kwargs={"page": None})
        return st.container(key="level", width="content")


def _place(
    shown: PageView,
    targets: Sequence[Target],
    cards: Mapping[str, SpanCard],
    region: Percent | None = None,
    claims: ShownClaims | None = None,
    *,
    of: str = "",
) -> None:
    if claims is not None and shown.image is None and not shown.is_pending:
        send_places(claims, shown, viewer="page", picture_id="")
    if shown.problem is not None:
        _passage(shown)
        if shown.page_count:
            last = {"page": shown.page_count - 1}
            st.button("Show the last page", key="page-last", on_click=change_view, kwargs=last)
        return
    if shown.is_pending:
        words = "Locating the passage in the document …"
        if shown.page_idx is not None:
            words = f"Opening {question.place_words(shown)} and locating the passage …"
        background.placeholder(words, [shown.work], key="page-waiting")
    elif shown.text is not None:
        text_frame.show_text(shown.text, name=question.spoken_place(shown), focus=shown.target.id)
    elif shown.image is not None:
        drawn_page(shown, targets, cards=cards, region=region, claims=claims, of=of)
        if shown.document is None or not shown.page_count or shown.page_idx is None:
            return
        by_id = {target.id: target for target in (*targets, shown.target)}
        marks, page_count = page_marks(by_id.values(), shown.found, shown.document.doc_id), shown.page_count
        strip = page_strip(marks, page_count=page_count, page_idx=shown.page_idx, labels=shown.labels)

        def go(page_idx: int) -> None:
            if 0 <= page_idx < page_count:
                change_view(page=page_idx)

        draw_strip(strip, key="pages", on_go=go)
    else:
        _passage(shown)


def drawn_page(
    shown: PageView,
    targets: Sequence[Target],
    *,
    cards: Mapping[str, SpanCard],
    key: str = "page",
    height: markup.Size = "panel",
    region: Percent | None = None,
    claims: ShownClaims | None = None,
    of: str = "",
    beside: str = "",
) -> None:
    """Draw the viewer with the shown page, if it has a picture. "Next span" steps through `targets`.

    `region` of the page, instead of the chosen passage, is flashed and scrolled to. Boxes of `claims` follow.
    `beside` is what distinguishes the page from another one on the screen, for screen readers.
    """
    if shown.image is None:
        return
    # The passages of the question's context that name anything to show.
    context = [target for target in targets if target.doc_id is not None and target.is_context]
    order = (t.id for t in context if t.query.quote.strip() or t.query.cited_page_idx is not None)
    page = viewer.ViewerPage(
        shown.image,
        shown.spans,
        cards,
        alt=": ".join(filter(None, (beside, question.spoken_place(shown)))),
        focus=f"{shown.target.id}@{shown.page_idx}" + (f"@{region}" if region else ""),
        page_count=shown.page_count,
        order=tuple(order),
        chosen=shown.target.id,
        region=region,
        answer=claims.answer if claims else "",
        claims=tuple(each.id for each in claims.targets.values()) if claims else (),
        of=of,
    )
    of_claims = claims.targets.values() if claims else ()
    by_id = {target.id: target for target in (*of_claims, *targets, shown.target)}

    def choose(span_id: str) -> None:
        """Write the passage into the address. One that also lies on the shown page keeps that page."""
        found, target = shown.found.get(span_id), by_id[span_id]
        is_drawn = any(span.id == span_id for span in shown.spans)
        is_of_other_page = found is not None and found.page_idx not in (None, shown.page_idx)
        change_view(
            cite=target.number if target.kind == "cited" else None,
            chunk=target.chunk_param,
            at_claim=target.number if target.kind == "claim" else None,
            page=shown.page_idx if is_drawn and is_of_other_page else None,
        )

    viewer.show_page(
        page,
        key=key,
        height=height,
        on_turn=lambda page_idx: change_view(page=page_idx),
        on_choose=choose,
        render=partial(detail_of, documents.placer(), shown),
    )
    if claims is not None:
        send_places(claims, shown, viewer=key, picture_id=page.picture_id)


def _passage(shown: PageView) -> None:
    quote = shown.target.query.quote
    if quote:
        markup.note(f"{shown.target.tag}:", "muted")
        markup.show_long([Piece(quote)], key=f"passage:{shown.target.id}", role="quote", limit=markup.FEW)
