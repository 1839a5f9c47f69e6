"""Find two parts of a claim that its source has in each other's place: the vests are where the box is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from proofspan.diagnosis.claims.differences.aligned import FULLY_SAME, Alignment, Found, WordsOf

#: Words between two clauses.
JOINS = frozenset("and while whereas but und während aber et mais tandis".split())  # noqa: SIM905
#: Joints of a sentence, sentences of a source and words of a sentence that are looked at; sentences between
#: the two that are compared.
_MOST_JOINTS, _MOST_SENTENCES, _MOST_WORDS, _APART = 6, 200, 60, 2
#: A clause may have one word that the source says otherwise if it has at least this many that it has.
_KNOWN = 3


class _Clause(NamedTuple):
    """The words that begin a clause, and those that end it, by number."""

    head: list[int]
    tail: list[int]


def exchanged_parts(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield what a claim puts in another's place: its clauses begin as the source's do, with the other's end.

    Each word of the claim must be accounted for, nothing may be denied, and no sentence of the source may
    have the words of the claim's first clause together.
    """
    theirs = _sentences(source, claim)
    denied = {  # a denial behind all words of the claim is of something else
        source.sentences[at]
        for at in source.negations
        if any(at < places[-1] for places in theirs.get(source.sentences[at], {}).values())
    }
    for first, behind in _spans(claim):
        if any(first <= at < behind for at in claim.negations):
            continue
        content = [at for at in range(first, behind) if claim.is_content[at]]
        if not 4 <= len(content) <= _MOST_WORDS:
            continue
        for joint in joints(claim, first, behind):
            found = _exchanged(claim, content, joint, source, theirs, denied)
            if found is not None:
                yield found
                break


def _spans(words: WordsOf) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(words.lower):
        behind = words.sentence_of(first)[1]
        yield first, behind
        first = behind


def joints(words: WordsOf, first: int, behind: int) -> list[int]:
    """Return the words with which clauses of a sentence may begin."""
    found = [
        at
        for at in range(first + 1, behind)
        if words.lower[at] in JOINS or "," in words.text[words.ends[at - 1] : words.starts[at]]
    ]
    return found[:_MOST_JOINTS]


def _sentences(source: WordsOf, claim: WordsOf) -> dict[int, dict[str, list[int]]]:
    """Return the words that the claim has as well, by sentence and form."""
    found: dict[int, dict[str, list[int]]] = {}
    for form, ours in claim.places.items():
        if claim.is_content[ours[0]]:
            for at in source.places.get(form, ()):
                found.setdefault(source.sentences[at], {}).setdefault(form, []).append(at)
    return found


def _exchanged(
    claim: WordsOf,
    content: Sequence[int],
    joint: int,
    source: WordsOf,
    theirs: dict[int, dict[str, list[int]]],
    denied: set[int],
) -> Found | None:
    ours = [at for at in content if at < joint], [at for at in content if at >= joint]
    if min(map(len, ours)) < 2:
        return None
    repeated = {claim.forms[at] for at in ours[0]} & {claim.forms[at] for at in ours[1]}
    for number, known in list(theirs.items())[:_MOST_SENTENCES]:
        if number in denied or len(known) < 2:
            continue
        if len(known) >= 4:
            first, behind = source.sentence_of(next(iter(known.values()))[0])
            for split in joints(source, first, behind):
                one = {form: [at for at in places if at < split] for form, places in known.items()}
                two = {form: [at for at in places if at >= split] for form, places in known.items()}
                found = _compared(claim, ours, repeated, source, one, two)
                if found is not None and not _together(claim, ours[0], repeated, theirs, number):
                    return found
        for other in range(number + 1, number + 1 + _APART):
            its = theirs.get(other)
            if its is None or other in denied:
                continue
            found = _compared(claim, ours, repeated, source, known, its, begins=True)
            if found is not None and not _together(claim, ours[0], repeated, theirs, -1):
                return found
    return None


def _compared(
    claim: WordsOf,
    ours: tuple[list[int], list[int]],
    repeated: set[str],
    source: WordsOf,
    one: dict[str, list[int]],
    two: dict[str, list[int]],
    *,
    begins: bool = False,
) -> Found | None:
    """Return what is exchanged between two clauses of a claim and two of its source."""
    clauses = []
    for places in ours:
        sides = []
        for at in places:
            form = claim.forms[at]
            in_one, in_two = bool(one.get(form)), bool(two.get(form))
            if form not in repeated and not (in_one and in_two):
                sides.append((at, 1 if in_one else 2 if in_two else 0))
        known = [each for each in sides if each[1]]
        if len(sides) - len(known) > (len(known) >= _KNOWN):
            return None
        heads = [at for at, side in known if side == known[0][1]]
        tails = [at for at, side in known if side != known[0][1]]
        if not heads or not tails or max(heads) > min(tails) or joints(claim, heads[-1], tails[0] + 1):
            return None  # in a list any order is right
        clauses.append((_Clause(heads, tails), known[0][1]))
    (mine, side), (yours, other) = clauses
    if side == other:
        return None
    of_mine, of_yours = (one, two) if side == 1 else (two, one)
    begin, end = _places(claim, mine.head, of_mine), _places(claim, yours.head, of_yours)
    if max(begin) > min(_places(claim, yours.tail, of_mine, last=True)) or max(end) > min(
        _places(claim, mine.tail, of_yours, last=True)
    ):
        return None
    if begins and not all(_begins(source, min(places)) for places in (begin, end)):
        return None
    align = Alignment(FULLY_SAME, 2, 0, min(end))
    return Found("name", (mine.head[0], mine.head[-1]), (min(end), max(end)), align)


def _places(
    claim: WordsOf, numbers: Sequence[int], source: dict[str, list[int]], *, last: bool = False
) -> list[int]:
    """Return the first, or the last, places of some words of the claim in a clause of the source."""
    return [source[claim.forms[at]][-1 if last else 0] for at in numbers]


def _begins(words: WordsOf, at: int) -> bool:
    """Return whether a word is the first one of its sentence that carries content."""
    return not any(words.is_content[words.sentence_of(at)[0] : at])


def _together(
    claim: WordsOf,
    places: Sequence[int],
    repeated: set[str],
    theirs: dict[int, dict[str, list[int]]],
    besides: int,
) -> bool:
    """Return whether a sentence of the source, besides one, has all words of a clause that are known."""
    forms = {claim.forms[at] for at in places} - repeated
    forms &= {form for known in theirs.values() for form in known}
    return any(forms <= known.keys() for number, known in theirs.items() if number != besides)
