"""The claims of an answer that belong to a citation, and the sentences of the cited text that decide them.

A citation that names a chunk or a page, and no words of it, leads to these sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.answers import CITATION_LINE, claims_of
from proofspan.diagnosis.claims.check import check_answer
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import claims_in
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import Claim
from proofspan.services.claim_places import survey_of

#: Claims of an answer that are compared with one citation; a citation is seldom given for more.
MAX_CLAIMS = 40
#: Citations of an answer for which sentences are looked for.
MAX_CITATIONS = 50
#: Results that are kept: a page script asks for the same ones again and again.
CACHED = 512

#: Characters of a text, half open.
Range = tuple[int, int]


def claims_of_trace(trace: Trace, cited: Mapping[int, str | None]) -> tuple[Claim, ...]:
    """Return the claims of a trace's answer; `cited` has the chunk ids of its citations by number.

    The text of a claim has spaces in the place of such ids.
    """
    ids = {each for each in cited.values() if each is not None}
    blanked = claims_of(trace.answer, trace.answer.lower(), (trace.chunk_ids, ids))
    split = claims_in(trace.answer, trace.q, blanked=blanked)
    return tuple(each._replace(text=split.text[each.start : each.end]) for each in split.claims)


def claims_by_citation(
    answer: str, claims: Sequence[Claim], cited: Mapping[int, str | None]
) -> dict[int, tuple[Claim, ...]]:
    """Return the claims that each citation, by number, is given for.

    Those are the claims that name it, by its chunk's id or as `[2]`, in themselves or right behind. One that
    no claim names is given for the claims that name none, else for all.
    """
    line = CITATION_LINE.search(answer)
    body = answer[: line.start()] if line else answer
    named: dict[int, list[Claim]] = {number: [] for number in cited}
    starts = [claim.start for claim in claims[1:]]
    for claim, following in zip_longest(claims, starts):
        behind = body[claim.end : following].partition("\n")[0]
        own = body[claim.start : claim.end] + behind
        for number, chunk_id in cited.items():
            if (chunk_id and chunk_id in own) or re.search(rf"[\[【]\^?{number}[\]】]", own):
                named[number].append(claim)
    with_mark = {claim for each in named.values() for claim in each}
    others = [claim for claim in claims if claim not in with_mark] or claims
    return {number: tuple((own or others)[:MAX_CLAIMS]) for number, own in named.items()}


@lru_cache(CACHED)
def sentences_for(claims: tuple[Claim, ...], text: str, *, only_decided: bool = False) -> tuple[Range, ...]:
    """Return the sentences, list items or table rows of a text that decide the claims, in its order.

    Where it decides none of the claims, the one that comes closest, unless `only_decided`; () where it has no
    word of them.
    """
    source = EvidenceSource("cited_page", None, SourceText(text))
    moved: list[Claim] = []
    for claim in claims:  # the characters of a claim are those of the text that is checked
        start = moved[-1].end + 1 if moved else 0
        moved.append(claim._replace(start=start, end=start + len(claim.text)))
    answer = "\n".join(claim.text for claim in claims)
    checked = check_answer(answer, [source], survey_of(source.text), claims=moved)
    found = [each for each in checked.claims if each.evidence is not None]
    decided = [each for each in found if each.status != "unsupported"]
    best = decided or ([] if only_decided else sorted(found, key=lambda each: -each.support)[:1])
    return tuple(sorted({(each.evidence.start, each.evidence.end) for each in best if each.evidence}))
