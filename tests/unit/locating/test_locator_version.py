"""Located spans that change need another `LOCATOR_VERSION`, or boxes of older code would be shown."""

from __future__ import annotations

import hashlib
import json

from proofspan.version import LOCATOR_VERSION
from tests.span_cases import GOLDENS

#: The digest of the golden spans by locator version, the current one last.
RECORDED = GOLDENS.parent / "locator_versions.json"


def digest_of_goldens() -> str:
    """Return the sha256 of all golden spans by name; their pictures follow from them."""
    digest = hashlib.sha256()
    for path in sorted(GOLDENS.glob("*.json")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def test_changed_spans_have_another_version() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    assert recorded[str(LOCATOR_VERSION)] == digest_of_goldens(), (
        "located spans changed: raise LOCATOR_VERSION in proofspan/version.py and record its digest"
    )
    assert max(map(int, recorded)) == LOCATOR_VERSION
    assert len(set(recorded.values())) == len(recorded)
