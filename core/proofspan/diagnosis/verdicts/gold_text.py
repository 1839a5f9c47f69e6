"""Follow a gold question's passages through the pipeline, by the text of candidates, not by their pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from proofspan.contracts.records.records import Citation, GoldQuestion, Json, Trace
from proofspan.diagnosis.gold import GoldTarget, gold_target
from proofspan.diagnosis.verdicts.gold_parts import MOST_PARTS, Held, Page, PreparedPart, prepared_parts
from proofspan.diagnosis.verdicts.runs_of_words import Squeezed, pieces_of
from proofspan.diagnosis.verdicts.types import TRAIL_STAGES, GoldPart, GoldTrail, PartPlace, TrailStage
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import (
    STAGES,
    entries_in,
    listed,
    place_by_id,
    place_in,
)

#: Texts in chunks' own words are kept up to this many bytes, and findings up to this many.
_MOST_BYTES, _MOST_FOUND, _MOST_QUESTIONS = 100_000_000, 300_000, 10_000
#: Chunks on a smaller share of the pages are a sample, such as those of an import that took them from traces:
#: what they lack may be in others.
_KNOWN_PAGES = 0.5

_ABSENT = PartPlace("absent")

#: A candidate, or a citation with its number for a rank and without a chunk an empty id; the last is what the
#: trace says of it.
_Entry = tuple[int, str, Mapping[str, Json]]


class _Found(NamedTuple):
    """The words that a chunk has of each passage, and whether its page is that passage's."""

    held: tuple[Held | None, ...]
    on_page: tuple[bool, ...]


class _Question:
    """The passages of a gold question, and what was found of them in chunks."""

    def __init__(self, gold: GoldQuestion, texts: Mapping[str, str], places: Places) -> None:
        self.gold = gold
        self.parts = prepared_parts(gold, texts, places) if gold.answerable else []
        self.target = gold_target(gold)
        self.found: dict[str, _Found | None] = {}
        self.corpus: list[PartPlace | None] | None = None


class GoldTrails:
    """The trails of many traces; what is prepared for a question and a chunk is kept. For one thread."""

    def __init__(self, texts: Mapping[str, str], places: Places) -> None:
        """`texts` and `places` are those of the corpus' chunks by id."""
        self._texts = texts
        self._places = places
        self._questions: dict[str, _Question] = {}
        self._squeezed: dict[str, Squeezed] = {}
        self._spent = self._kept = 0
        self._by_page: dict[Page, list[str]] | None = None
        self._pages_of: dict[str | None, set[int]] = {}

    def trail(
        self, trace: Trace, gold: GoldQuestion | None, cited: Sequence[Citation] | None = None
    ) -> GoldTrail | None:
        """Return where the passages of a trace's gold question are in each stage that the trace lists.

        None without gold, for a question that the documents do not answer, and for gold that names no place.
        `cited` are the trace's citations, if they have been read already.
        """
        if gold is None or not gold.answerable:
            return None
        question = self._question(gold)
        cited = citations(trace) if cited is None else cited
        if question.parts and self._has_texts(trace, cited):
            return self._by_text(trace, question, cited)
        target = question.target
        if target is None or target.kind == "nothing":
            return None
        return self.by_place(_stages(trace, cited), gold, target)

    def telling(
        self, gold: GoldQuestion, candidates: Iterable[tuple[str, Mapping[str, Json]]]
    ) -> Telling | None:
        """Return what a trail of a question needs of its candidates, given by id and entry.

        None for gold that names no place, or without an answer in the documents.
        """
        if not gold.answerable:
            return None
        question, entries = self._question(gold), [(1, *each) for each in candidates]
        if question.parts and any(
            chunk_id in self._texts or isinstance(entry.get("text"), str) for _, chunk_id, entry in entries
        ):
            corpus, known = self._in_corpus(question), question.found
            found = [
                (each, known[each[1]] if each[1] in known else self._look(question, each)) for each in entries
            ]
            return Telling(
                tuple(question.parts), tuple(corpus), tuple([(e, f) for e, f in found if f is not None])
            )
        target = question.target
        if target is None or target.kind == "nothing":
            return None
        return Telling((), (), (), tuple(entries), self, gold)

    def _question(self, gold: GoldQuestion) -> _Question:
        known = self._questions.get(gold.q_id)
        if known is None or (known.gold is not gold and known.gold != gold):
            if len(self._questions) >= _MOST_QUESTIONS or self._kept > _MOST_FOUND:
                self._questions.clear()
                self._kept = 0
            known = self._questions[gold.q_id] = _Question(gold, self._texts, self._places)
        return known

    def _has_texts(self, trace: Trace, cited: Iterable[Citation]) -> bool:
        """Return whether the text of any candidate is known."""
        texts = self._texts
        if any(chunk_id in texts for chunk_id in trace.chunk_ids):
            return True
        for name in STAGES:
            for _, chunk_id, entry in listed(trace, name):
                if chunk_id in texts or isinstance(entry.get("text"), str):
                    return True
        return any(each.chunk_id in texts for each in cited)

    # By text.

    def _by_text(self, trace: Trace, question: _Question, cited: Sequence[Citation]) -> GoldTrail:
        parts = question.parts
        places: list[dict[TrailStage, PartPlace]] = [{} for _ in parts]
        for number, place in enumerate(self._in_corpus(question)):
            if place is not None:
                places[number]["corpus"] = place
        for stage, entries in _stages(trace, cited):
            found = self._in_stage(question, entries)
            for number, place in enumerate(found):
                places[number][stage] = place
        return GoldTrail(_followed(parts, places), "text")

    def _in_stage(self, question: _Question, entries: Iterable[_Entry]) -> list[PartPlace]:
        """Return the place of each passage among the candidates of a stage."""
        known = question.found
        telling: list[tuple[_Entry, _Found]] = []
        for entry in entries:
            chunk_id = entry[1]
            found = known[chunk_id] if chunk_id in known else self._look(question, entry)
            if found is not None:
                telling.append((entry, found))
        return [_best(part, number, telling) for number, part in enumerate(question.parts)]

    def _look(self, question: _Question, entry: _Entry) -> _Found | None:
        """Look for the passages in a candidate's text."""
        _, chunk_id, raw = entry
        of_corpus = self._texts.get(chunk_id)
        text = of_corpus
        if text is None:
            stated = raw.get("text")
            text = stated if isinstance(stated, str) else ""
        place = self._places.get(chunk_id)
        if place is None or place.page_idx is None:
            place = place_in(raw, chunk_id, self._places)
        page = None if place.page_idx is None else (place.doc_id, place.page_idx)
        on_page = tuple(page in part.pages for part in question.parts)
        if chunk_id and not text:
            return _Found((None,) * len(on_page), on_page) if any(on_page) else None
        held: tuple[Held | None, ...]
        if not chunk_id and not text:  # a citation of a page means all that is there
            held = tuple(
                Held(part.words, 1.0, 0, 0) if is_there else None
                for part, is_there in zip(question.parts, on_page, strict=True)
            )
        else:
            squeezed = self._squeezed_text(chunk_id if of_corpus is not None else None, text)
            held = tuple(
                part.held_in(text, squeezed, on_page=page is None or not part.pages or page in part.pages)
                for part in question.parts
            )
        found = _Found(held, on_page) if any(held) or any(on_page) else None
        if of_corpus is not None:
            question.found[chunk_id] = found
            self._kept += 1
        return found

    def _squeezed_text(self, chunk_id: str | None, text: str) -> Squeezed:
        known = None if chunk_id is None else self._squeezed.get(chunk_id)
        if known is None:
            known = Squeezed([piece.key for piece in pieces_of(text)])
            if chunk_id is not None:
                self._spent += known.cost
                if self._spent > _MOST_BYTES:
                    self._squeezed.clear()
                    self._spent = known.cost
                self._squeezed[chunk_id] = known
        return known

    def _in_corpus(self, question: _Question) -> list[PartPlace | None]:
        """Return the place of each passage among the gold chunks and those of its pages and beside these.

        None where no chunk of its page is known, or where those of its document are a mere sample.
        """
        if question.corpus is None:
            by_page = self._chunks_by_page()
            question.corpus = []
            for number, part in enumerate(question.parts):
                ids = [each for each in question.gold.chunks if each in self._texts]
                on_pages = [each for page in part.pages for each in by_page.get(page, ())]
                if on_pages:
                    near = [(doc_id, page + step) for doc_id, page in part.pages for step in (-1, 1)]
                    ids += on_pages + [each for page in near for each in by_page.get(page, ())]
                if not ids:
                    question.corpus.append(None)
                    continue
                entries: list[_Entry] = [(0, chunk_id, {}) for chunk_id in dict.fromkeys(ids)]
                place = self._in_stage(question, entries)[number]._replace(rank=None)
                is_sample = self._is_sample(self._pages_of) or self._is_sample(
                    {page[0] for page in part.pages}
                )
                question.corpus.append(None if is_sample and place.holding != "held" else place)
        return question.corpus

    def _chunks_by_page(self) -> dict[Page, list[str]]:
        if self._by_page is None:
            self._by_page = {}
            for chunk_id, place in self._places.items():
                if place.page_idx is not None:
                    self._by_page.setdefault((place.doc_id, place.page_idx), []).append(chunk_id)
                    self._pages_of.setdefault(place.doc_id, set()).add(place.page_idx)
        return self._by_page

    def _is_sample(self, doc_ids: Iterable[str | None]) -> bool:
        """Return whether most pages of documents have no chunks, between the first and the last that have."""
        pages = [self._pages_of[each] for each in doc_ids if each in self._pages_of]
        return sum(map(len, pages)) < _KNOWN_PAGES * sum(max(each) - min(each) + 1 for each in pages)

    # By chunk, section or page, where gold or the trace has no words.

    def by_place(
        self, stages: Iterable[tuple[TrailStage, Iterable[_Entry]]], gold: GoldQuestion, target: GoldTarget
    ) -> GoldTrail:
        """Return the trail through stages by what the target compares."""
        kind = target.kind
        if kind == "chunk":
            wanted: list[tuple[object, GoldPart]] = []
            for chunk_id in dict.fromkeys(gold.chunks):
                place = self._places.get(chunk_id) or place_by_id(chunk_id)
                wanted.append((chunk_id, GoldPart("", place.doc_id, place.page_idx, {}, chunk_id)))
        elif kind == "section":
            sections = filter(None, dict.fromkeys(map(str.strip, gold.sections)))
            wanted = [(section, GoldPart("", None, None, {}, section)) for section in sections]
        else:
            pages = dict.fromkeys((span.doc_id, span.page_idx) for span in gold.spans)
            wanted = [(page, GoldPart("", *page, {})) for page in pages if page[1] is not None]
        wanted = wanted[:MOST_PARTS]
        places: list[dict[TrailStage, PartPlace]] = [{} for _ in wanted]
        for stage, entries in stages:
            best: dict[object, PartPlace] = {}
            for entry in entries:
                for value in self._values(kind, entry):
                    rank, chunk_id = entry[:2]
                    best.setdefault(value, PartPlace("held", 1.0, rank, chunk_id or None, together=1.0))
            for number, (value, _) in enumerate(wanted):
                places[number][stage] = best.get(value, _ABSENT)
        parts = tuple(part._replace(places=at) for (_, part), at in zip(wanted, places, strict=True))
        return GoldTrail(parts, kind if kind != "nothing" else "page")

    def _values(self, kind: str, entry: _Entry) -> Iterator[object]:
        """Yield what an entry is compared by."""
        _, chunk_id, raw = entry
        if kind == "chunk" and chunk_id:
            yield chunk_id
            return
        place = place_in(raw, chunk_id, self._places)
        page = None if place.page_idx is None else (place.doc_id, place.page_idx)
        if kind == "section":
            yield (place.section_id or "").strip()
        elif kind == "page":
            yield page
        elif page is not None:  # a citation of a page alone means all chunks there
            yield from self._chunks_by_page().get(page, ())


class Telling(NamedTuple):
    """The candidates on which the trail of a question depends: those with words of a passage, or on its page.

    Gold without words is compared by place, so that all `candidates` count.
    """

    parts: tuple[PreparedPart, ...]
    corpus: tuple[PartPlace | None, ...]
    found: tuple[tuple[_Entry, _Found], ...]
    candidates: tuple[_Entry, ...] = ()
    trails: GoldTrails | None = None
    gold: GoldQuestion | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """Return the ids of these candidates, in their order."""
        return tuple([entry[1] for entry in self.candidates or [entry for entry, _ in self.found]])

    def trail(self, stages: Mapping[TrailStage, Sequence[bool]]) -> GoldTrail | None:
        """Return the trail through stages that hold some of the candidates, in the order of `ids`.

        Its ranks say nothing; where each passage was lost does not depend on them.
        """
        if self.trails is not None and self.gold is not None:
            target = gold_target(self.gold)
            held = [
                (stage, [entry for entry, is_there in zip(self.candidates, there, strict=True) if is_there])
                for stage, there in stages.items()
            ]
            return None if target is None else self.trails.by_place(held, self.gold, target)
        places: list[dict[TrailStage, PartPlace]] = [
            {} if place is None else {"corpus": place} for place in self.corpus
        ]
        for stage, there in stages.items():
            telling = [each for each, is_there in zip(self.found, there, strict=True) if is_there]
            for number, part in enumerate(self.parts):
                places[number][stage] = _best(part, number, telling)
        return GoldTrail(_followed(self.parts, places), "text")


def _followed(
    parts: Sequence[PreparedPart], places: Sequence[Mapping[TrailStage, PartPlace]]
) -> tuple[GoldPart, ...]:
    return tuple(
        GoldPart(part.text, part.doc_id, part.page_idx, at, needed=part.needed)
        for part, at in zip(parts, places, strict=True)
    )


def has_passage(place: PartPlace) -> bool:
    """Return whether a stage has a passage, or of it what the expected answer rests on."""
    return place.holding == "held" or place.has_answer is True


def first_loss(part: GoldPart) -> TrailStage | None:
    """Return the stage up to the prompt that lost a passage, or most of what was left of it.

    It comes after the last stage that has the passage. None if the prompt has it, or if the trace does not
    list the prompt.
    """
    if "prompt" not in part.places or has_passage(part.places["prompt"]):
        return None
    lost: TrailStage | None = None
    before, most = 1.0, 0.0
    for stage in TRAIL_STAGES[: TRAIL_STAGES.index("cited")]:
        if (place := part.places.get(stage)) is None:
            continue
        if has_passage(place):
            lost, before, most = None, 1.0, 0.0
            continue
        # Without what the answer rests on nothing is left.
        left = 0.0 if place.has_answer is False else place.together
        if lost is None or before - left > most:
            lost, most = stage, before - left
        before = left
    return lost


def _stages(trace: Trace, cited: Sequence[Citation]) -> Iterator[tuple[TrailStage, Iterable[_Entry]]]:
    """Yield the stages that a trace lists; citations are one if there are any."""
    for name in STAGES:
        if name == "chunks":
            if "chunks_missing" not in trace.suspicions:
                yield "prompt", listed(trace, name)
        elif entries_in(trace.raw, name):
            yield name, listed(trace, name)
    if cited:
        yield "cited", map(_cited_entry, cited)


def _cited_entry(citation: Citation) -> _Entry:
    place = {
        "doc_id": citation.doc_id,
        "section_id": citation.section_id,
        "page_idx": citation.page_idx,
    }
    return citation.number, citation.chunk_id or "", place


def _best(part: PreparedPart, number: int, telling: Sequence[tuple[_Entry, _Found]]) -> PartPlace:
    """Return the place of the candidate that holds most of a passage, the answer's words first."""
    together = 0
    best: tuple[tuple[bool, bool, float], _Entry, Held] | None = None
    beside: _Entry | None = None
    for entry, found in telling:
        held = found.held[number]
        if held is not None:
            together |= held.words
            key = part.is_whole(held.words), part.sums(held.words)[1] is True, held.share
            if best is None or key > best[0]:
                best = key, entry, held
        elif beside is None and found.on_page[number]:
            beside = entry
    together = part.with_repeated(together)
    share, has_answer = part.sums(together)
    if best is not None:
        _, (rank, chunk_id, _), held = best
        return PartPlace(
            "held" if part.is_whole(together) else "part",
            held.share,
            rank,
            chunk_id or None,
            held.start,
            held.end,
            share,
            has_answer,
        )
    if beside is not None:
        return PartPlace("same_page", rank=beside[0], chunk_id=beside[1] or None, has_answer=has_answer)
    return PartPlace("absent", has_answer=has_answer)
