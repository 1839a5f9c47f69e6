"""`proofspan validate`: check files of records against the contract, one finding per line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import orjson

from proofspan.cli.output import (
    FIX_OPTION,
    STDOUT,
    NamedPath,
    check_outputs,
    output_to,
    progress_bar,
)
from proofspan.contracts.record_rules import RECORD_TYPES
from proofspan.contracts.rules.catalogue import Finding, rule_of
from proofspan.contracts.rules.context import Context
from proofspan.errors import InputFault, printable
from proofspan.services.validation import Tally, validate
from proofspan.traces.lines.unpack import temporary_folder
from proofspan.traces.lines.worker_process import collector_paused
from proofspan.wording import counted


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=NamedPath())
@click.option(
    "--as",
    "record_type",
    type=click.Choice(RECORD_TYPES),
    metavar="TYPE",
    help=f"What the records are: {', '.join(RECORD_TYPES)}. Without it each says so in its $schema.",
)
@click.option("--chunks", type=NamedPath(), help="A chunk file: whatever is named has to be in it.")
@click.option("--index-hash", metavar="HASH", help="The live index's hash.")
@click.option("--embed-model", metavar="NAME", help="The live embedding model.")
@click.option("--analyzer", metavar="NAME", help="The analyzer at read time.")
@click.option("--rev", "revs", multiple=True, metavar="DOC=REV", help="A document's revision; repeat.")
@click.option("--refusal", multiple=True, help="A phrase that makes an answer a refusal; repeat.")
@click.option("--allow-cross-section", "cross", is_flag=True, help="A segment may cite any sections.")
@click.option(
    "--cross-section", "sections", multiple=True, metavar="ID", help="One to cite beside others; repeat."
)
@FIX_OPTION
@click.option("--strict", is_flag=True, help="Warnings count as findings too.")
@click.option("--json", "as_json", is_flag=True, help="Print an object a finding, and the summary last.")
@click.option("--workers", type=click.IntRange(1, 32), default=2, show_default=True, help="Processes.")
@click.option("-o", "--output", "report", default=STDOUT, help="The file to write; - for stdout.")
def command(
    paths: tuple[Path, ...],
    record_type: str | None,
    chunks: Path | None,
    index_hash: str | None,
    embed_model: str | None,
    analyzer: str | None,
    revs: tuple[str, ...],
    refusal: tuple[str, ...],
    cross: bool,
    sections: tuple[str, ...],
    fix_encoding: bool,
    strict: bool,
    as_json: bool,
    workers: int,
    report: str,
) -> None:
    """Check the records of each PATH against the contract: JSONL, a JSON array, a log, also .gz and .zst.

    For a workspace (its folder or manifest) check every file that the manifest names, with the pins of its
    runs; --as selects among them. Separate records (query, retrieved, rerank, answer) that are given together
    are compared with each other.

    A finding is one line: file:line, record, code, field, message, fix; separated by tabs unless the output
    is a terminal. The summary by code goes to stderr.

    Exit status: 0 no finding, 1 findings (warnings count with --strict), 2 a file cannot be used at all.
    """
    check_outputs([report], paths if chunks is None else (*paths, chunks))
    named: dict[str, str] = {}
    for given in revs:  # the document's name may hold further equals signs
        doc_id, sign, rev = given.rpartition("=")
        if not (doc_id and sign and rev):
            raise click.UsageError(f"--rev {given!r} is not DOC=REV")
        named[doc_id] = rev
    context = Context(
        index_hash=index_hash,
        embed_model=embed_model,
        analyzer=analyzer,
        revs=named,
        allow_cross=cross,
        cross_sections=frozenset(sections),
    )
    on_terminal = report == STDOUT and sys.stdout.isatty()
    line_of = json_line if as_json else terminal_line if on_terminal else piped_line
    tally = Tally()
    with (
        temporary_folder() as unpacked,
        output_to(report) as output,
        progress_bar("validating", quiet=on_terminal) as on_progress,
        collector_paused(),
    ):
        findings = validate(
            paths,
            record_type,
            cache_dir=Path(unpacked),
            context=context,
            chunks=chunks,
            refusal=refusal or None,
            fix_encoding=fix_encoding,
            workers=workers,
            tally=tally,
            on_progress=on_progress,
        )
        for each in findings:
            output.write(line_of(each))
        if as_json:
            output.write(json_summary(tally))
    if not as_json:
        for line in summary_lines(tally):
            click.echo(printable(line), err=True)
    if tally.problems:
        raise InputFault(*tally.problems)
    sys.exit(1 if tally.errors or (strict and tally.warnings) else 0)


_COLOURS = {"error": "red", "warning": "yellow"}


def piped_line(each: Finding) -> bytes:
    """Return `file:line`, record, code, field, message and fix, separated by tabs."""
    cells = (f"{each.file}:{each.line}", each.record_id, each.code, each.where, each.message, each.fix)
    return _bytes("\t".join(map(_cell, cells)))


def terminal_line(each: Finding) -> bytes:
    """Return the finding in columns, the code in the colour of its severity.

    The columns are wide enough for nearly all values; a longer one shifts the rest.
    """
    where, record, field = map(_cell, (f"{each.file}:{each.line}", each.record_id or "-", each.where or "-"))
    code = click.style(f"{each.code:<22}", fg=_COLOURS[each.severity])
    return _bytes(f"{where:<28}  {record:<20}  {code}  {field:<24}  {_cell(each.message)} — {each.fix}")


def json_line(each: Finding) -> bytes:
    """Return the finding as one JSON object."""
    record = {
        "file": each.file,
        "line": each.line,
        "record_id": each.record_id,
        "code": each.code,
        "severity": each.severity,
        "field": each.where,
        "message": each.message,
        "next_step": each.fix,
    }
    return orjson.dumps(record) + b"\n"


def json_summary(tally: Tally) -> bytes:
    """Return the summary, the last object and the only one with the key `summary`."""
    summary = {
        "files": tally.files,
        "records": tally.read,
        "errors": tally.errors,
        "warnings": tally.warnings,
        "codes": [
            {"code": code, "severity": rule_of(code).severity, "findings": findings, "records": records}
            for code, findings, records in tally.by_code()
        ],
        "problems": [
            {name: getattr(each, name) for name in ("code", "severity", "message", "where", "fix")}
            for each in (*tally.problems, *tally.notes)
        ],
    }
    return orjson.dumps({"summary": summary}) + b"\n"


def summary_lines(tally: Tally) -> Iterator[str]:
    """Yield what was read and found, then a line per code with its fix."""
    read = f"{counted(tally.read, 'record')} in {counted(tally.files, 'file')}"
    if not tally.files:
        yield "nothing could be read"
    elif not tally.findings:
        yield f"{read}: no finding"
    else:
        yield f"{read}: {counted(tally.errors, 'error')}, {counted(tally.warnings, 'warning')}"
        yield f"  {'findings':>9}{'records':>10}  code"
    width = max(map(len, tally.findings), default=0)
    for code, findings, records in tally.by_code():
        rule = rule_of(code)
        sign = "" if rule.severity == "error" else " (warning)"
        yield f"  {findings:>9,}{records:>10,}  {code:<{width}}  {rule.fix}{sign}"
    for each in tally.notes:
        yield f"note: {each}"


def _cell(text: str) -> str:
    """Escape control characters, line ends and tabs of a record's text."""
    return printable(text).replace("\n", "\\n")


def _bytes(line: str) -> bytes:
    return f"{line}\n".encode("utf-8", "backslashreplace")
