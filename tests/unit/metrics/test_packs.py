"""The metrics pack is written the same each time, read whoever wrote it, and compared by what is printed."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.schemas import schema
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.packs import (
    ALIASES,
    KEYS,
    QUESTIONS,
    RATE,
    Base,
    Measured,
    Numbers,
    Pack,
    PackDifference,
    Stated,
    bases_of,
    numbers_of,
    others_in_words,
    pack_text,
    read_pack,
)
from proofspan.metrics.packs import differences as all_differences
from proofspan.metrics.values import Tally, metric_value

SEED = """{
  "$schema": "https://wfgy.dev/schemas/metrics-1.0.json",
  "dataset": "goldset_v1",
  "recall@50": 0.91,
  "nDCG@10": 0.62,
  "ΔS_mean": 0.41,
  "ΔS_p95": 0.58,
  "λ_convergent_rate": 0.82
}
"""
COUNTED = {"recall@50": 0.9142, "nDCG@10": 0.6151, "ΔS_mean": 0.405, "ΔS_p95": 0.5849, RATE: 0.82}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "metrics.json"


def differences(pack: Pack, numbers: Numbers) -> tuple[PackDifference, ...]:
    """The differences from numbers over questions whose bases are not known."""
    return all_differences(pack, {QUESTIONS: Measured(numbers, {})})


def _read(file: Path, text: str | bytes) -> Pack:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    pack, problems = read_pack(file, file="metrics.json")
    assert pack is not None and not problems
    return pack


def test_the_pack_of_the_contract_is_read(file: Path) -> None:
    pack = _read(file, SEED)
    assert pack.dataset == "goldset_v1"
    assert {key: str(number) for key, number in pack.numbers.items()} == {
        "recall@50": "0.91",
        "nDCG@10": "0.62",
        "ΔS_mean": "0.41",
        "ΔS_p95": "0.58",
        "λ_convergent_rate": "0.82",
    }
    assert dict(pack.others) == {"$schema": "https://wfgy.dev/schemas/metrics-1.0.json"}
    assert differences(pack, COUNTED) == ()


def test_other_names_an_envelope_and_unknown_keys_are_kept(file: Path) -> None:
    text = (
        '{"schema_version": "1.0.0", "deltaS_mean": null, "lambda_convergent_rate": 1, "ndcg@10": 6.2e-1,'
        ' "by": {"ci": [1, 0.5, true]}, "note": "new"}'
    )
    pack = _read(file, b"\xef\xbb\xbf" + text.encode())
    assert pack.numbers == {"ΔS_mean": None, RATE: Decimal(1), "nDCG@10": Decimal("0.62")}
    assert list(others_in_words(pack)) == [
        ("schema_version", "1.0.0"),
        ("by", '{"ci": [1, 0.5, true]}'),
        ("note", "new"),
    ]


def test_it_is_written_with_sorted_keys_and_four_digits() -> None:
    text = pack_text(COUNTED | {"recall@50": None, "ΔS_p95": -0.0}, dataset="goldset “ü”")
    assert text == (
        "{\n"
        '  "$schema": "urn:proofspan:schema:metrics-1.0",\n'
        '  "basis": "questions",\n'
        '  "dataset": "goldset “ü”",\n'
        '  "nDCG@10": 0.6151,\n'
        '  "recall@50": null,\n'
        '  "ΔS_mean": 0.4050,\n'
        '  "ΔS_p95": 0.0000,\n'
        '  "λ_convergent_rate": 0.8200\n'
        "}\n"
    )
    assert jsonschema_rs.validator_for(schema("metrics")).is_valid(json.loads(text))


def test_each_number_names_what_it_counts(file: Path) -> None:
    """recall@50 leaves out a shorter list, and ΔS needs no gold; all count questions."""
    values = {
        "recall_at_50": metric_value(
            METRICS["recall_at_50"], Tally(2, 1.5, 1.25, left_out={"short_list": 1})
        ),
        "delta_s_mean": metric_value(METRICS["delta_s_mean"], Tally(4, 1.0, 0.3, left_out={"not_logged": 0})),
    }
    bases = bases_of(values, {"convergent": 6, "chaotic": 1, None: 3})
    assert bases == {
        "recall@50": Base("questions", 2, {"short_list": 1}),
        "ΔS_mean": Base("questions", 4, {}),
        RATE: Base("questions", 7, {"not_logged": 3}),
    }
    text = pack_text(COUNTED, dataset=None, bases=bases)
    assert json.loads(text)["bases"][RATE] == {"of": "questions", "counted": 7, "left_out": {"not_logged": 3}}
    assert jsonschema_rs.validator_for(schema("metrics")).is_valid(json.loads(text))
    pack = _read(file, text)
    assert differences(pack, COUNTED) == () and {"bases", "basis"}.isdisjoint(pack.others)
    assert pack.stated == {
        "recall@50": Stated("questions", 2),
        "ΔS_mean": Stated("questions", 4),
        RATE: Stated("questions", 7),
        "nDCG@10": Stated(),
        "ΔS_p95": Stated(),
    }


def test_a_pack_is_compared_on_the_basis_that_it_states(file: Path) -> None:
    """Packs of earlier versions counted the rate over traces; others may count all numbers so."""
    counted = {
        "questions": Measured({**COUNTED, RATE: 0.5}, {RATE: Base("questions", 4, {})}),
        "traces": Measured({**dict.fromkeys(KEYS, 0.25), RATE: 0.75}, {RATE: Base("traces", 24, {})}),
    }
    single = _read(file, f'{{"{RATE}": 0.75, "recall@50": 0.91, "bases": {{"{RATE}": {{"of": "traces"}}}}}}')
    assert single.bases == {"questions", "traces"} and all_differences(single, counted) == ()
    whole = _read(file, f'{{"basis": "traces", "{RATE}": 0.75, "recall@50": 0.25}}')
    assert whole.bases == {"traces"} and all_differences(whole, counted) == ()
    bare = _read(file, f'{{"{RATE}": 0.75}}')
    (difference,) = all_differences(bare, counted)
    assert (difference.key, difference.counted) == (RATE, 0.5)


def test_another_count_is_a_difference_though_the_numbers_agree(file: Path) -> None:
    counted = {QUESTIONS: Measured(COUNTED, {"recall@50": Base("questions", 37, {})})}
    pack = _read(file, '{"recall@50": 0.91, "bases": {"recall@50": {"of": "questions", "counted": 33}}}')
    (difference,) = all_differences(pack, counted)
    assert difference.in_words() == "recall@50: 0.91 of 33 questions in the pack, 0.9142 counted of 37"


@pytest.mark.parametrize("bases", ['{"nDCG@10": {"of": "documents"}}', '{"nDCG@10": {"of": 7}}'])
def test_a_number_of_an_unknown_basis_is_reported_and_not_compared(file: Path, bases: str) -> None:
    file.write_text(f'{{"nDCG@10": 0.1, "recall@50": 0.91, "bases": {bases}}}')
    pack, (problem,) = read_pack(file, file="metrics.json")
    assert pack is not None and pack.numbers.keys() == {"recall@50"}
    assert (problem.code, problem.severity) == ("pack_basis_unknown", "warning")


@pytest.mark.parametrize("bases", ["7", "[]", '{"nDCG@10": 7}', '{"nDCG@10": {"counted": -1}}', "null"])
def test_what_is_no_base_says_nothing(file: Path, bases: str) -> None:
    assert _read(file, f'{{"nDCG@10": 0.1, "bases": {bases}}}').stated == {"nDCG@10": Stated()}


def test_an_envelope_is_between_the_numbers_by_its_names(file: Path) -> None:
    text = pack_text(COUNTED, dataset=None, envelope={"ts": "2026-02-26", "agent_id": "system"})
    assert list(json.loads(text)) == sorted(["$schema", "agent_id", "basis", "dataset", "ts", *KEYS])
    assert dict(_read(file, text).others) == {
        "$schema": "urn:proofspan:schema:metrics-1.0",
        "agent_id": "system",
        "ts": "2026-02-26",
    }


@given(st.dictionaries(st.sampled_from(KEYS), st.none() | st.floats(0, 1)))
def test_what_is_written_is_read_again_without_a_difference(
    tmp_path_factory: pytest.TempPathFactory, numbers: dict[str, float | None]
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.json"
    whole = dict.fromkeys(KEYS) | numbers
    pack = _read(file, pack_text(whole, dataset=None))
    assert (pack.dataset, differences(pack, whole)) == (None, ())


@pytest.mark.parametrize(
    ("stored", "counted", "agree"),
    [
        ("0.91", 0.905, True),
        ("0.91", 0.915, True),
        ("0.91", 0.9151, False),
        ("0.91", 0.9049, False),
        ("0.9100", 0.9142, False),
        ("0.9", 0.9, True),
        ("0.9", 0.93, False),  # 0.90 whose last zero was dropped
        ("1", 0.996, True),
        ("1", 0.62, False),
        ("9.1e-1", 0.9123, True),
        ("0.33333333333333331", 1 / 3, True),
        ("0.3333331", 0.3333333, True),
        ("0.333331", 0.3333333, False),
        ("null", None, True),
        ("null", 0.5, False),
        ("0.5", None, False),
    ],
)
def test_numbers_are_compared_as_they_are_printed(
    file: Path, stored: str, counted: float | None, agree: bool
) -> None:
    pack = _read(file, f'{{"recall@50": {stored}}}')
    found = differences(pack, dict.fromkeys(KEYS) | {"recall@50": counted})
    assert found == (() if agree else (PackDifference("recall@50", pack.numbers["recall@50"], counted),))


def test_a_difference_has_its_words() -> None:
    assert PackDifference("recall@50", Decimal("0.91"), 0.89189).in_words() == (
        "recall@50: 0.91 in the pack, 0.8919 counted"
    )
    assert PackDifference(RATE, Decimal("0.910"), None).in_words() == (
        "λ_convergent_rate: 0.910 in the pack, not measured here"
    )


def test_null_is_kept_as_it_is_written() -> None:
    assert PackDifference(RATE, None, 0.8).in_words() == "λ_convergent_rate: null in the pack, 0.8000 counted"


def test_the_rate_counts_logged_states_and_the_metric_questions_that_converge() -> None:
    assert numbers_of({}, {"convergent": 5, "divergent": 1, None: 3})[RATE] == 5 / 6
    assert numbers_of({}, {"chaotic": 2})[RATE] == 0.0
    assert numbers_of({}, {None: 4})[RATE] is None
    values = {
        "recall_at_50": metric_value(METRICS["recall_at_50"], Tally(2, 1.5, 1.25)),
        "lambda_convergent": metric_value(METRICS["lambda_convergent"], Tally(4, 1.0, 1.0)),
    }
    numbers = numbers_of(values, {"convergent": 3, "recursive": 1})
    assert numbers == dict.fromkeys(KEYS) | {"recall@50": 0.75, RATE: 0.75}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("NaN", "'NaN' is no number"),
        ("Infinity", "'Infinity' is no number"),
        ('"0.91"', "'0.91' is no number"),
        ("true", "'True' is no number"),
        ("[0.91]", "is no number"),
        ("{}", "'{}' is no number"),
        ("1e400", "'1e400' is no number"),
        ("1e99999999999999999999", "is no number"),
        ("91", "91 does not lie in 0–1"),
        ("-0.1", "-0.1 does not lie in 0–1"),
    ],
)
def test_what_is_no_number_is_reported_with_its_key_and_the_rest_is_used(
    file: Path, value: str, expected: str
) -> None:
    file.write_text(f'{{"recall@50": {value}, "nDCG@10": 0.62}}')
    pack, (problem,) = read_pack(file, file="runs/R1/metrics.json")
    assert pack is not None and dict(pack.numbers) == {"nDCG@10": Decimal("0.62")}
    assert (problem.code, problem.where, problem.severity) == (
        "pack_not_a_number",
        "runs/R1/metrics.json",
        "warning",
    )
    assert "`recall@50`" in problem.message and expected in problem.message


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "pack_not_json"),
        (b"{", "pack_not_json"),
        (b"\xff\xfe{}", "pack_not_json"),
        (b'{"recall@50": 0.9, "recall@50": 0.8}', "pack_not_json"),
        (b"[" * 100_000, "pack_too_deep"),
        (b" " * (1 << 20) + b"{}", "pack_too_large"),
        (b"[]", "pack_not_an_object"),
        (b'"R004"', "pack_not_an_object"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_file_that_is_no_pack_is_reported(file: Path, data: bytes, code: str) -> None:
    file.write_bytes(data)
    pack, (problem,) = read_pack(file, file="metrics.json")
    assert (pack, problem.code, problem.where) == (None, code, "metrics.json")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    pack, (problem,) = read_pack(tmp_path / "gone.json", file="gone.json")
    assert (pack, problem.code) == (None, "pack_unreadable")


def test_two_names_of_one_number_and_a_dataset_that_is_no_text_are_reported(file: Path) -> None:
    file.write_text('{"ΔS_mean": 0.4, "deltaS_mean": 0.5, "dataset": 7}')
    pack, problems = read_pack(file, file="metrics.json")
    assert pack is not None and pack.numbers == {"ΔS_mean": Decimal("0.4")} and pack.dataset is None
    assert [problem.code for problem in problems] == ["pack_key_twice", "pack_not_text"]


@pytest.mark.parametrize("value", [0.5, 0, 1, None, "0.5", True, 1.5, -1])
@pytest.mark.parametrize("key", [*KEYS, *ALIASES])
def test_the_schema_and_the_reader_agree(file: Path, key: str, value: object) -> None:
    file.write_text(json.dumps({key: value}), encoding="utf-8")
    _, problems = read_pack(file, file="metrics.json")
    assert jsonschema_rs.validator_for(schema("metrics")).is_valid({key: value}) is not bool(problems)
