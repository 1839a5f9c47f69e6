"""A gate's report as JUnit XML, Markdown and JSON: each is read again, and no text becomes markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from proofspan.services.gate import junit_xml, markdown, report_to_json
from proofspan.services.markdown_text import code_span, one_line, prose
from proofspan.services.release import Affected, Check, ReleaseVerdict
from proofspan.store.query.filters import Filter

BASE = "https://proofspan.example/team"
HOSTILE = (
    "<script>alert(1)</script>",
    "![x](https://evil.example/leak.png)",
    "](https://evil.example) | a | `b` ``c``",
    "\\| not a cell \\",
    "@everyone #12 www.evil.example mail@evil.example https://evil.example",
    "]]> &amp; <!-- \x00\x08\x0b\x1b[31m \u202e\ufffe",
    "line one\n\n# heading\r\n- item\u2028| a |\n|---|",
    "```\nfence\n```",
    "*_~$:smile:",
    "  ",
)


def report(
    *checks: Check, run_id: str = "R2", against: str | None = "R1", strict: bool = False
) -> ReleaseVerdict:
    return ReleaseVerdict(run_id, against, 3, checks, strict)


def failing(*questions: str, message: str = "2 of 3", was: str = "ok") -> Check:
    asked = tuple(Affected(f"Q{n}", q, "R2", was, "retrieval_drift") for n, q in enumerate(questions))
    shown = Filter("R2", vs="R1", was=("ok",), label=("retrieval_drift",))
    return Check("flips", "Flips", "fail", message, {"found": len(asked)}, asked, len(asked), shown)


FOUR = (
    failing("Why?"),
    Check("delta_s_mean", "ΔS mean", "warn", "0.512 over 3 questions"),
    Check("questions", "Questions", "pass", "3 questions"),
    Check("citation_match", "Citation match", "skipped", "not measured"),
)


def parsed(data: bytes) -> Xml.Element:
    return Xml.fromstring(data)  # noqa: S314 - our own output


def cases(data: bytes) -> dict[str, Xml.Element]:
    return {str(case.get("name")): case for case in parsed(data).iter("testcase")}


def tokens(text: str) -> Iterator[Token]:
    """Everything that a renderer would make of Markdown, inline parts included."""
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        yield token
        yield from token.children or ()


def links(text: str) -> list[str]:
    return [str(token.attrGet("href")) for token in tokens(text) if token.type == "link_open"]


def test_junit_has_a_test_case_a_check_and_its_counts() -> None:
    root = parsed(junit_xml(report(*FOUR)))
    (suite,) = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "R2, compared with R1")
    for element in (root, suite):
        assert [element.get(name) for name in ("tests", "failures", "errors", "skipped")] == [
            "4",
            "1",
            "0",
            "1",
        ]
    found = cases(junit_xml(report(*FOUR)))
    kinds = {name: [child.tag for child in case] for name, case in found.items()}
    assert kinds == {
        "flips": ["failure"],
        "delta_s_mean": ["system-out"],
        "questions": ["system-out"],
        "citation_match": ["skipped"],
    }
    failure = found["flips"][0]
    assert failure.get("message") == "2 of 3"
    assert failure.text == "Flips: 2 of 3\nQ0  ok → retrieval_drift: Why?"
    assert found["delta_s_mean"][0].text == "warning: 0.512 over 3 questions"


def test_warnings_fail_where_they_count() -> None:
    root = parsed(junit_xml(report(*FOUR, strict=True)))
    assert root.get("failures") == "2"
    assert cases(junit_xml(report(*FOUR, strict=True)))["delta_s_mean"][0].tag == "failure"
    assert report_to_json(report(FOUR[1], strict=True))["passes"] is False
    assert report_to_json(report(FOUR[1]))["passes"] is True


@given(text=st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE)))
def test_any_text_is_text_in_junit(text: str) -> None:
    data = junit_xml(report(failing(text, message=text), run_id=text or "R"))
    (failure,) = cases(data)["flips"]
    assert len(failure) == 0
    assert failure.text is not None
    assert failure.text.count("\n") == 1
    assert re.search("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", data.decode()) is None


@given(text=st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE)))
def test_any_text_is_text_in_markdown(text: str) -> None:
    written = markdown(report(failing(text, message=text), run_id=text or "R", against=text))
    found = list(tokens(written))
    kinds = {token.type for token in found}
    assert [token.content for token in found if token.type == "html_block"] == [
        *("<details>\n<summary>1 check</summary>\n", "</details>\n"),
        *("<details>\n<summary>Questions of 1 check</summary>\n", "</details>\n"),
    ]
    assert not kinds & {
        "html_inline",
        "image",
        "link_open",
        "em_open",
        "strong_open",
        "s_open",
        "fence",
    }
    assert [token.tag for token in found if token.type == "heading_open"] == ["h2", "h3"]
    assert sum(token.type == "td_open" for token in found) == 3
    assert sum(token.type == "list_item_open" for token in found) == 2  # the reason, and the question


@given(text=st.one_of(st.text(max_size=40), st.sampled_from(HOSTILE)))
def test_a_code_span_holds_the_whole_text(text: str) -> None:
    (span,) = [token for token in tokens(f"- {code_span(text)}") if token.type in ("code_inline", "text")]
    assert (span.type, span.content) == ("code_inline", one_line(text) or " ")


@pytest.mark.parametrize(
    "text",
    [
        "26 of 37, 70 % (54–83 %), goal at least 70 %; passes, but 37 questions can't exclude less than 70 %",
        "0.412 (0.381–0.452) over 1,037 questions",
        "ΔS mean",
        "GT-in-top-20",
        "Flips ok → hit",
    ],
)
def test_sentences_of_ours_stay_plain(text: str) -> None:
    assert prose(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("SectionMatch@1", "`SectionMatch@1`"),
        ("became retrieval_drift, or", "became `retrieval_drift`, or"),
        ("see www.evil.example.", "see `www.evil.example`."),
        ("https://evil.example", "`https://evil.example`"),
        ("a@b.example", "`a@b.example`"),
        ("#12 @team", "`#12` `@team`"),
        ("GH-12, (gh-3) GH", "`GH-12`, `(gh-3)` GH"),
        ("<b> |", "`<b>` `¦`"),
        ("::", "`::`"),
        ("`goals.ok`: `x`", "`goals.ok`: `x`"),
        ("``x` `", "``` ``x` ``` `` ` ``"),
    ],
)
def test_words_that_a_forge_would_link_are_written_as_code(text: str, written: str) -> None:
    assert prose(text) == written


def test_questions_are_links_that_open_them_only_where_there_is_a_base() -> None:
    missing = Check(
        "questions", "Questions", "warn", "1", {}, (Affected("Q#9", "?", "R1", now="missing"),), 1
    )
    found = links(markdown(report(failing("Why?"), missing), base=f"{BASE}/"))
    assert found == [
        f"{BASE}/question?run=R2&q=Q0&vs=R1",
        f"{BASE}/?run=R2&label=retrieval_drift&vs=R1&was=ok",
        f"{BASE}/question?run=R1&q=Q%239%231",
    ]
    assert links(markdown(report(failing("Why?"), missing))) == []


def test_a_hostile_id_stays_inside_its_link() -> None:
    hostile = ")](javascript:alert(1)) <x> \n`"
    check = Check("flips", "Flips", "fail", "1", {}, (Affected(hostile, "?", "R2", "ok", "x"),), 1)
    (found,) = links(markdown(report(check), base=BASE))
    assert urlsplit(found).netloc == "proofspan.example"
    assert parse_qs(urlsplit(found).query)["q"] == [hostile]


def test_many_questions_are_cut_and_counted() -> None:
    many = [f"question {n}" for n in range(1_005)]
    written = markdown(report(failing(*many)), base=BASE)
    assert "### Flips: 1,005 questions" in written
    assert "- … and 985 more\n" in written
    by_id = markdown(report(Check("x", "X", "fail", "1", {}, (Affected("Q1", "?", "R2"),), 30)))
    assert "### X: 30 questions\n\n`Q1`, … and 10 more\n\n" in by_id
    text = cases(junit_xml(report(failing(*many))))["flips"][0].text or ""
    assert text.endswith("question 999\n… and 5 more")


def test_json_holds_every_question_with_what_it_was() -> None:
    output = json.loads(json.dumps(report_to_json(report(*FOUR), base=BASE)))
    assert (output["run_id"], output["against"], output["passes"]) == ("R2", "R1", False)
    assert output["counts"] == {"fail": 1, "open": 0, "warn": 1, "pass": 1, "skipped": 1}
    assert [check["fails"] for check in output["checks"]] == [True, False, False, False]
    first = output["checks"][0]
    asked = {"q_id": "Q0", "q": "Why?", "was": "ok", "now": "retrieval_drift", "file": None, "line": None}
    assert first["questions"] == [asked]
    assert first["link"] == f"{BASE}/?run=R2&label=retrieval_drift&vs=R1&was=ok"


def test_the_same_report_gives_the_same_bytes() -> None:
    one, other = report(*FOUR), report(*FOUR)
    assert junit_xml(one) == junit_xml(other)
    assert markdown(one, base=BASE) == markdown(other, base=BASE)


def test_a_check_that_lacks_evidence_says_so_and_fails_a_strict_build() -> None:
    lacking = Check("gt_in_top_20", "GT", "pass", "35 of 37", open="37 questions: too few", change="ask 164")
    loose, strict = report(lacking), report(lacking, strict=True)
    (out,) = cases(junit_xml(loose))["gt_in_top_20"]
    assert (out.tag, out.text) == ("system-out", "35 of 37\nevidence is missing: 37 questions: too few")
    assert cases(junit_xml(strict))["gt_in_top_20"][0].tag == "failure"
    assert parsed(junit_xml(strict)).get("failures") == "1"
    output = json.loads(json.dumps(report_to_json(loose)))
    assert (output["state"], output["verdict"]) == ("not_enough_evidence", "Not enough evidence")
    assert output["reasons"][0]["change"] == "Ask 164"
    written = markdown(loose)
    assert "`R1`: Not enough evidence\n" in written and "? open" in written
    assert "What would change it:\n\n- Ask 164\n" in written
