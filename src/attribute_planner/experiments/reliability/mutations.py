"""Ways to damage the files of a saved agent, and to forge them: with a manifest that lists the files as they are."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.files.array_file import array_bytes, parse_arrays
from attribute_planner.files.manifest import MANIFEST, Entry, entry_of, manifest_bytes, read_manifest

Random = np.random.Generator
ARRAYS, TEXT = ".safetensors", ".json"

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3.5, -0.1, 1e308, 10**6, 10**9, 10**30, "", "x", "nan", "a" * 5_000, [], {}, [0],
    [[]], {"x": 1}, "é\u0000\n", "hostile_module:function",
)  # fmt: skip
"""Values that a field may be given."""


class Forgery:
    """A copy of a saved agent in which one thing is changed.

    source: the folder that is copied; files that do not change are links.
    folder: where the copy is made.
    """

    def __init__(self, source: Path, folder: Path, random: Random) -> None:
        self.source, self.folder, self.random = source, folder, random
        for path in self.files():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).symlink_to(source / path)

    def files(self, ending: str = "") -> list[str]:
        """The names of the files that end so."""
        found = [path for path in self.source.rglob("*") if path.is_file() and not path.name.startswith(".")]
        return sorted(str(path.relative_to(self.source)) for path in found if path.name.endswith(ending))

    def any_file(self, ending: str = "") -> str:
        """One of the files."""
        return str(self.random.choice(self.files(ending)))

    def read(self, name: str) -> bytes:
        """The contents of a file as it was saved."""
        return (self.source / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        """Replace a file."""
        self.remove(name)
        (self.folder / name).write_bytes(content)

    def remove(self, name: str) -> None:
        """Remove a file."""
        (self.folder / name).unlink(missing_ok=True)

    def list_again(self, **entries: Entry) -> None:
        """Write a manifest that lists the files as they are now, or with these entries."""
        manifest = read_manifest(self.source)
        for name, entry in manifest.items():
            if name != "metrics.jsonl":
                path = self.folder / name
                manifest[name] = entries.get(name) or (entry_of(path.read_bytes()) if path.is_file() else entry)
        self.write(MANIFEST, manifest_bytes(manifest))


# Damage: what disks, copies and people do to files.


def flip_bit(forged: Forgery) -> None:
    """One bit of a file."""
    name = forged.any_file()
    content = bytearray(forged.read(name))
    content[forged.random.integers(len(content))] ^= 1 << int(forged.random.integers(8))
    forged.write(name, bytes(content))


def cut_off(forged: Forgery) -> None:
    """A file ends too early."""
    content = forged.read(name := forged.any_file())
    forged.write(name, content[: forged.random.integers(len(content))])


def append(forged: Forgery) -> None:
    """A file continues."""
    content = forged.read(name := forged.any_file(ARRAYS if forged.random.random() < 0.5 else TEXT))
    forged.write(name, content + forged.random.bytes(int(forged.random.integers(1, 5_000))))


def zero_block(forged: Forgery) -> None:
    """A block that was never written."""
    content = bytearray(forged.read(name := forged.any_file()))
    first = int(forged.random.integers(len(content)))
    last = min(first + int(forged.random.integers(1, 4_097)), len(content))
    content[first:last] = bytes(last - first)
    forged.write(name, bytes(content))


def swap_files(forged: Forgery) -> None:
    """Two files with each other's names."""
    one, other = forged.any_file(), forged.any_file()
    forged.write(one, forged.read(other))
    forged.write(other, forged.read(one))


def lose_file(forged: Forgery) -> None:
    """A file is missing."""
    forged.remove(forged.any_file())


def special_file(forged: Forgery) -> None:
    """A named pipe, a device, a loop of links or a folder in place of a file."""
    path = forged.folder / (name := forged.any_file())
    forged.remove(name)
    kind = forged.random.integers(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind < 3:
        path.symlink_to(("/dev/zero", path)[kind - 1])
    elif kind == 3:
        path.mkdir()
    else:
        path.touch()


# Forgeries: files that were changed on purpose, with a manifest that lists them.


def forged_bits(forged: Forgery) -> None:
    """A few bits of a file, most of them at its beginning, where its structure is."""
    content = bytearray(forged.read(name := forged.any_file(ARRAYS if forged.random.random() < 0.7 else TEXT)))
    for _ in range(forged.random.integers(1, 9)):
        place = int(len(content) * forged.random.random() ** 4)
        content[place] ^= 1 << int(forged.random.integers(8))
    forged.write(name, bytes(content))
    forged.list_again()


def forged_text(forged: Forgery) -> None:
    """A field of a JSON file is changed, removed or added."""
    name = str(forged.random.choice([each for each in forged.files(TEXT) if each != MANIFEST]))
    forged.write(name, json.dumps(edited(json.loads(forged.read(name)), forged.random)).encode())
    forged.list_again()


def forged_notes(forged: Forgery) -> None:
    """A note of a checkpoint is changed, removed or added."""
    arrays, notes = parse_arrays(forged.read("agent.safetensors"), forged.source)
    forged.write("agent.safetensors", array_bytes(arrays, edited(notes, forged.random)))
    forged.list_again()


def forged_array(forged: Forgery) -> None:
    """An array has another type, shape, order or other values, or is removed or renamed."""
    name = forged.any_file(ARRAYS)
    arrays, notes = parse_arrays(forged.read(name), forged.source)
    small = [each for each in arrays if arrays[each].ndim == 1 or "words" in each] or list(arrays)
    chosen = str(forged.random.choice(small if forged.random.random() < 0.8 else list(arrays)))
    change = CHANGES[int(forged.random.integers(len(CHANGES)))]
    changed = change(arrays.pop(chosen).copy(), forged.random)
    if changed is not None:
        arrays[chosen] = changed
    elif forged.random.random() < 0.5:
        arrays[f"{chosen}x"] = np.zeros(3)
    forged.write(name, array_bytes(arrays, notes))
    forged.list_again()


def forged_sizes(forged: Forgery) -> None:
    """A file that claims to be huge, in the manifest, in its header, or by a hole."""
    name, kind = "agent.safetensors", forged.random.integers(3)
    if kind == 0:
        forged.list_again(**{name: Entry(2**40, "0" * 64)})
    elif kind == 1:
        content = forged.read(name)
        forged.write(name, int(forged.random.integers(1, 2**62)).to_bytes(8, "little") + content[8:])
        forged.list_again()
    else:
        forged.write(name, b"")
        os.truncate(forged.folder / name, 2**40)
        forged.list_again(**{name: Entry(2**40, "0" * 64)})


def edited(value: Any, random: Random) -> Any:
    """JSON data with one place changed."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = str(random.choice(list(value)))
        kind = random.random()
        if kind < 0.05:
            return {each: inside for each, inside in value.items() if each != name}
        if kind < 0.1:
            return {**value, f"{name}_": value[name]}
        return {**value, name: edited(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.8:
        place = int(random.integers(len(value)))
        return [*value[:place], edited(value[place], random), *value[place + 1 :]]
    return STRANGE[int(random.integers(len(STRANGE)))]


def _other_type(array: np.ndarray, random: Random) -> np.ndarray:
    kinds = (np.float64, np.float32, np.float16, np.int64, np.int32, np.int8, np.uint8, np.uint64, np.bool_)
    with np.errstate(all="ignore"):
        return array.astype(kinds[int(random.integers(len(kinds)))])


def _other_values(array: np.ndarray, random: Random) -> np.ndarray:
    values = (np.nan, np.inf, -np.inf, -1, 2**31, 2**32 - 1, 2**63, 1e300, 0, 1)
    if array.size:
        with np.errstate(all="ignore"):
            new = np.array([values[int(random.integers(len(values)))]]).astype(array.dtype)
        array.reshape(-1)[random.integers(array.size)] = new[0]
    return array


CHANGES: tuple[Callable[[np.ndarray, Random], np.ndarray | None], ...] = (
    _other_type,
    _other_values,
    _other_values,
    lambda array, random: array[: int(random.integers(len(array) + 1))] if array.ndim else array[None],
    lambda array, random: array[..., None],
    lambda array, random: random.permutation(array) if array.ndim else array + array.dtype.type(1),
    lambda array, random: np.concatenate([array, array]) if array.ndim else array,
    lambda array, random: array[::-1] if array.ndim else array,
    lambda array, random: array.reshape(-1),
    lambda array, random: np.broadcast_to(array.reshape(-1)[:1], (len(array.reshape(-1)[:1]), 7)),
    lambda array, random: None,
)

DAMAGE = (flip_bit, flip_bit, flip_bit, flip_bit, cut_off, append, zero_block, swap_files, lose_file, special_file)
FORGERIES = (forged_bits, forged_text, forged_text, forged_notes, forged_array, forged_array, forged_sizes)
