"""`import suggest`: the mapping it writes for each kind of source, which imports as it is."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.cli import main
from proofspan.manifest.yaml_text import parse_yaml
from proofspan.services.suggesting.draft import quoted, shown, suggested
from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.workspace import ImportReport, import_source

PASSAGE = "The tank number {0} of the vehicle holds {0} litres of oil; check it monthly."


def _nested_json() -> bytes:
    """One object with its records in a list, chunks in two stages, and expected answers."""
    rows = [
        {
            "sample": {
                "id": f"S{n}",
                "question": f"How much oil is in tank {n}?",
                "reference_answer": f"{n} l",
            },
            "result": {
                "prediction": f"{n} litres",
                "latency_ms": 12.5,
                "retrieved_chunks": [_chunk(n), _chunk(n + 1)],
                "reranked_chunks": [{**_chunk(n), "score": 0.5}],
                "citations": [{"quote": "holds litres", "document": "man.pdf", "page": 2}],
            },
        }
        for n in range(3)
    ]
    return json.dumps({"made": "2026", "results": rows}, indent=1).encode()


def _chunk(n: int) -> dict[str, Any]:
    return {
        "page_content": PASSAGE.format(n),
        "metadata": {"source": "/data/man.pdf", "page": n, "page_label": str(n + 1)},
    }


def _jsonl() -> bytes:
    """Messages, a text that holds JSON, and ids that different texts share."""
    lines = []
    for n in range(3):
        messages = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": f"How much oil, {n}?"},
            {"role": "assistant", "content": f"{n} litres"},
        ]
        payload = json.dumps(
            {"sources": [{"snippet": PASSAGE.format(n), "id": 1, "file": "man", "page_number": 3}]}
        )
        lines.append(json.dumps({"session_id": f"s{n}", "messages": messages, "payload": payload}))
    return "\n".join(lines).encode()


def _csv() -> bytes:
    """A chunk a row, under headers in no usual words but a few."""
    out = io.StringIO()
    table = csv.writer(out, delimiter=";")
    table.writerow(["Nr", "Anfrage query", "Chunk Text", "File Name", "Page", "Relevance Score"])
    for n in range(3):
        for rank in range(2):
            table.writerow(
                [n, f"How much oil, {n}?", PASSAGE.format(n + rank), "man.pdf", rank, 0.9 - rank / 10]
            )
    return out.getvalue().encode()


def _parquet() -> bytes:
    """Lists in lists that go by their places, as a vector store returns them."""
    rows = [
        {
            "user": {"text": f"How much oil, {n}?"},
            "model": {"generation": f"{n} litres"},
            "store": {
                "documents": [[PASSAGE.format(n), PASSAGE.format(n + 1)]],
                "ids": [[f"{n}", f"{n + 1}"]],
                "metadatas": [[{"source": "man", "page": 1}, {"source": "man", "page": 0}]],
                "distances": [[0.1, 0.2]],
            },
        }
        for n in range(3)
    ]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue().to_pybytes())


def _gold() -> bytes:
    """Questions with their answers and evidence, and nothing that was retrieved."""
    rows = [
        {
            "case_id": f"C{n}",
            "question": f"How much oil, {n}?",
            "answer": f"{n} litres",
            "evidence": [{"evidence_text": PASSAGE.format(n), "doc_name": "man", "evidence_page_num": n}],
        }
        for n in range(3)
    ]
    return json.dumps(rows).encode()


def _blocks() -> bytes:
    """A parser's blocks of text, with no question anywhere."""
    return json.dumps([{"type": "text", "text": PASSAGE.format(n), "page_idx": n} for n in range(3)]).encode()


SOURCES: dict[str, tuple[bytes, tuple[int, int, int]]] = {
    "nested.json": (_nested_json(), (3, 4, 3)),
    "lines.jsonl": (_jsonl(), (3, 3, 0)),
    "rows.csv": (_csv(), (3, 6, 0)),
    "lists.parquet": (_parquet(), (3, 4, 0)),
    "gold.json": (_gold(), (0, 0, 3)),
    "blocks.json": (_blocks(), (0, 3, 0)),
}


def _imported(source: Path, mapping: Path) -> ImportReport:
    return import_source(MAPPED, source, workspace=source.parent / "ws", files={"mapping": mapping})


@pytest.mark.parametrize("name", ["rows.csv", "lines.jsonl"])
def test_a_packed_source_gives_the_same(name: str, tmp_path: Path) -> None:
    data, counts = SOURCES[name]
    source, mapping = tmp_path / f"{name}.gz", tmp_path / "map.yaml"
    source.write_bytes(gzip.compress(data))
    mapping.write_text(suggested(source)[0])
    report = _imported(source, mapping)
    assert (report.traces, report.chunks, report.gold) == counts


@pytest.mark.parametrize("name", SOURCES)
def test_a_suggested_mapping_imports_as_it_is(
    name: str, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    data, counts = SOURCES[name]
    source, mapping = tmp_path / name, tmp_path / "map.yaml"
    source.write_bytes(data)
    text, is_usable = suggested(source)
    assert is_usable
    golden(f"suggest/{name.replace('.', '_')}", text)
    mapping.write_text(text)
    report = _imported(source, mapping)
    assert (report.traces, report.chunks, report.gold) == counts
    assert report.issues == () and report.problems == ()
    assert [each.key for each in report.fields if not each.found or each.unusable or each.absent] == []


def test_a_known_format_is_named_and_other_files_are_written_to_a_mapping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "map.yaml"
    source.write_text("question,answer,contexts\nHow much?,4 l,\"['It holds 4 litres.']\"\n")
    with pytest.raises(SystemExit) as ended:
        main(["import", "suggest", str(source), "--out", str(out)])
    assert ended.value.code == 0
    assert f"proofspan open {source} reads it without a mapping" in capsys.readouterr().err
    assert _imported(source, out).traces == 1
    source.write_text('{"a": 1}\n{"a": 2}\n')
    with pytest.raises(SystemExit) as ended:
        main(["import", "suggest", str(source)])
    assert ended.value.code == 1
    assert "a: a  # 2 of 2; 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a table",
        b"%PDF-1.7",
        b"PAR1 but no more",
        b"[]",
        b'{"a": ' * 70 + b"1" + b"}" * 70,
    ],
)
def test_what_holds_no_records_is_refused_with_a_remedy(data: bytes, tmp_path: Path) -> None:
    source = tmp_path / "s.json"
    source.write_bytes(data)
    with pytest.raises(SystemExit) as ended:
        main(["import", "suggest", str(source)])
    assert ended.value.code == 2


@given(st.text())
def test_any_text_is_quoted_so_that_yaml_reads_it_back(text: str) -> None:
    plain = text.encode("utf-8", "replace").decode()
    for flow in (False, True):
        yaml = f"a: {{b: {quoted(plain, flow=True)}}}\n" if flow else f"a: {quoted(plain)}\n"
        value = parse_yaml(Path("x"), yaml.encode()).value["a"]
        assert (value["b"] if flow else value) == plain


@given(st.one_of(st.text(), st.lists(st.text())))
def test_an_example_stays_in_its_comment(value: Any) -> None:
    assert parse_yaml(Path("x"), f"a: b  # {shown(value)}\n".encode("utf-8", "replace")).value == {"a": "b"}


_NAMES = st.sampled_from(["question", "answer", "contexts", "text", "page", "id", "source", 'a"b', "", "x y"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.just("Why? " * 20),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(_NAMES, each, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25)
@given(st.lists(st.dictionaries(_NAMES, _VALUES, max_size=5), min_size=1, max_size=5))
def test_whatever_records_are_like_a_usable_suggestion_is_a_valid_mapping(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    source, mapping = folder / "s.jsonl", folder / "map.yaml"
    source.write_text("".join(json.dumps(each) + "\n" for each in records))
    text, is_usable = suggested(source)
    mapping.write_text(text)
    if is_usable:
        _imported(source, mapping)
