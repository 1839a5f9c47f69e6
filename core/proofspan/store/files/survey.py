"""The words of a chunk file with their rarity, kept in the cache: a page has them without reading all chunks.

One file for each state of a chunk file. The folder may be deleted at any time, and a damaged file counts as
missing.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import orjson

from proofspan.diagnosis.corpus import Survey
from proofspan.diagnosis.labelling import RULES_VERSION
from proofspan.fingerprints import Fingerprint
from proofspan.store.files.cache_dir import turn, writing_to
from proofspan.store.files.run_file import new_file

SURVEYS_FOLDER = "words"
#: How many bytes of surveys are kept, those used last.
MOST_BYTES = 64 << 20


def survey_file(chunks: Fingerprint | None, cache_dir: Path, *, is_fixed: bool = False) -> Path | None:
    """Return the file, which need not exist, of the survey of a chunk file in this state; None for None.

    `is_fixed`: the chunk file is read repaired.
    """
    if chunks is None:
        return None
    digest = hashlib.sha256(repr((RULES_VERSION, chunks, is_fixed)).encode()).hexdigest()
    return cache_dir / SURVEYS_FOLDER / f"{digest[:32]}.json"


def read_survey(path: Path | None) -> Survey | None:
    """Return the survey in a file of `survey_file`; None where it is missing or damaged."""
    if path is None:
        return None
    try:
        digest, body = path.read_bytes().split(b"\n", 1)
        if _digest(body) != digest:
            return None
        with suppress(OSError):
            os.utime(path)  # those that are not used make room first
        return Survey(**orjson.loads(body))
    except (OSError, ValueError, TypeError):
        return None


def write_survey(path: Path | None, survey: Survey) -> None:
    """Write the survey into a file of `survey_file`. StoreFault where the cache cannot be written."""
    if path is None:
        return
    body, room = orjson.dumps(survey._asdict()), MOST_BYTES
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with turn(path.parent):
            with new_file(path.parent, path.name) as part:
                part.write_bytes(_digest(body) + b"\n" + body)
            files = [(each.stat(), each) for each in path.parent.iterdir() if each.name != "lock"]
            for status, each in sorted(files, key=lambda file: -file[0].st_mtime_ns):
                room -= status.st_size
                if room < 0 and each != path:
                    each.unlink(missing_ok=True)


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).hexdigest().encode()
