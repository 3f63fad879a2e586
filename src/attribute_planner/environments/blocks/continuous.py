"""Block stacking with continuous drop points: an action is a block and a point of [0, 1]²; MuJoCo simulates the fall.

Physics runs on the host, on all processors. Images and attributes are pure functions of the poses, so experience is
stored as poses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.blocks import tasks
from attribute_planner.environments.blocks.attributes import ATTRIBUTES, covered_blocks, describe_poses
from attribute_planner.environments.blocks.drawing import draw_poses
from attribute_planner.environments.blocks.physics import Scenes, parked_poses
from attribute_planner.environments.blocks.rendering import IMAGE_SIZE, image_spec, render
from attribute_planner.environments.blocks.scene import BLOCKS, NUM_BLOCKS, Poses
from attribute_planner.environments.blocks.symmetry import TURNED_TABLES
from attribute_planner.environments.interface import HostEnvironment, Key
from attribute_planner.environments.spaces import Action, Box, Discrete, ImageSpec, Mixed
from attribute_planner.environments.symmetry import Symmetries
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv

TRIES = 10
"""Maximum number of samples of a drop that changes an attribute; six of seven random drops do."""

describe_all = jax.jit(jax.vmap(describe_poses))
_covered = jax.jit(jax.vmap(lambda poses: covered_blocks(describe_poses(poses))))


@dataclass(frozen=True)
class ContinuousBlocks(HostEnvironment):
    """Four coloured blocks, observed as an image. An action is (block, point); a covered block does not move.

    image_size: height and width of the image, in pixels; by default the paper's.
    threads: number of threads for physics; 0 for all processors. Has no effect on the results.
    episode_steps: number of steps after which an episode is truncated.
    """

    name = "blocks-continuous"

    image_size: int = IMAGE_SIZE
    threads: int = 0
    episode_steps: int = tasks.MULTI_STEP_LIMIT

    def __post_init__(self) -> None:
        image_spec(self.image_size)

    @property
    def attributes(self) -> AttributeSpace:
        return ATTRIBUTES

    @property
    def observation(self) -> ImageSpec:
        return image_spec(self.image_size)

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
        """The observation of one scene; can be traced."""
        return render(poses, self.image_size)

    def observe_batch(self, states: Poses) -> jax.Array:
        return jax.vmap(self.observe)(states)

    def describe(self, poses: Poses) -> Int[jax.Array, "36"]:
        """The true attribute values of one scene; can be traced."""
        return describe_poses(poses)

    def vector_env(self, num_envs: int) -> "ContinuousVectorEnv":
        return ContinuousVectorEnv(self, num_envs)

    def fresh(self, poses: Poses, key: Key) -> Poses:
        """The same number of random scenes."""
        return scatter_blocks(Scenes(len(poses.positions), self.threads), key)

    def changed(self, poses: Poses, key: Key) -> Poses:
        """The scenes after a random drop that changes their attributes."""
        return after_random_change(Scenes(len(poses.positions), self.threads), poses, key)


# Cached, so that a task is the same object at every call.
@lru_cache
def _tasks_of(env: ContinuousBlocks) -> Mapping[str, Task]:
    return tasks.block_tasks(env.fresh, env.changed, describe_all)


@lru_cache
def _curriculum_of(env: ContinuousBlocks) -> tuple[Task, ...]:
    return tasks.block_curriculum(env.task(None), env.changed, describe_all)


class ContinuousVectorEnv(VectorEnv):
    """A batch of scenes. `poses` `[B]` are their states; the arrays are replaced, never modified."""

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

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        del task  # its tasks start on scattered blocks
        self.poses = scatter_blocks(self._scenes, key, np.asarray(which), self.poses)
        self._ages[which] = 0
        return self._timestep()

    def step(self, action: Action, key: Key) -> TimeStep:
        return self.step_where(np.ones(self.num_envs, bool), action, key)

    def step_where(self, which: np.ndarray, action: Action, key: Key) -> TimeStep:
        del key  # deterministic
        choice, point = action
        self.poses = drop_uncovered(self._scenes, self.poses, np.asarray(choice), np.asarray(point), which)
        self._ages[which] += 1
        return self._timestep()

    def restore_state(self, states: Poses) -> TimeStep:
        self.poses = states
        self._ages[:] = 0
        return self._timestep()

    def values(self) -> Int[np.ndarray, "B 36"]:
        """The current attribute values."""
        return np.asarray(describe_all(self.poses))

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return task.goal(self.poses, describe_all(self.poses), key)

    def render(self, index: int) -> np.ndarray:
        return draw_poses(jax.tree.map(lambda leaf: leaf[index], self.poses))

    def _timestep(self) -> TimeStep:
        observation, values = _observe_and_describe(self.poses, self.env.image_size)
        truncated = self._ages >= self.episode_steps
        return TimeStep(observation, values, np.zeros(self.num_envs, bool), truncated, self.poses)


def scatter_blocks(scenes: Scenes, key: Key, which: np.ndarray | None = None, poses: Poses | None = None) -> Poses:
    """Random scenes, or random ones for `which` only: all four blocks dropped at random points in random order."""
    order_key, point_key = jax.random.split(key)
    order = np.argsort(jax.random.uniform(order_key, (scenes.count, NUM_BLOCKS)), axis=1)
    points = np.asarray(jax.random.uniform(point_key, (scenes.count, NUM_BLOCKS, 2)))
    everywhere = np.ones(scenes.count, bool)
    return scenes.scatter(poses or parked_poses(scenes.count), order, points, everywhere if which is None else which)


def drop_uncovered(
    scenes: Scenes,
    poses: Poses,
    block: Int[np.ndarray, "B"],
    point: Float[np.ndarray, "B 2"],
    which: Bool[np.ndarray, "B"] | bool = True,
) -> Poses:
    """Poses after dropping blocks above points (clipped to [0, 1]²) in the scenes `which`; covered blocks stay."""
    movable = ~np.asarray(_covered(poses))[np.arange(scenes.count), block]
    return scenes.drop(poses, block, np.clip(point, 0.0, 1.0), movable & which)


def after_random_change(scenes: Scenes, poses: Poses, key: Key) -> Poses:
    """Poses after a random drop of an uncovered block that changes the attributes; unchanged after `TRIES` samples."""
    values, covered, reached = np.asarray(describe_all(poses)), np.asarray(_covered(poses)), poses
    pending = np.ones(scenes.count, bool)
    for try_key in jax.random.split(key, TRIES):
        block_key, point_key = jax.random.split(try_key)
        scores = np.asarray(jax.random.uniform(block_key, covered.shape))
        block = np.where(covered, -1.0, scores).argmax(axis=-1)
        point = np.asarray(jax.random.uniform(point_key, (scenes.count, 2)))
        tried = scenes.drop(poses, block, point, pending)
        changed = pending & (np.asarray(describe_all(tried)) != values).any(axis=-1)
        reached = jax.tree.map(lambda new, old, here=changed: np.where(here[:, None, None], new, old), tried, reached)
        pending &= ~changed
        if not pending.any():
            break
    return reached


@partial(jax.jit, static_argnums=1)
def _observe_and_describe(poses: Poses, size: int) -> tuple[jax.Array, jax.Array]:
    """`[B]` images of the scenes, and their attribute values."""
    return jax.vmap(lambda each: (render(each, size), describe_poses(each)))(poses)


def _on_host(poses: Poses) -> Poses:
    return jax.tree.map(np.asarray, poses)
