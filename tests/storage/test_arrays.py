import ast
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner
from attribute_planner.errors import RunDirectoryError
from attribute_planner.storage.arrays import arrays_of, fill


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
        ({"net": np.zeros(3)}, "'net' is of type float64, not float32"),
        ({"net": np.full(3, np.nan, np.float32)}, "'net' holds NaN or infinity"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(arrays, message):
    with pytest.raises(RunDirectoryError, match=message):
        fill("net", jax.ShapeDtypeStruct((3,), jnp.float32), arrays)


def test_nothing_that_reads_files_can_pickle():
    """Only the pipes between a training and its own worker processes carry pickles."""
    forbidden = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    for path in Path(attribute_planner.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if path.parent.name == "workers" or not any(word in text for word in forbidden):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
                assert not forbidden & {name.partition(".")[0] for name in names}, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), path
                assert node.value.value is False, path
