"""Map the chunk ids of an old file to those of a new one.

Text decides before ids do, as an id may be reused for another text: equal texts are paired first, then texts
that share most of their pairs of consecutive words. The result does not depend on the order of the files. A
chunk is compared only with a few others that share rare pairs of words, so the work grows with the files and
not with their product. Source: the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal, NamedTuple, get_args

from rapidfuzz.distance import Indel

from proofspan.contracts.records.chunk_id import parse, sort_key
from proofspan.contracts.records.records import Chunk

#: Thai, Lao, Burmese, Khmer, kana and Han write no spaces between words.
_UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNPARTED}]|[^\s{_UNPARTED}]+")
#: The first words of a text that are compared.
MOST_WORDS = 2_000
#: Candidates are searched by this number of rare pairs of words, each in at most the second number of texts,
#: and at most the third number of candidates is compared.
RAREST, MOST_HOLDING, MOST_CANDIDATES = 12, 64, 4
#: Candidates that share less than this part of what the best one shares are not compared.
WORTH_A_LOOK = 0.25
#: The shares from which a text is inside another, and two texts are one that was edited, with the same id or
#: another one.
INSIDE, EDITED, EDITED_SAME_ID = 0.7, 0.6, 0.4


@dataclass(frozen=True, slots=True)
class Text:
    """A chunk's text with collapsed white space, under its id; `order` is its reading order."""

    name: str
    document: str
    order: int
    words: str


@dataclass(frozen=True, slots=True)
class Change:
    """The new texts of an old one, in order, empty if it is gone. `share` lies in 0–1.

    `is_shared`: other old texts are in the same new one.
    """

    old: Text
    news: tuple[Text, ...]
    share: float
    is_shared: bool = False


class Edge(NamedTuple):
    """An old and a new text with the number of shared pairs of words, and their similarity in 0–1."""

    old: Text
    new: Text
    shared: int
    of_old: float
    of_new: float
    alike: float


def _words(text: Text) -> list[str]:
    """Return the words that are compared; in scripts without spaces each character is one."""
    if text.words.isascii():
        return text.words.casefold().split(" ", MOST_WORDS)[:MOST_WORDS]
    return [match[0] for match in islice(_WORD.finditer(text.words.casefold()), MOST_WORDS)]


@lru_cache(maxsize=1 << 10)
def _pairs(text: Text) -> Counter[str]:
    """Count the pairs of consecutive words; a text of one word has that word as its pair."""
    words = _words(text)
    return Counter(map(" ".join, pairwise(words)) if len(words) > 1 else words)


def _edge(old: Text, new: Text) -> Edge:
    one, other = _pairs(old), _pairs(new)
    few, many = sorted((one, other), key=len)
    shared = (few & many).total()
    alike = Indel.normalized_similarity(_words(old), _words(new))
    return Edge(old, new, shared, shared / one.total(), shared / other.total(), alike)


def _changes_of(
    olds: Sequence[Text], left: Sequence[Text], held: Sequence[Text], *, partner_of: Mapping[str, str]
) -> list[Change]:
    """Return the changes of the old texts of a document that no new one equals, in their order.

    `left` are the new texts that equal no old one, `held` all of the document, `partner_of` the new id that
    an edit would have kept.
    """
    edges = _edges(olds, left, partner_of)
    changes: dict[str, Change] = {}
    for kept, share in _contained(edges, are_new=True):
        news = sorted((edge.new for edge in kept), key=lambda text: text.order)
        changes[kept[0].old.name] = Change(kept[0].old, tuple(news), share)
    for kept, _ in _contained(_open(edges, changes), are_new=False):
        changes |= {e.old.name: Change(e.old, (e.new,), e.of_old, is_shared=True) for e in kept}
    changes |= _one_to_one(_open(edges, changes), partner_of)
    changes |= _absorbed([text for text in olds if text.name not in changes], held, changes)
    return [changes[text.name] for text in olds]


def _edges(olds: Sequence[Text], news: Sequence[Text], partner_of: Mapping[str, str]) -> list[Edge]:
    """Return the pairs of old and new texts that may belong together, in reading order."""
    by_name = {text.name: text for text in news}
    asked = [*_candidates(olds, news), *((one, other) for other, one in _candidates(news, olds))]
    for text in olds:
        if (partner := by_name.get(partner_of.get(text.name, ""))) is not None:
            asked.append((text, partner))
    return [_edge(*pair) for pair in sorted(set(asked), key=lambda pair: (pair[0].order, pair[1].order))]


def _candidates(texts: Sequence[Text], among: Sequence[Text]) -> Iterator[tuple[Text, Text]]:
    """Yield each text with those that share the most of its rare pairs of words."""
    wanted = {mark for text in texts for mark in _pairs(text)}
    holding: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(among):
        for mark in wanted.intersection(_pairs(text)):
            holding[mark].append(number)
    for text in texts:
        known = {mark: holding[mark] for mark in _pairs(text) if mark in holding}
        few = [(len(numbers), mark) for mark, numbers in known.items() if len(numbers) <= MOST_HOLDING]
        rare = heapq.nsmallest(RAREST, few)
        votes = Counter(number for _, mark in rare for number in known[mark])
        best = heapq.nsmallest(MOST_CANDIDATES, ((-count, number) for number, count in votes.items()))
        yield from ((text, among[number]) for count, number in best if count <= best[0][0] * WORTH_A_LOOK)


def _open(edges: Iterable[Edge], found: Mapping[str, Change]) -> list[Edge]:
    """Return the edges between texts without a change yet."""
    used = {text.name for change in found.values() for text in change.news}
    return [edge for edge in edges if edge.old.name not in found and edge.new.name not in used]


def _contained(edges: Iterable[Edge], *, are_new: bool) -> Iterator[tuple[list[Edge], float]]:
    """Yield the edges of each text that has several others in different parts, and their share of it.

    `are_new`: the parts are new texts, and the whole an old one that was split; else old ones were merged.
    """
    best: dict[str, Edge] = {}
    for edge in edges:
        part, share = (edge.new, edge.of_new) if are_new else (edge.old, edge.of_old)
        if share >= INSIDE and _is_better(edge, best.get(part.name)):
            best[part.name] = edge
    parts: dict[Text, list[Edge]] = defaultdict(list)
    for edge in best.values():
        parts[edge.old if are_new else edge.new].append(edge)
    for whole, inside in parts.items():
        rest, kept = Counter(_pairs(whole)), []
        for edge in sorted(inside, key=lambda e: (-e.shared, e.old.order, e.new.order)):
            pairs = _pairs(edge.new if are_new else edge.old)
            if (pairs & rest).total() >= INSIDE * pairs.total():
                kept.append(edge)
                rest -= pairs
        if len(kept) > 1:
            yield kept, 1 - rest.total() / _pairs(whole).total()


def _is_better(edge: Edge, other: Edge | None) -> bool:
    return other is None or (edge.shared, edge.alike) > (other.shared, other.alike)


def _one_to_one(edges: Iterable[Edge], partner_of: Mapping[str, str]) -> dict[str, Change]:
    """Return the edited texts, the most alike first, of equally alike ones the one with the same id."""

    def keeps_id(edge: Edge) -> bool:
        return partner_of.get(edge.old.name) == edge.new.name

    found: dict[str, Change] = {}
    used: set[str] = set()
    order = sorted(edges, key=lambda e: (-e.alike, not keeps_id(e), e.old.order, e.new.order))
    for edge in order:
        enough = edge.alike >= (EDITED_SAME_ID if keeps_id(edge) else EDITED)
        if enough and edge.old.name not in found and edge.new.name not in used:
            found[edge.old.name] = Change(edge.old, (edge.new,), edge.alike)
            used.add(edge.new.name)
    return found


def _absorbed(texts: Sequence[Text], held: Sequence[Text], found: Mapping[str, Change]) -> dict[str, Change]:
    """Return the rest: texts inside a new one that already belongs to another old text, and those gone.

    That other old text then shares the new one, unless it is equal to it and not among `found`.
    """
    best: dict[str, Edge] = {}
    for one, other in _candidates(texts, held):
        edge = _edge(one, other)
        if _is_better(edge, best.get(one.name)):
            best[one.name] = edge
    single = {change.news[0].name: change for change in found.values() if len(change.news) == 1}
    changed: dict[str, Change] = {}
    for text in texts:
        closest = best.get(text.name)
        if closest is None or closest.of_old < INSIDE:
            changed[text.name] = Change(text, (), 1 - (closest.of_old if closest else 0.0))
            continue
        changed[text.name] = Change(text, (closest.new,), closest.of_old, is_shared=True)
        if (beside := single.get(closest.new.name)) is not None:
            changed[beside.old.name] = replace(beside, is_shared=True)
    return changed


#: `same`: the same id, its text perhaps edited; `rev`: only the revision in the id differs; `shift`: the text
#: has another id; `split` into several; `merge` with others into one; `gone`.
RedirectKind = Literal["same", "rev", "shift", "split", "merge", "gone"]
KINDS: tuple[RedirectKind, ...] = get_args(RedirectKind)
ONE_TO_ONE: frozenset[RedirectKind] = frozenset({"same", "rev", "shift"})
#: The confidence in a pair of equal texts if there are several of them.
ONE_OF_SEVERAL = 0.9

Key = Callable[[Text], object]


@dataclass(frozen=True, slots=True)
class Redirect:
    """The redirect of an old id. `new_ids` is in reading order: several for `split`, none for `gone`.

    `confidence` in 0–1 is the share of pairs of words that agree; for `gone` of those that are nowhere.
    """

    old_id: str
    kind: RedirectKind
    new_ids: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class RedirectMap:
    """All redirects in the order of the old ids, and the new ids that no old one leads to.

    `reused` are old ids that now belong to another chunk, so that citations of either look the same.
    """

    redirects: tuple[Redirect, ...]
    new: tuple[str, ...]
    reused: tuple[str, ...]

    @property
    def counts(self) -> dict[RedirectKind, int]:
        """The number of redirects of each kind."""
        found = Counter(redirect.kind for redirect in self.redirects)
        return {kind: found[kind] for kind in KINDS}

    @property
    def one_to_one(self) -> int:
        """The number of old ids that lead to one chunk that no other leads to."""
        return sum(redirect.kind in ONE_TO_ONE for redirect in self.redirects)


def redirects_between(old: Mapping[str, Chunk], new: Mapping[str, Chunk]) -> RedirectMap:
    """Map each chunk of the old file to the new one."""
    olds, news = _ordered(old), _ordered(new)
    changes = {change.old.name: change for change in _changes(olds, news)}
    redirects = tuple(_redirect(changes.get(chunk_id), chunk_id) for chunk_id in olds)
    reached = {new_id for redirect in redirects for new_id in redirect.new_ids}
    reused = (each.old_id for each in redirects if each.old_id in news and each.old_id not in each.new_ids)
    return RedirectMap(redirects, tuple(each for each in news if each not in reached), tuple(reused))


def _ordered(chunks: Mapping[str, Chunk]) -> dict[str, Text]:
    texts: dict[str, Text] = {}
    for order, name in enumerate(sorted(chunks, key=sort_key)):
        chunk, parts = chunks[name], parse(name)
        document = chunk.doc_id or (parts.doc_uid if parts else "")
        texts[name] = Text(name, document, order, " ".join(chunk.text.split()))
    return texts


def _changes(olds: Mapping[str, Text], news: Mapping[str, Text]) -> Iterator[Change]:
    """Yield the changes of old texts: equal ones first, then those of each document."""
    equal = {change.old.name: change for change in _equal(olds, news)}
    yield from equal.values()
    taken = {text.name for change in equal.values() for text in change.news}
    held = _grouped((text for text in news.values() if text.words), _document)
    changed = (text for text in olds.values() if text.words and text.name not in equal)
    for document, texts in _grouped(changed, _document).items():
        here = held.get(document, [])
        left = [text for text in here if text.name not in taken]
        by_place = {_place(text.name): text.name for text in left}
        # The new ids that equal an old one except for the revision.
        partners = {text.name: by_place[at] for text in texts if (at := _place(text.name)) in by_place}
        yield from _changes_of(texts, left, here, partner_of=partners)


def _equal(olds: Mapping[str, Text], news: Mapping[str, Text]) -> Iterator[Change]:
    """Yield equal texts: with the same id, place, section or document, then anywhere.

    Several indistinguishable ones are paired in order, which is less sure; across documents only unique texts
    are paired.
    """
    left, free = dict(olds), dict(news)
    for key, is_sure in _KEYS:
        waiting = _grouped(free.values(), key)
        for found, texts in _grouped(left.values(), key).items():
            matches = waiting.get(found, ())
            is_one = len(texts) == len(matches) == 1
            if key is _by_text and not is_one:
                continue
            for text, match in zip(texts, matches, strict=False):
                yield Change(text, (match,), 1.0 if is_one or is_sure else ONE_OF_SEVERAL)
                del left[text.name], free[match.name]


def _grouped(texts: Iterable[Text], key: Key) -> dict[object, list[Text]]:
    found: dict[object, list[Text]] = defaultdict(list)
    for text in texts:
        found[key(text)].append(text)
    return found


def _document(text: Text) -> object:
    return text.document


def _by_text(text: Text) -> object:
    """Return the text; an empty one equals only that of its own id."""
    return text.words or (text.name,)


def _place(chunk_id: str) -> tuple[object, ...]:
    """Return an id without its revision, the section as its second part."""
    parts = parse(chunk_id)
    return (chunk_id, "") if parts is None else (parts.doc_uid, parts.sect_path, parts.page, parts.block)


#: The keys by which equal texts are paired, one after the other, and whether each is unambiguous.
_KEYS: tuple[tuple[Key, bool], ...] = (
    (lambda text: (text.words, text.name), True),
    (lambda text: (text.words, _place(text.name)), True),
    (lambda text: (_by_text(text), text.document, _place(text.name)[1]), False),
    (lambda text: (_by_text(text), text.document), False),
    (_by_text, False),
)


def _redirect(change: Change | None, old_id: str) -> Redirect:
    """Return the redirect of an old id; without a change its text is empty and cannot be found."""
    if change is None or not change.news:
        return Redirect(old_id, "gone", (), round(change.share, 4) if change else 1.0)
    ids = tuple(text.name for text in change.news)
    kind: RedirectKind
    if len(ids) > 1:
        kind = "split"
    elif change.is_shared:
        kind = "merge"
    elif ids[0] == old_id:
        kind = "same"
    else:
        kind = "rev" if _place(ids[0]) == _place(old_id) else "shift"
    return Redirect(old_id, kind, ids, round(change.share, 4))
