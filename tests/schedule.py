"""In which order the worker processes of a whole run take the files of tests."""

from __future__ import annotations

from xdist.scheduler.loadfile import LoadFileScheduling
from xdist.workermanage import WorkerController


class FromBothEnds(LoadFileScheduling):
    """The first worker takes the files from the first on, all others from the last on.

    So one worker has the browser tests, which come first: it starts one Chromium, and each dashboard once for
    all files, and what waits for a page is run beside what computes. Where they meet the files are short, so
    that none is left to run alone.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node.gateway.id != "gw0":
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)
