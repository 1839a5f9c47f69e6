"""The URL is the state: which run, which filter, which question, which page of the table.

One frozen value is read from the URL at the start of every script run and written back as a whole. Widgets
are fed from it and change it; nothing else remembers a choice, so a shared link shows what its sender saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast, get_args
from urllib.parse import urlencode

from proofspan.contracts.records.names import parse_question_name as parse_question_name
from proofspan.contracts.records.names import question_name as question_name
from proofspan.contracts.records.records import LABELS, Label, StageName, TraceKey
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.types import Profile, Template
from proofspan.evidence.bundles import LEVELS, Level
from proofspan.metrics.ranked import Bucket
from proofspan.services.metrics.cohorts import RankOrder
from proofspan.store.files.located import EVIDENCE_STATES, EvidenceState
from proofspan.store.query.filters import FLIPS, SORT_KEYS, Filter, Flip, Sort
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.metrics import Slice
from proofspan.ui.visit import query_params

#: Longer values are no ids of ours; they would only make links that mail programs cut.
MAX_CHARS = 1_000
MAX_REPEATS = 100
#: Pages, ranks and citations beyond this are typing mistakes (and would overflow a 32-bit OFFSET).
MAX_NUMBER = 1_000_000_000

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_INTEGER = re.compile(r"[0-9]{1,10}")
_FLAGS = {"yes": True, "no": False}
_SAFETY = {"omitted": True, "complete": False}
#: What says which place is looked at.
_PLACE_NAMES = frozenset({"q", "p", "s", "cite", "chunk", "page"})
_FILTER_NAMES = tuple(part.name for part in fields(Filter))
#: Those that name runs: a playlist by hand outlives them.
_RUN_NAMES = {"run", "vs"}

Params = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class ViewState:
    """What one person sees, as the URL holds it.

    `filter.run` is "" until a run is known (`with_run`). `q` names a question as `question_name` writes it,
    `p` and `s` its paraphrase and seed, `cite` a citation's 1-based number, `chunk` a chunk id, `page` a
    0-based page_idx, `see` an attachment that is outlined on its page, `stage` the ranked list that is shown,
    `where` the document whose failures are shown, `at` the 1-based page of the table. The other run, `vs`, is
    one of the filter's names, as lists may ask what it had; alone it restricts none.
    `profile` reads the run another way than the manifest says (`template=` and `refusal=` in the URL). `ids`
    is a playlist by hand, of names as `q` has them, and `level` the levels of stored bundles that a playlist
    is made of; `present` shows it without sidebar. On Trends `by` slices the metrics, `order` and `find` sort
    and search the ranks of the questions, `leaf` is the 1-based page of those. `notes` says what in the URL
    could not be used; it is not part of the state.
    """

    filter: Filter = field(default_factory=lambda: Filter(run=""))
    sort: Sort = field(default_factory=Sort)
    at: int = 1
    q: str | None = None
    p: int = 0
    s: int = 0
    cite: int | None = None
    chunk: str | None = None
    page: int | None = None
    see: str | None = None
    stage: StageName | None = None
    where: str | None = None
    profile: Profile | None = None
    ids: tuple[str, ...] = ()
    level: tuple[Level, ...] = ()
    present: bool = False
    by: Slice | None = None
    order: RankOrder | None = None
    find: str = ""
    leaf: int = 1
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def run(self) -> str:
        """The run that is shown; "" before one is chosen."""
        return self.filter.run

    @property
    def vs(self) -> str | None:
        """The run that is compared with; None where none is named."""
        return self.filter.vs or None

    @property
    def key(self) -> TraceKey | None:
        """The trace that `q`, `p` and `s` name in the shown run, or None when no question is open."""
        if self.q is None:
            return None
        q_id, repeat = parse_question_name(self.q)
        return TraceKey(self.run, q_id, self.p, self.s, repeat)

    @classmethod
    def parse(cls, params: Params) -> ViewState:
        """The state of a URL. A value that cannot be used falls back to its default and leaves a note."""
        reader = _Reader(params)
        state = cls(
            filter=Filter(
                run=reader.text("run") or "",
                label=reader.texts("label", allowed=LABELS),
                suspicion=reader.texts("suspicion"),
                code=reader.texts("code"),
                doc=reader.texts("doc"),
                section=reader.texts("section"),
                gold=cast(tuple[GoldState, ...], reader.texts("gold", allowed=GOLD_STATES)),
                evidence=cast(tuple[EvidenceState, ...], reader.texts("evidence", allowed=EVIDENCE_STATES)),
                unsupported=reader.flag("unsupported"),
                safety=reader.choice("safety", _SAFETY),
                about=reader.texts("about"),
                fails=reader.flag("fails"),
                bucket=cast(tuple[Bucket, ...], reader.texts("bucket", allowed=get_args(Bucket))),
                type=reader.texts("type"),
                state=reader.texts("state"),
                refused=reader.flag("refused"),
                miss=reader.text("miss", allowed=tuple(MISSES)) or "",
                met=reader.text("met", allowed=tuple(MISSES)) or "",
                cohort=reader.text("cohort") or "",
                vs=reader.text("vs") or "",
                was=cast(tuple[Label, ...], reader.texts("was", allowed=LABELS)),
                was_bucket=cast(tuple[Bucket, ...], reader.texts("was_bucket", allowed=get_args(Bucket))),
                flip=cast(Flip, reader.text("flip", allowed=FLIPS) or ""),
                outcome=reader.text("outcome", allowed=tuple(OUTCOMES)) or "",
                text=reader.text("text") or "",
                all_variants=reader.flag("all_variants") is True,
                questions_only=reader.flag("questions_only") is True,
            ),
            sort=Sort(
                by=reader.text("sort", allowed=SORT_KEYS) or Sort().by,
                descending=reader.flag("desc") is True,
            ),
            at=reader.number("at", least=1, fallback=1) or 1,
            q=reader.text("q"),
            p=reader.number("p", fallback=0) or 0,
            s=reader.number("s", fallback=0) or 0,
            cite=reader.number("cite", least=1),
            chunk=reader.text("chunk"),
            page=reader.number("page"),
            see=reader.text("see"),
            stage=cast("StageName | None", reader.text("stage", allowed=get_args(StageName))),
            where=reader.text("where"),
            profile=reader.profile(),
            ids=reader.texts("ids"),
            level=cast(tuple[Level, ...], reader.texts("level", allowed=LEVELS)),
            present=reader.flag("present") is True,
            by=cast("Slice | None", reader.text("by", allowed=get_args(Slice))),
            order=cast("RankOrder | None", reader.text("order", allowed=get_args(RankOrder))),
            find=reader.text("find") or "",
            leaf=reader.number("leaf", least=1, fallback=1) or 1,
        )
        return replace(state, notes=tuple(reader.notes))

    def params(self, **changes: Any) -> dict[str, list[str]]:
        """The URL parameters of this state with `changes`; defaults are left out, order is fixed."""
        state = self.change(**changes) if changes else self
        pairs = _pairs(state)
        return {name: values for name, values in pairs if values}

    def link(self, page: str, **changes: Any) -> str:
        """A relative address of `page` ("" is Triage) that shows this state with `changes`."""
        query = urlencode(self.params(**changes), doseq=True)
        return f"./{page}?{query}" if query else f"./{page}"

    def change(self, **changes: Any) -> ViewState:
        """This state with some fields changed; the names are the URL's (`label=`, `sort=`, `at=` …).

        A change of filter or order goes back to the first page of the table, unless `at` is given too; one of
        the filter also leaves a playlist by hand, unless `ids` are given.
        """
        in_filter = {name: changes.pop(name) for name in list(changes) if name in _FILTER_NAMES}
        if "vs" in in_filter:
            in_filter["vs"] = in_filter["vs"] or ""
        in_sort = {
            to: changes.pop(name) for name, to in (("sort", "by"), ("desc", "descending")) if name in changes
        }
        if (in_filter or in_sort) and "at" not in changes:
            changes["at"] = 1
        if changes.keys() & _PLACE_NAMES and "see" not in changes:
            changes["see"] = None
        if in_filter.keys() - _RUN_NAMES and "ids" not in changes:
            changes["ids"] = ()
        return replace(
            self,
            filter=replace(self.filter, **in_filter),
            sort=replace(self.sort, **in_sort),
            **changes,
        )

    def with_run(self, runs: Sequence[str], default: str) -> ViewState:
        """This state on a run that exists: its own, else `default` with a note."""
        if self.run in runs:
            return self
        notes = self.notes
        if self.run:
            notes += (f'There is no run "{self.run}" in this workspace; showing {default}.',)
        return replace(self, filter=replace(self.filter, run=default), notes=notes)

    def as_list(self) -> ViewState:
        """The same list with no question open, neither in a playlist."""
        none: dict[str, Any] = {"cite": None, "chunk": None, "page": None, "see": None, "stage": None}
        return replace(self, q=None, p=0, s=0, **none, ids=(), level=(), present=False)

    def without_filter(self) -> ViewState:
        """The same run, and what it is compared with, with every question shown, from the first page on."""
        return replace(self, filter=Filter(run=self.run, vs=self.filter.vs), at=1, ids=(), level=())

    @property
    def is_filtered(self) -> bool:
        """Whether anything but the run restricts the list."""
        return self.filter.is_narrowed


def read_view() -> ViewState:
    """The state of the page's own URL."""
    return ViewState.parse(query_params.read())


def write_view(state: ViewState) -> None:
    """Make the page's URL say `state`, in one step; unknown parameters go."""
    query_params.write(state.params())


def change_view(**changes: Any) -> None:
    """A widget's callback: the URL says where to go, the rerun goes there."""
    write_view(read_view().change(**changes))


def _pairs(state: ViewState) -> Iterable[tuple[str, list[str]]]:
    shown = state.filter
    yield "run", [shown.run] if shown.run else []
    yield "q", [state.q] if state.q is not None else []
    for name, number in (("p", state.p), ("s", state.s)):
        yield name, [str(number)] if number else []
    for name in ("cite", "chunk", "page", "see", "stage", "where"):
        value = getattr(state, name)
        yield name, [str(value)] if value is not None else []
    for name, values in (
        ("label", shown.label),
        ("suspicion", shown.suspicion),
        ("code", shown.code),
        ("doc", shown.doc),
        ("section", shown.section),
        ("gold", shown.gold),
        ("evidence", shown.evidence),
        ("about", shown.about),
        ("bucket", shown.bucket),
        ("type", shown.type),
        ("state", shown.state),
        ("was", shown.was),
        ("was_bucket", shown.was_bucket),
    ):
        yield name, list(values)
    for name, flag in (
        ("unsupported", shown.unsupported),
        ("fails", shown.fails),
        ("refused", shown.refused),
    ):
        yield name, [] if flag is None else ["yes" if flag else "no"]
    yield "safety", [word for word, value in _SAFETY.items() if value is shown.safety]
    for name in ("vs", "flip", "outcome", "miss", "met", "cohort", "text"):
        value = getattr(shown, name)
        yield name, [value] if value else []
    yield "all_variants", ["yes"] if shown.all_variants else []
    yield "questions_only", ["yes"] if shown.questions_only else []
    yield "template", [state.profile.template] if state.profile else []
    yield "refusal", list(state.profile.refusal) if state.profile else []
    yield "ids", list(state.ids)
    yield "level", list(state.level)
    yield "present", ["yes"] if state.present else []
    for name in ("by", "order", "find"):
        yield name, [value] if (value := getattr(state, name)) else []
    yield "leaf", [str(state.leaf)] if state.leaf != 1 else []
    yield "sort", [state.sort.by] if state.sort.by != Sort().by else []
    yield "desc", ["yes"] if state.sort.descending else []
    yield "at", [str(state.at)] if state.at != 1 else []


class _Reader:
    """Takes typed values out of URL parameters and collects a note for each that cannot be used."""

    def __init__(self, params: Params) -> None:
        self._params = params
        self.notes: list[str] = []

    def texts(self, name: str, *, allowed: Sequence[str] | None = None) -> tuple[str, ...]:
        """All usable values of a repeated parameter, without doubles, in their order."""
        given = self._params.get(name, ())
        if len(given) > MAX_REPEATS:
            self._note(name, f"is given {len(given)} times", f"the first {MAX_REPEATS} are used")
        return tuple(dict.fromkeys(v for v in given[:MAX_REPEATS] if self._is_usable(name, v, allowed)))

    def text(self, name: str, *, allowed: Sequence[str] | None = None) -> str | None:
        """The last value of a parameter, as a browser's form would have it; None when absent or empty."""
        given = self._params.get(name, ())
        if not given or not given[-1] or not self._is_usable(name, given[-1], allowed):
            return None
        return given[-1]

    def number(self, name: str, *, least: int = 0, fallback: int | None = None) -> int | None:
        """A whole number from `least` to `MAX_NUMBER`."""
        value = self.text(name)
        if value is None:
            return fallback
        if _INTEGER.fullmatch(value) is None or not least <= int(value) <= MAX_NUMBER:
            self._note(name, f'"{_shortened(value)}" is not a whole number from {least} on', "left out")
            return fallback
        return int(value)

    def flag(self, name: str) -> bool | None:
        """`yes` or `no`."""
        return self.choice(name, _FLAGS)

    def choice(self, name: str, meant: Mapping[str, bool]) -> bool | None:
        """What the one or the other word means."""
        value = self.text(name, allowed=tuple(meant))
        return None if value is None else meant[value]

    def profile(self) -> Profile | None:
        """The profile that the URL asks for instead of the manifest's; without phrases, the defaults."""
        template = self.text("template", allowed=get_args(Template))
        if template is None:
            return None
        return Profile(cast(Template, template), self.texts("refusal") or Profile().refusal)

    def _is_usable(self, name: str, value: str, allowed: Sequence[str] | None) -> bool:
        if len(value) > MAX_CHARS or _CONTROL.search(value):
            self._note(name, f"is longer than {MAX_CHARS} characters or holds control characters", "left out")
            return False
        if allowed is not None and value not in allowed:
            choices = ", ".join(allowed)
            self._note(name, f'"{_shortened(value)}" is none of {choices}', "left out")
            return False
        return True

    def _note(self, name: str, what: str, done: str) -> None:
        self.notes.append(f"In the address, {name} {what}: {done}.")


def _shortened(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:40]}…"
