"""The words of the panel that says which rules of the contract a question breaks."""

from __future__ import annotations

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import Problem
from proofspan.services.question.rules import BrokenRule
from proofspan.ui.question.panels import MAX_MESSAGES, MAX_PLACES, heading, rule_rows


def broken(code: str, *places: tuple[str, str]) -> BrokenRule:
    """A rule broken at these (field, message)."""
    return BrokenRule(rule_of(code), tuple(Problem(code, words, field) for field, words in places))


def words(each: BrokenRule) -> list[tuple[str, str]]:
    return [(name, "".join(piece.text for piece in pieces)) for name, pieces in rule_rows(each)]


def test_a_sentence_that_holds_in_several_places_is_shown_once() -> None:
    differs = broken(
        "analyzer_mismatch",
        ("analyzer", "is 'stem'"),
        ("citations[1].analyzer", "is 'stem'"),
        ("citations[2].analyzer", "is 'fold'"),
    )
    step = rule_of("analyzer_mismatch").fix
    assert words(differs) == [
        ("analyzer differs", "analyzer, citations[1].analyzer: is 'stem'"),
        ("", "citations[2].analyzer: is 'fold'"),
        ("", f"analyzer_mismatch  Next step: {step}"),
    ]


def test_of_many_places_the_rest_is_counted_and_named_in_a_tip() -> None:
    many = broken("missing_rev", *((f"citations[{n}].rev", "no rev") for n in range(1, MAX_PLACES + 3)))
    (_, pieces), _ = rule_rows(many)
    (left_out,) = [piece for piece in pieces if piece.tip]
    assert left_out.text == " and 2 more places"
    assert left_out.tip == f"citations[{MAX_PLACES + 1}].rev, citations[{MAX_PLACES + 2}].rev"


def test_a_field_that_its_sentence_begins_with_is_not_named_twice() -> None:
    ((_, message), _) = words(broken("empty_agent_id", ("agent_id", "agent_id is ''")))
    assert message == "agent_id is ''"
    ((_, message), _) = words(broken("empty_rev", ("citations[1].rev", "rev is ''")))
    assert message == "citations[1].rev: rev is ''"


def test_of_many_sentences_the_rest_is_counted() -> None:
    many = broken(
        "not_in_corpus", *((f"chunks[{n}]", f"'{n}' is not in it") for n in range(1, MAX_MESSAGES + 3))
    )
    reported = [text for _, text in words(many)]
    assert reported[MAX_MESSAGES - 1 : MAX_MESSAGES + 1] == [
        f"chunks[{MAX_MESSAGES}]: '{MAX_MESSAGES}' is not in it",
        "and 2 more findings like these",
    ]
    assert len(reported) == MAX_MESSAGES + 2


def test_a_code_that_nobody_knows_has_no_next_step() -> None:
    assert words(broken("made_up", ("", "it is said")))[-1] == ("", "made_up  ")


def test_the_heading_counts_rules_by_severity() -> None:
    found = [broken("missing_rev", ("a", "b")), broken("tie_order", ("a", "b")), broken("bad_k_pos")]
    assert "".join(piece.text for piece in heading(found)) == "Contract 3 rules broken: 2 errors, 1 warning"
    assert "".join(piece.text for piece in heading(found[1:2])) == "Contract 1 rule broken: 1 warning"
