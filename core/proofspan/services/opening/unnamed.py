"""Passages of questions that name no document: it is the PDF that holds their text, if only one does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from proofspan.errors import Fault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.services.opening.documents import Pdf
from proofspan.traces.formats.types import Asked, Passage
from proofspan.wording import counted

#: A shorter text may be in any document.
FEWEST_WORDS = 6
#: PDFs that are searched, and distinct passages that are looked for.
MOST_PDFS, MOST_PASSAGES = 20, 5_000
#: Questions whose passages are looked for together.
_TOGETHER = 256
#: The text is there word for word, apart from case, punctuation and hyphens.
_FOUND = ("exact", "normalized")

#: Takes how many passages have been looked for.
OnPassages = Callable[[int], None]


def unnamed_passages(asked: Asked) -> list[Passage]:
    """Return the passages of a question if none of them names a document."""
    listed = (each for passages in asked.lists.values() for each in passages)
    cited = (each.passage for each in asked.cited if not each.reason)
    passages = [*listed, *asked.gold, *cited]
    return [] if any(each.document for each in passages) else passages


def of_document(document: str, asked: Iterable[Asked]) -> Iterator[Asked]:
    """Yield the questions; passages of those that name no document are of the single one."""
    for each in asked:
        for passage in unnamed_passages(each):
            passage.document = document
        yield each


@dataclass(slots=True)
class TextSearch:
    """The PDFs that may hold passages, and where texts were found; None: in none, or in several."""

    pdfs: Sequence[Pdf]
    pool: PdfPool
    on_passages: OnPassages = lambda _done: None
    known: dict[str, str | None] = field(default_factory=dict)

    def named(self, asked: Iterable[Asked]) -> Iterator[Asked]:
        """Yield the questions; passages that were found have a document."""
        questions = iter(asked)
        while group := list(islice(questions, _TOGETHER)):
            passages = list(chain.from_iterable(map(unnamed_passages, group)))
            self._look({each.text for each in passages if each.text})
            for each in passages:
                each.document = self.known.get(each.text or "")
            yield from group

    def notes(self) -> list[str]:
        """Return sentences on what was found."""
        if not self.known:
            return []
        count, found = len(self.known), sum(each is not None for each in self.known.values())
        rest = "" if found == count else f"; {count - found:,} are in none of them, in several, or too short"
        passages = counted(count, "passage")
        pdfs = counted(len(self.pdfs), "PDF")
        return [f"The source names no documents: {found:,} of {passages} found by text in {pdfs}{rest}."]

    def _look(self, texts: set[str]) -> None:
        new = sorted(texts - self.known.keys())[: MOST_PASSAGES - len(self.known)]
        self.known |= dict.fromkeys(new)
        long = [each for each in new if len(each.split()) >= FEWEST_WORDS]
        holders: dict[str, list[str]] = {each: [] for each in long}
        for pdf, name in zip(self.pdfs, self._names(), strict=True) if long else ():
            try:
                found = self.pool.locate_many(pdf.file, [SpanQuery(each) for each in long])
            except Fault:  # what cannot be read holds no passage
                continue
            for text, span in zip(long, found, strict=True):
                if span.status in _FOUND:
                    holders[text].append(name)
        self.known |= {text: held[0] for text, held in holders.items() if len(held) == 1}
        self.on_passages(len(self.known))

    def _names(self) -> list[str]:
        """Return the names by which the PDFs are found again: as most sources have them, if that is clear."""
        stems = [each.path.stem for each in self.pdfs]
        return [
            stem if stems.count(stem) == 1 else str(pdf.path)
            for stem, pdf in zip(stems, self.pdfs, strict=True)
        ]
