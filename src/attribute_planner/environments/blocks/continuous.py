"""Block stacking with drops anywhere: an action picks a block and a point of [0, 1]², and MuJoCo lets it fall.

Physics runs on the host, on all processors. Pictures and attributes are pure functions of the poses, so that experience
can be kept as poses and looked at later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.blocks import tasks
from attribute_planner.environments.blocks.attributes import ATTRIBUTES, covered_blocks, describe_poses
from attribute_planner.environments.blocks.drawing import draw_poses
from attribute_planner.environments.blocks.physics import Scenes, parked_poses
from attribute_planner.environments.blocks.rendering import IMAGE_SIZE, picture_spec, render
from attribute_planner.environments.blocks.scene import BLOCKS, NUM_BLOCKS, Poses
from attribute_planner.environments.blocks.symmetry import TURNED_TABLES
from attribute_planner.environments.interface import HostEnvironment, Key
from attribute_planner.environments.spaces import Action, Box, Discrete, ImageSpec, Mixed
from attribute_planner.environments.symmetry import Symmetries
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv

TRIES = 10
"""How often a drop is drawn again that changes no attribute; six of seven do change one."""

describe_all = jax.jit(jax.vmap(describe_poses))
_covered = jax.jit(jax.vmap(lambda poses: covered_blocks(describe_poses(poses))))


@dataclass(frozen=True)
class ContinuousBlocks(HostEnvironment):
    """Four coloured blocks, seen as a picture. An action is (block, point); a covered block does not move.

    image_size: height and width of the picture, in pixels; the paper's if not given.
    threads: on how many threads physics runs; 0 for all processors. Has no effect on what happens.
    episode_steps: after how many drops an episode is cut off.
    """

    name = "blocks-continuous"

    image_size: int = IMAGE_SIZE
    threads: int = 0
    episode_steps: int = tasks.MULTI_STEP_LIMIT

    def __post_init__(self) -> None:
        picture_spec(self.image_size)

    @property
    def attributes(self) -> AttributeSpace:
        return ATTRIBUTES

    @property
    def observation(self) -> ImageSpec:
        return picture_spec(self.image_size)

    @property
    def actions(self) -> Mixed:
        return Mixed(Discrete(BLOCKS), Box((0.0, 0.0), (1.0, 1.0)))

    @property
    def symmetries(self) -> Symmetries:
        return TURNED_TABLES

    @property
    def tasks(self) -> Mapping[str, Task]:
        return _tasks_of(self)

    @property
    def curriculum(self) -> tuple[Task, ...]:
        return _curriculum_of(self)

    def observe(self, poses: Poses) -> jax.Array:
        """What the agent sees of one scene; can be traced."""
        return render(poses, self.image_size)

    def observe_batch(self, states: Poses) -> jax.Array:
        return jax.vmap(self.observe)(states)

    def describe(self, poses: Poses) -> jax.Array:
        """`int32[36]` the true attribute values of one scene; can be traced."""
        return describe_poses(poses)

    def vector_env(self, num_envs: int) -> "ContinuousVectorEnv":
        return ContinuousVectorEnv(self, num_envs)

    def fresh(self, poses: Poses, key: Key) -> Poses:
        """As many random scenes as are given."""
        return scatter_blocks(Scenes(len(poses.positions), self.threads), key)

    def changed(self, poses: Poses, key: Key) -> Poses:
        """The scenes after a random drop in each that changes its attributes."""
        return after_random_change(Scenes(len(poses.positions), self.threads), poses, key)


# A task keeps its identity: the main one is the same wherever it is asked for.
@lru_cache
def _tasks_of(env: ContinuousBlocks) -> Mapping[str, Task]:
    return tasks.block_tasks(env.fresh, env.changed, describe_all)


@lru_cache
def _curriculum_of(env: ContinuousBlocks) -> tuple[Task, ...]:
    return tasks.block_curriculum(env.task(None), env.changed, describe_all)


class ContinuousVectorEnv(VectorEnv):
    """Scenes that are dropped into together. `poses` are their states, `[B]` of them, replaced and never changed."""

    def __init__(self, env: ContinuousBlocks, num_envs: int) -> None:
        self.env, self.num_envs, self.episode_steps = env, num_envs, env.episode_steps
        self.poses = parked_poses(num_envs)
        self._scenes = Scenes(num_envs, env.threads)
        self._ages = np.zeros(num_envs, int)

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        if task is not None and task.start is not None:
            self.poses = _on_host(jax.vmap(task.start)(jax.random.split(key, self.num_envs)))
        else:
            self.poses = scatter_blocks(self._scenes, key)
        self._ages[:] = 0
        return self._timestep()

    def reset_where(self, which: np.ndarray, key: Key) -> TimeStep:
        self.poses = scatter_blocks(self._scenes, key, np.asarray(which), self.poses)
        self._ages[which] = 0
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        return self.step_where(np.ones(self.num_envs, bool), action, key)

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        del key  # nothing is left to chance
        choice, point = action
        self.poses = drop_uncovered(self._scenes, self.poses, np.asarray(choice), np.asarray(point), which)
        self._ages[which] += 1
        return self._timestep()

    def restore_state(self, states: Poses) -> TimeStep:
        self.poses = states
        self._ages[:] = 0
        return self._timestep()

    def values(self) -> np.ndarray:
        """`int32[B, 36]` the attribute values of every copy as it is now."""
        return np.asarray(describe_all(self.poses))

    def sample_goals(self, task: Task, key: Key) -> Goal:
        """`[B]` a goal of the task for each copy as it is now."""
        return task.goal(self.poses, describe_all(self.poses), key)

    def render(self, index: int) -> np.ndarray:
        return draw_poses(jax.tree.map(lambda leaf: leaf[index], self.poses))

    def _timestep(self) -> TimeStep:
        observation, values = _look(self.poses, self.env.image_size)
        truncated = self._ages >= self.episode_steps
        return TimeStep(observation, values, np.zeros(self.num_envs, bool), truncated, self.poses)


def scatter_blocks(scenes: Scenes, key: Key, which: np.ndarray | None = None, poses: Poses | None = None) -> Poses:
    """Random scenes: all four blocks dropped at random points in random order (in the scenes `which`, if given)."""
    order_key, point_key = jax.random.split(key)
    order = np.argsort(jax.random.uniform(order_key, (scenes.count, NUM_BLOCKS)), axis=1)
    points = np.asarray(jax.random.uniform(point_key, (scenes.count, NUM_BLOCKS, 2)))
    everywhere = np.ones(scenes.count, bool)
    return scenes.scatter(poses or parked_poses(scenes.count), order, points, everywhere if which is None else which)


def drop_uncovered(
    scenes: Scenes, poses: Poses, block: np.ndarray, point: np.ndarray, which: np.ndarray | bool = True
) -> Poses:
    """Poses after dropping blocks `[B]` above points `[B, 2]` (moved into [0, 1]²); covered blocks stay.

    Only in the scenes `which` `[B]`, if given.
    """
    movable = ~np.asarray(_covered(poses))[np.arange(scenes.count), block]
    return scenes.drop(poses, block, np.clip(point, 0.0, 1.0), movable & which)


def after_random_change(scenes: Scenes, poses: Poses, key: Key) -> Poses:
    """Poses after a random drop of an uncovered block that changes the attributes; after `TRIES` in vain, the same."""
    values, covered, reached = np.asarray(describe_all(poses)), np.asarray(_covered(poses)), poses
    pending = np.ones(scenes.count, bool)
    for try_key in jax.random.split(key, TRIES):
        block_key, point_key = jax.random.split(try_key)
        lots = np.asarray(jax.random.uniform(block_key, covered.shape))
        block = np.where(covered, -1.0, lots).argmax(axis=-1)
        point = np.asarray(jax.random.uniform(point_key, (scenes.count, 2)))
        tried = scenes.drop(poses, block, point, pending)
        changed = pending & (np.asarray(describe_all(tried)) != values).any(axis=-1)
        reached = jax.tree.map(lambda new, old, here=changed: np.where(here[:, None, None], new, old), tried, reached)
        pending &= ~changed
        if not pending.any():
            break
    return reached


@partial(jax.jit, static_argnums=1)
def _look(poses: Poses, size: int) -> tuple[jax.Array, jax.Array]:
    """`[B]` pictures of the scenes, and their attribute values."""
    return jax.vmap(lambda each: (render(each, size), describe_poses(each)))(poses)


def _on_host(poses: Poses) -> Poses:
    return jax.tree.map(np.asarray, poses)
