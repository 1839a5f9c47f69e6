"""The mapped import as a whole: foreign files in, a workspace that opens out, and nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofspan.cli import main
from proofspan.manifest.load import load_manifest
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.trace_record import stages
from tests.unit.importing.mapped_room import (
    MAPPING,
    RECORD,
    arguments_of,
    bytes_in,
    imported,
    traces_in,
    write_source,
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "foreign")


def test_every_part_comes_out_as_a_native_record(source: Path, tmp_path: Path) -> None:
    report = imported(source, tmp_path / "ws")
    (trace,) = traces_in(tmp_path / "ws")
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
    imported(source, tmp_path / "one")
    source.write_text(json.dumps({**RECORD, "ctx": RECORD["ctx"][::-1]}) + "\n")
    imported(source, tmp_path / "two")
    chunks = (tmp_path / "one/corpus/chunks.jsonl").read_bytes()
    assert chunks == (tmp_path / "two/corpus/chunks.jsonl").read_bytes()
    first, _, third, _ = stages(traces_in(tmp_path / "one")[0])[0].candidates
    assert first.chunk_id == third.chunk_id
    assert first.chunk_id.startswith("A|r=00000000|s=p002|p=002|b=")


def test_the_manifest_opens_and_names_missing_documents_without_a_hash(source: Path, tmp_path: Path) -> None:
    report = imported(source, tmp_path / "ws")
    manifest = load_manifest(tmp_path / "ws")
    assert [each.doc_id for each in report.missing] == ["B"]
    there, missing = manifest.documents
    assert there.artifact.sha256 and not missing.artifact.sha256
    assert missing.artifact.path == "corpus/pdf/B.pdf"
    assert manifest.triage == {"template": "none", "refusal": ["no idea"]}
    assert manifest.runs[0].ts == "2026-01-01T00:00:00Z"


def test_the_same_files_give_the_same_bytes(source: Path, tmp_path: Path) -> None:
    imported(source, tmp_path / "one")
    imported(source, tmp_path / "two")
    assert bytes_in(tmp_path / "one") == bytes_in(tmp_path / "two")


def test_counts_distinguish_found_absent_and_unusable(source: Path, tmp_path: Path) -> None:
    broken = {**RECORD, "out": {"text": 5}, "top": [{"body": "x", "doc": "A", "pg": 0}]}
    source.write_text(json.dumps(RECORD) + "\n\n" + json.dumps(broken) + "\n")
    report = imported(source, tmp_path / "ws")
    counts = {
        each.key: (each.found, each.absent, each.unusable, each.first_unusable) for each in report.fields
    }
    assert counts["traces.answer"] == (1, 0, 1, 3)
    assert counts["traces.fields.latency_ms"] == (1, 1, 0, None)
    assert counts["traces.stages.retrieved.score"] == (6, 2, 0, None)
    assert counts["traces.stages.reranked.page"] == (1, 0, 1, 3)
    assert "answer_missing" in traces_in(tmp_path / "ws")[1].suspicions


def test_one_object_with_the_records_inside_is_read_as_well(source: Path, tmp_path: Path) -> None:
    source.write_text(json.dumps({"run": 1, "data": {"rows": [RECORD, RECORD]}}, indent=1))
    mapping = source.parent / "map.yaml"
    mapping.write_text(MAPPING + "records: data.rows[]\n")
    assert imported(source, tmp_path / "ws").traces == 2


def test_one_record_may_hold_several_traces(source: Path, tmp_path: Path) -> None:
    source.write_text(json.dumps({"q": "Same?", "answers": [{"a": "yes"}, {"a": "no"}]}) + "\n")
    (source.parent / "map.yaml").write_text(
        'mapping_version: "1.0"\nname: n\nrun: {run_id: R001}\n'
        'traces: {each: "answers[]", q: $.q, answer: a}\n'
    )
    imported(source, tmp_path / "ws")
    assert [(trace.q, trace.answer) for trace in traces_in(tmp_path / "ws")] == [
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
    report = imported(source, tmp_path / "ws")
    assert [problem.code for problem in report.problems] == ["candidate_without_text", "chunk_id_conflict"]
    chunks, _ = read_chunks(tmp_path / "ws/corpus/chunks.jsonl", file="chunks")
    assert {chunk.text for chunk in chunks.values()} == {"first", "third"}
    assert traces_in(tmp_path / "ws")[0].chunk_ids == ("c1", "c1", "unknown|r=00000000|s=p000|p=000|b=001")


def test_a_document_is_copied_or_linked_and_never_points_out_of_the_workspace(
    source: Path, tmp_path: Path
) -> None:
    pdf = source.parent / "pdf" / "A.pdf"
    imported(source, tmp_path / "copied")
    imported(source, tmp_path / "linked", link=True)
    assert not (tmp_path / "copied/corpus/pdf/A.pdf").samefile(pdf)
    linked = tmp_path / "linked/corpus/pdf/A.pdf"
    assert linked.samefile(pdf) and not linked.is_symlink()


@pytest.mark.parametrize(
    "doc_id", ["../../secret", "/etc/passwd", "a\\b", "C:x", "nul\x00l", "a/../b", "x" * 2000]
)
def test_a_document_id_is_no_way_out(source: Path, tmp_path: Path, doc_id: str) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    source.write_text(json.dumps({**RECORD, "top": [{"body": "x", "doc": doc_id, "pg": 1, "s": 1}]}) + "\n")
    report = imported(source, tmp_path / "ws")
    refused = next(each for each in report.missing if each.doc_id == doc_id)
    assert refused.source is None and refused.path is None
    assert not any("secret" in name for name in bytes_in(tmp_path / "ws"))
    load_manifest(tmp_path / "ws")


def test_a_link_out_of_the_source_folder_is_not_followed(source: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    (source.parent / "pdf" / "B.pdf").symlink_to(tmp_path / "secret.pdf")
    report = imported(source, tmp_path / "ws")
    (refused,) = report.missing
    assert refused.doc_id == "B" and refused.problem is not None
    assert refused.problem.code == "path_outside"


def test_a_document_that_is_not_taken_is_reported_with_its_own_fix(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.7 secret")
    (source.parent / "pdf" / "B.pdf").symlink_to(tmp_path / "secret.pdf")
    top = [{"body": "x", "doc": name, "pg": 1} for name in ("../../evil", "C", "D")]
    source.write_text(json.dumps({**RECORD, "top": top}) + "\n")
    with pytest.raises(SystemExit):
        main([*arguments_of(source), str(tmp_path / "ws")])
    lines = [line for line in capsys.readouterr().out.splitlines() if "not taken" in line]
    assert [line.split(":")[1] for line in lines] == [" ../../evil", " B", " C, D"]
    assert f"{tmp_path}/secret.pdf" in lines[1]


def test_documents_elsewhere_are_taken_by_name_and_links_are_confirmed_once(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    store.mkdir()
    (elsewhere / "deep").mkdir(parents=True)
    for name in "BCDEFGHI":
        (store / f"{name}.pdf").write_bytes(b"%PDF-1.7 " + name.encode())
    for name in "CDEFGH":
        (elsewhere / "deep" / f"{name}.pdf").symlink_to(store / f"{name}.pdf")
    top = [{"body": "x", "doc": name, "pg": 1} for name in "CDEFGHXYZUVW"]
    source.write_text(json.dumps({**RECORD, "top": top}) + "\n")
    arguments = [*arguments_of(source), str(tmp_path / "ws"), "--no-pages", "--documents", str(elsewhere)]

    def lines(*more: str) -> list[str]:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, *more])
        assert ended.value.code == 1
        return [line for line in capsys.readouterr().out.splitlines() if "not taken" in line]

    (refused, missing) = sorted(lines())
    assert refused.startswith("6 documents not taken (--list names them)") and "--trust-roots" in refused
    assert missing.startswith("7 documents not taken (--list names them)") and "--documents" in missing
    (missing,) = lines("--force", "--trust-roots", "--list")
    assert missing.startswith("7 documents not taken: B, U, V, W, X, Y, Z:")
    assert (tmp_path / "ws/corpus/pdf/C.pdf").read_bytes() == b"%PDF-1.7 C"
    assert not (tmp_path / "ws/corpus/pdf/C.pdf").is_symlink()
    (missing,) = lines("--force")  # confirmed once
    assert missing.startswith("7 documents")


@pytest.mark.slow
def test_the_command_prints_counts_and_names_and_exits_by_what_it_found(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = arguments_of(source)
    with pytest.raises(SystemExit) as ended:
        main([*arguments, str(tmp_path / "ws"), "--json"])
    assert ended.value.code == 1
    report = json.loads(capsys.readouterr().out)
    assert report["documents"]["missing"] == [
        {
            "doc_id": "B",
            "path": "corpus/pdf/B.pdf",
            "reason": "does not exist",
            "fix": "Name its folder with --documents, or put it at its path in the manifest.",
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
    report = imported(source, tmp_path / "ws")
    chunks, _ = read_chunks(tmp_path / "ws/corpus/chunks.jsonl", file="chunks")
    assert {(chunk.text, chunk.page_label, chunk.box, chunk.box_space) for chunk in chunks.values()} == {
        ("Oil", "iv", (0, 0.5, 1, 1), "unit"),
        ("Fuel", "41", None, None),
    }
    (trace,) = traces_in(tmp_path / "ws")
    (cited,) = citations(trace)
    assert (cited.page_label, cited.box, cited.box_space) == ("iv", (0, 0, 1, 1), "unit")
    unusable = {count.key for count in report.fields if count.unusable}
    assert unusable == {"traces.stages.retrieved.bbox"}
