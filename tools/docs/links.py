"""Let links from docs/ to other files of the repository work in the built site too."""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\]\(\.\./")


def on_page_markdown(markdown: str, *, config: Any, **_: object) -> str:
    """Return the page with `](../FILE)` as an address in the repository. All pages lie directly in docs/."""
    return _OUTSIDE.sub(f"]({config.extra['repository']}/", markdown)
