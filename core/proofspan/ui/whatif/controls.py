"""The settings of What-if: each shows what was logged, is marked where it differs, and can be reset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

from proofspan.diagnosis.claims.check import SUPPORTED
from proofspan.diagnosis.types import TEMPLATES, Profile, Template
from proofspan.services.whatif.logged import DEFAULT_K
from proofspan.services.whatif.params import RANGES
from proofspan.services.whatif.types import Logged, LoggedList, Settings, Swept, Weights
from proofspan.ui.whatif.asked import Asked, change_asked, logged_weight
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import feed, select
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.wording.whatif import TIES, number
from proofspan.wording import counted

#: The range of k's slider; larger numbers are typed.
SLIDER_K = 200
#: Lists and scores of which each has a field of its own at once; the others are behind a fold.
MOST_FIELDS = 6
#: CSS pixels of a field of a number.
FIELD = 98

#: The ways to order the fused list.
LOGGED, OFF, ONE, SEVERAL = "logged", "off", "one", "several"


def panel(asked: Asked, logged: Logged, profile: Profile, *, is_reranked: bool, is_checked: bool) -> None:
    """Draw every setting that applies to the run, in groups, and why the other groups are absent.

    `is_reranked` is whether the run logs the order of a reranker, which can then be left out, `is_checked`
    whether the claims of its answers are checked.
    """
    changed = len(asked.changed)
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, gap="small", key="settings-head"
    ):
        markup.titled("Settings ", f"{changed} changed" if changed else "as logged")
        if changed:
            st.button(
                "Reset all",
                key="reset-all",
                type="tertiary",
                on_click=lambda: change_asked(asked.now().change(settings=Settings(), saved="")),
            )
    with st.container(key="whatif-groups"):
        with st.container(key="group-fusion", gap="small"):
            _fusion(asked, logged)
        with st.container(key="group-rerank", gap="small"):
            _rerank(asked, logged, is_reranked=is_reranked)
            _prompt(asked, logged)
        with st.container(key="group-answers", gap="small"):
            _answers(asked, logged, profile)
            _support(asked, logged, is_checked=is_checked)


def _group(title: str, absent: str = "") -> None:
    markup.note(title, "h3", role="heading")
    if absent:
        markup.note(absent, "muted")


@contextmanager
def _setting(name: str, logged: str, reset: Callable[[], Asked] | None) -> Iterator[None]:
    """Draw what is inside, and below it that the setting differs, with its Reset, where `reset` is given."""
    with st.container(key=f"setting-{name}", gap="xxsmall"):
        yield
        if reset is not None:
            with st.container(
                horizontal=True, vertical_alignment="center", wrap=False, gap="small", key=f"changed-{name}"
            ):
                markup.note("● changed", "strong")
                st.button(
                    markup.label(f"Reset to {logged}"),
                    key=f"reset-{name}",
                    type="tertiary",
                    on_click=lambda: change_asked(reset()),
                )


def _reset(asked: Asked, name: str, is_changed: bool) -> Callable[[], Asked] | None:
    return (lambda: asked.now().without(name)) if is_changed else None


def _number(
    key: str,
    words: str,
    value: float,
    *,
    about: str = "",
    tip: str = "",
    spoken: str = "",
    of: Swept,
    step: float = 1,
    on_change: Callable[[float], Asked],
) -> None:
    """Draw a number's title with `about` below it, and its field beside them, in the range of setting `of`.

    `on_change` returns the state with the number.
    """
    within = RANGES[of]
    kind: type[int] | type[float] = int if within.is_whole else float
    least, most = max(within.low, 0.1) if within.is_open else within.low, within.high
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, gap="small", key=f"row-{key}"
    ):
        title = markup.text([Piece(words, tip=tip)], role="line", limit=60)
        markup.show(title, *([markup.text([Piece(about, "muted")], role="hint")] if about else []))
        feed(key, kind(min(max(value, least), most)))
        st.number_input(
            markup.label(spoken or words),
            min_value=kind(least),
            max_value=kind(most),
            step=kind(step),
            format=None if kind is int else "%g",
            key=key,
            label_visibility="collapsed",
            width=FIELD,
            on_change=lambda: change_asked(on_change(st.session_state[key])),
        )


def _about(is_changed: bool, logged: str) -> str:
    return "" if is_changed else f"logged {logged}"


def _fusion(asked: Asked, logged: Logged) -> None:
    own, settings = logged.settings, asked.settings
    if len(logged.lists) < 2:
        _group("Fusion", f"{logged.run_id} does not log two ranked lists, so there is nothing to fuse.")
        return
    _group("Fusion")
    _k(asked, own)
    _folded(logged.lists, "more lists", "weights", lambda place, each: _weight(asked, own, place, each))
    longest = max(each.longest for each in logged.lists)
    ranks: tuple[tuple[Swept, str, str, int | None, str], ...] = (
        (
            "depth",
            "Depth of each list",
            "Ranks of a list beyond it do not count.",
            own.depth,
            f"all {longest:,}",
        ),
        (
            "top",
            "Candidates kept",
            "The first of the fused list; they go on to the reranker.",
            own.top,
            "all",
        ),
    )
    for name, words, tip, usual, unknown in ranks:
        held = getattr(settings, name)
        shown = unknown if usual is None else number(usual)
        with _setting(name, shown, _reset(asked, name, held is not None)):
            _number(
                f"field-{name}",
                words,
                held or usual or longest,
                about=_about(held is not None, shown),
                tip=tip,
                of=name,
                on_change=lambda value, name=name, usual=usual: asked.now().change(  # type: ignore[misc]
                    **{name: None if value == usual else value}
                ),
            )
    with _setting("ties", "logged", _reset(asked, "ties", settings.ties is not None)):
        select(
            "Equal scores",
            {name: f"{words}, logged" if name == own.ties else words for name, words in TIES.items()},
            settings.ties or own.ties or "section",
            key="field-ties",
            shows_words=True,
            on_choose=lambda ties: change_asked(asked.now().change(ties=None if ties == own.ties else ties)),
        )


def _k(asked: Asked, own: Settings) -> None:
    held = asked.settings.k
    k = held if held is not None else own.k if own.k is not None else DEFAULT_K
    shown = "unknown" if own.k is None else number(own.k)

    def change(value: float) -> Asked:
        return asked.now().change(k=None if value == own.k else float(value))

    with _setting("k", shown, _reset(asked, "k", held is not None)):
        _number(
            "field-k",
            "RRF k",
            k,
            about=_about(held is not None, shown),
            tip="Each list adds weight / (k + rank): the larger k, the less the first ranks count.",
            of="k",
            on_change=change,
        )
        feed("slider-k", int(min(max(round(k), 1), SLIDER_K)))
        st.slider(
            f"RRF k from 1 to {SLIDER_K}",
            min_value=1,
            max_value=SLIDER_K,
            key="slider-k",
            label_visibility="collapsed",
            on_change=lambda: change_asked(change(st.session_state["slider-k"])),
        )


def _weight(asked: Asked, own: Settings, place: int, each: LoggedList) -> None:
    weights, usual = dict(asked.settings.weights), logged_weight(own, each.name)
    is_changed = each.name in weights

    def changed(value: float) -> Asked:
        now = asked.now()
        kept = {name: weight for name, weight in now.settings.weights if name != each.name}
        return now.change(weights=tuple((kept if value == usual else kept | {each.name: value}).items()))

    with _setting(f"weight-{place}", number(usual), (lambda: changed(usual)) if is_changed else None):
        _number(
            f"field-weight-{place}",
            f"Weight of {each.name}",
            weights.get(each.name, usual),
            about=_about(is_changed, number(usual)),
            tip=f"In {counted(each.questions, 'question')}, up to {each.longest:,} ranks; 0 leaves it out.",
            of="weight",
            step=0.25,
            on_change=changed,
        )


def _rerank(asked: Asked, logged: Logged, *, is_reranked: bool) -> None:
    settings = asked.settings
    if not logged.features:
        _group("Rerank", f"{logged.run_id} logs no scores of its candidates to order them by.")
        return
    _group("Rerank")
    names = {each.name: each.name for each in logged.features}
    mode = OFF if settings.is_unranked else LOGGED
    if settings.rerank:
        mode = ONE if len(settings.rerank) == 1 else SEVERAL

    def choose(chosen: str) -> None:
        now = asked.now()
        one: Weights = now.settings.rerank[:1] or ((logged.features[0].name, 1.0),)
        rerank: Weights = one if chosen == ONE else ()
        if chosen == SEVERAL:
            rerank = tuple((name, dict(one).get(name, 0.0)) for name in names)
        change_asked(now.change(rerank=rerank, is_unranked=chosen == OFF))

    modes = {LOGGED: "As logged"} | ({OFF: "Off: the fused order"} if is_reranked or mode == OFF else {})
    modes |= {ONE: "By one score"} | ({SEVERAL: "By weighted scores"} if len(names) > 1 else {})
    with _setting("rerank", "logged", _reset(asked, "rerank", mode != LOGGED)):
        select("Order of the candidates", modes, mode, key="field-rerank", shows_words=True, on_choose=choose)
        if mode == ONE:
            select(
                "Score to order by",
                names,
                settings.rerank[0][0],
                key="field-rerank-by",
                shows_words=True,
                on_choose=lambda name: change_asked(asked.now().change(rerank=((name, 1.0),))),
            )
        elif mode == SEVERAL:
            markup.note("Each score is normalised to 0–1 within its question.", "muted")
            _folded(logged.features, "more scores", "scores", lambda place, each: _score(asked, place, each))


def _score(asked: Asked, place: int, each: LoggedList) -> None:
    weights = dict(asked.settings.rerank)

    def changed(value: float) -> Asked:
        now = asked.now()
        return now.change(rerank=tuple((dict(now.settings.rerank) | {each.name: value}).items()))

    _number(
        f"field-score-{place}",
        each.name,
        weights.get(each.name, 0.0),
        tip=f"{number(each.low)} to {number(each.high)} in {counted(each.questions, 'question')}",
        spoken=f"Weight of the score {each.name}",
        of="rerank",
        step=0.25,
        on_change=changed,
    )


def _prompt(asked: Asked, logged: Logged) -> None:
    own, held = logged.settings.prompt, asked.settings.prompt
    _group("Prompt")
    shown = "unknown" if own is None else number(own)
    with _setting("prompt", shown, _reset(asked, "prompt", held is not None)):
        _number(
            "field-prompt",
            "Chunks",
            held or own or 1,
            about=_about(held is not None, shown),
            tip="The first of the last list; causes depend on whether the gold passage is among them.",
            spoken="Chunks in the prompt",
            of="prompt",
            on_change=lambda value: asked.now().change(prompt=None if value == own else value),
        )


def _answers(asked: Asked, logged: Logged, profile: Profile) -> None:
    settings = asked.settings
    _group("Answers")

    def choose(template: Template) -> None:
        chosen = Profile(template, profile.refusal)
        change_asked(asked.now().change(profile=None if chosen == profile else chosen))

    with _setting("profile", profile.template, _reset(asked, "profile", settings.profile is not None)):
        select(
            "Label template",
            {name: f"{name}, logged" if name == profile.template else name for name in TEMPLATES},
            (settings.profile or profile).template,
            key="field-profile",
            shows_words=True,
            on_choose=choose,
        )


def _support(asked: Asked, logged: Logged, *, is_checked: bool) -> None:
    if not is_checked:
        markup.note("The claims of the answers are not checked, so their support cannot be changed.", "muted")
        return
    usual = logged.settings.support if logged.settings.support is not None else SUPPORTED
    held = asked.settings.support
    with _setting("support", number(usual), _reset(asked, "support", held is not None)):
        _number(
            "field-support",
            "Least support",
            held if held is not None else usual,
            about=_about(held is not None, number(usual)),
            tip="A claim with at least this support, 0 to 1, counts as supported.",
            spoken="Least support of a supported claim",
            of="support",
            step=0.02,
            on_change=lambda value: asked.now().change(support=None if value == usual else round(value, 4)),
        )


def _folded(
    found: tuple[LoggedList, ...], title: str, key: str, draw: Callable[[int, LoggedList], None]
) -> None:
    """Draw each, those beyond the first few behind a fold."""
    for place, each in enumerate(found[:MOST_FIELDS]):
        draw(place, each)
    if len(found) > MOST_FIELDS:
        with st.expander(f"{len(found) - MOST_FIELDS:,} {title}", key=f"more-{key}"):
            for place, each in enumerate(found[MOST_FIELDS:], MOST_FIELDS):
                draw(place, each)
