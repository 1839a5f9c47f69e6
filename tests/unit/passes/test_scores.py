"""Scores of other tools: read from records, kept in the index, filtered and sorted by."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Json
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.score_conditions import Condition, name_in, number_words, score_columns
from proofspan.store.query.store import Store
from proofspan.traces.records.scores import MOST_NAME, Score, scores_of
from tests.unit.store_workspace import RUN, lines, trace, write_workspace

#: Names that would be markup, SQL, a path or another condition.
HOSTILE = (
    "a=b",
    'say "hi"',
    "<img src=x>",
    "'; DROP TABLE rows; --",
    "../../etc",
    "=",
    "x>=1",
    " padded ",
    "Δ",
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.25, [Score("s", 0.25)]),
        (3, [Score("s", 3.0)]),
        (True, [Score("s", 1.0, "true")]),
        ("good", [Score("s", None, "good")]),
        (
            {"score": 1, "label": "C", "by": "LLM", "explanation": "Why."},
            [Score("s", 1.0, "C", "LLM", "Why.")],
        ),
        ({"label": False}, [Score("s", 0.0, "false")]),
        ({"score": "poor", "reason": "Because."}, [Score("s", None, "poor", "", "Because.")]),
        ([1, {"score": 0, "by": "bob"}], [Score("s", 1.0), Score("s", 0.0, by="bob")]),
        (None, []),
        ({}, []),
        ([], []),
        ({"by": "bob"}, []),
        ([[1]], []),
    ],
)
def test_a_score_is_a_number_a_label_or_both(value: Json, expected: list[Score]) -> None:
    assert list(scores_of({"scores": {"s": value}})) == expected


def test_scores_that_are_no_object_are_none() -> None:
    assert [*scores_of({"scores": [0.5, 0.25]}), *scores_of({"scores": "x"}), *scores_of({})] == []


def test_a_name_is_one_line_of_limited_length() -> None:
    first, second, third = scores_of({"scores": {"a\nb": 1, "n" * 300: 2, "\t": 3}})
    assert (first.name, len(second.name), third.name) == ("a b", MOST_NAME, "score")


names = st.one_of(
    st.sampled_from(HOSTILE), st.text(min_size=1, max_size=8).filter(lambda each: each.isprintable())
)


@given(names, st.sampled_from([">=", "<=", ">", "<", "="]), st.sampled_from(["0.5", "-3", "1e-3"]))
def test_a_condition_is_read_as_it_is_written(name: str, operator: str, value: str) -> None:
    condition = Condition(name, operator, value)  # type: ignore[arg-type]
    assert Condition.parse(str(condition)) == condition


@given(names)
def test_columns_of_a_score_are_plain_words(name: str) -> None:
    for column in score_columns(name):
        assert column.isascii()
        assert column.isidentifier()
        assert name_in(column) == name


@pytest.mark.parametrize(
    "text", ["", "a", ">=1", '"a>=1', "a>=", "a>=nan", "a>=x", "a<1e999", f"{'n' * 300}=1"]
)
def test_other_texts_are_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match=r"condition|names no score|no number"):
        Condition.parse(text)


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "0"), (0.21437, "0.214"), (4.5, "4.5"), (1200.0, "1,200"), (1e300, "1e+300")]
)
def test_numbers_are_short(value: float, words: str) -> None:
    assert number_words(value) == words


values = st.one_of(
    st.sampled_from([0, 0.5, 1, 4, -2.25, 1e308, True, False, "yes", "no", "0.5", "x" * 500]),
    st.fixed_dictionaries({"score": st.sampled_from([0, 1, 0.5]), "label": st.sampled_from(["yes", "no"])}),
)
records = st.lists(
    st.dictionaries(
        st.sampled_from(["f", "a=b"]), st.one_of(values, st.lists(values, max_size=3)), max_size=2
    ),
    min_size=1,
    max_size=12,
)
conditions = st.sampled_from(
    ["f>=0.5", "f<1", "f>0", "f<=0.5", "f=yes", "f=true", "f=0.5", "f=", '"a=b"=no', '"a=b">=0', "g=", "g>1"]
)


def keeps(scores: dict[str, Json], asked: tuple[str, ...]) -> bool:
    """Whether the conditions keep a trace, in plain Python."""
    by_name: dict[str, list[Condition]] = {}
    for each in map(Condition.parse, asked):
        by_name.setdefault(each.name, []).append(each)
    for name, parts in by_name.items():
        found = [score for score in scores_of({"scores": scores}) if score.name == name]
        numbers = [score.number for score in found if score.number is not None]
        mean = fmean(number / len(numbers) for number in numbers) * len(numbers) if numbers else None
        labels = {score.label for score in found}
        compared = [
            mean is not None
            and {
                ">=": mean >= float(of),
                "<=": mean <= float(of),
                ">": mean > float(of),
                "<": mean < float(of),
            }[by]
            for _, by, of in parts
            if by != "="
        ]
        wanted = [each.value for each in parts if each.operator == "="]
        either = [
            (value == "" and not found)
            or (value != "" and value in labels)
            or (value == "0.5" and mean == 0.5)
            for value in wanted
        ]
        if not (compared and all(compared)) and not any(either):
            return False
    return True


@settings(deadline=None, max_examples=25)
@given(records, st.lists(conditions, max_size=3, unique=True).map(tuple))
def test_a_filter_keeps_what_plain_python_keeps(
    tmp_path_factory: pytest.TempPathFactory, made: list[dict[str, Json]], asked: tuple[str, ...]
) -> None:
    store = store_of(tmp_path_factory.mktemp("scores"), made)
    page = store.page(Filter(RUN, score=asked), Sort("q_id"), limit=50, offset=0)
    assert list(page["q_id"]) == [f"q{at:02}" for at, scores in enumerate(made) if keeps(scores, asked)]


def store_of(folder: Path, made: list[dict[str, Json]]) -> Store:
    """A store over traces with these scores."""
    rows = [trace(f"q{at:02}", scores=scores) for at, scores in enumerate(made)]
    manifest = write_workspace(folder, {RUN: rows})
    build_index(manifest, cache_dir=folder / "cache")
    return Store(manifest, folder / "cache")


def test_a_list_is_sorted_by_a_score_both_ways_with_those_without_it_last(tmp_path: Path) -> None:
    made: list[dict[str, Json]] = [{"f": 0.5}, {}, {"f": [0, 0.2]}, {"f": "text"}, {"f": 0.9}]
    store = store_of(tmp_path, made)

    def order(by: str, *, descending: bool) -> list[str]:
        found = store.page(Filter(RUN), Sort(by, descending), limit=9, offset=0)
        return [str(q_id) for q_id in found["q_id"]]

    assert order("score:f", descending=False) == ["q02", "q00", "q04", "q03", "q01"]
    assert order("score:f", descending=True) == ["q04", "q00", "q02", "q03", "q01"]
    assert sorted(order("score:nothing", descending=False)) == [f"q0{at}" for at in range(5)]
    with pytest.raises(ValueError, match="score:NAME"):
        Sort("score:")


def test_names_and_labels_are_counted_and_exported(tmp_path: Path) -> None:
    made: list[dict[str, Json]] = [
        {"h": ["yes", "no"], "f": 0.5},
        {"h": "yes"},
        {"f": 0.25},
        dict.fromkeys(HOSTILE, 1),
    ]
    store = store_of(tmp_path, made)
    first, second, *others = store.score_names(RUN)
    assert (first.name, first.traces, first.lowest, first.highest, first.is_ranged) == (
        "f",
        2,
        0.25,
        0.5,
        True,
    )
    assert (second.name, second.labels, second.is_ranged) == ("h", 2, False)
    assert {each.name for each in others} == {name.strip() for name in HOSTILE}
    assert store.score_counts(Filter(RUN, score=("h=no", "f>=0")), "h") == {"no": 1, "yes": 1, "": 1}
    (frame,) = store.rows(Filter(RUN), Sort("q_id"), scores=("h", "f", "'; DROP TABLE rows; --"))
    assert list(frame["score:f"]) == [0.5, None, 0.25, None]
    assert list(frame["score_label:h"]) == [["yes", "no"], ["yes"], None, None]
    assert list(frame["score:'; DROP TABLE rows; --"]) == [None, None, None, 1.0]


def test_ten_thousand_names_are_kept(tmp_path: Path) -> None:
    store = store_of(tmp_path, [{f"n{at}": at for at in range(10_000)}, {}])
    assert len(store.score_names(RUN)) == 10_000
    assert store.matching(Filter(RUN, score=("n9999>=9999",))) == 1


def test_a_segment_without_scores_has_no_file_and_merged_tails_keep_theirs(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("q0")]})
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert not [*(tmp_path / "cache").rglob("*.scores.parquet")]
    file = tmp_path / "runs" / f"{RUN}.jsonl"
    for at in range(1, 12):  # a file that grows leaves many small segments, which are merged
        with file.open("ab") as target:
            target.write(lines([trace(f"q{at}", scores={"f": at})]))
        build_index(manifest, cache_dir=tmp_path / "cache")
    store = Store(manifest, tmp_path / "cache")
    assert store.matching(Filter(RUN, score=("f>=3", "f<=10"))) == 8
    page = store.page(Filter(RUN, score=("f=11",)), Sort(), limit=5, offset=0, scores=("f",))
    assert list(zip(page["q_id"], page["score:f"], strict=True)) == [("q11", 11.0)]
