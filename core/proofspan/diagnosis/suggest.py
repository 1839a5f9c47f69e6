"""Whether a run's answers follow the template at all, and the profile that would fit if they do not.

What is known of a run is a mapping of names to counts, so that an index can store it a segment at a time and
add segments up: `traces`, `following`, `with_payload`, and `refusal: PHRASE` for refusals in other words.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.answers import follows_template, other_refusal, payload_ids
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.types import Profile, ReportRow

_REFUSAL = "refusal: "
#: A refusal opens with its phrase; further in, the phrase qualifies an answer that says something.
_OPENING = 120
#: The most refusal phrases that are offered, the most frequent first.
_OFFERED = 8
#: The most different facts that are kept of a run: enough for all wordings that recur.
_KEPT = 200


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The run-level suspicion `template_absent` with the profile that would fit the answers seen."""

    profile: Profile
    reason: str

    @property
    def options(self) -> str:
        """The command line options that apply the profile, quoted for a shell."""
        parts = ["--template", self.profile.template]
        for phrase in self.profile.refusal:
            parts += ["--refusal", phrase]
        return shlex.join(parts)


def add_facts(facts: MutableMapping[str, int], trace: Trace, row: ReportRow, profile: Profile) -> None:
    """Count one trace, labelled with `profile`, into the facts of its run."""
    facts["traces"] = facts.get("traces", 0) + 1
    has_payload = bool(payload_ids(trace))
    if has_payload:
        facts["with_payload"] = facts.get("with_payload", 0) + 1
    refused = row.label in REFUSAL_LABELS
    if refused or follows_template(trace.answer.lower(), has_payload=has_payload, template=profile.template):
        facts["following"] = facts.get("following", 0) + 1
    elif "refusal_other_wording" in row.suspicions:
        found = other_refusal(trace.answer.lower())
        name = _REFUSAL + found[0] if found and found.start() < _OPENING else None
        if name and (name in facts or len(facts) < _KEPT):
            facts[name] = facts.get(name, 0) + 1


def suggest_profile(facts: Mapping[str, int], profile: Profile) -> Suggestion | None:
    """Suggest a profile for a run, None if any answer follows the template or none is required.

    The payload is offered as template where at least half of the traces carry one. Refusal phrases are those
    that open answers of the run, the most frequent first; without any, the profile's own stay.
    """
    traces = facts.get("traces", 0)
    if profile.template == "none" or traces == 0 or facts.get("following", 0):
        return None
    with_payload = facts.get("with_payload", 0)
    seen = [(count, name[len(_REFUSAL) :]) for name, count in facts.items() if name.startswith(_REFUSAL)]
    seen.sort(key=lambda item: (-item[0], item[1]))
    return Suggestion(
        Profile(
            template="payload" if 2 * with_payload >= traces else "none",
            refusal=tuple(phrase for _, phrase in seen[:_OFFERED]) or profile.refusal,
        ),
        f"none of {traces} answers follows the template {profile.template!r}, so every label says "
        '"template/citations violated"',
    )
