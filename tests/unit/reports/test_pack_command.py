"""`proofspan pack` from the outside: hostile texts, a bound, what is missing, a full disk, opinions."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import yaml
from click.testing import CliRunner, Result

from proofspan.cli.evidence import pack_cmd
from proofspan.cli.evidence.pack_cmd import command
from proofspan.errors import InputFault
from proofspan.journal.annotations import Annotation, Target, answer_id, append
from proofspan.manifest.edit import add_file
from proofspan.manifest.load import load_manifest
from proofspan.services.pack.ink import Ink
from proofspan.services.pack.redaction import Redaction
from tests.places import HANDBOOK
from tests.unit.reports.pack_room import Parsed
from tests.unit.store_workspace import RUN, trace, write_workspace

pytestmark = pytest.mark.usefixtures("one_pool")

#: What a text may not do: end its element or attribute, act on a terminal, turn its direction, be no text.
MARKUP = """</details><script>alert(1)</script><img src=x onerror=alert(1)>"' onmouseover="x" &lt;"""
HOSTILE = f"{MARKUP}\u202e\x1b[2J\x00"
#: The elements of a pack.
ELEMENTS = {
    *("html", "head", "meta", "link", "title", "style", "body", "header", "main", "section", "script"),
    *("h1", "h2", "h3", "p", "b", "small", "br", "span", "a", "ul", "ol", "li", "div", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td", "label", "input", "select", "option", "button", "output"),
    *("figure", "figcaption", "svg", "image", "use", "rect", "g", "text", "mark"),
}


def pack(workspace: Path, output: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [str(workspace), "-o", str(output), *options])


@pytest.fixture
def handbook(tmp_path: Path, checked: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the handbook with its index."""
    shutil.copytree(HANDBOOK, tmp_path / "handbook")
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "handbook"


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    raw = orjson.dumps(trace(f"Q{HOSTILE}", q=HOSTILE, answer=f"{HOSTILE}\ncitations: [c1]"))
    surrogate = raw.replace(b"alert(1)", rb"alert(1)\ud800", 1)
    claim = trace("Q2", answer=f"The oil filter holds 5 litres {HOSTILE}.\ncitations: [c1, {HOSTILE}]")
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(orjson.dumps({"q_id": "Q2", "q": HOSTILE, "answer": HOSTILE, "sections": ["4.2"]}))
    documents = [{"doc_id": "manual", "title": MARKUP, "path": "no.pdf"}]
    write_workspace(
        tmp_path,
        {RUN: [surrogate, raw, claim]},
        name=MARKUP,
        documents=documents,
        gold={"path": "gold.jsonl"},
        annotations={"path": "notes.jsonl"},
    )
    append(
        load_manifest(tmp_path),
        Annotation("note", Target(RUN, "Q2"), "<b>Ada</b>", text=MARKUP),
    )
    result = pack(tmp_path, tmp_path / "p.html")
    assert result.exit_code == 1, result.output
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    parsed = Parsed.of(page)
    assert {each.tag for each in parsed.elements} <= ELEMENTS
    assert [each.tag for each in parsed.elements].count("script") == 1
    assert not any(name.startswith("on") for each in parsed.elements for name in each.attributes)
    assert not any(sign in page for sign in "\x00\x1b\u202e")
    assert "<script>alert(1)" in parsed.everything()  # as text
    names = [each.attributes["id"] for each in parsed.elements if "id" in each.attributes]
    assert len(names) == len(set(names)) and len(parsed.questions) == 2  # the third is a line issue
    assert Ink(Redaction()).text("a\ud800b\n<") == "a\ufffdb\n&lt;"


def test_a_large_run_is_bounded_and_says_so(tmp_path: Path) -> None:
    write_workspace(tmp_path, {RUN: (trace(f"Q{n}") for n in range(300))})
    result = pack(tmp_path, tmp_path / "p.html", "--limit", "5")
    assert "5 most harmful of 300" in result.stderr
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert len(Parsed.of(page).questions) == 5 and "5 most harmful of 300" in page
    pack(tmp_path, tmp_path / "p.html")
    parsed = Parsed.of((tmp_path / "p.html").read_text(encoding="utf-8"))
    assert len(parsed.questions) == pack_cmd.MOST_QUESTIONS


def test_a_missing_document_is_stated_and_the_rest_is_there(handbook: Path, tmp_path: Path) -> None:
    (handbook / "corpus" / "meridian-2026.pdf").unlink()
    result = pack(handbook, tmp_path / "p.html", "--run", "R002")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert result.exit_code == 1 and "meridian-2026.pdf" in result.stderr
    parsed = Parsed.of(page)
    assert len(parsed.questions) == 14 and "<image" not in page and str(tmp_path) not in page
    assert "Not shown" in parsed.everything() and "4.3" in parsed.everything()


def test_a_run_without_traces_or_questions(handbook: Path, tmp_path: Path) -> None:
    """Its stored report has no answers, which is not the same as empty ones."""
    file = handbook / "pipeline_manifest.yaml"
    manifest = yaml.safe_load(file.read_text(encoding="utf-8"))
    (handbook / "report.jsonl").write_bytes(
        orjson.dumps({"q_id": "Q01", "q": "How much oil?", "label": "ok"})
    )
    (handbook / "none.jsonl").write_bytes(b"")
    first, second = manifest["runs"]
    del first["traces"]
    first["report"], second["traces"] = {"path": "report.jsonl"}, {"path": "none.jsonl"}
    file.write_text(yaml.safe_dump(manifest), encoding="utf-8")
    for run, questions in (("R001", 1), ("R002", 0)):
        result = pack(handbook, tmp_path / "p.html", "--run", run)
        page = (tmp_path / "p.html").read_text(encoding="utf-8")
        assert result.exit_code == 0 and len(Parsed.of(page).questions) == questions
        assert "It is empty" not in page


def test_what_people_say_is_in_it(handbook: Path, tmp_path: Path) -> None:
    add_file(handbook / "pipeline_manifest.yaml", "annotations", "annotations.jsonl")
    answers = {
        record["q_id"]: record["answer"]
        for record in map(orjson.loads, (handbook / "runs/R002/trace.jsonl").read_bytes().splitlines())
    }
    first, second = Target("R002", "Q01"), Target("R002", "Q02")
    append(
        load_manifest(handbook),
        Annotation("verdict", first, "Ada", agrees=False, correct="wrong", answer=answer_id(answers["Q01"])),
        Annotation("note", second, "Ben", text="The page has another figure.", answer=answer_id("earlier")),
    )
    result = pack(handbook, tmp_path / "p.html", "--run", "R002", "--against", "R001")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert result.exit_code == 0, result.output
    assert "Ada" in page and "The page has another figure." in page and "earlier text" in page
    parsed = Parsed.of(page)
    reviewed = [name for name, own in parsed.questions.items() if own[0].attributes["data-people"] == "yes"]
    assert sorted(reviewed) == ["Q01", "Q02"]
    pack(handbook, tmp_path / "p.html", "--run", "R002", "--redact", "people")
    page = Parsed.of((tmp_path / "p.html").read_text(encoding="utf-8")).everything()
    assert re.findall(r"\bAda\b|\bBen\b|another figure", page) == [] and "A reviewer" in page


def test_a_full_disk_leaves_the_earlier_file(
    handbook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(sink: object, *args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "p.html").write_text("earlier")
    monkeypatch.setattr(pack_cmd, "write_pack", full)
    result = pack(handbook, tmp_path / "p.html")
    assert isinstance(result.exception, InputFault)
    assert [problem.code for problem in result.exception.problems] == ["cannot_write"]
    assert (tmp_path / "p.html").read_text() == "earlier" and not list(tmp_path.glob(".proofspan-*"))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--against", "R002", "--run", "R002"], "same_run"),
        (["--run", "R9"], "unknown_run"),
        (["--redact-document", "no such"], "unknown_document"),
    ],
)
def test_what_does_not_exist_is_refused(
    handbook: Path, tmp_path: Path, options: list[str], code: str
) -> None:
    result = pack(handbook, tmp_path / "p.html", *options)
    assert isinstance(result.exception, InputFault)
    assert [problem.code for problem in result.exception.problems] == [code]
    assert not (tmp_path / "p.html").exists()
