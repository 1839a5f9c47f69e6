"""`proofspan review`: people's verdicts on answers, to which lines are only ever added."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    CACHE_OPTION,
    JSON_OPTION,
    OUTPUT_OPTION,
    NamedPath,
    check_outputs,
    json_text,
    print_problems,
    write_bytes,
    write_parts,
)
from proofspan.cli.tables import table_of
from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT
from proofspan.display_names import LABEL_NAMES, NAMES
from proofspan.errors import InputFault, printable
from proofspan.journal.annotations import (
    VERDICT_FIELDS,
    Annotation,
    Annotations,
    Target,
    answer_id,
    append,
    disputed,
    line_of,
    read_annotations,
    refusal,
)
from proofspan.journal.merged import merged
from proofspan.manifest.load import load_manifest
from proofspan.services.review import (
    RULES,
    AgreementReport,
    agreement,
    coefficient,
    in_force,
    ruled,
    rules_of,
    verdict_words,
)
from proofspan.services.workspace.open import chosen_run
from proofspan.wording import counted

#: What is listed, by kinds of lines that count.
KINDS = ("verdict", "note", "assignment")
#: Columns of text that is not printed on a terminal, and characters of a note in it.
WIDTH, MAX_TEXT = 160, 300
#: Disagreements that are printed; JSON has all.
MOST = 50
_RUN_OPTION = click.option("--run", "run_id", metavar="ID", help="The run; the latest if none is named.")


@click.group("review")
def command() -> None:
    """List, add and merge people's verdicts on answers, and measure their agreement.

    They are in the file that the manifest's `annotations` names. Lines are only ever added.
    """


@command.command("list")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="Only on answers of this run.")
@click.option("--author", metavar="NAME", help="Only what this person wrote.")
@click.option("--question", "q_id", metavar="ID", help="Only on answers to this question.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these; repeat.")
@click.option("--disputed", "is_disputed", is_flag=True, help="Only on answers that people disagree about.")
@JSON_OPTION
@OUTPUT_OPTION
def show(
    workspace: Path,
    kinds: tuple[str, ...],
    is_disputed: bool,
    as_json: bool,
    output: str,
    **asked: str | None,
) -> None:
    """Print the verdicts, notes and assignments of WORKSPACE that count, in the order of their time.

    Of several verdicts of a person on an answer the last one counts, and what was withdrawn does not.

    Exit status: 0 good, 1 a line holds no annotation, 2 unusable input.
    """
    known = read_annotations(load_manifest(workspace))
    about = {target for target, given in known.verdicts.items() if disputed(given)}
    found = [
        each
        for each in in_force(known)
        if asked["run_id"] in (None, each.target.run_id)
        and asked["author"] in (None, each.author)
        and asked["q_id"] in (None, each.target.q_id)
        and (not kinds or each.kind in kinds)
        and (not is_disputed or each.target in about)
    ]
    if as_json:
        entries = [{**line_of(each), "disputed": each.target in about} for each in found]
        listed = {"entries": entries, "issues": [issue.as_json() for issue in known.issues]}
        write_bytes(json_text(listed), output)
    else:
        write_parts(_table(found, about), output=output, width=WIDTH)
    _end(known)


@command.command("add")
@click.argument("workspace", type=NamedPath())
@click.argument("question", metavar="QUESTION")
@_RUN_OPTION
@click.option("--paraphrase", type=click.IntRange(0, 10**9), default=0, help="Which wording; 0 the first.")
@click.option("--seed", type=int, default=0, help="Which seed of the run.")
@click.option(
    "--author", envvar="PROOFSPAN_AUTHOR", show_envvar=True, metavar="NAME", help="Who; else git's user.name."
)
@click.option("--agree", is_flag=True, help="Agree with what Proofspan says of the answer.")
@click.option("--correct", type=click.Choice(CORRECT), help="Another correctness.")
@click.option("--cause", type=click.Choice(CAUSES), metavar="CAUSE", help="Another cause.")
@click.option("--label", type=click.Choice(tuple(LABEL_NAMES)), help="Another label.")
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="A word to group by; repeat.")
@click.option("--text", metavar="TEXT", help="A note.")
@CACHE_OPTION
def add(
    workspace: Path,
    question: str,
    run_id: str | None,
    paraphrase: int,
    seed: int,
    author: str | None,
    agree: bool,
    tags: tuple[str, ...],
    text: str | None,
    cache_dir: Path | None,
    **given: Any,
) -> None:
    """Add one verdict on the answer to QUESTION and print its id; then it is on the disk.

    Without --agree and another correctness, cause or label it is a note, with its tags. What Proofspan says
    of the answer is written with it, so the run is indexed and checked first.

    Exit status: 0 it is written, 2 it cannot be.
    """
    own = {name: value for name, value in given.items() if value is not None}
    if not (agree or own or tags or text):
        raise click.UsageError("say what to add: --agree, another --correct, --cause or --label, or a note")
    if agree and own:
        raise click.UsageError("--agree is for a verdict without another correctness, cause or label")
    manifest = load_manifest(workspace)
    if (why := refusal(manifest)) is not None:
        raise InputFault(why)
    name = " ".join((author or _name_in_git(manifest.folder)).split())
    if not name:
        raise click.UsageError("name who writes it: --author NAME")
    from proofspan.cli.workspace.index_cmd import indexed  # slow to import

    run = chosen_run(manifest, run_id).run_id
    found = indexed(manifest, [run], cache_dir, claims=True).find(TraceKey(run, question, paraphrase, seed))
    if found is None:
        fix = "name a question of the run, and its --paraphrase and --seed"
        raise InputFault.of(
            "unknown_question", f"run {run} has no answer to {question!r}", where=run, fix=fix
        )
    rules, answer = rules_of(found.row), found.row["answer"]
    if agree and not any(rules.values()):
        fix = "give a verdict of your own, such as --correct wrong"
        message = "Proofspan has no verdict on this answer"
        raise InputFault.of("nothing_said", message, where=question, fix=fix)
    is_verdict = bool(agree or own)
    (written,) = append(
        manifest,
        Annotation(
            "verdict" if is_verdict else "note",
            Target(run, question, paraphrase, seed),
            name,
            answer=answer_id(answer if isinstance(answer, str) else ""),
            agrees=agree if is_verdict else None,
            rules=rules if is_verdict else {},
            tags=tuple(" ".join(tag.split()) for tag in tags),
            text=(text or "").replace("\r\n", "\n").strip() or None,
            **own,
        ),
    )
    click.echo(printable(f"{written.entry_id}  {_place(written.target)}, {written.at}, {written.author}"))


@command.command("agreement")
@click.argument("workspace", type=NamedPath())
@_RUN_OPTION
@click.option(
    "--field", type=click.Choice(VERDICT_FIELDS), default="correct", show_default=True, help="What about."
)
@JSON_OPTION
@OUTPUT_OPTION
@CACHE_OPTION
def measure(
    workspace: Path, run_id: str | None, field: str, as_json: bool, output: str, cache_dir: Path | None
) -> None:
    """Print how far people agree about a run of WORKSPACE, with each other and with the rules.

    Krippendorff's alpha of all people, Cohen's kappa of each pair and of each person with the rules, with
    95 % intervals, how often people disagreed with each thing that the rules say, and the disagreements.

    Exit status: 0 good, 1 a line holds no annotation, 2 unusable input.
    """
    from proofspan.cli.workspace.index_cmd import indexed  # slow to import

    manifest = load_manifest(workspace)
    run = chosen_run(manifest, run_id).run_id
    known = read_annotations(manifest)
    rules = ruled(indexed(manifest, [run], cache_dir, claims=True), run)
    report = agreement(known, rules, lambda target: rules[target], field)
    if as_json:
        write_bytes(json_text({"run_id": run, **_as_json(report)}), output)
    else:
        write_parts(*_parts(report), output=output, width=WIDTH)
    _end(known)


@command.command("merge")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=NamedPath())
@OUTPUT_OPTION
def merge(files: tuple[Path, ...], output: str) -> None:
    """Write the lines of several files of annotations as one file, whose content their order does not change.

    Lines with the same content are kept once, the others as they are, by time. A line that holds no
    annotation is reported by file and line, and kept at the end.

    Exit status: 0 good, 1 a line holds no annotation, 2 unusable input.
    """
    check_outputs([output], files)
    whole = merged(files)
    write_bytes(whole.data, output)
    print_problems(whole.issues)
    again = whole.given - len(whole.lines)
    read = f"{counted(whole.given, 'line')} of {counted(len(files), 'file')}"
    click.echo(f"{read}: {len(whole.lines):,} kept, {again:,} repeated", err=True)
    sys.exit(1 if whole.issues else 0)


def _name_in_git(folder: Path) -> str:
    """Return the name that git writes commits under in a folder, "" without one."""
    asked = ["git", "-C", str(folder), "config", "user.name"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:  # no git on this machine
        return ""
    return answer.stdout.strip()


def _end(known: Annotations) -> None:
    print_problems(known.issues)
    sys.exit(1 if known.issues else 0)


def _table(found: Iterable[Annotation], about: set[Target]) -> Table:
    table = table_of("when (UTC)", "who", "answer", "what", "tags and note")
    for each in found:
        what = verdict_words(each) if each.kind == "verdict" else each.kind
        what = f"assigned to {each.assignee}" if each.kind == "assignment" else what
        marks = " (disputed)" if each.kind == "verdict" and each.target in about else ""
        note = " ".join(" ".join([*(f"#{tag}" for tag in each.tags), each.text or ""]).split())
        cells = (each.at[:16].replace("T", " "), each.author, _place(each.target), f"{what}{marks}")
        table.add_row(*(Text(printable(cell)) for cell in (*cells, note[:MAX_TEXT])))
    return table


def _place(target: Target) -> str:
    variant = f" p{target.paraphrase} s{target.seed}" if target.paraphrase or target.seed else ""
    return f"{target.run_id} {target.q_id}{variant}"


def _parts(report: AgreementReport) -> Iterator[Table | Text]:
    """Yield the tables of a report, each below a line that names it."""
    yield Text(f"Krippendorff's alpha of all people: {coefficient(report.alpha)}, {report.alpha.n:,} answers")
    if report.pairs:
        pairs = table_of("people", "Cohen's kappa, 95 %", "answers of both", "same")
        for pair in report.pairs:
            names = f"{_person(pair.one)} and {_person(pair.other)}"
            _add(pairs, names, coefficient(pair.kappa), f"{pair.kappa.n:,}", f"{pair.kappa.same:,}")
        yield from (Text(""), pairs)
    if report.by_rule:
        rules = table_of("what the rules say", "looked at", "disagreed")
        for each in report.by_rule:
            _add(rules, _value(report.field, each.value), f"{each.seen:,}", f"{each.disagreed:,}")
        yield from (Text(""), rules)
    if report.disagreements:
        answers = table_of("answer", "values")
        for answer in report.disagreements[:MOST]:
            values = (f"{_person(name)}: {_value(report.field, of)}" for name, of in answer.values.items())
            _add(answers, _place(answer.target), ", ".join(values))
        yield from (Text(""), answers)
        if (left := len(report.disagreements) - MOST) > 0:
            yield Text(f"and {left:,} more")


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(Text(printable(cell)) for cell in cells))


def _person(name: str) -> str:
    return "the rules" if name == RULES else name


def _value(field: str, value: str) -> str:
    return NAMES[field].get(value, value)


def _as_json(report: AgreementReport) -> dict[str, Any]:
    """Return a report with the codes of its values; the rules are in `rules`, beside people's `people`."""
    return {
        "field": report.field,
        "people": list(report.people),
        "alpha": report.alpha._asdict(),
        "pairs": [
            {"one": pair.one, "other": None if pair.other == RULES else pair.other, **pair.kappa._asdict()}
            for pair in report.pairs
        ],
        "by_rule": [each._asdict() for each in report.by_rule],
        "disagreements": [
            {
                **each.target._asdict(),
                "rules": each.values.get(RULES),
                "people": {name: value for name, value in each.values.items() if name != RULES},
            }
            for each in report.disagreements
        ],
    }
