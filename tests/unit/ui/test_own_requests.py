"""Only requests for the dashboard's own address get through, and none from another site's page."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Message
from starlette.websockets import WebSocket
from streamlit import config, net_util
from streamlit.web.server.starlette.starlette_websocket import create_websocket_routes

from proofspan.ui.app import security
from proofspan.ui.app.security import is_own
from tests.unit.ui.asgi_calls import scope_of, sent_by

NO_NAMES: tuple[str, ...] = ()
PROXY = ("localhost", "127.0.0.1", "dash.example.com", "*.team.example", "[fd00::1]")
KINDS = ("http", "websocket")
ALLOWED_HOSTS = "server.allowedHosts"


def headers(host: str | None, *origins: str) -> list[tuple[bytes, bytes]]:
    named = [("host", host)] if host is not None else []
    return [
        (name.encode(), text.encode()) for name, text in (*named, *(("origin", each) for each in origins))
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("localhost:8501", 8501),
        ("127.0.0.1:8501", 8501),
        ("[::1]:8501", 8501),
        ("localhost", 80),
        ("[::1]", 80),
    ],
)
def test_this_machines_names_with_the_servers_port_are_its_own(kind: str, host: str, port: int) -> None:
    for origins in ([], [f"http://{host}"]):
        scope = scope_of(kind, server=("127.0.0.1", port), headers=headers(host, *origins))
        assert is_own(scope, NO_NAMES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [NO_NAMES, PROXY])
@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "localhost",
        "localhost:",
        "localhost:8502",
        "localhost:08501",
        "localhost:8501:8501",
        "localhost:None",
        "LOCALHOST:8501",
        "localhost.:8501",
        " localhost:8501",
        "localhost:8501\n",
        "user@localhost:8501",
        "localhost:8501/",
        "localhost:8501,localhost:8501",
        "127.0.0.2:8501",
        "127.1:8501",
        "2130706433:8501",
        "0.0.0.0:8501",
        "::1:8501",
        "[::1]",
        "[0:0:0:0:0:0:0:1]:8501",
        "[::ffff:127.0.0.1]:8501",
        "[::1%lo]:8501",
        "localhost.attacker.example:8501",
        "attacker.example",
        "attacker.example:8501",
        "dash.example.com.attacker.example",
        "team.example",
        "xteam.example",
        "DASH.example.com",
        "dash.example.com.",
        "user@dash.example.com",
        "dash.example.com:",
        "dash.example.com:0",
        "dash.example.com:x",
        "http://dash.example.com",
    ],
)
def test_no_other_host_is(kind: str, names: tuple[str, ...], host: str | None) -> None:
    for origins in ([], [f"http://{host}"]):
        assert not is_own(scope_of(kind, headers=headers(host, *origins)), names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://localhost",
        "http://localhost:8502",
        "http://127.0.0.1:8501",
        "http://[::1]:8501",
        "https://localhost:8501",
        "ws://localhost:8501",
        "HTTP://localhost:8501",
        "http://LOCALHOST:8501",
        "http://localhost.:8501",
        "http://localhost:8501/",
        "http://localhost:8501/path",
        "http://user@localhost:8501",
        "http://localhost:8501@attacker.example",
        "http://localhost:8501 http://localhost:8501",
        " http://localhost:8501",
        "localhost:8501",
        "http://attacker.example",
        "file://",
    ],
)
def test_no_other_page_is(kind: str, origin: str) -> None:
    assert not is_own(scope_of(kind, headers=headers("localhost:8501", origin)), NO_NAMES)


@pytest.mark.parametrize("kind", KINDS)
def test_headers_that_are_there_twice_and_targets_elsewhere_are_refused(kind: str) -> None:
    own = headers("localhost:8501", "http://localhost:8501")
    for twice in own:
        assert not is_own(scope_of(kind, headers=[*own, twice]), ("*",))
        assert not is_own(scope_of(kind, headers=[*own, (twice[0].upper(), twice[1])]), ("*",))
    for path in ("http://attacker.example/", "http://localhost:8501/", "*", ""):
        assert not is_own(scope_of(kind, path, headers=own), ("*",))


def test_a_page_has_come_by_https_where_the_request_has() -> None:
    for kind, scheme in (("http", "https"), ("websocket", "wss")):
        for host, port in (("localhost:8501", 8501), ("localhost", 443)):
            asked = scope_of(kind, scheme=scheme, server=("127.0.0.1", port))
            assert is_own(asked | {"headers": headers(host, f"https://{host}")}, NO_NAMES)
            assert not is_own(asked | {"headers": headers(host, f"http://{host}")}, NO_NAMES)


@pytest.mark.parametrize(
    "host",
    ["dash.example.com", "dash.example.com:8443", "a.team.example", "a.b.team.example:1", "[fd00::1]:443"],
)
def test_a_proxys_name_is_own_with_any_port_and_its_own_page_alone(host: str) -> None:
    for scheme, page in (("ws", "http"), ("wss", "https")):
        asked = scope_of("websocket", scheme=scheme)
        assert is_own(asked | {"headers": headers(host)}, PROXY)
        assert is_own(asked | {"headers": headers(host, f"{page}://{host}")}, PROXY)
        for other in (f"{page}s://{host}", f"{page}://{host}:81", "http://localhost:8501", "null"):
            assert not is_own(asked | {"headers": headers(host, other)}, PROXY)


def test_a_star_is_every_name_that_a_browser_could_ask_for() -> None:
    for host in ("localhost:9000", "192.168.0.7:8501", "[fe80::1]:8501", "any.example"):
        assert is_own(scope_of(headers=headers(host, f"http://{host}")), ("*",))
        assert not is_own(scope_of(headers=headers(host, "http://attacker.example")), ("*",))
    for host in ("", "Any.example", "any.example.", "u@any.example", "any.example/x", "a b", "[x]:1"):
        assert not is_own(scope_of(headers=headers(host)), ("*",))


def test_behind_a_unix_socket_only_the_proxys_names_are_own() -> None:
    for server in (None, ("/run/dashboard.sock", None)):
        assert not is_own(scope_of(server=server, headers=headers("localhost:8501")), PROXY)
        assert is_own(scope_of(server=server, headers=headers("dash.example.com")), PROXY)


@pytest.fixture
def app() -> Starlette:
    """The middleware before an application that answers everything."""

    def answer(_: Request) -> Response:
        return PlainTextResponse("secret")

    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()

    routes = [Route("/{path:path}", answer), WebSocketRoute("/{path:path}", talk)]
    return Starlette(routes=routes, middleware=security.middleware())


WRONG = (headers("attacker.example"), headers("localhost:8501", "http://attacker.example"))
PATHS = ("/", "/static/js/index.js", "/_stcore/health", "/_stcore/stream", "/media/x", "/component/x/y.js")


@pytest.mark.parametrize("path", PATHS)
def test_every_path_is_refused_with_403_and_the_headers(app: Starlette, path: str) -> None:
    for wrong in WRONG:
        start, body = sent_by(app, scope_of(path=path, headers=wrong))
        assert start["status"] == 403
        assert_has_the_headers(start)
        assert b"secret" not in body["body"]
        assert sent_by(app, scope_of("websocket", path, headers=wrong)) == [{"type": "websocket.close"}]
    assert sent_by(app, scope_of(path=path))[0]["status"] == 200
    assert sent_by(app, scope_of("websocket", path))[0]["type"] == "websocket.accept"


def assert_has_the_headers(start: Message) -> None:
    sent = Headers(raw=start["headers"])
    assert {name: sent.get(name) for name in security.response_headers()} == security.response_headers()


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "//_stcore/metrics",
        "/_stcore//metrics//",
        "/_stcore/metrics\n",  # the route's `$` matches before it
        "/team/dashboard/_stcore/metrics",
    ],
)
def test_metrics_are_not_found(app: Starlette, path: str) -> None:
    (start, _) = sent_by(app, scope_of(path=path))
    assert start["status"] == 404
    assert_has_the_headers(start)
    assert sent_by(app, scope_of(path="/_stcore/metrics", headers=headers("x.example")))[0]["status"] == 403


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which of this machine's addresses Streamlit has asked the network for."""
    asked: list[str] = []
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: asked.append("internal"))
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("external"))
    return asked


def websocket_of_streamlit(*, middleware: list[Middleware]) -> Starlette:
    return Starlette(routes=create_websocket_routes(MagicMock(), ""), middleware=middleware)


@pytest.mark.parametrize("names", [[], ["localhost", "127.0.0.1"], ["*"], [" Dash.Example.com. ", "fd00::1"]])
def test_no_handshake_makes_streamlit_look_up_an_address(
    monkeypatch: pytest.MonkeyPatch, looked_up: list[str], names: list[str]
) -> None:
    plain = config.get_option
    monkeypatch.setattr(
        config, "get_option", lambda key: names if key == "server.allowedHosts" else plain(key)
    )
    app = websocket_of_streamlit(middleware=security.middleware())
    answers = set()
    for host in ("localhost:8501", "127.0.0.1:8501", "[::1]:8501", "dash.example.com", "[fd00::1]:1"):
        for origins in ([], [f"http://{host}"], [f"https://{host}"], ["http://attacker.example"], ["null"]):
            for scheme in ("ws", "wss"):
                handshake = scope_of("websocket", "/_stcore/stream", scheme=scheme)
                (answer, *_) = sent_by(app, handshake | {"headers": headers(host, *origins)})
                answers.add(answer["type"])
    assert "websocket.accept" in answers
    assert looked_up == []


def test_streamlit_by_itself_looks_them_up(looked_up: list[str]) -> None:
    handshake = scope_of("websocket", "/_stcore/stream", headers=headers("localhost:8501", "null"))
    sent_by(websocket_of_streamlit(middleware=[]), handshake)
    assert looked_up == ["internal", "external"]
