"""Parts of an API's response: its values with the types that they should have, and places in its answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Json

Record = dict[str, Json]

_SNAKE = re.compile(r"_([a-z0-9])")
_CAMEL = re.compile(r"(?<=[a-z0-9])[A-Z]")
#: The end of a sentence, or of a line, before a marker.
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|\n+")


def mapping(value: Json) -> Mapping[str, Json]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def entries(value: Json) -> list[dict[str, Json]]:
    """Return the objects of a list; an empty list for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def words(value: Json) -> str | None:
    """Return a text that is not empty; None for anything else."""
    return value if isinstance(value, str) and value else None


def whole(value: Json) -> int | None:
    """Return a whole number, also one written as text or as 3.0; None for anything else."""
    if value is None:  # mostly
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return None if isinstance(value, bool) else index_of(value)


def digest_of(text: str) -> str:
    """Return a hash of a text in 40 hexadecimal digits."""
    return hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def camel(value: Json) -> Json:
    """Return a value as the API writes it: keys in camel case, `startIndex`, and without null."""
    if isinstance(value, dict):
        return {
            _camel_name(name) if "_" in name else name: camel(each)
            if isinstance(each, (dict, list))
            else each
            for name, each in value.items()
            if each is not None
        }
    return [camel(each) for each in value] if isinstance(value, list) else value


@lru_cache(4_096)
def _camel_name(name: str) -> str:
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def is_camel(name: str) -> bool:
    """Return whether a key is in camel case."""
    return _CAMEL.search(name) is not None


def snake(value: Json) -> Json:
    """Return a value with its keys in snake case, as SDKs for JavaScript write `startPageNumber`."""
    if isinstance(value, dict):
        return {
            _snake_name(name): snake(each) if isinstance(each, (dict, list)) else each
            for name, each in value.items()
        }
    return [snake(each) for each in value] if isinstance(value, list) else value


@lru_cache(4_096)
def _snake_name(name: str) -> str:
    return _CAMEL.sub(lambda found: f"_{found[0].lower()}", name)


def span_of(answer: str, start: int | None, end: int | None, text: str | None) -> tuple[int, int] | None:
    """Return the characters of an answer that an API means, half open; None if they are not in it.

    `text` decides where it is given: some services count the last character in, and some count something else
    than characters. The occurrence nearest to `start` counts.
    """
    if text:
        at = start if start is not None and start >= 0 else 0
        if answer.startswith(text, at):
            return at, at + len(text)
        places = [found.start() for found in re.finditer(re.escape(text), answer)]
        if not places:
            return None
        nearest = min(places, key=lambda each: (abs(each - at), each))
        return nearest, nearest + len(text)
    if start is None or end is None or not 0 <= start < end <= len(answer):
        return None
    return start, end


def sentence_before(answer: str, begin: int, end: int) -> tuple[int, int] | None:
    """Return the characters of the sentence that ends at `end`, not beginning before `begin`.

    Space at both ends, and the end of the sentence before, are left out; None if nothing is left.
    """
    text = answer[begin:end]
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if text[found.end() :].strip()]
    text = text[ends[-1] if ends else 0 :]
    first = end - len(text.lstrip(" \n.,;:"))
    last = first + len(answer[first:end].rstrip())
    return (first, last) if first < last else None


def marked(answer: str, marker: re.Pattern[str]) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Yield what each marker of an answer names, with the characters of the sentence before it.

    The first group of `marker` is the name; several are separated by commas. Markers in a row share a
    sentence. A sentence begins after the end of the one before, or after the marker before.
    """
    begin, span = 0, None
    for found in marker.finditer(answer):
        if begin == 0 or answer[begin : found.start()].strip(" ,;"):
            span = sentence_before(answer, begin, found.start())
        begin = found.end()
        for name in found[1].split(","):
            yield name.strip(), span


def text_blocks(value: Json) -> str:
    """Return the texts of a list of `{text}` in a row."""
    return "".join(words(each.get("text")) or "" for each in entries(value))
