"""Tasks as an environment: the observation carries a goal, and an episode is one attempt at a task.

A task is drawn at every reset, from the stages that are open. An episode terminates when its goal is reached, when a
single attempt has changed the attributes, or when the environment terminates; the task's time limit truncates it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.baselines.training_distribution import Stage, goal_values
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.spaces import Action, ActionSpace, GoalObservation, ObservationSpec
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import PureVectorEnv, TimeStep, VectorEnv
from attribute_planner.errors import AttributePlannerError

Key = jax.Array

DRAWS = 50
"""How often goals that hold at the start are drawn again."""


class TaskState(NamedTuple):
    """A state of the environment and the task that is attempted.

    stage: `int32` the number of the task's stage.
    start: `int32[A]` the attributes at the start of the episode.
    age: `int32` steps since then.
    """

    state: Any
    goal: Goal
    stage: Any
    start: Any
    age: Any


class TaskEnvironment(eqx.Module, PureEnvironment):
    """A pure environment with tasks. It is a pytree, so that opening a stage compiles nothing again.

    open_stages: `int32` tasks are drawn from the first `open_stages` stages.
    """

    name = "tasks"
    env: PureEnvironment = eqx.field(static=True)
    stages: tuple[Stage, ...] = eqx.field(static=True)
    open_stages: jax.Array
    episode_steps: int = eqx.field(static=True)

    @property
    def attributes(self) -> AttributeSpace:
        return self.env.attributes

    @property
    def observation(self) -> ObservationSpec:
        return self.env.observation

    @property
    def actions(self) -> ActionSpace:
        return self.env.actions

    @property
    def num_units(self) -> int | None:
        return self.env.num_units

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {stage.task.name: stage.task for stage in self.stages}

    def reset(self, key: Key) -> TaskState:
        stage_key, start_key, goal_key = jax.random.split(key, 3)
        stage = jax.random.randint(stage_key, (), 0, self.open_stages)
        state = _of_stage(stage, [each.task.start or self.env.reset for each in self.stages], start_key)
        start = self.env.describe(state)
        return TaskState(state, self._unsolved_goal(stage, state, start, goal_key), stage, start, jnp.int32(0))

    def _unsolved_goal(self, stage: jax.Array, state: Any, start: jax.Array, key: Key) -> Goal:
        """A goal of the stage, drawn again while it holds at the start, at most `DRAWS` times."""
        functions = [each.task.goal for each in self.stages]

        def draw(number: int | jax.Array) -> Goal:
            return _of_stage(stage, functions, state, start, jax.random.fold_in(key, number), then=_with_all_fields)

        def again(drawn: tuple[jax.Array, Goal]) -> tuple[jax.Array, Goal]:
            return drawn[0] + 1, draw(drawn[0])

        def is_needed(drawn: tuple[jax.Array, Goal]) -> jax.Array:
            return jnp.asarray(drawn[1].satisfied_by(start)) & (drawn[0] < DRAWS)

        return jax.lax.while_loop(is_needed, again, (jnp.int32(1), draw(0)))[1]

    def step(self, state: TaskState, action: Action, key: Key) -> TaskState:
        return state._replace(state=self.env.step(state.state, action, key), age=state.age + 1)

    def observe(self, state: TaskState) -> GoalObservation:
        reached = jnp.asarray(state.goal.satisfied_by(self.describe(state)))
        return GoalObservation(self.env.observe(state.state), goal_values(state.goal), reached)

    def describe(self, state: TaskState) -> jax.Array:
        return self.env.describe(state.state)

    def terminated(self, state: TaskState) -> jax.Array:
        values = self.describe(state)
        attempted = _single_attempt(self.stages)[state.stage] & jnp.any(values != state.start)
        return jnp.asarray(state.goal.satisfied_by(values)) | attempted | self.env.terminated(state.state)

    def truncated(self, state: TaskState) -> jax.Array:
        return state.age >= _max_steps(self.stages)[state.stage]


class PureTaskEnvs(PureVectorEnv):
    """Environments of a pure environment with tasks, all in one compiled scan. `open_stages` may be set at any time."""

    def __init__(self, env: PureEnvironment, stages: tuple[Stage, ...], num_envs: int) -> None:
        longest = max(stage.task.max_steps for stage in stages)
        super().__init__(TaskEnvironment(env, stages, jnp.int32(1), longest), num_envs)

    @property
    def open_stages(self) -> int:
        return int(self.env.open_stages)  # pyright: ignore[reportAttributeAccessIssue]

    @open_stages.setter
    def open_stages(self, count: int) -> None:
        self.env = eqx.tree_at(lambda env: env.open_stages, self.env, jnp.int32(count))

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        del task
        states, observation, values = _first_states(self.env, jax.random.split(key, self.num_envs))
        over = np.zeros(self.num_envs, bool)
        return TimeStep(observation, values, over, over, states)


@eqx.filter_jit
def _first_states(env: PureEnvironment, keys: Key) -> tuple[Any, Any, jax.Array]:
    states = jax.vmap(env.reset)(keys)
    return states, jax.vmap(env.observe)(states), jax.vmap(env.describe)(states)


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
        attempted = np.asarray(_single_attempt(self._stages))[self._stage] & (values != self._start).any(axis=-1)
        late = self._age >= np.asarray(_max_steps(self._stages))[self._stage]
        observation = GoalObservation(timestep.observation, np.asarray(goal_values(self._goal)), reached)
        self._states = timestep.states
        return TimeStep(
            observation, values, timestep.terminated | reached | attempted, timestep.truncated | late, timestep.states
        )


def task_envs(env: Environment, stages: tuple[Stage, ...], num_envs: int, *, tries: int) -> PureTaskEnvs | HostTaskEnvs:
    """Environments with tasks of these stages, of which the first is open."""
    if isinstance(env, PureEnvironment):
        return PureTaskEnvs(env, stages, num_envs)
    return HostTaskEnvs(env, stages, num_envs, tries)


def nothing_to_do(stages: Sequence[Stage]) -> AttributePlannerError:
    """The error for tasks whose goals are all satisfied at the start."""
    names = ", ".join(stage.task.name for stage in stages)
    return AttributePlannerError(f"All goals drawn for {names} hold at the start: there is nothing to learn.")


def _single_attempt(stages: Sequence[Stage]) -> jax.Array:
    return jnp.array([stage.single_attempt for stage in stages])


def _max_steps(stages: Sequence[Stage]) -> jax.Array:
    return jnp.array([stage.task.max_steps for stage in stages], jnp.int32)


def _of_stage(
    stage: jax.Array, functions: Sequence[Callable], *arguments: Any, then: Callable[[Any], Any] = lambda drawn: drawn
) -> Any:
    """What the function of the stage returns; a function of several stages is traced once."""
    different = list(dict.fromkeys(functions))
    branches = [lambda *given, function=function: then(function(*given)) for function in different]
    which = jnp.array([different.index(function) for function in functions])
    return branches[0](*arguments) if len(branches) == 1 else jax.lax.switch(which[stage], branches, *arguments)


def _with_all_fields(goal: Goal) -> Goal:
    """The goal with all its fields, so that goals of all tasks have the same structure."""
    at_least = jnp.zeros(goal.wanted.shape, bool) if goal.at_least is None else jnp.asarray(goal.at_least)
    return Goal(jnp.asarray(goal.values, jnp.int32), jnp.asarray(goal.wanted), at_least)


def _host_goal(goal: Goal) -> Goal:
    return jax.tree.map(np.asarray, _with_all_fields(goal))


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
