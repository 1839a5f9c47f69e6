"""Explain a label by what a page marks in the original question and answer.

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
from proofspan.diagnosis.types import Explanation, PhraseMatch, Profile, QueryToken
from proofspan.diagnosis.words import Folded, is_content, placed_phrases, query_tokens, tokens

#: The most occurrences of a phrase that are looked at.
MAX_PLACES = 50

_JOIN = "\n\n"
_WORD = re.compile(r"\w+")


def explain(trace: Trace, corpus: Corpus, profile: Profile) -> Explanation:
    """Return everything that the Question page marks."""
    answer, lower = trace.answer, trace.answer.lower()
    views = [corpus.views[chunk_id] for chunk_id in trace.chunk_ids]
    cited = counted_ids(trace.ids_in_text, payload_ids(trace), profile)
    refusals = lowered(profile.refusal)
    refused = refuses(lower, refusals)
    claims = claims_of(answer, lower, (trace.chunk_ids, cited), refusals if refused else ())
    other = None if refused else other_refusal(lower)
    refusal = None if other is None else other.span()
    if refused:
        phrase = next(phrase for phrase in refusals if phrase in lower)
        refusal = lower.find(phrase), lower.find(phrase) + len(phrase)
    # The counted ids by their ranges in the answer, each behind the one before it.
    behind = max(lower.find("citations"), 0) if answer.isascii() else 0
    places: dict[tuple[int, int], str] = {}
    for chunk_id in cited:
        at = answer.find(chunk_id, behind)
        if at >= 0:
            behind = at + len(chunk_id)
            places[at, behind] = chunk_id
    asked = query_tokens(trace.q)
    in_question = _token_ranges(trace.q, asked)
    missing = missing_words(set(asked), views)
    unfound = missing_words(set(filter(is_content, tokens(claims))), views)
    lost = sorted(each for ranges in _token_ranges(claims, unfound).values() for each in ranges)
    return Explanation(
        phrases=() if refused else tuple(_phrases(answer, trace.chunk_ids, views)),
        numbers=tuple(unsupported(claims, trace.q, views)),
        query=tuple(
            QueryToken(token, is_content(token), token not in missing, tuple(in_question[token]))
            for token in asked
        ),
        cited=places,
        refusal=None if refusal is None else answer[slice(*Folded(answer).original(*refusal))],
        is_other_wording=other is not None,
        words_missing=tuple(dict.fromkeys(claims[start:end] for start, end in lost)),
    )


def _phrases(answer: str, chunk_ids: Sequence[str], views: Sequence[ChunkView]) -> Iterator[PhraseMatch]:
    """Yield the phrases in the evidence, which is joined as in the reference, with the chunks that have them.

    One across a join is in each of its chunks.
    """
    joined = _JOIN.join([view.lower for view in views])
    ends = list(accumulate(len(view.lower) + len(_JOIN) for view in views))
    for phrase, start, end in placed_phrases(answer):
        wanted, found = phrase.lower(), set[str]()
        at, looked_at = joined.find(wanted), 0
        while at >= 0 and looked_at < MAX_PLACES:
            behind, looked_at = at + len(wanted), looked_at + 1
            within = range(bisect_right(ends, at), bisect_right(ends, behind - 1) + 1)
            found.update(chunk_ids[place] for place in within if views[place].lower)
            at = joined.find(wanted, behind)
        if found:
            yield PhraseMatch(phrase, start, end, frozenset(found))


def _token_ranges(text: str, wanted: Collection[str]) -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of the wanted tokens in the original text."""
    folded = Folded(text)
    found: dict[str, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(folded.lower):
        if match[0] in wanted:
            found.setdefault(match[0], []).append(folded.original(match.start(), match.end()))
    return found
