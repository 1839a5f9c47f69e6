"""The URL is the state: which run, which filter, which question, which page of the table.

One frozen value is read from the URL at the start of every script run and written back as a whole. Widgets
show it and change it; nothing else remembers a choice, so a shared link shows what its sender saw.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, cast, get_args
from urllib.parse import urlencode

from proofspan.contracts.records.names import parse_question_name as parse_question_name
from proofspan.contracts.records.names import question_name as question_name
from proofspan.contracts.records.records import LABELS, StageName, TraceKey
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.types import Profile, Template
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.evidence.bundles import LEVELS, Level
from proofspan.journal.sprint import ENTRY_KINDS, PackageStatus
from proofspan.metrics.ranked import BUCKETS
from proofspan.services.metrics.cohorts import RankOrder
from proofspan.services.opening.place import KEY_CHARS
from proofspan.store.files.checked import CLAIM_STATUSES, DIFFERENCE_KINDS
from proofspan.store.files.evidence_states import EVIDENCE_STATES
from proofspan.store.query.filters import FLIPS, REVIEWS, SORT_KEYS, Filter, Sort, support_bounds
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.metrics import Slice
from proofspan.store.query.score_conditions import Condition, conditions_by_name, is_name
from proofspan.ui.visit import query_params

#: Longer values are not our ids; they would only make links that mail programs cut.
MAX_CHARS = 1_000
MAX_REPEATS = 100
#: Pages, ranks and citations beyond this are typing mistakes (and would overflow a 32-bit OFFSET).
MAX_NUMBER = 1_000_000_000

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_INTEGER = re.compile(r"[0-9]{1,10}")
_KEY = re.compile(f"[0-9a-f]{{{KEY_CHARS}}}")
_SPEAKER = re.compile(r"[0-9a-z]{1,40}")
#: Columns of the Triage table besides those that it always shows, in their order.
OPTIONAL_COLUMNS = (
    *("reviewed", "label", "why", "issues", "support", "contradictions", "numbers", "coverage"),
    *("cited", "gold_rank", "rules"),
)
#: What names the place that is shown.
_PLACE_NAMES = frozenset({"q", "p", "s", "cite", "chunk", "at_claim", "page"})
#: A change of one of these leaves the chosen claim.
_LEAVES_CLAIM = _PLACE_NAMES - {"page"}
_SORT_NAMES = {"sort": "by", "desc": "descending"}
_FILTER_NAMES = tuple(part.name for part in fields(Filter))
#: A playlist survives a change of these.
_RUN_NAMES = {"run", "vs"}
#: Parameters that What-if alone reads, in the order of an address (`proofspan.ui.whatif.asked`).
WHAT_IF_NAMES = (
    *("k", "weight", "depth", "top", "ties", "rerank", "prompt", "relabel", "refuse", "least"),
    *("sweep", "sweep_of", "from", "to", "metric", "moved", "moved_by", "saved"),
)

Params = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ViewState:
    """The state of a page, as the URL holds it.

    `filter.run` is "" until a run is known (`with_run`). `q` names a question as `question_name` writes it,
    `p` and `s` its paraphrase and seed, `cite` a citation's 1-based number, `chunk` a chunk id, `at_claim`
    a claim's 1-based number, `page` a 0-based page_idx, `beside` the gold page beside the cited one,
    `see` an attachment outlined on its page, `stage` the ranked list that is shown,
    `where` the document whose failures are shown, `columns` further columns of the table, `at` its 1-based
    page, `scores` the scores of other tools that are shown as columns. `profile` replaces the manifest's
    (`template=` and `refusal=` in the URL). `ids` is a playlist of questions named like `q`, `name` its
    title, `level` the levels of stored bundles in a playlist; `whole` is the whole list where nothing else
    is chosen, in place of "Best of". `end` is its last slide, `present` shows it without sidebar, and
    `speaker` is the window of the speaker's notes, by the id of the presentation that it follows. On Trends,
    `by` slices the metrics, `order` and `find` sort and search the ranks of questions, `leaf` is their page,
    from 1. On Sprint, `item` is the goal, work package, decision, risk, run or entry that is open, such as
    `decision:D2`; `status` and `stream` keep work packages, `kind`, `author`, `day` and `find` entries, and
    `leaf` is their page. `what_if` holds the parameters of What-if as they are written, a pair for each
    value. `opened` is the key of a workspace that was made of other files and is shown in place of the
    server's own. `notes` lists what in the URL could not be used; it is not part of the state.
    """

    filter: Filter = field(default_factory=lambda: Filter(run=""))
    sort: Sort = field(default_factory=Sort)
    at: int = 1
    q: str | None = None
    p: int = 0
    s: int = 0
    cite: int | None = None
    chunk: str | None = None
    at_claim: int | None = None
    page: int | None = None
    beside: bool = False
    see: str | None = None
    stage: StageName | None = None
    where: str | None = None
    columns: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    profile: Profile | None = None
    ids: tuple[str, ...] = ()
    name: str = ""
    level: tuple[Level, ...] = ()
    whole: bool = False
    end: bool = False
    present: bool = False
    speaker: str | None = None
    by: Slice | None = None
    order: RankOrder | None = None
    find: str = ""
    leaf: int = 1
    item: str | None = None
    status: tuple[str, ...] = ()
    stream: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    author: str | None = None
    day: str | None = None
    what_if: tuple[tuple[str, str], ...] = ()
    opened: str | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def run(self) -> str:
        """Return the run that is shown; "" before one is chosen."""
        return self.filter.run

    @property
    def vs(self) -> str | None:
        """Return the run to compare with, None where none is named."""
        return self.filter.vs or None

    @property
    def shown_scores(self) -> tuple[str, ...]:
        """Return the scores that the list shows: those chosen, filtered by and sorted by, in that order."""
        sorted_by = (self.sort.score,) if self.sort.score else ()
        return tuple(dict.fromkeys((*self.scores, *conditions_by_name(self.filter.score), *sorted_by)))

    @property
    def key(self) -> TraceKey | None:
        """Return the trace that `q`, `p` and `s` name in the shown run, None when no question is open."""
        if self.q is None:
            return None
        q_id, repeat = parse_question_name(self.q)
        return TraceKey(self.run, q_id, self.p, self.s, repeat)

    @classmethod
    def parse(cls, params: Params) -> ViewState:
        """Read a URL. A value that cannot be used falls back to its default and leaves a note."""
        reader = _Reader(params)
        values = {name: param.read(reader, name) for name, param in _PARAMS.items()}
        shown = Filter(**{name: values.pop(name) for name in _FILTER_NAMES})
        sort = Sort(values.pop("sort"), values.pop("desc"))
        template = reader.text("template", allowed=get_args(Template))
        phrases = reader.texts("refusal") or Profile().refusal
        profile = Profile(cast(Template, template), phrases) if template is not None else None
        what_if = tuple((name, value) for name in WHAT_IF_NAMES for value in reader.texts(name))
        named: dict[str, Any] = values | {"profile": profile, "what_if": what_if}
        return cls(filter=shown, sort=sort, **named, notes=tuple(reader.notes))

    def params(self, **changes: Any) -> dict[str, list[str]]:
        """Return the URL parameters of this state with `changes`; defaults are left out."""
        state = self.change(**changes) if changes else self
        sort = {"sort": state.sort.by, "desc": state.sort.descending}
        params: dict[str, list[str]] = {}
        for name, param in _PARAMS.items():
            if name == "ids" and state.profile:
                params |= {"template": [state.profile.template], "refusal": list(state.profile.refusal)}
            held = state.filter if name in _FILTER_NAMES else state
            if written := param.values(sort[name] if name in sort else getattr(held, name)):
                params[name] = written
        for name, value in state.what_if:
            params.setdefault(name, []).append(value)
        return params

    def link(self, page: str, **changes: Any) -> str:
        """Return a relative address of `page` ("" is Triage) that shows this state with `changes`."""
        query = urlencode(self.params(**changes), doseq=True)
        return f"./{page}?{query}" if query else f"./{page}"

    def change(self, **changes: Any) -> ViewState:
        """Return this state with some fields changed; the names are the URL's (`label=`, `sort=`, `at=` …).

        A change of filter or order goes back to the first page of the table, unless `at` is given too; one of
        the filter also leaves a playlist, unless `ids` are given.
        """
        in_filter = {name: changes.pop(name) for name in list(changes) if name in _FILTER_NAMES}
        if "vs" in in_filter:
            in_filter["vs"] = in_filter["vs"] or ""
        in_sort = {_SORT_NAMES[name]: changes.pop(name) for name in _SORT_NAMES if name in changes}
        if (in_filter or in_sort) and "at" not in changes:
            changes["at"] = 1
        if changes.keys() & _PLACE_NAMES and "see" not in changes:
            changes["see"] = None
        if "at_claim" not in changes and (changes.keys() & _LEAVES_CLAIM or "run" in in_filter):
            changes["at_claim"] = None
        if in_filter.keys() - _RUN_NAMES and "ids" not in changes:
            changes |= {"ids": (), "name": "", "end": False}
        shown, sort = replace(self.filter, **in_filter), replace(self.sort, **in_sort)
        return replace(self, filter=shown, sort=sort, **changes)

    def with_nothing_chosen(self) -> ViewState:
        """Return the same workspace and profile with nothing chosen: where links to other lists begin."""
        return ViewState(profile=self.profile, opened=self.opened)

    def with_run(self, runs: Sequence[str], default: str) -> ViewState:
        """Return this state on a run that exists: its own, else `default` with a note."""
        if self.run in runs:
            return self
        notes = self.notes
        if self.run:
            notes += (f'There is no run "{self.run}" in this workspace; showing {default}.',)
        return replace(self, filter=replace(self.filter, run=default), notes=notes)

    def as_list(self) -> ViewState:
        """Return the same list with no question open and no playlist."""
        names = ("cite", "chunk", "at_claim", "page", "see", "stage")
        none: dict[str, Any] = dict.fromkeys(names) | {"beside": False}
        none |= {"ids": (), "name": "", "level": (), "whole": False, "end": False}
        return replace(self, q=None, p=0, s=0, **none, present=False, speaker=None)

    def without_filter(self) -> ViewState:
        """Return the same run, compared with the same run, with every question, from the first page."""
        shown = Filter(run=self.run, vs=self.filter.vs)
        return replace(self, filter=shown, at=1, ids=(), name="", level=(), whole=False, end=False)

    @property
    def is_filtered(self) -> bool:
        """Return whether anything but the run restricts the list."""
        return self.filter.is_narrowed

    @property
    def has_playlist(self) -> bool:
        """Return whether the address chooses the questions of a walkthrough; else the best are shown."""
        return bool(self.ids or self.level or self.whole) or self.is_filtered


def read_view() -> ViewState:
    """Return the state of the page's URL."""
    return _parsed(tuple((name, tuple(values)) for name, values in query_params.read().items()))


@lru_cache(maxsize=256)
def _parsed(params: query_params.Address) -> ViewState:
    return ViewState.parse(dict(params))


#: Parameters that the browser alone reads: the open term of Help, and the step of the tour. Links leave them.
BROWSER_NAMES = ("help", "tour")


def write_view(state: ViewState) -> None:
    """Write `state` to the page's URL in one step; unknown parameters but `BROWSER_NAMES` are removed."""
    asked = query_params.read()
    kept = {name: asked[name] for name in BROWSER_NAMES if name in asked}
    query_params.write({**state.params(), **kept})


def change_view(**changes: Any) -> None:
    """Change the URL; as a widget's callback, before the rerun that shows the new state."""
    write_view(read_view().change(**changes))


def toggle_view(name: str, value: str, **changes: Any) -> None:
    """Add a value to those of a parameter in the URL, or take it away; as a widget's callback.

    Not decided where the widget is drawn: another press may change the URL before this one.
    """
    view = read_view()
    chosen = getattr(view, name)
    kept = tuple(each for each in chosen if each != value)
    write_view(view.change(**{name: kept if value in chosen else (*chosen, value)}, **changes))


class _Reader:
    """Typed values of URL parameters, and a note for each that cannot be used."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self.notes: list[str] = []

    def texts(self, name: str, *, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return all usable values of a repeated parameter, without duplicates, in their order."""
        given = self._params.get(name, ())
        if len(given) > MAX_REPEATS:
            self._note(name, f"is given {len(given)} times", f"the first {MAX_REPEATS} are used")
        return tuple(dict.fromkeys(v for v in given[:MAX_REPEATS] if self._is_usable(name, v, allowed)))

    def text(self, name: str, *, allowed: Sequence[str] | None = None) -> str | None:
        """Return the last value of a parameter, None when absent or empty."""
        given = self._params.get(name, ())
        return given[-1] if given and given[-1] and self._is_usable(name, given[-1], allowed) else None

    def number(self, name: str, *, least: int, fallback: int | None) -> int | None:
        """Return a whole number from `least` to `MAX_NUMBER`."""
        value = self.text(name)
        if value is None:
            return fallback
        if _INTEGER.fullmatch(value) is None or not least <= int(value) <= MAX_NUMBER:
            self.refuse(name, value, f"a whole number from {least} on")
            return fallback
        return int(value)

    def _is_usable(self, name: str, value: str, allowed: Sequence[str] | None) -> bool:
        if len(value) > MAX_CHARS or _CONTROL.search(value):
            self._note(name, f"is longer than {MAX_CHARS} characters or holds control characters")
            return False
        if allowed is not None and value not in allowed:
            self.refuse(name, value, f"one of {', '.join(allowed)}")
            return False
        return True

    def refuse(self, name: str, value: str, expected: str) -> None:
        """Note that a value is not what is expected."""
        self._note(name, f'"{value if len(value) <= 40 else f"{value[:40]}…"}" is not {expected}')

    def _note(self, name: str, what: str, done: str = "left out") -> None:
        self.notes.append(f"In the address, {name} {what}: {done}.")


@dataclass(frozen=True, slots=True)
class _Param:
    """How a parameter of the URL is read, and written: defaults are left out."""

    read: Callable[[_Reader, str], Any]
    values: Callable[[Any], list[str]]


def _text(allowed: Sequence[str] | None = None, default: str | None = "") -> _Param:
    return _Param(
        lambda reader, name: reader.text(name, allowed=allowed) or default,
        lambda value: [] if value in (None, default) else [value],
    )


def _texts(allowed: Sequence[str] | None = None) -> _Param:
    return _Param(lambda reader, name: reader.texts(name, allowed=allowed), list)


def _number(default: int | None = None, *, least: int = 0) -> _Param:
    return _Param(
        lambda reader, name: reader.number(name, least=least, fallback=default),
        lambda value: [] if value == default else [str(value)],
    )


def _either(yes: str, no: str, default: bool | None = None) -> _Param:
    meant = {yes: True, no: False}
    return _Param(
        lambda reader, name: meant.get(reader.text(name, allowed=tuple(meant)) or "", default),
        lambda value: [] if value is default else [yes if value else no],
    )


def _opened(reader: _Reader, name: str) -> str | None:
    value = reader.text(name)
    if value is not None and _KEY.fullmatch(value) is None:
        reader.refuse(name, value, "the key of an opened workspace")
        return None
    return value


def _speaker(reader: _Reader, name: str) -> str | None:
    value = reader.text(name)
    if value is not None and _SPEAKER.fullmatch(value) is None:
        reader.refuse(name, value, "the id of a presentation")
        return None
    return value


def _support(reader: _Reader, name: str) -> str:
    value = reader.text(name) or ""
    try:
        return value if not value or support_bounds(value) else ""
    except ValueError:
        reader.refuse(name, value, "two numbers from 0 to 1 such as 0.25-0.5")
        return ""


def _conditions(reader: _Reader, name: str) -> tuple[str, ...]:
    kept = []
    for text in reader.texts(name):
        try:
            kept.append(str(Condition.parse(text)))
        except ValueError:
            reader.refuse(name, text, "a condition such as faithfulness>=0.5 or helpful=yes")
    return tuple(kept)


def _score_names(reader: _Reader, name: str) -> tuple[str, ...]:
    return tuple(filter(is_name, reader.texts(name)))


def _sort(reader: _Reader, name: str) -> str:
    value = reader.text(name) or Sort().by
    try:
        return Sort(value).by
    except ValueError:
        reader.refuse(name, value, f"one of {', '.join(SORT_KEYS)}, score:NAME")
        return Sort().by


_NAME, _FLAG, _ON = _text(default=None), _either("yes", "no"), _either("yes", "no", False)
#: The parameters in the order of an address: those of `Filter`, of `Sort` (`sort` and `desc`) and the others.
_PARAMS: Mapping[str, _Param] = {
    "opened": _Param(_opened, lambda value: [value] if value else []),
    "run": _text(),
    "q": _NAME,
    "p": _number(0),
    "s": _number(0),
    "cite": _number(least=1),
    "chunk": _NAME,
    "at_claim": _number(least=1),
    "page": _number(),
    "beside": _ON,
    "see": _NAME,
    "stage": _text(get_args(StageName), None),
    "where": _NAME,
    "columns": _texts(OPTIONAL_COLUMNS),
    "scores": _Param(_score_names, list),
    "label": _texts(LABELS),
    "suspicion": _texts(),
    "code": _texts(),
    "doc": _texts(),
    "section": _texts(),
    "gold": _texts(GOLD_STATES),
    "evidence": _texts(EVIDENCE_STATES),
    "about": _texts(),
    "bucket": _texts(BUCKETS),
    "type": _texts(),
    "state": _texts(),
    "was": _texts(LABELS),
    "was_cause": _texts(CAUSES),
    "was_bucket": _texts(BUCKETS),
    "was_correct": _texts(CORRECT),
    "unsupported": _FLAG,
    "claim": _texts(CLAIM_STATUSES),
    "difference": _texts(DIFFERENCE_KINDS),
    "contradictions": _FLAG,
    "cause": _texts(CAUSES),
    "grounded": _texts(GROUNDED),
    "correct": _texts(CORRECT),
    "score": _Param(_conditions, list),
    "support": _Param(_support, lambda value: [value] if value else []),
    "fails": _FLAG,
    "refused": _FLAG,
    "safety": _either("omitted", "complete"),
    "vs": _text(),
    "flip": _text(FLIPS),
    "outcome": _text(tuple(OUTCOMES)),
    "miss": _text(tuple(MISSES)),
    "met": _text(tuple(MISSES)),
    "cohort": _text(),
    "review": _text(tuple(REVIEWS)),
    "reviewer": _text(),
    "assigned": _text(),
    "text": _text(),
    "all_variants": _ON,
    "questions_only": _ON,
    "ids": _texts(),
    "name": _text(),
    "level": _texts(LEVELS),
    "whole": _ON,
    "end": _ON,
    "present": _ON,
    "speaker": _Param(_speaker, lambda value: [value] if value else []),
    "by": _text(get_args(Slice), None),
    "order": _text(get_args(RankOrder), None),
    "find": _text(),
    "leaf": _number(1, least=1),
    "item": _NAME,
    "status": _texts(get_args(PackageStatus)),
    "stream": _texts(),
    "kind": _texts(ENTRY_KINDS),
    "author": _NAME,
    "day": _NAME,
    "sort": _Param(_sort, lambda value: [] if value == Sort().by else [value]),
    "desc": _ON,
    "at": _number(1, least=1),
}
