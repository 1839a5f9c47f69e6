"""What every worker process does besides its work."""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process


def end_with_parent() -> None:
    """Ends this process when its parent is gone: one that was killed tells its workers nothing.

    They would wait for work for ever.
    """
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)
