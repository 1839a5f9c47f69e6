"""Locate the files that ship with the program: schemas, example mappings, the demo and the dashboard."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: The checkout that this program runs from; None if it is installed from a wheel.
CHECKOUT = None if (PACKAGE / "data").is_dir() else PACKAGE.parents[1]

#: JSON Schemas, example mappings and the demo workspace.
DATA = (CHECKOUT or PACKAGE) / "data"
SCHEMAS = DATA / "schemas"
DEMO = DATA / "demo"
#: The folder of `app.py`, `pages/` and `.streamlit/`. Streamlit puts it on the import path.
DASHBOARD = CHECKOUT or PACKAGE / "dashboard"
APP = DASHBOARD / "app.py"

#: Spaces in a stylesheet beside a brace or a semicolon, and behind a comma or a colon; the last semicolon.
_NEEDLESS = re.compile(r" *;? *(?=\})|(?<=[{;},:]) +| +(?=\{)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@cache
def text_of(name: str) -> str:
    """Return the text of a file beside the code that uses it: `ui/viewer/viewer.html`.

    Stylesheets and scripts are sent with each page: without comments and spaces that mean nothing.
    """
    text = (PACKAGE / name).read_text(encoding="utf-8")
    if not name.endswith((".css", ".js")):
        return text
    lines = map(str.strip, _COMMENT.sub("", text).splitlines())
    sent = "\n".join(line for line in lines if line and not line.startswith("//"))
    return _NEEDLESS.sub("", sent) if name.endswith(".css") else sent
