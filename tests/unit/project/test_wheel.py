"""The built wheel, installed and used outside the checkout, beside a package that must not be imported."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import proofspan
from tests.places import CHECKOUT, HANDBOOK

pytestmark = pytest.mark.slow

PACKAGE = CHECKOUT / "core" / "proofspan"
DECOY = 'raise RuntimeError("the package of somebody else was imported")\n'


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and a working folder that is not the checkout."""

    environment: Path
    work: Path

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    @property
    def package(self) -> Path:
        return next(self.environment.glob("lib/python*/site-packages/proofspan"))

    def run(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.environment / "bin" / "proofspan"), *map(str, arguments)]
        return self._ended(command, variables)

    def evaluate(self, script: str, **variables: str) -> str:
        done = self._ended([str(self.python), "-c", script], variables)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _ended(self, command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PROOF"))}
        environment = {**kept, "PROOFSPAN_CACHE_DIR": str(self.work / "cache"), **variables}
        return subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own; the dependencies are those of the tests' environment."""
    folder = tmp_path_factory.mktemp("installed")
    environment, work = folder / "venv", folder / "work"
    venv.create(environment, with_pip=False)
    work.mkdir()
    libraries = next(environment.glob("lib/python*/site-packages"))
    (libraries / "core").mkdir()
    (libraries / "core" / "__init__.py").write_text(DECOY, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", f"--python={environment / 'bin' / 'python'}", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    # A folder named by a .pth file is searched, but its own .pth files are not read: the checkout stays out.
    (libraries / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return Installed(environment, work)


def test_the_wheel_has_one_top_level_package_with_everything_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"proofspan"}
    tracked = subprocess.run(
        ["git", "ls-files", "core/proofspan", "app.py", "pages", ".streamlit", "data"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    files = tracked or [str(path.relative_to(CHECKOUT)) for path in PACKAGE.rglob("*.*")]
    assert {_place_in_wheel(file) for file in files} <= names


def _place_in_wheel(file: str) -> str:
    """Return where a file of the checkout is in the wheel."""
    if file.startswith("core/"):
        return file.removeprefix("core/")
    if file.startswith("data/"):
        return f"proofspan/{file}"
    return f"proofspan/dashboard/{file}"


def test_no_file_of_the_wheel_names_a_place_of_the_machine_that_built_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert str(CHECKOUT).encode() not in archive.read(name), name


def test_the_metadata_is_complete(metadata: Message) -> None:
    assert metadata["Name"] == "proofspan" and metadata["Version"] == proofspan.__version__
    assert metadata["Requires-Python"] == ">=3.11" and metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Keywords"] and len(metadata.get_all("Classifier", [])) > 10
    addresses = {url.partition(",")[0] for url in metadata.get_all("Project-URL", [])}
    assert addresses == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}


def test_the_dashboard_needs_no_extra_and_reranking_does(metadata: Message) -> None:
    required = metadata.get_all("Requires-Dist", [])

    def named(mark: str) -> set[str]:
        return {re.split(r"[<>=;\[ ]", line)[0] for line in required if mark in line}

    always = {re.split(r"[<>=;\[ ]", line)[0] for line in required if "extra" not in line}
    extra = {"onnxruntime", "tokenizers"}
    assert named("extra == 'rerank'") == extra and not always & extra
    assert {"plotly", "pymupdf", "streamlit"} <= always


def test_the_commands_work_beside_a_hostile_package(installed: Installed) -> None:
    assert str(installed.environment) in installed.evaluate("import proofspan; print(proofspan.__file__)")
    version = installed.run("--version")
    assert re.fullmatch(r"proofspan \S+( \([0-9a-f]{7,}(-dirty)?\))?\n", version.stdout)
    demo = installed.package / "data" / "demo"
    checked = installed.run("validate", demo, "--json")
    assert checked.returncode == 1 and '"analyzer_mismatch"' in checked.stdout
    traces, chunks = demo / "runs/R003/trace.jsonl", demo / "corpus/chunks.jsonl"
    assert installed.run("triage", traces, chunks, "-o", "report.jsonl").returncode == 0
    assert len((installed.work / "report.jsonl").read_text("utf-8").splitlines()) == 41
    quote = {"id": 1, "pdf": "meridian-2026.pdf", "quote": "Pairing a phone", "cited_page_idx": 0}
    (installed.work / "spans.jsonl").write_text(json.dumps(quote), "utf-8")
    located = installed.run("locate", "spans.jsonl", "--root", demo / "corpus", "-o", "-")
    assert located.returncode == 0 and json.loads(located.stdout)["id"] == 1
    gate = installed.run("gate", demo, "--run", "R001", "--json")
    assert gate.returncode == 1 and json.loads(gate.stdout)["run_id"] == "R001"


def test_the_api_and_the_schemas_come_from_the_wheel(installed: Installed) -> None:
    script = "import proofspan; print(*proofspan.open_workspace().runs, proofspan.adapters.__name__)"
    assert installed.evaluate(script) == "R001 R002 R003 R004 R005 R006 proofspan.adapters"
    assert installed.run("contract", "--schema", "answer").stdout.startswith("{")


def test_the_dashboard_is_started_from_the_wheel(installed: Installed) -> None:
    imported = "from proofspan.cli.workspace.open_cmd import server_command"
    script = f"{imported}; print(*server_command('127.0.0.1', 1)[4:5])"
    app = Path(installed.evaluate(script))
    assert app == installed.package / "dashboard" / "app.py" and app.is_file()
    assert (app.parent / ".streamlit" / "config.toml").is_file() and (app.parent / "pages").is_dir()


@pytest.fixture
def read_only_package(wheel: Path, tmp_path: Path) -> Iterator[Path]:
    """The package on a file system that is mounted read-only, as site-packages of an image may be."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a file system needs rights that this user does not have")
    try:
        zipfile.ZipFile(wheel).extractall(folder)
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_read_only_package_works_with_a_named_cache(read_only_package: Path, tmp_path: Path) -> None:
    demo = read_only_package / "proofspan" / "data" / "demo"
    asked = [sys.executable, "-P", "-m", "proofspan.cli", "gate", str(demo), "--run", "R001"]
    home = {**os.environ, "PYTHONPATH": str(read_only_package), "HOME": str(read_only_package / "home")}
    home.pop("PROOFSPAN_CACHE_DIR", None)
    home.pop("XDG_CACHE_HOME", None)
    refused = subprocess.run(asked, cwd=tmp_path, env=home, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "PROOFSPAN_CACHE_DIR" in refused.stderr, refused.stderr
    assert "Traceback" not in refused.stderr
    named = [*asked, "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(named, cwd=tmp_path, env=home, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "R001" in done.stdout, done.stderr


def test_two_versions_share_a_cache_without_replacing_each_other(
    installed: Installed, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(installed.package, other / "proofspan")
    columns = other / "proofspan" / "store" / "files" / "columns.py"
    text = columns.read_text("utf-8")
    columns.write_text(re.sub(r'INDEX_VERSION = "(\w+)"', r'INDEX_VERSION = "\1-next"', text), "utf-8")
    assert columns.read_text("utf-8") != text
    indexed = []
    for variables in ({}, {"PYTHONPATH": str(other)}) * 2:
        script = "from proofspan.cli import main; main()"
        command = [str(installed.python), "-P", "-c", script, "index", str(HANDBOOK), "--no-locate", "--json"]
        environment = {**os.environ, "PROOFSPAN_CACHE_DIR": str(tmp_path / "cache"), **variables}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        indexed.append({run["was"] for run in json.loads(done.stdout)["runs"]})
    assert indexed == [{"missing"}, {"missing"}, {"fresh"}, {"fresh"}]


def test_an_older_python_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    source = (PACKAGE / "__init__.py").read_text("utf-8")
    code = compile(ast.parse(source, feature_version=(3, 8)), "proofspan/__init__.py", "exec")
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    with pytest.raises(ImportError, match=r"Python 3\.11 or later; this is Python 3\.10"):
        exec(code, {"__name__": "proofspan"})  # noqa: S102
