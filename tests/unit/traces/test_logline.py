"""The log line: read and written as one physical line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.traces.lines.reader import UnusableError, read_lines
from proofspan.traces.separate import log_lines
from proofspan.traces.separate.log_lines import (
    KEYS,
    LogRecord,
    format_log_line,
    log_fields,
    parse_log_line,
    read_log_line,
)

SEED = (
    "ts=2025-08-28 qid=Q001 seg=1 deltaS=0.37 lambda=convergent k=10 store=faiss index_hash=2f7d...9a "
    "embed=bge-large-en-v1.5 citations=[hb24-sec-keys-0007,hb24-sec-keys-0008] scores=[0.8421,0.8034] "
    "kpos=[18,7] kfinal=[3,1] section_id=policies/security/keys rev=3b91f2a"
)
RECORD = LogRecord(
    qid="Q001",
    ts="2025-08-28",
    seg=1,
    delta_s=0.37,
    lambda_state="convergent",
    k=10,
    store="faiss",
    index_hash="2f7d...9a",
    embed="bge-large-en-v1.5",
    citations=("hb24-sec-keys-0007", "hb24-sec-keys-0008"),
    scores=(0.8421, 0.8034),
    kpos=(18, 7),
    kfinal=(3, 1),
    section_id="policies/security/keys",
    rev="3b91f2a",
)


def test_the_page_s_own_line_is_read_and_written_as_it_is() -> None:
    assert parse_log_line(SEED) == (RECORD, ())
    assert format_log_line(RECORD) == SEED


def test_fields_go_by_the_names_of_the_line() -> None:
    fields = log_fields(replace(RECORD, others=(("model", "m"),)))
    assert (fields["deltaS"], fields["lambda"], fields["kpos"], fields["model"]) == (
        *(0.37, "convergent"),
        *([18, 7], "m"),
    )
    assert "analyzer" not in fields


ID = "manual|r=8c1e9a02|s=4.2|p=042|b=003"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"qid={ID} citations=[{ID}]", LogRecord(ID, citations=(ID,))),
        ("qid=Q1 section_id=Keys and locks rev=7", LogRecord("Q1", section_id="Keys and locks", rev="7")),
        ('qid=Q1 section_id="a rev=7"', LogRecord("Q1", section_id="a rev=7")),
        ("qid=Q1 rev=k=5|seg=2", LogRecord("Q1", rev="k=5|seg=2")),
        ("  qid=Q1\tseg=2  ", LogRecord("Q1", seg=2)),
        ("qid=Q1 rev=", LogRecord("Q1", rev="")),
        ("qid=007 rev=1e5 index_hash=0.10", LogRecord("007", rev="1e5", index_hash="0.10")),
        ("qid=Q1 lambda=→", LogRecord("Q1", lambda_state="convergent")),
        ("qid=Q1 lambda=<>", LogRecord("Q1", lambda_state="recursive")),
        ("qid=Q1 lambda=Drifting", LogRecord("Q1", lambda_state="drifting")),
        ("qid=Q1 citations=[] scores=[]", LogRecord("Q1", citations=(), scores=())),
        ("qid=Q1 citations=[ a b , c rev=1 ]", LogRecord("Q1", citations=("a b", "c rev=1"))),
        ('qid=Q1 citations=["a,b" , "]"]', LogRecord("Q1", citations=("a,b", "]"))),
        (
            "qid=Q1 citations=[a,b] kpos=[1,null] scores=[null,2]",
            LogRecord("Q1", citations=("a", "b"), kpos=(1, None), scores=(None, 2.0)),
        ),
        ('qid=Q1 citations=[null,"null"]', LogRecord("Q1", citations=("null", "null"))),
        ('qid=Q1 section_id="Keys" and locks', LogRecord("Q1", section_id='"Keys" and locks')),
    ],
)
def test_values_are_read_whole(line: str, expected: LogRecord) -> None:
    assert parse_log_line(line) == (expected, ())


@pytest.mark.parametrize(
    ("line", "code", "field"),
    [
        ("qid=Q1 seg=one", "wrong_type_seg", "seg"),
        ("qid=Q1 deltaS=NaN", "wrong_type_deltaS", "deltaS"),
        ("qid=Q1 deltaS=1e999", "wrong_type_deltaS", "deltaS"),
        ("qid=Q1 k=", "wrong_type_k", "k"),
        ("qid=Q1 citations=[a] scores=[high]", "wrong_type_scores", "scores[1]"),
        ("qid=Q1 citations=a,b", "wrong_type_citations", "citations"),
        ("qid=Q1 citations=[a,b", "wrong_type_citations", "citations"),
        ("qid=Q1 citations=[a,b] kfinal=[1]", "lists_differ", "kfinal"),
        ("qid=Q1 kpos=[1]", "lists_differ", "kpos"),
        ("qid=Q1 qid=Q2", "duplicate_key", "qid"),
        ("qid=Q1 model=m", "unknown_key", "model"),
        ("INFO qid=Q1", "unknown_key", ""),
    ],
)
def test_what_is_wrong_is_a_finding_and_the_rest_is_read(line: str, code: str, field: str) -> None:
    record, (finding,) = parse_log_line(line)
    assert (finding.code, finding.where, record.qid) == (code, field, "Q1")


def test_unknown_entries_are_kept() -> None:
    record, _ = parse_log_line('INFO qid=Q1 model="m 2" seg=1 note=of two words rev=7')
    assert record == LogRecord(
        "Q1", seg=1, rev="7", others=(("", "INFO"), ("model", "m 2"), ("note", "of two words"))
    )


@pytest.mark.parametrize("line", ["", "no entries", "seg=1 deltaS=0.37", "xqid=Q1", "QID=Q1"])
def test_a_line_without_a_question_is_unusable(line: str) -> None:
    with pytest.raises(UnusableError, match="qid"):
        parse_log_line(line)


_TEXT = st.text(max_size=12) | st.sampled_from(
    [ID, " ", "a b=c", '"', "[", "a,b", "]", "null", "\u2028", "\x85"]
)
_WHOLE = st.integers(-(10**15) + 1, 10**15 - 1)
_REAL = st.floats(allow_nan=False, allow_infinity=False)


def _maybe_list(items: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...] | None]:
    return st.none() | st.lists(items, max_size=4).map(tuple)


_RECORDS = st.builds(
    LogRecord,
    qid=_TEXT,
    ts=st.none() | _TEXT,
    seg=st.none() | _WHOLE,
    delta_s=st.none() | _REAL,
    lambda_state=st.sampled_from([None, "convergent", "divergent", "recursive", "chaotic", "own"]),
    k=st.none() | _WHOLE,
    store=st.none() | _TEXT,
    index_hash=st.none() | _TEXT,
    embed=st.none() | _TEXT,
    analyzer=st.none() | _TEXT,
    citations=_maybe_list(_TEXT),
    scores=_maybe_list(st.none() | _REAL),
    kpos=_maybe_list(st.none() | _WHOLE),
    kfinal=_maybe_list(st.none() | _WHOLE),
    section_id=st.none() | _TEXT,
    rev=st.none() | _TEXT,
    aliases=_maybe_list(st.none() | _TEXT),
    others=st.lists(st.tuples(st.sampled_from(["x", "a.b", "λ", "qid2"]), _TEXT), max_size=2).map(tuple),
)


@given(_RECORDS)
def test_what_is_written_is_read_again_whatever_it_holds(record: LogRecord) -> None:
    line = format_log_line(record)
    assert len(line.splitlines()) == 1
    assert parse_log_line(line)[0] == record


@given(st.text('qid=sceo rv[],"\\ x1n\n', max_size=40))
def test_any_line_is_read_or_refused_and_reading_settles(text: str) -> None:
    try:
        record, _ = parse_log_line(f"qid=1 {text}")
    except UnusableError:
        return
    if not any(name == "" for name, _ in record.others):
        assert parse_log_line(format_log_line(record))[0] == record


def test_no_known_name_may_be_written_as_an_unknown_one() -> None:
    for name in ("", "a b", "1x", *KEYS):
        with pytest.raises(ValueError, match="name of an entry"):
            format_log_line(LogRecord("Q1", others=((name, "x"),)))


class Counted:
    """A pattern that counts the characters which it looks at."""

    def __init__(self, pattern: re.Pattern[str], looked: list[int]) -> None:
        self._pattern, self._looked = pattern, looked
        # What a match that fails has gone over: a string up to where its closing quote is missing.
        self._begun = re.compile(pattern.pattern.removesuffix('"'))

    def match(self, text: str, begin: int = 0) -> re.Match[str] | None:
        found = self._pattern.match(text, begin)
        reached = found or self._begun.match(text, begin)
        self._looked.append(1 + (reached.end() - begin if reached else 0))
        return found

    def search(self, text: str, begin: int = 0) -> re.Match[str] | None:
        found = self._pattern.search(text, begin)
        self._looked.append(1 + (found.end() if found else len(text)) - begin)
        return found


def characters_looked_at(line: str) -> int:
    looked: list[int] = []
    with pytest.MonkeyPatch.context() as counting:
        for name in ("_KEY", "_STRING", "_ITEM_END", "_SPACE"):
            counting.setattr(log_lines, name, Counted(getattr(log_lines, name), looked))
        parse_log_line(line)
    return sum(looked)


@pytest.mark.parametrize(
    ("begin", "again"),
    [
        ("", "qid="),
        ("", "citations=["),
        ("", ' a="'),
        ('citations=["', '",'),
        ("citations=[", '"\x01,'),
        ("citations=[", ' "\\" ,'),
        ("", "citations=[x "),
        ("", "citations=[1, "),
        ("", 'citations=["x", '),
    ],
)
def test_a_hostile_line_twice_as_long_takes_twice_the_work(begin: str, again: str) -> None:
    once, twice = (characters_looked_at(f"qid=Q1 {begin}{again * times}") for times in (2_000, 4_000))
    assert twice < 2.5 * once


def test_a_list_that_is_closed_is_read_inside_one_that_is_not() -> None:
    record, _ = parse_log_line('qid=Q1 note=["a kpos=[1] kfinal=[2,3] b=1", x')
    assert (record.kpos, record.kfinal) == ((1,), (2, 3))
    assert dict(record.others)["note"] == '["a'


def test_a_log_is_read_line_by_line_with_its_issues(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_bytes(b"\xef\xbb\xbfqid=Q1 seg=1\r\n\nseg=2\nqid=\xff\nqid=Q2\nqid=Q3 no line end")
    read: list[tuple[int, str]] = []
    for raw in read_lines(path, final=False):
        try:
            read.append((raw.line, read_log_line(raw)[0].qid))
        except UnusableError as why:
            read.append((raw.line, why.code))
    assert read == [(1, "Q1"), (3, "qid_missing"), (4, "bad_utf8"), (5, "Q2")]
