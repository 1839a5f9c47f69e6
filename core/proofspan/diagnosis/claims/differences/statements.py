"""Differences in what is done with the same words: denied, made a duty, extended to all, limited."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from proofspan.diagnosis.claims.differences.aligned import (
    FULLY_SAME,
    MOST_PLACES,
    NOWHERE,
    SAME,
    SURELY_SAME,
    Alignment,
    Found,
    WordsOf,
    acquits,
    alignment,
    best_alignment,
)
from proofspan.diagnosis.claims.differences.parts import JOINS, joints
from proofspan.diagnosis.claims.figures import could_agree
from proofspan.diagnosis.claims.types import ClaimDifference, DifferenceKind
from proofspan.diagnosis.numbers import NUMBER_WORDS

#: Words that keep what follows from being there, but do not deny it of a subject.
_WITHOUT = frozenset("without ohne sans".split())  # noqa: SIM905
#: Verbs by which a sentence says that something is not so.
_DENYING = frozenset(
    """
    deny denies denied denying disprove disproves disproved disproving refute refutes refuted refuting reject
    rejects rejected rejecting contradict contradicts contradicted dispel dispels dispelled widerlegt
    widerlegen widerlegte bestreitet bestreiten bestritt verneint dément démentent réfute réfutent
    """.split()  # noqa: SIM905 - a word list reads best as text
)
_ARTICLES = frozenset("the a an der die das den dem ein eine einen le la les un une".split())  # noqa: SIM905
_TO_BE = frozenset(
    "is are was were be been being 's isn't ist sind war waren sei est sont était étaient".split()  # noqa: SIM905
)
#: A denial that a claim adds needs fewer of the nearest words where its sentence is mostly the source's.
_HARDLY_SAME, _SHARE_ADDED = 0.7, 0.6
#: A denial that a claim leaves out counts if its sentence has at least this share of the claim's words.
_SHARE_DENIED = 0.5
#: Words between a negation, a verb of duty or a quantifier and the word that it belongs to.
_BEFORE_DENIED, _BEFORE_VERB, _BEFORE_NOUN = 4, 3, 4
#: Words of a claim, or qualifiers, of which many say nothing more.
_FEW = 8
#: Words between "if" or "that" and a word of its clause.
_CLAUSE = 6


def negations(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield what one side denies and the other says of the same things."""
    denied = _sentences_denied(source)
    for negation in claim.negations[:MOST_PLACES]:
        head = _denied(claim, negation)
        if head is None or _is_condition(claim, head):
            continue
        places = source.places.get(claim.forms[head], ())
        affirmed = [
            at
            for at in places
            if source.sentences[at] not in denied
            and not _is_gerund(source, at)
            and not _is_condition(source, at)
        ]
        around = claim.around(head)
        affirmed = [at for at in affirmed if _has_same_limits(claim, negation, source, at)]
        best = best_alignment(around, source, affirmed)
        if best.score < _HARDLY_SAME or (
            not (best.score >= SURELY_SAME and best.adjacent)
            and claim.share_in(head, source, best.at) < _SHARE_ADDED
        ):
            continue
        agree = best_alignment(around, source, [at for at in places if source.sentences[at] in denied])
        if not acquits(agree, best) and not _is_also_opposed(claim, head, source, best.at):
            yield Found("negation", (negation, head), (best.at, best.at), best)
    denied = _sentences_denied(claim)
    for negation in source.negations[: 4 * MOST_PLACES]:
        head = _denied(source, negation)
        if head is None or _is_condition(source, head):
            continue
        for at in claim.places.get(source.forms[head], ())[:_FEW]:
            if claim.sentences[at] in denied:
                continue
            around = claim.around(at)
            best = alignment(around, source, head)
            share = claim.share_in(at, source, head)
            if (
                not _has_same_limits(source, negation, claim, at)
                or _is_of_another_part(claim, at, source, negation)
                or _is_also_opposed(claim, at, source, head)
            ):
                continue
            if share < 1 and (
                _has_pronoun(source, head, negation) or _says_no_more(claim, source, negation, head)
            ):
                # What it is about is in the sentences before.
                share = _share_with_before(claim, at, source, head)
                if source.lower[negation] in _NOR:  # "neither A nor B" are both of what is before "neither"
                    best = max(
                        best,
                        *(
                            alignment(around, source, place)._replace(at=head)
                            for place in source.negations
                            if head - _REACH_NOR <= place < negation
                            and source.sentences[place] == source.sentences[head]
                        ),
                        best,
                    )
            is_same = best.score >= SURELY_SAME and best.adjacent and share >= _SHARE_DENIED
            if not is_same and (best.score < _HARDLY_SAME or share < 1):  # or all words of a short claim
                continue
            free = [place for place in source.places[source.forms[head]] if not source.is_negated[place]]
            if not acquits(best_alignment(around, source, free), best):
                yield Found("negation", (at, at), (negation, head), best)


#: Words by which a sentence says when what it denies holds after all: "not before", "never unless".
_LIMITS = frozenset(
    """
    unless until till before except only without bis bevor ehe außer nur erst sofern solange ohne sauf avant
    jusqu sans seulement uniquement
    """.split()  # noqa: SIM905 - a word list reads best as text
)
_PRONOUNS = frozenset("it they he she this these er sie es dies diese il elle ils elles".split())  # noqa: SIM905
_NOR, _REACH_NOR = frozenset("nor noch ni".split()), 6  # noqa: SIM905
#: Words between a denial and opposites that cancel it.
_OPPOSED = 8
#: Sentences before one in which its pronouns, and what it is about, are named.
_SENTENCES_BEFORE = 3


def _has_same_limits(denying: WordsOf, negation: int, other: WordsOf, at: int) -> bool:
    """Return whether what is denied and what is not are limited by the same words, or not at all."""
    return _limits(denying, negation, negation) == _limits(other, other.sentence_of(at)[0], at)


def _limits(words: WordsOf, first: int, at: int) -> set[str]:
    """Return the limiting words of the clause around a word, from the first one on."""
    found: set[str] = set()
    for step, numbers in ((-1, range(at - 1, first - 1, -1)), (1, range(at + 1, words.sentence_of(at)[1]))):
        for place in numbers:
            left = min(place, place - step)
            if "," in words.text[words.ends[left] : words.starts[left + 1]]:
                break
            if words.lower[place] in _LIMITS:
                found.add(words.lower[place])
    return found


def _is_also_opposed(claim: WordsOf, at: int, source: WordsOf, there: int) -> bool:
    """Return whether there are opposites near a denial too, which cancel it: "not below", "above"."""
    first, behind = max(claim.sentence_of(at)[0], at - _OPPOSED), min(claim.sentence_of(at)[1], at + _OPPOSED)
    begin, end = (
        max(source.sentence_of(there)[0], there - _OPPOSED),
        min(source.sentence_of(there)[1], there + _OPPOSED),
    )
    for pair, here in claim.pairs.items():
        its = {side for place, side in source.pairs.get(pair, ()) if begin <= place < end}
        own = {side for place, side in here if first <= place < behind}
        if its and own and its.isdisjoint(own):
            return True
    return False


def _is_of_another_part(claim: WordsOf, at: int, source: WordsOf, negation: int) -> bool:
    """Return whether a claim says of another of its parts what is denied: the torch, and not the keys."""
    subject = next((place for place in range(negation - 1, -1, -1) if source.is_content[place]), None)
    if subject is None or source.sentences[subject] != source.sentences[negation]:
        return False
    same = [
        place
        for place in claim.places.get(source.forms[subject], ())
        if claim.sentences[place] == claim.sentences[at]
    ]
    return bool(same) and all(joints(claim, min(place, at), max(place, at) + 1) for place in same)


def _has_pronoun(words: WordsOf, at: int, negation: int) -> bool:
    """Return whether a pronoun shortly before a negation may be its subject."""
    return any(
        words.lower[place] in _PRONOUNS and words.sentences[place] == words.sentences[at]
        for place in range(max(0, negation - _BEFORE_DENIED), negation)
    )


def _says_no_more(claim: WordsOf, source: WordsOf, negation: int, head: int) -> bool:
    """Return whether all content words of a denying sentence are the claim's: "There is no spare key."."""
    first, behind = source.sentence_of(head)
    is_nor = source.lower[negation] in _NOR
    denials = [at for at in source.negations if first <= at < negation] if is_nor else []
    if is_nor and not denials:
        return False
    return all(
        source.forms[at] in claim.places
        for at in range(first, behind)
        if source.is_content[at] and not (denials and denials[-1] < at < negation)
    )


def _share_with_before(claim: WordsOf, at: int, source: WordsOf, there: int) -> float:
    """Return the share of a claim's sentence that a sentence of the source and the few before it have."""
    first, behind = claim.sentence_of(at)
    own = {claim.forms[each] for each in range(first, behind) if claim.is_content[each]} - {claim.forms[at]}
    number = source.sentences[there]
    known = {
        form
        for form, its in zip(source.forms, source.sentences, strict=True)
        if number - _SENTENCES_BEFORE <= its <= number
    }
    return len(own & known) / len(own) if own else 0.0


def _sentences_denied(words: WordsOf) -> set[int]:
    denied = {words.sentences[at] for at in words.negations if words.lower[at] not in _WITHOUT}
    return denied.union(words.sentences[at] for at, word in enumerate(words.lower) if word in _DENYING)


def _denied(words: WordsOf, negation: int) -> int | None:
    """Return the content word that a negation denies."""
    behind = words.lower[negation + 1 : negation + 2]
    if words.lower[negation] in _WITHOUT or (behind and behind[0] in words.lists.quantifiers):
        return None  # "not all" is some
    if behind and behind[0] in _ARTICLES and words.lower[max(negation - 1, 0)] not in _TO_BE:
        return None  # "though not the films" leaves them out of what another verb says
    for at in range(negation + 1, min(negation + 1 + _BEFORE_DENIED, len(words.lower))):
        if words.sentences[at] != words.sentences[negation] or words.lower[at] in words.lists.undenied:
            return None
        if words.is_content[at]:
            return at
    return None


def _is_gerund(words: WordsOf, at: int) -> bool:
    """Return whether a word in -ing begins its sentence: it names an act and asserts nothing."""
    return words.lower[at].endswith("ing") and (not at or words.sentences[at - 1] != words.sentences[at])


_CONDITIONS = frozenset(
    """
    if when whether that which who whose where unless while whenever wenn falls ob welche dass
    si quand lorsque qui dont où
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def _is_condition(words: WordsOf, at: int) -> bool:
    """Return whether a word is in a clause that asserts nothing: "if it is not fitted"."""
    for before in range(at - 1, max(-1, at - 1 - _CLAUSE), -1):
        if (
            words.sentences[before] != words.sentences[at]
            or "," in words.text[words.ends[before] : words.starts[at]]
        ):
            return False
        if words.lower[before] in _CONDITIONS:
            return True
    return False


def modals(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield "must" where the source has "may" before the same verb, and the other way round.

    What will happen is not what can happen either; the other way round, the claim only says less.
    """
    classes = claim.lists.modals
    for each in _before_same(claim, source, classes, "modality", _BEFORE_VERB):
        pair = classes[claim.lower[each.claimed[0]]], classes[source.lower[each.found[0]]]
        if pair in _OPPOSED_MODALS and not _asks(source, each.found[0]):
            yield each
    yield from _modals_of_small_words(claim, source)


_OPPOSED_MODALS = frozenset([("must", "may"), ("may", "must"), ("will", "may"), ("will", "can")])
#: Words behind a verb of duty, none of which carries content: "must be on".
_SMALL_WORDS = 3


_SUBJECTS = frozenset("i you we they he she it".split())  # noqa: SIM905


def _asks(words: WordsOf, at: int) -> bool:
    """Return whether a modal verb comes before its subject, as in questions and requests."""
    return not _SUBJECTS.isdisjoint(words.lower[at + 1 : at + 2])


def _modals_of_small_words(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield "may be on" where the source has "must be on" behind the same word."""
    classes = claim.lists.modals
    for at, lower in enumerate(claim.lower):
        if lower not in classes or not at or not claim.is_content[at - 1]:
            continue
        rest = _small_words(claim, at)
        found = NOWHERE
        for place in source.places.get(claim.forms[at - 1], ())[:MOST_PLACES] if rest else ():
            its = source.lower[place + 1 : place + 2]
            if its and its[0] in classes and _small_words(source, place + 1) == rest:
                if classes[its[0]] == classes[lower]:
                    found = NOWHERE
                    break
                if (classes[lower], classes[its[0]]) in _OPPOSED_MODALS:
                    found = Alignment(FULLY_SAME, 1, 0, place + 1)
        if found.at >= 0:
            yield Found("modality", (at, at), (found.at, found.at), found)


def _small_words(words: WordsOf, at: int) -> list[str]:
    """Return the few words behind a word up to a comma or the end, none if one of them carries content."""
    found: list[str] = []
    for place in range(at + 1, len(words.lower)):
        if words.sentences[place] != words.sentences[at] or (
            found and "," in words.text[words.ends[place - 1] : words.starts[place]]
        ):
            break
        if words.is_content[place] or place in words.negations or len(found) == _SMALL_WORDS:
            return []
        found.append(words.lower[place])
    return found


def quantifiers(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield "all" where the source has "some" of the same, and the like; "some" follows of "all"."""
    classes = claim.lists.quantifiers
    for each in _before_same(claim, source, classes, "quantifier", _BEFORE_NOUN):
        ours, theirs = claim.lower[each.claimed[0]], source.lower[each.found[0]]
        if (classes[ours], classes.get(theirs, "some")) != ("some", "all") or _is_only(
            claim, each.claimed[0]
        ):
            yield each


_ONLY = frozenset("only just nur bloß seulement uniquement".split())  # noqa: SIM905


def _is_only(words: WordsOf, at: int) -> bool:
    """Return whether "only" limits a quantifier: only some are not all."""
    return not _ONLY.isdisjoint(words.lower[max(0, at - 2) : at])


_COUNTS = frozenset().union(*NUMBER_WORDS.values())
#: Words behind the "of" of "two of its points", which are some and not all of them.
_WHOLES = frozenset("the its their our your his her these those this".split())  # noqa: SIM905


def is_part(words: Sequence[str], at: int) -> bool:
    """Return whether a number is a part of a whole: "two of its points"."""
    return (
        (words[at] in _COUNTS or words[at].isdigit())
        and list(words[at + 1 : at + 2]) == ["of"]
        and not _WHOLES.isdisjoint(words[at + 2 : at + 3])
    )


def _before_same(
    claim: WordsOf, source: WordsOf, classes: Mapping[str, str], kind: DifferenceKind, most: int
) -> Iterator[Found]:
    """Yield words of one class where the source has a word of another class before the same word."""
    for at, lower in enumerate(claim.lower):
        own = classes.get(lower)
        head = None if own is None else _content_behind(claim, at, most)
        if head is None or (claim.is_negated[head] and own != "none"):
            continue
        around = claim.around(head)
        best, agree, found = NOWHERE, NOWHERE, -1
        for place in source.places.get(claim.forms[head], ())[:MOST_PLACES]:
            align = alignment(around, source, place)
            before = [
                each
                for each in range(max(0, place - most), place)
                if source.sentences[each] == source.sentences[place]
                and (source.lower[each] in classes or (own == "all" and is_part(source.lower, each)))
            ]
            its = classes.get(source.lower[before[-1]], "some") if before else own
            if its == own or (source.is_negated[place] and its != "none"):
                agree = max(agree, align)
            elif align > best:
                best, found = align, before[-1]
        if best.score >= SAME and best.adjacent and agree.score < best.score:
            yield Found(kind, (at, at), (found, found), best)


def _content_behind(words: WordsOf, at: int, most: int) -> int | None:
    for place in range(at + 1, min(at + 1 + most, len(words.lower))):
        if words.sentences[place] != words.sentences[at]:
            return None
        if words.is_content[place] and not _is_possessive(words, place):
            return place
    return None


def _is_possessive(words: WordsOf, at: int) -> bool:
    return words.text[words.starts[at] : words.ends[at]].endswith(("'s", "’s"))


#: The least content words of what is limited, and the least share that claim and source have of each other.
_MAIN_WORDS = 3
_MAIN_SHARE = 0.7


def dropped_qualifiers(
    claim: WordsOf, source: WordsOf, start: int, end: int, beside: str
) -> Iterator[ClaimDifference]:
    """Yield "unless …", "up to …" of the evidence `[start:end]` that a claim leaves out, saying the rest.

    `beside` is the text around the claim, and the question; what they name is not left out.
    """
    for match in islice(source.lists.qualifier.finditer(source.text, start, end), _FEW):
        found = _left_out(claim, source, match, end, beside)
        if found is not None:
            at = len(claim.text.rstrip(" .!…"))
            yield ClaimDifference("qualifier", "", at, at, source.text[slice(*found)], *found)
            break
    if claim.lists.says_up_to.search(claim.text):
        return
    for match in islice(source.lists.up_to.finditer(source.text, start, end), _FEW):
        for other, first, last in source.figures:
            if not 0 <= other.start - match.end() <= 2:
                continue
            for figure, begin, stop in claim.figures[:_FEW]:
                if figure.kind == "number" and could_agree(
                    figure._replace(bound=""), other._replace(bound="")
                ):
                    align = alignment(claim.around(begin, stop), source, first)
                    if align.score >= SURELY_SAME and align.adjacent:
                        yield ClaimDifference(
                            "qualifier",
                            figure.text,
                            figure.start,
                            figure.end,
                            source.text[match.start() : source.ends[last]],
                            match.start(),
                            source.ends[last],
                        )
                        return


def _left_out(
    claim: WordsOf, source: WordsOf, match: re.Match[str], end: int, beside: str
) -> tuple[int, int] | None:
    """Return the range of the qualifying clause if the claim says what it qualifies, and nothing of it."""
    inside = [at for at, place in enumerate(source.starts) if match.start() <= place < end]
    if not inside:
        return None
    first = inside[0]
    sentence = source.sentences[first]
    begins = first == 0 or source.sentences[first - 1] != sentence
    last = first
    while (
        last + 1 < len(source.lower)
        and source.sentences[last + 1] == sentence
        and source.starts[last + 1] < end
    ):
        last += 1
        if begins and "," in source.text[source.ends[last - 1] : source.starts[last]]:
            last -= 1  # "Unless it is wet, …"
            break
    main = [
        at
        for at in range(len(source.lower))
        if source.sentences[at] == sentence and not first <= at <= last and source.is_content[at]
    ]
    clause = {source.forms[at] for at in range(first, last + 1) if source.is_content[at]}
    main_forms = {source.forms[at] for at in main}
    own = {form for form, is_content in zip(claim.forms, claim.is_content, strict=True) if is_content}
    clause -= main_forms
    if len(main_forms) < _MAIN_WORDS or not clause or not clause.isdisjoint(own):
        return None
    # A hedge that the source has beside the limit limits the claim no further.
    hedges = claim.lists.hedges.intersection(claim.lower)
    if hedges and not hedges.issubset([source.lower[at] for at in _outside(source, sentence, first, last)]):
        return None
    common = len(main_forms & own)
    if common < _MAIN_SHARE * len(main_forms) or common < _MAIN_SHARE * len(own):
        nearest = _nearest_clause(source, first)
        before = {source.forms[at] for at in main if at < first} | {
            form for form, its in zip(source.forms, source.sentences, strict=True) if its == sentence - 1
        }
        if len(nearest) < _MAIN_WORDS or not nearest <= own <= before:
            return None
    if not clause.isdisjoint(WordsOf(beside, claim.language).forms):
        return None
    return source.starts[first], source.ends[last]


def _outside(words: WordsOf, sentence: int, first: int, last: int) -> Iterator[int]:
    """Yield the words of a sentence outside a clause of it."""
    for at, its in enumerate(words.sentences):
        if its == sentence and not first <= at <= last:
            yield at


def _nearest_clause(words: WordsOf, first: int) -> set[str]:
    """Return the content words before a word, back to "and", a comma or the sentence's begin."""
    found: set[str] = set()
    for at in range(first - 1, -1, -1):
        if words.sentences[at] != words.sentences[first] or words.lower[at] in JOINS:
            break
        if words.is_content[at]:
            found.add(words.forms[at])
        if at and "," in words.text[words.ends[at - 1] : words.starts[at]]:
            break
    return found
