import ast
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner
from attribute_planner.errors import RunDirectoryError
from attribute_planner.storage.arrays import arrays_of, fill, read_arrays, write_arrays, write_bytes


def test_arrays_and_notes_come_back_as_they_were(tmp_path: Path):
    arrays = {"a": np.arange(6, dtype=np.uint32).reshape(2, 3).T, "b": np.array(0.1), "c": np.zeros((0, 2), np.int64)}
    write_arrays(tmp_path / "file", arrays, {"epoch": 3, "names": ["ü"]})
    found, notes = read_arrays(tmp_path / "file")
    assert notes == {"epoch": 3, "names": ["ü"]}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


def test_a_tree_is_filled_leaf_by_leaf():
    tree = {"weights": (jnp.arange(3.0), jnp.ones((2, 2))), "name": "kept", "nothing": None}
    arrays = arrays_of("net", tree)
    assert set(arrays) == {"net['weights'][0]", "net['weights'][1]"}
    template = {**tree, "weights": (jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((2, 2), jnp.float32))}
    filled = fill("net", template, arrays)
    np.testing.assert_array_equal(filled["weights"][0], tree["weights"][0])
    assert (filled["name"], filled["nothing"]) == ("kept", None)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "lacks the array 'net'"),
        ({"net": np.zeros(4)}, r"'net' has shape \(4,\); this environment needs \(3,\)"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(arrays, message):
    with pytest.raises(RunDirectoryError, match=message):
        fill("net", jax.ShapeDtypeStruct((3,), jnp.float32), arrays)


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str):
    write_bytes(tmp_path / "file", b"old")

    def killed(*args: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, failing, killed)
    with pytest.raises(OSError, match="no space left"):
        write_bytes(tmp_path / "file", b"new and longer")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\x05" + bytes(7) + b"nope!"])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: bytes):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(RunDirectoryError, match="cannot be read as a saved agent"):
        read_arrays(tmp_path / "file")


def test_nothing_in_the_package_can_pickle():
    forbidden = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    for path in Path(attribute_planner.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not forbidden & {name.partition(".")[0] for name in names}, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), path
                assert node.value.value is False, path
