"""The manifest of a folder: what is not what was saved is refused, and changes are made at once or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from attribute_planner.errors import DamagedFileError, StorageError
from attribute_planner.files import manifest
from attribute_planner.files.manifest import commit, read_manifest, read_verified, recover, temporary_files

OLD = {"a.json": b"old a", "b/c.json": b"old c"}
NEW = {"a.json": b"new a, longer", "b/c.json": b"new c", "d.json": b"d"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    commit(tmp_path, OLD)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {name: read_verified(folder, name) for name in read_manifest(folder)}


def test_what_was_saved_is_read(folder: Path):
    assert contents(folder) == OLD
    commit(folder, NEW, removed=["b/c.json"])
    assert contents(folder) == {"a.json": NEW["a.json"], "d.json": b"d"}
    assert not (folder / "b" / "c.json").exists() and not temporary_files(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"old b", "its SHA-256 differs"), (b"old", "it has 3 bytes, not 5"), (None, "is missing")],
)
def test_what_was_changed_is_refused(folder: Path, content: bytes | None, message: str):
    (folder / "a.json").unlink()
    if content is not None:
        (folder / "a.json").write_bytes(content)
    with pytest.raises(DamagedFileError, match=message):
        read_verified(folder, "a.json")


def test_every_bit_of_a_manifest_matters(folder: Path):
    path = folder / "manifest.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert contents(folder) == OLD  # white space
        except DamagedFileError:
            continue


class KilledError(Exception):
    """The process ends here."""


def killed_at(number: int, patch: pytest.MonkeyPatch) -> list[str]:
    """End the process before the operation on files with this number; the names of all operations so far."""
    done: list[str] = []

    def wrapped(name: str) -> Any:
        operation = getattr(os, name)

        def counted(*given: Any, **options: Any) -> Any:
            if len(done) == number:
                raise KilledError
            done.append(name)
            return operation(*given, **options)

        return counted

    for name in ("fsync", "replace"):
        patch.setattr(os, name, wrapped(name))
    return done


def test_a_change_that_is_cut_short_anywhere_is_made_completely_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        (tmp_path / "all").mkdir()
        operations = killed_at(-1, patch)
        commit(tmp_path / "all", NEW)
    assert operations[-4:] == ["fsync", "replace", "replace", "replace"]  # the folder, then the names of the files
    seen = []
    for number in range(len(operations)):
        folder = tmp_path / str(number)
        folder.mkdir()
        commit(folder, OLD)
        with monkeypatch.context() as patch, pytest.raises(KilledError):
            killed_at(number, patch)
            commit(folder, NEW)
        seen.append(contents(folder))
        recover(folder)
        assert contents(folder) == seen[-1]
        assert {name: (folder / name).read_bytes() for name in seen[-1]} == seen[-1]
        assert not temporary_files(folder)
    assert all(each in (OLD, OLD | NEW) for each in seen)
    assert seen.index(OLD | NEW) == len(operations) - 4


def test_folders_are_synced_before_and_after_the_manifest_changes(folder: Path, monkeypatch: pytest.MonkeyPatch):
    order: list[str] = []
    sync, rename = manifest.sync_folder, manifest.rename
    monkeypatch.setattr(manifest, "sync_folder", lambda path: (order.append(f"sync {path.name}"), sync(path)))
    monkeypatch.setattr(manifest, "rename", lambda old, new: (order.append(new.name), rename(old, new)))
    commit(folder, {"b/c.json": b"new c"})
    assert order == ["sync b", f"sync {folder.name}", "manifest.json", f"sync {folder.name}", "c.json"]


def test_no_space_names_file_and_sizes(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        StorageError, match=r"\.a\.json\.next cannot be written: no space left .* needs 1\.0 MB, .* free"
    ):
        commit(folder, {"a.json": bytes(10**6)})
    monkeypatch.undo()
    assert contents(folder) == OLD and not temporary_files(folder)


def test_a_later_change_does_not_lose_one_that_was_cut_short(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The new contents of the first are still under their temporary name when the second begins, and fails."""
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        killed_at(8, patch)
        commit(folder, NEW)
    assert contents(folder) == OLD | NEW
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        killed_at(4, patch)
        commit(folder, OLD)
    assert contents(folder) == OLD | NEW
