"""Find out where a retrieval-augmented answer went wrong, and what its source page says.

`open_workspace` opens a folder with a `pipeline_manifest.yaml`; `triage` labels the questions of bare trace
and chunk files; `locate` finds a quote on the page of a PDF or in the lines of a text; `validate` checks
records against the citation contract; `adapters` turns other libraries' objects into our records.
Input that cannot be used raises `Fault`, whose `problems` name what, where and the fix.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - pip refuses, but a copied folder would fail with a syntax error
    raise ImportError(
        "Proofspan needs Python 3.11 or later; this is Python %d.%d" % sys.version_info[:2]  # noqa: UP031
    )

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proofspan import adapters as adapters
    from proofspan.api import TriageReport, Workspace, locate, open_workspace, triage, validate
    from proofspan.contracts.rules.citations import validate_citations
    from proofspan.errors import Fault
    from proofspan.version import __version__

#: Public name → its module, imported on first use so that `import proofspan` is quick.
_HOMES = {
    "Fault": "proofspan.errors",
    "TriageReport": "proofspan.api",
    "Workspace": "proofspan.api",
    "__version__": "proofspan.version",
    "locate": "proofspan.api",
    "open_workspace": "proofspan.api",
    "triage": "proofspan.api",
    "validate": "proofspan.api",
    "validate_citations": "proofspan.contracts.rules.citations",
}

__all__ = [
    "Fault",
    "TriageReport",
    "Workspace",
    "__version__",
    "adapters",
    "locate",
    "open_workspace",
    "triage",
    "validate",
    "validate_citations",
]


def __getattr__(name: str) -> object:
    if name == "adapters":
        return import_module("proofspan.adapters")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'proofspan' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
