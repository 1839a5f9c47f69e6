"""Agreement of people and rules on Trends: coefficients, the record by rule, and the disagreements."""

from __future__ import annotations

from proofspan.journal.annotations import Annotation, Target, append
from proofspan.manifest.load import load_manifest
from tests.pages.conftest import MakeWorkspace, Open, grids, keys, shown, unfold

GIVEN = {
    "Ada": {"Q1": "correct", "Q2": "wrong", "Q3": "wrong"},
    "Ben <i>": {"Q1": "correct", "Q2": "wrong", "Q3": "correct"},
}


def test_agreement_is_shown_with_its_disagreements(make_workspace: MakeWorkspace, open_app: Open) -> None:
    workspace = make_workspace(annotations={"path": "annotations.jsonl"})
    app = unfold(open_app(workspace, page="pages/trends.py", run="R1"), "agreement")
    assert "Nobody has given a verdict" in shown(app)
    verdicts = [
        Annotation("verdict", Target("R1", q_id), name, agrees=False, correct=value, label="ok")
        for name, values in GIVEN.items()
        for q_id, value in values.items()
    ]
    append(load_manifest(workspace), *verdicts)
    app.run()
    assert "3 answers that several people looked at" in shown(app)
    found = grids(app)
    rows = {row["head"]["text"]: row["cells"] for row in found["Agreement of pairs"]["rows"]}
    both = [cell["text"] for cell in rows["Ada and Ben <i>"]]
    assert both[0].startswith("0.40 (")  # 2 of 3 are the same, 4/9 by chance
    assert both[1:] == ["3", "2"]
    listed = [row["head"] for row in found["Disagreements"]["rows"]]
    assert any("q=Q3" in head["href"] for head in listed)
    assert "<i>" not in shown(app)

    app.session_state["agreement-field:chosen"] = "label"
    app.run()
    record = {row["head"]["text"]: row["cells"] for row in grids(app)["Record of the rules"]["rows"]}
    assert [cell["text"] for cell in record["Grounded"]] == ["1", "0"]
    assert not app.exception


def test_without_a_file_of_reviews_there_is_no_agreement(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    app = open_app(make_workspace(), page="pages/trends.py", run="R1")
    assert "fold-agreement" not in keys(app)
