"""A trace's citations as a bundle has them: with a verified place and with their problems.

No place is invented: a page is the record's own if it lies within the document, else the page where the text
was found, else unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from proofspan.contracts.records.field_values import page_of, text_of
from proofspan.contracts.records.records import Chunk, Citation, Trace
from proofspan.errors import Problem
from proofspan.evidence.bundles import BundleCitation, PageFrom, SectionFrom, ValueProblem, given
from proofspan.evidence.levels import QUOTE_MISSING, one_line
from proofspan.evidence.pdf.page_labels import pages_labelled
from proofspan.evidence.text.locate import MAX_QUOTE_CHARACTERS
from proofspan.evidence.types import FoundSpan
from proofspan.services.documents.document_set import Held, Placed, Shelf, Wanted
from proofspan.services.documents.revisions import cited_rev, rev_problem
from proofspan.services.question.view import CitationView, citation_view, span_query
from proofspan.traces.records.trace_record import LAST_STAGES, stages
from proofspan.wording import counted

#: Passages, the closest first, that are tried for an answer without a citation that can be shown.
CLOSEST = 5

_SYNTHESIZED = re.compile(r"p[0-9]{3,}")
_NO_PAGE = "write the 0-based page as page_idx"


def wanted(view: CitationView) -> Wanted | None:
    """Return what to locate: the quote, else what a box or offsets identify; None if there is neither."""
    cited = view.citation
    if cited.doc_id is None or not ((cited.quote or "").strip() or cited.box or cited.offsets):
        return None
    return cited.doc_id, span_query(cited)


def closest_to(trace: Trace, chunks: Mapping[str, Chunk]) -> list[CitationView]:
    """Return the passages at the top of the last stage, the first `CLOSEST` of them."""
    named = {stage.name: stage for stage in stages(trace)}
    last = next((named[name] for name in LAST_STAGES if name in named), None)
    passages = []
    for candidate in last.candidates[:CLOSEST] if last else ():
        page_idx, note = page_of(candidate.raw)
        from_id: Literal["chunk_id"] | None = "chunk_id" if candidate.page_idx is not None else None
        citation = Citation(
            number=candidate.rank,
            chunk_id=candidate.chunk_id,
            doc_id=candidate.doc_id,
            section_id=candidate.section_id,
            page_idx=candidate.page_idx,
            quote=candidate.text,
            raw=candidate.raw,
            page_from="record" if page_idx is not None else from_id,
            page_note=note,
            page_label=text_of(candidate.raw.get("page_label")),
        )
        view = citation_view(citation, chunks)
        has_text = view.citation.quote is not None
        passages.append(replace(view, rank=candidate.rank, quote_from="chunk" if has_text else None))
    return passages


def bundle_citation(view: CitationView, placed: Placed | None, shelf: Shelf) -> BundleCitation:
    """Return the citation with its verified place. `placed` is the result of locating its quote, if any.

    The last of its problems is what prevents showing its page, else its text.
    """
    cited = view.citation
    held = shelf.held(cited.doc_id) if cited.doc_id is not None else None
    found = placed if isinstance(placed, FoundSpan) else None
    page_idx, page_from = _page(cited, found, held)
    section, section_from = _section(view, page_idx, page_from)
    shown, undrawn = _shown(page_idx, found, held, shelf)
    is_passage = view.rank is not None
    return BundleCitation(
        origin="retrieved" if is_passage else cited.origin,
        number=None if is_passage else cited.number,
        rank=view.rank,
        chunk_id=cited.chunk_id,
        doc_id=cited.doc_id,
        section_id=cited.section_id,
        section_number=section,
        section_number_from=section_from,
        page_idx=page_idx,
        page_idx_from=page_from,
        shown_page_idx=shown,
        page_label=held.label(shown) if held is not None and shown is not None else None,
        quote=cited.quote[:MAX_QUOTE_CHARACTERS] if cited.quote is not None else None,
        quote_from=view.quote_from,
        offsets=cited.offsets,
        found=found,
        problems=tuple(_problems(cited, placed, held, page_idx, undrawn, shelf)),
    )


def _page(cited: Citation, found: FoundSpan | None, held: Held | None) -> tuple[int | None, PageFrom | None]:
    if held is not None and not held.document.paged:
        return 0, "text"
    count = held.page_count if held is not None else None
    if cited.page_idx is not None and (count is None or cited.page_idx < count):
        return cited.page_idx, cited.page_from
    labelled = pages_labelled(cited.page_label, held.labels) if held is not None and cited.page_label else ()
    if cited.page_idx is None and len(labelled) == 1:
        return labelled[0], "label"
    if found is not None and found.page_idx is not None:
        return found.page_idx, "found"
    return None, None


def _section(
    view: CitationView, page_idx: int | None, page_from: PageFrom | None
) -> tuple[str | None, SectionFrom | None]:
    """Return the section's number or id and where it is from, else the synthesized `p042` of its page."""
    cited, chunk = view.citation, view.chunk
    synthesized = None if page_idx is None else f"p{0 if page_from == 'text' else page_idx + 1:03d}"
    own = text_of(cited.raw.get("section_number"))
    if own is None and chunk is not None and cited.section_id in (None, chunk.section_id):
        own = chunk.section_number
    name = own if own is not None else cited.section_id
    if name is None:
        return synthesized, None if synthesized is None else "page"
    if name == synthesized and _SYNTHESIZED.fullmatch(name):
        return name, "page"
    return name, "section_number" if own is not None else "section_id"


def _shown(
    page_idx: int | None, found: FoundSpan | None, held: Held | None, shelf: Shelf
) -> tuple[int | None, Problem | None]:
    """Return the page to show, and why the page where the text was found can't be shown."""
    if held is None or held.path is None:
        return None, None
    first_problem = None
    for candidate in dict.fromkeys((found.page_idx if found is not None else None, page_idx)):
        if candidate is not None:
            problem = shelf.page_problem(held.document.doc_id, candidate)
            if problem is None:
                return candidate, first_problem
            first_problem = first_problem or problem
    return None, first_problem


def _problems(
    cited: Citation,
    placed: Placed | None,
    held: Held | None,
    page_idx: int | None,
    undrawn: Problem | None,
    shelf: Shelf,
) -> Iterator[Problem]:
    """Yield what prevents nothing, then why the text was not located, then why its page can't be shown."""
    if held is not None and (odd := rev_problem(held.document, cited_rev(cited.chunk_id, cited.raw))):
        yield Problem(odd.code, odd.message, fix=odd.fix)
    if len(cited.quote or "") > MAX_QUOTE_CHARACTERS:
        message = f"only the first {MAX_QUOTE_CHARACTERS:,} characters of its text are kept"
        fix = "cite a passage, not a document"
        yield ValueProblem("quote_cut", message, fix=fix, value=len(cited.quote or ""))
    if cited.page_note == "pages_disagree":
        page_idx, page = (given(cited.raw.get(name)) for name in ("page_idx", "page"))
        message = f"page_idx {page_idx} and page {page} disagree, as page counts from 1: page_idx counts"
        yield ValueProblem("pages_disagree", message, fix="write page_idx alone", value=page)
    elif cited.page_note is not None and cited.page_idx is not None:
        yield _bad_page(cited)
    if isinstance(placed, Problem):
        yield shelf.portable(placed)
    elif not (cited.quote or "").strip():
        fix = "give the citation its quote, or list the chunk that it names in the chunk file"
        yield Problem(QUOTE_MISSING, _reason(cited) or "there is no text to locate", fix=fix)
    if cited.doc_id is None:
        fix = "give the citation, its candidate or its chunk a doc_id"
        yield Problem("no_document", _reason(cited) or "the citation names no document", fix=fix)
        return
    if held is None:
        message = f"the workspace has no document {cited.doc_id[:200]}"
        fix = "put the file into the workspace and list it under `documents` with this doc_id"
        yield Problem("document_not_listed", message, fix=fix)
        return
    if held.path is None and held.problem is not None:
        yield shelf.portable(held.problem)
        return
    if cited.page_idx is not None and held.page_count is not None and cited.page_idx >= held.page_count:
        pages = counted(held.page_count, "page") if held.document.paged else "no pages"
        message = (
            f"page_idx {cited.page_idx:,} is beyond the end of {held.document.doc_id}, which has {pages}"
        )
        fix = "check the producer's page base (page_idx counts from 0) and the document's edition"
        yield ValueProblem("page_out_of_range", message, fix=fix, value=cited.page_idx)
    elif page_idx is None or (cited.page_idx is None and cited.page_note is not None):
        yield _bad_page(cited)
    if undrawn is not None:
        yield shelf.portable(undrawn)


def _reason(cited: Citation) -> str | None:
    """Return why an opened source's citation leads to no page, as its format says; None without that."""
    reason = cited.raw.get("reason")
    return f"the citation {reason[:200]}" if isinstance(reason, str) and reason else None


def _bad_page(cited: Citation) -> Problem:
    name = "page_idx" if cited.raw.get("page_idx") is not None else "page"
    value = given(cited.raw.get(name))
    shown = one_line(repr(value), length=60)
    if cited.page_note == "page_below_one":
        message = f"page is {shown}, and page counts from 1"
        return ValueProblem("page_below_one", message, fix=_NO_PAGE, value=value)
    if cited.page_note == "page_unreadable":
        message = f"{name} is {shown}, which is no page: pages are whole numbers from 0"
        return ValueProblem("page_unreadable", message, fix=_NO_PAGE, value=value)
    fix = "give the citation its page_idx, or a quote that is in the document"
    return ValueProblem("page_missing", "the citation names no page", fix=fix, value=value)
