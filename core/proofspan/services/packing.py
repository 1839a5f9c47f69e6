"""A run's metrics pack with the envelope of the contract: what is counted now, as text to be committed."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

from proofspan.contracts.versions import USUAL
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.packs import pack_text
from proofspan.services.measuring import dataset_of, run_metrics
from proofspan.services.workspace import chosen_run
from proofspan.store.queries import Store
from proofspan.traces.fields import text_of
from proofspan.traces.joined import needed_trace_file
from proofspan.traces.traces import read_trace_at

EVENT: Final = "metrics.pack"
AGENT: Final = "system"
_MEMORY: Final = ("mem_rev", "mem_hash")


def run_pack(store: Store, manifest: Manifest, run_id: str, *, cache_dir: Path) -> str:
    """The metrics pack of a run, as JSON; packed traces are unpacked below `cache_dir`.

    The same run gives the same text. InputFault where the manifest has no such run, or its traces are not
    what was indexed; StoreFault where it has no index.
    """
    run = chosen_run(manifest, run_id)
    numbers = run_metrics(store, manifest, run_id).numbers
    envelope = _envelope(store, manifest, run, cache_dir)
    return pack_text(numbers, dataset=dataset_of(manifest), envelope=envelope)


def _envelope(store: Store, manifest: Manifest, run: Run, cache_dir: Path) -> dict[str, str]:
    """What a pack says of its own making, all of it copied or derived.

    Its time is the run's, its state of memory that of the run's traces; it has none where the manifest gives
    no time, or the traces name no state or several.
    """
    name = f"urn:proofspan:metrics:{manifest.name}/{run.run_id}"
    found = {
        "schema_version": USUAL,
        "event": EVENT,
        "trace_id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
        "agent_id": AGENT,
    }
    if run.ts:
        found["ts"] = run.ts
    return found | _memory(store, manifest, run, cache_dir)


def _memory(store: Store, manifest: Manifest, run: Run, cache_dir: Path) -> dict[str, str]:
    line = store.line_of_one_memory(run.run_id)
    if line is None:
        return {}
    path, _ = needed_trace_file(manifest, run, cache_dir=cache_dir)
    raw = read_trace_at(path, line, run_id=run.run_id).raw
    said = ((name, text_of(raw.get(name))) for name in _MEMORY)
    return {name: value for name, value in said if value is not None}
