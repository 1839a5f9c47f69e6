"""Do the chunks' offsets agree with the gold's? `citation_match` of the chunk id schema.

A gold span is matched where the chunks that are expected for it cover it: the question's gold chunks, else
those of its document that hold its quote. Text says which chunk is expected and offsets are what is checked,
so that nothing confirms itself. Source: the audit of the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from proofspan.contracts.chunk_ids.audit import REBUILD, STEADY, TIGHTEN, Audit, AuditName
from proofspan.contracts.chunk_ids.redirects import RedirectMap
from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan, Offsets
from proofspan.contracts.rules.catalogue import Finding, finding_of
from proofspan.metrics.statistics import percent, share_in_words, wilson

COVER_TARGET = 0.90
SAMPLE = 20
#: The seed of the sample where none is given; it is printed with the result.
DEFAULT_SEED = 7
#: So many chunks of a document are searched for a quote that no gold chunk stands for.
MOST_SEARCHED = 5_000

Reason = Literal["matched", "outside", "other_text", "in_no_chunk", "no_offsets"]
_WORDS: Mapping[Reason, str] = {
    "outside": "lies outside the offsets of the chunks expected for it",
    "other_text": "is covered by offsets under which its chunk has another text",
    "in_no_chunk": "stands whole in no chunk of its document",
    "no_offsets": "is expected in chunks without offsets of its unit",
}


class Span(NamedTuple):
    """A gold span with offsets, by its question and its 1-based number there."""

    q_id: str
    number: int
    span: GoldSpan
    offsets: Offsets
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """What became of every gold span with offsets, in the order of the gold; `left_out` have none."""

    spans: tuple[tuple[Span, Reason], ...]
    left_out: int

    def sample(self, seed: int, size: int = SAMPLE) -> Matched:
        """So many of the spans, chosen by a hash of seed, question and number: the same ones anywhere."""
        chosen = sorted(self.spans, key=lambda each: _draw(seed, each[0]))[:size]
        return Matched(tuple(sorted(chosen, key=lambda each: each[0][:2])), self.left_out)


def match_gold(gold: Iterable[GoldQuestion], chunks: Mapping[str, Chunk]) -> Matched:
    """Every gold span that has offsets, and whether the chunks expected for it cover it."""
    of_document: dict[str | None, list[Chunk]] = defaultdict(list)
    for chunk in chunks.values():
        of_document[chunk.doc_id].append(chunk)
    spans = list(_spans(gold))
    matched = tuple(
        (each, _reason(each, _expected(each, chunks, of_document))) for each in spans if each is not None
    )
    return Matched(matched, sum(each is None for each in spans))


def match_audit(matched: Matched, name: AuditName, *, drawn: str = "") -> Audit:
    """The audit of the share that is matched, with its interval, against the target. `drawn` says how."""
    total, left_out = len(matched.spans), matched.left_out
    if not total:
        said = "no gold span has offsets" if left_out else "there is no gold span"
        return Audit(name, "unknown", f"{said}, so citation match is not known", {"of": 0})
    counts = Counter(reason for _, reason in matched.spans)
    right = counts["matched"]
    low, high = wilson(right, total)
    said = f"{right:,} of {total:,} gold spans, {share_in_words(right, total)}, are covered by their chunks"
    rest = f"; {left_out:,} more have no offsets" if left_out else ""
    is_good = right / total >= COVER_TARGET
    return Audit(
        name,
        "pass" if is_good else "fail",
        f"{said}{drawn}; the target is {percent(COVER_TARGET)}{rest}",
        {"of": total, "wrong": total - right, "share": right / total, "low": low, "high": high},
        "" if is_good else (TIGHTEN if counts["in_no_chunk"] * 2 > total - right else REBUILD),
        tuple(_finding(span, reason) for span, reason in matched.spans if reason != "matched"),
    )


def _spans(gold: Iterable[GoldQuestion]) -> Iterator[Span | None]:
    """Every gold span; None for one whose offsets say nothing."""
    for question in gold:
        for number, span in enumerate(question.spans, start=1):
            proper = span.offsets is not None and 0 <= span.offsets.start < span.offsets.end
            offsets = span.offsets if proper else None
            yield Span(question.q_id, number, span, offsets, question.chunks) if offsets else None


def _expected(
    wanted: Span, chunks: Mapping[str, Chunk], of_document: Mapping[str | None, Sequence[Chunk]]
) -> list[Chunk]:
    """The chunks that ought to cover a span: gold chunks of its document, else those that hold its quote."""
    named = [chunk for chunk_id in wanted.chunks if (chunk := chunks.get(chunk_id)) is not None]
    named = [chunk for chunk in named if chunk.doc_id == wanted.span.doc_id]
    quote = _collapsed(wanted.span.quote)
    holding = [chunk for chunk in named if quote and quote in _collapsed(chunk.text)]
    if named:
        return holding or named
    pages = {wanted.span.page_idx, (wanted.span.page_idx or 0) - 1}
    held = of_document.get(wanted.span.doc_id, ())
    near = [chunk for chunk in held if wanted.span.page_idx is None or chunk.page_idx in {None, *pages}]
    return [chunk for chunk in near[:MOST_SEARCHED] if quote and quote in _collapsed(chunk.text)]


def _reason(wanted: Span, expected: Sequence[Chunk]) -> Reason:
    if not expected:
        return "in_no_chunk"
    comparable = [
        (chunk, chunk.offsets)
        for chunk in expected
        if chunk.offsets is not None and chunk.offsets.unit == wanted.offsets.unit
    ]
    if not comparable:
        return "no_offsets"
    if not _covers([offsets for _, offsets in comparable], wanted.offsets):
        return "outside"
    return "matched" if all(_has_text(wanted, *each) for each in comparable) else "other_text"


def _covers(held: Iterable[Offsets], wanted: Offsets) -> bool:
    """Whether the ranges together hold every place of the wanted one."""
    reached = wanted.start
    for each in sorted(held, key=lambda offsets: offsets.start):
        if each.start <= reached:
            reached = max(reached, each.end)
    return reached >= wanted.end


def _has_text(wanted: Span, chunk: Chunk, offsets: Offsets) -> bool:
    """Whether the quote stands in the chunk where the offsets say; True where that cannot be looked up.

    It can where the chunk's offsets count the characters of its own text and hold the whole span.
    """
    is_whole = offsets.start <= wanted.offsets.start and wanted.offsets.end <= offsets.end
    if not is_whole or offsets.unit != "char" or offsets.end - offsets.start != len(chunk.text):
        return True
    there = chunk.text[wanted.offsets.start - offsets.start : wanted.offsets.end - offsets.start]
    return _collapsed(there) == _collapsed(wanted.span.quote)


def _finding(wanted: Span, reason: Reason) -> Finding:
    start, end = wanted.offsets.start, wanted.offsets.end
    said = (
        f"gold span {wanted.number} of {wanted.q_id[:40]} ({start:,}–{end:,} of {wanted.span.doc_id[:60]}) "
    )
    return finding_of("gold_not_covered", f"spans[{wanted.number}]", said + _WORDS[reason], wanted.q_id)


def _draw(seed: int, span: Span) -> bytes:
    key = f"{seed}\n{span.q_id}\n{span.number}".encode("utf-8", "replace")
    return hashlib.sha1(key, usedforsecurity=False).digest()


def _collapsed(text: str) -> str:
    return " ".join(text.split())


# How many chunk ids of an older build still stand for one chunk, held against the target.

#: So many old ids keep one chunk after a reindex. Source: chunk id schema (docs/requirements.md).
KEPT_TARGET = 0.95


def one_to_one_audit(found: RedirectMap) -> Audit:
    """How many old ids still stand for one chunk, against the target."""
    total, kept = len(found.redirects), found.one_to_one
    if not total:
        return Audit("one_to_one", "unknown", "the older file has no chunk", {"of": 0})
    low, high = wilson(kept, total)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.counts.items() if count)
    said = f"{kept:,} of {total:,} old ids, {share_in_words(kept, total)}, lead to one chunk each"
    added = f"; {len(found.new):,} ids are new" if found.new else ""
    reused = f"; {len(found.reused):,} old ids stand for another chunk now" if found.reused else ""
    is_good = kept / total >= KEPT_TARGET
    return Audit(
        "one_to_one",
        "pass" if is_good else "fail",
        f"{said}; the target is {percent(KEPT_TARGET)} ({kinds}{added}{reused})",
        {"of": total, "wrong": total - kept, "share": kept / total, "low": low, "high": high}
        | {kind: float(count) for kind, count in found.counts.items()}
        | {"new": len(found.new), "reused": len(found.reused)},
        "" if is_good else STEADY,
    )
