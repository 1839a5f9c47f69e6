"""Single fields of a mapping: found, absent and unusable differ, and pages state a base."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.traces.importers.counts import FieldCount
from proofspan.traces.importers.field_getters import Kind, getter_from
from proofspan.traces.importers.paths import Place


def _read(kind: Kind, spec: Any, item: object) -> tuple[object, str]:
    count = FieldCount("key")
    value = getter_from("key", kind, spec).read(Place(item, item, 3), {"key": count})
    (state,) = (name for name in ("found", "absent", "unusable") if getattr(count, name))
    return value, state


@pytest.mark.parametrize(
    ("kind", "value", "read", "state"),
    [
        ("name", "Q1", "Q1", "found"),
        ("name", 7, "7", "found"),
        ("name", "", None, "unusable"),
        ("name", True, None, "unusable"),
        ("name", 8.7, None, "unusable"),
        ("text", "", "", "found"),
        ("text", 42, None, "unusable"),
        ("text", None, None, "absent"),
        ("number", 0, 0, "found"),
        ("number", "0.5", 0.5, "found"),
        ("number", "nan", None, "unusable"),
        ("number", False, None, "unusable"),
        ("texts", ["a", 2], ["a", "2"], "found"),
        ("texts", "a", ["a"], "found"),
        ("texts", ["a", None], None, "unusable"),
        ("any", {"x": []}, {"x": []}, "found"),
        ("any", False, False, "found"),
    ],
)
def test_a_value_is_read_as_its_kind(kind: Kind, value: object, read: object, state: str) -> None:
    assert _read(kind, "v", {"v": value}) == (read, state)


def test_what_is_not_there_is_absent() -> None:
    assert _read("text", "v", {}) == (None, "absent")


@pytest.mark.parametrize(
    ("base", "page", "page_idx"),
    [
        ("0", 0, 0),
        ("0", 127, 127),
        ("1", 1, 0),
        ("1", "12", 11),
        ("1", 12.0, 11),
        ("1", 0, None),
        ("0", -1, None),
        ("0", 1.5, None),
        ("0", "iv", None),
    ],
)
def test_a_page_becomes_zero_based_by_the_base_that_is_stated(
    base: str, page: object, page_idx: int | None
) -> None:
    assert _read("page", {"path": "p", "base": base}, {"p": page})[0] == page_idx


def test_a_pattern_takes_the_page_out_of_words_and_counts_where_it_does_not_match() -> None:
    spec = {"path": "p", "regex": r"Page (\d+)", "base": "0"}
    assert _read("page", spec, {"p": "Page 127 - Fluids"}) == (127, "found")
    assert _read("page", spec, {"p": "Annex"}) == (None, "unusable")
    assert _read("page", spec, {"p": ["Page 1"]}) == (None, "unusable")
    assert _read("page", spec, {}) == (None, "absent")


def test_a_constant_needs_no_record() -> None:
    assert _read("name", {"const": "manual"}, None) == ("manual", "found")


def test_several_values_are_only_for_fields_that_hold_several() -> None:
    assert _read("texts", "v[].s", {"v": [{"s": "4.2"}, {"s": None}, {"s": "4.3"}]}) == (
        ["4.2", "4.3"],
        "found",
    )
    with pytest.raises(ValueError, match="each"):
        getter_from("key", "text", "v[].s")


def test_the_first_unusable_line_is_remembered() -> None:
    count = FieldCount("key")
    getter = getter_from("key", "number", "v")
    for line, value in ((1, 1), (2, "x"), (3, "y")):
        getter.read(Place({"v": value}, None, line), {"key": count})
    assert count == FieldCount("key", found=1, unusable=2, first_unusable=2)
