"""The mapped import as a whole: foreign files in, a workspace that opens out, and nothing lost on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from core.contracts.records import Trace
from core.errors import Fault
from core.manifest.load import load_manifest
from core.traces.canonical import citations, stages
from core.traces.chunks import read_chunks
from core.traces.gold import read_gold
from core.traces.importers.mapped import import_mapped
from core.traces.importers.report import ImportReport
from core.traces.traces import iter_traces

MAPPING = """
mapping_version: "1.0"
name: Some pipeline
run: {run_id: R001, ts: 2026-01-01T00:00:00Z, title: first}
triage: {template: none, refusal: ["no idea"]}
traces:
  q_id: meta.id
  q: question
  answer: out.text
  fields: {latency_ms: out.ms}
  stages:
    retrieved: &chunk
      each: ctx[]
      text: body
      doc_id: doc
      page: {path: pg, base: 1}
      score: s
    reranked:
      <<: *chunk
      each: top[]
  seen: reranked
  citations:
    each: out.cites[]
    doc_id: doc
    page: {path: pg, base: 1}
    quote: said
gold:
  source: truth.json
  q_id: id
  q: question
  spans:
    {each: "where[]", doc_id: doc, quote: text, page: {path: "$.pages[0]", regex: 'p\\. (\\d+)', base: 0}}
documents: {pattern: "pdf/{doc_id}.pdf"}
"""

RECORD: dict[str, Any] = {
    "meta": {"id": 17},
    "question": "How much oil?",
    "out": {"text": "4.3 litres", "ms": 12, "cites": [{"doc": "A", "pg": 2, "said": "4.3 litres"}]},
    "ctx": [
        {"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": None},
        {"body": "Fuel: 48 litres", "doc": "A", "pg": 2, "s": 0.5},
        {"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": 0.4},
        {"body": "Elsewhere", "doc": "B", "pg": 1, "s": 0.1},
    ],
    "top": [{"body": "Oil: 4.3 litres", "doc": "A", "pg": 2, "s": 0.9}],
}
TRUTH = [
    {
        "id": "17",
        "question": "How much oil?",
        "pages": ["p. 1"],
        "where": [{"doc": "A", "text": "4.3 litres"}],
    }
]

Import = Callable[..., ImportReport]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "foreign"
    (folder / "pdf").mkdir(parents=True)
    (folder / "pdf" / "A.pdf").write_bytes(b"%PDF-1.7 of A")
    (folder / "truth.json").write_text(json.dumps(TRUTH))
    (folder / "map.yaml").write_text(MAPPING)
    file = folder / "results.jsonl"
    file.write_text(json.dumps(RECORD) + "\n")
    return file


def _import(source: Path, to: Path, **options: Any) -> ImportReport:
    return import_mapped(source, mapping=source.parent / "map.yaml", workspace=to, **options)


def _arguments(source: Path) -> list[str]:
    return ["import", "mapped", str(source), "--mapping", str(source.parent / "map.yaml"), "--to"]


def _traces(workspace: Path) -> list[Trace]:
    found = iter_traces(workspace / "runs/R001/trace.jsonl", file="trace.jsonl", run_id="R001")
    return [each for each in found if isinstance(each, Trace)]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_part_comes_out_as_a_native_record(source: Path, tmp_path: Path) -> None:
    report = _import(source, tmp_path / "ws")
    (trace,) = _traces(tmp_path / "ws")
    assert (trace.q_id, trace.q, trace.answer, trace.raw["latency_ms"]) == (
        "17",
        "How much oil?",
        "4.3 litres",
        12,
    )
    retrieved, reranked, seen = stages(trace)
    assert [c.page_idx for c in retrieved.candidates] == [1, 1, 1, 0]
    assert [c.score for c in retrieved.candidates] == [None, 0.5, 0.4, 0.1]
    assert reranked.candidates == seen.candidates and seen.name == "chunks"
    assert trace.raw["citations"] == [{"doc_id": "A", "page_idx": 1, "quote": "4.3 litres"}]
    chunks, issues = read_chunks(tmp_path / "ws/corpus/chunks.jsonl", file="chunks")
    assert not issues and {chunk.text for chunk in chunks.values()} == {
        each["body"] for each in RECORD["ctx"]
    }
    gold, issues = read_gold(tmp_path / "ws/gold/goldset.jsonl", file="gold")
    assert not issues and gold["17"].spans[0].page_idx == 1
    assert (report.traces, report.joined, report.chunks, report.gold) == (1, 1, 3, 1)


def test_equal_chunks_get_one_id_and_ids_do_not_hang_on_the_order(source: Path, tmp_path: Path) -> None:
    _import(source, tmp_path / "one")
    source.write_text(json.dumps({**RECORD, "ctx": RECORD["ctx"][::-1]}) + "\n")
    _import(source, tmp_path / "two")
    chunks = (tmp_path / "one/corpus/chunks.jsonl").read_bytes()
    assert chunks == (tmp_path / "two/corpus/chunks.jsonl").read_bytes()
    first, _, third, _ = stages(_traces(tmp_path / "one")[0])[0].candidates
    assert first.chunk_id == third.chunk_id
    assert first.chunk_id.startswith("A|r=00000000|s=p002|p=002|b=")


def test_the_manifest_opens_and_names_missing_documents_without_a_hash(source: Path, tmp_path: Path) -> None:
    report = _import(source, tmp_path / "ws")
    manifest = load_manifest(tmp_path / "ws")
    assert [each.doc_id for each in report.missing] == ["B"]
    there, missing = manifest.documents
    assert there.artifact.sha256 and not missing.artifact.sha256
    assert missing.artifact.path == "corpus/pdf/B.pdf"
    assert manifest.triage == {"template": "none", "refusal": ["no idea"]}
    assert manifest.runs[0].ts == "2026-01-01T00:00:00Z"


def test_the_same_files_give_the_same_bytes(source: Path, tmp_path: Path) -> None:
    _import(source, tmp_path / "one")
    _import(source, tmp_path / "two")
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")


def test_counts_tell_found_from_absent_from_unusable(source: Path, tmp_path: Path) -> None:
    broken = {**RECORD, "out": {"text": 5}, "top": [{"body": "x", "doc": "A", "pg": 0}]}
    source.write_text(json.dumps(RECORD) + "\n\n" + json.dumps(broken) + "\n")
    report = _import(source, tmp_path / "ws")
    counts = {
        each.key: (each.found, each.absent, each.unusable, each.first_unusable) for each in report.fields
    }
    assert counts["traces.answer"] == (1, 0, 1, 3)
    assert counts["traces.fields.latency_ms"] == (1, 1, 0, None)
    assert counts["traces.stages.retrieved.score"] == (6, 2, 0, None)
    assert counts["traces.stages.reranked.page"] == (1, 0, 1, 3)
    assert "answer_missing" in _traces(tmp_path / "ws")[1].suspicions


def test_bad_lines_are_reported_by_number_and_the_rest_is_imported(source: Path, tmp_path: Path) -> None:
    lines = ["{not json", json.dumps(RECORD), '{"question": null}', "[1, 2]", json.dumps(RECORD)[:-1]]
    source.write_text("\n".join(lines))
    report = _import(source, tmp_path / "ws")
    assert sorted((each.source.line, each.code) for each in report.issues) == [
        (1, "not_json"),
        (3, "q_missing"),
        (4, "q_missing"),
        (5, "not_json"),
    ]
    assert report.traces == 1


def test_one_object_with_the_records_inside_is_read_as_well(source: Path, tmp_path: Path) -> None:
    source.write_text(json.dumps({"run": 1, "data": {"rows": [RECORD, RECORD]}}, indent=1))
    mapping = source.parent / "map.yaml"
    mapping.write_text(MAPPING + "records: data.rows[]\n")
    assert _import(source, tmp_path / "ws").traces == 2


def test_one_record_may_hold_several_traces(source: Path, tmp_path: Path) -> None:
    source.write_text(json.dumps({"q": "Same?", "answers": [{"a": "yes"}, {"a": "no"}]}) + "\n")
    (source.parent / "map.yaml").write_text(
        'mapping_version: "1.0"\nname: n\nrun: {run_id: R001}\n'
        'traces: {each: "answers[]", q: $.q, answer: a}\n'
    )
    _import(source, tmp_path / "ws")
    assert [(trace.q, trace.answer) for trace in _traces(tmp_path / "ws")] == [
        ("Same?", "yes"),
        ("Same?", "no"),
    ]


def test_ids_of_the_source_are_kept_and_two_texts_under_one_are_reported(
    source: Path, tmp_path: Path
) -> None:
    ctx = [{"cid": "c1", "body": "first"}, {"cid": "c1", "body": "second"}, {"body": "third"}, {"pg": 1}]
    source.write_text(json.dumps({"q": "?", "ctx": ctx}) + "\n")
    (source.parent / "map.yaml").write_text(
        'mapping_version: "1.0"\nname: n\nrun: {run_id: R001}\n'
        'traces: {q: q, stages: {retrieved: {each: "ctx[]", id: cid, text: body}}, seen: retrieved}\n'
    )
    report = _import(source, tmp_path / "ws")
    assert [problem.code for problem in report.problems] == ["candidate_without_text", "chunk_id_conflict"]
    chunks, _ = read_chunks(tmp_path / "ws/corpus/chunks.jsonl", file="chunks")
    assert {chunk.text for chunk in chunks.values()} == {"first", "third"}
    assert _traces(tmp_path / "ws")[0].chunk_ids == ("c1", "c1", "unknown|r=00000000|s=p000|p=000|b=001")


def test_a_document_is_copied_or_linked_and_never_points_out_of_the_workspace(
    source: Path, tmp_path: Path
) -> None:
    pdf = source.parent / "pdf" / "A.pdf"
    _import(source, tmp_path / "copied")
    _import(source, tmp_path / "linked", link=True)
    assert not (tmp_path / "copied/corpus/pdf/A.pdf").samefile(pdf)
    linked = tmp_path / "linked/corpus/pdf/A.pdf"
    assert linked.samefile(pdf) and not linked.is_symlink()


@pytest.mark.parametrize(
    "doc_id", ["../../secret", "/etc/passwd", "a\\b", "C:x", "nul\x00l", "a/../b", "x" * 2000]
)
def test_a_document_id_is_no_way_out(source: Path, tmp_path: Path, doc_id: str) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    source.write_text(json.dumps({**RECORD, "top": [{"body": "x", "doc": doc_id, "pg": 1, "s": 1}]}) + "\n")
    report = _import(source, tmp_path / "ws")
    refused = next(each for each in report.missing if each.doc_id == doc_id)
    assert refused.source is None and refused.path is None
    assert not any("secret" in name for name in _bytes(tmp_path / "ws"))
    load_manifest(tmp_path / "ws")


def test_a_link_out_of_the_source_folder_is_not_followed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    (source.parent / "pdf" / "B.pdf").symlink_to(tmp_path / "secret.pdf")
    report = _import(source, tmp_path / "ws")
    (refused,) = report.missing
    assert refused.doc_id == "B" and refused.reason.startswith("leads outside its folder")


def test_a_document_that_is_not_taken_is_told_with_its_own_reason_and_remedy(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    (source.parent / "pdf" / "B.pdf").symlink_to(tmp_path / "secret.pdf")
    top = [{"body": "x", "doc": name, "pg": 1} for name in ("../../evil", "C", "D")]
    source.write_text(json.dumps({**RECORD, "top": top}) + "\n")
    with pytest.raises(SystemExit):
        main([*_arguments(source), str(tmp_path / "ws")])
    told = capsys.readouterr().out
    assert "1 document not taken: ../../evil: no path can be made of it: it has an empty, `.` or `..`" in told
    assert (
        f"1 document not taken: B: leads outside its folder, to {tmp_path}/secret.pdf — Put the file" in told
    )
    assert "2 documents not taken: C, D: does not exist — Put it at its path in the manifest" in told


def test_an_each_that_leads_nowhere_is_counted_and_named(source: Path, tmp_path: Path) -> None:
    mapping = source.parent / "map.yaml"
    mapping.write_text(MAPPING.replace("each: ctx[]", "each: ctxz[]"))
    report = _import(source, tmp_path / "ws")
    counts = {each.key: (each.found, each.absent, each.unusable) for each in report.fields}
    assert counts["traces.stages.retrieved.each"] == (0, 1, 0)
    assert counts["traces.stages.reranked.each"] == counts["gold.spans.each"] == (1, 0, 0)
    (problem,) = report.problems
    assert problem.code == "each_not_found"
    assert problem.message == "`traces.stages.retrieved.each` finds nothing at 'ctxz[]' in any of 1 record"


def test_a_record_without_a_list_where_the_others_have_one_is_counted(source: Path, tmp_path: Path) -> None:
    records = [RECORD, {**RECORD, "ctx": "str"}, {**RECORD, "ctx": []}, {**RECORD, "ctx": None}]
    source.write_text("".join(json.dumps(each) + "\n" for each in records))
    report = _import(source, tmp_path / "ws")
    (count,) = (each for each in report.fields if each.key == "traces.stages.retrieved.each")
    assert (count.found, count.absent, count.unusable, count.first_unusable) == (2, 1, 1, 2)
    (problem,) = report.problems
    assert "`traces.stages.retrieved.each` finds no list at 'ctx[]' in 1 record, first on line 2" in str(
        problem
    )
    assert report.has_findings


@pytest.mark.parametrize("indent", [None, 1])
def test_the_entries_of_an_array_are_named_by_their_own_lines(
    source: Path, tmp_path: Path, indent: int | None
) -> None:
    records = [RECORD, {"question": None}, {**RECORD, "out": {"text": 5}}]
    text = json.dumps(records, indent=indent)
    source.write_text(text)
    report = _import(source, tmp_path / "ws")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line == " {"] or [1, 1, 1]
    assert [(each.source.line, each.code) for each in report.issues] == [(lines[1], "q_missing")]
    (count,) = (each for each in report.fields if each.key == "traces.answer")
    assert count.first_unusable == lines[2]


def test_a_folder_with_anything_in_it_is_left_alone(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(Fault) as caught:
            _import(source, target, force=force)
        assert caught.value.problems[0].code == ("not_an_import" if force else "not_empty")
    assert _bytes(target) == {"mine.txt": b"mine"}


def test_force_replaces_what_an_import_made_and_keeps_the_rest(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    _import(source, target)
    (target / "annotations.jsonl").write_text('{"note": 1}\n')
    source.write_text(json.dumps({**RECORD, "question": "New?"}) + "\n")
    with pytest.raises(Fault, match="not empty"):
        _import(source, target)
    _import(source, target, force=True)
    assert _traces(target)[0].q == "New?"
    assert (target / "annotations.jsonl").read_text() == '{"note": 1}\n'
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_force_does_not_overwrite_a_manifest_that_was_edited(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "ws"
    _import(source, target)
    edited = (target / "pipeline_manifest.yaml").read_text() + "# mine\n"
    (target / "pipeline_manifest.yaml").write_text(edited)
    with pytest.raises(Fault, match="changed since"):
        _import(source, target, force=True)
    assert (target / "pipeline_manifest.yaml").read_text() == edited


def test_a_place_that_cannot_be_written_is_named(source: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(Fault) as caught:
        _import(source, tmp_path / "file" / "ws")
    assert caught.value.problems[0].code == "not_writable"


def test_a_failed_import_leaves_nothing_behind(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.traces.importers.documents.shutil.copyfile", full)
    with pytest.raises(Fault, match="No space left"):
        _import(source, tmp_path / "ws")
    assert [each.name for each in tmp_path.iterdir()] == ["foreign"]


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (("q: question\n  answer", "q: a..b\n  answer"), 8, "not a path"),
        (("{path: pg, base: 1}\n      score", "pg\n      score"), 16, "base"),
        (("seen: reranked", "seen: fused"), 21, "which `stages` does not have"),
        (("'p\\. (\\d+)'", "'p'"), 32, "0 groups"),
        (("run_id: R001", "run_id: ../R1"), 4, "run_id"),
        (("name: Some pipeline", "nom: x"), 2, "nom"),
        (("documents: {pattern", "documents: {patern"), 33, "patern"),
        (("  seen: reranked\n", ""), 7, "seen"),
    ],
)
def test_a_wrong_mapping_says_where_and_what(
    source: Path, tmp_path: Path, change: tuple[str, str], line: int, says: str
) -> None:
    mapping = source.parent / "map.yaml"
    assert change[0] in MAPPING
    mapping.write_text(MAPPING.replace(*change))
    with pytest.raises(Fault) as caught:
        _import(source, tmp_path / "ws")
    told = [str(problem) for problem in caught.value.problems]
    assert any(says in each and f"map.yaml:{line}:" in each for each in told), told
    assert not (tmp_path / "ws").exists()


def test_the_command_prints_counts_and_names_and_exits_by_what_it_found(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = _arguments(source)
    with pytest.raises(SystemExit) as ended:
        main([*arguments, str(tmp_path / "ws"), "--json"])
    assert ended.value.code == 1
    report = json.loads(capsys.readouterr().out)
    assert report["documents"]["missing"] == [
        {
            "doc_id": "B",
            "path": "corpus/pdf/B.pdf",
            "reason": "does not exist",
            "remedy": "Put it at its path in the manifest; `proofspan check` lists those still missing.",
        }
    ]
    (source.parent / "pdf" / "B.pdf").write_bytes(b"%PDF-1.7 of B")
    with pytest.raises(SystemExit) as ended:
        main([*arguments, str(tmp_path / "ws2")])
    assert ended.value.code == 0
    assert "1 trace (1 with gold), 3 chunks, 1 gold question, 2 of 2 documents" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([*arguments, str(tmp_path / "ws2")])
    assert ended.value.code == 2
    assert "not empty" in capsys.readouterr().err


def test_a_mapping_that_is_not_there_or_a_folder_is_called_so(source: Path, tmp_path: Path) -> None:
    for name, code in (("nope.yaml", "missing_file"), ("pdf", "not_a_file")):
        with pytest.raises(Fault) as caught:
            import_mapped(source, mapping=source.parent / name, workspace=tmp_path / "ws")
        (problem,) = caught.value.problems
        assert problem.code == code and "permissions" not in problem.remedy


def test_a_source_that_is_no_json_is_named_with_its_remedy(source: Path, tmp_path: Path) -> None:
    source.write_text("question,answer\nHow?,So\n")
    with pytest.raises(Fault) as caught:
        _import(source, tmp_path / "ws")
    assert caught.value.problems[0].code == "is_csv"
    with pytest.raises(Fault) as caught:
        _import(source.with_name("absent.jsonl"), tmp_path / "ws")
    assert caught.value.problems[0].code == "missing_file"


def test_boxes_and_printed_labels_come_out_as_they_were_given(source: Path, tmp_path: Path) -> None:
    place = "page_label: at, bbox: {path: rect, space: unit}"
    (source.parent / "map.yaml").write_text(
        f"""
mapping_version: "1.0"
name: Boxes
run: {{run_id: R001}}
traces:
  q: question
  stages: {{retrieved: {{each: "ctx[]", text: body, doc_id: doc, {place}}}}}
  seen: retrieved
  citations: {{each: "out.cites[]", doc_id: doc, quote: said, {place}}}
"""
    )
    record = json.loads(source.read_text())
    record["ctx"] = [
        {"body": "Oil", "doc": "A", "at": "iv", "rect": [0, 0.5, 1, 1]},
        {"body": "Fuel", "doc": "A", "at": 41, "rect": [0, 0, 1]},
    ]
    record["out"]["cites"] = [{"doc": "A", "said": "Oil", "at": "iv", "rect": [0, 0, 1, 1]}]
    source.write_text(json.dumps(record) + "\n")
    report = _import(source, tmp_path / "ws")
    chunks, _ = read_chunks(tmp_path / "ws/corpus/chunks.jsonl", file="chunks")
    assert {(chunk.text, chunk.page_label, chunk.box, chunk.box_space) for chunk in chunks.values()} == {
        ("Oil", "iv", (0, 0.5, 1, 1), "unit"),
        ("Fuel", "41", None, None),
    }
    (trace,) = _traces(tmp_path / "ws")
    (cited,) = citations(trace)
    assert (cited.page_label, cited.box, cited.box_space) == ("iv", (0, 0, 1, 1), "unit")
    unusable = {count.key for count in report.fields if count.unusable}
    assert unusable == {"traces.stages.retrieved.bbox"}


def test_a_box_must_say_what_it_is_measured_in(source: Path, tmp_path: Path) -> None:
    (source.parent / "map.yaml").write_text(
        'mapping_version: "1.0"\nname: Boxes\nchunks: {text: body, bbox: {path: rect}}\n'
    )
    with pytest.raises(Fault) as raised:
        _import(source, tmp_path / "ws")
    assert "points, unit (0 to 1) or per_mille (0 to 1000)" in raised.value.problems[0].remedy
