"""A trace's citations as a bundle has them: with a place that was checked, and with what is odd about them.

No place is invented: a page is the record's own while it lies within the document, else the one where the
text was found, else there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from proofspan.contracts.records.field_values import page_of, text_of
from proofspan.contracts.records.records import Candidate, Chunk, Citation, Trace
from proofspan.errors import Problem
from proofspan.evidence.bundles import BundleCitation, BundleProblem, PageFrom, SectionFrom, given
from proofspan.evidence.levels import QUOTE_MISSING, one_line
from proofspan.evidence.pdf.page_labels import pages_labelled
from proofspan.evidence.text.locate import MAX_QUOTE_CHARACTERS
from proofspan.evidence.types import FoundSpan
from proofspan.services.documents.document_set import Held, Placed, Shelf, Wanted
from proofspan.services.documents.revisions import cited_rev, rev_problem
from proofspan.services.question.citation_queries import Pointer, pointer_of, span_query
from proofspan.traces.records.trace_record import LAST_STAGES, stages

#: So many passages, the closest first, are tried for an answer that cites nothing which can be shown.
CLOSEST = 5

_SYNTHESIZED = re.compile(r"p[0-9]{3,}")


def wanted(pointer: Pointer) -> Wanted | None:
    """What to look for: the quote, else what box or offsets name alone; None where there is nothing."""
    cited = pointer.citation
    if cited.doc_id is None or not ((cited.quote or "").strip() or cited.box or cited.offsets):
        return None
    return cited.doc_id, span_query(cited)


def closest_to(trace: Trace, chunks: Mapping[str, Chunk]) -> list[Pointer]:
    """The passages that were retrieved, the closest of the last stage first, as far as they are tried."""
    named = {stage.name: stage for stage in stages(trace)}
    last = next((named[name] for name in LAST_STAGES if name in named), None)
    return [_passage(candidate, chunks) for candidate in (last.candidates[:CLOSEST] if last else ())]


def _passage(candidate: Candidate, chunks: Mapping[str, Chunk]) -> Pointer:
    page_idx, note = page_of(candidate.raw)
    citation = Citation(
        number=candidate.rank,
        chunk_id=candidate.chunk_id,
        doc_id=candidate.doc_id,
        section_id=candidate.section_id,
        page_idx=candidate.page_idx,
        quote=candidate.text,
        raw=candidate.raw,
        page_from="record" if page_idx is not None else None if candidate.page_idx is None else "chunk_id",
        page_note=note,
        page_label=text_of(candidate.raw.get("page_label")),
    )
    pointer = pointer_of(citation, chunks)
    has_text = pointer.citation.quote is not None
    return replace(pointer, rank=candidate.rank, quote_from="chunk" if has_text else None)


def bundle_citation(pointer: Pointer, placed: Placed | None, shelf: Shelf) -> BundleCitation:
    """The citation with its checked place. `placed` is what became of its quote, None where none was sought.

    The last of its problems is what keeps its page, else its text, from being shown.
    """
    cited = pointer.citation
    held = shelf.held(cited.doc_id) if cited.doc_id is not None else None
    found = placed if isinstance(placed, FoundSpan) else None
    page_idx, page_from = _page(cited, found, held)
    section, section_from = _section(pointer, page_idx, page_from)
    shown, undrawn = _shown(page_idx, found, held, shelf)
    problems = [*_oddities(cited, held), *_unsought(pointer, placed, shelf)]
    problems += _page_problems(cited, held, page_idx, undrawn, shelf)
    is_passage = pointer.rank is not None
    return BundleCitation(
        origin="retrieved" if is_passage else cited.origin,
        number=None if is_passage else cited.number,
        rank=pointer.rank,
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
        quote_from=pointer.quote_from,
        offsets=cited.offsets,
        found=found,
        problems=tuple(problems),
    )


def _page(cited: Citation, found: FoundSpan | None, held: Held | None) -> tuple[int | None, PageFrom | None]:
    """The page of a citation and what gave it."""
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
    pointer: Pointer, page_idx: int | None, page_from: PageFrom | None
) -> tuple[str | None, SectionFrom | None]:
    """The section as a person says it; where none is known, the synthesized `p042` of its page."""
    cited, chunk = pointer.citation, pointer.chunk
    synthesized = None if page_idx is None else f"p{0 if page_from == 'text' else page_idx + 1:03d}"
    own = text_of(cited.raw.get("section_number"))
    if own is None and chunk is not None and cited.section_id in (None, chunk.section_id):
        own = chunk.section_number
    for name, came_from in ((own, "section_number"), (cited.section_id, "section_id")):
        if name is not None:
            is_made_up = name == synthesized and _SYNTHESIZED.fullmatch(name)
            return name, "page" if is_made_up else _from(came_from)
    return synthesized, None if synthesized is None else "page"


def _from(name: str) -> SectionFrom:
    return "section_number" if name == "section_number" else "section_id"


def _shown(
    page_idx: int | None, found: FoundSpan | None, held: Held | None, shelf: Shelf
) -> tuple[int | None, Problem | None]:
    """The page to turn to, and why the one where the text stands can't be shown."""
    if held is None or held.path is None:
        return None, None
    candidates = dict.fromkeys((found.page_idx if found is not None else None, page_idx))
    first_problem = None
    for candidate in candidates:
        if candidate is not None:
            problem = shelf.page_problem(held.document.doc_id, candidate)
            if problem is None:
                return candidate, first_problem
            first_problem = first_problem or problem
    return None, first_problem


def _oddities(cited: Citation, held: Held | None) -> Iterator[BundleProblem]:
    """What is odd about a citation and keeps nothing from being shown."""
    if held is not None and (odd := rev_problem(held.document, cited_rev(cited.chunk_id, cited.raw))):
        yield BundleProblem(odd.code, odd.message, odd.fix)
    if len(cited.quote or "") > MAX_QUOTE_CHARACTERS:
        said = f"of its text the first {MAX_QUOTE_CHARACTERS:,} characters are kept"
        yield BundleProblem("quote_cut", said, "cite a passage, not a document", len(cited.quote or ""))
    if cited.page_note == "pages_disagree":
        page_idx, page = cited.raw.get("page_idx"), cited.raw.get("page")
        said = f"page_idx {given(page_idx)} and page {given(page)} disagree, as page counts from 1"
        yield BundleProblem("pages_disagree", f"{said}: page_idx counts", "write page_idx alone", given(page))
    elif cited.page_note is not None and cited.page_idx is not None:
        yield _bad_page(cited)


def _unsought(pointer: Pointer, placed: Placed | None, shelf: Shelf) -> Iterator[BundleProblem]:
    """Why a text was not looked for."""
    if isinstance(placed, Problem):
        yield shelf.told(placed)
    elif not (pointer.citation.quote or "").strip():
        fix = "give the citation its quote, or list the chunk that it names in the chunk file"
        yield BundleProblem(QUOTE_MISSING, "there is no text to look for", fix)


def _page_problems(
    cited: Citation, held: Held | None, page_idx: int | None, undrawn: Problem | None, shelf: Shelf
) -> Iterator[BundleProblem]:
    """What keeps a page from being shown, or was wrong with the page that is named."""
    if cited.doc_id is None:
        fix = "give the citation, its candidate or its chunk a doc_id"
        yield BundleProblem("no_document", "nothing says which document it is from", fix)
        return
    if held is None:
        said = f"the workspace has no document {cited.doc_id[:200]}"
        fix = "put the file into the workspace and list it under `documents` with this doc_id"
        yield BundleProblem("document_not_listed", said, fix)
        return
    if held.path is None and held.problem is not None:
        yield shelf.told(held.problem)
        return
    if cited.page_idx is not None and held.page_count is not None and cited.page_idx >= held.page_count:
        yield _beyond(cited.page_idx, held)
    elif page_idx is None or (cited.page_idx is None and cited.page_note is not None):
        yield _bad_page(cited)
    if undrawn is not None:
        yield shelf.told(undrawn)


def _beyond(page_idx: int, held: Held) -> BundleProblem:
    pages = "1 page" if held.page_count == 1 else f"{held.page_count:,} pages"
    pages = "no pages" if not held.document.paged else pages
    said = f"page_idx {page_idx:,} lies beyond the end of {held.document.doc_id}, which has {pages}"
    fix = "check the producer's page base (page_idx counts from 0) and the document's edition"
    return BundleProblem("page_out_of_range", said, fix, page_idx)


def _bad_page(cited: Citation) -> BundleProblem:
    """The page as it was given can't be used; told with its value."""
    name = "page_idx" if cited.raw.get("page_idx") is not None else "page"
    value = given(cited.raw.get(name))
    shown = one_line(repr(value), length=60)
    if cited.page_note == "page_below_one":
        fix = "write the 0-based page as page_idx"
        return BundleProblem("page_below_one", f"page is {shown}, and page counts from 1", fix, value)
    if cited.page_note == "page_unreadable":
        said = f"{name} is {shown}, which is no page: pages are whole numbers from 0"
        return BundleProblem("page_unreadable", said, "write the 0-based page as page_idx", value)
    fix = "give the citation its page_idx, or a quote that stands in the document"
    return BundleProblem("page_missing", "nothing says which page it is on", fix, value)
