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
from attribute_planner.data.replay_batch import (
    Goals,
    GoalShares,
    ReplayBatch,
    returns_of_survival,
    returns_to_goals,
)
from attribute_planner.data.replay_rows import NO_GOAL, Columns, widened
from attribute_planner.data.sequel import NEVER, Crossings, Sequel, crossings_of, hash_rows, sequel_of
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.spaces import Observation

REPEATABILITY_STEPS = 50_000
"""Steps on which it is measured whether actions lead to the same observation again."""
MAX_BYTES = 2**31
"""The buffer holds fewer steps than its capacity if they need more memory than this."""


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
        self._crossings: Crossings | None = None
        self._fatal_share = 0.0
        self.pending = 0.0

    @property
    def size(self) -> int:
        """Number of steps in the buffer."""
        return 0 if self._columns is None else self._filled * self._columns.over.shape[1]

    @property
    def num_envs(self) -> int:
        """Number of environments; 0 while it is empty."""
        return 0 if self._columns is None else self._columns.over.shape[1]

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

    def transitions(self, since: int = 0) -> tuple[Int[np.ndarray, "N A"], Int[np.ndarray, "N A"]]:
        """The values before and after each step that changed them, from step number `since` on."""
        columns = self._columns
        assert columns is not None, "the buffer is empty"
        places = np.arange(max(since, self.first), self._end) % self._rows
        before, after = columns.values[places], columns.next_values[places]
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
            self._rows = self.most_rows(added)
            self._columns = jax.tree.map(lambda leaf: np.zeros((self._rows, *leaf.shape[1:]), leaf.dtype), added)
        places = (self._end + np.arange(len(added.over))) % self._rows
        jax.tree.map(lambda column, leaf: column.__setitem__(places, leaf), self._columns, added)
        self._end += len(added.over)
        self.pending += added.over.size
        self._filled = min(self._end, self._rows)
        self._sequel = None

    def repeatability(self) -> float:
        """How often an action led to the same observation as the last time it was taken there, in the same episode.

        1 if none was taken twice. Measured on the last `REPEATABILITY_STEPS` steps.
        """
        columns, sequel = self._columns, self._read_sequel()
        assert columns is not None, "the buffer is empty"
        rows = np.arange(max(self._filled - REPEATABILITY_STEPS // columns.over.shape[1], 0), self._filled)
        place, known = sequel.place[rows], ~sequel.over[rows[:-1]]
        seen, action = (_codes(tree, place) for tree in (columns.observation, columns.action))
        here = (seen[:-1] * 31 + action[:-1]) * 31 + sequel.episode_start[rows[:-1]] * columns.over.shape[1]
        here = (here + np.arange(columns.over.shape[1]))[known]
        there = seen[1:][known]
        order = np.argsort(here, kind="stable")
        again = here[order][1:] == here[order][:-1]
        same = there[order][1:] == there[order][:-1]
        return float(same[again].mean()) if again.any() else 1.0

    def most_rows(self, added: Columns) -> int:
        """The number of rows that a buffer has that begins with these."""
        return max(-(-self._affordable(added) // added.over.shape[1]), len(added.over))

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
        self, count: int, goals: GoalShares, *, discount: float, n_step: int, random: np.random.Generator
    ) -> ReplayBatch:
        """`count` steps, each with a goal, and what they should be worth over the next `n_step` steps.

        Steps are drawn alike, but for those with a goal in hindsight that are drawn by transitions: any transition, one
        time it was taken, and one of the steps that led there.

        The worth of a goal is certain when it is reached, as far as episodes do not end in failure. The rest of it
        depends on how long the episode will go on from there, if a transition leads on from the goal and not only back.
        """
        columns, sequel = self._columns, self._read_sequel()
        assert columns is not None, "the buffer is empty"
        crossings = self._read_crossings()
        row = random.integers(0, self._filled, count)
        env = random.integers(0, columns.over.shape[1], count)
        kind = random.random(count)
        later = sequel.later(row, env, random)
        balanced = (kind < goals.hindsight * goals.balanced) & (crossings.num_edges > 0)
        if balanced.any():
            at, env[balanced] = crossings.draw(int(balanced.sum()), random)
            row[balanced] = sequel.before(at, env[balanced], round(1 / (1 - discount)), random)
            later[balanced] = at
        known = (kind < goals.hindsight) & (later < NEVER)
        goal = columns.pursued[sequel.place[row], env].copy()
        neighbour = (random.random(count) < goals.neighbours) | (goal[:, 0] == NO_GOAL)
        drawn, found = crossings.neighbours(columns.values[sequel.place[row], env], random)
        goal[neighbour & found] = drawn[neighbour & found]
        goal[known] = columns.next_values[sequel.place[later[known]], env[known]]
        goal[random.random(count) < goals.survival * self._fatal_share] = NO_GOAL
        return self._returns(row, env, Goals(goal, *crossings.ways_on(goal)), discount, n_step)

    def _read_sequel(self) -> Sequel:
        if self._sequel is None:
            columns = self._columns
            assert columns is not None
            place = np.arange(self.first, self._end) % self._rows
            changed = (columns.values[place] != columns.next_values[place]).any(axis=-1)
            self._sequel = sequel_of(place, columns.over[place], changed)
            self._crossings, self._fatal_share = None, self._measure_fatal_share()
        return self._sequel

    @property
    def fatal_share(self) -> float:
        """The share of the episodes that pursued something at their end and were ended by something else."""
        self._read_sequel()
        return self._fatal_share

    def _measure_fatal_share(self) -> float:
        columns = self._columns
        assert columns is not None
        place, env = np.nonzero(columns.over[: self._filled] & (columns.pursued[: self._filled, :, 0] != NO_GOAL))
        missed = (columns.next_values[place, env] != columns.pursued[place, env]).any(axis=-1)
        return float((columns.terminated[place, env] & missed).mean()) if len(place) else 0.0

    def _read_crossings(self) -> Crossings:
        sequel, columns = self._read_sequel(), self._columns
        assert columns is not None
        if self._crossings is None:
            row, env = np.nonzero(sequel.next_change == np.arange(len(sequel.place))[:, None])
            place = sequel.place[row]
            self._crossings = crossings_of(row, env, columns.values[place, env], columns.next_values[place, env])
        return self._crossings

    def _returns(self, row: np.ndarray, env: np.ndarray, goals: Goals, discount: float, n_step: int) -> ReplayBatch:
        """The steps, and what follows in the next `n_step` steps."""
        columns, sequel = self._columns, self._read_sequel()
        assert columns is not None
        goal = goals.values
        reached, continues = np.zeros(len(row), bool), np.zeros(len(row), bool)
        running, steps = np.ones(len(row), bool), np.zeros(len(row), int)
        ended = np.zeros(len(row), bool)
        for _ in range(n_step):
            at = np.minimum(row + steps, len(sequel.place) - 1)
            place = sequel.place[at]
            terminated, over = columns.terminated[place, env], sequel.over[at, env]
            arrives = (columns.next_values[place, env] == goal).all(axis=-1) & ~(terminated & goals.leads_on)
            # Where an episode is cut off, the observation after the step is not known: it ends one step earlier.
            steps += running & (arrives | terminated | ~over)
            reached |= running & arrives
            leads_further = goals.leads_on & (columns.values[place, env] != goals.only_neighbour).any(axis=-1)
            continues |= running & arrives & leads_further & ~over
            ended |= running & terminated & ~arrives
            running &= ~(arrives | terminated | over)
        after = sequel.place[np.minimum(row + steps, len(sequel.place) - 1)]
        here = sequel.place[row]
        away = (columns.values[here, env] != goal).any(axis=-1)
        has_goal = goal[:, 0] != NO_GOAL
        towards = returns_to_goals(reached, continues, ended, steps, discount, certain=1 - self._fatal_share)
        arrived, factor = np.where(has_goal, towards, returns_of_survival(ended, steps, discount))
        return ReplayBatch(
            observation=jax.tree.map(lambda leaf: leaf[here, env], columns.observation),
            values=columns.values[here, env],
            goal=goal,
            action=jax.tree.map(lambda leaf: leaf[here, env], columns.action),
            next_observation=jax.tree.map(lambda leaf: leaf[after, env], columns.observation),
            next_values=columns.values[after, env],
            next_goal=np.where(continues[:, None], NO_GOAL, goal),
            arrived=arrived.astype(np.float32),
            discount=factor.astype(np.float32),
            weight=((has_goal | (self._fatal_share > 0)) & (steps > 0) & away).astype(np.float32),
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


def _codes(tree: Any, place: np.ndarray) -> np.ndarray:
    """`int64[n, B]` a hash of each of the stored rows `[n]`."""
    total = np.zeros((), np.int64)
    for leaf in jax.tree.leaves(tree):
        rows = leaf[place].reshape(len(place), leaf.shape[1], -1)
        total = total * 31 + hash_rows(rows.astype(np.float32).view(np.int32))
    return total
