"""The contents of a manifest, and the problem and fix of each mistake in one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import ManifestFault, Problem
from proofspan.manifest.load import MANIFEST_NAME, load_manifest, manifest_schema
from proofspan.manifest.types import Manifest
from proofspan.manifest.yaml_text import MAX_BYTES, read_yaml

HEAD = 'manifest_version: "1.0"\nname: Test\n'
HASH = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"

FULL = f"""\
manifest_version: "1.0"
name: Meridian owner's manual
roots: {{library: /srv/manuals}}
documents:
  - {{doc_id: meridian-2026, path: corpus/meridian-2026.pdf, root: library, rev: 3b91f2a, sha256: "{HASH}"}}
  - {{doc_id: bulletin-07, path: corpus/bulletin-07.md, paged: false}}
chunks: {{path: corpus/chunks.jsonl, owner: retrieval, version: 1.10}}
gold: {{path: gold/goldset.jsonl}}
catalogue: {{path: corpus/catalogue.jsonl}}
attachments_root: corpus/media
triage: {{template: seed, refusal: [not in context]}}
goals: {{section_match_at_1: ">= 0.70", gt_in_top_20: ">= 0.90"}}
runs:
  - run_id: R003
    traces: {{path: runs/R003/trace.jsonl}}
  - run_id: R004
    ts: 2026-02-26T18:00:00Z
    title: hybrid + rerank
    class: rerank
    baseline: R003
    traces: {{path: runs/R004/trace.jsonl}}
    report: {{path: runs/R004/report.jsonl}}
    bundles: {{path: runs/R004/bundles.jsonl}}
    metrics: {{path: runs/R004/metrics.json}}
    pinned: {{embed_model: lsa-256, record: pinning/R004.json}}
sprint: {{path: sprint/log.jsonl}}
annotations: {{path: annotations.jsonl}}
"""

Load = Callable[[str | bytes], Manifest]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def write_and_load(text: str | bytes) -> Manifest:
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / MANIFEST_NAME).write_bytes(data)
        return load_manifest(tmp_path)

    return write_and_load


def problems_of(load: Load, text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ManifestFault) as caught:
        load(text)
    return caught.value.problems


def place_of(problem: Problem) -> str:
    return problem.where.rsplit(MANIFEST_NAME, 1)[-1]


def test_a_full_manifest_is_read_unchanged(load: Load, tmp_path: Path) -> None:
    manifest = load(FULL)
    run = manifest.run("R004")
    document = manifest.document("meridian-2026")
    assert run is not None and document is not None
    assert manifest.warnings == ()
    assert (manifest.folder, manifest.name) == (tmp_path, "Meridian owner's manual")
    assert (document.rev, document.artifact.root, document.artifact.sha256) == ("3b91f2a", "library", HASH)
    assert [d.paged for d in manifest.documents] == [True, False]
    assert (run.title, run.kind, run.baseline) == ("hybrid + rerank", "rerank", "R003")
    assert run.record is not None and run.record.path == "pinning/R004.json"
    assert [artifact.key for artifact in manifest.artifacts()] == [
        "documents[meridian-2026]",
        "documents[bulletin-07]",
        "chunks",
        "gold",
        "catalogue",
        "runs[R003].traces",
        "runs[R004].traces",
        "runs[R004].report",
        "runs[R004].bundles",
        "runs[R004].metrics",
        "runs[R004].pinned.record",
        "sprint",
        "annotations",
    ]


def test_the_file_itself_may_be_named(load: Load, tmp_path: Path) -> None:
    assert load(FULL) == load_manifest(tmp_path / MANIFEST_NAME)


def test_a_folder_without_a_manifest_says_so(tmp_path: Path) -> None:
    with pytest.raises(ManifestFault, match=f"has no {MANIFEST_NAME}"):
        load_manifest(tmp_path)


@pytest.mark.parametrize(
    "written", ["2026-02-26T18:00:00Z", "2026-02-26", "1.10", "007", "0x1F", "12:30:00", "no", "1e3"]
)
def test_what_yaml_would_take_for_something_else_stays_text(load: Load, written: str) -> None:
    manifest = load(HEAD + f"chunks: {{path: a, version: {written}}}\n")
    assert manifest.chunks is not None and manifest.chunks.version == written


def test_a_byte_order_mark_is_no_part_of_the_first_key(load: Load) -> None:
    assert load(b"\xef\xbb\xbf" + HEAD.encode()).name == "Test"


def test_unknown_keys_are_kept_and_reported_with_their_place(load: Load) -> None:
    manifest = load(HEAD + "chunks:\n  path: a\n  colour:\n    deep: [red]\nteam: us\n")
    assert manifest.raw["chunks"]["colour"] == {"deep": ["red"]}
    assert manifest.raw["team"] == "us"
    assert [(w.code, w.severity, place_of(w)) for w in manifest.warnings] == [
        ("unknown_key", "warning", ":5:3"),
        ("unknown_key", "warning", ":7:1"),
    ]


def test_what_is_pinned_may_have_any_key(load: Load) -> None:
    text = HEAD + "runs: [{run_id: R, traces: {path: t}, pinned: {rrf_k: 60, deep: {x: 1}}}]\n"
    assert load(text).warnings == ()


def test_a_merged_alias_is_read(load: Load) -> None:
    manifest = load(HEAD + "chunks: &c {path: a, owner: us}\ngold: {<<: *c, path: b}\n")
    assert manifest.gold is not None
    assert (manifest.gold.path, manifest.gold.owner) == ("b", "us")


@pytest.mark.parametrize(
    ("text", "code", "place", "fix"),
    [
        ("name: Test\n\tchunks: x\n", "yaml_tab", ":2:1", "spaces"),
        ("runs:\n\t- run_id: R\n", "yaml_tab", ":2:1", "spaces"),
        ("chunks: {path: a}\nname: x\nchunks: {path: b}\n", "duplicate_key", ":3:1", "keep one"),
        ("name: [a\n", "yaml_syntax", ":2:1", "correct"),
        ("name: a\n---\nname: b\n", "yaml_syntax", ":2:1", "correct"),
        ("name: \x07\n", "yaml_character", ":1", "delete"),
        (b"name: \xff\n", "not_utf8", ":1", "UTF-8"),
        ("name: !!python/object/apply:os.system [id]\n", "yaml_tag", ":1:7", "write text"),
        ("? [a]\n: b\n", "key_not_text", ":1:3", "quotes"),
        ("name: x\nnull: y\n", "key_not_text", ":2:1", "quotes"),
        ("- a\n", "not_a_mapping", "", "manifest_version"),
        ("", "not_a_mapping", "", "manifest_version"),
        (HEAD + "runs: [{run_id: R}, {run_id: R}]\n", "duplicate_run_id", ":3:30", "own id"),
        (
            HEAD + "documents:\n- {doc_id: d, path: a}\n- {doc_id: d, path: b}\n",
            "duplicate_doc_id",
            ":5:12",
            "own id",
        ),
        (HEAD + "gold: {path: a, root: lib}\n", "unknown_root", ":3:23", "under `roots`"),
        (HEAD + "gold: a.jsonl\n", "schema", ":3:7", "For example"),
        (HEAD + "documents: [{doc_id: d, path: a, paged: no}]\n", "schema", ":3:41", "true or false"),
        (HEAD + "triage: {template: sed}\n", "schema", ":3:20", "seed, payload, none"),
        (HEAD + "gold: {path: a, sha256: abc}\n", "schema", ":3:25", "--sha256-lines"),
        ('manifest_version: "2"\nname: x\n', "schema", ":1:19", 'write "1.0"'),
        ("name: x\n", "schema", ":1:1", 'add manifest_version: "1.0"'),
        (HEAD + "gold: {root: lib}\nroots: {lib: /x}\n", "schema", ":3:7", "add path: "),
    ],
)
def test_what_is_wrong_is_named_with_place_and_remedy(
    load: Load, text: str | bytes, code: str, place: str, fix: str
) -> None:
    (problem,) = problems_of(load, text)
    assert (problem.code, place_of(problem)) == (code, place)
    assert fix in problem.fix


@pytest.mark.parametrize("ts", ["2026-01-31T09:00:00Z", "2026-01-31", "2026-01-31 09:00:00+01:00"])
def test_a_time_is_a_time(load: Load, ts: str) -> None:
    assert load(HEAD + f'runs: [{{run_id: R, ts: "{ts}", traces: {{path: a}}}}]\n').warnings == ()


def test_a_run_with_an_invalid_time_is_a_warning(load: Load) -> None:
    (warning,) = load(HEAD + "runs: [{run_id: R, ts: yesterday, traces: {path: a}}]\n").warnings
    assert warning.code == "ts_not_a_time" and place_of(warning) == ":3:24"
    assert "`runs[R].ts` is `yesterday`" in warning.message


def test_all_problems_are_reported_at_once_by_their_key(load: Load) -> None:
    text = "name: ''\nruns: [{run_id: A, traces: {}}, {}]\nroots: {'a b': /x}\n"
    messages = [problem.message for problem in problems_of(load, text)]
    assert len(messages) == 5
    assert any("`runs[A].traces`" in message for message in messages)
    assert any("`runs[1]`" in message for message in messages)


def test_a_baseline_that_is_no_run_and_a_run_with_nothing_to_show_are_warnings(load: Load) -> None:
    manifest = load(HEAD + "runs: [{run_id: R, baseline: Q}]\n")
    assert [warning.code for warning in manifest.warnings] == ["unknown_baseline", "empty_run"]


def bombs() -> Iterator[tuple[str, str]]:
    yield "inside itself", "name: &a [*a]\n"
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    yield "a billion values", "\n".join(levels)
    yield "nested aliases", "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 500))])
    yield "many aliases", "a: &a x\nb: [" + "*a, " * 2_000 + "x]"
    yield "deep", "a: " + "[" * 100_000
    yield "deep mappings", "{a: " * 5_000 + "x" + "}" * 5_000


@pytest.mark.parametrize(("name", "text"), list(bombs()), ids=lambda value: value[:16])
def test_a_bomb_is_refused_before_it_goes_off(load: Load, name: str, text: str) -> None:
    (problem,) = problems_of(load, text)
    assert problem.code == "yaml_limits"


def test_a_manifest_of_unreasonable_size_is_not_read(load: Load) -> None:
    (problem,) = problems_of(load, HEAD + "#" * MAX_BYTES)
    assert problem.code == "too_large"


def test_a_large_manifest_that_is_plain_is_read(load: Load) -> None:
    documents = "".join(f"- {{doc_id: d{n}, path: pdfs/d{n}.pdf}}\n" for n in range(5_000))
    assert len(load(HEAD + "documents:\n" + documents).documents) == 5_000


@given(st.binary(max_size=200) | st.text(alphabet="a:-[]{}&*!|>'\"%@`#,? \t\n1", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    file = tmp_path_factory.mktemp("any") / MANIFEST_NAME
    file.write_bytes(data)
    try:
        load_manifest(file)
    except ManifestFault as fault:
        assert all(problem.where.startswith(str(file)) and problem.fix for problem in fault.problems)


plain = st.recursive(
    st.booleans() | st.none() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=8), plain, min_size=1, max_size=5))
def test_what_another_program_writes_as_yaml_comes_back(
    tmp_path_factory: pytest.TempPathFactory, value: dict[str, Any]
) -> None:
    file = tmp_path_factory.mktemp("round") / MANIFEST_NAME
    file.write_text(yaml.safe_dump(value, allow_unicode=False), encoding="utf-8")
    assert read_yaml(file).value == value


def schema_parts(part: Any, path: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, inner in {**part.get("properties", {}), **part.get("$defs", {})}.items():
        yield f"{path}/{name}", inner
        yield from schema_parts(inner, f"{path}/{name}")


def test_the_schema_is_one_and_every_key_in_it_is_explained() -> None:
    schema = manifest_schema()
    jsonschema_rs.meta.validate(schema)
    unexplained = [
        path
        for path, part in schema_parts(schema)
        if "$ref" not in part and not {"title", "description"} <= set(part)
    ]
    assert unexplained == []


def test_the_examples_in_the_schema_hold() -> None:
    schema = manifest_schema()
    for path, part in [("#", schema), *schema_parts(schema)]:
        validator = jsonschema_rs.Draft202012Validator({**part, "$defs": schema["$defs"], "$id": "urn:test"})
        for example in part.get("examples", []):
            assert validator.is_valid(example), path
