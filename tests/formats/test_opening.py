"""Opening what people have: which files are sources, which PDFs are theirs, how pages count, what is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.cli.workspace import open_cmd
from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services.opening.documents import find, named_pdf, pdfs_in
from proofspan.services.opening.first_finding import first_finding
from proofspan.services.opening.make import Choices, Made, key_of, made
from proofspan.services.opening.summary import lines_of, read
from proofspan.services.opening.things import things_of
from proofspan.services.opening.uploads import named_path, put
from proofspan.services.workspace.open import WORKSPACE_VARIABLE
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces import registry
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample
from tests.pdf_files import write_pages

COLOURS = ("red", "blue", "green", "grey", "white", "brown")
SENTENCES = [f"The {colour} cover opens with the second key." for colour in COLOURS]


def detect(sample: Sample) -> str | None:
    if sample.shape == "folder":
        return "it has judgments" if "judged.jsonl" in sample.names else None
    if sample.records and all("judged" in each for each in sample.records):
        return "its rows have judged"
    return "its rows have ask" if sample.records and all("ask" in each for each in sample.records) else None


def read_rows(path: Path, reading: Reading) -> Iterator[Asked]:
    """A format whose passages name documents and pages, and do not say how those count."""
    for place, row in read_records(path, reading):
        reading.fields(row, {"ask", "say", "found", "cited"})
        yield Asked(
            place=place,
            q=str(row["ask"]),
            answer=str(row.get("say", "")),
            lists={"chunks": [passage(each) for each in row.get("found", [])]},
            cited=[Cited(passage=passage(each)) for each in row.get("cited", [])],
        )


def passage(found: dict[str, Any]) -> Passage:
    return Passage(text=found["text"], document=found["doc"], page=found.get("page"))


PAGED = Format(
    name="paged",
    title="Paged",
    versions="of these tests",
    suffix=".jsonl",
    example=b"",
    documentation="A row is a question.",
    detect=detect,
    read=read_rows,
)


@pytest.fixture(autouse=True)
def paged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "FORMATS", (PAGED, *registry.FORMATS))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF with a cover, and a sentence on each page after it."""
    path = tmp_path_factory.mktemp("manual") / "manual.pdf"
    write_pages(path, [["Cover"], *([sentence] for sentence in SENTENCES)])
    return path


def rows(*records: dict[str, Json]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in records)


def asked(name: str, *, base: int, document: str = "manual.pdf", key: str = "found") -> dict[str, Json]:
    """A question about one sentence of the manual, whose page counts from `base`."""
    page = SENTENCES.index(name) + 1 + base
    return {"ask": f"{name}?", "say": "so", key: [{"text": name, "doc": document, "page": page}]}


def make(tmp_path: Path, *things: Path, documents: tuple[Path, ...] = (), **choices: Any) -> Made:
    return made(
        things_of(things, documents), to=None, cache_dir=tmp_path / "cache", choices=Choices(**choices)
    )


def pages_of(workspace: Path) -> list[int]:
    lines = (workspace / "corpus" / "chunks.jsonl").read_bytes().splitlines()
    return [orjson.loads(line).get("page_idx") for line in lines]


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("key", ["found", "cited"])
def test_pages_are_measured_where_the_source_does_not_say_how_they_count(
    tmp_path: Path, manual: Path, base: int, key: str
) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(rows(*(asked(each, base=base, key=key) for each in SENTENCES[:2])))
    result = make(tmp_path, source, manual)
    (note,) = result.summary.notes
    assert f"from {base} (2 of 2 passages" in note and result.summary.missing == ()
    if key == "found":
        assert pages_of(result.workspace) == [1, 2]
    else:
        (run,) = load_manifest(result.workspace).runs
        assert run.traces is not None
        lines = (result.workspace / run.traces.path).read_bytes().splitlines()
        assert [orjson.loads(line)["citations"][0]["page_idx"] for line in lines] == [1, 2]


def test_a_page_zero_decides_without_a_look(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    record = asked(SENTENCES[0], base=-1, document="nowhere")
    source.write_text(rows(record, asked(SENTENCES[1], base=-1, document="nowhere")))
    result = make(tmp_path, source, ask_base=lambda: pytest.fail("asked"))
    assert pages_of(result.workspace) == [0, 1] and "page 0 occurs" in result.summary.notes[0]


@pytest.mark.parametrize(("answer", "page"), [(0, 2), (1, 1), (None, 1)])
def test_what_no_page_shows_is_asked(tmp_path: Path, answer: int | None, page: int) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(rows(asked(SENTENCES[0], base=1, document="nowhere")))
    result = make(tmp_path, source, ask_base=lambda: answer)
    assert pages_of(result.workspace) == [page]
    assert ("--page-base" in result.summary.notes[0]) is (answer is None)


def test_a_base_that_is_given_is_not_measured(tmp_path: Path, manual: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text(rows(asked(SENTENCES[0], base=1)))
    result = make(tmp_path, source, manual, page_base=0)
    assert pages_of(result.workspace) == [2] and result.summary.notes == ()


@pytest.mark.parametrize(
    "name",
    [
        "Manual (2026).pdf",
        "Manual (2026)",
        "manual (2026).PDF",
        "s3://bucket/docs/Manual%20(2026).pdf?version=3#page=2",
        "C:\\docs\\Manual (2026).pdf",
        "../../docs/Manual (2026).pdf",
    ],
)
def test_a_document_is_found_by_the_last_step_of_its_name(tmp_path: Path, manual: Path, name: str) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for each in ("Manual (2026).pdf", "other.pdf"):
        (folder / each).write_bytes(manual.read_bytes())
    pdfs = list(pdfs_in(folder, depth=1, is_named=True))
    found = find([name], pdfs, confirm=lambda *_: pytest.fail("asked"))
    assert found.files == {name: folder / "Manual (2026).pdf"}


def test_only_the_single_pdf_that_was_named_is_the_single_document(tmp_path: Path, manual: Path) -> None:
    def never(*_: object) -> bool:
        pytest.fail("asked")

    one = named_pdf(manual)
    assert find(["file-8Hk2"], [one], confirm=never).files == {"file-8Hk2": manual}
    assert find(["file-8Hk2", "file-9"], [one], confirm=never).files == {}
    assert find(["file-8Hk2"], [one._replace(is_named=False)], confirm=never).files == {}


def test_passages_without_a_document_are_of_the_single_pdf_that_was_named(
    tmp_path: Path, manual: Path
) -> None:
    source = tmp_path / "ragas.jsonl"
    source.write_text(rows({"user_input": "Red?", "retrieved_contexts": SENTENCES[:1], "response": "so"}))
    chunks = make(tmp_path, source, manual).workspace / "corpus" / "chunks.jsonl"
    assert orjson.loads(chunks.read_bytes())["doc_id"] == "manual"
    write_pages(tmp_path / "beside.pdf", [["Another text altogether."]])  # not named, and without the text
    chunks = make(tmp_path, source).workspace / "corpus" / "chunks.jsonl"
    assert "doc_id" not in orjson.loads(chunks.read_bytes())


def test_of_equal_names_the_folders_decide_and_different_files_are_not_guessed(
    tmp_path: Path, manual: Path
) -> None:
    for name, more in (("a", b""), ("b", b"\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.pdf").write_bytes(manual.read_bytes() + more)
    pdfs = list(pdfs_in(tmp_path, depth=1, is_named=True))
    found = find(["x/b/m.pdf", "m", "gone"], pdfs, confirm=lambda *_: False)
    assert found.files == {"x/b/m.pdf": tmp_path / "b" / "m.pdf"} and found.ambiguous == ["m"]
    (tmp_path / "b" / "m.pdf").write_bytes(manual.read_bytes())
    assert find(["m"], pdfs, confirm=lambda *_: False).files == {"m": tmp_path / "a" / "m.pdf"}


def test_links_are_confirmed_once_for_all_and_only_those_that_are_cited(tmp_path: Path, manual: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "docs"
    for place in (store / "1", store / "2", folder):
        place.mkdir(parents=True)
    for number, name in enumerate(("a", "b"), start=1):
        (store / str(number) / "x.pdf").write_bytes(manual.read_bytes())
        (folder / f"{name}.pdf").symlink_to(store / str(number) / "x.pdf")
    (folder / "passwords.pdf").symlink_to("/etc/passwd")
    (folder / "round.pdf").symlink_to(folder / "round.pdf")
    source = tmp_path / "rows.jsonl"
    source.write_text(rows(*(asked(SENTENCES[0], base=1, document=each) for each in ("a", "b"))))
    questions: list[tuple[Path, Path, int]] = []

    def confirm(of: Path, target: Path, count: int) -> bool:
        questions.append((of, target, count))
        return len(questions) > 1

    refused = make(tmp_path, source, documents=(folder,), confirm=confirm)
    assert refused.summary.missing == ("a", "b") and refused.summary.refused == (str(store),)
    (tmp_path / "cache" / "opened" / refused.workspace.name / "opened.json").unlink()
    taken = make(tmp_path, source, documents=(folder,), confirm=confirm)
    assert taken.summary.missing == () and questions == [(folder, store, 2)] * 2
    assert sorted(each.name for each in (taken.workspace / "corpus").glob("*.pdf")) == ["a.pdf", "b.pdf"]


def test_what_is_no_pdf_is_not_taken_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "manual.pdf").write_text("root:x:0:0")
    (tmp_path / "rows.jsonl").write_text(rows(asked(SENTENCES[0], base=1)))
    result = make(tmp_path, tmp_path / "rows.jsonl")
    assert result.summary.missing == ("manual",)


def test_the_same_sources_give_the_workspace_that_was_made_before(tmp_path: Path, manual: Path) -> None:
    source = tmp_path / "in" / "rows.jsonl"
    source.parent.mkdir()
    source.write_text(rows(asked(SENTENCES[0], base=1)))
    first = make(tmp_path, source)
    (first.workspace / "notes.jsonl").write_text("mine\n")
    again = make(tmp_path, source)
    assert again.was_there and again.summary == first.summary and read(again.workspace) == first.summary
    (source.parent / "manual.pdf").write_bytes(manual.read_bytes())  # it was missing
    found = make(tmp_path, source)
    assert (found.workspace, found.was_there, found.summary.missing) == (first.workspace, False, ())
    assert (found.workspace / "notes.jsonl").read_text() == "mine\n"
    (source.parent / "another.pdf").write_bytes(manual.read_bytes())
    assert make(tmp_path, source).was_there
    forced = made(things_of([source]), to=None, cache_dir=tmp_path / "cache", force=True)
    assert not forced.was_there and (forced.workspace / "notes.jsonl").read_text() == "mine\n"
    source.write_text(rows(asked(SENTENCES[1], base=1)))
    assert make(tmp_path, source).workspace != first.workspace


def test_the_same_contents_elsewhere_give_the_same_workspace(tmp_path: Path, manual: Path) -> None:
    places = [tmp_path / name for name in ("one", "two")]
    for place in places:
        place.mkdir()
        (place / "rows.jsonl").write_text(rows(asked(SENTENCES[0], base=1)))
        (place / "manual.pdf").write_bytes(manual.read_bytes())
    first, second = (make(tmp_path, each / "rows.jsonl", each / "manual.pdf") for each in places)
    assert second.was_there and second.workspace == first.workspace
    (places[1] / "manual.pdf").write_bytes(manual.read_bytes() + b"\n")
    assert not make(tmp_path, places[1] / "rows.jsonl", places[1] / "manual.pdf").was_there


def test_a_folder_gives_its_sources_its_pdfs_and_what_it_could_not_use(tmp_path: Path, manual: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.jsonl").write_text(rows(asked(SENTENCES[0], base=1), asked(SENTENCES[2], base=1)))
    (folder / "b.jsonl").write_text(rows(asked(SENTENCES[1], base=1)))
    (folder / "manual.pdf").write_bytes(manual.read_bytes())
    (folder / "notes.txt").write_text("nothing of use")
    (folder / ".hidden").write_text("{}")
    (folder / "outside.jsonl").symlink_to("/etc/passwd")
    result = make(tmp_path, folder)
    runs = load_manifest(result.workspace).runs
    assert [run.title for run in runs] == ["a", "b"] and result.summary.unknown == ("notes.txt",)
    assert result.summary.questions == 3 and result.summary.missing == ()


def test_files_of_one_object_each_are_one_run(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(
            json.dumps(asked(SENTENCES[number], base=1, document="gone"), indent=1)
        )
    result = make(tmp_path, tmp_path / "1.json", tmp_path / "2.json", page_base=1)
    assert [run.title for run in load_manifest(result.workspace).runs] == [None]
    assert [part.file for part in result.summary.parts] == ["1.json", "2.json"]


def test_a_file_that_another_is_read_with_is_not_read_again(tmp_path: Path) -> None:
    for folder in ("whole", "apart"):
        (tmp_path / folder).mkdir()
        for name, row in (("a", asked(SENTENCES[0], base=1)), ("b", asked(SENTENCES[1], base=1))):
            (tmp_path / folder / f"{name}.jsonl").write_text(rows(row))
    (tmp_path / "whole" / "judged.jsonl").write_text(rows({"judged": 1}))
    (tmp_path / "apart" / "others.jsonl").write_text(rows({"judged": 1}))
    for folder, judged, read_files in (("whole", "judged", "ab"), ("apart", "others", "abo")):
        files = [tmp_path / folder / f"{name}.jsonl" for name in ("a", "b", judged)]
        assert "".join(each.path.name[0] for each in things_of(files).sources) == read_files


def test_nothing_to_read_is_a_sentence(tmp_path: Path, manual: Path) -> None:
    with pytest.raises(InputFault, match="no file with answers"):
        things_of([manual])
    with pytest.raises(InputFault, match="does not exist"):
        things_of([tmp_path / "gone.json"])
    with pytest.raises(InputFault, match="neither a file nor a folder"):
        things_of([Path("/dev/null")])
    empty = tmp_path / "empty.jsonl"
    empty.write_text(rows({"ask": " "}))
    with pytest.raises(InputFault, match="has no question"):
        make(tmp_path, empty)
    assert not list((tmp_path / "cache" / "opened").iterdir())


def test_the_summary_counts_what_was_understood_and_lists_the_rest_on_demand(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    lost = [asked(each, base=1, document=f"d{number}") for number, each in enumerate(SENTENCES)]
    source.write_text(rows({**lost[0], "colour": "red"}, *lost[1:], {"ask": ""}) + "[1]\n")
    summary = make(tmp_path, source, page_base=1).summary
    lines = list(lines_of(summary))
    assert lines[0] == "rows.jsonl: recognized as Paged: its rows have ask"
    assert lines[1] == "  8 records, 1 not usable · understood: ask 6, found 6, say 6"
    assert lines[2:4] == ["  not understood: colour 1", "6 questions, 6 passages, 0 of 6 documents"]
    (missing,) = (line for line in lines if "not found" in line)
    assert missing.startswith("6 documents not found — ") and missing.endswith("; --list names them")
    assert any("d0, d1, d2" in line for line in lines_of(summary, lists_all=True))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["open", "--no-browser", *map(str, arguments)])


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str]]:
    shown: list[tuple[Path, str]] = []

    def show(_server: object, environment: dict[str, str], *_: object, page: str, **__: object) -> None:
        shown.append((Path(environment[WORKSPACE_VARIABLE]).parent, page))

    monkeypatch.setattr(open_cmd, "loading_server", nullcontext)
    monkeypatch.setattr(open_cmd, "run_dashboard", show)
    return shown


def test_the_command_opens_on_the_first_finding(tmp_path: Path, served: list[tuple[Path, str]]) -> None:
    source, to = tmp_path / "rows.jsonl", tmp_path / "made"
    right = {"ask": "Red?", "say": SENTENCES[0], "found": [{"text": SENTENCES[0], "doc": "m"}]}
    source.write_text(rows(right, {**right, "ask": "How much?", "say": "It holds 7.5 litres."}))
    result = run(source, "--to", to)
    assert result.exit_code == 0, result.output
    assert "2 questions, 1 passage, 0 of 1 document" in result.output
    ((folder, page),) = served
    second = orjson.loads((to / "runs/R001/trace.jsonl").read_bytes().splitlines()[1])
    assert (folder, page) == (to, f"question?run=R001&q={second['q_id']}")
    source.write_text(rows(right))
    assert isinstance((refused := run(source, "--to", to)).exception, InputFault)
    assert "not empty" in str(refused.exception) and run(source, "--to", to, "--force").exit_code == 0


def test_a_workspace_is_named_alone(tmp_path: Path, served: list[tuple[Path, str]]) -> None:
    workspace, source = tmp_path / "workspace", tmp_path / "rows.jsonl"
    workspace.mkdir()
    (workspace / "pipeline_manifest.yaml").write_text('manifest_version: "1.0"\nname: N\n')
    source.write_text(rows(asked(SENTENCES[0], base=1)))
    assert run(workspace).exit_code == 0 and served == [(workspace, "")]
    assert run(workspace, source).exit_code == 2 and run(workspace, "--to", tmp_path / "x").exit_code == 2


def test_an_upload_has_a_name_of_its_own_inside_its_folder(tmp_path: Path) -> None:
    names = ["../../x.json", "x.json", "C:\\a\\b.pdf", "..", "a\nb.json", "n" * 300 + ".json"]
    paths = put([(name, b"{}") for name in names], tmp_path)
    assert len(set(paths)) == len(names) and {each.parent for each in paths} == {tmp_path}
    assert [each.name for each in paths[:5]] == ["x.json", "x~1.json", "b.pdf", "file", "a_b.json"]


def test_a_page_opens_paths_below_one_folder_alone(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "rows.jsonl").write_text("{}")
    (inside / "link").symlink_to("/etc/passwd")
    assert named_path(" rows.jsonl ", inside) == named_path(str(inside / "rows.jsonl"), inside)
    for text in ("link", "/etc/passwd", "..", "../../etc/passwd", "gone", "a\0b", "~/.ssh"):
        with pytest.raises(InputFault):
            named_path(text, inside)


CHUNKS = [{"chunk_id": "c1", "doc_id": "manual", "page_idx": 1, "text": SENTENCES[0]}]
TRACE = {"q_id": "Q1", "q": "Red?", "answer": SENTENCES[0], "chunks": [{"id": "c1"}, {"id": "gone"}]}


@pytest.mark.parametrize("named", [("trace.jsonl", "chunks.jsonl"), ("trace.jsonl",), (".",)])
def test_our_own_trace_takes_its_texts_from_a_chunk_file(tmp_path: Path, named: tuple[str, ...]) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "chunks.jsonl").write_text(rows(*CHUNKS))
    (folder / "trace.jsonl").write_text(rows({**TRACE, "citations": [{"snippet_id": "c1"}]}))
    write_pages(folder / "manual.pdf", [["Cover"], [SENTENCES[0]]])
    things = things_of([folder / each for each in named])
    result = made(things, to=tmp_path / "made", cache_dir=tmp_path / "cache")
    assert [part.format for part in result.summary.parts] == ["Proofspan traces"]
    assert (result.summary.chunks, result.summary.missing, result.summary.unknown) == (1, (), ())
    record = orjson.loads((tmp_path / "made/runs/R001/trace.jsonl").read_bytes())
    assert record["chunks"] == [{"id": "c1", "doc_id": "manual", "page_idx": 1}, {"id": "gone"}]
    assert record["citations"][0]["snippet_id"] == "c1"


def test_another_chunk_file_makes_another_workspace(tmp_path: Path) -> None:
    trace, chunks = tmp_path / "trace.jsonl", tmp_path / "chunks.jsonl"
    trace.write_text(rows(TRACE))
    keys = []
    for text in SENTENCES[:2]:
        chunks.write_text(rows({**CHUNKS[0], "text": text}))
        keys.append(key_of(things_of([trace]), None))
    assert keys[0] != keys[1]


def test_financebench_shows_its_evidence_and_judges_no_answer(tmp_path: Path) -> None:
    source, to = tmp_path / "questions.jsonl", tmp_path / "made"
    evidence = {"evidence_text": SENTENCES[0], "doc_name": "ACME_2018_10K", "evidence_page_num": 1}
    one = {"financebench_id": "f1", "question": "Blue?", "answer": "No.", "evidence": [evidence]}
    source.write_text(rows(one))
    write_pages(tmp_path / "ACME_2018_10K.pdf", [["Cover"], [SENTENCES[0]]])
    made(things_of([source]), to=to, cache_dir=tmp_path / "cache")
    (gold,) = map(orjson.loads, (to / "gold/goldset.jsonl").read_bytes().splitlines())
    assert gold["spans"] == [{"doc_id": "ACME_2018_10K", "page_idx": 1, "quote": SENTENCES[0]}]
    manifest = load_manifest(to)
    first = first_finding(manifest, cache_dir=tmp_path / "cache")
    page = Store(manifest, tmp_path / "cache").page(Filter("R001"), Sort(), limit=1, offset=0)
    assert first == {"run": "R001", "q": "f1"} and page.iloc[0]["label"] is None


def test_a_passage_without_a_document_is_of_the_one_pdf_that_holds_its_text(tmp_path: Path) -> None:
    source, to = tmp_path / "ragas.jsonl", tmp_path / "made"
    texts = [SENTENCES[0], SENTENCES[1], SENTENCES[2], "Cover"]  # in one, in another, in both, too short
    answered = {"user_input": "Which?", "response": SENTENCES[0]}
    source.write_text(rows({**answered, "retrieved_contexts": texts}))
    write_pages(tmp_path / "a.pdf", [["Cover"], [SENTENCES[0]], [SENTENCES[2]]])
    write_pages(tmp_path / "b.pdf", [["Front"], [SENTENCES[1]], [SENTENCES[2]]])
    summary = made(things_of([source]), to=to, cache_dir=tmp_path / "cache").summary
    record = orjson.loads((to / "runs/R001/trace.jsonl").read_bytes())
    assert [each.get("doc_id") for each in record["chunks"]] == ["a", "b", None, None]
    assert (summary.documents, summary.missing) == (2, ()) and "2 of 4 passages" in summary.notes[0]


def test_a_folder_of_folders_is_looked_through(tmp_path: Path) -> None:
    for name in ("first", "second/deep", ".hidden"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / f"{name[:1]}.jsonl").write_text(rows(TRACE))
    write_pages(tmp_path / "results" / "manual.pdf", [["Cover"]])
    found = things_of([tmp_path / "results"])
    assert [each.path.name for each in found.sources] == ["f.jsonl", "s.jsonl"]
    assert [each.path.name for each in found.pdfs if each.is_named] == ["manual.pdf"]


def test_responses_in_one_line_each_are_one_run_and_one_document(tmp_path: Path) -> None:
    for number, colour in enumerate(SENTENCES[:2]):
        cited = [{"type": "page_location", "cited_text": colour, "document_title": "manual"}]
        text = {"type": "text", "text": "So.", "citations": [{**cited[0], "start_page_number": 1}]}
        response = {"id": f"m{number}", "type": "message", "role": "assistant", "content": [text]}
        (tmp_path / f"{number}.json").write_text(json.dumps({**response, "stop_reason": "end_turn"}) + "\n")
    asked = {"user_input": "Which?", "retrieved_contexts": SENTENCES[:1], "response": "so"}
    (tmp_path / "ragas.jsonl").write_text(rows(asked, asked))
    write_pages(tmp_path / "manual.pdf", [SENTENCES])
    made(things_of([tmp_path]), to=tmp_path / "made", cache_dir=tmp_path / "cache")
    manifest = load_manifest(tmp_path / "made")
    assert [run.title for run in manifest.runs] == [None, "ragas"]
    assert [each.doc_id for each in manifest.documents] == ["manual"]


def test_progress_has_the_bytes_of_all_sources_as_its_total(tmp_path: Path) -> None:
    names = ("a.jsonl", "b.jsonl")
    for name in names:
        (tmp_path / name).write_text(rows(*(asked(each, base=1) for each in SENTENCES)))
    steps: list[tuple[str, int, int | None]] = []
    choices = Choices(on_progress=lambda *step: steps.append(step))
    made(things_of([tmp_path]), to=tmp_path / "made", cache_dir=tmp_path / "cache", choices=choices)
    size = (tmp_path / "a.jsonl").stat().st_size
    assert [step[1:] for step in steps] == [(size, 2 * size), (2 * size, 2 * size)]
    assert steps[1][0].startswith("reading b.jsonl (")
