"""`proofspan sprint`: the sprint's record, to which entries are only ever added."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import click
import orjson

from proofspan.cli.output import (
    CACHE_OPTION,
    JSON_OPTION,
    OUTPUT_OPTION,
    NamedPath,
    check_outputs,
    json_text,
    print_problems,
    workspace_files,
    write_bytes,
)
from proofspan.errors import InputFault, printable
from proofspan.journal.sprint import ENTRY_KINDS, EntryKind, append, append_all, read_sprint, where_of
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.sprint.as_text import counts_in_words, record_as_json, text_lines
from proofspan.services.sprint.draft import drafted, written_now
from proofspan.services.sprint.fields import FIELDS
from proofspan.services.sprint.markdown.plan import Plan, file_text, plan, repairs_in_words
from proofspan.services.sprint.markdown.write import markdown_of
from proofspan.services.sprint.record import sprint_record
from proofspan.services.sprint.types import SprintRecord
from proofspan.wording import counted

_RUNS_OPTION = click.option(
    "--without-runs", is_flag=True, help="Leave the numbers of the runs out; nothing is indexed."
)
_MOST_STDIN = 1 << 20


@click.group("sprint")
def command() -> None:
    """Show and add to the sprint's record: goals, work packages, decisions, risks, log.

    It is the file that the manifest's `sprint` names. Lines are only ever added.
    """


@command.command("show")
@click.argument("workspace", type=NamedPath())
@_RUNS_OPTION
@JSON_OPTION
@CACHE_OPTION
def show(workspace: Path, without_runs: bool, as_json: bool, cache_dir: Path | None) -> None:
    """Print the record of WORKSPACE: what is open, goals against the runs, and everything else.

    Exit status: 0 good, 1 a line holds no entry, 2 unusable input.
    """
    record = _record(load_manifest(workspace), without_runs, cache_dir)
    if as_json:
        click.echo(json_text(record_as_json(record)), nl=False)
    else:
        click.echo(printable("\n".join(text_lines(record))))
    print_problems([*record.issues, *record.problems])
    sys.exit(1 if record.issues else 0)


@command.command("add")
@click.argument("workspace", type=NamedPath())
@click.argument("kind", type=click.Choice(ENTRY_KINDS), required=False)
@click.argument("key", default="")
@click.option("--author", metavar="NAME", help="Who writes it.")
@click.option("--set", "given", multiple=True, metavar="FIELD=TEXT", help="A field; repeat, also for a list.")
@click.option("--at", metavar="TIME", help="When it was written, if not now: 2026-02-23T10:00:00Z.")
@click.option("--corrects", metavar="ID", help="The entry that it corrects.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the entry as a JSON object from stdin.")
def add(workspace: Path, given: tuple[str, ...], from_stdin: bool, **options: str | None) -> None:
    """Add one entry to the record of WORKSPACE and print its id; then it is on the disk.

    KEY is the id of the goal, work package, decision, risk or section. --stdin takes kind, key, author, at,
    corrects and fields from a JSON object; options come before it.

    Exit status: 0 it is written, 2 it cannot be.
    """
    manifest = load_manifest(workspace)
    read = _from_stdin() if from_stdin else {}
    kind = options["kind"] or read.get("kind")
    if kind not in ENTRY_KINDS:
        raise click.UsageError(f"name the KIND of the entry: {', '.join(ENTRY_KINDS)}")
    author = options["author"] or read.get("author")
    if not author:
        raise click.UsageError("name who writes the entry: --author NAME")
    fields = read.get("fields", {})
    if not isinstance(fields, dict):
        raise InputFault.of("wrong_type_fields", "fields is not an object", where="stdin", fix="write {…}")
    entry = drafted(
        cast(EntryKind, kind),
        str(options["key"] or read.get("key") or ""),
        at=str(options["at"] or read.get("at") or written_now()),
        author=str(author),
        fields={**fields, **_fields(cast(EntryKind, kind), given)},
        corrects=options["corrects"] or read.get("corrects"),
        keep_empty=True,
    )
    written = append(manifest, entry)
    click.echo(printable(f"{written.entry_id}  {where_of(written)}, {written.at}, {written.author}"))


def _from_stdin() -> dict[str, Any]:
    data = sys.stdin.buffer.read(_MOST_STDIN + 1)
    try:
        read = orjson.loads(data) if len(data) <= _MOST_STDIN else None
    except orjson.JSONDecodeError as error:
        message = f"what was given is not valid JSON: {error.msg}"
        raise InputFault.of("not_json", message, where="stdin", fix="write one JSON object") from None
    if not isinstance(read, dict):
        message, fix = "what was given is not a JSON object of at most 1 MiB", "write one JSON object"
        raise InputFault.of("not_an_object", message, where="stdin", fix=fix)
    return read


def _fields(kind: EntryKind, given: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields that `--set` gives: an empty text takes the field away."""
    shapes = {each.name: each.shape for each in FIELDS[kind]}
    fields: dict[str, Any] = {}
    for each in given:
        name, sign, text = each.partition("=")
        if not sign or not name:
            raise click.UsageError(f"--set takes FIELD=TEXT, not {each!r}")
        if shapes.get(name) in ("list", "keys"):
            fields[name] = [*fields.get(name, []), *([text] if text else [])]
        else:
            is_number = shapes.get(name) == "number" and text.isdecimal()
            fields[name] = int(text) if is_number else text
    return fields


@command.command("import")
@click.argument("file", type=NamedPath())
@click.option("--to", "workspace", type=NamedPath(), required=True, help="The workspace to add it to.")
@click.option("--author", default="", metavar="NAME", help="Who wrote it; else the owner that it names.")
@click.option("--at", default="", metavar="DATE", help="When; else the last day that it names.")
@click.option("--fix-encoding", is_flag=True, help="Repair text that was decoded with the wrong code page.")
@click.option("--dry-run", is_flag=True, help="Print what would be added; add nothing.")
def import_file(file: Path, workspace: Path, author: str, at: str, fix_encoding: bool, dry_run: bool) -> None:
    """Read a sprint's Markdown FILE and add what the record does not have yet.

    What is not understood is kept as the text of a section, and named with its line.

    Exit status: 0 all is kept, 1 something is not, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    existing, _ = read_sprint(manifest)
    text, repairs = file_text(file, fix_encoding=fix_encoding)
    found = plan(text, existing, file=str(file), author=author, at=at)
    if not dry_run and found.entries:
        append_all(manifest, found.entries)
    click.echo(printable("\n".join(_report(found, repairs_in_words(repairs), dry_run))))
    print_problems(found.issues)
    sys.exit(1 if found.issues else 0)


def _report(found: Plan, repairs: str, dry_run: bool) -> list[str]:
    verb = "would be added" if dry_run else "added"
    lines = [f"{counted(sum(found.read.values()), 'entry', 'entries')} read: {counts_in_words(found.read)}"]
    lines += [f"{len(found.entries):,} {verb}, {found.known:,} in the record already"]
    lines += [f"repaired: {repairs}"] if repairs else []
    lines += [f"line {each.line}: {each.heading[:100]!r}: {each.what}" for each in found.leftovers]
    return lines


@command.command("export")
@click.argument("workspace", type=NamedPath())
@OUTPUT_OPTION
@click.option("--without-entries", is_flag=True, help="Leave the list of all entries at the end out.")
@_RUNS_OPTION
@CACHE_OPTION
def export(
    workspace: Path, output: str, without_entries: bool, without_runs: bool, cache_dir: Path | None
) -> None:
    """Write the record of WORKSPACE as one Markdown file, which `proofspan sprint import` reads back.

    Exit status: 0 good, 1 a line holds no entry, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    check_outputs([output], workspace_files(manifest))
    record = _record(manifest, without_runs, cache_dir)
    write_bytes(markdown_of(record, entries=not without_entries).encode("utf-8", "replace"), output)
    print_problems([*record.issues, *record.problems])
    sys.exit(1 if record.issues else 0)


@command.command("check")
@click.argument("workspace", type=NamedPath())
def check(workspace: Path) -> None:
    """Check every line of the record of WORKSPACE, and what its items refer to.

    Exit status: 0 good, 1 findings, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    record = sprint_record(manifest, None)
    click.echo(counted(len(record.entries), "entry", "entries"))
    print_problems([*record.issues, *record.problems])
    if record.can_write:
        click.echo(f"note: {printable(record.can_write)}", err=True)
    sys.exit(1 if record.issues or record.problems else 0)


def _record(manifest: Manifest, without_runs: bool, cache_dir: Path | None) -> SprintRecord:
    if without_runs:
        return sprint_record(manifest, None)
    from proofspan.cli.workspace.index_cmd import indexed  # slow to import

    runs = [run.run_id for run in manifest.runs if run.has_traces]
    return sprint_record(manifest, indexed(manifest, runs, cache_dir))
