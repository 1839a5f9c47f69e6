"""A gate's report as files: JUnit XML for a CI server, Markdown for a pull request, JSON for programs.

Questions, run ids and paths come from elsewhere: no format lets them become markup, and the same report gives
the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree as Xml

from proofspan.errors import printable
from proofspan.services.addresses import absolute, question_address
from proofspan.services.gate_checks import Asked, Check, Status
from proofspan.services.gating import GateReport

#: So many questions of a check are listed in Markdown, where a comment has little room, and so many in XML.
SHOWN, SHOWN_IN_XML = 20, 1_000
#: So much of a question is shown.
CUT = 160
WORDS: dict[Status, str] = {"fail": "✗ fails", "warn": "! warns", "pass": "✓ passes", "skipped": "– skipped"}

#: What XML 1.0 has no way to write.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BACKTICKS = re.compile(r"`+")
_QUOTED = re.compile(r"`[^`]+`")
#: A word of these characters alone is nothing to Markdown, wherever it stands in a cell or a heading.
_PLAIN_WORD = re.compile(r"\(?(?:[^\W_]|[%–·≥≤=×…→]|(?<=\d)[.,](?=\d)|(?<=[^\W_])[-’'](?=[^\W_]))+[.,:;)]*")


def report_to_json(report: GateReport, *, strict: bool, base: str = "") -> dict[str, object]:
    """The report as plain data, with the questions of every check; `base` makes its links absolute."""
    return {
        "run_id": report.run_id,
        "against": report.against,
        "passes": report.passes(strict=strict),
        "strict": strict,
        "questions": report.questions,
        "counts": report.counts(),
        "checks": [_check_to_json(check, base) for check in report.checks],
    }


def junit_xml(report: GateReport, *, strict: bool) -> bytes:
    """One suite with a test case a check; a failure names its questions. Warnings fail where `strict`."""
    count = report.counts()
    failures = count["fail"] + (count["warn"] if strict else 0)
    totals = {"tests": len(report.checks), "failures": failures, "errors": 0, "skipped": count["skipped"]}
    numbers = {name: str(number) for name, number in totals.items()} | {"time": "0"}
    root = Xml.Element("testsuites", {"name": "proofspan gate", **numbers})
    suite = Xml.SubElement(root, "testsuite", {"name": _xml(_title(report)), **numbers})
    for check in report.checks:
        _test_case(suite, report, check, strict=strict)
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def markdown(report: GateReport, *, strict: bool, base: str = "") -> str:
    """A heading, a table with a line a check, and the questions that speak against the run.

    With `base`, the address of a dashboard, each question and each list is a link that opens it.
    """
    lines = [
        f"## Gate: {_title(report, code)} {'passes' if report.passes(strict=strict) else 'fails'}",
        "",
        report.counts_in_words() + (" (warnings count)" if strict else ""),
        "",
        "| | check | result |",
        "|---|---|---|",
        *(
            f"| {WORDS[check.status]} | {prose(check.title)} | {prose(check.said)} |"
            for check in report.checks
        ),
    ]
    for check in report.checks:
        if check.asked:
            lines += ["", *_listed(report, check, base)]
    return "\n".join(lines) + "\n"


def question_line(each: Asked) -> str:
    """`Q80  ok → retrieval_drift: How do I …`, for one line of text."""
    change = f"{each.change}: " if each.change else ""
    return f"{one_line(each.q_id)}  {change}{one_line(each.q)}"


def one_line(text: str, *, cut: int | None = CUT) -> str:
    """The text on one line, cut, and with what acts on a screen as escapes."""
    plain = printable(" ".join(text.split()))
    return plain if cut is None or len(plain) <= cut else f"{plain[: cut - 1]}…"


def code(text: str) -> str:
    """A text of others as a code span: nothing in it is markup, and no name or address becomes a link."""
    plain = one_line(text) or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def prose(text: str) -> str:
    """A sentence of ours, in which every word that Markdown could take for more stands as a code span.

    For a cell, which a `|` would end whatever stands around it: it is shown as `¦`.
    """
    words = printable(" ".join(text.split())).replace("|", "¦").split(" ")
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else _coded(word) for word in words)


def _coded(word: str) -> str:
    """The word as code, without the mark of the sentence that it ends with, nor backticks of our own."""
    body = word.rstrip(",;:.") or word
    bare = body[1:-1] if _QUOTED.fullmatch(body) else body
    return f"{code(bare)}{word[len(body) :]}"


def _title(report: GateReport, named: Callable[[str], str] = one_line) -> str:
    """`R005 against R004`."""
    against = f" against {named(report.against)}" if report.against is not None else ""
    return f"{named(report.run_id)}{against}"


def _check_to_json(check: Check, base: str) -> dict[str, object]:
    return {
        "name": check.name,
        "title": check.title,
        "status": check.status,
        "said": check.said,
        "numbers": dict(check.numbers),
        "questions": [
            {"q_id": each.q_id, "q": each.q, "was": each.was or None, "now": each.now or None}
            for each in check.asked
        ],
        "questions_count": check.count,
        "link": absolute(base, check.link) if base and check.link else check.link or None,
    }


def _test_case(suite: Xml.Element, report: GateReport, check: Check, *, strict: bool) -> None:
    named = {
        "classname": _xml(f"proofspan.gate.{one_line(report.run_id)}"),
        "name": _xml(check.name),
        "time": "0",
    }
    case = Xml.SubElement(suite, "testcase", named)
    said = _xml(one_line(check.said, cut=None))
    if check.status == "fail" or (strict and check.status == "warn"):
        failure = Xml.SubElement(case, "failure", {"message": said, "type": check.status})
        failure.text = _xml("\n".join([f"{one_line(check.title)}: {said}", *_in_lines(check)]))
    elif check.status == "skipped":
        Xml.SubElement(case, "skipped", {"message": said})
    else:
        warning = "warning: " if check.status == "warn" else ""
        Xml.SubElement(case, "system-out").text = _xml("\n".join([f"{warning}{said}", *_in_lines(check)]))


def _in_lines(check: Check) -> Iterator[str]:
    for each in check.asked[:SHOWN_IN_XML]:
        yield question_line(each)
    if check.count > SHOWN_IN_XML:
        yield f"… and {check.count - SHOWN_IN_XML:,} more"


def _listed(report: GateReport, check: Check, base: str) -> Iterator[str]:
    """The questions of a check under a heading: what changed with its text, what merely counts by name."""
    count = check.count
    yield f"### {prose(check.title)}: {count:,} question{'s' * (count != 1)}"
    yield ""
    more = f"… and {count - SHOWN:,} more" if count > SHOWN else ""
    if check.is_change:
        for each in check.asked[:SHOWN]:
            yield f"- {_named(report, each, base)} {prose(each.change)}: {code(each.q)}"
        yield from [f"- {more}"] if more else []
    else:
        names = [_named(report, each, base) for each in check.asked[:SHOWN]]
        yield ", ".join([*names, more] if more else names)
    if base and check.link:
        yield ""
        yield f"[All of them in Triage]({absolute(base, check.link)})"


def _named(report: GateReport, each: Asked, base: str) -> str:
    """A question's id, with `base` as a link that opens it."""
    if not base:
        return code(each.q_id)
    vs = report.against if each.in_run == report.run_id else None
    return f"[{code(each.q_id)}]({absolute(base, question_address(each.in_run, each.q_id, vs=vs))})"


def _xml(text: str) -> str:
    """A text without what XML cannot hold; the writer escapes the rest."""
    return _NO_XML.sub("", text)
