"""The headers, and that they reach every kind of response."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import streamlit
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from proofspan.ui.app import security
from tests.unit.ui.asgi_calls import scope_of, sent_by

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


def directives() -> dict[str, list[str]]:
    policy = security.response_headers()["Content-Security-Policy"]
    return {name: sources for name, *sources in (part.split() for part in policy.split("; "))}


def test_the_hash_is_that_of_streamlits_own_inline_script() -> None:
    html = INDEX.read_text(encoding="utf-8")
    start = html.index("<script>") + len("<script>")
    digest = hashlib.sha256(html[start : html.index("</script>", start)].encode()).digest()
    own = f"'sha256-{base64.b64encode(digest).decode()}'"
    assert security.inline_script_hashes(html) == (own,)
    assert own in directives()["script-src"]


def test_hashes_cover_inline_scripts_alone_and_character_for_character() -> None:
    html = "<script src='a.js'></script><script>\n  x = '<b>' && 1 </script><p>x</p><script></script>"
    expected = [hashlib.sha256(text).digest() for text in (b"\n  x = '<b>' && 1 ", b"")]
    assert [base64.b64decode(source[8:-1]) for source in security.inline_script_hashes(html)] == expected


def test_no_source_is_open() -> None:
    loose = {"*", "http:", "https:", "'unsafe-eval'", "data:"}
    rules = directives()
    assert "'unsafe-inline'" not in rules["script-src"]
    assert not loose & set(rules["script-src"])
    assert rules["default-src"] == rules["connect-src"] == ["'self'"]
    for name in ("frame-src", "object-src", "base-uri", "form-action", "frame-ancestors"):
        assert rules[name] == ["'none'"]
    for sources in rules.values():
        assert not {"*", "http:", "https:"} & set(sources)


def test_good_answers_missing_pages_and_failures_all_carry_the_headers() -> None:
    def weaker(_: Request) -> Response:
        return PlainTextResponse("x", headers={"Content-Security-Policy": "default-src *"})

    app = Starlette(routes=[Route("/weaker", weaker)], middleware=security.middleware())
    for path, status in (("/weaker", 200), ("/nothing", 404)):
        answer, *_ = sent_by(app, scope_of(path=path))
        assert answer["status"] == status
        headers = Headers(raw=answer["headers"])
        for name, value in security.response_headers().items():
            assert headers.getlist(name) == [value]
