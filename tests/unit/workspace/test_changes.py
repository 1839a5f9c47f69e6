"""Changes of work elsewhere: who waits is called once, and none is missed between looking and waiting."""

from __future__ import annotations

from proofspan.services.workspace.changes import Changes


def test_who_waits_is_called_once_at_the_next_change() -> None:
    changes, calls = Changes(), list[str]()
    changes.at_next("one", changes.count, lambda: calls.append("replaced"))
    changes.at_next("one", changes.count, lambda: calls.append("one"))
    changes.at_next("two", changes.count, lambda: calls.append("two"))
    assert calls == []
    changes.note()
    changes.note()
    assert calls == ["one", "two"]


def test_a_change_since_the_look_is_not_missed() -> None:
    changes, calls = Changes(), list[str]()
    seen = changes.count
    changes.note()
    changes.at_next("late", seen, lambda: calls.append("late"))
    assert calls == ["late"]
    changes.note()
    assert calls == ["late"]


def test_who_is_called_may_wait_again() -> None:
    changes, counts = Changes(), list[int]()

    def call() -> None:
        counts.append(changes.count)
        changes.at_next("again", changes.count, call)

    changes.at_next("again", 0, call)
    changes.note()
    changes.note()
    assert counts == [1, 2]
