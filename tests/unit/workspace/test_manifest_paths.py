"""A reference in a manifest reaches files inside its root, and no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import ManifestFault
from proofspan.manifest import trust
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.paths import OPENED, artifact_path, refusal_of, resolve_reference, roots_resolved_once
from proofspan.manifest.types import Manifest


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture(params=["roots resolved each time", "roots resolved once"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file.txt").write_text("x")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "root-beside").mkdir()
    (tmp_path / "root-beside" / "file.txt").write_text("secret")
    with roots_resolved_once() if request.param == "roots resolved once" else nullcontext():
        yield folder


def code_of(root: Path, ref: str) -> str:
    with pytest.raises(ManifestFault) as caught:
        resolve_reference(root, ref)
    (problem,) = caught.value.problems
    assert problem.fix
    return problem.code


@pytest.mark.parametrize("ref", ["sub/file.txt", "sub/ü.txt", "sub/a b.txt", "sub/...txt", "sub/-x"])
def test_a_plain_reference_is_found(root: Path, ref: str) -> None:
    (root / ref).write_text("x")
    assert resolve_reference(root, ref) == root / ref


@pytest.mark.parametrize(
    "ref",
    [
        "",
        ".",
        "..",
        "../secret.txt",
        "sub/../../secret.txt",
        "sub/./file.txt",
        "sub//file.txt",
        "sub/",
        "/etc/passwd",
        "~/x",
        "~root/x",
        "sub\\file.txt",
        "C:/x",
        "file:///etc/passwd",
        "sub/file.txt\0.pdf",
        "sub/\nfile.txt",
        "sub/\x7f",
        "sub/\x85",
        "half a character: \ud800",
        "a" * 1025,
    ],
)
def test_a_reference_that_could_go_astray_is_refused_unseen(root: Path, ref: str) -> None:
    assert code_of(root, ref) == "path_refused"


def test_a_link_that_stays_inside_is_followed(root: Path) -> None:
    (root / "link.txt").symlink_to("sub/file.txt")
    assert resolve_reference(root, "link.txt") == root / "sub" / "file.txt"


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/passwd", "../root-beside/file.txt"])
def test_a_link_that_leaves_is_refused(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    assert code_of(root, "link") == "path_outside"


def test_a_refusal_reads_on_from_the_name_of_what_is_refused(root: Path) -> None:
    (root / "link").symlink_to("../secret.txt")
    for ref, words in (("link", "leads outside its folder, to "), ("../x", "has the path '../x', which is")):
        with pytest.raises(ManifestFault) as caught:
            resolve_reference(root, ref)
        assert caught.value.problems[0].message.startswith(words)


def test_a_folder_link_that_leaves_is_refused(root: Path) -> None:
    (root / "up").symlink_to("..")
    assert code_of(root, "up/secret.txt") == "path_outside"


def test_what_is_no_regular_file_is_refused(root: Path) -> None:
    os.mkfifo(root / "fifo")
    assert code_of(root, "fifo") == "not_a_file"
    assert code_of(root, "sub") == "not_a_file"
    assert resolve_reference(root, "sub", folder=True) == root / "sub"


def test_missing_looping_and_endless_names_are_distinguished(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    assert code_of(root, "nothing.txt") == "missing"
    assert code_of(root, "sub/file.txt/more") == "missing"
    assert code_of(root, "loop") == "unreadable"
    assert code_of(root, "a" * 1000) == "unreadable"


def test_a_file_that_was_not_opened_is_to_be_opened_not_copied_into_the_cache(root: Path) -> None:
    (root / OPENED).write_bytes(b"{}")
    with pytest.raises(ManifestFault) as raised:
        resolve_reference(root, "corpus/absent.pdf")
    (problem,) = raised.value.problems
    assert (problem.code, problem.where) == ("missing", "absent.pdf") and "--documents" in problem.fix


@given(st.text(alphabet="ab./\\~:\0\n é", max_size=12))
def test_nothing_that_passes_can_name_a_place_outside(ref: str) -> None:
    if refusal_of(ref) is None:
        assert os.path.normpath(f"/root/{ref}") == f"/root/{ref}"


def manifest_with_root(root: Path, folder: str) -> Manifest:
    (root / MANIFEST_NAME).write_text(
        f'manifest_version: "1.0"\nname: x\nroots: {{lib: "{folder}"}}\ngold: {{path: file.txt, root: lib}}\n'
    )
    return load_manifest(root)


def test_a_folder_outside_is_read_only_once_it_was_confirmed(root: Path) -> None:
    manifest = manifest_with_root(root, "../root-beside")
    beside = root.parent / "root-beside"
    assert manifest.gold is not None
    assert trust.untrusted_roots(manifest) == (("lib", beside),)
    with pytest.raises(ManifestFault, match="was not confirmed") as caught:
        artifact_path(manifest, manifest.gold)
    assert "`gold`" in caught.value.problems[0].message

    trust.remember(manifest.folder, beside)

    assert artifact_path(manifest, manifest.gold) == beside / "file.txt"
    assert trust.untrusted_roots(manifest) == ()


def test_a_folder_inside_needs_no_confirmation(root: Path) -> None:
    manifest = manifest_with_root(root, "sub")
    assert manifest.gold is not None
    assert artifact_path(manifest, manifest.gold) == root / "sub" / "file.txt"


def test_a_yes_is_for_one_workspace_and_one_folder(root: Path, tmp_path: Path) -> None:
    manifest = manifest_with_root(root, "../root-beside")
    trust.remember(tmp_path / "another", tmp_path / "root-beside")
    trust.remember(manifest.folder, tmp_path / "another")
    assert [name for name, _ in trust.untrusted_roots(manifest)] == ["lib"]


def test_a_confirmed_link_that_is_turned_elsewhere_asks_again(root: Path, tmp_path: Path) -> None:
    (tmp_path / "library").symlink_to("root-beside")
    manifest = manifest_with_root(root, "../library")
    trust.remember(manifest.folder, tmp_path / "library")
    assert trust.untrusted_roots(manifest) == ()
    (tmp_path / "library").unlink()
    (tmp_path / "library").symlink_to("/etc")
    assert trust.untrusted_roots(manifest) == (("lib", Path("/etc").resolve()),)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"trusted": 3}', '{"trusted": [3, ["a"], ["a", 1]]}', "\0"]
)
def test_a_damaged_memory_confirms_nothing_and_can_be_written_again(
    root: Path, own_settings: Path, content: str
) -> None:
    manifest = manifest_with_root(root, "../root-beside")
    own_settings.mkdir()
    (own_settings / "trusted_roots.json").write_text(content)
    assert len(trust.untrusted_roots(manifest)) == 1
    trust.remember(manifest.folder, root.parent / "root-beside")
    assert trust.untrusted_roots(manifest) == ()


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A settings folder that nobody can make, root included: its parent is a file."""
    (tmp_path / "file").write_text("x")
    folder = tmp_path / "file" / "config"
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(folder))
    yield folder


def test_a_yes_that_cannot_be_remembered_says_where_and_what_to_do(root: Path, unwritable: Path) -> None:
    with pytest.raises(ManifestFault) as caught:
        trust.remember(root, root.parent / "root-beside")
    (problem,) = caught.value.problems
    assert problem.where.startswith(str(unwritable))
    assert "PROOFSPAN_CONFIG_DIR" in problem.fix
