"""How many chunk ids of an older build still stand for one chunk, held against the target."""

from __future__ import annotations

from proofspan.contracts.chunk_audit import STEADY, Audit
from proofspan.contracts.redirects import RedirectMap
from proofspan.metrics.intervals import percent, share_in_words, wilson

#: So many old ids keep one chunk after a reindex. Source: chunk id schema (docs/requirements.md).
TARGET = 0.95


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
    is_good = kept / total >= TARGET
    return Audit(
        "one_to_one",
        "pass" if is_good else "fail",
        f"{said}; the target is {percent(TARGET)} ({kinds}{added}{reused})",
        {"of": total, "wrong": total - kept, "share": kept / total, "low": low, "high": high}
        | {kind: float(count) for kind, count in found.counts.items()}
        | {"new": len(found.new), "reused": len(found.reused)},
        "" if is_good else STEADY,
    )
