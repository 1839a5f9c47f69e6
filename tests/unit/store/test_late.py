"""Rules that compare a trace with its run: another memory, another unit, another's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile
from proofspan.store.files.columns import SEVERAL, answer_print, memory_state, offset_unit
from proofspan.store.files.marks import summed
from proofspan.store.index.build import MANY_TAILS, build_index
from proofspan.store.index.run_rules import unlike_most
from proofspan.traces.records.trace_record import trace_from
from tests.unit.store_workspace import CHUNKS, RUN, append, lines, table_of, trace, write_workspace

LATE = {"memory_desync", "mixed_offset_units", "answer_repeated", "duplicate_question"}
OTHER = "Check the coolant every week.\ncitations: [c2]"
#: An answer that no question of `trace` shares.
UNLIKE = "Torque the bolts to 30 Nm, number {}.\ncitations: [c1]"


def late(folder: Path, records: list[dict[str, object]], cache: Path) -> list[set[str]]:
    """The late codes of each row of a run of these records, built at once."""
    manifest = write_workspace(folder, {RUN: records})
    build_index(manifest, cache_dir=cache)
    return [late_of(row) for row in table_of(manifest, RUN, cache)]


def late_of(row: Mapping[str, object]) -> set[str]:
    """The late codes of an index row."""
    codes = row["codes"]
    assert isinstance(codes, list)
    return LATE.intersection(codes)


def answered(number: int, **more: object) -> dict[str, object]:
    """A trace with an answer of its own."""
    return trace(f"Q{number}", **{"answer": UNLIKE.format(number)} | more)


def asked(q_id: str, **more: object) -> dict[str, object]:
    """A trace with a question of its own and the answer of all others."""
    return trace(q_id, **{"q": f"What is the oil for, {q_id}?"} | more)


def cited(*units: str | None) -> list[dict[str, object]]:
    """A payload with an entry in each unit; None states none."""
    named = [{} if unit is None else {"unit": unit} for unit in units]
    return [{"snippet_id": "c1", "offsets": {"start": 1, "end": 9} | each} for each in named]


def test_a_row_of_another_state_of_memory_is_one_of_a_desync(tmp_path: Path, cache: Path) -> None:
    states = [("r1", "a"), ("r1", "a"), ("r2", "a"), ("r1", "b"), (None, None)]
    records = [answered(place, mem_rev=rev, mem_hash=digest) for place, (rev, digest) in enumerate(states)]
    found = late(tmp_path, records, cache)
    assert found == [set(), set(), {"memory_desync"}, {"memory_desync"}, set()]


def test_a_state_of_memory_without_one_of_its_two_names_is_no_other_state(
    tmp_path: Path, cache: Path
) -> None:
    states = [("r1", "a"), ("r1", None), (None, "a"), ("r1", "a"), ("r2", None), (None, "b")]
    records = [answered(place, mem_rev=rev, mem_hash=digest) for place, (rev, digest) in enumerate(states)]
    found = late(tmp_path, records, cache)
    assert found == [set(), set(), set(), set(), {"memory_desync"}, {"memory_desync"}]


def test_of_equally_frequent_states_the_first_counts(tmp_path: Path, cache: Path) -> None:
    records = [answered(place, mem_rev=rev) for place, rev in enumerate(["r9", "r1", "r1", "r9"])]
    assert late(tmp_path, records, cache) == [set(), {"memory_desync"}, {"memory_desync"}, set()]


def test_a_unit_unlike_the_runs_is_mixed(tmp_path: Path, cache: Path) -> None:
    units = [("char",), (None,), ("token",), ("char", "token"), ()]
    records = [answered(place, citations=cited(*each)) for place, each in enumerate(units)]
    found = late(tmp_path, records, cache)
    assert found == [set(), set(), {"mixed_offset_units"}, {"mixed_offset_units"}, set()]


def test_an_answer_of_another_question_is_repeated(tmp_path: Path, cache: Path) -> None:
    again = trace("Q1", paraphrase=1, q="And what does the filter hold?")
    records = [trace("Q1"), asked("Q2"), again, answered(3), asked("Q4"), trace("Q1"), trace("Q5")]
    found = late(tmp_path, records, cache)
    repeated = [place for place, codes in enumerate(found) if "answer_repeated" in codes]
    assert repeated == [1, 4]  # Q5 asks what Q1 asks
    assert [place for place, codes in enumerate(found) if "duplicate_question" in codes] == [5]


@pytest.mark.parametrize(
    "same",
    [
        {"answer": "not in context"},
        {"answer": "The document does not say how much it holds."},
        {"answer": ""},
        {"chunks": []},
    ],
)
def test_what_many_questions_may_get_is_no_repeat(
    tmp_path: Path, cache: Path, same: dict[str, object]
) -> None:
    assert late(tmp_path, [asked("Q1", **same), asked("Q2", **same)], cache) == [set(), set()]


@pytest.mark.parametrize("differs", [{"answer": OTHER}, {"chunks": [{"id": "c1"}]}, {"citations": ["c1"]}])
def test_answers_that_differ_in_anything_are_no_repeats(
    tmp_path: Path, cache: Path, differs: dict[str, object]
) -> None:
    assert late(tmp_path, [asked("Q1"), asked("Q2", **differs)], cache) == [set(), set()]


def test_a_grown_run_is_judged_as_if_built_at_once(tmp_path: Path, cache: Path) -> None:
    first = [answered(1, mem_rev="r1"), answered(2, mem_rev="r2", citations=cited("char"))]
    more = [
        answered(3, mem_rev="r2"),
        trace("Q4", citations=cited("token")),
        asked("Q5", citations=cited("token")),
    ]
    manifest = write_workspace(tmp_path, {RUN: first})
    build_index(manifest, cache_dir=cache)
    before = [late_of(row) for row in table_of(manifest, RUN, cache)]
    append(manifest, lines(more))
    build_index(manifest, cache_dir=cache)
    grown = table_of(manifest, RUN, cache)
    build_index(manifest, cache_dir=tmp_path / "anew")
    assert grown == table_of(manifest, RUN, tmp_path / "anew")
    assert before == [set(), {"memory_desync"}]
    assert [late_of(row) for row in grown] == [
        {"memory_desync"},
        {"mixed_offset_units"},
        set(),
        set(),
        {"answer_repeated"},
    ]


WORDS = st.lists(st.sampled_from(["a", "b", "c", SEVERAL, None]), max_size=12)


def unlike(words: list[str | None], besides: str | None) -> list[int]:
    """The rule by hand."""
    counted = [word for word in words if word is not None and word != besides]
    most = max(dict.fromkeys(counted), key=counted.count, default=None)
    return [place for place, word in enumerate(words) if word is not None and word != most]


@settings(max_examples=60)
@given(WORDS, st.integers(0, 12), st.sampled_from([None, SEVERAL]))
def test_most_is_counted_however_the_words_lie(
    words: list[str | None], cut: int, besides: str | None
) -> None:
    """Also over several segments."""
    counts = summed(Counter(filter(None, part)) for part in (words[:cut], words[cut:]))
    found = unlike_most(counts, besides=besides)
    assert [place for place, word in enumerate(words) if word in found] == unlike(words, besides)


RECORDS = st.builds(
    lambda q_id, seed, q, answer, rev, unit: trace(
        q_id,
        seed=seed,
        q=f"What is the oil for, {q}?",
        answer=UNLIKE.format(answer),
        **({} if rev is None else {"mem_rev": rev}),
        **({} if unit is None else {"citations": cited(unit)}),
    ),
    st.sampled_from(["Q1", "Q2", "Q3"]),
    st.sampled_from([0, 0, 7]),
    st.sampled_from("ab"),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([None, "r1", "r1", "r2"]),
    st.sampled_from([None, "char", "char", "token"]),
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(RECORDS, max_size=5), min_size=2, max_size=MANY_TAILS + 4),
    st.sets(st.integers(0, MANY_TAILS + 3)),
)
def test_lines_appended_in_any_pieces_are_as_if_built_at_once(
    pieces: list[list[dict[str, object]]], losing: set[int]
) -> None:
    """Also where marks of earlier segments are lost or damaged between two pieces."""
    with TemporaryDirectory() as room:
        folder, cache, again = (Path(room) / name for name in ("folder", "cache", "again"))
        manifest = write_workspace(folder, {RUN: pieces[0]})
        for number, piece in enumerate(pieces[1:]):
            build_index(manifest, cache_dir=cache)
            for place, path in enumerate(cache.rglob("*.marks") if number in losing else ()):
                path.write_bytes(b"damaged") if place % 2 else path.unlink()
            append(manifest, lines(piece))
        build_index(manifest, cache_dir=cache)
        build_index(manifest, cache_dir=again)
        assert table_of(manifest, RUN, cache) == table_of(manifest, RUN, again)


def test_marks_take_whatever_a_record_holds() -> None:
    assert memory_state({"mem_rev": ["r1"], "mem_hash": {"sha": 1}}) is None
    assert memory_state({"mem_rev": 7}) == memory_state({"mem_rev": "7"}) is not None
    assert offset_unit([3, {"offsets": "1-9"}, {"offsets": [1, 9]}, "c1"]) == "char"
    assert offset_unit([{"offsets": {"start": 1, "end": 2, "unit": "page"}}]) is None
    assert offset_unit([*cited("line"), *cited("byte")]) == SEVERAL


def test_a_print_is_the_answers_and_64_bits_wide() -> None:
    corpus = Corpus({str(chunk["chunk_id"]): str(chunk["text"]) for chunk in CHUNKS})
    found = set()
    for place in range(50):
        read = trace_from(answered(place), source=None, run_id=RUN)  # type: ignore[arg-type]
        assert isinstance(read, Trace)
        found.add(answer_print(read, reflect(read, corpus, Profile())))
        assert answer_print(read, None) is None
    assert len(found) == 50
    assert all(isinstance(each, int) and -(2**63) <= each < 2**63 for each in found)
