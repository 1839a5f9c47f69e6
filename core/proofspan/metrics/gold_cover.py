"""Audit chunks' offsets against the gold's: `citation_match` of the chunk id schema.

A gold span is matched if its chunks cover it: the question's gold chunks, else those of its document with its
quote. Text determines the chunks and offsets are checked, so the check is independent. Source: the audit of
the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from proofspan.contracts.chunk_ids.audit import REBUILD, STEADY, TIGHTEN, Audit
from proofspan.contracts.chunk_ids.redirects import RedirectMap
from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan, Offsets
from proofspan.contracts.rules.catalogue import finding_of
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


@dataclass(frozen=True, slots=True)
class Matched:
    """The result of each gold span with offsets, in the order of the gold; `left_out` spans have none."""

    spans: tuple[tuple[Span, Reason], ...]
    left_out: int

    def sample(self, seed: int) -> Matched:
        """Return `SAMPLE` spans chosen by a hash of seed, question and number: the same ones everywhere."""
        chosen = sorted(self.spans, key=lambda each: drawn_at(seed, *each[0][:2]))[:SAMPLE]
        return Matched(tuple(sorted(chosen, key=lambda each: each[0][:2])), self.left_out)


def drawn_at(seed: int, *names: object) -> bytes:
    """Return the place of a thing with these names in the order of a draw: its first are the sample."""
    key = "\n".join(map(str, (seed, *names))).encode("utf-8", "replace")
    return hashlib.sha1(key, usedforsecurity=False).digest()


def match_gold(gold: Iterable[GoldQuestion], chunks: Mapping[str, Chunk]) -> Matched:
    """Match each gold span with offsets with the chunks that should cover it."""
    of_document: dict[str | None, list[Chunk]] = defaultdict(list)
    for chunk in chunks.values():
        of_document[chunk.doc_id].append(chunk)
    matched: list[tuple[Span, Reason]] = []
    left_out = 0
    for question in gold:
        for number, span in enumerate(question.spans, start=1):
            if span.offsets is None or not 0 <= span.offsets.start < span.offsets.end:
                left_out += 1
                continue
            wanted = Span(question.q_id, number, span, span.offsets)
            named = [chunks[chunk_id] for chunk_id in question.chunks if chunk_id in chunks]
            matched.append((wanted, _reason(wanted, _expected(span, named, of_document[span.doc_id]))))
    return Matched(tuple(matched), left_out)


def match_audit(matched: Matched, name: str, *, drawn: str = "") -> Audit:
    """Audit the matched share with its interval against the target; `drawn` describes the sample."""
    total, left_out = len(matched.spans), matched.left_out
    if not total:
        reason = "no gold span has offsets" if left_out else "there is no gold span"
        return Audit(name, "unknown", f"{reason}, so citation match is unknown", {"of": 0})
    counts = Counter(reason for _, reason in matched.spans)
    wrong = total - counts["matched"]
    fix = TIGHTEN if counts["in_no_chunk"] * 2 > wrong else REBUILD
    result = _share_audit(name, counts["matched"], total, of="gold spans", target=COVER_TARGET, fix=fix)
    share = f"{result.message}, are covered by their chunks{drawn}"
    rest = f"; {left_out:,} more have no offsets" if left_out else ""
    findings = []
    for wanted, reason in matched.spans:
        if reason != "matched":
            place = f"{wanted.offsets.start:,}–{wanted.offsets.end:,} of {wanted.span.doc_id[:60]}"
            words = f"gold span {wanted.number} of {wanted.q_id[:40]} ({place}) {_WORDS[reason]}"
            where = f"spans[{wanted.number}]"
            findings.append(finding_of("gold_not_covered", where, words, wanted.q_id))
    message = f"{share}; the target is {percent(COVER_TARGET)}{rest}"
    return replace(result, message=message, findings=tuple(findings))


def _share_audit(name: str, right: int, total: int, *, of: str, target: float, fix: str) -> Audit:
    """Return the audit of a share against its target; the message opens with the counts."""
    low, high = wilson(right, total)
    numbers = {"of": total, "wrong": total - right, "share": right / total, "low": low, "high": high}
    message = f"{right:,} of {total:,} {of}, {share_in_words(right, total)}"
    is_good = right / total >= target
    return Audit(name, "pass" if is_good else "fail", message, numbers, "" if is_good else fix)


def _expected(span: GoldSpan, named: Sequence[Chunk], held: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks that should cover a span: gold chunks of its document, else those with its quote.

    `named` are the question's gold chunks, `held` all chunks of the span's document.
    """
    named = [chunk for chunk in named if chunk.doc_id == span.doc_id]
    pages = {None, span.page_idx, (span.page_idx or 0) - 1}
    near = [chunk for chunk in held if span.page_idx is None or chunk.page_idx in pages]
    quote = _collapsed(span.quote)
    holding = [chunk for chunk in named or near[:MOST_SEARCHED] if quote and quote in _collapsed(chunk.text)]
    return holding or named


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
    start, end = wanted.offsets.start, wanted.offsets.end
    reached = start
    for _, held in sorted(comparable, key=lambda each: each[1].start):
        if held.start <= reached:
            reached = max(reached, held.end)
    if reached < end:
        return "outside"
    for chunk, held in comparable:
        # Whether it has the quote is known if its offsets hold the span and count its own characters.
        is_whole = held.start <= start and end <= held.end
        if is_whole and held.unit == "char" and held.end - held.start == len(chunk.text):
            there = chunk.text[start - held.start : end - held.start]
            if _collapsed(there) != _collapsed(wanted.span.quote):
                return "other_text"
    return "matched"


def _collapsed(text: str) -> str:
    return " ".join(text.split())


#: The share of old ids that must map one to one after a reindex, from the chunk id schema.
KEPT_TARGET = 0.95


def one_to_one_audit(found: RedirectMap) -> Audit:
    """Audit how many old ids map to one chunk, against the target."""
    total, kept = len(found.redirects), found.one_to_one
    if not total:
        return Audit("one_to_one", "unknown", "the older file has no chunk", {"of": 0})
    result = _share_audit("one_to_one", kept, total, of="old ids", target=KEPT_TARGET, fix=STEADY)
    kind_counts: dict[str, float] = {kind: float(count) for kind, count in found.counts.items()}
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.counts.items() if count)
    added = f"; {len(found.new):,} ids are new" if found.new else ""
    reused = f"; {len(found.reused):,} old ids belong to another chunk now" if found.reused else ""
    share = f"{result.message}, lead to one chunk each"
    return replace(
        result,
        message=f"{share}; the target is {percent(KEPT_TARGET)} ({kinds}{added}{reused})",
        numbers={**result.numbers, **kind_counts, "new": len(found.new), "reused": len(found.reused)},
    )
