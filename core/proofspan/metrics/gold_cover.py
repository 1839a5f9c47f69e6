"""Audit chunks' offsets against the gold's: `citation_match` of the chunk id schema.

A gold span is matched if its chunks cover it: the question's gold chunks, else those of its document with its
quote. Text determines the chunks and offsets are checked, so the check is independent. Source: the audit of
the chunk id schema (docs/requirements.md).
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
#: The most chunks of a document that are searched for the quote of a span without gold chunks.
MOST_SEARCHED = 5_000

Reason = Literal["matched", "outside", "other_text", "in_no_chunk", "no_offsets"]
_WORDS: Mapping[Reason, str] = {
    "outside": "is outside the offsets of its chunks",
    "other_text": "is at offsets where its chunk has another text",
    "in_no_chunk": "is not whole in any chunk of its document",
    "no_offsets": "has chunks without offsets of its unit",
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
    """The result of each gold span with offsets, in the order of the gold; `left_out` spans have none."""

    spans: tuple[tuple[Span, Reason], ...]
    left_out: int

    def sample(self, seed: int, size: int = SAMPLE) -> Matched:
        """Return `size` spans chosen by a hash of seed, question and number: the same ones everywhere."""
        chosen = sorted(self.spans, key=lambda each: _draw(seed, each[0]))[:size]
        return Matched(tuple(sorted(chosen, key=lambda each: each[0][:2])), self.left_out)


def match_gold(gold: Iterable[GoldQuestion], chunks: Mapping[str, Chunk]) -> Matched:
    """Match each gold span with offsets with the chunks that should cover it."""
    of_document: dict[str | None, list[Chunk]] = defaultdict(list)
    for chunk in chunks.values():
        of_document[chunk.doc_id].append(chunk)
    spans = list(_spans(gold))
    matched = tuple(
        (each, _reason(each, _expected(each, chunks, of_document))) for each in spans if each is not None
    )
    return Matched(matched, sum(each is None for each in spans))


def match_audit(matched: Matched, name: AuditName, *, drawn: str = "") -> Audit:
    """Audit the matched share with its interval against the target; `drawn` describes the sample."""
    total, left_out = len(matched.spans), matched.left_out
    if not total:
        reason = "no gold span has offsets" if left_out else "there is no gold span"
        return Audit(name, "unknown", f"{reason}, so citation match is unknown", {"of": 0})
    counts = Counter(reason for _, reason in matched.spans)
    right = counts["matched"]
    low, high = wilson(right, total)
    share = f"{right:,} of {total:,} gold spans, {share_in_words(right, total)}, are covered by their chunks"
    rest = f"; {left_out:,} more have no offsets" if left_out else ""
    is_good = right / total >= COVER_TARGET
    return Audit(
        name,
        "pass" if is_good else "fail",
        f"{share}{drawn}; the target is {percent(COVER_TARGET)}{rest}",
        {"of": total, "wrong": total - right, "share": right / total, "low": low, "high": high},
        "" if is_good else (TIGHTEN if counts["in_no_chunk"] * 2 > total - right else REBUILD),
        tuple(_finding(span, reason) for span, reason in matched.spans if reason != "matched"),
    )


def _spans(gold: Iterable[GoldQuestion]) -> Iterator[Span | None]:
    """Yield all gold spans, None for one without valid offsets."""
    for question in gold:
        for number, span in enumerate(question.spans, start=1):
            proper = span.offsets is not None and 0 <= span.offsets.start < span.offsets.end
            offsets = span.offsets if proper else None
            yield Span(question.q_id, number, span, offsets, question.chunks) if offsets else None


def _expected(
    wanted: Span, chunks: Mapping[str, Chunk], of_document: Mapping[str | None, Sequence[Chunk]]
) -> list[Chunk]:
    """Return the chunks that should cover a span: gold chunks of its document, else those with its quote."""
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
    """Return whether the ranges together cover the wanted one."""
    reached = wanted.start
    for each in sorted(held, key=lambda offsets: offsets.start):
        if each.start <= reached:
            reached = max(reached, each.end)
    return reached >= wanted.end


def _has_text(wanted: Span, chunk: Chunk, offsets: Offsets) -> bool:
    """Return whether the chunk has the quote at the offsets; True if that cannot be checked.

    It can if the chunk's offsets count the characters of its own text and contain the whole span.
    """
    is_whole = offsets.start <= wanted.offsets.start and wanted.offsets.end <= offsets.end
    if not is_whole or offsets.unit != "char" or offsets.end - offsets.start != len(chunk.text):
        return True
    there = chunk.text[wanted.offsets.start - offsets.start : wanted.offsets.end - offsets.start]
    return _collapsed(there) == _collapsed(wanted.span.quote)


def _finding(wanted: Span, reason: Reason) -> Finding:
    start, end = wanted.offsets.start, wanted.offsets.end
    span = (
        f"gold span {wanted.number} of {wanted.q_id[:40]} ({start:,}–{end:,} of {wanted.span.doc_id[:60]}) "
    )
    return finding_of("gold_not_covered", f"spans[{wanted.number}]", span + _WORDS[reason], wanted.q_id)


def _draw(seed: int, span: Span) -> bytes:
    key = f"{seed}\n{span.q_id}\n{span.number}".encode("utf-8", "replace")
    return hashlib.sha1(key, usedforsecurity=False).digest()


def _collapsed(text: str) -> str:
    return " ".join(text.split())


#: The share of old ids that must map one to one after a reindex, from the chunk id schema.
KEPT_TARGET = 0.95


def one_to_one_audit(found: RedirectMap) -> Audit:
    """Audit how many old ids map to one chunk, against the target."""
    total, kept = len(found.redirects), found.one_to_one
    if not total:
        return Audit("one_to_one", "unknown", "the older file has no chunk", {"of": 0})
    low, high = wilson(kept, total)
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.counts.items() if count)
    share = f"{kept:,} of {total:,} old ids, {share_in_words(kept, total)}, lead to one chunk each"
    added = f"; {len(found.new):,} ids are new" if found.new else ""
    reused = f"; {len(found.reused):,} old ids belong to another chunk now" if found.reused else ""
    is_good = kept / total >= KEPT_TARGET
    return Audit(
        "one_to_one",
        "pass" if is_good else "fail",
        f"{share}; the target is {percent(KEPT_TARGET)} ({kinds}{added}{reused})",
        {"of": total, "wrong": total - kept, "share": kept / total, "low": low, "high": high}
        | {kind: float(count) for kind, count in found.counts.items()}
        | {"new": len(found.new), "reused": len(found.reused)},
        "" if is_good else STEADY,
    )
