"""Evidence packs of the demo, made in this process, and what their HTML holds."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.pack.redaction import Redaction
from proofspan.services.pack.write import Report, write_pack
from proofspan.store.query.store import Store
from tests.places import DEMO

RUN, BEFORE = "R006", "R004"


@dataclass
class Room:
    """The demo with its index; its documents are read once for all packs."""

    cache: Path
    placer: Placer

    @classmethod
    def of(cls, cache: Path, checked: Callable[[Path], Path], pool: PdfPool) -> Room:
        shutil.copytree(checked(DEMO), cache)
        return cls(cache, Placer(pool))

    def pack(self, *, run: str = RUN, against: str | None = BEFORE, **options: object) -> tuple[str, Report]:
        """The HTML of a pack of the demo and what was reported."""
        manifest, sink = load_manifest(DEMO), io.BytesIO()
        fields, documents = options.pop("fields", ()), options.pop("documents", ())
        report = write_pack(
            sink,
            Store(manifest, self.cache),
            manifest,
            run,
            placer=self.placer,
            against=against,
            redaction=Redaction.of(manifest, fields, documents),  # type: ignore[arg-type]
            **options,  # type: ignore[arg-type]
        )
        return sink.getvalue().decode(), report


@dataclass
class Element:
    """An element with its attributes."""

    tag: str
    attributes: dict[str, str]


@dataclass
class Parsed(HTMLParser):
    """The elements and texts of a page, and its questions by id with the elements in each."""

    elements: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    questions: dict[str, list[Element]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self._current: list[Element] = []

    @classmethod
    def of(cls, page: str) -> Parsed:
        parsed = cls()
        parsed.feed(page)
        parsed.close()
        return parsed

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag == "details" and element.attributes.get("class") == "q":
            self._current = []
        self._current.append(element)
        if element.attributes.get("class") == "body":
            self.questions[element.attributes["id"]] = self._current

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def everything(self) -> str:
        """All texts and attribute values but pictures, with single spaces."""
        values = (
            value
            for each in self.elements
            for value in each.attributes.values()
            if not value.startswith("data:")
        )
        return " ".join(" ".join([*self.texts, *values]).split())
