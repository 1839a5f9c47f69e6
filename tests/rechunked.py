"""A document cut into chunks twice, with what was done in between: the truth of redirects."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

from proofspan.contracts.chunk_ids.redirects import Redirect, RedirectKind
from proofspan.contracts.records.chunk_id import ChunkId, mint
from proofspan.contracts.records.records import Chunk

#: 256 words.
WORDS = [f"{one}{two}{end}" for one in "bdfghjkm" for two in "aeio" for end in ("lan", "ren", "sti", "vor",
         "nu", "pe", "ta", "ko")]  # fmt: skip


@dataclass(slots=True)
class Block:
    """A paragraph with the old ones that it is made of."""

    words: list[str]
    of: tuple[int, ...] = ()


@dataclass(slots=True)
class Book:
    """Sections of blocks."""

    sections: list[list[Block]]
    rev: str = "8c1e9a02"
    first_section: int = 1

    def chunks(self) -> dict[str, Chunk]:
        """The chunk file, ids minted by position."""
        return {
            self.id_of(section, number): Chunk(
                self.id_of(section, number), " ".join(block.words), "book", str(section + self.first_section)
            )
            for section, blocks in enumerate(self.sections)
            for number, block in enumerate(blocks)
        }

    def id_of(self, section: int, number: int) -> str:
        """The id of a block by its places."""
        return mint(ChunkId("book", self.rev, str(section + self.first_section), 0, number + 1))


def book(seed: int, *, sections: int, blocks: int) -> Book:
    """A book of random paragraphs of 8 to 60 words; some words are much commoner than others."""
    source = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]

    def paragraph(number: int) -> Block:
        words = source.choices(WORDS, weights, k=source.randint(8, 60))
        return Block([*words, f"{source.randint(1, 9999)}"], (number,))

    return Book([[paragraph(s * blocks + b) for b in range(blocks)] for s in range(sections)])


@dataclass(slots=True)
class Rechunked:
    """The old file, the new one, and where each old id is: the kind and the new ids."""

    old: dict[str, Chunk]
    new: dict[str, Chunk]
    truth: dict[str, tuple[RedirectKind, tuple[str, ...]]] = field(default_factory=dict)


def rechunked(seed: int, *, sections: int = 6, blocks: int = 6, changes: int = 4, rev: str = "") -> Rechunked:
    """Return a book before and after a number of changes in random places."""
    before, source = book(seed, sections=sections, blocks=blocks), random.Random(f"changes {seed}")
    after = Book([[Block([*b.words], b.of) for b in part] for part in before.sections], rev or before.rev)
    for _ in range(changes):
        source.choice((_insert, _delete, _split, _merge, _edit, _renumber))(after, source)
    return Rechunked(before.chunks(), after.chunks(), _truth(before, after))


def _place(after: Book, source: random.Random) -> tuple[list[Block], int]:
    part = source.choice([part for part in after.sections if part])
    return part, source.randrange(len(part))


def _untouched(part: list[Block], number: int) -> bool:
    return number < len(part) and len(part[number].of) == 1 and len(part[number].words) > 16


def _insert(after: Book, source: random.Random) -> None:
    part, number = _place(after, source)
    words = [f"{word}{source.randint(1, 99)}" for word in source.choices(WORDS, k=20)]
    part.insert(number, Block(words))


def _delete(after: Book, source: random.Random) -> None:
    part, number = _place(after, source)
    del part[number]


def _split(after: Book, source: random.Random) -> None:
    part, number = _place(after, source)
    if _untouched(part, number):
        block = part[number]
        middle = len(block.words) // 2
        halves = block.words[:middle], block.words[middle:]
        part[number : number + 1] = [Block(half, block.of) for half in halves]


def _merge(after: Book, source: random.Random) -> None:
    part, number = _place(after, source)
    if _untouched(part, number) and _untouched(part, number + 1) and part[number].of != part[number + 1].of:
        one, other = part[number : number + 2]
        part[number : number + 2] = [Block(one.words + other.words, one.of + other.of)]


def _edit(after: Book, source: random.Random) -> None:
    part, number = _place(after, source)
    if _untouched(part, number):
        part[number].words[source.randrange(len(part[number].words))] = "edited"


def _renumber(after: Book, source: random.Random) -> None:
    after.sections.insert(source.randrange(len(after.sections)), [Block(["A", "new", "heading"])])


def _truth(before: Book, after: Book) -> dict[str, tuple[RedirectKind, tuple[str, ...]]]:
    held: dict[int, list[str]] = defaultdict(list)
    sharing: dict[str, int] = {}
    for section, part in enumerate(after.sections):
        for number, block in enumerate(part):
            name = after.id_of(section, number)
            sharing[name] = len(block.of)
            for each in block.of:
                held[each].append(name)
    return {
        old_id: (_kind(old_id, held[each], sharing), tuple(held[each]))
        for section, part in enumerate(before.sections)
        for number, block in enumerate(part)
        for each, old_id in ((block.of[0], before.id_of(section, number)),)
    }


def _kind(old_id: str, new_ids: list[str], sharing: dict[str, int]) -> RedirectKind:
    if len(new_ids) != 1:
        return "split" if new_ids else "gone"
    if sharing[new_ids[0]] > 1:
        return "merge"
    if new_ids[0] == old_id:
        return "same"
    return "rev" if new_ids[0].split("|")[2:] == old_id.split("|")[2:] else "shift"


def right(redirect: Redirect, truth: tuple[RedirectKind, tuple[str, ...]]) -> bool:
    """Whether a redirect is of the true kind and leads to just the true ids."""
    return (redirect.kind, redirect.new_ids) == truth
