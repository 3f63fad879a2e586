"""`check_environment`: steps an environment at random and reports what is wrong with it.

A fault is an `EnvironmentFaultError` of one line that says what is wrong, and where. Things that are unusual but
possible are warnings in the report.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool

from attribute_planner.attributes import Goal
from attribute_planner.data.random_actions import any_action
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Actor
from attribute_planner.environments.contract import (
    blaming,
    check_declaration,
    check_goals,
    check_image,
    check_timestep,
)
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.purity import check_purity
from attribute_planner.environments.spaces import Action, FlatSpec, Observation
from attribute_planner.environments.tasks import Task, is_solved_at_start
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import EnvironmentFaultError, require_positive
from attribute_planner.evaluation.observation_report import observation_lines

Key = jax.Array

NUM_ENVS = 8
"""Number of environments that are stepped at once."""

GOALS_PER_ENV = 4
"""Number of goals that are sampled for each start of a task."""


@dataclass(frozen=True)
class EnvironmentReport:
    """Result of a check that found no fault.

    environment: name of the environment.
    steps, episodes: number of steps and of finished episodes in all environments together.
    attribute_sets, transitions: number of different ones observed; `None` if f is not given.
    observation: how the network encodes each part of an observation.
    tasks: names of the tasks.
    image: height and width of rendered images; `None` if the environment cannot be rendered.
    warnings: what is unusual but possible.
    """

    environment: str
    steps: int
    episodes: int
    attribute_sets: int | None
    transitions: int | None
    observation: tuple[str, ...]
    tasks: tuple[str, ...]
    image: tuple[int, int] | None
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.environment}: no fault in {self.steps:,} random steps; {self.episodes:,} episodes ended"]
        if self.attribute_sets is not None:
            lines.append(
                f"  observed: {self.attribute_sets:,} attribute sets, {self.transitions:,} transitions between them"
            )
        lines += [f"  observation: {line}" for line in self.observation]
        lines.append(f"  tasks: {', '.join(self.tasks) or 'none'}")
        lines.append("  images: " + (f"{self.image[0]} × {self.image[1]} pixels" if self.image else "none"))
        return "\n".join(lines + [f"  warning: {warning}" for warning in self.warnings])


def check_environment(env: Environment, steps: int = 200, seed: int = 0) -> EnvironmentReport:
    """Take `steps` random steps in each of a few environments, sample every task, and raise an error at any fault."""
    require_positive("steps", steps)
    action_key, purity_key, step_key, partial_key, task_key = jax.random.split(jax.random.key(seed), 5)
    with blaming(env, "declaration"):
        check_declaration(env)
    if isinstance(env, PureEnvironment):
        action = jax.tree.map(lambda leaf: leaf[0], any_action(env, 1, key=action_key))
        check_purity(env, action, key=purity_key)
    with blaming(env, f"vector_env({NUM_ENVS})"):
        envs = CheckedVectorEnv(env, env.vector_env(NUM_ENVS))
    try:
        actor = _UniformActions(env)
        rollout(actor, envs, steps, space=env.attributes, key=step_key, keep="nothing", episode_steps=env.episode_steps)
        observed = replace(envs.observed)
        _reset_some(envs, key=partial_key)
        task_keys = jax.random.split(task_key, len(_all_tasks(env)))
        remarks = [
            remark
            for task, key in zip(_all_tasks(env), task_keys, strict=True)
            for remark in _sample_task(env, envs, task, key=key)
        ]
        image = _image_size(env, envs)
    finally:
        envs.close()
    return EnvironmentReport(
        environment=env.name,
        steps=steps * NUM_ENVS,
        episodes=observed.episodes,
        attribute_sets=len(observed.sets) if env.has_attribute_fn else None,
        transitions=len(observed.transitions) if env.has_attribute_fn else None,
        observation=observation_lines(env.observation, np.concatenate(envs.flat)),
        tasks=tuple(env.tasks),
        image=image,
        warnings=(*_warnings(env, observed, steps), *remarks),
    )


class _UniformActions(Actor[None]):
    """Acts uniformly at random. It is not traced: the check does not compile what it runs once."""

    env: Environment = eqx.field(static=True)
    traceable: ClassVar[bool] = False

    def begin(self, num_envs: int, *, key: Key) -> None:
        del num_envs, key

    def act(self, memory: None, observation: Observation, attributes: Any, *, key: Key) -> tuple[None, Action, None]:
        del memory, observation, attributes
        return None, any_action(self.env, NUM_ENVS, key=key), None


@dataclass
class Observed:
    """Statistics of the steps taken; `changed` `bool[A]` says which attributes a step has changed."""

    changed: np.ndarray
    episodes: int = 0
    sets: set[int] = field(default_factory=set)
    transitions: set[tuple[int, int]] = field(default_factory=set)


class CheckedVectorEnv(VectorEnv):
    """Passes all calls on to a `VectorEnv`, and checks and counts what it returns; `flat` has all raw observations."""

    def __init__(self, env: Environment, envs: VectorEnv) -> None:
        self.env, self.inner, self.num_envs = env, envs, envs.num_envs
        self.observed = Observed(np.zeros(len(env.attributes), bool))
        self._steps, self._ages = 0, np.zeros(envs.num_envs, int)
        self._last: TimeStep | None = None
        self.flat: list[np.ndarray] = [np.zeros((0, *env.observation.shape), env.observation.dtype)]

    def reset(self, key: Key, task: Task | None = None) -> TimeStep:
        with blaming(self.env, "reset" if task is None else f"start of task {task.name!r}"):
            self._last = self._checked(self.inner.reset(key, task))
        self._ages[:] = 0
        return self._last

    def reset_where(self, which: Bool[np.ndarray, "B"], key: Key, task: Task | None = None) -> TimeStep:
        with blaming(self.env, f"reset of some environments after step {self._steps}"):
            timestep = self._checked(self.inner.reset_where(which, key, task))
            if self._last is not None:
                _check_unchanged(self._last, timestep, ~which)
        self._ages[which], self._last = 0, timestep
        self.observed.episodes += int(which.sum())
        return timestep

    def step(self, action: Action, key: Key) -> TimeStep:
        self._steps += 1
        self._ages += 1
        with blaming(self.env, f"step {self._steps}"):
            timestep = self._checked(self.inner.step(action, key))
            _check_end(self.env, timestep, self._ages)
        self._count(timestep)
        self._last = timestep
        return timestep

    def sample_goals(self, task: Task, key: Key) -> Goal:
        return self.inner.sample_goals(task, key)

    def render(self, index: int) -> np.ndarray:
        return self.inner.render(index)

    def close(self) -> None:
        self.inner.close()

    def _checked(self, timestep: TimeStep) -> TimeStep:
        check_timestep(self.env, timestep, self.num_envs)
        if isinstance(self.env.observation, FlatSpec):
            self.flat.append(np.asarray(timestep.observation))
        return timestep if self.env.has_attribute_fn else replace(timestep, attributes=None)

    def _count(self, after: TimeStep) -> None:
        before, space = self._last, self.env.attributes
        if before is None or before.attributes is None or after.attributes is None:
            return
        old, new = np.asarray(before.attributes), np.asarray(after.attributes)
        self.observed.changed |= (old != new).any(axis=0)
        for source, target in zip(map(space.key, old), map(space.key, new), strict=True):
            self.observed.sets |= {source, target}
            if source != target:
                self.observed.transitions.add((source, target))


def _check_end(env: Environment, timestep: TimeStep, ages: np.ndarray) -> None:
    """Check that episodes end when they must, and only as the environment declares."""
    if isinstance(env, PureEnvironment):
        if not env.can_terminate and timestep.terminated.any():
            raise EnvironmentFaultError("an episode terminated, although can_terminate is false.")
        return  # a pure environment has no time limit of its own
    if (~timestep.over & (ages >= env.episode_steps)).any():
        raise EnvironmentFaultError(f"an episode was not truncated after episode_steps = {env.episode_steps} steps.")


def _check_unchanged(before: TimeStep, after: TimeStep, which: np.ndarray) -> None:
    """Check that the environments `which` `bool[B]` have kept their attributes."""
    if before.attributes is None or after.attributes is None:
        return
    if (np.asarray(before.attributes)[which] != np.asarray(after.attributes)[which]).any():
        raise EnvironmentFaultError("an environment that was not reset has changed its attribute values.")


def _reset_some(envs: CheckedVectorEnv, *, key: Key) -> None:
    """Reset every second environment; the others must not change."""
    reset_key, again_key = jax.random.split(key)
    envs.reset(reset_key)
    envs.reset_where(np.arange(NUM_ENVS) % 2 == 0, again_key)


def _all_tasks(env: Environment) -> list[Task]:
    """Tasks and curriculum, without duplicates."""
    tasks = (*env.tasks.values(), *env.curriculum)
    return [task for number, task in enumerate(tasks) if task not in tasks[:number]]


def _sample_task(env: Environment, envs: CheckedVectorEnv, task: Task, *, key: Key) -> list[str]:
    """Sample and check starts and goals of a task; returns warnings."""
    start_key, goal_key = jax.random.split(key)
    timestep = envs.reset(start_key, task)
    if timestep.attributes is None:
        return []
    with blaming(env, f"goal of task {task.name!r}"):
        starts = np.tile(np.asarray(timestep.attributes, np.int32), (GOALS_PER_ENV, 1))
        samples = [envs.sample_goals(task, sample_key) for sample_key in jax.random.split(goal_key, GOALS_PER_ENV)]
        goals = jax.tree.map(lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]), *samples)
        check_goals(env.attributes, goals, len(starts))
        is_solved = is_solved_at_start(goals, starts)
        if is_solved.all():
            raise EnvironmentFaultError("every sampled goal is already satisfied at the start.")
    if not is_solved.any():
        return []
    return [
        f"task {task.name!r}: {is_solved.sum()} of {len(starts)} goals are satisfied at the start and do not count."
    ]


def _image_size(env: Environment, envs: VectorEnv) -> tuple[int, int] | None:
    """Height and width of a rendered image; `None` if the environment cannot be rendered."""
    with blaming(env, "render"):
        try:
            image = envs.render(0)
        except NotImplementedError:
            return None
        check_image(image)
    return image.shape[0], image.shape[1]


def _warnings(env: Environment, observed: Observed, steps: int) -> list[str]:
    warnings = [] if env.tasks else ["there are no tasks to evaluate on."]
    if not env.has_attribute_fn:
        return warnings
    if not observed.changed.any():
        return [*warnings, f"no attribute changed in {steps} random steps: random exploration finds no transitions."]
    constant = [name for name, changed in zip(env.attributes.names, observed.changed, strict=True) if not changed]
    return [*warnings, *(f"attribute {name!r} never changed in {steps} random steps." for name in constant)]
