"""The last attempts of practice, as positions in the replay buffer: a few numbers each, without observations."""

import numpy as np
from jaxtyping import Float, Int

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.replay import Replay
from attribute_planner.environments.spaces import ObservationSpec
from attribute_planner.environments.splits import given_observation

KEPT_ATTEMPTS = 20_000
"""Number of attempts that are kept, the latest ones."""

MAX_VALUES = 16_000_000
"""Largest number of values in all observations of a record; with large observations it has fewer attempts."""

FAILED, ARRIVED, CUT_OFF = 0, 1, 2
"""Outcomes of attempts. One that the end of its episode or epoch cut off might have arrived later."""

LONG = 0.9
"""An attempt that was cut off has failed if it took longer than this share of those that arrived."""

EPISODES_PER_ENV = 2**20
"""More episodes than an environment begins while its steps are in the buffer."""


class AttemptLog:
    """Attempts at transitions, in the order in which they ended."""

    def __init__(self, rows: Int[np.ndarray, "N 4"] | None = None) -> None:
        self._rows = np.zeros((0, 4), np.int64) if rows is None else rows

    @property
    def rows(self) -> Int[np.ndarray, "N 4"]:
        """First step, last step, environment and outcome of each attempt."""
        return self._rows

    def decided(self, replay: Replay) -> Int[np.ndarray, "N 4"]:
        """The attempts whose steps are still in the buffer, if they arrived or failed.

        An attempt that was cut off counts as failed if it took longer than most that arrived at the same transition,
        or at any one if none did there. Where episodes are short, few attempts fail in another way. Of shorter ones
        nothing is known.
        """
        rows = self._rows[self._rows[:, 0] >= replay.first]
        cut_off = rows[:, 3] == CUT_OFF
        if not cut_off.any():
            return rows
        begun = replay.steps_at(rows[:, 0], rows[:, 2])
        edge = np.unique(np.concatenate([begun.values, begun.pursued], axis=1), axis=0, return_inverse=True)[1]
        long = cut_off & (rows[:, 1] - rows[:, 0] > _usual_steps(rows, edge.reshape(-1)))
        return np.where((np.arange(4) == 3) & long[:, None], FAILED, rows)[~cut_off | long]

    def since(self, first: float) -> "AttemptLog":
        """The attempts that began at this step or later."""
        return AttemptLog(self._rows[self._rows[:, 0] >= first])

    def copy(self) -> "AttemptLog":
        """The attempts so far."""
        return AttemptLog(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def fits(self, replay: Replay) -> bool:
        """Whether the attempts are those of environments and steps that the buffer has seen."""
        return bool((self._rows[:, 1] < replay.end).all() and (self._rows[:, 2] < replay.num_envs).all())

    def add(
        self,
        last: Int[np.ndarray, " N"],
        env: Int[np.ndarray, " N"],
        age: Int[np.ndarray, " N"],
        outcome: Int[np.ndarray, " N"],
    ) -> None:
        """Attempts that ended: the numbers of their last steps, the steps before those, and the outcomes."""
        rows = np.stack([last - age, last, env, outcome], axis=1).astype(np.int64)
        self._rows = np.concatenate([self._rows, rows])[-KEPT_ATTEMPTS:]

    def record(self, replay: Replay, space: AttributeSpace, spec: ObservationSpec) -> AttemptRecord:
        """The attempts of `decided`; their last observation is that before the last step."""
        shown = max(MAX_VALUES // (2 * int(np.prod(spec.shape))), 1)
        rows = self.decided(replay)[-shown:]
        first, last, env, reached = rows.T
        start, end = replay.steps_at(first, env), replay.steps_at(last, env)
        return AttemptRecord(
            observation=np.asarray(given_observation(start.observation, spec)),
            source=np.asarray(space.pack(np.asarray(start.values, np.int32))),
            target=np.asarray(space.pack(np.asarray(end.pursued, np.int32))),
            reached=reached.astype(bool),
            last_observation=np.asarray(given_observation(end.observation, spec)),
            epoch=first,
            episode=env * EPISODES_PER_ENV + replay.episodes_at(first, env),
        )


def _usual_steps(rows: Int[np.ndarray, "N 4"], edge: Int[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """The steps within which most attempts arrive that arrive at the same transition."""
    arrived, steps = rows[:, 3] == ARRIVED, rows[:, 1] - rows[:, 0]
    anywhere = float(np.quantile(steps[arrived], LONG)) if arrived.any() else np.inf
    usual = np.full(edge.max() + 1, anywhere)
    for each in np.unique(edge[arrived]).tolist():
        usual[each] = np.quantile(steps[arrived & (edge == each)], LONG)
    return usual[edge]
