"""A finding as a line: for a terminal, for a pipe, as JSON; and the summary by code."""

from __future__ import annotations

from collections.abc import Iterator

import click
import orjson

from proofspan.contracts.codes import rule_of
from proofspan.errors import printable
from proofspan.services.validating import LocatedFinding, Tally

#: Columns on a terminal, in characters: wide enough for nearly all, and a longer value pushes on.
_WIDTHS = {"where": 28, "record": 20, "code": 22, "field": 24}
_COLOURS = {"error": "red", "warning": "yellow"}


def piped_line(found: LocatedFinding) -> bytes:
    """`file:line`, record, code, field, message and next step with tabs between them."""
    where = f"{found.file}:{found.line}"
    cells = (where, found.record_id, found.code, found.field, found.message, found.next_step)
    return _bytes("\t".join(map(_cell, cells)))


def terminal_line(found: LocatedFinding) -> bytes:
    """The same in columns, the code in the colour of its severity."""
    where, record, field = map(
        _cell, (f"{found.file}:{found.line}", found.record_id or "-", found.field or "-")
    )
    code = click.style(f"{found.code:<{_WIDTHS['code']}}", fg=_COLOURS[found.severity])
    said = f"{_cell(found.message)} — {found.next_step}"
    padded = (
        f"{where:<{_WIDTHS['where']}}  {record:<{_WIDTHS['record']}}  {code}  {field:<{_WIDTHS['field']}}"
    )
    return _bytes(f"{padded}  {said}")


def json_line(found: LocatedFinding) -> bytes:
    """The finding as one JSON object."""
    told = {
        "file": found.file,
        "line": found.line,
        "record_id": found.record_id,
        "code": found.code,
        "severity": found.severity,
        "field": found.field,
        "message": found.message,
        "next_step": found.next_step,
    }
    return orjson.dumps(told) + b"\n"


def json_summary(tally: Tally) -> bytes:
    """The summary as the last object: it alone has the key `summary`."""
    codes = [
        {"code": code, "severity": rule_of(code).severity, "findings": findings, "records": records}
        for code, findings, records in tally.by_code()
    ]
    problems = [
        {name: getattr(each, name) for name in ("code", "severity", "message", "where", "remedy")}
        for each in (*tally.problems, *tally.notes)
    ]
    told = {
        "files": tally.files,
        "records": tally.read,
        "errors": tally.errors,
        "warnings": tally.warnings,
        "codes": codes,
        "problems": problems,
    }
    return orjson.dumps({"summary": told}) + b"\n"


def summary_lines(tally: Tally) -> Iterator[str]:
    """What was read and found, then a line a code with its next step."""
    read = f"{_count(tally.read, 'record')} in {_count(tally.files, 'file')}"
    if not tally.files:
        yield "nothing could be read"
    elif not tally.findings:
        yield f"{read}: no finding"
    else:
        yield f"{read}: {_count(tally.errors, 'error')}, {_count(tally.warnings, 'warning')}"
        yield f"  {'findings':>9}{'records':>10}  code"
    width = max(map(len, tally.findings), default=0)
    for code, findings, records in tally.by_code():
        rule = rule_of(code)
        sign = "" if rule.severity == "error" else " (warning)"
        yield f"  {findings:>9,}{records:>10,}  {code:<{width}}  {rule.next_step}{sign}"
    for each in tally.notes:
        yield f"note: {each}"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'s' * (number != 1)}"


def _cell(text: str) -> str:
    """Text of a record in its column: no control character, line end or tab of its own."""
    return printable(text).replace("\n", "\\n")


def _bytes(line: str) -> bytes:
    return f"{line}\n".encode("utf-8", "backslashreplace")
