"""Leave fields and documents out of a pack: nothing of them is in the file, in no other field either.

A field takes with it what would repeat it: claims are parts of the answer, a picture of the page shows the
quotes. Where such a text comes again in a field that stays, word for word, it is blacked out there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest
from proofspan.wording import clean

Field = Literal[
    "question", "answer", "expected", "claims", "quotes", "pages", "reasons", "notices", "notes", "people"
]
FIELDS: tuple[Field, ...] = get_args(Field)
#: What is left out with a field. `reasons` and `notes` are sentences that may quote any other text.
_TAKES: dict[Field, tuple[Field, ...]] = {
    "question": ("reasons", "notes"),
    "answer": ("claims", "reasons", "notes"),
    "expected": ("reasons", "notes"),
    "claims": ("reasons", "notes"),
    "quotes": ("pages", "reasons", "notes"),
    "notices": ("reasons", "notes"),
    "people": ("notes",),
}
#: What is left out of a question that rests on a document that is.
OF_A_DOCUMENT: frozenset[Field] = frozenset({"answer", "expected", "claims", "reasons", "notices", "notes"})
#: In the place of a redacted text, and of a document's name.
BAR, DOCUMENT = "█████", "[redacted document]"
#: The fewest and the most characters of a text that is blacked out in other fields.
MIN_TEXT, MOST_TEXT = 10, 2_000
#: The fewest characters of a document's name that is blacked out inside of longer words too.
MIN_NAME = 4


@dataclass(frozen=True, slots=True)
class Redaction:
    """The parts to leave out: `fields`, with what repeats them, and `documents` by id, with all `names`.

    `texts` are those of redacted fields, which are blacked out in all others.
    """

    fields: frozenset[Field] = frozenset()
    documents: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    texts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, manifest: Manifest, fields: Iterable[Field], documents: Iterable[str]) -> Redaction:
        """Return what options name. Raises InputFault for a document that the manifest does not list."""
        named = tuple(dict.fromkeys(documents))
        unknown = [doc_id for doc_id in named if manifest.document(doc_id) is None]
        if unknown:
            message = "a document that is to be redacted is not one of the manifest: {!r}"
            fix = f"name some of {', '.join(each.doc_id for each in manifest.documents)}"
            where = str(manifest.folder)
            raise InputFault(
                *(Problem("unknown_document", message.format(each), where, fix) for each in unknown)
            )
        names: list[str] = []
        for doc_id in named:
            document = manifest.document(doc_id)
            if document is not None:
                file = document.artifact.path.rpartition("/")[2]
                names += [doc_id, document.title or "", file, file.rpartition(".")[0]]
        found = {clean(each).strip() for each in names}
        longest_first = sorted(found - {""}, key=lambda each: (-len(each), each))
        return cls(_with_repeats(fields), frozenset(named), tuple(longest_first))

    @property
    def is_any(self) -> bool:
        """Return whether anything is left out."""
        return bool(self.fields or self.documents)

    def hides(self, *fields: Field) -> bool:
        """Return whether one of the fields is left out."""
        return not self.fields.isdisjoint(fields)

    def of_question(
        self, *, rests_on: Iterable[str | None], texts: Mapping[Field, Iterable[str]], also: Iterable[str]
    ) -> Redaction:
        """Return what is left out of a question, with its texts besides those that there are already.

        `rests_on` are the documents that it cites or is compared with, `texts` those of its fields, and
        `also` others that are blacked out, such as the quotes of redacted documents.
        """
        fields = self.fields
        if not self.documents.isdisjoint(each for each in rests_on if each is not None):
            fields |= OF_A_DOCUMENT
        given = (*also, *(each for field in fields for each in texts.get(field, ())))
        hidden = (" ".join(clean(each).split())[:MOST_TEXT] for each in given)
        return replace(
            self, fields=fields, texts=self.texts | {each for each in hidden if len(each) >= MIN_TEXT}
        )

    def clean(self, text: str) -> str:
        """Return a text that can be shown: without control characters and what is redacted."""
        shown = clean(text)
        if self.texts:
            folded = _folded(shown)
            found = [secret for secret in self.texts if _folded_secret(secret) in folded]
            for secret in sorted(found, key=lambda each: (-len(each), each)):
                words = r"\s+".join(map(re.escape, secret.split()))
                shown = re.sub(words, BAR, shown, flags=re.IGNORECASE)
            if any(_folded_secret(secret) in _folded(shown) for secret in found):
                shown = BAR  # letters that are one in one case and two in the other
        for name in self.names:
            ends = ("", "") if len(name) >= MIN_NAME else (r"(?<![^\W_])", r"(?![^\W_])")
            shown = re.sub(f"{ends[0]}{re.escape(name)}{ends[1]}", DOCUMENT, shown, flags=re.IGNORECASE)
        return shown

    def shows(self, text: str) -> bool:
        """Return whether a text has something that is redacted: nothing is blacked out in a picture."""
        return self.is_any and self.clean(text) != clean(text)

    def in_words(self) -> str:
        """Return what is left out: `answer, claims; 1 document`; "" if nothing is."""
        fields = ", ".join(field for field in FIELDS if field in self.fields)
        count = len(self.documents)
        documents = f"{count} document{'s' * (count != 1)}" if count else ""
        return "; ".join(filter(None, (fields, documents)))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


#: A text is compared with each secret: those are folded once.
_folded_secret = lru_cache(maxsize=65_536)(_folded)


def _with_repeats(fields: Iterable[Field]) -> frozenset[Field]:
    named = set(fields)
    return frozenset(named.union(*(_TAKES.get(field, ()) for field in named)))
