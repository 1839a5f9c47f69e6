"""Messages that a browser keeps: one of three runs ago is not named any more, whatever a request says."""

from __future__ import annotations

from proofspan.ui.visit.kept_messages import Kept

BOTH = frozenset({"page", "part"})


def sent() -> Kept:
    kept = Kept(2)
    kept.begin(is_part=False)
    kept.send("page", is_of_part=False)
    kept.send("part", is_of_part=True)
    return kept


def test_what_no_run_has_used_for_a_while_is_gone() -> None:
    kept = sent()
    for expected in (BOTH, BOTH, frozenset()):
        kept.begin(is_part=False)
        assert kept.of(BOTH) == expected


def test_what_is_sent_again_stays() -> None:
    kept = sent()
    for _ in range(5):
        kept.begin(is_part=False)
        kept.send("page", is_of_part=False)
    assert kept.of(BOTH) == {"page"}


def test_runs_of_parts_take_only_what_is_of_parts() -> None:
    kept = sent()
    for _ in range(4):
        kept.begin(is_part=True)
    assert kept.of(BOTH) == {"page"}
    kept.begin(is_part=False)
    assert kept.of(BOTH) == {"page"}
    kept.begin(is_part=False)
    assert kept.of(BOTH) == frozenset()
