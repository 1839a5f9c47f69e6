"""Check a workspace and gate a run: report, annotations, summary and outputs for GitHub Actions.

The exit status is that of `proofspan gate`, or if that is 0, that of `proofspan check`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner import add_to, annotate, print_plain

from proofspan.services.markdown_text import code_span, one_line, prose
from proofspan.wording import counted

#: GitHub shows at most ten errors of a step.
MOST_ERRORS = 10
#: Problems of the check that are listed.
MOST_PROBLEMS = 20
#: The end of a message on stderr that is shown.
MOST_MESSAGE = 5_000
_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+))?", re.DOTALL)


def main() -> int:
    """Run both commands on the workspace and write what they find; return the exit status."""
    folder = Path(tempfile.mkdtemp(prefix="proofspan-gate-", dir=os.environ["RUNNER_TEMP"]))
    workspace = os.environ["GATE_WORKSPACE"]
    checked = _proofspan("check", "--json", "--", workspace)
    problems = _problems(checked.stdout)
    verdict, as_json, junit = folder / "verdict.md", folder / "gate.json", folder / "gate.xml"
    files = ("--json", f"--output={as_json}", f"--markdown={verdict}", f"--junit={junit}")
    gated = _proofspan("gate", *files, *_options(), "--", workspace)
    found = json.loads(as_json.read_bytes()) if as_json.is_file() else None
    text = _problem_list(problems) + (verdict.read_text("utf-8") if found else _unusable(gated.stderr))
    report = folder / "report.md"
    report.write_text(text, "utf-8")
    print_plain(f"{checked.stderr}{gated.stderr}{text}")
    add_to("GITHUB_STEP_SUMMARY", text)
    outputs = {
        "verdict": found["state"] if found else "unusable",
        "report": report,
        "json": as_json if found else "",
        "junit": junit if found else "",
    }
    add_to("GITHUB_OUTPUT", "".join(f"{name}={value}\n" for name, value in outputs.items()))
    _annotate(problems, found, workspace, gated.stderr)
    return (gated.returncode or checked.returncode) if found else max(gated.returncode, 1)


def _proofspan(*arguments: str) -> subprocess.CompletedProcess[str]:
    # -P: nothing is imported from the current folder, which is the repository of the pull request.
    command = [sys.executable, "-P", "-m", "proofspan.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def _options() -> Iterator[str]:
    """Yield the options of `proofspan gate` that the inputs ask for."""
    for name in ("run", "against", "link-base"):
        if value := os.environ[_variable(name)].strip():
            yield f"--{name}={value}"
    for option, name in (("goal", "goals"), ("allow", "allow")):
        lines = os.environ[_variable(name)].splitlines()
        yield from (f"--{option}={line.strip()}" for line in lines if line.strip())
    if os.environ[_variable("strict")] == "true":
        yield "--strict"


def _variable(name: str) -> str:
    return f"GATE_{name.upper().replace('-', '_')}"


def _problems(output: str) -> list[dict[str, str]]:
    """Return errors and warnings of `proofspan check --json`; none if it cannot read the manifest."""
    if not output:
        return []
    report = json.loads(output)
    found = [*report["manifest_problems"], *(p for each in report["artifacts"] for p in each["problems"])]
    return [problem for problem in found if problem["severity"] != "note"]


def _problem_list(problems: list[dict[str, str]]) -> str:
    if not problems:
        return ""
    lines = [f"## The workspace has {counted(len(problems), 'problem')}\n"]
    for problem in problems[:MOST_PROBLEMS]:
        file, line = _place(problem["where"])
        place = f"{code_span(f'{file}:{line}' if line else file)}: " if file else ""
        lines.append(f"- {place}{prose('; '.join(filter(None, (problem['message'], problem['fix']))))}")
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"- … and {len(problems) - MOST_PROBLEMS:,} more")
    return "\n".join(lines) + "\n\n"


def _unusable(message: str) -> str:
    lines = message.strip()[-MOST_MESSAGE:].splitlines() or ["The gate ended without a message."]
    return "\n".join(
        ["## Release check: the input cannot be used\n", *(f"- {code_span(line)}" for line in lines)]
    )


def _annotate(
    problems: list[dict[str, str]], found: dict[str, Any] | None, workspace: str, message: str
) -> None:
    """Annotate the problems of the check, the verdict, and failing questions at their traces."""
    of_check = problems[: MOST_ERRORS // 2]
    for problem in of_check:
        file, line = _place(problem["where"])
        annotate(problem["severity"], problem["message"], file=file, line=line, title="Proofspan check")
    if found is None:
        annotate("error", message.strip()[-MOST_MESSAGE:], title="Proofspan gate: the input cannot be used")
        return
    failing = [check for check in found["checks"] if check["fails"]]
    if not failing:
        return
    title = f"{found['run_id']}: {found['verdict']}"
    annotate("error", "\n".join(f"{each['title']}: {each['message']}" for each in failing), title=title)
    questions = _failing_questions(failing)
    shown = list(questions.items())[: MOST_ERRORS - len(of_check) - 1]
    for q_id, (question, checks) in shown:
        file = question["file"] and str(Path(workspace) / question["file"])
        change = f"{question['was']} → {question['now']}" if question["was"] else question["now"]
        annotate(
            "error",
            "\n".join([one_line(question["q"]), *checks]),
            file=_place(file or "")[0],
            line=question["line"],
            title=one_line(f"{q_id}: {change or checks[0]}"),
        )
    if more := len(questions) - len(shown):
        annotate("notice", counted(more, "more failing question"), title="Proofspan gate")


def _failing_questions(checks: list[dict[str, Any]]) -> dict[str, tuple[dict[str, Any], list[str]]]:
    """Return each failing question with its checks.

    Those of checks with few questions come first: a check that concerns every question, such as another
    index, says nothing about a single one.
    """
    found: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for check in sorted(checks, key=lambda check: int(check["questions_count"])):
        for question in check["questions"]:
            known, titles = found.setdefault(question["q_id"], (question, []))
            titles.append(check["title"])
            if question["now"] and not known["now"]:
                known.update(was=question["was"], now=question["now"])
    return found


def _place(where: str) -> tuple[str, str]:
    """Return file, from the root of the repository, and line of a place; ("", "") outside of it."""
    match = _PLACE.fullmatch(where)
    root = Path(os.environ["GITHUB_WORKSPACE"]).resolve()
    path = Path(match["file"]).resolve() if match else root
    if not match or not path.is_relative_to(root) or not path.is_file():
        return "", ""
    return path.relative_to(root).as_posix(), match["line"] or ""


if __name__ == "__main__":
    sys.exit(main())
