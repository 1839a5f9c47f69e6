"""Locate the files that ship with the program: schemas, example mappings, the demo and the dashboard."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
_IS_INSTALLED = (PACKAGE / "data").is_dir()
_CHECKOUT = PACKAGE.parents[1]

#: JSON Schemas, example mappings and the demo workspace: inside a wheel's package, at the top of a checkout.
DATA = (PACKAGE if _IS_INSTALLED else _CHECKOUT) / "data"
SCHEMAS = DATA / "schemas"
DEMO = DATA / "demo"
#: The folder of `app.py`, `pages/` and `.streamlit/`. Streamlit puts it on the import path.
DASHBOARD = PACKAGE / "dashboard" if _IS_INSTALLED else _CHECKOUT
APP = DASHBOARD / "app.py"
