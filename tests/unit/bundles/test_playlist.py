"""The list of a walkthrough: the list's own order, or the order in which questions are named."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import TraceKey
from proofspan.services.bundles.walkthrough import Playlist, Stop
from proofspan.ui.walkthrough.bar import action_from
from proofspan.ui.walkthrough.playlists.playlist import order_from

NAMES = ["Q1", "Q2", "Q2", "Q3"]


def playlist(names: list[str] = NAMES) -> Playlist:
    repeats = [names[:place].count(name) + 1 for place, name in enumerate(names)]
    count = len(names)
    return Playlist.of(
        pd.DataFrame(
            {
                "run_id": ["R1"] * count,
                "q_id": names,
                "paraphrase": [0] * count,
                "seed": [0] * count,
                "repeat": repeats,
                "q": [f"Question {name}?" for name in names],
                "label": [None if name == "Q3" else "ok" for name in names],
                "line": range(1, count + 1),
                "offset": range(0, 10 * count, 10),
                "length": [9] * count,
                "file": ["trace.jsonl"] * count,
            }
        )
    )


def stops_of(stops: Playlist) -> list[Stop]:
    return [stops.at(place) for place in range(len(stops))]


def test_each_stop_knows_its_line_and_its_place() -> None:
    stops = playlist()
    assert [stop.key for stop in stops_of(stops)] == [
        TraceKey("R1", "Q1"),
        TraceKey("R1", "Q2"),
        TraceKey("R1", "Q2", repeat=2),
        TraceKey("R1", "Q3"),
    ]
    assert (stops.at(2).source.line, stops.at(2).source.offset, stops.at(3).is_labelled) == (3, 20, False)
    assert stops.places[TraceKey("R1", "Q2", repeat=2)] == 2
    assert TraceKey("R1", "Q2", repeat=3) not in stops.places
    with pytest.raises(IndexError):
        stops.at(4)


def test_named_questions_come_in_their_order_and_unknown_names_are_reported() -> None:
    named = {
        "Q3": TraceKey("R1", "Q3"),
        "none": TraceKey("R1", "none"),
        "Q2#2": TraceKey("R1", "Q2", repeat=2),
        "Q1": TraceKey("R1", "Q1"),
    }
    picked = playlist().picked(named)
    keys = [stop.key for stop in stops_of(picked)]
    assert [(key.q_id, key.repeat) for key in keys] == [("Q3", 1), ("Q2", 2), ("Q1", 1)]
    assert picked.unknown == ("none",)
    assert [picked.places[key] for key in keys] == [0, 1, 2]


def test_a_choice_of_traces_keeps_the_order_of_the_list() -> None:
    kept = playlist().only({TraceKey("R1", "Q3"), TraceKey("R1", "Q1"), TraceKey("R9", "Q2")})
    assert [stop.key.q_id for stop in stops_of(kept)] == ["Q1", "Q3"]
    assert len(playlist([])) == 0


@given(st.lists(st.sampled_from(["Q1", "Q2", "Q3", "Q4"]), max_size=12))
def test_every_place_leads_back_to_itself(names: list[str]) -> None:
    stops = playlist(names)
    assert [stops.places[stop.key] for stop in stops_of(stops)] == list(range(len(names)))


def test_an_order_is_some_of_the_names_each_once_with_the_number_of_the_move() -> None:
    names = ["Q1", "Q2", "Q3"]
    assert order_from({"names": ["Q3", "Q1"], "moves": 2}, names) == (["Q3", "Q1"], 2)
    for sent in (["Q9"], ["Q1", "Q1"], [], ["Q1", 2], "Q1", None):
        assert order_from({"names": sent, "moves": 1}, names) is None
    for moves in (0, True, "1", None):
        assert order_from({"names": ["Q1"], "moves": moves}, names) is None
    assert order_from(["Q1"], names) is None


def test_what_the_bar_sends_is_what_is_wanted() -> None:
    sent = {"to": 3, "cite": 2, "present": True, "presses": 9}
    assert action_from(sent, 4) == (3, 2, True, 9)
    assert action_from(sent | {"cite": None, "to": -1}, 4) == (-1, None, True, 9)


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.lists(st.integers()),
        st.fixed_dictionaries(
            {
                name: st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3))
                for name in ("to", "cite", "present", "presses")
            }
        ),
    ),
    st.integers(0, 5),
)
def test_whatever_else_a_browser_sends_is_nothing_or_lies_in_the_list(sent: object, total: int) -> None:
    wanted = action_from(sent, total)
    if wanted is not None:
        to, cite, present, presses = wanted
        assert -1 <= to < total
        assert cite is None or cite >= 1
        assert presses >= 0
        assert isinstance(present, bool)
