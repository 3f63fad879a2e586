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
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import Action, ActionSpace, GoalObservation, ObservationSpec
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import PureVectorEnv, TimeStep
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
            return _of_stage(stage, functions, state, start, jax.random.fold_in(key, number), then=with_all_fields)

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
        attempted = single_attempt(self.stages)[state.stage] & jnp.any(values != state.start)
        return jnp.asarray(state.goal.satisfied_by(values)) | attempted | self.env.terminated(state.state)

    def truncated(self, state: TaskState) -> jax.Array:
        return state.age >= max_steps(self.stages)[state.stage]


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


def nothing_to_do(stages: Sequence[Stage]) -> AttributePlannerError:
    """The error for tasks whose goals are all satisfied at the start."""
    names = ", ".join(stage.task.name for stage in stages)
    return AttributePlannerError(f"All goals drawn for {names} hold at the start: there is nothing to learn.")


def single_attempt(stages: Sequence[Stage]) -> jax.Array:
    """`bool[S]` whether an episode of each stage ends with the first change of the attributes."""
    return jnp.array([stage.single_attempt for stage in stages])


def max_steps(stages: Sequence[Stage]) -> jax.Array:
    """`int32[S]` the time limit of each stage."""
    return jnp.array([stage.task.max_steps for stage in stages], jnp.int32)


def _of_stage(
    stage: jax.Array, functions: Sequence[Callable], *arguments: Any, then: Callable[[Any], Any] = lambda drawn: drawn
) -> Any:
    """What the function of the stage returns; a function of several stages is traced once."""
    different = list(dict.fromkeys(functions))
    branches = [lambda *given, function=function: then(function(*given)) for function in different]
    which = jnp.array([different.index(function) for function in functions])
    return branches[0](*arguments) if len(branches) == 1 else jax.lax.switch(which[stage], branches, *arguments)


def with_all_fields(goal: Goal) -> Goal:
    """The goal with all its fields, so that goals of all tasks have the same structure."""
    at_least = jnp.zeros(goal.wanted.shape, bool) if goal.at_least is None else jnp.asarray(goal.at_least)
    return Goal(jnp.asarray(goal.values, jnp.int32), jnp.asarray(goal.wanted), at_least)
