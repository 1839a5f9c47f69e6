"""The identity of a trace: `(run_id, q_id, paraphrase, seed)`, and a number for what comes again."""

from __future__ import annotations

from core.contracts.records import Trace, TraceKey


class Repeats:
    """Numbers the traces of a run that share an identity: the first is 1, the second 2, in file order."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, int, int], int] = {}

    def key_of(self, trace: Trace) -> TraceKey:
        """The trace's key; a repeat above 1 calls for the suspicion `duplicate_question`."""
        identity = (trace.run_id, trace.q_id, trace.paraphrase, trace.seed)
        repeat = self._seen.get(identity, 0) + 1
        self._seen[identity] = repeat
        return TraceKey(*identity, repeat=repeat)
