"""Questions of another tool's file as the native records of a workspace, in one pass and in little memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import orjson

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import index_of
from proofspan.traces.formats.types import Asked, Cited, PageBase, Passage, Reading
from proofspan.traces.importers.workspace import Converted, Record

#: What an id must not hold, since ids are cited as `citations: [id, id]`.
_NO_ID = re.compile(r"[\s,\[\]|]+")
_MOST_ID = 120
#: What a document's id must not hold, since a path is made of it.
_NO_NAME = re.compile(r"[^\w.()+@ -]+")
_LAST_STEP = re.compile(r"[^/\\?#]+(?=[/\\]*(?:[?#].*)?\Z)", re.DOTALL)
#: Fields of a trace that a source's own fields do not replace.
_OWN = frozenset({"run_id", "q_id", "q", "answer", "chunks", "stages", "citations", "segments", "scores"})


class Native:
    """Writes native records of questions below a folder, one question after the other.

    `unknown_base` is the number of a document's first page where a source does not say it.
    """

    def __init__(self, folder: Path, *, unknown_base: PageBase) -> None:
        self.folder, self.unknown_base = folder, unknown_base
        self.runs: dict[str, str] = {}
        self.documents: dict[str, str] = {}
        #: Whether a page was placed by `unknown_base`, and whether a page 0 shows that it is 0.
        self.guessed = self.has_page_zero = False
        self._texts: dict[str, bytes] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._gold: set[str] = set()
        self._stack = ExitStack()
        self._files: dict[str, BinaryIO] = {}
        self.questions = 0

    def write(self, asked: Iterable[Asked], reading: Reading) -> None:
        """Write all questions. What cannot be kept is a problem of `reading`."""
        with self._stack:
            for each in asked:
                self._add(each, reading)
            for name in ("chunks", "gold"):
                self._file(name)

    def converted(self, name: str) -> Converted:
        """Return what was written as the input of an import.

        Other tools' answers follow no citation template, so none is asked for.
        """
        runs = [
            ({"run_id": run_id, **({"title": title} if title else {})}, run_id)
            for title, run_id in self.runs.items()
        ]
        (first, first_id), *others = runs or [({"run_id": "R001"}, "")]
        return Converted(
            name=name,
            chunks=self._read("chunks") if self._texts else None,  # TREC has ids alone
            gold=self._read("gold") if self._gold else None,
            traces=self._read(first_id) if first_id else None,
            run=first,
            more_runs=tuple((run, self._read(run_id)) for run, run_id in others),
            triage={"template": "none"},
            doc_ids=sorted(set(self.documents.values())),
        )

    def _read(self, name: str) -> Iterator[Record]:
        with (self.folder / f"{name}.jsonl").open("rb") as source:
            yield from map(orjson.loads, source)

    def _file(self, name: str) -> BinaryIO:
        if name not in self._files:
            self._files[name] = self._stack.enter_context((self.folder / f"{name}.jsonl").open("wb"))
        return self._files[name]

    def _put(self, name: str, record: Record) -> None:
        self._file(name).write(
            orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
        )

    def _add(self, asked: Asked, reading: Reading) -> None:
        q = asked.q.strip()
        if not q:
            reading.problem(
                "no_question", "has no question", asked.place, "Export the question with the answer."
            )
            return
        self.questions += 1
        run_id = self.runs.setdefault(asked.run, f"R{len(self.runs) + 1:03}")
        q_id = (
            _clean(asked.q_id)
            if asked.q_id
            else hashlib.sha1(q.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:8]
        )
        repeat = self._asked[run_id, q_id] = self._asked.get((run_id, q_id), -1) + 1
        named: dict[str, str] = {}
        lists = {
            name: [entry for each in passages if (entry := self._candidate(each, named)) is not None]
            for name, passages in asked.lists.items()
        }
        record: Record = {"run_id": run_id, "q_id": q_id, "q": q}
        if repeat:
            record["seed"] = repeat
        if asked.answer is not None:
            record["answer"] = asked.answer
        if "chunks" in lists:
            record["chunks"] = lists["chunks"]
        if stages := {name: entries for name, entries in lists.items() if name != "chunks"}:
            record["stages"] = stages
        if asked.cited:
            record["citations"] = [self._citation(each, named) for each in asked.cited]
        if asked.scores:
            record["scores"] = asked.scores
        record |= {name: value for name, value in asked.fields.items() if name not in _OWN}
        self._put(run_id, record)
        self._add_gold(asked, q, q_id)

    def _add_gold(self, asked: Asked, q: str, q_id: str) -> None:
        if (asked.expected is None and not asked.gold and asked.answerable is None) or q_id in self._gold:
            return
        self._gold.add(q_id)
        record: Record = {"q_id": q_id, "q": q, "answerable": asked.answerable is not False}
        if asked.expected is not None:
            record["answer"] = asked.expected
        entries = [(each, entry) for each in asked.gold if (entry := self._candidate(each, {})) is not None]
        if entries:
            record["chunks"] = list(dict.fromkeys(entry["id"] for _, entry in entries))
        grades = {entry["id"]: index_of(entry.get("relevance")) or 0 for _, entry in entries}
        if any(grade > 1 for grade in grades.values()):
            record["grades"] = {chunk_id: grade for chunk_id, grade in grades.items() if grade > 0}
        if spans := [
            {"doc_id": entry["doc_id"], "page_idx": entry["page_idx"], "quote": each.text}
            for each, entry in entries
            if "doc_id" in entry and "page_idx" in entry and each.text
        ]:
            record["spans"] = spans
        if sections := list(dict.fromkeys(each.section for each in asked.gold if each.section)):
            record["sections"] = sections
        self._put("gold", record)

    def _candidate(self, passage: Passage, named: dict[str, str]) -> Record | None:
        """Return the entry of a passage in a list, and write its chunk once; None for neither id nor text."""
        place = self._place(passage)
        text = passage.text if passage.text and passage.text.strip() else None
        if text is None and not passage.id:
            return None
        chunk_id = self._chunk(passage, text, place)
        if passage.id:
            named[passage.id] = chunk_id
        entry: Record = {"id": chunk_id, **place}
        if passage.score is not None:
            entry["score"] = passage.score
        return entry | {name: value for name, value in passage.more.items() if name not in entry}

    def _chunk(self, passage: Passage, text: str | None, place: Record) -> str:
        if text is None:
            return _clean(passage.id or "")
        digest = hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
        chunk_id = _clean(passage.id) if passage.id else id_by_text(place.get("doc_id"), text)
        if self._texts.get(chunk_id, digest[:8]) != digest[:8]:  # another text under the same id
            chunk_id = f"{chunk_id}~{digest.hex()[:8]}"
        if chunk_id not in self._texts:
            self._texts[chunk_id] = digest[:8]
            record: Record = {"chunk_id": chunk_id, **place, "text": text, "hash": f"sha1:{digest.hex()}"}
            if passage.offsets is not None:
                record["offsets"] = [*passage.offsets]
            if passage.box is not None:
                record |= {"bbox": [*passage.box], "bbox_space": passage.box_space}
            self._put("chunks", record)
        return chunk_id

    def _place(self, passage: Passage) -> Record:
        place: Record = {}
        if passage.document:
            place["doc_id"] = self._document(passage.document)
        if passage.section:
            place["section_id"] = passage.section
        if passage.page is not None:
            base = passage.page_base
            if base is None:
                self.guessed, base = True, self.unknown_base
                self.has_page_zero |= passage.page == 0
            if passage.page >= base:
                place["page_idx"] = passage.page - base
        if passage.label:
            place["page_label"] = passage.label
        return place

    def _document(self, name: str) -> str:
        """Return the id of a document: its file name without `.pdf`, with a hash where two share one."""
        known = self.documents.get(name)
        if known is None:
            found = _LAST_STEP.search(name)
            stem = (found[0] if found else name).removesuffix(".pdf").removesuffix(".PDF")
            known = _NO_NAME.sub("_", stem).strip(" .")[:_MOST_ID] or "document"
            if known in self.documents.values():
                known += (
                    f"~{hashlib.sha1(name.encode('utf-8', 'replace'), usedforsecurity=False).hexdigest()[:6]}"
                )
            self.documents[name] = known
        return known

    def _citation(self, cited: Cited, named: dict[str, str]) -> Record:
        passage = cited.passage
        record: Record = {**self._place(passage)}
        if "page_idx" in record and passage.page is not None and (passage.last_page or 0) > passage.page:
            record["last_page_idx"] = record["page_idx"] + (passage.last_page or 0) - passage.page
        if cited.chunk is not None:
            record["snippet_id"] = named.get(cited.chunk) or _clean(cited.chunk)
        if passage.text:
            record["quote"] = passage.text
        if passage.offsets is not None:
            record["offsets"] = [*passage.offsets]
        if passage.box is not None:
            record |= {"bbox": [*passage.box], "bbox_space": passage.box_space}
        if cited.span is not None:
            record["answer_span"] = [*cited.span]
        if cited.reason:
            record["reason"] = cited.reason
        return record | {name: value for name, value in passage.more.items() if name not in record}


def id_by_text(doc_id: str | None, text: str) -> str:
    """Return the id of a passage for which its source has none."""
    digest = hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return f"{_clean(doc_id or 'text')[:60]}-{digest[:12]}"


def _clean(name: str) -> str:
    """Return an id without what ends one; an id in our own format keeps its bars, which say its place."""
    return name if parse(name) else _NO_ID.sub("_", name.strip())[:_MOST_ID] or "_"
