"""The URL holds the whole state: what is written is read back, and nothing in an address can break a page."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS, StageName, TraceKey
from proofspan.diagnosis.gold import GOLD_STATES
from proofspan.diagnosis.types import Profile, Template
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.evidence.bundles import LEVELS
from proofspan.journal.sprint import ENTRY_KINDS, PackageStatus
from proofspan.metrics.ranked import Bucket
from proofspan.services.metrics.cohorts import RankOrder
from proofspan.store.files.checked import CLAIM_STATUSES, DIFFERENCE_KINDS
from proofspan.store.files.evidence_states import EVIDENCE_STATES
from proofspan.store.query.filters import FLIPS, SORT_KEYS, Filter, Sort
from proofspan.store.query.metric_sql import MISSES, OUTCOMES
from proofspan.store.query.metrics import Slice
from proofspan.ui.visit.view_state import (
    MAX_CHARS,
    MAX_NUMBER,
    OPTIONAL_COLUMNS,
    ViewState,
    parse_question_name,
    question_name,
)

words = st.text(
    st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30
)  # ids and search texts: commas, #, &, ], any script
several = st.lists(words, max_size=3, unique=True).map(tuple)
phrases = st.lists(words, min_size=1, max_size=3, unique=True).map(tuple)
numbers = st.integers(0, MAX_NUMBER)
filters = st.builds(
    Filter,
    run=st.one_of(st.just(""), words),
    label=st.lists(st.sampled_from(LABELS), max_size=5, unique=True).map(tuple),
    suspicion=several,
    code=several,
    doc=several,
    section=several,
    gold=st.lists(st.sampled_from(GOLD_STATES), max_size=3, unique=True).map(tuple),
    evidence=st.lists(st.sampled_from(EVIDENCE_STATES), max_size=3, unique=True).map(tuple),
    unsupported=st.sampled_from([None, True, False]),
    claim=st.lists(st.sampled_from(CLAIM_STATUSES), max_size=3, unique=True).map(tuple),
    difference=st.lists(st.sampled_from(DIFFERENCE_KINDS), max_size=3, unique=True).map(tuple),
    contradictions=st.sampled_from([None, True, False]),
    support=st.sampled_from(["", "0-0.5", "0.25-1"]),
    cause=st.lists(st.sampled_from(CAUSES), max_size=3, unique=True).map(tuple),
    correct=st.lists(st.sampled_from(CORRECT), max_size=3, unique=True).map(tuple),
    grounded=st.lists(st.sampled_from(GROUNDED), max_size=3, unique=True).map(tuple),
    safety=st.sampled_from([None, True, False]),
    about=several,
    fails=st.sampled_from([None, True, False]),
    bucket=st.lists(st.sampled_from(get_args(Bucket)), max_size=3, unique=True).map(tuple),
    type=several,
    state=several,
    refused=st.sampled_from([None, True, False]),
    miss=st.sampled_from(["", *MISSES]),
    met=st.sampled_from(["", *MISSES]),
    cohort=st.one_of(st.just(""), words),
    vs=st.one_of(st.just(""), words),
    was=st.lists(st.sampled_from(LABELS), max_size=3, unique=True).map(tuple),
    was_cause=st.lists(st.sampled_from(CAUSES), max_size=3, unique=True).map(tuple),
    was_bucket=st.lists(st.sampled_from(get_args(Bucket)), max_size=3, unique=True).map(tuple),
    flip=st.sampled_from(["", *FLIPS]),
    score=st.sampled_from([(), ("f>=0.5", "f="), ('"a=b"=yes & no',)]),
    outcome=st.sampled_from(["", *OUTCOMES]),
    text=st.one_of(st.just(""), words),
    all_variants=st.booleans(),
    questions_only=st.booleans(),
)
states = st.builds(
    ViewState,
    filter=filters,
    sort=st.builds(Sort, by=st.sampled_from([*SORT_KEYS, "score:a=b"]), descending=st.booleans()),
    at=st.integers(1, MAX_NUMBER),
    q=st.one_of(st.none(), words),
    p=numbers,
    s=numbers,
    cite=st.one_of(st.none(), st.integers(1, MAX_NUMBER)),
    at_claim=st.one_of(st.none(), st.integers(1, MAX_NUMBER)),
    beside=st.booleans(),
    chunk=st.one_of(st.none(), words),
    page=st.one_of(st.none(), numbers),
    see=st.one_of(st.none(), words),
    stage=st.one_of(st.none(), st.sampled_from(get_args(StageName))),
    where=st.one_of(st.none(), words),
    columns=st.lists(st.sampled_from(OPTIONAL_COLUMNS), max_size=3, unique=True).map(tuple),
    scores=st.sampled_from([(), ("a=b", 'say "hi"'), ("Δ & <b>",)]),
    by=st.sampled_from([None, *get_args(Slice)]),
    order=st.sampled_from([None, *get_args(RankOrder)]),
    find=st.one_of(st.just(""), words),
    leaf=st.integers(1, MAX_NUMBER),
    item=st.one_of(st.none(), words),
    status=st.lists(st.sampled_from(get_args(PackageStatus)), max_size=3, unique=True).map(tuple),
    stream=several,
    kind=st.lists(st.sampled_from(ENTRY_KINDS), max_size=3, unique=True).map(tuple),
    author=st.one_of(st.none(), words),
    day=st.one_of(st.none(), words),
    profile=st.one_of(st.none(), st.builds(Profile, st.sampled_from(get_args(Template)), phrases)),
    ids=several,
    level=st.lists(st.sampled_from(LEVELS), max_size=3, unique=True).map(tuple),
    name=st.one_of(st.just(""), words),
    whole=st.booleans(),
    end=st.booleans(),
    present=st.booleans(),
    speaker=st.one_of(st.none(), st.from_regex("[0-9a-z]{1,40}", fullmatch=True)),
    opened=st.one_of(st.none(), st.from_regex("[0-9a-f]{16}", fullmatch=True)),
)


def test_every_field_of_a_filter_has_a_place_in_the_address() -> None:
    drawn = {"run", "label", "suspicion", "code", "doc", "section", "gold", "evidence", "unsupported", "text"}
    drawn |= {"about", "fails", "bucket", "type", "state", "refused", "miss", "met", "cohort"}
    drawn |= {"vs", "was", "was_cause", "was_bucket", "was_correct", "flip", "outcome"}
    drawn |= {"claim", "difference", "contradictions", "support", "cause", "grounded", "correct", "score"}
    drawn |= {"review", "reviewer", "assigned"}
    flags = {"safety", "all_variants", "questions_only"}
    assert {part.name for part in fields(Filter)} == drawn | flags


@given(states)
def test_every_state_survives_its_own_address(state: ViewState) -> None:
    query = urlsplit(state.link("question")).query
    again = ViewState.parse(parse_qs(query, keep_blank_values=True))
    assert again == state
    assert again.notes == ()


@given(st.dictionaries(st.sampled_from([*ViewState().params(), "at", "page", "label", "p", "desc", "text"]),
                       st.lists(st.text(), max_size=3)))  # fmt: skip
def test_no_address_raises(params: dict[str, list[str]]) -> None:
    state = ViewState.parse(params)
    assert state.at >= 1
    assert ViewState.parse(state.params()) == state


@pytest.mark.parametrize(
    ("params", "field", "fallback", "note"),
    [
        ({"at": ["0"]}, "at", 1, "at"),
        ({"at": ["two"]}, "at", 1, "at"),
        ({"page": ["-1"]}, "page", None, "page"),
        ({"page": ["٣"]}, "page", None, "page"),
        ({"cite": ["99999999999"]}, "cite", None, "cite"),
        ({"q": ["a" * (MAX_CHARS + 1)]}, "q", None, "q"),
        ({"chunk": ["a\x00b"]}, "chunk", None, "chunk"),
    ],
)
def test_a_bad_value_falls_back_and_is_named(
    params: dict[str, list[str]], field: str, fallback: object, note: str
) -> None:
    state = ViewState.parse(params)
    assert getattr(state, field) == fallback
    assert len(state.notes) == 1
    assert state.notes[0].startswith(f"In the address, {note} ")


def test_an_unknown_label_is_left_out_and_the_known_one_stays() -> None:
    state = ViewState.parse({"label": ["ok", "oky"]})
    assert state.filter.label == ("ok",)
    assert '"oky" is not one of generation_drift' in state.notes[0]


def test_a_gold_state_that_there_is_not_is_left_out() -> None:
    state = ViewState.parse({"gold": ["dropped", "lost"]})
    assert state.filter.gold == ("dropped",)
    assert state.notes == (
        'In the address, gold "lost" is not one of answered, missed, dropped, uncited, seen, cited, '
        "declined: left out.",
    )


def test_a_stage_that_there_is_not_is_left_out_and_a_list_has_none() -> None:
    state = ViewState.parse({"stage": ["sorted"]})
    assert state.stage is None
    assert state.notes == (
        'In the address, stage "sorted" is not one of retrieved, fused, reranked, chunks: left out.',
    )
    assert ViewState(q="Q1", stage="fused").as_list().params() == {}


def test_page_idx_zero_is_a_page() -> None:
    state = ViewState.parse({"page": ["0"]})
    assert state.page == 0
    assert state.params() == {"page": ["0"]}


def test_defaults_make_the_shortest_address() -> None:
    assert ViewState().link("") == "./"
    assert ViewState(filter=Filter(run="R1")).link("question", q="Q80") == "./question?run=R1&q=Q80"


def test_a_new_filter_or_order_starts_at_the_first_page() -> None:
    state = ViewState(at=7, q="Q1")
    assert state.change(label=("ok",)).at == 1
    assert state.change(sort="cited").at == 1
    assert state.change(cite=2).at == 7
    assert state.change(label=("ok",), at=3).at == 3


def test_a_run_to_compare_with_is_no_filter() -> None:
    state = ViewState.parse({"run": ["R4"], "vs": ["R3"], "outcome": ["gt_in_top_20"], "ids": ["Q7"]})
    assert (state.vs, state.filter.vs) == ("R3", "R3")
    assert not state.is_filtered
    assert state.change(was=("ok",)).is_filtered
    assert state.change(vs="R2").ids == ("Q7",)
    assert state.change(flip="fixed").without_filter().params() == {"run": ["R4"], "vs": ["R3"]}
    assert state.change(vs=None).vs is ViewState().vs is None


@pytest.mark.parametrize(
    ("name", "value"), [("miss", "latency_p50"), ("outcome", "mrr"), ("flip", "no"), ("was_bucket", "ok")]
)
def test_what_nothing_can_miss_or_flip_by_is_left_out_and_named(name: str, value: str) -> None:
    state = ViewState.parse({name: [value]})
    assert not state.params()
    assert state.notes[0].startswith(f'In the address, {name} "{value}" is not one of ')


def test_a_run_that_is_not_there_falls_back_with_a_note() -> None:
    state = ViewState.parse({"run": ["R9"]}).with_run(["R1", "R2"], "R2")
    assert state.run == "R2"
    assert state.notes == ('There is no run "R9" in this workspace; showing R2.',)
    assert ViewState().with_run(["R1"], "R1").notes == ()


@given(words, st.integers(1, 999))
def test_question_names_are_never_in_doubt(q_id: str, repeat: int) -> None:
    assert parse_question_name(question_name(q_id, repeat)) == (q_id, repeat)


def test_the_second_trace_of_an_id_reads_as_people_write_it() -> None:
    state = ViewState(filter=Filter(run="R4"), q="Q80#2", p=1)
    assert question_name("Q80", 2) == "Q80#2"
    assert state.key == TraceKey("R4", "Q80", paraphrase=1, seed=0, repeat=2)


def test_a_playlist_keeps_the_order_of_its_ids_and_survives_another_run() -> None:
    state = ViewState.parse({"run": ["R1"], "ids": ["Q80#2", "Q7", "Q80#2"], "present": ["yes"]})
    assert state.ids == ("Q80#2", "Q7")
    assert state.change(run="R2").ids == state.ids
    assert state.params()["ids"] == ["Q80#2", "Q7"]
    assert state.present


def test_another_filter_leaves_a_playlist_by_hand_and_a_list_has_none() -> None:
    state = ViewState.parse({"ids": ["Q7"], "name": ["Mine"], "level": ["full"], "present": ["yes"]})
    assert (state.change(label=("ok",)).ids, state.change(label=("ok",)).name) == ((), "")
    assert state.change(text="oil", ids=("Q8",)).ids == ("Q8",)
    assert state.as_list().params() == state.without_filter().change(present=False).params() == {}


def test_another_place_ends_the_outline_of_an_attachment() -> None:
    seen = ViewState(q="Q1", cite=1, page=3, see="w-001")
    for change in ({"q": "Q2"}, {"cite": 2}, {"chunk": "c1"}, {"page": 4}, {"p": 1}, {"s": 1}):
        assert seen.change(**change).see is None, change
    assert seen.change(page=4, see="w-002").see == "w-002"
    assert seen.change(stage="fused", at=2).see == "w-001"
    assert seen.as_list().see is None


def test_a_claim_is_left_with_the_passage_and_kept_while_pages_are_turned() -> None:
    state = ViewState(q="Q1", at_claim=2)
    assert state.change(page=4).at_claim == 2
    assert state.change(at_claim=3, cite=None, chunk=None).at_claim == 3
    for change in ({"cite": 1}, {"chunk": "c"}, {"q": "Q2"}, {"run": "R2"}):
        assert state.change(**change).at_claim is None
    assert state.as_list().at_claim is None
