"""Read a pinning record that is written in Markdown: lists, `**Key**: value`, tables of two columns, code.

Three forms of lines have a meaning of their own, as the sprint plan (docs/requirements.md) writes them:

    - Selected: `cross-encoder/ms-marco-MiniLM-L-6-v2` @ revision `c5ee24c`
    - Determinism gate: **PASS**, SHA256 stable across 2 runs (`6a2c50e3e37cb839`)
    - Libraries: `torch==2.10.0`, `transformers==5.2.0`

Every other line is a key and its value, whose key is one of `_KEYS`, alone or behind the heading above it.
What is not understood is kept as a line with its number; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from proofspan.contracts.pinning.hashes import is_hash
from proofspan.contracts.pinning.requirements import NONE, is_stated
from proofspan.contracts.records.records import Json

#: How many digits and characters of a number and of a line are read.
_LONGEST: Final = 2_000


class UnreadLine(NamedTuple):
    """A line with text that says nothing to the reader; `line` counts from 1."""

    line: int
    text: str


class MarkdownRecord(NamedTuple):
    """The fields that were understood, and the lines that were not."""

    values: dict[str, Json]
    unread: tuple[UnreadLine, ...]


@dataclass
class _Reading:
    """The state of reading: where the values go, and under which headings."""

    values: dict[str, Any] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    role: str = ""


def read_markdown(text: str) -> MarkdownRecord:
    """Return the fields of a record in Markdown, and the lines with text that are not understood."""
    reading, unread = _Reading(), []
    for number, block in _blocks(text):
        if not _understood(reading, block):
            unread.append(UnreadLine(number, block.strip()[:_LONGEST]))
    values = reading.values
    model = values.get("model")
    if isinstance(model, dict):
        del values["model"]
        role = reading.role or _role_of(text)
        if role:
            values[role] = model | values.get(role, {})
        else:
            unread.append(UnreadLine(0, f"the model {model.get('model', '')!r}: nothing says what it is for"))
    return MarkdownRecord(values, tuple(unread))


_FENCE = re.compile(r"\s*(?:```|~~~)")
#: The characters of lines that only separate: rules, the line below a table's head.
_SEPARATING = " \t|:-*_=+"
_HEADING = re.compile(r"\s*#{1,6}\s+(?P<title>.*?)\s*#*\s*")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)\*|\*(?!\w)")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_PAIR = re.compile(r"(?P<key>[^:=|]{1,80}?)\s*(?::|=)\s*(?P<value>\S.*)", re.DOTALL)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with text and its number; a fenced block as one, with its fences."""
    fenced: list[str] = []
    begin = 0
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if fenced:
            fenced.append(line)
            if _FENCE.match(line):
                yield begin, "\n".join(fenced)
                fenced = []
        elif _FENCE.match(line):
            fenced, begin = [line], number
        elif line.strip(_SEPARATING) and not line.lstrip().startswith("<!--"):
            yield number, line
    if fenced:
        yield begin, "\n".join(fenced)


def _understood(reading: _Reading, block: str) -> bool:
    """Add what a line or fenced block says, and return whether it says anything."""
    if _FENCE.match(block):
        return _fenced(reading, block)
    plain = _EMPHASIS.sub("", block[:_LONGEST])
    if (heading := _HEADING.fullmatch(plain)) is not None or block.strip() == f"**{plain.strip()}**":
        title = heading["title"] if heading else plain.strip()
        reading.headings = (_key(title),)
        reading.role = reading.role or _role_of(title)
        return True
    plain = _BULLET.sub("", plain, count=1).strip()
    if plain.startswith("|"):
        cells = [cell.strip() for cell in plain.strip("|").split("|")]
        if len(cells) == 2 and _key(cells[0]) in _HEADS:
            return True
        return len(cells) == 2 and _add(reading, cells[0], cells[1])
    pair = _PAIR.fullmatch(plain)
    if pair is not None and _add(reading, pair["key"], pair["value"]):
        return True
    return bool(reading.headings) and _add_part(reading, reading.headings[0], plain)


#: The names of a table's columns.
_HEADS: Final = frozenset({"key", "field", "item", "name", "setting", "parameter", "what", "property"})


def _fenced(reading: _Reading, block: str) -> bool:
    """Read a block of code: a JSON object is part of the record, lines below a known heading are values."""
    _, *lines = block.splitlines()
    if lines and _FENCE.match(lines[-1]):
        lines.pop()
    try:
        value = orjson.loads("\n".join(lines))
    except orjson.JSONDecodeError:
        value = None
    if isinstance(value, dict):
        _merge(reading.values, value)
        return True
    heading = reading.headings[0] if reading.headings else "commands"
    kept = (line.strip()[:_LONGEST] for line in lines)
    read = [_add_part(reading, heading, line) for line in kept if line and not line.startswith("#")]
    return bool(read) and all(read)


def _add(reading: _Reading, key: str, value: str) -> bool:
    """Add the value of a key, alone or behind the heading above it; false if neither is known."""
    name, value = _key(key), value.strip()
    if not name or not value:
        return False
    if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", key.strip().strip("`")):  # OMP_NUM_THREADS
        _set(reading.values, "runtime.environment", {key.strip().strip("`"): _plain(value)})
        return True
    names = [f"{heading} {name}" for heading in reading.headings] + [name]
    path = next((_KEYS[each] for each in names if each in _KEYS), None)
    reader = next((_READERS[each] for each in names if each in _READERS), None)
    if reader is not None:
        return reader(reading.values, value)
    if path is None:
        return False
    if path.startswith("model."):
        reading.role = reading.role or _role_of(name)
    parsed = _value(path, value)
    if not is_stated(parsed):
        return False
    _set(reading.values, path, parsed)
    return True


def _add_part(reading: _Reading, heading: str, line: str) -> bool:
    """Add a line below a heading that is itself a key: a library, a command, a variable."""
    pair = _PAIR.fullmatch(line.strip("`"))
    if heading in _READERS:
        return _READERS[heading](reading.values, line)
    path = _KEYS.get(heading)
    if path == "commands" or (path == "runtime.environment" and pair is not None):
        _set(reading.values, path, _value(path, line))
        return True
    return False


def _role_of(text: str) -> str:
    """Return what a model is for by the words around it; "" if they do not say, or say several things."""
    found = [role for role, words in _ROLES.items() if words.search(text)]
    return found[0] if len(found) == 1 else ""


_ROLES: Final[Mapping[str, re.Pattern[str]]] = {
    "reranker": re.compile(r"cross[- ]?encoder|re-?rank", re.IGNORECASE),
    "embedding": re.compile(r"embed|bi-?encoder|dense", re.IGNORECASE),
}

# Values


def _selected(values: dict[str, Any], text: str) -> bool:
    """`NAME @ revision REV`, `NAME@REV`, `NAME (rev REV)`, or a name alone."""
    match = _SELECTED.fullmatch(text.strip())
    if match is None:
        return False
    _set(values, "model.model", match["name"])
    if match["revision"]:
        _set(values, "model.revision", match["revision"])
    return True


_SELECTED = re.compile(
    r"`?(?P<name>[\w./:+-]+)`?"
    r"(?:\s*[@(,]\s*(?:rev(?:ision)?\.?|commit)?\s*[:=]?\s*`?(?P<revision>[\w.…-]+)`?\)?)?\.?",
    re.IGNORECASE,
)


def _determinism(values: dict[str, Any], text: str) -> bool:
    """`PASS, SHA256 stable across 2 runs (HASH)`, or the hashes of all runs."""
    hashes = [
        each for each in re.findall(r"[0-9a-fA-F][0-9a-fA-F…]{6,}", text.replace("...", "…")) if is_hash(each)
    ]
    runs = re.search(r"(\d{1,2})\s+runs", text)
    count = int(runs[1]) if runs else 2
    if not hashes or (
        len(hashes) == 1 and not re.search(r"\b(pass|stable|same|identical|equal)", text, re.I)
    ):
        return False
    _set(values, "determinism.sha256", hashes if len(hashes) > 1 else hashes * max(count, 2))
    return True


def _libraries(values: dict[str, Any], text: str) -> bool:
    """`torch==2.10.0`, `faiss-cpu 1.8.0`, separated by commas."""
    found = _LIBRARY.findall(_EMPHASIS.sub("", text))
    if found:
        _set(values, "libraries", {name: version.rstrip(".") for name, version in found})
    return bool(found)


_LIBRARY = re.compile(r"([A-Za-z][\w.-]*)`?\s*(?:==|=|:|@|\s)\s*`?v?(\d[\w.+-]*)")


def _tokenizer(values: dict[str, Any], text: str) -> bool:
    """A hash, a name, or both: `tokenizer.json (sha256 d241a60d)`; or none."""
    plain = _plain(text)
    if plain.lower() in (NONE, "n/a"):
        _set(values, "model.tokenizer", NONE)
        return True
    hashes = [
        each
        for each in re.findall(r"[0-9a-fA-F][0-9a-fA-F…]{6,}", plain.replace("...", "…"))
        if is_hash(each)
    ]
    name = re.match(r"`?([\w./-]+\w)", plain)
    if hashes:
        _set(values, "model.tokenizer.sha256", hashes[-1])
    if name is not None and name[1] not in hashes and not name[1].lower().startswith("sha256"):
        _set(values, "model.tokenizer.name", name[1])
    return bool(hashes) or name is not None


_READERS: Final[Mapping[str, Callable[[dict[str, Any], str], bool]]] = {
    **dict.fromkeys(
        ("selected", "selected model", "model", "model name", "cross-encoder", "reranker"), _selected
    ),
    **dict.fromkeys(
        ("determinism", "determinism gate", "determinism smoke test", "smoke test", "determinism sha256"),
        _determinism,
    ),
    **dict.fromkeys(("libraries", "library versions", "packages", "dependencies", "software"), _libraries),
    **dict.fromkeys(("tokenizer", "model tokenizer"), _tokenizer),
}
#: Keys in small letters → the field of the record. `model` is the record's only model, whatever it is for.
_KEYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("run", "run id"), "run_id"),
    **dict.fromkeys(("date", "time", "ts", "created"), "ts"),
    **dict.fromkeys(("revision", "model revision", "commit", "rev", "snapshot"), "model.revision"),
    **dict.fromkeys(
        ("weights", "weights source", "source of the weights", "weights from"), "model.weights.source"
    ),
    **dict.fromkeys(("weights sha256", "weights hash", "model sha256", "model hash"), "model.weights.sha256"),
    **dict.fromkeys(("tokenizer sha256", "tokenizer hash", "tokenizer revision"), "model.tokenizer.sha256"),
    **dict.fromkeys(
        ("truncation", "truncation rule", "max length", "tokenizer truncation"), "model.truncation"
    ),
    **dict.fromkeys(("tokenizer name", "tokenizer file"), "model.tokenizer.name"),
    **dict.fromkeys(("pooling",), "model.pooling"),
    **dict.fromkeys(("embedding model", "embed model", "embedding"), "embedding.model"),
    **dict.fromkeys(("embedding model revision", "embedding revision"), "embedding.revision"),
    **dict.fromkeys(("command", "commands"), "commands"),
    **dict.fromkeys(("index hash", "index"), "index.index_hash"),
    **dict.fromkeys(("analyzer",), "index.analyzer"),
    **dict.fromkeys(("faiss", "faiss build", "faiss version"), "faiss.build"),
    **dict.fromkeys(("index type", "faiss index", "faiss index type", "dense index"), "faiss.index_type"),
    **dict.fromkeys(("exact", "exact search", "faiss exact"), "faiss.exact"),
    **dict.fromkeys(("fusion", "fusion method"), "fusion.method"),
    **dict.fromkeys(("k", "rrf k", "fusion k"), "fusion.k"),
    **dict.fromkeys(("top", "top n", "fusion top"), "fusion.top"),
    **dict.fromkeys(("depth", "fusion depth"), "fusion.depth"),
    **dict.fromkeys(("tie-break", "tie-breaks", "tiebreak", "ties", "tie-breaker", "tie break"), "tie_break"),
    **dict.fromkeys(("fusion tie-break", "fusion tie-breaker"), "fusion.tie_break"),
    **dict.fromkeys(("cpu", "processor", "runtime cpu"), "runtime.cpu"),
    **dict.fromkeys(("os", "operating system", "system", "runtime os"), "runtime.os"),
    **dict.fromkeys(("python", "python version", "runtime python"), "runtime.python"),
    **dict.fromkeys(("threads", "thread count", "runtime threads"), "runtime.threads"),
    **dict.fromkeys(
        ("environment", "env", "thread env", "thread env settings", "thread settings"), "runtime.environment"
    ),
    **dict.fromkeys(("blas", "runtime blas"), "runtime.blas"),
}


def _value(path: str, text: str) -> Json:
    """Return a value of the type that its field has."""
    plain = _plain(text)
    if path in ("fusion.k", "fusion.top", "fusion.depth", "runtime.threads"):
        number = re.match(r"\d{1,9}\b(?!\.\d)", plain)
        return int(number[0]) if number else None
    if path == "faiss.exact":
        return {"yes": True, "true": True, "no": False, "false": False}.get(plain.lower())
    if path == "runtime.environment":
        return dict(re.findall(r"([A-Z][A-Z0-9_]+)\s*[=:]\s*`?([^\s,;`]+)", plain))
    if path == "commands":
        return [plain.removeprefix("$ ")]
    return plain


def _plain(text: str) -> str:
    """Return a value without the marks of code around the whole of it."""
    plain = text.strip()
    inner = plain[1:-1]
    return inner if len(plain) > 1 and plain[0] == plain[-1] == "`" and "`" not in inner else plain


def _key(text: str) -> str:
    """Return a key as `_KEYS` has it: small letters, single blanks, no marks or numbers of a heading."""
    plain = re.sub(r"[`*#:]|\([^)]*\)", " ", text.lower().replace("_", " "))
    return " ".join(re.sub(r"^[\d.)\s]+", "", plain).replace("‑", "-").split())


def _set(values: dict[str, Any], path: str, value: Json) -> None:
    """Put a value at a path; lists and objects there are added to."""
    *parents, name = path.split(".")
    for parent in parents:
        inner = values.get(parent)
        if not isinstance(inner, dict):
            inner = values[parent] = {}
        values = inner
    _merge(values, {name: value})


def _merge(values: dict[str, Any], more: Mapping[str, Json]) -> None:
    for name, value in more.items():
        known = values.get(name)
        if isinstance(known, dict) and isinstance(value, Mapping):
            _merge(known, value)
        elif isinstance(known, list) and isinstance(value, list) and name == "commands":
            known.extend(value)
        else:
            values[name] = value
