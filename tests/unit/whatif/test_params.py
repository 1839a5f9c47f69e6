"""Settings as text: what is written is read again, and what cannot be used is named with its range."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as limited
from hypothesis import strategies as st

from proofspan.diagnosis.types import Profile
from proofspan.services.whatif.params import params_of, settings_of, values_of
from proofspan.services.whatif.types import Settings

NAMES = st.text(min_size=1, max_size=8)
WEIGHTS = st.dictionaries(NAMES, st.floats(0, 1000), max_size=3).map(lambda found: tuple(found.items()))
COUNTS = st.none() | st.integers(1, 100_000)
PHRASES = st.lists(st.text("abc ", min_size=1).map(str.strip).filter(bool), unique=True, max_size=2).map(
    tuple
)


@limited(max_examples=40)
@given(
    st.builds(
        Settings,
        k=st.none() | st.floats(0, 100_000, exclude_min=True),
        weights=WEIGHTS,
        depth=COUNTS,
        top=COUNTS,
        ties=st.sampled_from([None, "section", "chunk", "logged"]),
        rerank=WEIGHTS,
        prompt=COUNTS,
        profile=st.none() | st.builds(Profile, st.sampled_from(["seed", "payload", "none"]), PHRASES),
        support=st.none() | st.floats(0, 1),
    )
)
def test_settings_are_read_as_they_are_written(settings: Settings) -> None:
    assert settings_of(params_of(settings)) == (settings, ())


def test_a_reranker_that_is_left_out_is_one_word() -> None:
    settings = Settings(is_unranked=True)
    assert params_of(settings) == {"rerank": ("off",)}
    assert settings_of({"rerank": ["off"]}) == (settings, ())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("k", text) for text in ("0", "-1", "nan", "inf", "1e9", "ten", "")),
        *(("weight", text) for text in ("bm25", "bm25:", ":1", "bm25:-1", "bm25:nan", "bm25:1e9")),
        *(("top", text) for text in ("0", "2.5", "x")),
        ("ties", "random"),
        ("rerank", "ce:x"),
        ("prompt", "0"),
        ("template", "other"),
        ("support", "1.5"),
    ],
)
def test_what_cannot_be_used_is_named_and_left_as_logged(name: str, text: str) -> None:
    settings, notes = settings_of({name: [text], "unknown": ["x"]})
    assert settings == Settings()
    assert len(notes) == 1 and notes[0].startswith(f"{name}={text} is not used: give ")


def test_the_last_text_of_a_name_counts_and_lists_with_colons_have_weights() -> None:
    settings, notes = settings_of({"k": ["1", "2"], "weight": ["a:b:2", "a:b:3", "c:1"]})
    assert settings == Settings(k=2.0, weights=(("a:b", 3.0), ("c", 1.0))) and not notes


def test_a_template_alone_keeps_the_refusals_of_the_run() -> None:
    own = Profile("payload", ("no idea",))
    assert settings_of({"template": ["none"]}, own=own)[0].profile == Profile("none", ("no idea",))
    assert settings_of({"refusal": [""]}, own=own)[0].profile == Profile("payload", ())


def test_values_of_a_sweep_count_once() -> None:
    assert values_of("1, 10,10,60", "k") == ((1.0, 10.0, 60.0), ())
    values, notes = values_of("1,0,x", "top")
    assert values == (1.0,) and len(notes) == 2
