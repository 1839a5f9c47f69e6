"""Reading a triage profile from a manifest or a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from proofspan.diagnosis.types import Profile, Template
from proofspan.errors import InputFault, Problem

TEMPLATES: tuple[Template, ...] = get_args(Template)
_KEYS = frozenset({"template", "refusal"})


def profile_from(mapping: Mapping[str, Any], *, where: str = "triage") -> Profile:
    """The profile that a manifest's `triage` mapping describes; what it leaves out is the reference's.

    `refusal` may be one phrase or a list. Phrases are kept as written and compared in lower case. Raises
    `InputFault` with one problem for each thing that cannot be used.
    """
    problems = [
        Problem(
            "unknown_key",
            f"{key!r} is not a key of a triage profile",
            f"{where}.{key}",
            "use `template` and `refusal`",
        )
        for key in sorted(map(str, mapping.keys() - _KEYS))
    ]
    defaults = Profile()
    template = mapping.get("template", defaults.template)
    if template not in TEMPLATES:
        problems.append(
            Problem(
                "unknown_template",
                f"the template {template!r} is not known",
                f"{where}.template",
                f"use one of {', '.join(TEMPLATES)}",
            )
        )
    refusal = _phrases(mapping.get("refusal", defaults.refusal), f"{where}.refusal", problems)
    if problems:
        raise InputFault(*problems)
    return Profile(template=template, refusal=refusal)


def _phrases(value: object, where: str, problems: list[Problem]) -> tuple[str, ...]:
    """Refusal phrases in order, each once; what is no phrase is added to `problems`."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(
        isinstance(item, str) and item.strip() for item in given
    ):
        remedy = "give a phrase or a list of phrases, such as [not in context]"
        problems.append(Problem("bad_refusal", "refusal holds something that is no phrase", where, remedy))
        return ()
    return tuple(dict.fromkeys(given))
