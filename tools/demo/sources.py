"""The input of a build: the writers' texts, set and cut into chunks, and their questions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.demo.book import Book, make_book
from tools.demo.corpus import Piece, bulletin_pieces, manual_pieces
from tools.demo.gold import read_questions
from tools.demo.markup import parse, read_manual
from tools.demo.pages import Placed
from tools.demo.runs import Index, Setting

Json = Any
HERE = Path(__file__).parent
MANUAL, BULLETIN = "meridian-2026", "bulletin-07"
TITLES = {MANUAL: "Meridian owner's manual", BULLETIN: "Service bulletin 07/2026"}
PATHS = {MANUAL: f"corpus/{MANUAL}.pdf", BULLETIN: f"corpus/{BULLETIN}.md"}


@dataclass(frozen=True, slots=True)
class Sources:
    """The documents' bytes by id, the chunks of both in reading order, and the questions.

    `placed` are the manual's blocks on its pages, each with its chunk.
    """

    documents: Mapping[str, bytes]
    placed: Sequence[tuple[Placed, Piece]]
    pieces: Sequence[Piece]
    questions: Sequence[Mapping[str, Json]]

    @property
    def hashes(self) -> dict[str, str]:
        """sha256 of each document."""
        return {doc_id: hashlib.sha256(data).hexdigest() for doc_id, data in self.documents.items()}

    def rev(self, doc_id: str) -> str:
        """A document's revision."""
        return next(piece.rev for piece in self.pieces if piece.doc_id == doc_id)


@cache
def manual_of(folder: Path = HERE) -> Book:
    """Set the manual of the folder, once a process: it takes seconds."""
    return make_book(parse(read_manual(folder / "manual")), title=TITLES[MANUAL])


def load(folder: Path = HERE) -> Sources:
    """Set and cut the texts of the folder."""
    book = manual_of(folder)
    bulletin = (folder / f"{BULLETIN}.md").read_bytes()
    placed = manual_pieces(book.placed, doc_id=MANUAL)
    pieces = [piece for _, piece in placed] + bulletin_pieces(bulletin.decode(), doc_id=BULLETIN)
    return Sources(
        {MANUAL: book.pdf, BULLETIN: bulletin}, placed, pieces, read_questions(folder / "questions")
    )


class Indexes:
    """The indexes that settings ask for, each made once."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._made: dict[bool, Index] = {}

    def of(self, setting: Setting) -> Index:
        """The index of a setting."""
        if setting.titles not in self._made:
            self._made[setting.titles] = Index(self._pieces, titles=setting.titles)
        return self._made[setting.titles]
