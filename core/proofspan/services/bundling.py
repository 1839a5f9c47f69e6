"""Traces → evidence bundles. Whatever a trace holds, a bundle comes out; with less evidence, never empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from proofspan.contracts.records import Attachment, Chunk, Trace, TraceKey
from proofspan.contracts.render_ref import MAX_LENGTH
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.reflect import lowered
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdict import verdict
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, CatalogueIndex, CitedPlace, attached
from proofspan.evidence.bundles import (
    Bundle,
    BundleAttachment,
    BundleCitation,
    BundleDocument,
    BundleProblem,
    bundle_id,
)
from proofspan.evidence.levels import PASSAGE_NOT_SHOWN, judge
from proofspan.services.cited import Pointer, pointers_of
from proofspan.services.citing import bundle_citation, closest_to, wanted
from proofspan.services.shelf import Held, OnPlaced, Shelf

#: So many citations of an answer, and so many attachments of a bundle, are looked at.
MAX_CITATIONS = 50
MAX_ATTACHMENTS = 200
#: A question, an answer, or an attachment's text is kept up to so many characters.
MAX_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Sources:
    """What bundles are made from beside traces; `corpus` is None where there are no chunks to judge by."""

    shelf: Shelf
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    catalogue: CatalogueIndex = field(default_factory=lambda: CatalogueIndex.of(()))
    corpus: Corpus | None = None
    profile: Profile = field(default_factory=Profile)


def bundles_of(
    traces: Sequence[tuple[TraceKey, Trace]],
    sources: Sources,
    *,
    workers: int = 1,
    on_progress: OnPlaced = lambda done, total: None,
) -> list[Bundle]:
    """The bundles of these traces, in their order; quotes that several of them share are placed once."""
    desk = _Desk(sources.shelf, workers, on_progress)
    cited = [list(pointers_of(trace, sources.chunks)) for _, trace in traces]
    answers = desk.citations([pointers[:MAX_CITATIONS] for pointers in cited])
    closest = [
        [] if any(item.is_shown for item in citations) else closest_to(trace, sources.chunks)
        for (_, trace), citations in zip(traces, answers, strict=True)
    ]
    passages = desk.citations(closest)
    return [
        _bundle(key, trace, citations, near, len(pointers), sources)
        for (key, trace), citations, near, pointers in zip(traces, answers, passages, cited, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Desk:
    """Places pointers in bulk."""

    shelf: Shelf
    workers: int
    on_progress: OnPlaced

    def citations(self, groups: Sequence[list[Pointer]]) -> list[list[BundleCitation]]:
        """The pointers of each trace with their checked places."""
        asked = [[wanted(pointer) for pointer in group] for group in groups]
        sought = (each for group in asked for each in group if each is not None)
        found = self.shelf.place(sought, workers=self.workers, on_placed=self.on_progress)
        return [
            [
                bundle_citation(pointer, found.get(each) if each else None, self.shelf)
                for pointer, each in zip(group, quotes, strict=True)
            ]
            for group, quotes in zip(groups, asked, strict=True)
        ]


def _bundle(
    key: TraceKey,
    trace: Trace,
    citations: Sequence[BundleCitation],
    passages: Sequence[BundleCitation],
    cited: int,
    sources: Sources,
) -> Bundle:
    """One trace's bundle; `cited` counts its citations, those that are not looked at included."""
    shown = [item for item in citations if item.is_shown]
    shown.sort(key=lambda item: not item.is_placed)
    shown = shown or [item for item in passages if item.is_shown][:1]
    attachments, count = _attachments(shown, sources)
    row = verdict(trace, sources.corpus, sources.profile)
    profile = {"template": sources.profile.template, "refusal": list(sources.profile.refusal)}
    bundle = Bundle(
        bundle_id=bundle_id(key),
        run_id=key.run_id,
        q_id=key.q_id,
        paraphrase=key.paraphrase,
        seed=key.seed,
        repeat=key.repeat,
        q=trace.q[:MAX_TEXT],
        answer=trace.answer[:MAX_TEXT],
        is_refusal=refuses(trace.answer.lower(), lowered(sources.profile.refusal)),
        label=row.label if row else None,
        why=row.why if row else None,
        profile=profile,
        citation=shown[0] if shown else None,
        citation_origin=shown[0].origin if shown else "none",
        citations=tuple(citations),
        safety_attachments=tuple(item for item in attachments if item.kind in SAFETY_KINDS),
        media_attachments=tuple(item for item in attachments if item.kind not in SAFETY_KINDS),
        documents=_documents((*shown, *citations), sources.shelf),
        problems=(*_cuts(trace, citations=cited, attachments=count), *([] if shown else _unshown(passages))),
        level="text_only",
        level_reason="",
    )
    return judged(bundle)


def judged(bundle: Bundle) -> Bundle:
    """The bundle with the level that the rules give it."""
    level, reason = judge(bundle)
    return replace(bundle, level=level, level_reason=reason)


def _attachments(
    shown: Sequence[BundleCitation], sources: Sources
) -> tuple[tuple[BundleAttachment, ...], int]:
    """What belongs to the citations that are shown, the first citation's first, and how many there are.

    Where there are too many, pictures are left out before notices.
    """
    found = belonging(shown, sources.catalogue)
    listed = sorted(found, key=lambda item: item[0].attachment.kind not in SAFETY_KINDS)
    listed = listed[:MAX_ATTACHMENTS]
    return tuple(_attachment(each, cited, sources.shelf) for each, cited in listed), len(found)


def belonging(
    shown: Iterable[BundleCitation], catalogue: CatalogueIndex
) -> list[tuple[Attached, BundleCitation]]:
    """Each attachment that belongs to these citations, once, with the first that it belongs to."""
    found: dict[str, tuple[Attached, BundleCitation]] = {}
    for cited in shown:
        for each in attached(_place_of(cited), catalogue):
            found.setdefault(each.attachment.attachment_id, (each, cited))
    return list(found.values())


def _place_of(cited: BundleCitation) -> CitedPlace:
    """Where a citation stands, as the rule for attachments reads it."""
    is_text = cited.page_idx_from == "text"
    found = cited.found
    rects = found.rects if found is not None and found.page_idx == cited.shown_page_idx else ()
    section = cited.section_id or (None if cited.section_number_from == "page" else cited.section_number)
    return CitedPlace(cited.doc_id, section, None if is_text else cited.shown_page_idx, rects)


def _attachment(each: Attached, cited: BundleCitation, shelf: Shelf) -> BundleAttachment:
    item = each.attachment
    undrawn = shelf.drawing_problem(item.render_ref)
    return BundleAttachment(
        attachment_id=item.attachment_id,
        kind=item.kind,
        doc_id=item.doc_id,
        section_id=item.section_id,
        page_idx=item.page_idx,
        bbox=item.box,
        bbox_space=item.box_space if item.box is not None else None,
        text=item.text[:MAX_TEXT],
        caption=None if item.caption is None else item.caption[:MAX_TEXT],
        render_ref=None if item.render_ref is None else item.render_ref[: MAX_LENGTH + 1],
        drawable=undrawn is None,
        problem=shelf.told(undrawn) if undrawn is not None else _off_document(item, shelf),
        by=each.by,
        pages_away=each.pages_away,
        citation_number=cited.number,
    )


def _off_document(item: Attachment, shelf: Shelf) -> BundleProblem | None:
    """That the page of an attachment, which can be drawn all the same, lies beyond its document's end."""
    held = shelf.held(item.doc_id) if item.doc_id is not None else None
    if item.page_idx is None or held is None or held.page_count is None or item.page_idx < held.page_count:
        return None
    said = f"its page_idx {item.page_idx:,} lies beyond the end of {held.document.doc_id}"
    return BundleProblem("page_out_of_range", said, "correct its page_idx in the catalogue", item.page_idx)


def _documents(cited: Iterable[BundleCitation], shelf: Shelf) -> tuple[BundleDocument, ...]:
    """The listed documents that are cited or shown, each once, as they lie there."""
    used = dict.fromkeys(item.doc_id for item in cited if item.doc_id is not None)
    return tuple(_document(held, shelf) for doc_id in used if (held := shelf.held(doc_id)) is not None)


def _document(held: Held, shelf: Shelf) -> BundleDocument:
    document = held.document
    return BundleDocument(
        doc_id=document.doc_id,
        title=document.title,
        path=document.artifact.path,
        paged=document.paged,
        page_count=held.page_count,
        rev=document.rev,
        sha256=held.sha256,
        problem=shelf.told(held.problem) if held.problem is not None else None,
    )


def _unshown(passages: Sequence[BundleCitation]) -> Iterator[BundleProblem]:
    """Why not even the closest retrieved passage can be shown."""
    if passages and passages[0].problems:
        problem = passages[0].problems[-1]
        said = f"the closest retrieved passage can't be shown: {problem.message}"
        yield BundleProblem(PASSAGE_NOT_SHOWN, said, problem.remedy, problem.given)


def _cuts(trace: Trace, *, citations: int, attachments: int) -> Iterator[BundleProblem]:
    """What a bundle leaves out because there is too much of it."""
    if citations > MAX_CITATIONS:
        said = f"of {citations:,} citations the first {MAX_CITATIONS} are looked at"
        yield BundleProblem("citations_cut", said, "cite each passage once", citations)
    if attachments > MAX_ATTACHMENTS:
        said = f"of {attachments:,} attachments {MAX_ATTACHMENTS} are listed, notices before pictures"
        remedy = "give the attachments of a long section sections of their own"
        yield BundleProblem("attachments_cut", said, remedy, attachments)
    for name, text in (("question", trace.q), ("answer", trace.answer)):
        if len(text) > MAX_TEXT:
            said = f"of the {name} the first {MAX_TEXT:,} characters are kept"
            yield BundleProblem("text_cut", said, f"keep documents out of the {name}", len(text))
