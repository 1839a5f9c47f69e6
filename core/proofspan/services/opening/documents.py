"""Find the PDFs that a source's names mean, among those that were named and those that lie beside it."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from proofspan.errors import Fault
from proofspan.evidence.pdf.files import head_of
from proofspan.fingerprints import sha256_of
from proofspan.manifest import trust

SUFFIX = ".pdf"
#: How many folders deep PDFs are looked for beside a source, and how many files are looked at in a folder.
BESIDE_DEPTH, MOST_FILES = 2, 50_000

#: Asks whether links may be followed: the folder that holds them, where they lead, and how many.
Confirm = Callable[[Path, Path, int], bool]


class Pdf(NamedTuple):
    """A PDF that may be taken: its path in `folder`, its file with links resolved, and who named it.

    `is_named` is False for what merely lies beside a source.
    """

    path: Path
    file: Path
    folder: Path
    is_named: bool

    @property
    def leads_outside(self) -> bool:
        """Return whether the path is a link to a file outside its folder."""
        return not self.file.is_relative_to(self.folder.resolve())


@dataclass(slots=True)
class Found:
    """The files of documents by the names that a source uses, and why others are not there.

    `ambiguous` names documents that several different files could be, `refused` those behind links that were
    not confirmed, with the folder that they lead to.
    """

    files: dict[str, Path] = field(default_factory=dict)
    ambiguous: list[str] = field(default_factory=list)
    refused: dict[str, Path] = field(default_factory=dict)


def pdfs_in(folder: Path, *, depth: int, is_named: bool) -> Iterator[Pdf]:
    """Yield the PDFs of a folder and `depth` folders below it, in order.

    Links to folders are not followed.
    """
    seen, top = 0, len(folder.parts)
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        if len(Path(parent).parts) - top >= depth:
            folders.clear()
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                return
            if name.lower().endswith(SUFFIX) and (pdf := _pdf(Path(parent) / name, folder, is_named)):
                yield pdf


def named_pdf(path: Path) -> Pdf:
    """Return a PDF that was named itself, wherever a link leads. Raises EvidenceFault for another file."""
    file = path.resolve()
    head_of(str(file))
    return Pdf(path, file, file.parent, is_named=True)


def _pdf(path: Path, folder: Path, is_named: bool) -> Pdf | None:
    try:
        file = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link that leads nowhere, or round in a circle
        return None
    return Pdf(path, file, folder, is_named) if file.is_file() else None


def find(names: Collection[str], pdfs: Sequence[Pdf], *, confirm: Confirm) -> Found:
    """Return the file of each name of a document: a title, a file's name, a path or a URI.

    The last step of the name is compared with the names of the files: as it is, then without `.pdf`, then
    without case; of several the one in the same folders, or any if they are equal. A single name that no file
    has means the single PDF that was named. Names are only compared, never used as paths. Only a file that
    begins as a PDF is taken.
    """
    by_name: dict[str, list[Pdf]] = defaultdict(list)
    for pdf in dict.fromkeys(pdfs):
        for key in _keys(pdf.path.name):
            if pdf not in by_name[key]:
                by_name[key].append(pdf)
    found, chosen = Found(), dict[str, Pdf]()
    for name in names:
        choice = next((there for key in _keys(_last_step(name)) if (there := by_name.get(key))), [])
        closest = _closest(name, choice)
        if closest is not None:
            chosen[name] = closest
        elif choice:
            found.ambiguous.append(name)
    named = list({pdf.file: pdf for pdf in pdfs if pdf.is_named}.values())
    if len(names) == 1 and len(named) == 1 and not chosen:
        chosen = dict.fromkeys(names, named[0])
    _confirm(chosen, found, confirm)
    return found


def _confirm(chosen: Mapping[str, Pdf], found: Found, confirm: Confirm) -> None:
    """Take the chosen PDFs; ask once for each folder with links that lead out of it."""
    links: dict[Path, dict[str, Pdf]] = defaultdict(dict)
    for name, pdf in chosen.items():
        if not _is_pdf(pdf.file):
            continue
        if pdf.leads_outside:
            links[pdf.folder][name] = pdf
        else:
            found.files[name] = pdf.file
    for folder, linked in links.items():
        target = Path(os.path.commonpath([pdf.file.parent for pdf in linked.values()]))
        if trust.is_trusted(folder, target) or confirm(folder, target, len(linked)):
            found.files |= {name: pdf.file for name, pdf in linked.items()}
        else:
            found.refused |= dict.fromkeys(linked, target)


def _is_pdf(file: Path) -> bool:
    try:
        head_of(str(file))
    except Fault:
        return False
    return True


def _last_step(name: str) -> str:
    """Return the last step of a path or a URI, without its query, and with escapes decoded."""
    plain = name.split("?", 1)[0].split("#", 1)[0] if "://" in name else name
    return unquote(plain).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _keys(name: str) -> tuple[str, ...]:
    """Return what a file's name is found by, the closest first."""
    composed = unicodedata.normalize("NFC", name).strip()
    stem = composed[: -len(SUFFIX)] if composed.lower().endswith(SUFFIX) else composed
    return tuple(
        dict.fromkeys(f"{kind}:{text}" for kind, text in (("=", stem), ("~", stem.casefold())) if stem)
    )


def _closest(name: str, choice: Sequence[Pdf]) -> Pdf | None:
    """Return the PDF with the most last steps in common with a name; None if several different ones have."""
    if len(choice) < 2:
        return choice[0] if choice else None
    steps = unquote(name).replace("\\", "/").casefold().split("/")[-2::-1]

    def shared(pdf: Pdf) -> int:
        folders = [part.casefold() for part in pdf.path.parts[-2::-1]]
        pairs = zip(steps, folders, strict=False)
        return next(
            (count for count, (one, other) in enumerate(pairs) if one != other), min(len(steps), len(folders))
        )

    most = max((pdf.is_named, shared(pdf)) for pdf in choice)
    best = [pdf for pdf in choice if (pdf.is_named, shared(pdf)) == most]
    if len({pdf.file for pdf in best}) > 1 and len({sha256_of(pdf.file) for pdf in best}) > 1:
        return None
    return best[0]
