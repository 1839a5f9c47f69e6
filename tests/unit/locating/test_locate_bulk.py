"""Many quotes on a few lanes: every answer in its place, each document to one lane, bad ones bounded."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import Problem
from proofspan.evidence import span_file
from proofspan.evidence.locate_bulk import (
    BATCH,
    MAX_FAULTS,
    WORTH_SHARING,
    Answer,
    Ask,
    GivenUp,
    locate_bulk,
)
from proofspan.evidence.span_file import SpanLine, locate_spans
from proofspan.evidence.types import FoundSpan, SpanQuery

#: What the fake locator does with a quote before it is answered.
Rule = Callable[[Path, str], str | None]


def ask(document: str, quote: str) -> Ask:
    return Ask(Path(document), SpanQuery(quote))


def place(document: str | Path, quote: str) -> FoundSpan:
    """An answer that identifies its question."""
    return FoundSpan("exact", len(quote), False, 1.0, note=f"{document} {quote}")


class FakeLocator:
    """Answers at most `at_once` quotes a request, up to the first that `rule` gives a problem's code for."""

    def __init__(self, rule: Rule = lambda path, quote: None, *, at_once: int = 1_000) -> None:
        self._rule, self._at_once = rule, at_once
        self._lock = threading.Lock()
        self.asked: Counter[tuple[str, str]] = Counter()
        self.lanes: dict[str, set[int]] = {}

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
        for query in queries[: self._at_once]:
            with self._lock:
                self.asked[str(path), query.quote] += 1
                self.lanes.setdefault(str(path), set()).add(threading.get_ident())
            code = self._rule(path, query.quote)
            if code is not None:
                yield Problem(code, "it went wrong", str(path), "mend it")
                return
            yield place(path, query.quote)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["1", "22", "333", "4444"])), max_size=300),
    st.integers(1, 4),
    st.integers(1, 7),
)
@settings(max_examples=60)
def test_every_quote_gets_its_own_answer_and_is_asked_once(
    wanted: list[tuple[str, str]], workers: int, at_once: int
) -> None:
    locator = FakeLocator(at_once=at_once)
    steps: list[tuple[int, int]] = []
    answers = locate_bulk(
        [ask(*each) for each in wanted],
        locator,
        workers=workers,
        on_done=lambda done, total: steps.append((done, total)),
    )
    assert answers == [place(*each) for each in wanted]
    assert locator.asked == Counter(set(wanted))
    assert steps == sorted(steps)
    assert steps[-1:] == ([(len(wanted), len(wanted))] if wanted else [])


def test_a_document_stays_with_one_lane() -> None:
    locator = FakeLocator()
    asks = [
        ask(f"{number}.pdf", f"quote {quote}") for quote in range(WORTH_SHARING // 2) for number in range(8)
    ]
    locate_bulk(asks, locator, workers=2)
    assert {len(lanes) for lanes in locator.lanes.values()} == {1}


def test_a_lane_without_documents_helps_with_a_big_one() -> None:
    both = threading.Barrier(2, timeout=60)

    def meet(path: Path, quote: str) -> None:
        if quote in ("quote 0", f"quote {BATCH}"):  # the first of the first two batches
            both.wait()

    locator = FakeLocator(meet)
    asks = [ask("big.pdf", f"quote {number}") for number in range(WORTH_SHARING + 2 * BATCH)]
    assert locate_bulk(asks, locator, workers=2) == [place("big.pdf", each.query.quote) for each in asks]
    assert len(locator.lanes["big.pdf"]) == 2


def codes(answers: Sequence[Answer]) -> list[str]:
    return [answer.code if isinstance(answer, Problem) else answer.status for answer in answers]


def test_a_quote_that_crashes_its_worker_costs_itself_alone() -> None:
    locator = FakeLocator(lambda path, quote: "crashed" if quote == "bad" else None)
    asks = [ask("a.pdf", "1"), ask("a.pdf", "bad"), ask("a.pdf", "2"), ask("b.pdf", "3"), ask("a.pdf", "4")]
    assert codes(locate_bulk(asks, locator, workers=2)) == ["exact", "crashed", "exact", "exact", "exact"]
    assert set(locator.asked.values()) == {1}


def test_a_document_that_hangs_again_and_again_is_given_up_and_the_others_are_not() -> None:
    locator = FakeLocator(lambda path, quote: "timed_out" if path.name == "bomb.pdf" else None)
    asks = [ask(name, str(number)) for number in range(3 * BATCH) for name in ("bomb.pdf", "good.pdf")]
    answers = locate_bulk(asks, locator, workers=2)
    assert set(codes(answers[0::2])) == {"timed_out"}
    assert set(codes(answers[1::2])) == {"exact"}
    assert sum(count for (path, _), count in locator.asked.items() if path == "bomb.pdf") == MAX_FAULTS


def test_a_document_that_was_given_up_costs_its_time_once_in_a_long_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span_file, "WINDOW", 20)
    locator = FakeLocator(lambda path, quote: "timed_out" if path.name == "bomb.pdf" else None)
    names = ["bomb.pdf", "good.pdf"]
    lines = [SpanLine(n, n, Path(names[n % 2]), SpanQuery(str(n))) for n in range(100)]
    located = [item.found is not None for item in locate_spans(lines, locator, workers=2)]
    assert located == [False, True] * 50
    assert sum(count for (path, _), count in locator.asked.items() if path == "bomb.pdf") == MAX_FAULTS


def test_what_is_wrong_with_a_document_is_no_reason_to_give_up_the_one_that_takes_its_place() -> None:
    given_up: GivenUp = {}
    for code in ("locked", None):
        locator = FakeLocator(lambda path, quote, code=code: code)  # type: ignore[misc]
        answers = locate_bulk([ask("a.pdf", "1")], locator, workers=1, given_up=given_up)
        assert codes(answers) == [code or "exact"]


@pytest.mark.parametrize("code", ["missing", "not_a_pdf", "locked", "no_pages"])
def test_what_is_wrong_with_the_document_is_asked_once(code: str) -> None:
    locator = FakeLocator(lambda path, quote: code)
    assert codes(locate_bulk([ask("a.pdf", str(n)) for n in range(100)], locator, workers=2)) == [code] * 100
    assert locator.asked.total() == 1


def test_quotes_that_cannot_be_sent_say_nothing_about_their_document() -> None:
    locator = FakeLocator(lambda path, quote: "not_sendable" if len(quote) == 1 else None)
    asks = [ask("a.pdf", str(number)) for number in range(20)]
    assert codes(locate_bulk(asks, locator, workers=1)) == ["not_sendable"] * 10 + ["exact"] * 10


def test_a_text_is_looked_through_here(tmp_path: Path) -> None:
    notes, broken = tmp_path / "notes.md", tmp_path / "broken.md"
    notes.write_text("Change the oil every 15,000 km.\nCheck the tyres.\n")
    broken.write_bytes(b"caf\xe9")
    wanted = [(notes, "Check the tyres."), (broken, "café"), (notes, "Nothing of the kind stands there.")]
    asks = [Ask(path, SpanQuery(quote), is_text=True) for path, quote in wanted]
    assert codes(locate_bulk(asks, FakeLocator(), workers=2)) == ["exact", "not_utf8", "not_found"]


def test_an_interruption_ends_the_lanes() -> None:
    locator = FakeLocator(lambda path, quote: time.sleep(0.001), at_once=1)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        locate_bulk([ask("a.pdf", str(n)) for n in range(5_000)], locator, workers=2, on_done=interrupt)
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert locator.asked.total() < 5_000


@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_that_reaches_another_thread_is_heard_while_all_wait() -> None:
    heard, sent = threading.Event(), threading.Event()
    in_time: list[bool] = []

    def interrupt_and_wait(path: Path, quote: str) -> None:
        time.sleep(0.05)  # the other one is probably waiting; if not, it notices all the same
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        in_time.append(heard.wait(60))
        sent.set()

    with pytest.raises(KeyboardInterrupt):
        locate_bulk([ask("a.pdf", "1")], FakeLocator(interrupt_and_wait), workers=1)
    heard.set()
    assert sent.wait(60)
    assert in_time == [True]


def test_what_goes_wrong_in_a_lane_is_not_swallowed() -> None:
    def fail(path: Path, quote: str) -> None:
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError, match="a mistake of ours"):
        locate_bulk([ask("a.pdf", "1")], FakeLocator(fail), workers=2)


def test_of_a_long_file_one_window_is_in_memory_and_nothing_changes_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span_file, "WINDOW", 5)
    taken: list[int] = []
    steps: list[int] = []
    bad = Problem("not_json", "the line is not a JSON object")

    def lines() -> Iterator[SpanLine]:
        for number in range(17):
            taken.append(number)
            query = None if number % 7 == 3 else SpanQuery(str(number))
            path = Path(f"{number % 3}.pdf") if query else None
            yield SpanLine(number, number, path, query, None if query else bad)

    located = locate_spans(lines(), FakeLocator(), workers=2, on_done=steps.append)
    for number, item in enumerate(located):
        assert (item.span_id, item.problem) == (number, bad if number % 7 == 3 else None)
        assert item.found is None or item.found.note == f"{number % 3}.pdf {number}"
        assert len(taken) <= (number // 5 + 1) * 5
    assert (len(taken), steps[-1], steps) == (17, 17, sorted(steps))


def test_a_path_that_is_refused_is_reported_in_a_whole_sentence(tmp_path: Path) -> None:
    spans = tmp_path / "spans.jsonl"
    spans.write_text('{"id": "a", "pdf": "../a.pdf", "quote": "oil"}\n')
    (line,) = span_file.read_spans(spans, root=tmp_path)
    assert line.problem and line.problem.message.startswith("the document has the path '../a.pdf', which")
