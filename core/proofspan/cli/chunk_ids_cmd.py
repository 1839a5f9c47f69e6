"""`proofspan chunk-ids`: audit a chunk file, mint canonical ids, and map those of an older file to it."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    SIGNS,
    STDOUT,
    NamedPath,
    Option,
    check_outputs,
    json_text,
    output_to,
    with_options,
    write_parts,
)
from proofspan.contracts.chunk_ids.audit import QUESTIONS, Audit
from proofspan.contracts.chunk_ids.redirects import RedirectMap, redirects_between
from proofspan.contracts.records.chunk_id import VERSION_PINS
from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.gold_cover import DEFAULT_SEED, one_to_one_audit
from proofspan.services.chunk_ids import (
    LoadedChunks,
    Minted,
    Sources,
    audit,
    gold_questions,
    load_chunks,
    minted,
    redirect_records,
    revs_of,
    workspace_chunks,
)
from proofspan.wording import counted

WIDTH_WITHOUT_TERMINAL = 160
_PINS = ", ".join(sorted(VERSION_PINS))
_OPTIONS: tuple[Option, ...] = (
    click.option("--documents", type=NamedPath(), help="The workspace whose documents and gold they are of."),
    click.option("--against", type=NamedPath(), metavar="OLD", help="An older chunk file, or its workspace."),
    click.option("--mint", is_flag=True, help="Write CHUNKS with canonical ids to -o."),
    click.option("--sample-seed", type=int, default=DEFAULT_SEED, show_default=True, help="Draws samples."),
    click.option("--json", "as_json", is_flag=True, help="Print the audits as JSON."),
    click.option("-o", "--output", help="The file to write: redirects, or with --mint chunks; - for stdout."),
)


@dataclass(frozen=True, slots=True)
class _Input:
    """The chunks to audit, and their workspace if one is named."""

    loaded: LoadedChunks
    manifest: Manifest | None

    def sources(self, pool: PdfPool) -> Sources | None:
        """Return the documents, None without a workspace."""
        return Sources(self.manifest, pool) if self.manifest is not None else None


@dataclass(frozen=True, slots=True)
class _Report:
    """The audits, and the redirects if an older file is named."""

    loaded: LoadedChunks
    audits: tuple[Audit, ...]
    extractor: str | None
    redirects: RedirectMap | None


@click.command(
    "chunk-ids",
    epilog="A document without an id is known by the hash of its address: scheme and host in lower case, "
    f"http as https, no fragment, and of the query only what pins a version: {_PINS}.",
)
@click.argument("chunks", type=NamedPath())
@with_options(*_OPTIONS)
def command(
    chunks: Path, against: Path | None, mint: bool, as_json: bool, output: str | None, **more: Any
) -> None:
    """Audit the ids of CHUNKS, a chunk file or a workspace; mint new ids, or map older ones to them.

    With a workspace its documents are opened and its gold is compared: can ids be computed again, and is each
    text at its offsets? With --against every id of an older file is looked up in this one: same, rev (only
    the revision differs), shift, split, merge or gone; -o writes that as redirects for a manifest.

    Exit status: 0 no audit fails, 1 an audit fails or a line is not a chunk, 2 unusable input.
    """
    _check_usage(against, mint, as_json, output)
    with tempfile.TemporaryDirectory(prefix="proofspan-") as folder, PdfPool() as pool:
        source = _load(chunks, more["documents"], Path(folder))
        if output is not None:
            check_outputs([output], [path for path in (chunks, against) if path is not None])
        if mint and output is not None:
            sys.exit(_mint(source, pool, output))
        report = _report(source, against, pool, seed=more["sample_seed"], cache=Path(folder))
    if report.redirects is not None and output is not None:
        _write_lines(redirect_records(report.redirects), output)
    if as_json:
        click.echo(json_text(_to_json(report)), nl=False)
    elif output != STDOUT:
        write_parts(_parts(report), output=STDOUT, width=WIDTH_WITHOUT_TERMINAL)
    _print_issues(source.loaded.issues)
    is_bad = source.loaded.issues or any(each.status == "fail" for each in report.audits)
    sys.exit(1 if is_bad else 0)


def _check_usage(against: Path | None, mint: bool, as_json: bool, output: str | None) -> None:
    if mint and (against is not None or as_json):
        raise click.UsageError("--mint writes chunks alone: leave out --against and --json")
    if mint and output is None:
        raise click.UsageError("--mint needs -o FILE to write the chunks to")
    if output is not None and not mint and against is None:
        raise click.UsageError("-o writes redirects or minted chunks: add --against OLD or --mint")
    if as_json and output == STDOUT:
        raise click.UsageError("--json and -o - would both write to stdout")


def _load(chunks: Path, documents: Path | None, cache: Path) -> _Input:
    """Read a workspace's chunks, or a chunk file with the workspace of `--documents`."""
    if chunks.is_dir():
        manifest = load_manifest(chunks)
        return _Input(workspace_chunks(manifest, cache_dir=cache), load_manifest(documents or chunks))
    manifest_of = load_manifest(documents) if documents is not None else None
    return _Input(load_chunks(chunks, file=str(chunks), cache_dir=cache), manifest_of)


def _report(source: _Input, against: Path | None, pool: PdfPool, *, seed: int, cache: Path) -> _Report:
    chunks, manifest = source.loaded.chunks, source.manifest
    gold = gold_questions(manifest, cache_dir=cache).values() if manifest else ()
    revs = revs_of(manifest) if manifest else {}
    result = audit(chunks, revs=revs, gold=gold, sources=source.sources(pool), seed=seed)
    audits, redirects = result.audits, None
    if against is not None:
        older = _load(against, None, cache).loaded.chunks
        redirects = redirects_between(_by_id(older), _by_id(chunks))
        audits = (*audits, one_to_one_audit(redirects))
    return _Report(source.loaded, audits, result.extractor, redirects)


def _by_id(chunks: Sequence[Chunk]) -> dict[str, Chunk]:
    return {chunk.chunk_id: chunk for chunk in chunks}


def _mint(source: _Input, pool: PdfPool, output: str) -> int:
    """Write the chunks with new ids, print a summary on stderr, and return the exit status."""
    loaded = source.loaded
    result = minted(loaded.chunks, source.sources(pool))
    _write_lines(iter(result.records), output)
    click.echo(printable(_summary(result)), err=True)
    for finding in result.revisions.findings:
        click.echo(printable(f"{finding.severity}: {finding.message}"), err=True)
    _print_issues(loaded.issues)
    return 1 if loaded.issues or result.kept else 0


def _summary(result: Minted) -> str:
    kept = f"; {result.kept:,} keep theirs, as their document is unknown" if result.kept else ""
    computed = len(result.revisions.extractors)
    revs = f"; {counted(computed, 'revision')} computed from texts" if computed else ""
    return f"{result.changed:,} of {len(result.records):,} chunks have a new id{kept}{revs}"


def _write_lines(records: Iterator[dict[str, Any]], output: str) -> None:
    with output_to(output) as sink:
        for record in records:
            sink.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))


def _parts(report: _Report) -> RenderableType:
    """Render a line per audit, the first findings with their fix, and the verdict."""
    audits, extractor = report.audits, report.extractor
    counts = Counter(each.status for each in audits)
    verdict = f"{counts['pass']} of {len(audits)} audits pass"
    verdict += f", {counts['fail']} fail" if counts["fail"] else ""
    verdict += f", {counts['unknown']} unknown" if counts["unknown"] else ""
    return Group(
        _table(audits),
        *(part for each in audits if each.findings or each.fix for part in _findings(each)),
        Text(),
        *([Text(f"documents read by {extractor}", "dim")] if extractor else []),
        Text(verdict, "bold red" if counts["fail"] else "bold green"),
    )


def _table(audits: Sequence[Audit]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for style in ("", "", "dim"):
        table.add_column(style=style, overflow="fold")
    for each in audits:
        sign, colour = SIGNS[each.status]
        table.add_row(Text(sign, colour), QUESTIONS[each.name], Text(printable(each.message)))
    return table


def _findings(audit_: Audit) -> Iterator[Text]:
    count = len(audit_.findings)
    shown = len(audit_.examples)
    more = f" (the first {shown} of {count:,})" if count > shown else ""
    yield Text()
    yield Text(f"{QUESTIONS[audit_.name]}{more}", "bold")
    for each in audit_.examples:
        yield Text(printable(f"  {each.code}  {each.record_id[:80]}: {each.message}"))
    if audit_.fix:
        yield Text(f"  {audit_.fix}", "dim")


def _print_issues(issues: Sequence[LineIssue]) -> None:
    for issue in issues:
        click.echo(str(issue), err=True)


def _to_json(report: _Report) -> dict[str, Any]:
    redirects = report.redirects
    value: dict[str, Any] = {
        "chunks": len(report.loaded.chunks),
        "extractor": report.extractor,
        "audits": [_audit_to_json(each) for each in report.audits],
        "issues": [issue.as_json() for issue in report.loaded.issues],
    }
    if redirects is not None:
        value["redirects"] = {**redirects.counts, "new": len(redirects.new), "reused": redirects.reused}
    return value


def _audit_to_json(each: Audit) -> dict[str, Any]:
    findings = [
        {
            "code": finding.code,
            "field": finding.where,
            "message": finding.message,
            "record_id": finding.record_id,
            "severity": finding.severity,
        }
        for finding in each.findings
    ]
    return {
        "name": each.name,
        "status": each.status,
        "message": each.message,
        "numbers": dict(each.numbers),
        "fix": each.fix,
        "findings": findings,
    }
