"""A replay buffer on the device, and its steps with goals in hindsight (hindsight experience replay).

Rows are kept as they were rolled out, time first: an attribute set that was reached later in the same episode is a goal
that the actions led to. All functions can be traced, and sampling is compiled together with the update. The planner's
buffer, `data.replay`, is on the host, and its goals are neighbouring sets.
"""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.baselines.task_env import TaskState
from attribute_planner.data.replay_batch import ReplayBatch
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Array, GoalObservation
from attribute_planner.models.encoders import NO_VALUE

Key = jax.Array

DRAWS = 8
"""How often a goal in hindsight that holds already is drawn again."""


class Rows(NamedTuple):
    """Steps on tasks, `[R, B, ...]`.

    snapshot: the states before, which `env.observe_batch` turns into observations.
    attributes, next_attributes: `uint32[R, B, W]` the packed attribute sets before and after.
    action: the actions.
    pursued: `int[R, B, A]` the goals of the tasks; `NO_VALUE` where an attribute is not specified.
    terminated: `bool[R, B]` the episode terminated with this step.
    over: `bool[R, B]` the next row belongs to another episode.
    """

    snapshot: Any
    attributes: Array
    next_attributes: Array
    action: Action
    pursued: Array
    terminated: Array
    over: Array


class HindsightReplay(NamedTuple):
    """The most recent steps of B environments; the oldest row is overwritten first.

    rows: the steps.
    end: `int32` the number of rows that were ever added; row i is stored at place i modulo R.
    """

    rows: Rows
    end: jax.Array

    @property
    def num_rows(self) -> int:
        """R, the number of rows that it can hold."""
        return self.rows.over.shape[0]

    @property
    def num_envs(self) -> int:
        """B, the number of environments."""
        return self.rows.over.shape[1]

    def at(self, number: Int[jax.Array, "*batch"], env: Int[jax.Array, "*batch"], column: Any) -> Any:
        """The steps with these numbers of these environments, in one of the columns."""
        return jax.tree.map(lambda leaf: leaf[number % self.num_rows, env], column)


class Chosen(NamedTuple):
    """Steps that were drawn from a buffer, `int32[N]`.

    number, env: which step of which environment.
    last: the number of the last step of the same episode in the buffer.
    """

    number: jax.Array
    env: jax.Array
    last: jax.Array


class GoalKinds(NamedTuple):
    """Which attribute sets are goals in hindsight.

    nearness: how often the set after a step is drawn, compared with the set one step before; 1 for equally often.
    whole: share of the goals that specify all attributes; the others specify as many as the goals of the tasks.
    """

    nearness: float = 1.0
    whole: float = 0.0


def rows_of(steps: Trajectories, space: AttributeSpace) -> Rows:
    """A rollout on tasks as rows of a buffer; it must hold snapshots, and the pursued goals as `info`."""
    steps = jax.tree.map(jnp.asarray, steps)
    small = np.min_scalar_type(-int(space.sizes.max()))  # holds every value and `NO_VALUE`
    return Rows(
        snapshot_without_task(steps.observation),
        steps.attributes,
        steps.next_attributes,
        steps.action,
        steps.info.astype(small),
        steps.terminated,
        steps.over,
    )


def snapshot_without_task(recorded: Any) -> Any:
    """The snapshot of the environment in that of an environment with tasks."""
    if isinstance(recorded, TaskState):
        return recorded.state
    return recorded.observation if isinstance(recorded, GoalObservation) else recorded


def empty_replay(rows: Rows, capacity: int) -> HindsightReplay:
    """A buffer for `capacity` steps such as these, at least for all of these."""
    length, num_envs = rows.over.shape
    num_rows = max(-(-capacity // num_envs), length)
    return HindsightReplay(
        jax.tree.map(lambda leaf: jnp.zeros((num_rows, *leaf.shape[1:]), leaf.dtype), rows), jnp.int32(0)
    )


@eqx.filter_jit(donate="all-except-first")
def add(rows: Rows, replay: HindsightReplay) -> HindsightReplay:
    """The buffer with rows that follow its last one. The buffer that was given is overwritten."""
    length = rows.over.shape[0]
    places = (replay.end + jnp.arange(length)) % replay.num_rows
    added = jax.tree.map(lambda column, leaf: column.at[places].set(leaf), replay.rows, rows)
    return HindsightReplay(added, replay.end + length)


def episode_ends(replay: HindsightReplay) -> Int[jax.Array, "R B"]:
    """The number of the last step of each row's episode in the buffer, for the oldest row first."""
    numbers = replay.end - replay.num_rows + jnp.arange(replay.num_rows)
    over = jnp.asarray(replay.rows.over)[numbers % replay.num_rows].at[-1].set(True)
    return jax.lax.cummin(jnp.where(over, numbers[:, None], replay.end), axis=0, reverse=True)


def draw_steps(replay: HindsightReplay, ends: Int[jax.Array, "R B"], count: int, *, key: Key) -> Chosen:
    """`count` uniformly random steps, given the `episode_ends` of the buffer."""
    number, env = _any_steps(replay, (count,), key=key)
    return Chosen(number, env, ends[number - (replay.end - replay.num_rows), env])


def _any_steps(replay: HindsightReplay, shape: tuple[int, ...], *, key: Key) -> tuple[jax.Array, jax.Array]:
    """The numbers and the environments of uniformly random steps."""
    number_key, env_key = jax.random.split(key)
    oldest = jnp.maximum(replay.end - replay.num_rows, 0)
    number = jax.random.randint(number_key, shape, oldest, replay.end)
    return number, jax.random.randint(env_key, shape, 0, replay.num_envs)


def hindsight_goals(
    replay: HindsightReplay, chosen: Chosen, space: AttributeSpace, kinds: GoalKinds, *, key: Key
) -> tuple[Int[jax.Array, "N A"], Bool[jax.Array, " N"]]:
    """For each step, a goal that was reached by it or later in its episode; and whether there is one.

    A goal is the attribute set after a random step of the rest of the episode (the strategy "future"). A goal that
    holds before the step is drawn again, at most `DRAWS` times, as the tasks do with their goals.
    """
    later_key, specified_key = jax.random.split(key)
    shape = (DRAWS, len(chosen.number))
    ahead = steps_ahead(jnp.broadcast_to((chosen.last - chosen.number)[None], shape), kinds.nearness, key=later_key)
    env = jnp.broadcast_to(chosen.env[None], shape)
    reached = space.unpack(replay.at(chosen.number[None] + ahead, env, replay.rows.next_attributes))
    goals = jnp.where(_specified(replay, shape, kinds.whole, key=specified_key), reached, NO_VALUE)
    before = space.unpack(replay.at(chosen.number, chosen.env, replay.rows.attributes))
    is_new = ~holds(goals, jnp.broadcast_to(before[None], goals.shape))
    first = jnp.argmax(is_new, axis=0)
    return jnp.take_along_axis(goals, first[None, :, None], axis=0)[0], is_new.any(axis=0)


def _specified(
    replay: HindsightReplay, shape: tuple[int, ...], whole: float, *, key: Key
) -> Bool[jax.Array, "*shape A"]:
    """Which attributes goals specify: a share `whole` of them all, the others what the goal of a random step does."""
    step_key, whole_key = jax.random.split(key)
    by_task = replay.at(*_any_steps(replay, shape, key=step_key), replay.rows.pursued) != NO_VALUE
    return by_task | (jax.random.uniform(whole_key, shape) < whole)[..., None]


def steps_ahead(most: Int[jax.Array, "*batch"], nearness: float, *, key: Key) -> Int[jax.Array, "*batch"]:
    """Random numbers from 0 to `most`, each of which is drawn `nearness` times as often as the one before."""
    uniform, count = jax.random.uniform(key, most.shape), (most + 1).astype(jnp.float32)
    ahead = uniform * count
    if nearness < 1:
        ahead = jnp.log1p(-uniform * (1 - nearness**count)) / math.log(nearness)  # the inverse of its distribution
    return jnp.minimum(ahead.astype(jnp.int32), most)


def holds(goal: Int[jax.Array, "*batch A"], values: Int[jax.Array, "*batch A"]) -> Bool[jax.Array, "*batch"]:
    """Whether goals hold in sets with these values."""
    return ((goal == NO_VALUE) | (goal == values)).all(axis=-1)


def replayed(
    replay: HindsightReplay,
    chosen: Chosen,
    goal: Int[jax.Array, "N A"],
    env: Environment,
    *,
    discount: float,
    n_step: int,
) -> ReplayBatch:
    """The steps with these goals, and what follows in the next `n_step` steps.

    Where an episode is cut off, the observation after its last step is not known: its return is bootstrapped from the
    observation before that step.
    """
    rows, space = replay.rows, env.attributes
    ahead = jnp.broadcast_to(jnp.arange(n_step)[None], (len(chosen.number), n_step))
    number, last, env_number = (
        jnp.broadcast_to(each[:, None], ahead.shape) for each in (chosen.number, chosen.last, chosen.env)
    )
    after = jnp.asarray(space.unpack(replay.at(number + ahead, env_number, rows.next_attributes)))
    arrives = (number + ahead <= last) & holds(jnp.broadcast_to(goal[:, None], after.shape), after)
    reached = arrives.any(axis=1)
    remaining = chosen.last - chosen.number
    terminates = replay.at(chosen.last, chosen.env, rows.terminated) & (remaining < n_step) & ~reached
    steps = jnp.where(reached, jnp.argmax(arrives, axis=1), jnp.minimum(remaining, n_step))
    here, then = (chosen.number, chosen.env), (chosen.number + steps, chosen.env)
    return ReplayBatch(
        observation=env.observe_batch(replay.at(*here, rows.snapshot)),
        values=space.unpack(replay.at(*here, rows.attributes)),
        goal=goal,
        action=replay.at(*here, rows.action),
        next_observation=env.observe_batch(replay.at(*then, rows.snapshot)),
        next_values=space.unpack(replay.at(*then, rows.attributes)),
        next_goal=goal,
        arrived=reached.astype(jnp.float32),
        discount=jnp.where(terminates, 0.0, discount ** steps.astype(jnp.float32)),
        weight=(reached | terminates | (steps > 0)).astype(jnp.float32),
    )
