"""Compares the rule of the 3 × 3 grid with MuJoCo: where does a dropped block come to rest?"""

from dataclasses import dataclass
from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.blocks.attributes import describe_poses
from attribute_planner.environments.blocks.discrete import Configuration, describe, drop, is_covered, poses_of
from attribute_planner.environments.blocks.physics import Scenes
from attribute_planner.environments.blocks.scene import NUM_BLOCKS, NUM_CELLS, cell_positions

SCENES = 1024
"""Number of pairs that are simulated together."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of physics and the rule.

    pairs: number of compared pairs of a configuration and an action that moves a block.
    different: number of pairs in which the attributes differ.
    position_error: largest distance of a block from its position by the rule, in metres.
    angle_error: largest rotation of a block, in degrees.
    """

    pairs: int
    different: int
    position_error: float
    angle_error: float


def verify_against_physics(sample: int | None = None, *, seed: int = 0, threads: int = 0) -> Agreement:
    """Compare the rule with MuJoCo for all effective (configuration, action) pairs, or a random `sample` of them."""
    states, actions = effective_pairs()
    if sample is not None:
        chosen = np.random.default_rng(seed).choice(len(actions), sample, replace=False)
        states, actions = _take(states, chosen), actions[chosen]
    scenes = Scenes(min(SCENES, len(actions)), threads, whole=True)
    parts = [
        _compare(scenes, _take(states, part), actions[part])
        for part in np.array_split(np.arange(len(actions)), -(-len(actions) // scenes.count))
    ]
    different, position, angle = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Agreement(len(actions), int(different.sum()), float(position.max()), float(angle.max()))


def all_configurations() -> Configuration:
    """All 11,880 configurations, `[11880]`."""
    cells = np.array(list(product(range(NUM_CELLS), repeat=NUM_BLOCKS)))
    turns = np.array(list(permutations(range(NUM_BLOCKS))))
    under = (cells[:, None, :, None] == cells[:, None, None, :]) & (turns[None, :, :, None] > turns[None, :, None, :])
    levels = under.sum(axis=-1)
    rows = np.concatenate([np.broadcast_to(cells[:, None], levels.shape), levels], axis=-1).reshape(-1, 2 * NUM_BLOCKS)
    unique = np.unique(rows, axis=0).astype(np.int32)
    return Configuration(jnp.asarray(unique[:, :NUM_BLOCKS]), jnp.asarray(unique[:, NUM_BLOCKS:]))


def effective_pairs() -> tuple[Configuration, np.ndarray]:
    """All 320,760 pairs of a configuration and an action on an uncovered block: both `[320760]`."""
    states = all_configurations()
    covered = np.asarray(jax.jit(jax.vmap(is_covered))(states))
    which, block, cell = np.nonzero(np.broadcast_to(~covered[:, :, None], (*covered.shape, NUM_CELLS)))
    return _take(states, which), block * NUM_CELLS + cell


def _take(states: Configuration, which: np.ndarray) -> Configuration:
    return jax.tree.map(lambda leaf: leaf[which], states)


def _compare(scenes: Scenes, states: Configuration, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pair: whether the attributes differ, and the errors of position and angle."""
    # The last part may have fewer pairs than there are scenes.
    padded = np.resize(np.arange(len(actions)), scenes.count)
    states, block, cell = _take(states, padded), actions[padded] // NUM_CELLS, actions[padded] % NUM_CELLS
    before = jax.tree.map(np.asarray, _poses_of_all(states))
    points = np.asarray(cell_positions(jnp.asarray(cell), jnp.zeros_like(cell)))[:, :2]
    physical = scenes.drop(before, block, points)
    positions, values = (np.asarray(each) for each in _ruled(states, block, cell))
    different = (np.asarray(_described(physical)) != values).any(axis=-1)
    position = np.linalg.norm(physical.positions - positions, axis=-1).max(axis=-1)
    sine = np.linalg.norm(physical.quaternions[..., 1:], axis=-1).max(axis=-1)
    angle = 2 * np.degrees(np.arcsin(np.minimum(sine, 1.0)))
    return different[: len(actions)], position[: len(actions)], angle[: len(actions)]


_poses_of_all = jax.jit(jax.vmap(poses_of))
_described = jax.jit(jax.vmap(describe_poses))


@jax.jit
@jax.vmap
def _ruled(state: Configuration, block: jax.Array, cell: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Positions and attributes after a drop, by the rule."""
    after = drop(state, block, cell)
    return jnp.asarray(poses_of(after).positions), describe(after)
