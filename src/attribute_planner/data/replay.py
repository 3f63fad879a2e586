"""A replay buffer of recorded steps, and batches of them with goals set in hindsight.

Steps are kept as they were rolled out, time first, so that what followed a step is known: an attribute set that was
reached later in the same episode is a goal that its actions reached.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.replay_rows import NEVER, NO_GOAL, Columns, Sequel, sequel_of, widened
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.spaces import Action, Observation

MAX_CHANGES = 4
"""A goal in hindsight is at most this many changes of the attributes ahead."""
MAX_BYTES = 2**31
"""The buffer holds fewer steps than its capacity if they need more memory than this."""


class ReplayBatch(NamedTuple):
    """Steps with goals, `[N, ...]`.

    observation, values, goal, action: before the step; values and goals are `int[N, A]`.
    next_observation, next_values: where the return is bootstrapped.
    reached: `bool[N]` the goal was reached before that.
    discount: `float32[N]` the discount of what is bootstrapped, or of the goal; 0 if the episode ended without it.
    weight: `float32[N]` 0 for steps whose successor is not known.
    """

    observation: Observation
    values: Any
    goal: Any
    action: Action
    next_observation: Observation
    next_values: Any
    reached: Any
    discount: Any
    weight: Any


class ReplayState(NamedTuple):
    """The counters of a buffer; with its rows, all that is needed to continue.

    end: the number of rows that were ever added; row i is stored at place i modulo `rows`.
    rows: the number of rows that it can hold.
    pending: the number of steps that were added and have not been learned from yet.
    """

    end: int
    rows: int
    pending: float


class Replay:
    """The most recent steps of `num_envs` environments.

    capacity: the number of steps to keep.
    pending: the number of steps that were added and have not been learned from yet.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._columns: Columns | None = None
        self._rows = 0
        self._filled = 0
        self._end = 0
        self._sequel: Sequel | None = None
        self.pending = 0.0

    @property
    def size(self) -> int:
        """Number of steps in the buffer."""
        return 0 if self._columns is None else self._filled * self._columns.over.shape[1]

    @property
    def end(self) -> int:
        """The number that the next step of each environment will have; steps are numbered from 0."""
        return self._end

    @property
    def first(self) -> int:
        """The number of the oldest step in the buffer."""
        return self._end - self._filled

    def steps_at(self, number: Int[np.ndarray, " N"], env: Int[np.ndarray, " N"]) -> Columns:
        """The steps with these numbers, which must be in the buffer, of these environments."""
        assert self._columns is not None, "the buffer is empty"
        return jax.tree.map(lambda column: column[number % self._rows, env], self._columns)

    def episodes_at(self, number: Int[np.ndarray, " N"], env: Int[np.ndarray, " N"]) -> Int[np.ndarray, " N"]:
        """The episode of each of these steps, numbered by environment."""
        over = self._read_sequel().over
        begun = np.cumsum(over, axis=0) - over
        return begun[number - self.first, env]

    def append_values(self, values_of: Callable[[Observation], np.ndarray]) -> None:
        """Describe all steps by further attributes, whose values `[..., H]` follow from observations `[..., *shape]`.

        The goal of a step gets the values at that step. The observation after the last step of an episode is
        not known: the new values are taken to stay as they were.
        """
        columns = self._columns
        assert columns is not None, "the buffer is empty"
        order = np.arange(self.first, self._end) % self._rows
        self.restore(self.state, widened(jax.tree.map(lambda column: column[order], columns), values_of))

    def transitions(self) -> tuple[Int[np.ndarray, "N A"], Int[np.ndarray, "N A"]]:
        """The values before and after each step that changed them."""
        columns = self._columns
        assert columns is not None, "the buffer is empty"
        before, after = columns.values[: self._filled], columns.next_values[: self._filled]
        changed = (before != after).any(axis=-1)
        return before[changed].astype(np.int32), after[changed].astype(np.int32)

    @property
    def state(self) -> ReplayState:
        """The counters of the buffer."""
        return ReplayState(self._end, self._rows, self.pending)

    def rows_since(self, row: int) -> tuple[int, Columns] | None:
        """The rows from number `row` on, or from the oldest that is left, and the number of the first; cut at the end.

        `None` if there are none.
        """
        first = max(row, self._end - self._filled)
        if self._columns is None or first >= self._end:
            return None
        places = np.arange(first, self._end) % self._rows
        columns: Columns = jax.tree.map(lambda column: column[places], self._columns)
        columns.over[-1] = True
        return first, columns

    def restore(self, state: ReplayState, columns: Columns) -> None:
        """Fill the buffer with the last rows that it held in this state."""
        self._end, self._rows, self.pending = state
        self._filled = len(columns.over)
        places = np.arange(self._end - self._filled, self._end) % self._rows
        self._columns = jax.tree.map(lambda leaf: np.zeros((self._rows, *leaf.shape[1:]), leaf.dtype), columns)
        jax.tree.map(lambda column, leaf: column.__setitem__(places, leaf), self._columns, columns)
        self._sequel = None

    def add(
        self,
        trajectories: Trajectories,
        values: Int[np.ndarray, "T B A"],
        next_values: Int[np.ndarray, "T B A"],
        pursued: Int[np.ndarray, "T B A"],
    ) -> None:
        """Append steps that follow the last ones; `pursued`: the goal of each, or `NO_GOAL`."""
        trajectories = trajectories.on_host()
        added = Columns(
            trajectories.observation,
            values,
            trajectories.action,
            next_values,
            pursued,
            trajectories.terminated,
            trajectories.over,
        )
        if self._columns is None:
            self._rows = max(-(-self._affordable(added) // added.over.shape[1]), len(added.over))
            self._columns = jax.tree.map(lambda leaf: np.zeros((self._rows, *leaf.shape[1:]), leaf.dtype), added)
        places = (self._end + np.arange(len(added.over))) % self._rows
        jax.tree.map(lambda column, leaf: column.__setitem__(places, leaf), self._columns, added)
        self._end += len(added.over)
        self.pending += added.over.size
        self._filled = min(self._end, self._rows)
        self._sequel = None

    def _affordable(self, added: Columns) -> int:
        """The number of steps to keep, given some of them."""
        bytes_of_step = sum(leaf.nbytes for leaf in jax.tree.leaves(added)) / added.over.size
        return min(self.capacity, int(MAX_BYTES / bytes_of_step))

    def cut(self) -> None:
        """Mark the end of all episodes: the steps that are added next begin new ones."""
        if self._columns is not None:
            self._columns.over[(self._end - 1) % self._rows] = True
            self._sequel = None

    def sample(
        self, count: int, *, hindsight: float, discount: float, n_step: int, random: np.random.Generator
    ) -> ReplayBatch:
        """`count` random steps, each with a goal: one that was reached later, or the one that was pursued.

        hindsight: the fraction of steps with a goal in hindsight; steps without a pursued goal always have one.
        """
        columns, sequel = self._columns, self._read_sequel()
        assert columns is not None, "the buffer is empty"
        row = random.integers(0, self._filled, count)
        env = random.integers(0, columns.over.shape[1], count)
        pursued = columns.pursued[sequel.place[row], env]
        later = self._later(sequel, row, env, random)
        known = later < NEVER
        in_hindsight = known & ((random.random(count) < hindsight) | (pursued[:, 0] == NO_GOAL))
        landed = columns.next_values[sequel.place[np.where(known, later, 0)], env]
        goal = np.where(in_hindsight[:, None], landed, pursued)
        return self._returns(sequel, row, env, goal, discount, n_step)

    def _read_sequel(self) -> Sequel:
        if self._sequel is None:
            assert self._columns is not None
            self._sequel = sequel_of(self._columns, self._end, self._filled, self._rows)
        return self._sequel

    def _later(self, sequel: Sequel, row: np.ndarray, env: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """`[N]` the row of a change later in the episode; `NEVER` if there is none.

        Where there are enough, the first to fourth are drawn with probabilities 1/8, 3/8, 3/8 and 1/8.
        """
        change = sequel.next_change[row, env]
        for _ in range(MAX_CHANGES - 1):
            onward = np.minimum(change + 1, len(sequel.place) - 1)
            following = sequel.next_change[onward, env]
            same_episode = (change < NEVER) & (change < sequel.episode_end[row, env]) & (following < NEVER)
            change = np.where(same_episode & (random.random(len(row)) < 0.5), following, change)
        return change

    def _returns(
        self, sequel: Sequel, row: np.ndarray, env: np.ndarray, goal: np.ndarray, discount: float, n_step: int
    ) -> ReplayBatch:
        columns = self._columns
        assert columns is not None
        reached = np.zeros(len(row), bool)
        running, steps = goal[:, 0] != NO_GOAL, np.zeros(len(row), int)
        ended = np.zeros(len(row), bool)
        for _ in range(n_step):
            at = np.minimum(row + steps, len(sequel.place) - 1)
            place = sequel.place[at]
            arrives = (columns.next_values[place, env] == goal).all(axis=-1)
            terminated, over = columns.terminated[place, env], sequel.over[at, env]
            # Where an episode is cut off, the observation after the step is not known: it ends one step earlier.
            steps += running & (arrives | terminated | ~over)
            reached |= running & arrives
            ended |= running & terminated & ~arrives
            running &= ~(arrives | terminated | over)
        after = sequel.place[np.minimum(row + steps, len(sequel.place) - 1)]
        here = sequel.place[row]
        power = np.where(reached, steps - 1, steps)
        return ReplayBatch(
            observation=jax.tree.map(lambda leaf: leaf[here, env], columns.observation),
            values=columns.values[here, env],
            goal=goal,
            action=jax.tree.map(lambda leaf: leaf[here, env], columns.action),
            next_observation=jax.tree.map(lambda leaf: leaf[after, env], columns.observation),
            next_values=columns.values[after, env],
            reached=reached,
            discount=np.where(ended, 0.0, discount**power).astype(np.float32),
            weight=((goal[:, 0] != NO_GOAL) & (steps > 0)).astype(np.float32),
        )


def remember(
    replay: Replay,
    space: AttributeSpace,
    trajectories: Trajectories,
    pursued: Int[np.ndarray, "T B A"] | None = None,
) -> None:
    """Add rolled-out steps; `pursued`: the goals, by default none."""
    # One type for all additions, which holds every value and `NO_GOAL`.
    kind = np.min_scalar_type(-int(space.sizes.max()))
    values, next_values = (
        np.asarray(space.unpack(np.asarray(words))).astype(kind)
        for words in (trajectories.attributes, trajectories.next_attributes)
    )
    pursued = np.full_like(values, NO_GOAL) if pursued is None else pursued.astype(kind)
    replay.add(trajectories, values, next_values, pursued)
