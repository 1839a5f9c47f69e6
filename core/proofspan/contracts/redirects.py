"""From an old chunk file to a new one: where each old id's chunk is now.

Text decides before ids do, since an id may be given to other text: equal texts pair first, then texts that
share most of their words in a row. Deterministic, whatever order the files are in; a chunk is compared with a
few others that share rare pairs of words, so the work grows with the files and not with their product.
Source: the chunk id schema (docs/requirements.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from proofspan.contracts.chunk_ids import parse, sort_key
from proofspan.contracts.records import Chunk
from proofspan.contracts.redirect_match import Change, Text, changes_of

#: `same`: the id stays, its text perhaps edited; `rev`: only the revision in it differs, which counts as
#: unchanged; `shift`: the text has another id; `split` into several; `merge` with others into one; `gone`.
RedirectKind = Literal["same", "rev", "shift", "split", "merge", "gone"]
KINDS: tuple[RedirectKind, ...] = get_args(RedirectKind)
ONE_TO_ONE: frozenset[RedirectKind] = frozenset({"same", "rev", "shift"})
#: How sure a pair of equal texts is where there are several of them.
ONE_OF_SEVERAL = 0.9

Key = Callable[[Text], object]


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where an old id leads. `new_ids` is in reading order, one but for `split`, none for `gone`.

    `confidence` in 0–1 is the share of words in a row that agree; for `gone` of those found nowhere.
    """

    old_id: str
    kind: RedirectKind
    new_ids: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class RedirectMap:
    """All redirects in the order of the old ids, and the new ids that no old one leads to.

    `reused` are old ids that now stand for another chunk: who cites one cannot be told from who cites the
    new chunk of that name.
    """

    redirects: tuple[Redirect, ...]
    new: tuple[str, ...]
    reused: tuple[str, ...]

    @property
    def counts(self) -> dict[RedirectKind, int]:
        """How many redirects of each kind."""
        found = Counter(redirect.kind for redirect in self.redirects)
        return {kind: found[kind] for kind in KINDS}

    @property
    def one_to_one(self) -> int:
        """How many old ids lead to one chunk that no other leads to."""
        return sum(redirect.kind in ONE_TO_ONE for redirect in self.redirects)


def redirects_between(old: Mapping[str, Chunk], new: Mapping[str, Chunk]) -> RedirectMap:
    """Where every chunk of the old file is in the new one."""
    olds, news = _ordered(old), _ordered(new)
    changes = {change.old.name: change for change in _changes(olds, news)}
    redirects = tuple(_redirect(changes.get(chunk_id), chunk_id) for chunk_id in olds)
    reached = {new_id for redirect in redirects for new_id in redirect.new_ids}
    reused = (each.old_id for each in redirects if each.old_id in news and each.old_id not in each.new_ids)
    return RedirectMap(redirects, tuple(each for each in news if each not in reached), tuple(reused))


def _ordered(chunks: Mapping[str, Chunk]) -> dict[str, Text]:
    """The chunks' texts in reading order, as far as ids tell."""
    names = sorted(chunks, key=sort_key)
    return {
        name: Text(name, _document(chunks[name]), order, " ".join(chunks[name].text.split()))
        for order, name in enumerate(names)
    }


def _document(chunk: Chunk) -> str:
    parts = parse(chunk.chunk_id)
    return chunk.doc_id or (parts.doc_uid if parts else "")


def _changes(olds: Mapping[str, Text], news: Mapping[str, Text]) -> Iterator[Change]:
    """What became of each old text: equal ones first, then those of each document against each other."""
    equal = {change.old.name: change for change in _equal(olds, news)}
    yield from equal.values()
    taken = {text.name for change in equal.values() for text in change.news}
    held = _by_document(text for text in news.values() if text.words)
    for document, texts in _by_document(o for o in olds.values() if o.words and o.name not in equal).items():
        here = held.get(document, [])
        left = [text for text in here if text.name not in taken]
        yield from changes_of(texts, left, here, partner_of=_partners(texts, left))


def _equal(olds: Mapping[str, Text], news: Mapping[str, Text]) -> Iterator[Change]:
    """Texts that are equal: under one id, in one place, section or document, then anywhere.

    Of several with nothing to tell them apart the first is paired with the first, which is less sure; in
    another document only those pair of which there is one.
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


def _by_text(text: Text) -> object:
    """An empty text equals none but that of its own id."""
    return text.words or (text.name,)


#: What equal texts are paired by, one after the other, and whether that tells them apart.
_KEYS: tuple[tuple[Key, bool], ...] = (
    (lambda text: (text.words, text.name), True),
    (lambda text: (text.words, _place(text.name)), True),
    (lambda text: (_by_text(text), text.document, _section(text.name)), False),
    (lambda text: (_by_text(text), text.document), False),
    (_by_text, False),
)


def _by_document(texts: Iterable[Text]) -> dict[str, list[Text]]:
    found: dict[str, list[Text]] = defaultdict(list)
    for text in texts:
        found[text.document].append(text)
    return found


def _partners(olds: Iterable[Text], news: Iterable[Text]) -> dict[str, str]:
    """Old ids with the new id that is the same, or the same but for the revision."""
    by_place = {_place(text.name): text.name for text in news}
    return {text.name: by_place[place] for text in olds if (place := _place(text.name)) in by_place}


def _place(chunk_id: str) -> tuple[object, ...]:
    """An id without its revision."""
    parts = parse(chunk_id)
    return (chunk_id,) if parts is None else (parts.doc_uid, parts.sect_path, parts.page, parts.block)


def _section(chunk_id: str) -> str:
    parts = parse(chunk_id)
    return "" if parts is None else parts.sect_path


def _redirect(change: Change | None, old_id: str) -> Redirect:
    """The redirect of one old id. Without any change its text is empty, and cannot be found."""
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
