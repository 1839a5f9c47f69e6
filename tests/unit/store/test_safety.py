"""Which warnings an answer may leave out, in the index: stored, filtered, counted, exported."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from proofspan.diagnosis.safety import MOST_NOTICES
from proofspan.manifest.types import Manifest
from proofspan.services.export import EXPORTS
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_state
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import built, lines, table_of, trace, write_workspace

pytestmark = pytest.mark.slow

RUN = "R1"
HOT = "Hot oil burns the skin. Let the engine cool for an hour before you unscrew the filter."
WASTE = "Never pour used oil into a drain: one litre spoils a million litres of water."
CATALOGUE = [
    {"attachment_id": "w-hot", "kind": "warning", "doc_id": "manual", "section_id": "4.2", "text": HOT},
    {"attachment_id": "c-waste", "kind": "caution", "doc_id": "manual", "section_id": "4", "text": WASTE},
    {"attachment_id": "n-1", "kind": "note", "doc_id": "manual", "section_id": "4.2", "text": "Keep a rag."},
    {"attachment_id": "t-1", "kind": "table", "doc_id": "manual", "section_id": "4.2", "text": "Quantities"},
]
GROUNDED = f"The oil filter holds 4 litres. {HOT} citations: [c1]"
RECORDS = [
    trace("Q1"),
    trace("Q2", answer=GROUNDED),
    trace("Q3", answer=f"{GROUNDED[:-15]} {WASTE} citations: [c1]"),
    trace("Q4", answer="not in context citations: [c1]"),
    trace("Q5", answer="The oil filter holds 4 litres."),
    trace("Q6", answer="Torque the bolts to 30 Nm. citations: [c3]"),
]
OMITTED: list[object] = [["w-hot", "c-waste"], ["c-waste"], [], [], None, []]


def workspace(
    folder: Path, catalogue: bytes | None, *, name: str = "catalogue.jsonl", times: int = 1
) -> Manifest:
    folder.mkdir(exist_ok=True)
    if catalogue is not None:
        (folder / name).write_bytes(catalogue)
    records = [record | {"q_id": f"{record['q_id']}-{n}"} for n in range(times) for record in RECORDS]
    return write_workspace(folder, {RUN: records if times > 1 else RECORDS}, catalogue={"path": name})


def omitted(manifest: Manifest, cache: Path) -> list[object]:
    return [row["safety_omitted"] for row in table_of(manifest, RUN, cache)]


def test_a_row_lists_the_notices_that_its_answer_may_leave_out(tmp_path: Path) -> None:
    """Null where nothing is cited, empty where all is mentioned, the answer refuses or no notice is there."""
    manifest = workspace(tmp_path / "ws", lines(CATALOGUE))
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert (run.problems, run.line_issues) == ((), 0)
    assert omitted(manifest, tmp_path / "cache") == OMITTED


def test_several_workers_find_the_same_notices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 2_000)
    manifest = workspace(tmp_path / "ws", lines(CATALOGUE), times=6)
    for workers in (1, 2):
        cache = tmp_path / f"cache{workers}"
        build_index(manifest, cache_dir=cache, workers=workers)
        assert omitted(manifest, cache) == OMITTED * 6


@pytest.mark.parametrize(
    ("safety", "q_ids"),
    [
        (True, ["Q1", "Q2"]),
        (False, ["Q3", "Q4", "Q6"]),
        (None, ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]),
    ],
)
def test_a_list_is_narrowed_to_answers_that_leave_a_warning_out(
    tmp_path: Path, safety: bool | None, q_ids: list[str]
) -> None:
    store = built(workspace(tmp_path / "ws", lines(CATALOGUE)), tmp_path / "cache")
    page = store.page(Filter(RUN, safety=safety), Sort("q_id"), limit=9, offset=0)
    assert list(page["q_id"]) == q_ids
    assert list(page["safety_omitted"]) == [OMITTED[int(q_id[1:]) - 1] for q_id in q_ids]
    assert [store.matching(Filter(RUN, safety=of)) for of in (True, False)] == [2, 3]
    assert store.matching(Filter(RUN, safety=True, label=("refusal_suspect",))) == 0


def test_lists_are_ordered_by_how_many_are_left_out(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws", lines(CATALOGUE)), tmp_path / "cache")
    page = store.page(Filter(RUN), Sort("safety", descending=True), limit=9, offset=0)
    assert list(page["q_id"][:2]) == ["Q1", "Q2"]
    assert page["q_id"].iloc[-1] == "Q5"


def test_an_export_names_them(tmp_path: Path) -> None:
    store = built(workspace(tmp_path / "ws", lines(CATALOGUE)), tmp_path / "cache")
    output = "".join(
        EXPORTS["jsonl"].pieces(store.rows(Filter(RUN), Sort("q_id"), with_claims=True))
    ).splitlines()
    assert '"safety_omitted":["w-hot","c-waste"]' in output[0]
    assert '"safety_omitted":[]' in output[2]
    assert '"safety_omitted":null' in output[4]


def test_a_packed_catalogue_is_read(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", gzip.compress(lines(CATALOGUE)), name="catalogue.jsonl.gz")
    build_index(manifest, cache_dir=tmp_path / "cache")
    assert omitted(manifest, tmp_path / "cache") == OMITTED


def test_another_catalogue_makes_the_index_stale(tmp_path: Path) -> None:
    manifest, cache = workspace(tmp_path / "ws", lines(CATALOGUE)), tmp_path / "cache"
    build_index(manifest, cache_dir=cache)
    assert index_state(manifest, RUN, cache) == "fresh"
    (tmp_path / "ws" / "catalogue.jsonl").write_bytes(lines(CATALOGUE[1:]))
    assert index_state(manifest, RUN, cache) == "stale"
    build_index(manifest, cache_dir=cache)
    assert omitted(manifest, cache)[:2] == [["c-waste"], ["c-waste"]]


def test_broken_lines_are_findings_and_the_good_ones_count(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "ws", lines([b"{no json", {"attachment_id": "x"}, *CATALOGUE]))
    (run,) = build_index(manifest, cache_dir=tmp_path / "cache").runs
    assert [(issue.source.file, issue.source.line, issue.code) for issue in run.issues] == [
        ("catalogue.jsonl", 1, "not_json"),
        ("catalogue.jsonl", 2, "kind_unknown"),
    ]
    assert omitted(manifest, tmp_path / "cache") == OMITTED


@pytest.mark.parametrize(
    ("catalogue", "code"),
    [
        (None, "catalogue_unusable"),
        (b"[1, 2", "not_json"),
        (b"\x00\x01\x02\x03 no text at all", "not_json"),
    ],
)
def test_a_catalogue_that_cannot_be_used_is_reported_once_and_the_labels_stay(
    tmp_path: Path, catalogue: bytes | None, code: str
) -> None:
    manifest, cache = workspace(tmp_path / "ws", catalogue), tmp_path / "cache"
    (run,) = build_index(manifest, cache_dir=cache).runs
    reported = [*(problem.code for problem in run.problems), *(issue.code for issue in run.issues)]
    assert reported == [code]
    rows = table_of(manifest, RUN, cache)
    assert [row["label"] for row in rows][:2] == ["ok", "ok"]
    assert omitted(manifest, cache) == [None] * 6
    store = Store(manifest, cache)
    assert [store.matching(Filter(RUN, safety=safety)) for safety in (True, False)] == [0, 0]


def test_without_chunks_nothing_is_known_of_notices(tmp_path: Path) -> None:
    manifest, cache = workspace(tmp_path / "ws", lines(CATALOGUE)), tmp_path / "cache"
    (tmp_path / "ws" / "chunks.jsonl").unlink()
    build_index(manifest, cache_dir=cache)
    assert omitted(manifest, cache) == [None] * 6


def test_a_crowded_section_is_a_warning_that_names_it(tmp_path: Path) -> None:
    crowd = [CATALOGUE[0] | {"attachment_id": f"w{n:05}", "text": f"{HOT} x{n}y"} for n in range(3_000)]
    manifest, cache = workspace(tmp_path / "ws", lines(crowd)), tmp_path / "cache"
    (run,) = build_index(manifest, cache_dir=cache).runs
    (problem,) = run.problems
    assert (problem.code, problem.severity, problem.where) == (
        "section_crowded",
        "warning",
        "catalogue.jsonl",
    )
    assert problem.message.startswith(
        "section 4.2 of manual has 3,000 warnings and cautions; only the first 100"
    )
    assert omitted(manifest, cache)[0] == [f"w{n:05}" for n in range(MOST_NOTICES)]
