"""Audits over a whole chunk file: can its ids be trusted to say where each chunk stands?

Pure: what a file's own records tell. Audits that need the documents or gold questions are made elsewhere from
the same `Audit`. Source: the audit of the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Literal

from proofspan.contracts.chunk_ids.minting import LONG, begins_alike, is_of_text
from proofspan.contracts.records.chunk_id import (
    UNKNOWN_REVISION,
    ChunkId,
    clean_part,
    is_citable,
    parse,
    sort_key,
)
from proofspan.contracts.records.names import section_key
from proofspan.contracts.records.records import Box, Chunk
from proofspan.contracts.rules.finding import Finding

Status = Literal["pass", "fail", "unknown"]
AuditName = Literal[
    "unique", "format", "place", "order", "revision", "recomputed", "at_place",
    "citation_match_sample", "citation_match", "one_to_one",
]  # fmt: skip

#: So many findings of one audit are kept; its numbers count them all.
KEPT = 1_000
SHOWN = 5

#: What to do where an audit fails and no single rule says it better.
REBUILD = "Build the section tree anew and check that the offsets count in the text that is cited."
TIGHTEN = "Tighten the block boundaries: a paragraph, a table or a list is one block and is not cut."
STEADY = "Check what rev is computed from, and that a block keeps its number when others around it change."


@dataclass(frozen=True, slots=True)
class Audit:
    """One question to a chunk file, answered. `unknown`: nothing there could be checked, `said` tells why.

    `said` is one sentence with its counts, `numbers` are these by name (shares and limits in 0–1), and
    `next_step` is "" where there is nothing to do. `findings` are the first `KEPT`.
    """

    name: AuditName
    status: Status
    said: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    next_step: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether it fails by what is required, and not only by what is recommended."""
        recommended = bool(self.findings) and all(each.severity == "warning" for each in self.findings)
        return self.status == "fail" and not recommended

    @property
    def examples(self) -> tuple[Finding, ...]:
        """The first findings, as a page shows them."""
        return self.findings[:SHOWN]


def audit_chunks(chunks: Sequence[Chunk], *, revs: Mapping[str, str]) -> tuple[Audit, ...]:
    """What the records themselves tell; of chunks with one id all are given, in the order of the file.

    `revs` is the revision of each document by `doc_id`, as the workspace names it.
    """
    found = _IdFindings()
    for chunk in chunks:
        found.take(id_findings(chunk))
    parsed = [(chunk, parts) for chunk in chunks if (parts := parse(chunk.chunk_id))]
    return (
        _unique(chunks),
        _format(len(chunks), found),
        _place(len(parsed), found),
        _order(parsed),
        _revision(parsed, revs),
    )


@dataclass(slots=True)
class _IdFindings:
    """Findings of single ids by code, the first of each, and how many chunks have one."""

    kept: dict[str, list[Finding]] = field(default_factory=lambda: defaultdict(list))
    chunks: Counter[str] = field(default_factory=Counter)

    def take(self, findings: Sequence[Finding]) -> None:
        """Adds those of one chunk."""
        self.chunks.update({finding.code for finding in findings})
        for finding in findings:
            if len(self.kept[finding.code]) < KEPT:
                self.kept[finding.code].append(finding)

    def of(self, *codes: str) -> Iterator[Finding]:
        """The findings of these codes, one code after the other."""
        return chain.from_iterable(self.kept.get(code, ()) for code in codes)


def judged(
    name: AuditName,
    *,
    of: int,
    wrong: int,
    findings: Iterable[Finding],
    good: str,
    bad: str,
    unknown: str,
    numbers: Mapping[str, float] | None = None,
) -> Audit:
    """The audit of `of` things of which `wrong` are wrong; `findings` may hold warnings beside these."""
    kept = tuple(islice(findings, KEPT))
    first = next((each for each in kept if each.severity == "error"), kept[0] if kept else None)
    status: Status = "unknown" if of == 0 else "fail" if wrong else "pass"
    said = {"unknown": unknown, "fail": bad, "pass": good}[status]
    step = first.next_step if first is not None and status == "fail" else ""
    return Audit(name, status, said, {"of": of, "wrong": wrong, **(numbers or {})}, step, kept)


def _unique(chunks: Sequence[Chunk]) -> Audit:
    seen = Counter(chunk.chunk_id for chunk in chunks)
    repeated = {chunk_id: count for chunk_id, count in seen.items() if count > 1}
    findings = (
        Finding("duplicate_id", "chunk_id", f"{count:,} chunks have the id {chunk_id[:80]!r}", chunk_id)
        for chunk_id, count in repeated.items()
    )
    return judged(
        "unique",
        of=len(chunks),
        wrong=len(repeated),
        findings=findings,
        good=f"all {len(chunks):,} ids are different",
        bad=f"{len(repeated):,} of {len(seen):,} ids stand for more than one chunk",
        unknown="there is no chunk",
    )


def _format(total: int, found: _IdFindings) -> Audit:
    """Whether ids follow the format and can be cited; large numbers are told and are no fault."""
    wrong, uncitable = found.chunks["id_not_canonical"], found.chunks["uncitable_id"]
    large = found.chunks["number_beyond_999"]
    beyond = f"; {large:,} with a page or block beyond 999 sort as numbers only" if large else ""
    cannot = f", and {uncitable:,} cannot be cited" if uncitable else ""
    return judged(
        "format",
        of=total,
        wrong=wrong,
        findings=found.of("uncitable_id", "id_not_canonical", "number_beyond_999"),
        good=f"all {total:,} ids follow the format{beyond}",
        bad=f"{wrong:,} of {total:,} ids do not follow the format{cannot}{beyond}",
        unknown="there is no chunk",
        numbers={"uncitable": uncitable, "beyond_999": large},
    )


def _place(total: int, found: _IdFindings) -> Audit:
    wrong = found.chunks["id_place_differs"]
    return judged(
        "place",
        of=total,
        wrong=wrong,
        findings=found.of("id_place_differs"),
        good=f"document, section and page of {total:,} ids are their records' own",
        bad=f"{wrong:,} of {total:,} ids name another document, section or page than their record",
        unknown="no id names a place",
    )


def _order(parsed: Iterable[tuple[Chunk, ChunkId]]) -> Audit:
    """Sorted by id, do the chunks of each section stand in reading order? One finding a section."""
    sections: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for chunk, parts in parsed:
        sections[chunk.doc_id or parts.doc_uid, chunk.section_id or parts.sect_path].append(chunk)
    compared, findings = 0, []
    for (_, section), chunks in sections.items():
        verdicts = [
            (one, other, verdict)
            for one, other in pairwise(sorted(chunks, key=lambda chunk: sort_key(chunk.chunk_id)))
            if (verdict := out_of_order(one, other)) is not None
        ]
        compared += bool(verdicts)
        findings += list(islice((_order_finding(section, *each) for each in verdicts if each[2]), 1))
    return judged(
        "order",
        of=compared,
        wrong=len(findings),
        findings=findings,
        good=f"in {compared:,} of {len(sections):,} sections ids sort in reading order; the others hold one "
        "chunk, or nothing says their order",
        bad=f"in {len(findings):,} of {compared:,} sections ids do not sort in reading order",
        unknown="nothing says in which order chunks are read: no order_in_section, offsets or boxes",
        numbers={"sections": len(sections)},
    )


def _order_finding(section: str, one: Chunk, other: Chunk, why: str) -> Finding:
    said = f"section {section[:40]}: {one.chunk_id[-60:]} sorts before {other.chunk_id[-60:]} and is "
    said += f"read after it: {why}"
    return Finding("chunk_order", "chunk_id", said, one.chunk_id)


def _revision(parsed: Iterable[tuple[Chunk, ChunkId]], revs: Mapping[str, str]) -> Audit:
    """Does every id carry the revision that the workspace names for its document?

    A commit, or another name of a version, is no hash of a text: it cannot differ from one.
    """
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for chunk, parts in parsed:
        used[chunk.doc_id or parts.doc_uid][parts.rev] += 1
    known = {
        doc_id
        for doc_id, found in used.items()
        if is_of_text(revs.get(doc_id, "")) and set(found) - {UNKNOWN_REVISION}
    }
    wrong = [
        Finding("rev_mismatch", "rev", _other_revision(doc_id, rev, count, revs[doc_id]), doc_id)
        for doc_id in used
        if doc_id in known
        for rev, count in used[doc_id].items()
        if rev != UNKNOWN_REVISION and not begins_alike(rev, revs[doc_id])
    ]
    apart = {doc_id: long for doc_id, found in used.items() if (long := [r for r in found if len(r) == LONG])}
    count = len({finding.record_id for finding in wrong})
    named = f"of {len(used):,} documents" if len(used) != 1 else "of the document"
    return judged(
        "revision",
        of=len(known),
        wrong=count,
        findings=chain(wrong, _extended(apart)),
        good=f"the ids of {len(known):,} {named} carry the revision that the manifest names",
        bad=f"ids of {count:,} of {len(known):,} documents carry another revision than the manifest names",
        unknown=f"ids or manifest name no revision {named}" if used else "no id names a document",
        numbers={"documents": len(used), "extended": len(apart)},
    )


def _other_revision(doc_id: str, rev: str, count: int, named: str) -> str:
    return f"{count:,} ids of {doc_id[:80]} say r={rev}, and the manifest names {named[:40]}"


def _extended(apart: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    for doc_id, revs in apart.items():
        said = f"{doc_id[:80]} has revisions of twelve digits: {', '.join(revs[:3])}"
        yield Finding("rev_extended", "chunk_id", said, doc_id)


# In which order two chunks are read, as far as their records tell.

#: Two boxes stand one above the other where they share so much of the narrower one's width.
_SHARED_WIDTH = 0.5


def out_of_order(one: Chunk, other: Chunk) -> str | None:
    """Why `other` is read before `one`, "" where it is not, None where nothing says.

    Pages decide first. On one page, or where one is not known, order in the section and offsets are each
    enough to tell; boxes only where both are open, and only of chunks in one column.
    """
    verdicts = [_by_page(one, other)]
    if verdicts[0] is None:
        verdicts = [_by_order(one, other), _by_offsets(one, other)]
    if all(verdict is None for verdict in verdicts):
        verdicts = [_by_box(one, other)]
    known = [verdict for verdict in verdicts if verdict is not None]
    return next((verdict for verdict in known if verdict), "" if known else None)


def _by_page(one: Chunk, other: Chunk) -> str | None:
    if one.page_idx is None or other.page_idx is None or one.page_idx == other.page_idx:
        return None
    later = one.page_idx > other.page_idx
    return f"PDF page {one.page_idx + 1} against {other.page_idx + 1}" if later else ""


def _by_order(one: Chunk, other: Chunk) -> str | None:
    first, second = one.order_in_section, other.order_in_section
    if first is None or second is None or first == second:
        return None
    return f"order_in_section {first} against {second}" if first > second else ""


def _by_offsets(one: Chunk, other: Chunk) -> str | None:
    first, second = one.offsets, other.offsets
    if first is None or second is None or first.unit != second.unit or first.start == second.start:
        return None
    return f"offsets from {first.start:,} against {second.start:,}" if first.start > second.start else ""


def _by_box(one: Chunk, other: Chunk) -> str | None:
    first, second = one.box, other.box
    if first is None or second is None or one.box_space != other.box_space or one.page_idx is None:
        return None
    if one.page_idx != other.page_idx or not _are_in_one_column(first, second) or first[1] == second[1]:
        return None
    return f"top at {first[1]:g} against {second[1]:g}" if first[1] > second[1] else ""


def _are_in_one_column(one: Box, other: Box) -> bool:
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return shared >= _SHARED_WIDTH * min(one[2] - one[0], other[2] - other[0]) > 0


# What one chunk's id says of its place, held against what its record says.

_SHOWN = 80
_SYNTHESIZED = re.compile(r"p[0-9]{3,}")


def id_findings(chunk: Chunk) -> tuple[Finding, ...]:
    """What is wrong, or odd, about the id of one chunk by itself."""
    parts = parse(chunk.chunk_id)
    cannot: tuple[Finding, ...] = ()
    if not is_citable(chunk.chunk_id):
        said = f"{_shown(chunk.chunk_id)} holds white space, a comma or ]"
        cannot = (Finding("uncitable_id", "chunk_id", said, chunk.chunk_id),)
    if parts is None:
        said = f"{_shown(chunk.chunk_id)} is not DOC|r=REV|s=SECTION|p=PAGE|b=BLOCK"
        return (*cannot, Finding("id_not_canonical", "chunk_id", said, chunk.chunk_id))
    return (*_beyond(chunk, parts), *place_findings(chunk, parts))


def place_findings(chunk: Chunk, parts: ChunkId) -> Iterator[Finding]:
    """Document, section and page of the id that are not the record's own; what is left open cannot differ."""
    if chunk.doc_id and clean_part(chunk.doc_id) != parts.doc_uid:
        yield _differs(chunk, "doc_id", _shown(chunk.doc_id), _shown(parts.doc_uid))
    named = [section for section in (chunk.section_id, chunk.section_number) if section]
    if named and not _SYNTHESIZED.fullmatch(parts.sect_path) and not _is_among(parts.sect_path, named):
        yield _differs(chunk, "section_id", _shown(named[0]), _shown(parts.sect_path))
    if chunk.page_idx is not None and parts.page_idx not in (None, chunk.page_idx):
        own = f"PDF page {chunk.page_idx + 1:,} (page_idx {chunk.page_idx:,})"
        yield _differs(chunk, "page_idx", own, f"PDF page {parts.page:,}")


def _is_among(path: str, named: list[str]) -> bool:
    return any(clean_part(each) == path or section_key(each) == section_key(path) for each in named)


def _beyond(chunk: Chunk, parts: ChunkId) -> Iterator[Finding]:
    if parts.is_beyond_padding:
        name, number = ("page", parts.page) if parts.page > parts.block else ("block", parts.block)
        said = f"{name} {number:,} in {_shown(chunk.chunk_id)}"
        yield Finding("number_beyond_999", "chunk_id", said, chunk.chunk_id)


def _differs(chunk: Chunk, field: str, own: str, named: str) -> Finding:
    said = f"the record says {own}, its id {named}"
    return Finding("id_place_differs", field, said, chunk.chunk_id)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
