"""The Workspace page: what `check` reports, and every line that could not be read."""

from __future__ import annotations

from tests.pages.conftest import TRACES, MakeWorkspace, Open, shown

PAGE = "pages/workspace.py"


def test_the_demo_is_all_as_named(open_app: Open) -> None:
    app = open_app(page=PAGE)
    assert not app.exception
    assert "all as the manifest names them" in shown(app)
    assert {chips[0] for chips in app.dataframe[0].value["state"]} == {"as named"}


def test_every_problem_stands_in_its_row_with_its_remedy(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    folder = make_workspace(
        documents=[{"doc_id": "manual", "path": "manual.pdf"}],
        chunks={"path": "chunks.jsonl", "sha256": "0" * 64},
    )
    app = open_app(folder, page=PAGE)
    table = app.dataframe[0].value
    states = dict(zip(table["artifact"], [chips[0] for chips in table["state"]], strict=True))
    assert states == {
        "documents[manual]": "missing",
        "chunks": "hash differs",
        "runs[R1].traces": "as named",
    }
    assert all(table["what to do"][:2]), "each problem has its remedy"
    assert "2 with a problem" in shown(app)


def test_unreadable_lines_stand_with_line_reason_and_raw_text(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace([*TRACES, b"{<b>not json"]), page=PAGE)
    runs, lines = app.dataframe[1].value, app.dataframe[2].value
    assert list(runs["unreadable lines"]) == [1]
    assert list(lines["line"]) == [4]
    assert lines["the line begins"][0] == "{<b>not json"
    assert lines["reason"][0]
    assert lines["what to do"][0]


def test_a_run_without_bad_lines_says_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace(), page=PAGE)
    assert "Every line of R1 could be read." in shown(app)
