"""A manifest's gates, and those that cannot be understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.errors import ManifestFault
from proofspan.metrics.goals import DEFAULT_FLIPS, OF_QUESTIONS, FlipRule, Gates, read_gates
from tests.unit.store_workspace import manifest_of


def test_without_gates_no_question_that_was_ok_may_drift() -> None:
    gates, problems = read_gates({})
    assert (gates, problems) == (Gates(), ())
    assert gates.flips == (FlipRule("ok", ("retrieval_drift", "generation_drift")),)


def test_gates_are_read_as_the_manifest_has_them(tmp_path: Path) -> None:
    manifest = manifest_of(
        tmp_path,
        gates={
            "flips": [
                {"from": "ok", "to": ["retrieval_drift"], "allow": ["Q80"], "most": "2"},
                {"from": "hit", "to": ["score_policy", "retrieval_gap"]},
            ],
            "suspicions": {"citation_outside_retrieved": "0"},
            "causes": {"contradicted": "1"},
            "codes": {"analyzer_mismatch": "0", "missing_rev": "4"},
            "line_issues": "3",
            "generation_drift": "<= 0.20",
        },
    )
    gates, problems = read_gates(manifest.gates)
    assert (manifest.warnings, problems) == ((), ())
    assert gates.flips == (
        FlipRule("ok", ("retrieval_drift",), frozenset({"Q80"}), 2),
        FlipRule("hit", ("score_policy", "retrieval_gap"), column="bucket"),
    )
    assert gates.codes == {"analyzer_mismatch": 0, "missing_rev": 4}
    assert gates.causes == {"contradicted": 1}
    assert (gates.suspicions, gates.line_issues) == ({"citation_outside_retrieved": 0}, 3)
    assert gates.drift is not None
    assert str(gates.drift) == "<= 0.20"


def test_no_flips_at_all_allow_every_flip() -> None:
    assert read_gates({"flips": []})[0].flips == ()


@pytest.mark.parametrize(
    ("given", "message", "fix"),
    [
        (
            {"flips": [{"from": "okay", "to": ["retrieval_drift"]}]},
            "`okay` is not a label, bucket or correctness",
            "write `ok`",
        ),
        (
            {"flips": [{"from": "ok", "to": ["retreival_drift"]}]},
            "`retreival_drift`",
            "write `retrieval_drift`",
        ),
        (
            {"flips": [{"from": "ok", "to": ["retrieval_gap"]}]},
            "mixes labels, buckets and correctness",
            "one rule for labels",
        ),
        (
            {"suspicions": {"citations_outside_retrieved": "0"}},
            "is not a suspicion",
            "`citation_outside_retrieved`",
        ),
        ({"suspicions": {"template_absent": "0"}}, "is not a suspicion", "name one of"),
        ({"causes": {"contradiction": "0"}}, "is not a cause", "write `contradicted`"),
        ({"causes": {"none": "0"}}, "is not a cause", "name one of unsafe_omission"),
        ({"codes": {"analyser_mismatch": "0"}}, "is not a code of the contract", "write `analyzer_mismatch`"),
        ({"codes": {"xyz": "0"}}, "is not a code of the contract", "`missing_` and a field's name"),
        ({"codes": {"hash_mismatch": "0"}}, "is not a rule for questions", "proofspan validate"),
        ({"codes": {"missing_": "0"}}, "is not a code of the contract", "write `missing_"),
        ({"flip": []}, "`flip` is not a gate", "write `flips`"),
        ({"generation_drift": "<= 20"}, "outside a share", "write a comparison"),
    ],
)
def test_what_cannot_be_understood_is_a_problem_that_names_what_was_meant(
    given: dict[str, Any], message: str, fix: str
) -> None:
    gates, problems = read_gates(given)
    assert len(problems) == 1
    assert message in problems[0].message
    assert fix in problems[0].fix
    assert problems[0].where.startswith("gates")
    assert (gates.suspicions, gates.codes, gates.drift) == ({}, {}, None)
    assert all(rule in DEFAULT_FLIPS for rule in gates.flips)


@pytest.mark.parametrize(
    "gates",
    [
        {"flips": [{"from": "ok"}]},
        {"flips": [{"from": "ok", "to": []}]},
        {"flips": [{"from": "ok", "to": ["retrieval_drift"], "most": "-1"}]},
        {"suspicions": {"citation_outside_retrieved": "none"}},
        {"suspicions": {"<b>": "0"}},
        {"codes": {"analyzer mismatch": "0"}},
        {"codes": {"missing_rev": "few"}},
        {"line_issues": "0.5"},
        {"generation_drift": "20 %"},
    ],
    ids=repr,
)
def test_what_is_no_gate_at_all_is_refused_with_the_manifest(tmp_path: Path, gates: dict[str, Any]) -> None:
    with pytest.raises(ManifestFault) as fault:
        manifest_of(tmp_path, gates=gates)
    assert all("gates" in problem.message for problem in fault.value.problems)


def test_every_suspicion_of_a_question_can_be_a_gate() -> None:
    gates, problems = read_gates({"suspicions": dict.fromkeys(OF_QUESTIONS, "0")})
    assert (set(gates.suspicions), problems) == (set(SUSPICIONS) - {"template_absent"}, ())
