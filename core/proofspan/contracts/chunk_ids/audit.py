"""Audits of a whole chunk file: do its ids identify each chunk's place correctly?

These audits use the file's own records; `services.chunk_ids` and `metrics.gold_cover` make those that need
documents or gold questions. Source: the audit of the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Literal

from proofspan.contracts.chunk_ids.minting import LONG, begins_alike, is_of_text
from proofspan.contracts.records.chunk_id import UNKNOWN_REVISION, ChunkId, parse, sort_key
from proofspan.contracts.records.records import Chunk
from proofspan.contracts.rules.catalogue import Finding, finding, finding_of
from proofspan.contracts.rules.chunks import id_problems, place_problems

Status = Literal["pass", "fail", "unknown"]
#: The question that each audit answers, by its name.
QUESTIONS: Mapping[str, str] = {
    "unique": "Is every id unique?",
    "format": "Do ids follow the format?",
    "place": "Do ids name their chunk's place?",
    "order": "Do sorted ids follow the reading order?",
    "revision": "Is the revision the document's?",
    "recomputed": "Can revisions be computed again?",
    "at_place": "Is each text at its place?",
    "citation_match_sample": "Do offsets match the gold, on a sample?",
    "citation_match": "Do offsets match the gold, on all?",
    "one_to_one": "Do older ids map one to one?",
}

#: The most findings that are kept of an audit; its numbers count them all.
KEPT = 1_000
SHOWN = 5

#: Fixes of audits without a finding that has one.
REBUILD = "Rebuild the section tree and check that the offsets count in the text that is cited."
TIGHTEN = "Tighten the block boundaries: a paragraph, a table or a list is one block and is not cut."
STEADY = "Check what rev is computed from, and that a block keeps its number when others around it change."


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit; `unknown` if nothing could be checked.

    `message` is a sentence with its counts, `numbers` are these by name (shares and limits in 0–1), `fix` is
    "" if there is nothing to do. `findings` are the first `KEPT`.
    """

    name: str
    status: Status
    message: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    fix: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def is_error(self) -> bool:
        """True if a requirement fails, and not only a recommendation."""
        recommended = bool(self.findings) and all(each.severity == "warning" for each in self.findings)
        return self.status == "fail" and not recommended

    @property
    def examples(self) -> tuple[Finding, ...]:
        """The first findings, as a page shows them."""
        return self.findings[:SHOWN]


def audit_chunks(chunks: Sequence[Chunk], *, revs: Mapping[str, str]) -> tuple[Audit, ...]:
    """Audit the chunks of a file in its order, repeats of an id included.

    `revs` has the revision of each document by `doc_id`, as the workspace names it.
    """
    parsed = [(chunk, parts) for chunk in chunks if (parts := parse(chunk.chunk_id))]
    return _unique(chunks), _format(chunks), _place(parsed), _order(parsed), _revision(parsed, revs)


def audit_of(
    name: str,
    *,
    of: int,
    wrong: int,
    findings: Iterable[Finding],
    good: str,
    bad: str,
    unknown: str,
    numbers: Mapping[str, float] | None = None,
    fix: str = "",
) -> Audit:
    """Build the audit of `of` things of which `wrong` are wrong; `findings` may include warnings.

    `fix` is that of a failed audit, by default the first error's.
    """
    kept = tuple(islice(findings, KEPT))
    first = next((each for each in kept if each.severity == "error"), kept[0] if kept else None)
    status: Status = "unknown" if of == 0 else "fail" if wrong else "pass"
    message = {"unknown": unknown, "fail": bad, "pass": good}[status]
    fix = fix or (first.fix if first is not None else "")
    counts = {"of": of, "wrong": wrong, **(numbers or {})}
    return Audit(name, status, message, counts, fix if status == "fail" else "", kept)


def _unique(chunks: Sequence[Chunk]) -> Audit:
    counts = Counter(chunk.chunk_id for chunk in chunks)
    repeated = {chunk_id: count for chunk_id, count in counts.items() if count > 1}
    findings = (
        finding_of("duplicate_id", "chunk_id", f"{count:,} chunks have the id {chunk_id[:80]!r}", chunk_id)
        for chunk_id, count in repeated.items()
    )
    return audit_of(
        "unique",
        of=len(chunks),
        wrong=len(repeated),
        findings=findings,
        good=f"all {len(chunks):,} ids are different",
        bad=f"{len(repeated):,} of {len(counts):,} ids are used by more than one chunk",
        unknown="there is no chunk",
    )


def _format(chunks: Sequence[Chunk]) -> Audit:
    """Audit whether ids follow the format and can be cited; large numbers are no error."""
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for chunk in chunks:
        for breach in id_problems(chunk):
            by_code[breach.code].append(finding(breach, chunk.chunk_id))
    uncitable, wrong, large = (
        by_code[code] for code in ("uncitable_id", "id_not_canonical", "number_beyond_999")
    )
    total = len(chunks)
    beyond = f"; {len(large):,} with a page or block beyond 999 sort as numbers only" if large else ""
    cannot = f", and {len(uncitable):,} cannot be cited" if uncitable else ""
    return audit_of(
        "format",
        of=total,
        wrong=len(wrong),
        findings=chain(uncitable, wrong, large),
        good=f"all {total:,} ids follow the format{beyond}",
        bad=f"{len(wrong):,} of {total:,} ids do not follow the format{cannot}{beyond}",
        unknown="there is no chunk",
        numbers={"uncitable": len(uncitable), "beyond_999": len(large)},
    )


def _place(parsed: Sequence[tuple[Chunk, ChunkId]]) -> Audit:
    findings = [
        tuple(finding(breach, chunk.chunk_id) for breach in place_problems(chunk, parts))
        for chunk, parts in parsed
    ]
    total, wrong = len(parsed), sum(map(bool, findings))
    return audit_of(
        "place",
        of=total,
        wrong=wrong,
        findings=chain.from_iterable(findings),
        good=f"document, section and page of {total:,} ids are those of their records",
        bad=f"{wrong:,} of {total:,} ids name another document, section or page than their record",
        unknown="no id names a place",
    )


def _order(parsed: Iterable[tuple[Chunk, ChunkId]]) -> Audit:
    """Audit whether the chunks of each section, sorted by id, are in reading order; a finding per section."""
    sections: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for chunk, parts in parsed:
        sections[chunk.doc_id or parts.doc_uid, chunk.section_id or parts.sect_path].append(chunk)
    compared, findings = 0, []
    for (_, section), chunks in sections.items():
        by_id = sorted(chunks, key=lambda chunk: sort_key(chunk.chunk_id))
        pairs = [(one, other, _out_of_order(one, other)) for one, other in pairwise(by_id)]
        compared += any(why is not None for *_, why in pairs)
        wrong = next(((one, other, why) for one, other, why in pairs if why), None)
        if wrong is not None:
            one, other, why = wrong
            ids = f"{one.chunk_id[-60:]} sorts before {other.chunk_id[-60:]}"
            message = f"section {section[:40]}: {ids} but is read after it: {why}"
            findings.append(finding_of("chunk_order", "chunk_id", message, one.chunk_id))
    return audit_of(
        "order",
        of=compared,
        wrong=len(findings),
        findings=findings,
        good=f"in {compared:,} of {len(sections):,} sections ids sort in reading order; the others hold one "
        "chunk, or their order is not known",
        bad=f"in {len(findings):,} of {compared:,} sections ids do not sort in reading order",
        unknown="the reading order is not known: no order_in_section, offsets or boxes",
        numbers={"sections": len(sections)},
    )


def _revision(parsed: Iterable[tuple[Chunk, ChunkId]], revs: Mapping[str, str]) -> Audit:
    """Audit whether each id has the revision that the workspace names for its document.

    A commit, or another name of a version, is not the hash of a text and cannot differ from one.
    """
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for chunk, parts in parsed:
        used[chunk.doc_id or parts.doc_uid][parts.rev] += 1
    known = [
        doc_id
        for doc_id, counts in used.items()
        if is_of_text(revs.get(doc_id, "")) and set(counts) - {UNKNOWN_REVISION}
    ]
    wrong = [
        finding_of(
            "rev_mismatch",
            "rev",
            f"{count:,} ids of {doc_id[:80]} have r={rev}, but the manifest names {revs[doc_id][:40]}",
            doc_id,
        )
        for doc_id in known
        for rev, count in used[doc_id].items()
        if rev != UNKNOWN_REVISION and not begins_alike(rev, revs[doc_id])
    ]
    extended = [
        finding_of(
            "rev_extended",
            "chunk_id",
            f"{doc_id[:80]} has revisions of twelve digits: {', '.join(long[:3])}",
            doc_id,
        )
        for doc_id, counts in used.items()
        if (long := [rev for rev in counts if len(rev) == LONG])
    ]
    count = len({each.record_id for each in wrong})
    documents = f"of {len(used):,} documents" if len(used) != 1 else "of the document"
    return audit_of(
        "revision",
        of=len(known),
        wrong=count,
        findings=chain(wrong, extended),
        good=f"the ids of {len(known):,} {documents} have the revision that the manifest names",
        bad=f"ids of {count:,} of {len(known):,} documents have another revision than the manifest names",
        unknown=f"ids or manifest name no revision {documents}" if used else "no id names a document",
        numbers={"documents": len(used), "extended": len(extended)},
    )


#: Boxes are in one column if they share at least so much of the narrower one's width.
_SHARED_WIDTH = 0.5


def _out_of_order(one: Chunk, other: Chunk) -> str | None:
    """Return why `other` is read before `one`, "" if it is not, None if the order is unknown.

    Pages decide first, then order in the section and offsets, then the boxes of chunks in one column.
    """
    starts, tops = None, None
    if one.offsets and other.offsets and one.offsets.unit == other.offsets.unit:
        starts = one.offsets.start, other.offsets.start
    is_same_page = one.page_idx is not None and one.page_idx == other.page_idx
    if one.box and other.box and one.box_space == other.box_space and is_same_page:
        shared = min(one.box[2], other.box[2]) - max(one.box[0], other.box[0])
        if shared >= _SHARED_WIDTH * min(box[2] - box[0] for box in (one.box, other.box)) > 0:
            tops = one.box[1], other.box[1]
    pages, orders = None, None
    if one.page_idx is not None and other.page_idx is not None:
        pages = one.page_idx + 1, other.page_idx + 1
    if one.order_in_section is not None and other.order_in_section is not None:
        orders = one.order_in_section, other.order_in_section
    levels: Sequence[Sequence[tuple[str, tuple[float, float] | None]]] = (
        [("PDF page {} against {}", pages)],
        [("order_in_section {} against {}", orders), ("offsets from {:,} against {:,}", starts)],
        [("top at {:g} against {:g}", tops)],
    )
    for level in levels:
        known = [(words, pair) for words, pair in level if pair and pair[0] != pair[1]]
        if known:
            return next((words.format(*pair) for words, pair in known if pair[0] > pair[1]), "")
    return None
