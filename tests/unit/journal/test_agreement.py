"""Agreement equals that of scikit-learn and of the package krippendorff."""

from __future__ import annotations

import math
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from proofspan.metrics.agreement import Agreement, cohen_kappa, krippendorff_alpha

VALUES = st.sampled_from(["correct", "partly", "wrong", "unknown"])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=60))
def test_kappa_is_scikit_learns(pairs: list[tuple[str, str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = cohen_kappa_score(*zip(*pairs, strict=True))
    ours = cohen_kappa(pairs)
    if ours.value is None:
        assert math.isnan(theirs)
    else:
        assert ours.value == pytest.approx(theirs, abs=1e-9)
        assert ours.low is not None and ours.high is not None
        assert -1 <= ours.low <= ours.high <= 1
    assert (ours.n, ours.same) == (len(pairs), sum(one == other for one, other in pairs))


@given(st.lists(st.lists(st.none() | VALUES, min_size=3, max_size=3), min_size=1, max_size=40))
def test_alpha_is_that_of_krippendorff(rows: list[list[str | None]]) -> None:
    ours = krippendorff_alpha([[value for value in row if value is not None] for row in rows])
    table = np.array([[np.nan if value is None else float(ord(value[0])) for value in row] for row in rows]).T
    if ours.value is not None:
        theirs = krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")
        assert ours.value == pytest.approx(theirs, abs=1e-9)
        assert ours.low is not None and ours.high is not None
        assert ours.low <= ours.high <= 1
    else:
        compared = {value for row in rows if sum(each is not None for each in row) > 1 for value in row}
        assert len(compared - {None}) < 2


def test_intervals_narrow_with_more_answers_and_are_the_same_each_time() -> None:
    few = [("correct", "correct")] * 8 + [("wrong", "wrong")] * 6 + [("correct", "wrong")] * 3
    one, many = cohen_kappa(few), cohen_kappa(few * 20)
    assert one == cohen_kappa(few)
    assert one.value == pytest.approx(many.value)
    assert one.value is not None
    for each in (one, many, krippendorff_alpha(few)):
        assert each.low is not None and each.high is not None and each.value is not None
        assert each.low < each.value < each.high
    assert many.high - many.low < one.high - one.low  # type: ignore[operator]


def test_of_nothing_there_is_no_agreement() -> None:
    assert cohen_kappa([]) == krippendorff_alpha([["wrong"], []]) == Agreement(None, None, None, 0, 0)
    assert cohen_kappa([("ok", "ok")] * 3) == Agreement(None, None, None, 3, 3)
