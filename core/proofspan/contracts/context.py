"""What a record is held against besides itself: the run's pins, the revisions, the corpus, the whitelist."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Context:
    """None, or empty, where nothing is known: what cannot be compared is no finding.

    `index_hash`, `embed_model` and `analyzer` are those that the run pins (the live ones), `revs` the
    revision of each document by `doc_id`, `corpus` the ids of the chunk file. `allow_cross` True lets a
    segment cite any sections together; the sections in `cross_sections` may be cited beside any other.
    """

    index_hash: str | None = None
    embed_model: str | None = None
    analyzer: str | None = None
    revs: Mapping[str, str] = field(default_factory=dict)
    corpus: Container[str] | None = None
    allow_cross: bool = False
    cross_sections: frozenset[str] = frozenset()


#: Nothing is known.
NO_CONTEXT = Context()
