"""Tasks as environments on the host; `task_env` has those that can be traced."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.baselines.task_env import DRAWS, max_steps, nothing_to_do, single_attempt, with_all_fields
from attribute_planner.baselines.training_distribution import Stage, goal_values
from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, GoalObservation
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import AttributePlannerError

Key = jax.Array


class DrawnTasks(NamedTuple):
    """Tasks of one stage: states `[B]`, goals `[B, A]`, and the rows in which the goal does not hold at the start."""

    states: Any
    goal: Goal
    stage: int
    rows: np.ndarray


class HostTaskEnvs(VectorEnv):
    """Environments on the host, with tasks. `open_stages` may be set at any time.

    Drawing a task may cost as much as many steps of physics. Where states can be restored, a batch of tasks is drawn
    in other environments, and each task is attempted `tries` times. Elsewhere each episode has its own task.
    """

    def __init__(self, env: Environment, stages: tuple[Stage, ...], num_envs: int, tries: int) -> None:
        self.num_envs, self.open_stages, self._stages, self._tries = num_envs, 1, stages, tries
        self._envs, self._drawing = env.vector_env(num_envs), env.vector_env(num_envs)
        self._drawn: DrawnTasks | None = None
        self._used, self._can_restore = 0, True
        shape = (num_envs, len(env.attributes))
        self._goal = Goal(np.zeros(shape, np.int32), np.zeros(shape, bool), np.zeros(shape, bool))
        self._stage, self._age = np.zeros(num_envs, int), np.zeros(num_envs, int)
        self._start = np.zeros(shape, np.int32)
        self._states: Any = None

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        self._states = None
        return self.reset_where(np.ones(self.num_envs, bool), key, task)

    def reset_where(self, which: np.ndarray, key: Key, task: Task | None = None) -> TimeStep:
        del task  # the curriculum sets the tasks
        timestep = self._restored(which, key) if self._can_restore else None
        self._can_restore = timestep is not None
        timestep = self._reset(which, key) if timestep is None else timestep
        self._age[which], self._start[which] = 0, np.asarray(timestep.attributes)[which]
        return self._with_task(timestep)

    def step(self, action: Action, key: Key) -> TimeStep:
        timestep = self._envs.step(action, key)
        self._age += 1
        return self._with_task(timestep)

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return self._envs.sample_goals(task, key)

    def render(self, index: int) -> np.ndarray:
        return self._envs.render(index)

    def close(self) -> None:
        self._envs.close()
        self._drawing.close()

    def _restored(self, which: np.ndarray, key: Key) -> TimeStep | None:
        """The environments `which` at the starts of tasks that were drawn before; `None` if that is not possible."""
        if self._drawn is None or self._used >= self._tries * len(self._drawn.rows):
            self._drawn, self._used = self._draw(key), 0
        drawn, places = self._drawn, self._used + np.cumsum(which) - 1
        rows = drawn.rows[places % len(drawn.rows)]
        states = jax.tree.map(lambda leaf: np.asarray(leaf)[rows], drawn.states)
        timestep = self._envs.restore_state(states if self._states is None else _chosen(which, states, self._states))
        self._used += int(which.sum())
        self._set_tasks(which, jax.tree.map(lambda leaf: leaf[rows], drawn.goal), drawn.stage)
        return timestep

    def _draw(self, key: Key) -> DrawnTasks:
        number, stage, (start_key, goal_key) = self._random_stage(key)
        timestep = self._drawing.reset(start_key, stage.task)
        goal = _host_goal(self._drawing.sample_goals(stage.task, goal_key))
        rows = np.flatnonzero(~np.asarray(goal.satisfied_by(_attributes(timestep))))
        if not len(rows):
            raise nothing_to_do(self._stages)
        return DrawnTasks(timestep.states, goal, number, rows)

    def _reset(self, which: np.ndarray, key: Key) -> TimeStep:
        """The environments `which` at their own start states, with goals of one stage that do not hold there."""
        number, stage, (start_key, goal_key) = self._random_stage(key)
        everywhere = which.all()
        timestep = self._envs.reset(start_key, stage.task) if everywhere else self._envs.reset_where(which, start_key)
        values = _attributes(timestep)
        first_key, *other_keys = jax.random.split(goal_key, DRAWS)
        goal = _host_goal(self._envs.sample_goals(stage.task, first_key))
        for draw_key in other_keys:
            solved = which & np.asarray(goal.satisfied_by(values))
            if not solved.any():
                break
            goal = _chosen(solved, _host_goal(self._envs.sample_goals(stage.task, draw_key)), goal)
        self._set_tasks(which, goal, number)
        return timestep

    def _random_stage(self, key: Key) -> tuple[int, Stage, jax.Array]:
        stage_key, *other_keys = jax.random.split(key, 3)
        number = int(jax.random.randint(stage_key, (), 0, self.open_stages))
        return number, self._stages[number], jnp.stack(other_keys)

    def _set_tasks(self, which: np.ndarray, goal: Goal, stage: int) -> None:
        self._goal, self._stage = _chosen(which, goal, self._goal), np.where(which, stage, self._stage)

    def _with_task(self, timestep: TimeStep) -> TimeStep:
        values = _attributes(timestep)
        reached = np.asarray(self._goal.satisfied_by(values))
        attempted = np.asarray(single_attempt(self._stages))[self._stage] & (values != self._start).any(axis=-1)
        late = self._age >= np.asarray(max_steps(self._stages))[self._stage]
        observation = GoalObservation(timestep.observation, np.asarray(goal_values(self._goal)), reached)
        self._states = timestep.states
        return TimeStep(
            observation, values, timestep.terminated | reached | attempted, timestep.truncated | late, timestep.states
        )


def _host_goal(goal: Goal) -> Goal:
    return jax.tree.map(np.asarray, with_all_fields(goal))


def _chosen(which: np.ndarray, then: Any, otherwise: Any) -> Any:
    """Rows `which` `[B]` of one tree, the others of the other, in NumPy arrays."""

    def choose(new: Any, old: Any) -> np.ndarray:
        return np.where(which.reshape(-1, *[1] * (np.ndim(new) - 1)), np.asarray(new), np.asarray(old))

    return jax.tree.map(choose, then, otherwise)


def _attributes(timestep: TimeStep) -> np.ndarray:
    """`int32[B, A]` the true attributes, which baselines observe."""
    if timestep.attributes is None:
        raise AttributePlannerError("Baselines need an environment with an attribute function.")
    return np.asarray(timestep.attributes, np.int32)
