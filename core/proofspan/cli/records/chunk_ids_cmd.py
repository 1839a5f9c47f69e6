"""`proofspan chunk-ids`: audit a chunk file, mint canonical ids, and map those of an older file to it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    FIX_OPTION,
    SIGNS,
    STDOUT,
    NamedPath,
    check_outputs,
    json_text,
    output_to,
    print_problems,
    write_parts,
)
from proofspan.contracts.chunk_ids.audit import QUESTIONS, Audit
from proofspan.contracts.chunk_ids.redirects import redirects_between
from proofspan.contracts.records.chunk_id import VERSION_PINS, alias_of, sort_key
from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text_file import extractor
from proofspan.manifest.load import load_manifest
from proofspan.metrics.gold_cover import DEFAULT_SEED, one_to_one_audit
from proofspan.services.chunk_ids import Sources, audit, load_chunks, minted, workspace_chunks
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.unpack import plain_source, temporary_folder
from proofspan.wording import counted

WIDTH_WITHOUT_TERMINAL = 160
REDIRECT_SCHEMA = "urn:proofspan:schema:redirect-1.0"
_PINS = ", ".join(sorted(VERSION_PINS))


@click.command(
    "chunk-ids",
    epilog="A document without an id is known by the hash of its address: scheme and host in lower case, "
    f"http as https, no fragment, and of the query only what pins a version: {_PINS}.",
)
@click.argument("chunks", type=NamedPath())
@click.option("--documents", type=NamedPath(), help="The workspace whose documents and gold they are of.")
@click.option("--against", type=NamedPath(), metavar="OLD", help="An older chunk file, or its workspace.")
@click.option("--mint", is_flag=True, help="Write CHUNKS with canonical ids to -o.")
@click.option("--aliases", is_flag=True, help="Print each id with its readable alias, and audit nothing.")
@FIX_OPTION
@click.option("--sample-seed", type=int, default=DEFAULT_SEED, show_default=True, help="Draws samples.")
@click.option("--json", "as_json", is_flag=True, help="Print the audits as JSON.")
@click.option("-o", "--output", help="The file to write: redirects, or with --mint chunks; - for stdout.")
def command(
    chunks: Path,
    documents: Path | None,
    against: Path | None,
    mint: bool,
    aliases: bool,
    fix_encoding: bool,
    sample_seed: int,
    as_json: bool,
    output: str | None,
) -> None:
    """Audit the ids of CHUNKS, a chunk file or a workspace; mint new ids, or map older ones to them.

    With a workspace its documents are opened and its gold is compared: can ids be computed again, and is each
    text at its offsets? With --against every id of an older file is looked up in this one: same, rev (only
    the revision differs), shift, split, merge or gone; -o writes that as redirects for a manifest.

    --aliases prints `#s02-04-01#p002-b007`, a tab and the id, in reading order. An alias names neither
    document nor revision; how many name several chunks is printed to stderr.

    Exit status: 0 no audit fails, 1 an audit fails or a line is not a chunk, 2 unusable input.
    """
    if mint and (against is not None or as_json):
        raise click.UsageError("--mint writes chunks alone: leave out --against and --json")
    if mint and output is None:
        raise click.UsageError("--mint needs -o FILE to write the chunks to")
    if output is not None and not mint and against is None:
        raise click.UsageError("-o writes redirects or minted chunks: add --against OLD or --mint")
    if as_json and output == STDOUT:
        raise click.UsageError("--json and -o - would both write to stdout")
    if aliases and (mint or against is not None):
        raise click.UsageError("--aliases prints the aliases alone: leave out --mint and --against")
    with temporary_folder() as folder, PdfPool() as pool:
        cache = Path(folder)
        named = documents or (chunks if chunks.is_dir() else None)
        manifest = load_manifest(named) if named is not None else None
        loaded, issues = _load(chunks, cache, fix_encoding)
        if aliases:
            _print_aliases([chunk.chunk_id for chunk in loaded], as_json=as_json)
            for issue in issues:
                click.echo(str(issue), err=True)
            sys.exit(1 if issues else 0)
        if output is not None:
            check_outputs([output], [path for path in (chunks, against) if path is not None])
        if mint and output is not None:
            result = minted(loaded, Sources(manifest, pool) if manifest is not None else None)
            _write_lines(result.records, output)
            kept = f"; {result.kept:,} keep theirs, as their document is unknown" if result.kept else ""
            revs = f"; {counted(result.computed, 'revision')} computed from texts" if result.computed else ""
            summary = f"{result.changed:,} of {len(result.records):,} chunks have a new id{kept}{revs}"
            findings = [f"{each.severity}: {each.message}" for each in result.findings]
            for line in (summary, *findings, *map(str, issues)):
                click.echo(printable(line), err=True)
            sys.exit(1 if issues or result.kept else 0)
        audits, redirects = audit(loaded, manifest, pool, cache_dir=cache, seed=sample_seed), None
        if against is not None:
            former, _ = _load(against, cache, fix_encoding)
            older, newer = ({each.chunk_id: each for each in file} for file in (former, loaded))
            redirects = redirects_between(older, newer)
            audits = (*audits, one_to_one_audit(redirects))
    reader = extractor(paged=True) if manifest is not None else None
    if redirects is not None and output is not None:
        _write_lines(({"$schema": REDIRECT_SCHEMA, **asdict(each)} for each in redirects.redirects), output)
    if as_json:
        value: dict[str, Any] = {
            "chunks": len(loaded),
            "extractor": reader,
            "audits": [_audit_to_json(each) for each in audits],
            "issues": [issue.as_json() for issue in issues],
        }
        if redirects is not None:
            value["redirects"] = {**redirects.counts, "new": len(redirects.new), "reused": redirects.reused}
        click.echo(json_text(value), nl=False)
    elif output != STDOUT:
        write_parts(_parts(audits, reader), output=STDOUT, width=WIDTH_WITHOUT_TERMINAL)
    for issue in issues:
        click.echo(str(issue), err=True)
    sys.exit(1 if issues or any(each.status == "fail" for each in audits) else 0)


def _print_aliases(chunk_ids: Iterable[str], *, as_json: bool) -> None:
    """Print each id with its alias, in reading order; ids of another format have none."""
    pairs = [(alias_of(each), each) for each in sorted(dict.fromkeys(chunk_ids), key=sort_key)]
    counts = Counter(alias for alias, _ in pairs if alias)
    shared = sum(count > 1 for count in counts.values())
    if as_json:
        click.echo(json_text([{"alias": alias or None, "chunk_id": each} for alias, each in pairs]), nl=False)
    else:
        for alias, each in pairs:
            click.echo(f"{printable(alias)}\t{printable(each)}")
    without = len(pairs) - counts.total()
    notes = [f"{counted(shared, 'alias', 'aliases')} of several chunks"] if shared else []
    notes += [f"{counted(without, 'id')} without an alias, as not canonical: mint ids"] if without else []
    for note in notes:
        click.echo(note, err=True)


def _load(chunks: Path, cache: Path, fix_encoding: bool) -> tuple[list[Chunk], list[LineIssue]]:
    if chunks.is_dir():
        return workspace_chunks(load_manifest(chunks), cache_dir=cache)
    plain = plain_source(chunks, cache_dir=cache, fix_encoding=fix_encoding)
    loaded = load_chunks(plain, file=str(chunks))
    if (damage := damage_of(plain, file=str(chunks))) is not None:
        print_problems([damage])
    return loaded


def _write_lines(records: Iterable[dict[str, Any]], output: str) -> None:
    with output_to(output) as sink:
        for record in records:
            sink.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _parts(audits: Sequence[Audit], extractor: str | None) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for style in ("", "", "dim"):
        table.add_column(style=style, overflow="fold")
    findings: list[Text] = []
    for each in audits:
        sign, colour = SIGNS[each.status]
        table.add_row(Text(sign, colour), QUESTIONS[each.name], Text(printable(each.message)))
        if each.findings or each.fix:
            count, shown = len(each.findings), len(each.examples)
            more = f" (the first {shown} of {count:,})" if count > shown else ""
            findings += [Text(), Text(f"{QUESTIONS[each.name]}{more}", "bold")]
            for finding in each.examples:
                line = f"  {finding.code}  {finding.record_id[:80]}: {finding.message}"
                findings.append(Text(printable(line)))
            if each.fix:
                findings.append(Text(f"  {each.fix}", "dim"))
    counts = Counter(each.status for each in audits)
    verdict = f"{counts['pass']} of {len(audits)} audits pass"
    verdict += f", {counts['fail']} fail" if counts["fail"] else ""
    verdict += f", {counts['unknown']} unknown" if counts["unknown"] else ""
    return Group(
        table,
        *findings,
        Text(),
        *([Text(f"documents read by {extractor}", "dim")] if extractor else []),
        Text(verdict, "bold red" if counts["fail"] else "bold green"),
    )


def _audit_to_json(each: Audit) -> dict[str, Any]:
    findings = [
        {"field": finding.where}
        | {name: getattr(finding, name) for name in ("code", "message", "record_id", "severity")}
        for finding in each.findings
    ]
    return {**asdict(each), "numbers": dict(each.numbers), "findings": findings}
