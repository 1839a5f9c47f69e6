"""Abbreviated hashes: a prefix always agrees, another digit never, and what is too short is not compared."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofspan.contracts.pinning.hashes import FEWEST, SHORTEST, same_hash, same_revision

DIGITS = "0123456789abcdef"
WHOLE = st.text(DIGITS, min_size=64, max_size=64)
#: Hashes, abbreviations and texts that are neither.
ANY = st.one_of(
    st.text(DIGITS, max_size=64),
    st.builds("{}…{}".format, st.text(DIGITS, max_size=9), st.text(DIGITS, max_size=9)),
    st.sampled_from(["", "main", "v1.5", "2f7d...9a", "sha256:6a2c50e3e37cb839", "…", "a…", "none"]),
)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("c5ee24c", "c5ee24cb8f0b7a2f9f3ac1e0d5a2ab2c3f1f7d10", True),
        ("c5ee24c", "c5ee24d", False),
        ("c5ee24", "c5ee24cb", None),
        ("6a2c50e3e37cb839", "6A2C50E3E37CB839", True),
        ("sha256:6a2c50e3e37cb839", "`6a2c50e3e37c`", True),
        ("SHA-256: 6a2c50e", "6a2c50e", True),
        ("2f7d...9a", "2f7d…9a", True),
        ("2f7d...9a", "2f7d" + "0" * 58 + "9a", True),
        ("2f7d...9a", "2f7d" + "0" * 58 + "9b", False),
        ("2f7d...9a", "2f7e…9a", False),
        ("2f7d...9a", "2f7d41c09a", None),  # whether the latter goes on is not known
        ("2f7d41…c09a", "2f7d41c09a", True),
        ("2f7d41c…", "2f7d41c09a", True),
        ("main", "c5ee24c", None),
        ("", "", None),
        ("…", "…", None),
    ],
)
def test_hashes_are_compared_as_far_as_they_are_written(a: str, b: str, same: bool | None) -> None:
    assert same_hash(a, b) is same
    assert same_hash(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("v1.5", "V1.5", True),
        ("v1.5", "v1.6", False),
        ("main", "c5ee24c", None),
        ("c5ee24c", "c5ee24cb", True),
    ],
)
def test_revisions_may_be_names(a: str, b: str, same: bool | None) -> None:
    assert same_revision(a, b) is same_revision(b, a) is same


@given(a=ANY, b=ANY)
def test_it_makes_no_difference_which_comes_first(a: str, b: str) -> None:
    assert same_hash(a, b) is same_hash(b, a)


@given(a=ANY)
def test_nothing_differs_from_itself(a: str) -> None:
    assert same_hash(a, a) is not False


@given(whole=WHOLE, size=st.integers(SHORTEST, 64))
def test_a_prefix_agrees(whole: str, size: int) -> None:
    assert same_hash(whole[:size], whole) is True
    assert same_hash(f"sha256:{whole[:size]}…", whole) is True


@given(whole=WHOLE, head=st.integers(1, 20), tail=st.integers(1, 20))
def test_both_ends_agree(whole: str, head: int, tail: int) -> None:
    assume(head + tail >= FEWEST)
    assert same_hash(f"{whole[:head]}…{whole[-tail:]}", whole) is True
    assert same_hash(f"{whole[:head]}...{whole[-tail:]}", whole) is True


@given(whole=WHOLE, size=st.integers(SHORTEST, 64), data=st.data())
def test_another_digit_never_agrees(whole: str, size: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, size - 1))
    digit = data.draw(st.sampled_from([each for each in DIGITS if each != whole[at]]))
    other = whole[:at] + digit + whole[at + 1 : size]
    assert same_hash(other, whole) is False
    if size == 64:
        assert same_hash(f"{other[:32]}…{other[32:]}", whole) is False
