"""The label of one answer on many prompts: what a chunk decides is looked up once."""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.contracts.records.records import NO_QUESTION, Label, Trace
from proofspan.diagnosis.answers import follows_template, payload_ids, refuses
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN, counted_ids, decided, lowered
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.words import phrases, query_tokens


class PromptLabels:
    """The labels of a trace's answer on prompts of any chunks: those of `proofspan.diagnosis.labelling`."""

    __slots__ = (
        "_aligned",
        "_asked",
        "_corpus",
        "_grounded",
        "_in_payload",
        "_in_text",
        "_lower",
        "_phrases",
    )

    def __init__(self, trace: Trace, corpus: Corpus) -> None:
        self._corpus = corpus
        self._lower = trace.answer.lower()
        self._in_text, self._in_payload = trace.ids_in_text, payload_ids(trace)
        is_known = QUESTION_UNKNOWN not in trace.suspicions and trace.q != NO_QUESTION
        self._asked = frozenset(query_tokens(trace.q)) if is_known else None
        self._phrases = tuple(dict.fromkeys([phrase.lower() for phrase in phrases(trace.answer)]))
        self._aligned: dict[str, bool] = {}
        self._grounded: dict[str, bool] = {}

    def label(self, ids: Sequence[str], profile: Profile) -> Label | None:
        """Return the label with these chunks in the prompt; None where it is not known what was asked."""
        if self._asked is None:
            return None
        refused, violated = refuses(self._lower, lowered(profile.refusal)), False
        if not refused and profile.template != "none":
            has_payload = bool(self._in_payload)
            follows = follows_template(self._lower, has_payload=has_payload, template=profile.template)
            cited = counted_ids(self._in_text, self._in_payload, profile)
            violated = not (follows and all(chunk_id in ids for chunk_id in cited))
        is_aligned = not violated and any(map(self._is_aligned, ids))
        is_grounded = is_aligned and not refused and self._is_grounded(ids)
        return decided(refused=refused, violated=violated, is_aligned=is_aligned, is_grounded=is_grounded)[0]

    def _is_aligned(self, chunk_id: str) -> bool:
        known = self._aligned.get(chunk_id)
        if known is None:
            words = self._corpus.views[chunk_id].words
            known = self._aligned[chunk_id] = not words.isdisjoint(self._asked or ())
        return known

    def _is_grounded(self, ids: Sequence[str]) -> bool:
        if any(map(self._has_phrase, ids)):
            return True
        across = [phrase for phrase in self._phrases if "\n\n" in phrase]
        if not across:
            return False
        joined = "\n\n".join([self._corpus.views[chunk_id].lower for chunk_id in ids])
        return any(phrase in joined for phrase in across)

    def _has_phrase(self, chunk_id: str) -> bool:
        known = self._grounded.get(chunk_id)
        if known is None:
            text = self._corpus.views[chunk_id].lower
            known = self._grounded[chunk_id] = any(phrase in text for phrase in self._phrases)
        return known
