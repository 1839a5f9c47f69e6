"""`proofspan pin`: check the pinning records of a workspace's runs, or make one to fill in."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import click

from proofspan.cli.output import (
    JSON_OPTION,
    OUTPUT_OPTION,
    NamedPath,
    check_outputs,
    json_text,
    workspace_files,
    write_bytes,
)
from proofspan.contracts.pinning.requirements import USES, Use
from proofspan.errors import printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.pinning.findings import Kind, PinReport, pin_report
from proofspan.services.pinning.machine import runtime_here, versions_here
from proofspan.services.pinning.template import known_of_run, model_of, template, tokenizer_of, weights_of
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted

#: The options that only a new record has.
_OF_NEW = ("uses", "weights", "tokenizer", "libraries", "machine")


@click.command("pin")
@click.argument("workspace", required=False, type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="Only this run; with --new the latest if none is named.")
@click.option("--new", is_flag=True, help="Print a record with placeholders for what is not known.")
@click.option("--uses", multiple=True, type=click.Choice(USES), help="A part of the pipeline; repeat.")
@click.option(
    "--weights", type=NamedPath(), metavar="FOLDER", help="Fill in the hash of the model's weights."
)
@click.option("--tokenizer", type=NamedPath(), metavar="FILE", help="Fill in the hash of its tokenizer.")
@click.option("--library", "libraries", multiple=True, metavar="NAME", help="Fill in its version; repeat.")
@click.option("--machine", is_flag=True, help="Fill in processor, system and thread variables from here.")
@JSON_OPTION
@OUTPUT_OPTION
def command(workspace: Path | None, run_id: str | None, new: bool, output: str, **asked: Any) -> None:
    """Check the pinning record of each run of WORKSPACE: what is missing, left to fill in, or contradicted.

    A record is compared with the manifest's pins and with what the run's traces log. With --new print a
    record to fill in: with WORKSPACE for one of its runs, with all that its record, manifest and files state.
    Weights and tokenizer are those of the reranker, or of the embedding model where no reranker is used.

    Exit status: 0 every record is complete and agrees, 1 a record is not or a run has none, 2 unusable input.
    """
    if not new and (odd := [name for name in _OF_NEW if asked[name]]):
        raise click.UsageError(f"--{odd[0].replace('libraries', 'library')} is for --new")
    if workspace is None and not (new and run_id is None):
        raise click.UsageError("name a workspace, or make a new record with --new")
    manifest = load_manifest(workspace) if workspace is not None else None
    check_outputs([output], workspace_files(manifest) if manifest is not None else [])
    if new:
        write_bytes(json_text(_new(manifest, run_id, asked)), output)
        return
    manifest = cast(Manifest, manifest)
    first = chosen_run(manifest, run_id)  # a manifest without runs is refused
    runs = [first] if run_id is not None else manifest.runs
    reports = [pin_report(manifest, run) for run in runs]
    if asked["as_json"]:
        write_bytes(json_text([_to_json(each) for each in reports]), output)
    else:
        lines = [line for report in reports for line in _lines(report)]
        write_bytes("".join(f"{printable(line)}\n" for line in lines).encode("utf-8", "replace"), output)
    sys.exit(0 if all(map(_is_good, reports)) else 1)


def _new(manifest: Manifest | None, run_id: str | None, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the record that --new prints."""
    known: dict[str, Any] = {}
    uses: frozenset[Use] = frozenset(asked["uses"])
    if manifest is not None:
        of_run, known = known_of_run(manifest, chosen_run(manifest, run_id))
        uses |= of_run
    elif not uses:
        uses = frozenset(USES)
    model = model_of(uses)
    given: dict[str, Any] = {}
    if asked["weights"] is not None:
        given["weights"] = weights_of(asked["weights"])
    if asked["tokenizer"] is not None:
        given["tokenizer"] = tokenizer_of(asked["tokenizer"])
    if given:
        uses |= {model}
        stated = known.get(model)
        known[model] = (stated if isinstance(stated, dict) else {}) | given
    if asked["libraries"]:
        stated = known.get("libraries")
        known["libraries"] = (stated if isinstance(stated, dict) else {}) | versions_here(asked["libraries"])
    if asked["machine"]:
        stated = known.get("runtime")
        known["runtime"] = (stated if isinstance(stated, dict) else {}) | runtime_here()
    return template(uses, known)


def _is_good(report: PinReport) -> bool:
    return report.record is not None and not report.findings


def _to_json(report: PinReport) -> dict[str, Any]:
    return {
        "run_id": report.run_id,
        "record": report.path or None,
        "uses": sorted(report.uses),
        "needed": list(report.needed),
        "findings": [{**asdict(each), "severity": each.severity} for each in report.findings],
    }


#: The kinds of which the names of the fields say all.
_BY_NAME: Mapping[Kind, str] = {"missing": "missing", "placeholder": "to fill in"}


def _lines(report: PinReport) -> Iterator[str]:
    uses = ", ".join(sorted(report.uses)) or "no model, fusion or FAISS"
    if not report.path:
        yield f"✗ {report.run_id}: names no pinning record; it uses {uses}"
        yield f"    proofspan pin WORKSPACE --run {report.run_id} --new prints one to fill in"
        return
    head = f"{report.run_id}, {report.path}"
    if _is_good(report):
        yield f"✓ {head}: complete with {counted(len(report.needed), 'field')}; it uses {uses}"
        return
    wrong = any(each.severity == "error" for each in report.findings)
    yield f"{'✗' if wrong else '!'} {head}: {counted(len(report.findings), 'finding')}; it uses {uses}"
    for finding in report.findings:
        if finding.kind not in _BY_NAME:
            yield f"    {finding.kind.replace('_', ' ')}: {finding.message}"
    for kind, words in _BY_NAME.items():
        if names := [each.field for each in report.findings if each.kind == kind]:
            yield f"    {words}: {', '.join(names)}"
    for fix in dict.fromkeys(each.fix for each in report.findings if each.severity == "error"):
        yield f"    {fix}"
