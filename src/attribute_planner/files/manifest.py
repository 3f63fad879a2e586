"""The manifest of a folder: size and SHA-256 of each of its files, and how several files are changed at once.

New contents are first written beside the old ones, as `.NAME.next`. The manifest that lists them is then replaced: at
this moment all of them change. Only then do they take their names. Wherever the process is stopped, a reader finds
every file that the manifest lists, under its name or as `.NAME.next`.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attribute_planner.errors import DamagedFileError
from attribute_planner.files.reading import MAX_TEXT_BYTES, memory_bytes, read_file
from attribute_planner.files.strict_json import parse_json
from attribute_planner.files.writing import make_folder, rename, sync_folder, write_synced

MANIFEST = "manifest.json"
NEXT = ".next"
READS = 5
"""How often a reader begins again because another process has changed the folder in the meantime."""

_NAME = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9_.-]*/)?[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_TEMPORARY = re.compile(r"\..+\.(next|\d+)")


@dataclass(frozen=True)
class Entry:
    """Size and hash of a file, or of the beginning of a file that grows."""

    size: int
    sha256: str

    def fits(self, content: bytes) -> bool:
        """Whether this is the content of the file."""
        return len(content) == self.size and hashlib.sha256(content).hexdigest() == self.sha256


Manifest = dict[str, Entry]


def entry_of(content: bytes) -> Entry:
    """The entry of a file with this content."""
    return Entry(len(content), hashlib.sha256(content).hexdigest())


def has_manifest(folder: Path) -> bool:
    """Whether anything was saved in a folder."""
    return (folder / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """The entries of a folder's files."""
    path = folder / MANIFEST
    saved = parse_json(read_file(path, MAX_TEXT_BYTES), path)
    files = saved.get("files")
    if set(saved) != {"files", "sha256"} or not isinstance(files, dict) or saved["sha256"] != _digest(files):
        raise DamagedFileError(f"{path} is damaged: its own SHA-256 differs.")
    return {name: _entry(path, name, entry) for name, entry in files.items()}


def _entry(path: Path, name: str, saved: Any) -> Entry:
    if (
        not _NAME.fullmatch(name)
        or not isinstance(saved, dict)
        or set(saved) != {"size", "sha256"}
        or type(saved["size"]) is not int
        or saved["size"] < 0
        or not isinstance(saved["sha256"], str)
    ):
        raise DamagedFileError(f"{path} is damaged: the entry of {name!r} is not a size and a hash.")
    return Entry(**saved)


def _digest(files: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def manifest_bytes(manifest: Manifest) -> bytes:
    """The contents of manifest.json."""
    files = {name: asdict(manifest[name]) for name in sorted(manifest)}
    return json.dumps({"files": files, "sha256": _digest(files)}, indent=2).encode() + b"\n"


def read_verified(folder: Path, name: str) -> bytes:
    """The contents of a file that the manifest lists; an error if they are not what was saved."""
    seen = None
    for _ in range(READS):
        manifest = read_manifest(folder)
        if name not in manifest:
            raise DamagedFileError(f"{folder / name} is not listed in {MANIFEST}.")
        if manifest == seen:
            break
        seen, entry = manifest, manifest[name]
        for path in (folder / name, pending(folder, name)):
            if (content := _content(path, entry)) is not None:
                return content
    _explain(folder / name, seen[name] if seen else None)
    raise DamagedFileError(
        f"{folder / name} is not what was saved: its SHA-256 differs from the one in {MANIFEST}. If it was changed on "
        f"purpose: python -m attribute_planner.storage.write_manifest {folder}"
    )


def _content(path: Path, entry: Entry) -> bytes | None:
    """The contents of a file that fits an entry; `None` if it does not."""
    with suppress(DamagedFileError, OSError):
        if path.stat().st_size == entry.size <= memory_bytes() // 2:
            content = read_file(path, entry.size)
            return content if entry.fits(content) else None
    return None


def _explain(path: Path, entry: Entry | None) -> None:
    """The error of a file that cannot be read at all, or has another size."""
    size = len(read_file(path, memory_bytes() // 2))
    if entry is not None and size != entry.size:
        raise DamagedFileError(f"{path} is not what was saved: it has {size:,} bytes, not {entry.size:,}.")


def pending(folder: Path, name: str) -> Path:
    """Where the new contents of a file are before it takes its name."""
    path = folder / name
    return path.with_name(f".{path.name}{NEXT}")


def commit(
    folder: Path,
    changed: Mapping[str, bytes],
    *,
    removed: Collection[str] = (),
    beginnings: Mapping[str, Entry] | None = None,
) -> None:
    """Change several files of a folder at once: after an interruption, all are old or all are new.

    removed: names of files to remove.
    beginnings: entries of files that grow, and are written elsewhere.
    """
    manifest = _finish(folder)
    manifest |= {name: entry_of(content) for name, content in changed.items()} | dict(beginnings or {})
    manifest = {name: entry for name, entry in manifest.items() if name not in removed}
    for name, content in changed.items():
        make_folder((folder / name).parent)
        write_synced(pending(folder, name), content)
    for parent in {(folder / name).parent for name in changed} - {folder}:
        sync_folder(parent)
    write_synced(folder / f".{MANIFEST}{NEXT}", manifest_bytes(manifest))
    sync_folder(folder)
    rename(folder / f".{MANIFEST}{NEXT}", folder / MANIFEST)
    sync_folder(folder)
    for name in changed:
        rename(pending(folder, name), folder / name)
    for name in removed:
        with suppress(OSError):  # it is no longer listed, and not read any more
            (folder / name).unlink(missing_ok=True)


def recover(folder: Path) -> None:
    """Finish the change that a killed process had begun, and remove the temporary files that it left.

    Only for the process that writes to the folder.
    """
    _finish(folder)
    for path in temporary_files(folder):
        path.unlink(missing_ok=True)


def _finish(folder: Path) -> Manifest:
    """Give the files of the last change their names, if that was interrupted; the entries of all files."""
    manifest = read_manifest(folder) if has_manifest(folder) else {}
    for name, entry in manifest.items():
        path = pending(folder, name)
        if path.exists() and _content(folder / name, entry) is None and _content(path, entry) is not None:
            rename(path, folder / name)
    return manifest


def temporary_files(folder: Path) -> list[Path]:
    """Files that interrupted writes have left, in a folder and the folders in it."""
    inside = [each for each in folder.iterdir() if each.is_dir()]
    return [path for each in (folder, *inside) for path in each.iterdir() if _TEMPORARY.fullmatch(path.name)]
