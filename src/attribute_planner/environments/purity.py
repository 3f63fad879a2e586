"""Checks that a pure environment is traceable, deterministic given its key, and stable in shape and type.

The checks only trace; they compile a function only if two traces differ.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.contract import blaming
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import Action
from attribute_planner.errors import EnvironmentFaultError

Key = jax.Array


def check_purity(env: PureEnvironment, action: Action, *, key: Key) -> None:
    """Raise a one-line error unless the environment compiles, compiles once, and is deterministic given its key."""
    reset_key, step_key = jax.random.split(key)
    with blaming(env, "reset under jax.jit"):
        state = jax.eval_shape(env.reset, reset_key)
        check_deterministic(env.reset, lambda: (reset_key,))
    with blaming(env, "step under jax.jit"):
        check_same_form(state, jax.eval_shape(env.step, state, action, step_key))
        check_deterministic(env.step, lambda: (jax.jit(env.reset)(reset_key), action, step_key))
    with blaming(env, "describe under jax.jit"):
        check_form(jax.eval_shape(env.describe, state), (len(env.attributes),), np.dtype(np.int32))
    with blaming(env, "terminated under jax.jit"):
        check_form(jax.eval_shape(env.terminated, state), (), np.dtype(bool))


def check_deterministic(function: Callable[..., Any], inputs: Callable[[], tuple[Any, ...]]) -> None:
    """Raise an error unless the result is a function of the inputs."""
    # Randomness that does not come from the key is drawn while tracing, and so makes two traces differ.
    forms = jax.eval_shape(inputs)
    first, second = (jax.make_jaxpr(lambda *arguments: function(*arguments))(*forms) for _ in range(2))
    if str(first) == str(second) and _are_equal(first.consts, second.consts):
        return
    first, second = (jax.jit(lambda *arguments: function(*arguments))(*inputs()) for _ in range(2))
    if not _are_equal(jax.tree.leaves(first), jax.tree.leaves(second)):
        raise EnvironmentFaultError("the same inputs gave two outcomes; all randomness must come from the key.")


def check_same_form(before: Any, after: Any) -> None:
    """Raise an error if a step changes structure, shape or type of a state: it would be compiled repeatedly."""
    if jax.tree.structure(before) != jax.tree.structure(after):
        raise EnvironmentFaultError(
            f"the state went in as {jax.tree.structure(before)} and came back as {jax.tree.structure(after)}."
        )
    for (path, old), new in zip(jax.tree_util.tree_leaves_with_path(before), jax.tree.leaves(after), strict=True):
        name = f"state{jax.tree_util.keystr(path)}"
        if _form(old) != _form(new):
            raise EnvironmentFaultError(f"{name} went in as {_form(old)} and came back as {_form(new)}.")
        if old.weak_type != new.weak_type:
            raise EnvironmentFaultError(
                f"{name} is weakly typed ({old.dtype} from a Python number) either before or after the step, but not "
                "both: the step is compiled twice. Give the type explicitly where the array is made."
            )


def check_form(found: Any, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """Raise an error unless a function's result is one array of this shape and type."""
    if not isinstance(found, jax.ShapeDtypeStruct) or (found.shape, found.dtype) != (shape, dtype):
        raise EnvironmentFaultError(f"it returns {_form(found)}; it must return {dtype}{list(shape)}.")


def _are_equal(these: list[Any], those: list[Any]) -> bool:
    return len(these) == len(those) and all(map(_is_equal, these, those))


def _is_equal(this: Any, that: Any) -> bool:
    if jnp.issubdtype(jnp.asarray(this).dtype, jax.dtypes.prng_key):
        this, that = jax.random.key_data(this), jax.random.key_data(that)
    return np.array_equal(this, that, equal_nan=True)


def _form(leaf: Any) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}" if hasattr(leaf, "shape") else f"a {type(leaf).__name__}"
