"""Redacted fields and documents are in no text, attribute or picture of a pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.errors import InputFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.pack.redaction import BAR, DOCUMENT, FIELDS, MIN_TEXT, Redaction
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.places import DEMO
from tests.unit.reports.pack_room import RUN, Parsed, Room

MANUAL, BULLETIN = "meridian-2026", "bulletin-07"
#: Questions of these packs, of both documents.
MOST = 20


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory, checked: Callable[[Path], Path], pool: PdfPool) -> Room:
    return Room.of(tmp_path_factory.mktemp("redacted") / "cache", checked, pool)


@pytest.fixture(scope="module")
def whole(room: Room) -> str:
    return room.pack(limit=MOST)[0]


def gold(page: str) -> list[dict[str, Any]]:
    """The gold questions of those in a pack."""
    lines = (DEMO / "gold" / "goldset.jsonl").read_bytes().splitlines()
    return [each for each in map(orjson.loads, lines) if each["q_id"] in Parsed.of(page).questions]


def row_texts(room: Room, name: str) -> list[str]:
    frame = Store(load_manifest(DEMO), room.cache).page(Filter(RUN), Sort(), limit=MOST, offset=0)
    return [line for text in frame[name] for line in str(text).splitlines()]


def quotes(page: str, doc_id: str | None = None) -> list[str]:
    spans = [span for each in gold(page) for span in each.get("spans", ())]
    return [span["quote"] for span in spans if doc_id in (None, span["doc_id"])]


def notices(doc_id: str | None = None) -> list[str]:
    lines = map(orjson.loads, (DEMO / "corpus" / "catalogue.jsonl").read_bytes().splitlines())
    safety = [each for each in lines if each["kind"] in ("warning", "caution", "note")]
    return [each["text"] for each in safety if doc_id in (None, each["doc_id"])]


def found_in(page: str, texts: Iterable[str]) -> list[str]:
    everything = Parsed.of(page).everything().casefold()
    listed = [" ".join(text.split()).casefold() for text in texts]
    return [text for text in listed if len(text) >= MIN_TEXT and text in everything]


def pictures(page: str) -> int:
    return page.count("<image ")


def test_nothing_is_left_out_by_default(room: Room, whole: str) -> None:
    assert found_in(whole, row_texts(room, "answer")) and found_in(whole, quotes(whole))
    assert found_in(whole, notices()) and MANUAL in whole and pictures(whole) > MOST / 2 and BAR not in whole


@pytest.mark.parametrize("field", ["question", "answer", "expected", "quotes", "notices"])
def test_a_field_is_in_no_text_and_no_attribute(room: Room, whole: str, field: str) -> None:
    page, report = room.pack(fields=[field], limit=MOST)
    texts = {
        "question": lambda: row_texts(room, "q"),
        "answer": lambda: row_texts(room, "answer"),
        "expected": lambda: [*(each.get("answer") or "" for each in gold(page)), *quotes(page)],
        "quotes": lambda: quotes(page),
        "notices": notices,
    }[field]()
    assert report.questions == MOST and found_in(page, texts) == []
    if field == "quotes":
        assert pictures(page) == 0
    elif field != "question":  # a page that shows the text has no picture
        assert pictures(page) < pictures(whole)


@pytest.mark.parametrize("doc_id", [MANUAL, BULLETIN])
def test_a_document_is_not_in_it_by_name_page_quote_or_notice(room: Room, doc_id: str) -> None:
    page, report = room.pack(documents=[doc_id], limit=MOST)
    document = load_manifest(DEMO).document(doc_id)
    assert document is not None and document.title is not None
    everything = Parsed.of(page).everything()
    assert report.questions == MOST and DOCUMENT in everything
    named = everything.casefold()
    assert doc_id not in named and document.title.casefold() not in named
    assert found_in(page, [*quotes(page, doc_id), *notices(doc_id)]) == []
    assert (pictures(page) == 0) is (doc_id == MANUAL)


def test_a_text_is_blacked_out_wherever_it_comes_again() -> None:
    redaction = Redaction(frozenset({"answer"})).of_question(
        rests_on=["d", None], texts={"answer": ["Turn  the knob\nslowly.", "short"]}, also=()
    )
    assert redaction.clean("He says: TURN THE\n knob slowly. A short one.") == f"He says: {BAR} A short one."
    sharp = redaction.of_question(rests_on=(), texts={"answer": ["In der Straße 7"]}, also=())
    assert sharp.clean("Wo? IN DER STRASSE 7!") == BAR
    assert redaction.shows("turn the knob slowly.") and not redaction.shows("turn\x00 the knob")


def test_a_document_has_several_names() -> None:
    manifest = load_manifest(DEMO)
    redaction = Redaction.of(manifest, (), [BULLETIN])
    text = "bulletin-07|r=1 of BULLETIN-07.md, the Service bulletin 07/2026, and meridian-2026"
    shown = redaction.clean(text)
    assert shown == f"{DOCUMENT}|r=1 of {DOCUMENT}, the {DOCUMENT}, and meridian-2026"
    with pytest.raises(InputFault) as raised:
        Redaction.of(manifest, (), ["no such"])
    assert [problem.code for problem in raised.value.problems] == ["unknown_document"]


def test_every_field_takes_along_the_sentences_that_may_quote_it() -> None:
    manifest = load_manifest(DEMO)
    for field in FIELDS:
        redaction = Redaction.of(manifest, [field], ())
        assert redaction.hides("notes") or field in ("pages", "reasons")
    assert Redaction.of(manifest, ["answer"], ()).hides("claims")
    assert Redaction.of(manifest, ["quotes"], ()).hides("pages")
