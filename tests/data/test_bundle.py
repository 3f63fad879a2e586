import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.bundle import Bundle

TREE = {"a": jnp.array([1, 2]), "b": (jnp.array([0.5, 1.5]), jnp.array([3, 4])), "none": None, "c": jnp.zeros((2, 3))}


def assert_same(found: dict, expected: dict) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def test_arrays_of_one_form_share_a_stack():
    bundle = Bundle.of(TREE)
    assert sorted((stack.shape, stack.dtype.name) for stack in bundle.stacks) == [
        ((1, 2), "float32"),
        ((1, 2, 3), "float32"),
        ((2, 2), "int32"),
    ]
    assert_same(bundle.tree(), TREE)


def test_a_loop_stacks_bundles_as_it_stacks_trees():
    def doubled(number: jax.Array) -> dict:
        return jax.tree.map(lambda leaf: leaf * number.astype(leaf.dtype), TREE)

    @jax.jit
    def plain() -> dict:
        return jax.lax.scan(lambda _, number: (None, doubled(number)), None, jnp.arange(5))[1]

    @jax.jit
    def bundled() -> dict:
        bundles = jax.lax.scan(lambda _, number: (None, Bundle.of(doubled(number))), None, jnp.arange(5))[1]
        return bundles.tree(axis=1)

    assert_same(bundled(), plain())
