"""Figures that a claim and its evidence print differently, and that agree by value."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.diagnosis.claims.figures import Figure, agrees, figures_of
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.claims.word_forms import language_of

_SCALES = {3: "thousand", 6: "million", 9: "billion"}


class Restated:
    """Reads the figures of passages, each passage once; `texts` are those of chunks by id."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._figures: dict[str, list[Figure]] = {}

    def pairs(self, each: CheckedClaim) -> list[tuple[str, str]]:
        """Return figures of a claim with those of its evidence: `$41.3 million` and `41,287 thousand`."""
        evidence = each.evidence
        if evidence is None or not (own := _read(each.claim.text)):
            return []
        start, end, printed = 0, len(evidence.text), self._figures.get(evidence.chunk_id or "")
        whole = self._texts.get(evidence.chunk_id or "", "")
        if whole[evidence.start : evidence.end] == evidence.text:
            start, end = evidence.start, evidence.end
            if printed is None:  # the whole chunk, since a caption before the row has its scale
                printed = self._figures[evidence.chunk_id or ""] = _read(whole)
        else:
            printed = _read(evidence.text)
        inside = [figure for figure in printed if start <= figure.start and figure.end <= end]
        found = []
        for figure in own:
            same = [other for other in inside if agrees(figure, other)]
            if same and all(other.text != figure.text for other in same):
                found.append((_bare(figure.text), _with_scale(same[0])))
        return found


def _read(text: str) -> list[Figure]:
    return [
        figure for figure in figures_of(text, language=language_of(text) or "") if figure.kind == "number"
    ]


def _with_scale(figure: Figure) -> str:
    scale = _SCALES.get(figure.scale) if figure.scaled == "table" else None
    return f"{_bare(figure.text)} {scale}" if scale else _bare(figure.text)


def _bare(text: str) -> str:
    """Return a figure without half of the brackets around it."""
    return text if text.count("(") == text.count(")") else text.strip("()")
