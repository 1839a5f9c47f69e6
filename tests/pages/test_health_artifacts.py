"""Health: what `check` reports, and every line that could not be read."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from proofspan.cli.workspace.check_cmd import command
from proofspan.ui.health.overview import age_words, size_words
from tests.pages.conftest import TRACES, MakeWorkspace, Open, grids, listed, shown, unfold

pytestmark = pytest.mark.slow

PAGE = "pages/health.py"
FILES, LINES = "Artifacts of the manifest", "Lines that could not be read or belong to nothing"


def state_of(row: dict[str, dict[str, Any]]) -> str:
    """The state of a file as its chip reads."""
    return str(row["State"]["chips"][0]["text"])


def test_a_workspace_without_findings_is_all_as_named(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = unfold(open_app(make_workspace(), page=PAGE))
    assert not app.exception
    assert "all as the manifest names them" in shown(app)
    assert {state_of(row) for row in listed(app, FILES)} == {"as named"}
    assert all("Problem" not in row for row in listed(app, FILES))


def test_page_and_command_agree(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(
        [*TRACES, b"{torn", b"[]"],
        gold={"path": "gold.jsonl", "unreadable_lines": "1"},
        documents=[{"doc_id": "notes", "path": "notes.md", "paged": False}],
    )
    (folder / "gold.jsonl").write_text('{"q_id": "Q1", "q": "?"}\n{"a": 1}\n')
    (folder / "notes.md").write_bytes(b"caf\xe9")
    app = unfold(open_app(folder, page=PAGE))
    report = json.loads(CliRunner().invoke(command, [str(folder), "--json"]).stdout)
    messages = [problem["message"] for each in report["artifacts"] for problem in each["problems"]]
    assert len(messages) == 3
    text = html.unescape(shown(app)).lower()
    for message in messages:
        assert message.removeprefix("`").lower().split("`: ")[1] in text
    reported = [row for row in listed(app, FILES) if row["Problem"]]
    assert len(reported) == len(messages) - 1  # declared lines are a note above
    assert "2 with a problem" in shown(app)
    assert "problems when Health was last opened" in badge(open_app(folder))


def test_lines_declared_unreadable_are_a_note(make_workspace: MakeWorkspace, open_app: Open) -> None:
    traces = {"path": "trace.jsonl", "unreadable_lines": "1"}
    folder = make_workspace([*TRACES, b"{torn"], runs=[{"run_id": "R1", "traces": traces}])
    app = unfold(open_app(folder, page=PAGE))
    assert "all as the manifest names them" in shown(app)
    assert "1 line of 4 could not be read, as declared" in shown(app)
    assert "`" not in shown(app)
    assert [state_of(row) for row in listed(app, FILES)] == ["as named", "as named"]
    assert all("Problem" not in row for row in listed(app, FILES))


def test_without_a_run_everything_else_is_there(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(None, runs=[], gold={"path": "gold.jsonl"})
    (folder / "gold.jsonl").write_text('{"q_id": "Q1", "q": "?", "spans": []}\n')
    app = unfold(open_app(folder, page=PAGE, indexed=False))
    assert not app.exception
    assert [row["Artifact"]["text"] for row in listed(app, FILES)] == ["chunks", "gold"]
    assert "This workspace lists no run yet" in shown(app)


def test_without_a_run_the_navigation_stays(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace(None, runs=[]), indexed=False)
    titles = [link.proto.label for link in app.sidebar.get("page_link")]
    assert titles.pop(0) == "Open your data"
    browse, trust = ["Triage", "Question", "Walkthrough"], ["Health", "Sprint"]
    assert titles == [*browse, "Trends", "Compare", "Release report", "What-if", *trust]
    assert "cannot be opened" not in "".join(str(each.proto.body) for each in app.sidebar.get("html"))
    assert "This workspace lists no run yet" in shown(app)


def test_every_problem_is_in_its_row_with_its_remedy(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = make_workspace(
        documents=[{"doc_id": "manual", "path": "manual.pdf"}],
        chunks={"path": "chunks.jsonl", "sha256": "0" * 64},
    )
    app = unfold(open_app(folder, page=PAGE))
    table = listed(app, FILES)
    assert {row["Artifact"]["text"]: state_of(row) for row in table} == {
        "documents[manual]": "missing",
        "chunks": "hash differs",
        "runs[R1].traces": "as named",
    }
    assert all(row["Problem"]["note"] for row in table[:2]), "each problem has its remedy"
    assert "2 with a problem" in shown(app)


def test_text_that_was_decoded_wrongly_is_a_warning_with_its_remedy(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    wrong = json.dumps({**TRACES[0], "ŒîS": 0.37}, ensure_ascii=False).encode()
    folder = make_workspace([wrong, *TRACES[1:]])
    table = listed(unfold(open_app(folder, page=PAGE)), FILES)
    named = {row["Artifact"]["text"]: row["Problem"] for row in table}
    found = named["runs[R1].traces"]
    assert "'ŒîS' was 'ΔS'" in found["text"] and "fix_encoding: true" in found["note"]
    assert not named["chunks"]


def test_unreadable_lines_are_listed_with_line_reason_and_raw_text(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = unfold(open_app(make_workspace([*TRACES, b"{<b>not json"]), page=PAGE))
    (line,) = listed(app, LINES)
    assert line_issues(app) == ["1"]
    assert (line["Line"]["text"], line["The line begins"]["text"]) == ("4", "{<b>not json")
    assert line["Problem"]["text"] and line["Problem"]["note"]
    assert [chip["text"] for chip in line["Line"]["chips"]] == ["not declared"]


def test_a_run_without_bad_lines_says_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = unfold(open_app(make_workspace(), page=PAGE))
    assert "Every line of R1 could be read and belongs to something." in shown(app)


def test_each_kind_of_problem_is_written_out_once_and_counted(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    lost = [{"doc_id": f"d{n}", "path": f"d{n}.pdf"} for n in range(6)]
    folder = make_workspace(documents=lost)
    (folder / "d3.pdf").write_text("<html>404</html>")
    app = unfold(open_app(folder, page=PAGE))
    words = shown(app)
    assert words.count("correct its path, or put it there: cp FILE") == 1
    assert "4 more like this in the table of artifacts." in words
    assert "is a web page, not a PDF" in words
    assert "documents[d5]" in {row["Artifact"]["text"] for row in listed(app, FILES)}


def test_the_sidebar_counts_what_opening_finds_once_it_was_looked_for(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    documents = [{"doc_id": name, "path": f"{name}.pdf"} for name in ("torn", "lost")]
    folder = make_workspace(documents=documents)
    (folder / "torn.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    assert badge(open_app(folder)) == ""
    assert "2 with a problem" in shown(open_app(folder, page=PAGE))
    assert "problems when Health was last opened" in badge(open_app(folder))


def line_issues(app: AppTest) -> list[str]:
    """The number of line issues of each run in the list of runs."""
    return [row["cells"][2]["text"] for row in grids(app)["Runs of this workspace"]["rows"]]


def badge(app: AppTest) -> str:
    """Return the count in the sidebar's badge."""
    (link,) = (link for link in app.sidebar.get("page_link") if link.proto.label.startswith("Health"))
    return str(link.proto.help).replace("\\", "")


def test_an_unfinished_last_line_is_a_note_and_no_finding(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace()
    with (folder / "trace.jsonl").open("ab") as file:
        file.write(b'{"q": "still')
    app = unfold(open_app(folder, page=PAGE))
    assert "the last line (12 bytes) has no line end" in shown(app)
    assert "Every line of R1 could be read and belongs to something." in shown(app)
    assert line_issues(app) == ["0"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_200, "2 hours ago"),
        (86_400, "1 day ago"),
        (45 * 86_400, "1 month ago"),
        (800 * 86_400, "2 years ago"),
    ],
)
def test_an_age_is_shown_in_the_unit_that_fits(seconds: float, words: str) -> None:
    assert age_words(seconds) == words


def test_every_file_has_its_rows_size_and_age(make_workspace: MakeWorkspace, open_app: Open) -> None:
    table = listed(unfold(open_app(make_workspace([*TRACES, b"{torn"]), page=PAGE)), FILES)
    rows = {row["Artifact"]["text"]: row["Rows"]["text"] for row in table}
    assert rows == {"chunks": "2", "runs[R1].traces": "3"}, "of traces those that were read"
    assert all(row["Changed"]["text"] == "just now" and row["Changed"]["note"] for row in table)
    assert all(row["Size"]["text"].endswith(" B") for row in table)


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (999, "999 B"), (4_210, "4.2 kB"), (13_400_000, "13 MB"), (2e9, "2.0 GB")]
)
def test_a_size_is_shown_in_the_unit_that_fits(size: int, words: str) -> None:
    assert size_words(size) == words
