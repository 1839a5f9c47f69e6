"""Words for the settings of a what-if."""

from __future__ import annotations

import re
from typing import NamedTuple

from proofspan.services.whatif.types import Logged, Settings, Ties

TIES: dict[Ties, str] = {
    "section": "by section and chunk",
    "chunk": "by chunk id",
    "logged": "in the logged order",
}
#: The most settings that a run id names, and the most characters of a name in it.
_MOST_NAMED, _MOST_CHARS = 4, 16


class Changed(NamedTuple):
    """A setting that differs: its title, the logged value in words ("": none), the new one, and in short."""

    title: str
    was: str
    now: str
    short: str


def number(value: float) -> str:
    """Return a number as short as it can be written: `60`, `0.25`."""
    return f"{value:.12g}"


def changed(settings: Settings, logged: Logged) -> tuple[Changed, ...]:
    """Return the settings that differ from the logged ones, in their order."""
    own, found = logged.settings, list[Changed]()

    def differs(title: str, was: float | None, now: float | None, short: str) -> None:
        if now is not None:
            logged_words = "unknown" if was is None else number(was)
            found.append(Changed(title, logged_words, number(now), f"{short}{number(now)}"))

    differs("RRF k", own.k, settings.k, "k")
    weights = dict(own.weights)
    for name, weight in settings.weights:
        differs(f"Weight of {name}", weights.get(name, 1.0), weight, f"{name}")
    differs("Depth of each list", own.depth, settings.depth, "depth")
    differs("Candidates kept", own.top, settings.top, "top")
    if settings.ties:
        was = TIES[own.ties] if own.ties else "unknown"
        found.append(Changed("Equal scores", was, TIES[settings.ties], f"ties-{settings.ties}"))
    if settings.is_unranked:
        found.append(Changed("Rerank", "", "off", "fused"))
    elif settings.rerank:
        is_one = len(settings.rerank) == 1
        by = [
            name if is_one else f"{number(weight)} {name}"
            for name, weight in settings.rerank
            if weight or is_one
        ]
        found.append(Changed("Rerank", "", f"by {' + '.join(by) or 'nothing'}", f"by-{'-'.join(by)}"))
    differs("Chunks in the prompt", own.prompt, settings.prompt, "prompt")
    if settings.profile:
        was = own.profile.describe() if own.profile else "unknown"
        found.append(Changed("Labels", was, settings.profile.describe(), settings.profile.template))
    differs("Least support", own.support, settings.support, "support")
    return tuple(found)


def in_words(settings: Settings, logged: Logged, *, with_logged: bool = True) -> str:
    """Return `RRF k 10 (logged 60), weight of dense 2 (logged 1)`; "" where nothing differs.

    Without `with_logged` the logged values are left out.
    """
    words: list[str] = []
    for each in changed(settings, logged):
        title = each.title if each.title.startswith("RRF") else each.title[0].lower() + each.title[1:]
        words.append(f"{title} {each.now}" + (f" (logged {each.was})" if each.was and with_logged else ""))
    return ", ".join(words)


def title_of(settings: Settings, logged: Logged) -> str:
    """Return a title for a run with these settings: `R003 with RRF k 10, weight of dense 2`."""
    return f"{logged.run_id} with {in_words(settings, logged, with_logged=False)}"


def suggested_id(settings: Settings, logged: Logged) -> str:
    """Return a run id that names the settings, such as `R003-k10`."""
    shorts = [re.sub(r"[^A-Za-z0-9.]+", "-", each.short) for each in changed(settings, logged)]
    parts = [short[:_MOST_CHARS].strip("-.") for short in shorts]
    base = re.sub(r"[^A-Za-z0-9._+-]+", "-", logged.run_id).strip("-._+") or "run"
    return "-".join(
        [base[:60], *filter(None, parts[:_MOST_NAMED]), *(["more"] if parts[_MOST_NAMED:] else [])]
    )
