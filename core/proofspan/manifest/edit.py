"""Adding a run or a file to a manifest, with every comment and every other byte kept.

The new text is parsed before it replaces the old one: the manifest has to be the same as before plus what is
added, else nothing is written. A lock on the file keeps two processes from losing each other's additions.
"""

from __future__ import annotations

import fcntl
import json
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from proofspan.errors import InputFault, ManifestFault
from proofspan.manifest.load import manifest_of
from proofspan.manifest.put_files import Together, together
from proofspan.manifest.yaml_text import parse_yaml

_BOM = b"\xef\xbb\xbf"


class OpenManifest:
    """A manifest that is locked: nobody else adds anything meanwhile. `file` has its links resolved."""

    def __init__(self, file: Path, data: bytes) -> None:
        self.file, self._data = file, data
        self._old = parse_yaml(file, data)
        manifest_of(self._old)

    def entry(self, run_id: str) -> Mapping[str, Any] | None:
        """Return the entry of a run as written, None for a run that is not there."""
        return next((each for each in self._runs if each["run_id"] == run_id), None)

    def put_run(self, entry: Mapping[str, Any], files: Together) -> bool:
        """Write the manifest with the run to `files`; return False if it has that entry already.

        Values of `entry` are text, true, false, null, lists and mappings. Raises InputFault if the run has
        another entry or cannot be added to this text, ManifestFault if the entry breaks the schema.
        """
        known = self.entry(str(entry["run_id"]))
        if known is not None:
            if known == entry:
                return False
            message = f"the manifest has a run `{entry['run_id']}` with other content"
            fix = "choose another run id, or remove that run and its files first"
            raise InputFault.of("run_exists", message, where=str(self.file), fix=fix)
        wanted = {**self._old.value, "runs": [*self._runs, entry]}
        files.write(self.file, [self._edited(wanted, partial(_inserted, entry=entry), "runs", entry)])
        return True

    def put_file(self, name: str, path: str, files: Together) -> bool:
        """Write the manifest with a journal's file to `files`, such as `annotations: {path: notes.jsonl}`.

        Return False if it names a file there already. Raises InputFault if the line cannot be added to this
        text, ManifestFault if the schema refuses it.
        """
        if name in self._old.value:
            return False
        value = {"path": path}
        wanted = {**self._old.value, name: value}
        files.write(self.file, [self._edited(wanted, partial(_with_key, key=name, value=value), name, value)])
        return True

    @property
    def _runs(self) -> list[Mapping[str, Any]]:
        return self._old.value.get("runs", [])  # type: ignore[no-any-return]  # the schema says so

    def _edited(
        self,
        wanted: Mapping[str, Any],
        edit: Callable[[str, yaml.Node | None, str], str],
        key: str,
        added: Mapping[str, Any],
    ) -> bytes:
        """Return the manifest's text after `edit`, which has to say what is `wanted`."""
        bom = _BOM if self._data.startswith(_BOM) else b""
        text = self._data.decode("utf-8-sig")
        line_end = "\r\n" if "\r\n" in text else "\n"
        try:
            data = bom + edit(text, self._old.root, line_end).encode()
            new = parse_yaml(self.file, data)
        except (ManifestFault, ValueError):
            new = None
        if new is None or new.value != wanted:
            message = f"the way that the manifest is written does not let `{key}` be added to it"
            fix = f"add it to `{key}` by hand: {json.dumps(added, ensure_ascii=False)}"
            raise InputFault.of("manifest_not_edited", message, where=str(self.file), fix=fix)
        manifest_of(new)
        return data


@contextmanager
def open_manifest(manifest_file: Path) -> Iterator[OpenManifest]:
    """Open a manifest for adding to it and lock it until the block ends.

    Raises ManifestFault if it cannot be used. OSError if it cannot be locked.
    """
    file = manifest_file.resolve()
    while True:
        with file.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            # Whoever had the lock before may have replaced the file: then this lock is on the old one.
            if os.fstat(stream.fileno()).st_ino == file.stat().st_ino:
                yield OpenManifest(file, stream.read())
                return


def add_run(manifest_file: Path, entry: Mapping[str, Any]) -> bool:
    """Add a run's entry at the end of `runs`; return False if it is there already.

    Raises InputFault or ManifestFault as `OpenManifest.put_run`, InputFault if the file cannot be written.
    """
    with together("the manifest", where=manifest_file) as files, open_manifest(manifest_file) as manifest:
        is_new = manifest.put_run(entry, files)
        files.commit()
        return is_new


def add_file(manifest_file: Path, name: str, path: str) -> bool:
    """Add a journal's file under the key `name`; return False if the manifest names one already.

    Raises as `add_run`.
    """
    with together("the manifest", where=manifest_file) as files, open_manifest(manifest_file) as manifest:
        is_new = manifest.put_file(name, path, files)
        files.commit()
        return is_new


def _with_key(text: str, root: yaml.Node | None, line_end: str, *, key: str, value: Mapping[str, Any]) -> str:
    """Return the text with a key at its end. ValueError for what this cannot be added to."""
    if not isinstance(root, yaml.MappingNode):
        raise ValueError("the manifest is not a mapping")
    flow = json.dumps(value, ensure_ascii=False)
    if root.flow_style:
        return _before_end(text, root, f"{json.dumps(key)}: {flow}")
    return _lines_after(text, _end(root), f"{key}: {flow}\n", root.start_mark.column, line_end)


def _inserted(text: str, root: yaml.Node | None, line_end: str, *, entry: Mapping[str, Any]) -> str:
    """Return the text with the entry at the end of `runs`. ValueError for what this cannot be added to."""
    if not isinstance(root, yaml.MappingNode):
        raise ValueError("the manifest is not a mapping")
    flow = json.dumps(entry, ensure_ascii=False)
    block = yaml.safe_dump([dict(entry)], sort_keys=False, allow_unicode=True, width=1 << 20)
    runs = next((value for key, value in root.value if key.value == "runs"), None)
    if runs is None:
        if root.flow_style:
            return _before_end(text, root, f'"runs": [{flow}]')
        return _lines_after(text, _end(root), f"runs:\n{block}", root.start_mark.column, line_end)
    if not runs.flow_style:
        column = runs.start_mark.column
        if runs.value:  # an anchor may be where the list begins
            dash = text.rindex("-", 0, runs.value[0].start_mark.index)
            column = dash - text.rfind("\n", 0, dash) - 1
        return _lines_after(text, _end(runs), block, column, line_end)
    start, end = runs.start_mark.index, runs.end_mark.index
    if text[start:end].replace(" ", "") == "[]" and not root.flow_style:
        return _lines_after(
            text[:start].rstrip(" ") + text[end:],
            len(text[:start].rstrip(" ")),
            block,
            root.start_mark.column,
            line_end,
        )
    return _before_end(text, runs, flow)


def _before_end(text: str, node: yaml.CollectionNode, item: str) -> str:
    """Return the text with an item before the closing bracket of a collection in flow style."""
    end = node.end_mark.index - 1
    is_first = not node.value or text[:end].rstrip().endswith(",")
    return f"{text[:end]}{'' if is_first else ', '}{item}{text[end:]}"


def _lines_after(text: str, end: int, lines: str, column: int, line_end: str) -> str:
    """Return the text with lines, indented to `column`, after the line that has the position `end`."""
    at = end
    if text[end - 1 : end] != "\n":
        at = text.find("\n", end) + 1 or len(text)
    before = text[:at] + ("" if text[:at].endswith("\n") else line_end)
    return before + textwrap.indent(lines, " " * column).replace("\n", line_end) + text[at:]


def _end(node: yaml.Node) -> int:
    """Return where the last value in a node ends. A block's own end is that of the comments after it."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    if isinstance(node, yaml.SequenceNode):
        return _end(node.value[-1])
    key, value = node.value[-1]
    is_alias = value.start_mark.index < key.end_mark.index  # its node is where the anchor is
    return int(key.end_mark.index) if is_alias else _end(value)
