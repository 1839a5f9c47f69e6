"""Settings, sweep and list of What-if as the address holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Any, cast

from proofspan.services.whatif.params import RANGES, SWEPT, params_of, settings_of
from proofspan.services.whatif.types import Logged, Settings, Swept
from proofspan.ui.visit.view_state import ViewState, read_view, write_view
from proofspan.ui.wording.whatif import number

#: The names in the address of settings that other pages have other parameters for.
_IN_ADDRESS: Mapping[str, str] = {"template": "relabel", "refusal": "refuse", "support": "least"}
#: The questions that move are listed by one of these, or by one change such as `bucket:hit>score_policy`.
MOVED = ("regressed", "fixed", "cause", "label", "prompt")
_CHANGE = re.compile(r"(?:bucket|label|cause):[a-z_]*>[a-z_]*")
#: What they can be sorted by, besides the order in which they come.
SORTS = ("question", "rank", "bucket", "cause", "label")
_SAME: tuple[object, ...] = (None, (), False)


@dataclass(frozen=True, slots=True)
class Asked:
    """The state of the page. `settings` holds only what differs from the run's own.

    `swept` is the setting of a sweep (None: the page chooses), `of` its list or feature, `low` and `high`
    its range (None: the usual one), `metric` the metric that it draws ("": the usual one). `moved` limits
    the list of questions, `moved_by` is its order with a `-` in front where it is reversed. `saved` is the
    run that was saved last. `notes` say what in the address could not be used. `logged` is what the shown run
    logs.
    """

    logged: Logged
    settings: Settings = field(default_factory=Settings)
    swept: Swept | None = None
    of: str = ""
    low: float | None = None
    high: float | None = None
    metric: str = ""
    moved: str = ""
    moved_by: str = ""
    saved: str = ""
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the names of the settings that differ, in their order; `rerank` where it is switched off."""
        names = {"is_unranked": "rerank"}
        found = (part.name for part in fields(Settings) if getattr(self.settings, part.name) not in _SAME)
        return tuple(dict.fromkeys(names.get(name, name) for name in found))

    def params(self) -> tuple[tuple[str, str], ...]:
        """Return this state as `ViewState.what_if` holds it."""
        held = params_of(self.settings).items()
        pairs = [(_IN_ADDRESS.get(name, name), text) for name, texts in held for text in texts]
        named = {"sweep": self.swept, "sweep_of": self.of, "metric": self.metric, "moved": self.moved}
        named |= {"moved_by": self.moved_by, "saved": self.saved}
        ends = {"from": self.low, "to": self.high}
        pairs += [(name, number(end)) for name, end in ends.items() if end is not None]
        return (*pairs, *((name, text) for name, text in named.items() if text))

    def now(self) -> Asked:
        """Return the state of the address as it is now; for callbacks, as it may be later than this one."""
        return ask(read_view(), self.logged)

    def change(self, **changes: Any) -> Asked:
        """Return this state with some fields, or settings by their names in `Settings`, changed."""
        own = {part.name for part in fields(Asked)}
        settings = {name: changes.pop(name) for name in list(changes) if name not in own}
        if settings:
            changes |= {"settings": replace(self.settings, **settings), "saved": ""}
        return replace(self, **changes)

    def without(self, name: str) -> Asked:
        """Return this state with one setting as it was logged."""
        none = Settings()
        names = ("rerank", "is_unranked") if name == "rerank" else (name,)
        return self.change(**{each: getattr(none, each) for each in names})


def change_asked(asked: Asked, **changes: Any) -> None:
    """Change the address to this state; as a widget's callback, before the run that shows it.

    `changes` are those of other parts of the address.
    """
    write_view(read_view().change(what_if=asked.params(), at=1, **changes))


def ask(view: ViewState, logged: Logged) -> Asked:
    """Read the page's parameters for a run; a value that cannot be used leaves a note.

    A setting that is the run's own counts as logged.
    """
    given: dict[str, list[str]] = {}
    for name, value in view.what_if:
        given.setdefault(name, []).append(value)
    of_address = {shown: name for name, shown in _IN_ADDRESS.items()}
    params = {of_address.get(name, name): texts for name, texts in given.items()}
    settings, notes = settings_of(params, own=logged.settings.profile)
    reader = _Reader(given, [f"In the address, {_in_address(note)}" for note in notes])
    return Asked(
        logged,
        settings=_known(_changes(settings, logged.settings), logged, reader.notes),
        swept=cast("Swept | None", reader.one_of("sweep", SWEPT) or None),
        of=reader.text("sweep_of"),
        low=reader.number("from"),
        high=reader.number("to"),
        metric=reader.text("metric"),
        moved=value if _CHANGE.fullmatch(value := reader.text("moved")) else reader.one_of("moved", MOVED),
        moved_by=reader.one_of("moved_by", (*SORTS, *(f"-{name}" for name in SORTS))),
        saved=reader.text("saved"),
        notes=tuple(reader.notes),
    )


def _in_address(note: str) -> str:
    """Return a note with the setting by its name in the address."""
    name, sign, rest = note.partition("=")
    return f"{_IN_ADDRESS.get(name, name)}{sign}{rest}"


class _Reader:
    """Values of the page's other parameters; `notes` has one for each that cannot be used."""

    def __init__(self, given: Mapping[str, Sequence[str]], notes: list[str]) -> None:
        self._given, self.notes = given, notes

    def text(self, name: str) -> str:
        return self._given[name][-1] if name in self._given else ""

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        value = self.text(name)
        if value and value not in allowed:
            self._refuse(name, value, f"one of {', '.join(allowed)}")
        return value if value in allowed else ""

    def number(self, name: str) -> float | None:
        value = self.text(name)
        try:
            found = float(value) if value else None
        except ValueError:
            found = -1.0
        if found is not None and not (isfinite(found) and 0 <= found <= RANGES["k"].high):
            self._refuse(name, value, f"a number from 0 to {RANGES['k'].high:,.12g}")
            return None
        return found

    def _refuse(self, name: str, value: str, wanted: str) -> None:
        self.notes.append(f"In the address, {name}={value[:40]} is not used: give {wanted}.")


def _known(settings: Settings, logged: Logged, notes: list[str]) -> Settings:
    """Return the settings without weights of what the run does not log; each leaves a note."""
    kept: dict[str, Any] = {}
    for name, logs in (("weights", logged.lists), ("rerank", logged.features)):
        names, held = [each.name for each in logs], getattr(settings, name)
        kept[name] = tuple(each for each in held if each[0] in names)
        lost = [each[0][:40] for each in held if each[0] not in names]
        notes += [f"{logged.run_id} logs no list or score {each!r}: its weight is left out." for each in lost]
    return replace(settings, **kept)


def _changes(asked: Settings, own: Settings) -> Settings:
    """Return the settings without those that are the run's own."""
    names = ("k", "depth", "top", "ties", "prompt", "profile", "support")
    same: dict[str, Any] = {name: None for name in names if getattr(asked, name) == getattr(own, name)}
    weights = tuple(each for each in asked.weights if each[1] != logged_weight(own, each[0]))
    return replace(asked, weights=weights, **same)


def logged_weight(own: Settings, name: str) -> float:
    """Return the weight of a list in the run's own fusion: 1 where none is logged."""
    return dict(own.weights).get(name, 1.0)
