"""Records of another major version are not read: in them a field may mean something else."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.contracts.records import Json
from proofspan.contracts.versions import USUAL, refusal
from proofspan.traces.reader import UnusableError


def refuse_other_major(record_type: str, obj: Mapping[str, Json]) -> None:
    """UnusableError for a record whose `schema_version`, or that of its `$schema`, is another major one."""
    if obj.get("schema_version", USUAL) == USUAL and "$schema" not in obj:
        return  # nearly every trace: no call more than this in an index build
    why = refusal(record_type, obj)
    if why is not None:
        raise UnusableError(why.code, why.message, why.next_step)
