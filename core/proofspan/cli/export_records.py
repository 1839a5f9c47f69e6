"""`proofspan export log` and `export rag_traces`: a run's log records, whole and in file order."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console

from proofspan.cli.metrics_table import print_problems
from proofspan.cli.output import output_to
from proofspan.manifest.types import Manifest, Run
from proofspan.services.log_exports import Told, records_of, writer_for

#: The kinds that are written whole.
KINDS = ("log", "rag_traces")
#: The options that say something of such a file.
_HEEDED = frozenset({"run_id", "all_variants", "cache_dir", "output"})


def refuse_filters(context: click.Context) -> None:
    """UsageError for an option that a file written whole has no use for."""
    options = {each.name: each for each in context.command.params if isinstance(each, click.Option)}
    for name, option in options.items():
        given = context.get_parameter_source(name) if name else None
        if name not in _HEEDED and given is ParameterSource.COMMANDLINE:
            kind = context.params["kind"]
            raise click.UsageError(f"{option.opts[0]} narrows a list, and {kind} is written whole")


def write_records(
    kind: str, manifest: Manifest, run: Run, output: str, *, cache_dir: Path, all_variants: bool
) -> None:
    """Writes the file; says on stderr what its rows lack, and exits with 1 then."""
    told, writer = Told(), writer_for(kind, output)
    records = partial(records_of, manifest, run, cache_dir=cache_dir, all_variants=all_variants)
    with output_to(output) as sink:
        for piece in writer(records, told):
            sink.write(piece)
    problems = told.problems()
    print_problems(problems, Console(stderr=True, highlight=False))
    if any(problem.severity != "note" for problem in problems):
        sys.exit(1)
