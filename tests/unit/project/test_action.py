"""The GitHub Action, run step by step as a runner does, against a GitHub of our own on this machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from markdown_it import MarkdownIt

from proofspan.resources import DEMO
from tests.places import CHECKOUT
from tests.unit.release.test_gate_command import NO_GOALS
from tests.unit.store_workspace import trace, write_workspace

pytestmark = pytest.mark.slow

FOLDER = CHECKOUT / ".github" / "actions" / "gate"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text("utf-8"))
#: A Python whose `-m venv` makes an environment with the packages of the tests, and whose pip only writes
#: down what it is asked for: nothing is downloaded, and the rest of the step runs as it is.
PYTHON = """#!/bin/bash
set -eu
case "$*" in
"-P -m venv "*) mkdir -p "$4/bin"; cp "$0" "$4/bin/python" ;;
"-P -m pip "*) echo "${@:4}" >> "$PIP_LOG" ;;
*) exec "$REAL_PYTHON" "$@" ;;
esac
"""
MARKER = "<!-- proofspan gate demo -->"
PULL_REQUEST = {
    "number": 7,
    "head": {"sha": "0123456789abcdef", "repo": {"full_name": "team/rag"}},
    "base": {"repo": {"full_name": "team/rag"}},
}


class GitHub(BaseHTTPRequestHandler):
    """The comments of one pull request, a hundred a page, and an answer that may be an error instead."""

    server: Server

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        page = int(parse_qs(asked.query)["page"][0])
        here = self.server.comments[100 * (page - 1) : 100 * page]
        more = len(self.server.comments) > 100 * page
        link = f'<http://elsewhere.example/?page={page + 1}>; rel="next"' if more else ""
        self._answer(200, here, link)

    def do_POST(self) -> None:
        body = self._body()
        self.server.comments.append(
            {"id": len(self.server.comments) + 1, "user": {"type": "Bot"}, "body": body}
        )
        self._answer(201, {})

    def do_PATCH(self) -> None:
        number = int(self.path.rpartition("/")[2])
        self.server.comments[number - 1]["body"] = self._body()
        self._answer(200, {})

    def _body(self) -> str:
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        return "" if self.server.refusal else str(json.loads(sent)["body"])

    def _answer(self, status: int, body: object, link: str = "") -> None:
        self.server.asked.append(f"{self.command} {urlsplit(self.path).path}")
        assert self.headers["Authorization"] == "Bearer token-of-the-job"
        refused = self.server.refusal and self.command != "GET"
        self.send_response(self.server.refusal if refused else status)
        self.send_header("Link", link)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """The server, with what it has and what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), GitHub)
        self.comments: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.refusal = 0


@dataclass
class Job:
    """One job on a runner: its folders, what the steps print, and what they give each other."""

    folder: Path
    address: str
    event: dict[str, Any] = field(default_factory=lambda: {"pull_request": PULL_REQUEST})
    printed: str = ""
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""
    status: int = 0

    def run(self, **inputs: str) -> Job:
        """Run the steps of the action in order; a failed one leaves out those that do not ask for it."""
        given = {name: str(each["default"]) for name, each in ACTION["inputs"].items()}
        values = {f"inputs.{name}": value for name, value in (given | inputs).items()}
        self.outputs["python"] = {"python-path": str(self.folder / "python")}
        for step in ACTION["runs"]["steps"]:
            known = values | {
                f"steps.{of}.outputs.{name}": value
                for of, each in self.outputs.items()
                for name, value in each.items()
            }
            condition = step.get("if", "true")
            is_due = not self.status or "cancelled()" in condition
            if "run" in step and is_due and is_wanted(condition, known):
                self._step(step, known)
        return self

    def _step(self, step: dict[str, Any], known: dict[str, str]) -> None:
        assert step["shell"] == "bash" and "${{" not in step["run"], "inputs reach a script by its variables"
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("", "utf-8")
        event = self.folder / "event.json"
        event.write_text(json.dumps(self.event), "utf-8")
        runner = {
            **{name: str(file) for name, file in files.items()},
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_API_URL": self.address,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REPOSITORY": "team/rag",
            "GITHUB_RUN_ID": "99",
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_WORKSPACE": str(self.folder / "repository"),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "PROOFSPAN_CACHE_DIR": str(self.folder.parent / "cache"),
            "PIP_LOG": str(self.folder / "pip.log"),
            "REAL_PYTHON": sys.executable,
        }
        own = {name: replaced(str(value), known) for name, value in step.get("env", {}).items()}
        script = self.folder / "step.sh"
        script.write_text(step["run"], "utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.folder / "repository",
            env={**os.environ, **runner, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        self.printed += done.stdout + done.stderr
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        lines = files["GITHUB_OUTPUT"].read_text("utf-8").splitlines()
        self.outputs[step.get("id", step["name"])] = dict(line.split("=", 1) for line in lines)
        self.status = self.status or done.returncode

    def annotations(self) -> list[tuple[str, dict[str, str], str]]:
        """Return the commands that the runner finds: level, properties, message."""
        found, closing = [], ""
        for line in self.printed.splitlines():
            match = re.fullmatch(r"\s*::([\w-]+) ?(.*?)::(.*)", line)
            if closing:
                closing = "" if line.strip() == closing else closing
            elif match and match[1] == "stop-commands":
                closing = f"::{match[3]}::"
            elif match:
                pairs = dict(pair.split("=", 1) for pair in match[2].split(",") if pair)
                found.append(
                    (match[1], {name: decoded(value) for name, value in pairs.items()}, decoded(match[3]))
                )
            else:
                assert "##[" not in line
        return found


def decoded(text: str) -> str:
    """Return what the runner makes of an escaped value."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def replaced(text: str, known: dict[str, str]) -> str:
    """Put values in the place of `${{ … }}`."""
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known.get(match[1], ""), text)


def is_wanted(condition: str, known: dict[str, str]) -> bool:
    """Evaluate the few words that conditions of the action use."""
    terms = re.sub(r"\$\{\{|\}\}", "", condition).split("&&")
    return all(is_true(term.split(), known) for term in terms)


def is_true(term: list[str], known: dict[str, str]) -> bool:
    if term in (["true"], ["!cancelled()"]):
        return True
    name, operator, value = term
    is_equal = known.get(name, "") == value.strip("'")
    return is_equal if operator == "==" else not is_equal


@pytest.fixture(scope="module")
def github() -> Iterator[Server]:
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture
def job(tmp_path_factory: pytest.TempPathFactory, github: Server) -> Job:
    """A job that has checked out a repository with nothing in it."""
    github.comments.clear()
    github.asked.clear()
    github.refusal = 0
    folder = tmp_path_factory.mktemp("job")
    (folder / "temp").mkdir()
    (folder / "repository").mkdir()
    (folder / "python").write_text(PYTHON, "utf-8")
    (folder / "python").chmod(0o755)
    return Job(folder, f"http://127.0.0.1:{github.server_port}")


def checked_out(job: Job) -> None:
    """Put two runs of the demo into the repository, without the goals that both miss."""
    demo = job.folder / "repository" / "demo"
    shutil.copytree(DEMO, demo)
    file = demo / "pipeline_manifest.yaml"
    shipped = yaml.safe_load(file.read_text("utf-8"))
    named = ("manifest_version", "name", "documents", "chunks", "gold", "triage")
    kept = {name: shipped[name] for name in named}
    runs = [run for run in shipped["runs"] if run["run_id"] in ("R004", "R005")]
    del runs[0]["baseline"]
    gates = {"flips": shipped["gates"]["flips"]}
    file.write_text(json.dumps(kept | {"goals": NO_GOALS, "gates": gates, "runs": runs}), "utf-8")


def asked(job: Job, **inputs: str) -> Job:
    return job.run(**{"workspace": "demo", "token": "token-of-the-job"} | inputs)


def test_a_faulty_run_gets_a_comment_that_the_next_push_updates(job: Job, github: Server) -> None:
    checked_out(job)
    # A person who writes the marker gets no comment of ours into theirs; ours is on the second page.
    github.comments += [{"id": 1, "user": {"type": "User"}, "body": f"{MARKER}\nReady!"}]
    github.comments += [{"id": number, "user": None, "body": None} for number in range(2, 101)]
    asked(job, run="R005", against="R004")
    assert (job.status, job.outputs["gate"]["verdict"]) == (1, "not_ready")
    requirements, checkout = (job.folder / "pip.log").read_text("utf-8").splitlines()
    assert Path(requirements.rpartition(" ")[2]).samefile(CHECKOUT / "requirements.lock")
    assert "--require-hashes" in requirements and Path(checkout.rpartition(" ")[2]).samefile(CHECKOUT)
    comment = github.comments[-1]["body"]
    assert comment.startswith(f"{MARKER}\n## Release check of `R005`, compared with `R004`: Not ready\n")
    assert comment.endswith("\nCommit 0123456789ab, [run](https://github.example/team/rag/actions/runs/99)\n")
    assert "`Q97` ok → `retrieval_drift`: `Chargers, max volts?`" in comment
    assert job.summary and job.summary in comment
    assert Path(job.outputs["gate"]["report"]).read_text("utf-8") == job.summary
    assert json.loads(Path(job.outputs["gate"]["json"]).read_bytes())["state"] == "not_ready"
    assert Path(job.outputs["gate"]["junit"]).read_bytes().startswith(b"<?xml")
    found = job.annotations()
    assert [level for level, *_ in found] == ["error"] * 10 + ["notice"]
    assert found[0][1] == {"title": "R005: Not ready"}
    checks = json.loads(Path(job.outputs["gate"]["json"]).read_bytes())["checks"]
    failing = {each["q_id"] for check in checks if check["fails"] for each in check["questions"]}
    assert found[-1][2] == f"{len(failing) - 9} more failing questions"
    _, properties, message = next(each for each in found if each[1]["title"].startswith("Q97"))
    assert properties == {
        "file": "demo/runs/R005/trace.jsonl",
        "line": "24",
        "title": "Q97: ok → retrieval_drift",
    }
    assert message.splitlines()[:2] == ["Chargers, max volts?", "Flips from ok"]
    traces = (job.folder / "repository" / properties["file"]).read_text("utf-8").splitlines()
    assert json.loads(traces[int(properties["line"]) - 1])["q_id"] == "Q97"

    again = asked(Job(job.folder, job.address), run="R004", against="R005")
    assert (again.status, again.outputs["gate"]["verdict"]) == (0, "not_enough_evidence")
    assert again.annotations() == []
    assert len(github.comments) == 101
    assert github.comments[-1]["body"].startswith(f"{MARKER}\n## Release check of `R004`")
    assert github.comments[0]["body"] == f"{MARKER}\nReady!"
    assert github.asked[-1] == "PATCH /repos/team/rag/issues/comments/101"


HOSTILE = "##[error]x\n::error::boom\n@team <img src=x> | %0A::stop-commands::x [a](http://evil.example) `"


def test_no_text_of_a_pull_request_becomes_a_command_or_markup_or_code(job: Job, github: Server) -> None:
    ids = [f"::warning::{n}, %0A<b>@team" for n in range(12)]
    run = [*(trace(q_id, q=HOSTILE, answer="") for q_id in ids), b"::error::{"]
    folder = job.folder / "repository" / "demo"
    gates = {"flips": [{"from": "ok", "to": ["retrieval_drift", "generation_drift", "refusal_suspect"]}]}
    runs = {"R1": [trace(q_id) for q_id in ids], "R2": run}
    write_workspace(folder, runs, goals=NO_GOALS, gates=gates)
    for name in ("click", "json", "venv", "pip"):
        (folder.parent / f"{name}.py").write_text("raise SystemExit('imported')\n", "utf-8")
    asked(job, run="R2", against="R1")
    assert job.status == 1
    found = job.annotations()
    assert [level for level, *_ in found] == ["warning"] + ["error"] * 9 + ["notice"]
    assert found[0][1] == {"title": "Proofspan check", "file": "demo/runs/R2.jsonl", "line": "13"}
    assert found[1][1] == {"title": "R2: Not ready"}
    traces = [properties for _, properties, _ in found[2:10]]
    assert {each["file"] for each in traces} == {"demo/runs/R2.jsonl"}
    assert [each["title"][:12] + each["line"] for each in traces[:2]] == ["::warning::01", "::warning::12"]
    assert found[2][1]["title"].startswith("::warning::0, %0A<b>@team: ok → ")
    assert found[2][2].startswith("##[error]x ::error::boom @team <img src=x> | %0A::stop-commands::x")
    assert github.comments[0]["body"].startswith(
        f"{MARKER}\n## The workspace has 1 problem\n\n- `demo/runs/R2"
    )
    tokens = MarkdownIt("commonmark").enable("table").parse(github.comments[0]["body"])
    html = [token.content for token in tokens if token.type == "html_block"]
    assert html[0] == f"{MARKER}\n"
    assert all(
        re.fullmatch(r"(<details>\n<summary>[\w ]+</summary>|</details>)\n", each) for each in html[1:]
    )
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.attrGet("href") for child in inline if child.type == "link_open"} == {
        "https://github.example/team/rag/actions/runs/99"
    }
    assert not [child for child in inline if child.type in ("html_inline", "image")]
    assert not [child for child in inline if child.type == "text" and "@" in child.content]


def test_input_that_cannot_be_used_replaces_the_comment_as_well(job: Job, github: Server) -> None:
    github.comments.append({"id": 1, "user": {"type": "Bot"}, "body": f"{MARKER}\n## Ready for release"})
    asked(job)
    assert (job.status, job.outputs["gate"]) == (
        2,
        {"verdict": "unusable", "report": job.outputs["gate"]["report"], "json": "", "junit": ""},
    )
    (comment,) = github.comments
    assert comment["body"].startswith(f"{MARKER}\n## Release check: the input cannot be used\n\n- `")
    ((level, properties, message),) = job.annotations()
    assert (level, properties) == ("error", {"title": "Proofspan gate: the input cannot be used"})
    assert "demo" in message


def commented(job: Job, report: str = "fine\n", comment: str = "true") -> Job:
    """Run the last step alone, as after a gate that passed."""
    file = job.folder / "report.md"
    file.write_text(report, "utf-8")
    (job.folder / "temp" / "proofspan" / "bin").mkdir(parents=True)
    shutil.copy(job.folder / "python", job.folder / "temp" / "proofspan" / "bin")
    known = {
        "inputs.workspace": "demo",
        "inputs.token": "token-of-the-job",
        "inputs.comment": comment,
        "steps.gate.outputs.report": str(file),
    }
    step = ACTION["runs"]["steps"][-1]
    if is_wanted(step["if"], known):
        job._step(step, known)
    return job


@pytest.mark.parametrize(
    ("refusal", "head", "level", "words"),
    [
        (403, {"full_name": "stranger/rag"}, "notice", "from a fork may only read"),
        (403, None, "notice", "from a fork may only read"),
        (403, {"full_name": "team/rag"}, "warning", "`permissions: pull-requests: write`"),
        (502, {"full_name": "stranger/rag"}, "warning", "GitHub answers 502 Bad Gateway"),
        (301, {"full_name": "team/rag"}, "warning", "GitHub answers 301"),
    ],
)
def test_a_comment_that_is_refused_is_no_failure(
    job: Job, github: Server, refusal: int, head: dict[str, str] | None, level: str, words: str
) -> None:
    github.refusal = refusal
    job.event = {"pull_request": PULL_REQUEST | {"head": {"sha": "0", "repo": head}}}
    ((found, _, message),) = commented(job).annotations()
    assert (job.status, found) == (0, level)
    assert words in message and message.endswith("the report is in the summary of the run")


def test_nothing_is_asked_where_there_is_no_pull_request_or_no_comment_is_wanted(
    job: Job, github: Server
) -> None:
    job.event = {"ref": "refs/heads/main"}
    assert "Not a pull request" in commented(job).printed
    job.event = {"pull_request": PULL_REQUEST}
    shutil.rmtree(job.folder / "temp" / "proofspan")
    commented(job, comment="false")
    assert (job.status, github.asked) == (0, [])


def test_a_server_that_does_not_answer_is_a_warning(job: Job) -> None:
    job.address = "http://127.0.0.1:1"
    ((level, _, message),) = commented(job).annotations()
    assert (job.status, level) == (0, "warning") and "refused" in message


def test_a_long_report_is_cut_after_a_line_and_its_fold_closed(job: Job, github: Server) -> None:
    commented(job, "<details>\n<summary>3 checks</summary>\n\n" + "| ü |\n" * 12_000)
    (comment,) = github.comments
    assert len(comment["body"]) < 65_536
    assert "| ü |\n\n</details>\n\nToo long for a comment" in comment["body"]


def test_other_peoples_actions_are_pinned_by_commit() -> None:
    files = [FOLDER / "action.yml", *sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))]
    used = [use for file in files for use in re.findall(r"uses: (\S+)(.*)", file.read_text("utf-8"))]
    assert len(used) >= 5
    pinned = r"[\w.-]+/[\w./-]+@[0-9a-f]{40}"
    assert [use for use, version in used if not re.fullmatch(pinned, use) and not use.startswith("./")] == []
    assert [use for use, version in used if "@" in use and not re.fullmatch(r" # v[\d.]+", version)] == []


@pytest.mark.parametrize("page", ["README.md", "docs/ci.md"])
def test_the_documented_use_takes_six_lines_and_names_inputs_that_exist(page: str) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", (CHECKOUT / page).read_text("utf-8"), re.DOTALL)
    step = re.compile(r"^ *- uses: proofspan/proofspan/\.github/actions/gate@.*", re.DOTALL | re.MULTILINE)
    (lines,) = (found[0] for block in blocks if (found := step.search(block)))
    (used,) = yaml.safe_load(textwrap.dedent(lines))
    assert len(lines.splitlines()) <= 6 and set(used) == {"uses", "with"}
    assert set(used["with"]) <= set(ACTION["inputs"])
