"""Settings of a what-if as text, alike in addresses and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple, TypeVar, get_args

from proofspan.diagnosis.types import TEMPLATES, Profile
from proofspan.services.whatif.types import Settings, Swept, Ties, Weights

T = TypeVar("T")

#: The names of the settings, in the order in which they are written.
NAMES = ("k", "weight", "depth", "top", "ties", "rerank", "prompt", "template", "refusal", "support")
#: The value of `rerank` that leaves out the reranker's order.
OFF = "off"
TIES: tuple[Ties, ...] = get_args(Ties)
SWEPT: tuple[Swept, ...] = get_args(Swept)


class Range(NamedTuple):
    """The least and largest value of a setting; `is_whole`: whole numbers only, `is_open`: not the least."""

    low: float
    high: float
    is_whole: bool = False
    is_open: bool = False

    def __str__(self) -> str:
        kind = (
            "a whole number from" if self.is_whole else "a number above" if self.is_open else "a number from"
        )
        return f"{kind} {self.low:g} to {self.high:,g}"

    def holds(self, value: float) -> bool:
        """Return whether a value is in the range."""
        is_above = value > self.low if self.is_open else value >= self.low
        return (
            isfinite(value) and is_above and value <= self.high and (not self.is_whole or value == int(value))
        )


_COUNT = Range(1, 100_000, is_whole=True)
RANGES: Mapping[Swept, Range] = {
    "k": Range(0, 100_000, is_open=True),
    "weight": Range(0, 1_000),
    "depth": _COUNT,
    "top": _COUNT,
    "rerank": Range(0, 1_000),
    "prompt": _COUNT,
    "support": Range(0, 1),
}


def settings_of(
    params: Mapping[str, Sequence[str]], *, own: Profile | None = None
) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of texts by name, and a note on each text that cannot be used.

    Names that are no setting are ignored. `own` is the run's profile: a template or refusal phrases alone
    leave the rest of it. A name that may be given once counts by its last text.
    """
    notes: list[str] = []

    def last(name: str, read: Callable[[str], T | None], wanted: object) -> T | None:
        given = params.get(name, ())
        value = read(given[-1]) if given else None
        if given and value is None:
            notes.append(f"{name}={given[-1]} is not used: give {wanted}.")
        return value

    def number(name: Swept) -> float | None:
        return last(name, lambda text: _number(text, RANGES[name]), RANGES[name])

    def whole(name: Swept) -> int | None:
        return None if (value := number(name)) is None else int(value)

    ties: Ties | None = last("ties", lambda text: _one_of(text, TIES), f"one of {', '.join(TIES)}")
    reranks = params.get("rerank", ())
    if is_unranked := OFF in reranks:
        notes += [f"rerank={each} is not used: rerank=off is given too." for each in reranks if each != OFF]
    settings = Settings(
        k=number("k"),
        weights=_weights("weight", params.get("weight", ()), notes),
        depth=whole("depth"),
        top=whole("top"),
        ties=ties,
        rerank=() if is_unranked else _weights("rerank", reranks, notes),
        is_unranked=is_unranked,
        prompt=whole("prompt"),
        profile=_profile(params, own or Profile(), notes),
        support=number("support"),
    )
    return settings, tuple(notes)


def params_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return settings as texts by name, without those that are as logged: `settings_of` reads them."""
    profile = settings.profile
    found: dict[str, Sequence[str]] = {
        "k": _written(settings.k),
        "weight": [f"{name}:{_text(weight)}" for name, weight in settings.weights],
        "depth": _written(settings.depth),
        "top": _written(settings.top),
        "ties": [settings.ties] if settings.ties else [],
        "rerank": [OFF] if settings.is_unranked else [f"{name}:{_text(of)}" for name, of in settings.rerank],
        "prompt": _written(settings.prompt),
        "template": [profile.template] if profile else [],
        "refusal": (list(profile.refusal) or [""]) if profile else [],
        "support": _written(settings.support),
    }
    return {name: tuple(texts) for name, texts in found.items() if texts}


def values_of(text: str, swept: Swept) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return the distinct values of a list `1,5,10` in their order, and a note on each other."""
    values: dict[float, None] = {}
    notes = []
    for part in filter(None, map(str.strip, text.split(","))):
        value = _number(part, RANGES[swept])
        if value is None:
            notes.append(f"{swept}={part} is not used: give {RANGES[swept]}.")
        else:
            values[value] = None
    return tuple(values), tuple(notes)


def _weights(name: Swept, texts: Sequence[str], notes: list[str]) -> Weights:
    found: dict[str, float] = {}
    for text in texts:
        of, sign, value = text.rpartition(":")
        weight = _number(value, RANGES[name]) if sign else None
        if weight is None or not of:
            notes.append(f"{name}={text} is not used: give NAME:WEIGHT with {RANGES[name]}, as bm25:1.5.")
        else:
            found[of] = weight
    return tuple(found.items())


def _profile(params: Mapping[str, Sequence[str]], own: Profile, notes: list[str]) -> Profile | None:
    if "template" not in params and "refusal" not in params:
        return None
    template, refusal = own.template, own.refusal
    if given := params.get("template", ()):
        if (named := _one_of(given[-1], TEMPLATES)) is not None:
            template = named
        else:
            notes.append(f"template={given[-1]} is not used: give one of {', '.join(TEMPLATES)}.")
            if "refusal" not in params:
                return None
    if "refusal" in params:
        refusal = tuple(dict.fromkeys(filter(None, map(str.strip, params["refusal"]))))
    return Profile(template, refusal)


def _one_of(text: str, known: Sequence[T]) -> T | None:
    return next((each for each in known if each == text), None)


def _number(text: str, within: Range) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if within.holds(value) else None


def _written(value: float | None) -> list[str]:
    return [] if value is None else [_text(value)]


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
