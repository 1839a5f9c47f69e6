"""Explain a label by ranges in the original question, answer and chunks.

Slower and fuller than `reflect`, with the same functions, so that marks and numbers on a page agree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.answers import claims_of, other_refusal, payload_ids, refuses
from proofspan.diagnosis.corpus import ChunkView, Corpus, missing_words
from proofspan.diagnosis.labelling import counted_ids, lowered, unsupported
from proofspan.diagnosis.types import CitedId, Explanation, PhraseMatch, Profile, QueryToken, TextRange
from proofspan.diagnosis.words import Folded, is_content, placed_phrases, query_tokens, tokens

#: The most places that are listed of a phrase or token.
MAX_PLACES = 50

_JOIN = "\n\n"
_WORD = re.compile(r"\w+")

ChunkPlace = tuple[str, int, int]


def explain(trace: Trace, corpus: Corpus, profile: Profile) -> Explanation:
    """Return everything that the Question page marks."""
    answer, lower = trace.answer, trace.answer.lower()
    views = [corpus.views[chunk_id] for chunk_id in trace.chunk_ids]
    chunks = [(chunk_id, Folded(view.text)) for chunk_id, view in zip(trace.chunk_ids, views, strict=True)]
    cited = counted_ids(trace.ids_in_text, payload_ids(trace), profile)
    refusals = lowered(profile.refusal)
    refused = refuses(lower, refusals)
    claims = claims_of(answer, lower, (trace.chunk_ids, cited), refusals if refused else ())
    other = None if refused else other_refusal(lower)
    refusal = _refusal(answer, refusals) if refused else None
    if other is not None:
        start, end = Folded(answer).original(*other.span())
        refusal = TextRange(answer[start:end], start, end)
    return Explanation(
        phrases=() if refused else tuple(_phrases(answer, chunks)),
        numbers=tuple(
            TextRange(number.text, number.start, number.end) for number in unsupported(claims, trace.q, views)
        ),
        query=tuple(_query(trace.q, chunks)),
        cited=tuple(_cited(answer, cited, trace, corpus)),
        refusal=refusal,
        is_other_wording=other is not None,
        words_missing=tuple(_words_missing(claims, views)),
    )


def _phrases(answer: str, chunks: Sequence[tuple[str, Folded]]) -> Iterator[PhraseMatch]:
    """Yield the phrases in the evidence, lower-cased and joined as in the reference, with their places.

    One across a join has a place in each chunk.
    """
    joined = _JOIN.join([folded.lower for _, folded in chunks])
    sizes = (len(folded.lower) + len(_JOIN) for _, folded in chunks)
    starts = list(accumulate(sizes, initial=0))[: len(chunks) or 1]

    def pieces(start: int, end: int) -> Iterator[ChunkPlace]:
        for place in range(bisect_right(starts, start) - 1, len(chunks)):
            chunk_id, folded = chunks[place]
            begin = max(start - starts[place], 0)
            stop = min(end - starts[place], len(folded.lower))
            if stop <= 0:
                return
            if begin < stop:
                yield chunk_id, *folded.original(begin, stop)

    for phrase, start, end in placed_phrases(answer):
        wanted = phrase.lower()
        places: list[ChunkPlace] = []
        at = joined.find(wanted)
        while at >= 0 and len(places) < MAX_PLACES:
            places += pieces(at, at + len(wanted))
            at = joined.find(wanted, at + len(wanted))
        if places:
            yield PhraseMatch(phrase, start, end, tuple(dict.fromkeys(places)))


def _query(question: str, chunks: Sequence[tuple[str, Folded]]) -> Iterator[QueryToken]:
    """Yield the reference's query tokens with their places in the question and in the chunks."""
    asked = query_tokens(question)
    own = _token_ranges(Folded(question), set(asked))
    found: dict[str, list[ChunkPlace]] = {token: [] for token in asked}
    for chunk_id, folded in dict(chunks).items():
        for token, ranges in _token_ranges(folded, set(asked)).items():
            found[token] += [(chunk_id, each.start, each.end) for each in ranges]
    for token in asked:
        yield QueryToken(token, is_content(token), tuple(own[token]), tuple(found[token][:MAX_PLACES]))


def _token_ranges(folded: Folded, wanted: Collection[str]) -> dict[str, list[TextRange]]:
    """Return the ranges of the wanted tokens in the original text."""
    found: dict[str, list[TextRange]] = {}
    for match in _WORD.finditer(folded.lower):
        if match[0] in wanted:
            start, end = folded.original(match.start(), match.end())
            found.setdefault(match[0], []).append(TextRange(folded.text[start:end], start, end))
    return found


def _cited(answer: str, cited: Sequence[str], trace: Trace, corpus: Corpus) -> Iterator[CitedId]:
    """Yield the counted ids, each located behind the one before it."""
    behind = max(answer.lower().find("citations"), 0) if answer.isascii() else 0
    for chunk_id in cited:
        at = answer.find(chunk_id, behind)
        place = None if at < 0 else TextRange(chunk_id, at, at + len(chunk_id))
        behind = place.end if place else behind
        yield CitedId(chunk_id, place, chunk_id in trace.chunk_ids, chunk_id in corpus.texts)


def _refusal(answer: str, phrases: Sequence[str]) -> TextRange | None:
    """Return the first refusal phrase in the answer, in the profile's order."""
    folded = Folded(answer)
    for phrase in phrases:
        for start, end in folded.find_all(phrase):
            return TextRange(answer[start:end], start, end)
    return None


def _words_missing(claims: str, views: Sequence[ChunkView]) -> Iterator[TextRange]:
    """Yield the content words of the claims that are in no chunk, in order, repeats included."""
    missing = missing_words(set(filter(is_content, tokens(claims))), views)
    if missing:
        ranges = _token_ranges(Folded(claims), missing)
        yield from sorted((each for found in ranges.values() for each in found), key=lambda each: each.start)
