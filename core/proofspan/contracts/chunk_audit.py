"""Audits over a whole chunk file: can its ids be trusted to say where each chunk stands?

Pure: what a file's own records tell. Audits that need the documents or gold questions are made elsewhere from
the same `Audit`. Source: the audit of the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Literal

from proofspan.contracts.chunk_ids import UNKNOWN_REVISION, ChunkId, parse, sort_key
from proofspan.contracts.chunk_order import out_of_order
from proofspan.contracts.chunk_rules import id_findings
from proofspan.contracts.findings import Finding
from proofspan.contracts.records import Chunk
from proofspan.contracts.revisions import LONG, begins_alike, is_of_text

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
