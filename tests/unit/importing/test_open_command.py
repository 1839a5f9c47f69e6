"""`proofspan open`: whom it serves, which port, with which settings, and what it asks first."""

from __future__ import annotations

import ast
import socket
import tomllib
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from proofspan.cli.workspace import open_cmd
from proofspan.errors import InputFault
from proofspan.manifest import trust
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.opening.uploads import MOST_MEGABYTES
from tests.places import CHECKOUT

EVERYWHERE = "0.0.0.0"  # noqa: S104 - what must not be served by accident


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_alone_is_served_without_a_word(address: str) -> None:
    open_cmd.refuse_open_address(address, allow_unauthenticated=False)


@pytest.mark.parametrize(
    "address", [EVERYWHERE, "::", "192.168.1.4", "example.org", "", "127.0.0.1.example.org"]
)
def test_an_address_that_others_reach_needs_a_word(address: str) -> None:
    with pytest.raises(InputFault, match="has no login") as caught:
        open_cmd.refuse_open_address(address, allow_unauthenticated=False)
    assert "--allow-unauthenticated" in caught.value.problems[0].fix
    open_cmd.refuse_open_address(address, allow_unauthenticated=True)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_is_passed_over_unless_it_was_asked_for(
    taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_cmd, "DEFAULT_PORT", taken)
    assert taken < open_cmd.choose_port("127.0.0.1", None) < taken + open_cmd.PORTS_TRIED
    with pytest.raises(InputFault, match=f"port {taken} is taken"):
        open_cmd.choose_port("127.0.0.1", taken)


def test_an_address_of_another_machine_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_cmd, "PORTS_TRIED", 2)
    with pytest.raises(InputFault, match="is not this machine's"):
        open_cmd.choose_port("203.0.113.7", None)


@pytest.mark.parametrize(
    ("address", "written"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("LocalHost", "localhost"),
        ("Box.Example.org.", "box.example.org"),
        ("0:0::1", "::1"),
        ("FD00::A", "fd00::a"),
        ("0:0::0", "::"),
    ],
)
def test_the_address_is_spelled_as_in_a_host_header(address: str, written: str) -> None:
    assert open_cmd.as_browsers_write(address) == written


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("127.0.0.1", ["127.0.0.1", "localhost"]),
        ("::1", ["127.0.0.1", "::1", "localhost"]),
        ("192.168.1.4", ["127.0.0.1", "192.168.1.4", "localhost"]),
        ("box.example.org", ["127.0.0.1", "box.example.org", "localhost"]),
        (EVERYWHERE, ["*"]),
    ],
)
def test_only_the_names_of_the_address_are_answered(address: str, hosts: list[str]) -> None:
    assert open_cmd.allowed_hosts(address) == hosts


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("127.0.0.1", "http://localhost:8501"),
        (EVERYWHERE, "http://localhost:8501"),
        ("::1", "http://[::1]:8501"),
        ("192.168.1.4", "http://192.168.1.4:8501"),
    ],
)
def test_the_printed_address_can_be_opened(address: str, url: str) -> None:
    assert open_cmd.url_of(address, 8501) == url


def test_the_flags_enforce_the_configuration_file() -> None:
    flags = open_cmd.server_command("127.0.0.2", 8502)
    assert "--server.address=127.0.0.2" in flags and "--server.port=8502" in flags
    assert "--server.enableXsrfProtection=true" in flags and "--client.showErrorDetails=type" in flags
    config = tomllib.loads((CHECKOUT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"
    assert config["server"]["maxUploadSize"] == MOST_MEGABYTES  # else the server refuses what the page offers
    assert sorted(config["server"]["allowedHosts"]) == open_cmd.allowed_hosts("127.0.0.1")


def test_a_proxys_name_is_answered_beside_those_of_the_address() -> None:
    flags = open_cmd.server_command("127.0.0.1", 8501, ["dash.example.com"])
    named = [flag.partition("=")[2] for flag in flags if flag.startswith("--server.allowedHosts=")]
    assert named == ["127.0.0.1", "localhost", "dash.example.com"]


def test_every_flag_is_one_that_streamlit_knows() -> None:
    from streamlit import config

    flags = [part for part in open_cmd.server_command("127.0.0.1", 8501) if part.startswith("--")]
    names = [flag[2:].partition("=")[0] for flag in flags]
    assert [name for name in names if name not in config._config_options_template] == []
    assert "--server.address=127.0.0.1" in flags and "--server.enableAgentApi=false" in flags


def test_the_script_is_the_one_beside_the_package() -> None:
    script = Path(open_cmd.server_command("127.0.0.1", 8501)[4])
    assert script == CHECKOUT / "app.py"
    ast.parse(script.read_text(encoding="utf-8"))


@pytest.fixture
def with_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "pipeline_manifest.yaml").write_text('manifest_version: "1.0"\nname: N\nroots: {lib: ../lib}\n')
    return load_manifest(folder)


@pytest.mark.parametrize(("answer", "left"), [(True, 0), (False, 1)])
def test_a_folder_outside_is_asked_about(
    with_root: Manifest, monkeypatch: pytest.MonkeyPatch, answer: bool, left: int
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda question, **_: asked.append(question) or answer)
    open_cmd.confirm_roots(with_root, trust_all=False)
    assert len(asked) == 1 and str(with_root.folder.parent / "lib") in asked[0]
    assert len(trust.untrusted_roots(with_root)) == left


def test_where_nobody_can_answer_the_folder_stays_out(
    with_root: Manifest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    open_cmd.confirm_roots(with_root, trust_all=False)
    assert "--trust-roots" in capsys.readouterr().err
    assert len(trust.untrusted_roots(with_root)) == 1


def test_trust_roots_asks_nothing(with_root: Manifest) -> None:
    open_cmd.confirm_roots(with_root, trust_all=True)
    assert trust.untrusted_roots(with_root) == ()


def test_nothing_starts_on_a_workspace_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_cmd, "loading_server", nullcontext)
    monkeypatch.setattr(open_cmd, "run_dashboard", lambda *_, **__: pytest.fail("it started"))
    result = CliRunner().invoke(open_cmd.command, [str(tmp_path), "--no-browser"])
    assert "and no pipeline_manifest.yaml" in str(result.exception)
