"""Compare hashes and revisions that may be abbreviated: `c5ee24c`, `sha256:6a2c50e3…`, `2f7d…9a`."""

from __future__ import annotations

import re

from proofspan.contracts.rules.parity import SHORTEST_COMMIT

#: The shortest abbreviation that is compared, in characters with … as one of them,
SHORTEST = SHORTEST_COMMIT
#: and the fewest digits that both sides must state for them to agree.
FEWEST = SHORTEST - 1
#: The lengths of whole hashes: md5, a commit's sha1, sha256.
WHOLE = (32, 40, 64)

_ALGORITHM = re.compile(r"(?:sha-?(?:1|256)|md5)\s*[:=]\s*")
_ABBREVIATED = re.compile(r"(?P<head>[0-9a-f]+)(?:…(?P<tail>[0-9a-f]+)?)?")


def same_hash(a: str, b: str) -> bool | None:
    """Return whether two hashes agree as far as both are written; None if that cannot be decided.

    One that is abbreviated agrees with each that begins, and behind an ellipsis ends, with the same digits.
    Not comparable are texts that are no hexadecimal digits, fewer than 7 characters, and abbreviations that
    have too few digits in common: `2f7d…9a` and `2f7d41c09`.
    """
    one, other = _parts(a), _parts(b)
    if one is None or other is None:
        return None
    (head, tail), (other_head, other_tail) = one, other
    shared = min(len(head), len(other_head))
    if head[:shared] != other_head[:shared]:
        return False
    both = 0
    if tail or other_tail:
        end, other_end = _ending(head, tail), _ending(other_head, other_tail)
        both = min(len(end), len(other_end))
        if both and end[-both:] != other_end[-both:]:
            return False
    return True if one == other or shared + both >= FEWEST else None


def same_revision(a: str, b: str) -> bool | None:
    """Return whether two revisions agree: hashes as `same_hash`, names such as `v1.5` if they are equal."""
    if _parts(a) is None and _parts(b) is None:
        return a.strip().lower() == b.strip().lower()
    return same_hash(a, b)


def is_hash(text: str) -> bool:
    """Return whether a text can be compared as a hash."""
    return _parts(text) is not None


def _parts(text: str) -> tuple[str, str | None] | None:
    """Return the digits before and behind the ellipsis, the latter None without one; None for no hash."""
    plain = _ALGORITHM.sub("", text.strip().strip("`").lower()).replace("...", "…")
    match = _ABBREVIATED.fullmatch(plain)
    if match is None or len(plain) < SHORTEST:
        return None
    return match["head"], match["tail"]


def _ending(head: str, tail: str | None) -> str:
    """Return the last digits as far as they are known; those of a whole hash are its own."""
    return tail or (head if len(head) in WHOLE else "")
