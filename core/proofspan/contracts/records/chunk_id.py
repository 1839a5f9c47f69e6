"""Chunk ids that name a chunk's place: `<doc_uid>|r=<rev8>|s=<sect_path>|p=<page3>|b=<block3>`.

An id is cited inside `citations: [id, id]`, so no part of it may hold white space, a comma or `]`; no part
holds `|` either, which keeps parsing unambiguous. Pages in an id are 1-based, `p=000` means "no pages".
For people an id has an alias as well, `#s02-04-01#p002-b007`, which is shorter and says less.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

#: The revision of a document whose text is not at hand.
UNKNOWN_REVISION = "00000000"

_PART = r"[^\s,\]|]+"
_NUMBER = r"[0-9]{3}|[1-9][0-9]{3,8}"
_CHUNK_ID = re.compile(
    rf"(?P<doc>{_PART})\|r=(?P<rev>[0-9a-f]{{8}}|[0-9a-f]{{12}})\|s=(?P<sect>{_PART})"
    rf"\|p=(?P<page>{_NUMBER})\|b=(?P<block>{_NUMBER})"
)
_ALIAS = re.compile(rf"#s({_PART})#p([0-9]{{1,9}})-b([0-9]{{1,9}})")
_CLEAN_PART = re.compile(_PART)
_UNCLEAN = re.compile(r"[\s,\]|]+")
_REVISION = re.compile(r"[0-9a-f]{8}(?:[0-9a-f]{4})?")
#: No page or block of an id is larger.
LARGEST = 999_999_999
#: The largest page or block that three digits hold; ids with a larger one do not sort as text.
LARGEST_PADDED = 999
_NO_ID = re.compile(r"[\s,\]]|\A\Z")
_STEP = re.compile(r"[0-9]{1,9}")

#: Query parameters that pin a version of a page and therefore belong to its identity.
VERSION_PINS = frozenset({"v", "version", "rev", "revision", "ref", "tag", "commit", "sha", "oldid"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ChunkId:
    """The parts of a chunk id. `page` is 1-based, 0 where the document has no pages."""

    doc_uid: str
    rev: str
    sect_path: str
    page: int
    block: int

    @property
    def page_idx(self) -> int | None:
        """The 0-based page, None for `p=000`."""
        return self.page - 1 if self.page > 0 else None


class Alias(NamedTuple):
    """The content of the readable alias of a chunk id: the steps of the section, page and block.

    It names neither document nor revision, so chunks of several documents may have the same one.
    """

    steps: tuple[str, ...]
    page: int
    block: int

    def names(self, chunk_id: str) -> bool:
        """True if this is the alias of a chunk id."""
        parts = parse(chunk_id)
        return parts is not None and self == Alias(_steps(parts.sect_path), parts.page, parts.block)

    @property
    def pattern(self) -> str:
        """A regular expression of the end of the ids that have this alias, from `|s=` on."""
        steps = (f"0*{step}" if _STEP.fullmatch(step) else re.escape(step) for step in self.steps)
        return rf"\|s={'[.-]'.join(steps)}\|p={self.page:03d}\|b={self.block:03d}"


class Passage(NamedTuple):
    """A chunk for which an id is wanted and of whose document no text is at hand."""

    doc_id: str
    page_idx: int | None
    text: str
    section_id: str | None = None


def sha1_8(text: str) -> str:
    """The first eight hex digits of the sha1 of `text` in UTF-8; lone surrogates are replaced by `?`."""
    return hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:8]


@lru_cache(maxsize=1 << 14)
def parse(chunk_id: str) -> ChunkId | None:
    """The parts of `chunk_id`, or None where it does not follow the format."""
    match = _CHUNK_ID.fullmatch(chunk_id)
    if match is None:
        return None
    doc, rev, sect, page, block = match.groups()
    return ChunkId(doc, rev, sect, int(page), int(block))


def mint(parts: ChunkId) -> str:
    """The canonical id of `parts`, which `parse` takes apart again. ValueError where a part is not clean."""
    for name, value in (("doc_uid", parts.doc_uid), ("sect_path", parts.sect_path)):
        if not _CLEAN_PART.fullmatch(value):
            raise ValueError(f"{name} {value!r} is empty or holds white space, a comma, ']' or '|'")
    if not _REVISION.fullmatch(parts.rev):
        raise ValueError(f"rev {parts.rev!r} is not 8 or 12 lower-case hex digits")
    if not (0 <= parts.page <= LARGEST and 0 <= parts.block <= LARGEST):
        raise ValueError(f"page {parts.page} or block {parts.block} is out of range")
    return f"{parts.doc_uid}|r={parts.rev}|s={parts.sect_path}|p={parts.page:03d}|b={parts.block:03d}"


def alias_of(chunk_id: str) -> str:
    """The readable alias of an id, such as `#s02-04-01#p002-b007`; "" for an id of another format."""
    parts = parse(chunk_id)
    if parts is None:
        return ""
    steps = (step.zfill(2) if _STEP.fullmatch(step) else step for step in _steps(parts.sect_path))
    return f"#s{'-'.join(steps)}#p{parts.page:03d}-b{parts.block:03d}"


def parse_alias(text: str) -> Alias | None:
    """The content of an alias, leading zeros left out or not; None for any other text."""
    match = _ALIAS.fullmatch(text.strip())
    return Alias(_steps(match[1]), int(match[2]), int(match[3])) if match else None


def named_by(text: str, chunk_ids: Iterable[str]) -> list[str]:
    """The ids that an alias names, in reading order; several where documents share it, none for a text that
    is no alias."""
    alias = parse_alias(text)
    return sorted(filter(alias.names, chunk_ids), key=sort_key) if alias is not None else []


def _steps(path: str) -> tuple[str, ...]:
    """The steps of a section path, or of one in an alias, numbers without leading zeros."""
    return tuple(str(int(step)) if _STEP.fullmatch(step) else step for step in re.split("[.-]", path))


def is_citable(chunk_id: str) -> bool:
    """True if an id, of whatever format, can be written in `citations: [id, id]` and read again."""
    return _NO_ID.search(chunk_id) is None


def sort_key(chunk_id: str) -> tuple[bool, str, tuple[tuple[int, str], ...], int, int, str]:
    """Orders ids as they are read: document, section, page and block, numbers as numbers.

    Text alone would put `4.10` before `4.2` and page 1000 before page 999. Ids of another format come last,
    as text.
    """
    parts = parse(chunk_id)
    if parts is None:
        return True, "", (), 0, 0, chunk_id
    steps = parts.sect_path.split(".")
    path = tuple((int(step), "") if _STEP.fullmatch(step) else (LARGEST + 1, step) for step in steps)
    return False, parts.doc_uid, path, parts.page, parts.block, chunk_id


def clean_part(text: str) -> str:
    """Return `text` as a doc_uid or section path: unchanged if it is clean, else cleaned, with a hash.

    "annual report, 2018" becomes "annual_report_2018-" and eight hex digits, so that two different names
    never become one.
    """
    if _CLEAN_PART.fullmatch(text):
        return text
    stem = _UNCLEAN.sub("_", text).strip("_")
    return f"{stem}-{sha1_8(text)}" if stem else sha1_8(text)


def section_path(section_id: str | None, page: int) -> str:
    """The section's part of an id; without a section, the synthesized `p042` of its 1-based page."""
    return clean_part(section_id) if section_id else f"p{page:03d}"


def mint_passages(passages: Iterable[Passage]) -> dict[Passage, str]:
    """Ids for passages without their documents' text, the same whatever order they come in.

    The revision is `00000000` and the block number, from 1, is the order by sha1 of the text within document
    and page. Equal passages are one.
    """

    def order(passage: Passage) -> tuple[str, str, str]:
        digest = hashlib.sha1(passage.text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        return digest, passage.section_id or "", passage.doc_id

    pages: dict[tuple[str, int], set[Passage]] = defaultdict(set)
    for passage in passages:
        page = 0 if passage.page_idx is None else passage.page_idx + 1
        pages[clean_part(passage.doc_id), page].add(passage)
    minted: dict[Passage, str] = {}
    for (doc_uid, page), found in pages.items():
        for block, passage in enumerate(sorted(found, key=order), start=1):
            path = section_path(passage.section_id, page)
            minted[passage] = mint(ChunkId(doc_uid, UNKNOWN_REVISION, path, page, block))
    return minted


def canonical_url(url: str) -> str:
    """The one spelling of a source's address, from which `doc_uid_of_url` is made.

    Scheme and host in lower case, `http` read as `https`, no default port, user, fragment or query, except
    for the parameters in `VERSION_PINS`, which are sorted. ValueError where `url` is no address.
    """
    parts = urlsplit(url.strip())
    scheme = parts.scheme.lower()
    host = (parts.hostname or "").rstrip(".")
    if ":" in host:
        host = f"[{host}]"
    if parts.port is not None and parts.port != _DEFAULT_PORTS.get(scheme):
        host = f"{host}:{parts.port}"
    pins = sorted((key, value) for key, value in parse_qsl(parts.query) if key.lower() in VERSION_PINS)
    return urlunsplit(("https" if scheme == "http" else scheme, host, parts.path or "/", urlencode(pins), ""))


def doc_uid_of_url(url: str) -> str:
    """The doc_uid of a source that is known by its address alone."""
    return sha1_8(canonical_url(url))
