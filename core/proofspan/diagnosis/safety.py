"""Safety omissions: a WARNING or CAUTION of the cited section that neither answer nor citations mention.

The check compares words, not meanings: a notice is mentioned if enough of its content words are close
together in the answer or in a cited passage, without endings, and rare words count more. So a paraphrase
without common words ("keep clear of the blades" for "hands away from the fan") is suspected, a text that
reverses the meaning passes, and relevance to the question is not judged, as the manual's authors put the
notice into the section. Pages say "may omit".

Every trace of an index build comes through here; one that cites no section with a notice costs some look-ups.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal, NamedTuple, cast

from proofspan.contracts.records.chunk_id import section_path
from proofspan.contracts.records.field_values import id_of, page_of, text_of
from proofspan.contracts.records.names import SectionKey, section_key
from proofspan.contracts.records.records import Attachment, Trace
from proofspan.contracts.records.render_ref import PageRef, parse_render_ref
from proofspan.diagnosis.answers import claims_of
from proofspan.diagnosis.corpus import Corpus, Survey
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.types import ReportRow
from proofspan.diagnosis.words import Layout, Passage, form, named_words, plain
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.trace_record import NOWHERE, place_in


@dataclass(frozen=True, slots=True)
class SafetyOmission:
    """A notice that an answer may omit. `words` are its content words, `found` those that were found.

    `section_id` is the notice's own: the cited section, or one that contains it. `doc_id` is the citation's.
    """

    attachment_id: str
    kind: Literal["warning", "caution"]
    section_id: str | None
    page_idx: int | None
    text: str
    words: tuple[str, ...]
    found: tuple[str, ...]
    doc_id: str | None = None


class _Cited(NamedTuple):
    """The target of a citation; `quote` is the payload's own, None if the whole chunk is cited."""

    chunk_id: str | None
    place: Place
    quote: str | None


def omitted(
    trace: Trace, verdict: ReportRow | None, notices: Notices, places: Places
) -> tuple[SafetyOmission, ...] | None:
    """Return the notices of the cited sections that are not mentioned, each once, in the citations' order.

    None if the answer cites nothing, or there are no chunks. A refusal omits nothing. `places` has the places
    of chunks whose candidates or citations have none.
    """
    if verdict is None:
        return None
    cited = list(_cited(trace, verdict.citations_in_answer, places))
    if not cited:
        return None
    governing: dict[str, Notice] = {}
    if verdict.label not in REFUSAL_LABELS:
        for each in cited:
            for notice in notices.governing(each.place):
                governing.setdefault(notice.attachment.attachment_id, notice)
    if not governing:
        return ()
    ids = [each.chunk_id for each in cited if each.chunk_id is not None]
    answer = claims_of(trace.answer, trace.answer.lower(), (trace.chunk_ids, ids))
    passages = [Passage(answer), *(Passage(each.quote) for each in cited if each.quote is not None)]
    chunks = [each.chunk_id for each in cited if each.quote is None and each.chunk_id is not None]
    omissions = []
    for notice in governing.values():
        found = [notice.sought_in(passage) for passage in passages]
        found += [notices.held(notice, chunk_id) for chunk_id in chunks]
        if any(each.is_mentioned for each in found):
            continue
        mask, about = reduce(or_, [each.mask for each in found]), notice.attachment
        omissions.append(
            SafetyOmission(
                about.attachment_id,
                cast(Literal["warning", "caution"], about.kind),
                about.section_id,
                about.page_idx,
                about.text,
                notice.words,
                tuple(word for place, word in enumerate(notice.words) if mask >> place & 1),
                notice.doc_id,
            )
        )
    return tuple(omissions)


def _cited(trace: Trace, in_text: Sequence[str], places: Places) -> Iterator[_Cited]:
    for item in trace.payload or in_text:
        if isinstance(item, str) and item:
            yield _Cited(item, _place_of(trace, item, places), None)
        elif isinstance(item, dict):
            chunk_id, quote = id_of(item) or None, item.get("quote") or item.get("text")
            doc_id, section_id = text_of(item.get("doc_id")), text_of(item.get("section_id"))
            page_idx = None
            if doc_id is None or section_id is None:
                known = _place_of(trace, chunk_id, places) if chunk_id is not None else NOWHERE
                doc_id, section_id = doc_id or known.doc_id, section_id or known.section_id
                page_idx = known.page_idx if (own := page_of(item)[0]) is None else own
            place = Place(doc_id, section_id, page_idx)
            yield _Cited(chunk_id, place, quote if isinstance(quote, str) else None)


def _place_of(trace: Trace, chunk_id: str, places: Places) -> Place:
    """Return a chunk's place: by its candidate, else its record, else its id."""
    entries, entry = trace.raw.get("chunks"), {}
    if isinstance(entries, list) and len(entries) == len(trace.chunk_ids) and chunk_id in trace.chunk_ids:
        entry = entries[trace.chunk_ids.index(chunk_id)]
    return place_in(entry, chunk_id, places)


#: The kinds of attachments that are safety notices.
KINDS = frozenset({"warning", "caution"})

#: The share of a notice's words, weighted by rarity, that mentions it if they are close together …
ENOUGH_OF_ALL = 0.6
#: … or the share of one of its sentences with at least `FEWEST_WORDS`. Chosen by reading cases: of 273
#: pairs of a notice with another chunk of its section none that merely lies beside it had more than 0.49 and
#: 0.70, while most answers that repeat a notice in words of their own keep three quarters of one sentence.
ENOUGH_OF_SENTENCE = 0.75
FEWEST_WORDS = 3
#: Close together is within twice the length of notice or sentence, and at least within twice these words.
SHORTEST_REACH = 15
#: The first characters of a notice, and their first content words, are searched for.
MOST_CHARS = 5_000
MOST_WORDS = 200
#: The most notices of a section, in reading order; `Notices.crowded` names sections with more.
MOST_NOTICES = 100
#: The deepest nesting of sections; deeper ones count as the one at this depth.
DEEPEST = 16
#: Section ids with more characters name no section.
LONGEST_SECTION = 1_000
#: The most pairs of chunk and notice in the cache before it is cleared.
KEPT_PAIRS = 1 << 18

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|[。!?•\uf0b7]|\n\s*\n")

#: A document and a section of it.
Within = tuple[str | None, SectionKey]


class Part(NamedTuple):
    """Words of a notice that mention it if they are close together: all of them, or one sentence's.

    Bits and masks are a notice's. `enough` is the weight required within twice `reach` words, together with
    the bits of `needed`: for a sentence that forbids something, a word that forbids.
    """

    mask: int
    enough: float
    reach: int
    needed: int = 0


class Found(NamedTuple):
    """The words of a notice in a passage as a mask, and whether they mention it."""

    mask: int
    is_mentioned: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning or caution to search for. Bit n of a mask is its n-th word, the next bit a negation.

    `line` is its text in plain form, `weights` are the words' rarities in the corpus. `doc_id` is that of the
    record, else that of what is to be drawn for it.
    """

    attachment: Attachment
    line: str
    words: tuple[str, ...]
    forms: tuple[str, ...]
    weights: tuple[int, ...]
    parts: tuple[Part, ...]
    doc_id: str | None = None

    def sought_in(self, passage: Passage) -> Found:
        """Search a passage for the notice: for its whole text, then for its words."""
        held = sum([1 << place for place, each in enumerate(self.forms) if each in passage.forms])
        parts = [part for part in self.parts if self._weight(held & part.mask) >= part.enough] if held else []
        if not parts:
            return Found(held, False)
        is_whole = f" {self.line} " in f" {plain(passage.text)} "
        return Found(held, is_whole or any(self._holds(passage.layout, part) for part in parts))

    def _holds(self, passage: Layout, part: Part) -> bool:
        """Return whether some words of a passage, within `reach` and the next as many, mention a part."""
        masks: defaultdict[int, int] = defaultdict(int)
        for place, each in enumerate(self.forms):
            for at in passage.places.get(each, ()):
                masks[at // part.reach] |= 1 << place
        for at in passage.negations if masks else ():
            masks[at // part.reach] |= 1 << len(self.forms)
        stretches = (mask | masks.get(number + 1, 0) for number, mask in masks.items())
        return any(
            stretch & part.needed == part.needed and self._weight(stretch & part.mask) >= part.enough
            for stretch in stretches
        )

    def _weight(self, mask: int) -> int:
        return sum([weight for place, weight in enumerate(self.weights) if mask >> place & 1])


class Notices:
    """The notices of a catalogue in any order. Belongs to one thread, as its corpus does.

    `crowded` has the sections with more notices than are searched for: document, section and count.
    """

    __slots__ = ("_governing", "_held", "_last", "_listed", "corpus", "crowded")

    def __init__(self, attachments: Iterable[Attachment], corpus: Corpus) -> None:
        self.corpus = corpus
        self._listed: dict[Within, list[Attachment]] = {}
        for attachment in attachments:
            if attachment.kind not in KINDS:
                continue
            ref = parse_render_ref(attachment.render_ref) if attachment.render_ref is not None else None
            doc_id, page_idx = attachment.doc_id, attachment.page_idx
            if isinstance(ref, PageRef) and doc_id in (None, ref.doc_id):
                doc_id, page_idx = doc_id or ref.doc_id, ref.page_idx if page_idx is None else page_idx
            # A page is a section where there is no other, as in chunk ids: `p042`.
            if section := _section_of(Place(doc_id, attachment.section_id, page_idx)):
                self._listed.setdefault((doc_id, section), []).append(attachment)
        self.crowded = tuple(
            sorted(
                (doc_id or "", ".".join(section), len(listed))
                for (doc_id, section), listed in self._listed.items()
                if len(listed) > MOST_NOTICES
            )
        )
        self._governing: dict[Within, tuple[Notice, ...]] = {}
        self._held: dict[tuple[str, str], Found] = {}
        self._last = ("", Passage(""))

    def governing(self, place: Place) -> tuple[Notice, ...]:
        """Return the notices of a section and of those that contain it, the nearest first, each text once.

        A notice between the headings of 5.4 and 5.4.1 applies to all of 5.4 (a section safety message in ANSI
        Z535.6), so to 5.4.1 as well. One in 5.4.1 does not apply to 5.4.
        """
        if place.section_id is not None and len(place.section_id) > LONGEST_SECTION:
            return ()
        return self._nearest(place.doc_id, _section_of(place))

    def _nearest(self, doc_id: str | None, section: SectionKey) -> tuple[Notice, ...]:
        """Return the notices of the nearest section with any and of those above it, prepared on first use."""
        for depth in range(len(section), 0, -1):
            within = doc_id, section[:depth]
            if within not in self._listed:
                continue
            if within not in self._governing:
                by_line: dict[str, Notice] = {}
                own = _prepared(self._listed[within], doc_id, self.corpus.survey)
                for notice in (*own, *self._nearest(doc_id, section[: depth - 1])):
                    by_line.setdefault(notice.line, notice)
                self._governing[within] = tuple(by_line.values())[:MOST_NOTICES]
            return self._governing[within]
        return ()

    def held(self, notice: Notice, chunk_id: str) -> Found:
        """Search a chunk for a notice; cached, as a section's chunks are cited again and again."""
        pair = (chunk_id, notice.attachment.attachment_id)
        if pair not in self._held:
            if len(self._held) >= KEPT_PAIRS:
                self._held.clear()
            if self._last[0] != chunk_id:  # all notices of a section are searched for in the same text
                view = self.corpus.views[chunk_id]
                self._last = (chunk_id, Passage(view.text, view.words))
            self._held[pair] = notice.sought_in(self._last[1])
        return self._held[pair]


def _section_of(place: Place) -> SectionKey:
    section = section_key(place.section_id)
    if not section and place.page_idx is not None:
        section = section_key(section_path(None, place.page_idx + 1))
    return section[:DEEPEST]


def _prepared(attachments: Iterable[Attachment], doc_id: str | None, survey: Survey) -> Iterator[Notice]:
    """Yield the first notices of a section in reading order, without those that have no content word."""

    def reading_order(attachment: Attachment) -> tuple[float, float, str]:
        page, box = attachment.page_idx, attachment.box
        top = math.inf if box is None else box[1]
        return math.inf if page is None else page, top, attachment.attachment_id

    for attachment in sorted(attachments, key=reading_order)[:MOST_NOTICES]:
        text = attachment.text[:MOST_CHARS]
        if words := named_words(text)[:MOST_WORDS]:
            forms = tuple(map(form, words))
            weights = tuple(survey.rarity.get(word) or survey.unseen for word in words)
            parts = tuple(_parts(text, dict(zip(forms, weights, strict=True))))
            yield Notice(attachment, plain(text), words, forms, weights, parts, doc_id)


def _parts(text: str, weight_of: Mapping[str, int]) -> Iterator[Part]:
    """Yield the whole notice, then each sentence with enough words; weights by form."""
    bits = {each: 1 << place for place, each in enumerate(weight_of)}
    reach = max(SHORTEST_REACH, Passage(text).layout.length)
    yield Part((1 << len(bits)) - 1, ENOUGH_OF_ALL * sum(weight_of.values()), reach)
    for sentence in _SENTENCE_END.split(text):
        own = dict.fromkeys(each for word in named_words(sentence) if (each := form(word)) in bits)
        if len(own) >= FEWEST_WORDS:
            layout = Passage(sentence).layout
            yield Part(
                sum(bits[each] for each in own),
                ENOUGH_OF_SENTENCE * sum(weight_of[each] for each in own),
                max(SHORTEST_REACH, layout.length),
                1 << len(bits) if layout.negations else 0,
            )
