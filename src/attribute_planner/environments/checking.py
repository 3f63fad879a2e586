"""Checks an environment by playing it at random, and says in words what is wrong with it.

Every fault is an `EnvironmentFaultError` of one line that names what broke the contract, and when. What is odd, but may
be meant, is a warning in the report.
"""

from dataclasses import dataclass, field

import jax
import numpy as np

from attribute_planner.environments.contract import (
    blaming,
    check_declaration,
    check_goals,
    check_picture,
    check_timestep,
)
from attribute_planner.environments.interface import Environment, PureEnvironment
from attribute_planner.environments.purity import check_purity
from attribute_planner.environments.spaces import Action, Box, Discrete, MixedAction
from attribute_planner.environments.tasks import Task, is_solved_at_start
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import EnvironmentFaultError

Key = jax.Array

NUM_ENVS = 8
"""How many copies of the environment are played at once."""

GOALS_PER_COPY = 4
"""How many goals are drawn for each start of a task."""


@dataclass(frozen=True)
class EnvironmentReport:
    """What a check has seen of an environment in which it found no fault.

    environment: its name.
    steps, episodes: how many steps were taken in all copies together, and how many episodes ended on the way.
    attribute_sets, transitions: how many different ones were seen; `None` where f is not given.
    tasks: the names of the tasks that were drawn from.
    picture: height and width of its pictures; `None` if there are none.
    warnings: what is odd, but may be meant.
    """

    environment: str
    steps: int
    episodes: int
    attribute_sets: int | None
    transitions: int | None
    tasks: tuple[str, ...]
    picture: tuple[int, int] | None
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.environment}: no fault in {self.steps:,} random steps; {self.episodes:,} episodes ended"]
        if self.attribute_sets is not None:
            lines.append(
                f"  seen: {self.attribute_sets:,} attribute sets, {self.transitions:,} transitions between them"
            )
        lines.append(f"  tasks: {', '.join(self.tasks) or 'none'}")
        lines.append("  pictures: " + (f"{self.picture[0]} × {self.picture[1]} pixels" if self.picture else "none"))
        return "\n".join(lines + [f"  warning: {warning}" for warning in self.warnings])


@dataclass
class _Seen:
    """What a random game has come across; `changed` `[A]` tells which attributes a step has ever changed."""

    changed: np.ndarray
    episodes: int = 0
    sets: set[int] = field(default_factory=set)
    transitions: set[tuple[int, int]] = field(default_factory=set)


def check_environment(env: Environment, steps: int = 200, seed: int = 0) -> EnvironmentReport:
    """Play `steps` random steps in a few copies and draw from every task; raise at the first fault."""
    purity_key, play_key, partial_key, task_key = jax.random.split(jax.random.key(seed), 4)
    random = np.random.default_rng(seed)
    with blaming(env, "what it tells about itself"):
        check_declaration(env)
    if isinstance(env, PureEnvironment):
        check_purity(env, random_action(env, (), random), key=purity_key)
    with blaming(env, f"opening {NUM_ENVS} worlds"):
        envs = env.vector_env(NUM_ENVS)
    try:
        seen = _play(env, envs, steps, random, key=play_key)
        _reset_some(env, envs, key=partial_key)
        remarks = [remark for task in _all_tasks(env) for remark in _draw_from(env, envs, task, key=task_key)]
        picture = _picture_size(env, envs)
    finally:
        envs.close()
    return EnvironmentReport(
        environment=env.name,
        steps=steps * NUM_ENVS,
        episodes=seen.episodes,
        attribute_sets=len(seen.sets) if env.has_attribute_fn else None,
        transitions=len(seen.transitions) if env.has_attribute_fn else None,
        tasks=tuple(env.tasks),
        picture=picture,
        warnings=(*_warnings(env, seen, steps), *remarks),
    )


def random_action(env: Environment, batch: tuple[int, ...], random: np.random.Generator) -> Action:
    """Uniformly random actions `[*batch]`, or `[*batch, U]` where several units act."""
    space = env.actions
    batch = batch if env.num_units is None else (*batch, env.num_units)
    if isinstance(space, Discrete):
        return _random_choice(space, batch, random)
    if isinstance(space, Box):
        return _random_point(space, batch, random)
    return MixedAction(_random_choice(space.choice, batch, random), _random_point(space.point, batch, random))


def _random_choice(space: Discrete, batch: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    return np.asarray(random.integers(space.count, size=batch, dtype=np.int32))


def _random_point(space: Box, batch: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    return random.uniform(space.low, space.high, (*batch, space.dimensions)).astype(np.float32)


def _play(env: Environment, envs: VectorEnv, steps: int, random: np.random.Generator, *, key: Key) -> _Seen:
    """Act at random for so many steps; whatever the worlds show on the way must keep to the contract."""
    keys = jax.random.split(key, 2 * steps + 1)
    seen = _Seen(np.zeros(len(env.attributes), bool))
    ages = np.zeros(NUM_ENVS, int)
    with blaming(env, "reset"):
        before = envs.reset(keys[0])
        check_timestep(env, before, NUM_ENVS)
    for number in range(1, steps + 1):
        with blaming(env, f"step {number}"):
            after = envs.step(random_action(env, (NUM_ENVS,), random), keys[2 * number - 1])
            ages += 1
            check_timestep(env, after, NUM_ENVS)
            _check_end(env, after, ages)
        _note(env, seen, before, after)
        before = after
        over = after.over | (ages >= env.episode_steps)
        if over.any():
            with blaming(env, f"reset after step {number}"):
                before = envs.reset_where(over, keys[2 * number])
                check_timestep(env, before, NUM_ENVS)
                _check_untouched(after, before, ~over)
            ages[over] = 0
            seen.episodes += int(over.sum())
    return seen


def _check_end(env: Environment, timestep: TimeStep, ages: np.ndarray) -> None:
    """Episodes end when they should, and only by what the environment admits to."""
    if isinstance(env, PureEnvironment):
        if not env.can_terminate and timestep.terminated.any():
            raise EnvironmentFaultError("an episode was terminated, although can_terminate says that none ever is.")
        return  # pure rules know no time limit
    if (~timestep.over & (ages >= env.episode_steps)).any():
        raise EnvironmentFaultError(
            f"an episode goes on after episode_steps = {env.episode_steps} without being truncated."
        )


def _note(env: Environment, seen: _Seen, before: TimeStep, after: TimeStep) -> None:
    """Add a step to what was seen."""
    if before.attributes is None or after.attributes is None:
        return
    old, new = np.asarray(before.attributes), np.asarray(after.attributes)
    seen.changed |= (old != new).any(axis=0)
    for source, target in zip(map(env.attributes.key, old), map(env.attributes.key, new), strict=True):
        seen.sets |= {source, target}
        if source != target:
            seen.transitions.add((source, target))


def _reset_some(env: Environment, envs: VectorEnv, *, key: Key) -> None:
    """Every second copy begins a fresh episode; the others must not notice."""
    reset_key, again_key = jax.random.split(key)
    which = np.arange(NUM_ENVS) % 2 == 0
    with blaming(env, "reset of some copies"):
        before = envs.reset(reset_key)
        after = envs.reset_where(which, again_key)
        check_timestep(env, after, NUM_ENVS)
        _check_untouched(before, after, ~which)


def _check_untouched(before: TimeStep, after: TimeStep, which: np.ndarray) -> None:
    """The copies `which` `[B]` are as they were."""
    if before.attributes is None or after.attributes is None:
        return
    if (np.asarray(before.attributes)[which] != np.asarray(after.attributes)[which]).any():
        raise EnvironmentFaultError("a copy that was not to be reset has changed its attribute values.")


def _all_tasks(env: Environment) -> list[Task]:
    """Tasks and curriculum, each once."""
    tasks = (*env.tasks.values(), *env.curriculum)
    return [task for number, task in enumerate(tasks) if task not in tasks[:number]]


def _draw_from(env: Environment, envs: VectorEnv, task: Task, *, key: Key) -> list[str]:
    """Draw starts and goals of a task, which must make sense; returns what is odd about them."""
    start_key, goal_key = jax.random.split(key)
    with blaming(env, f"start of task {task.name!r}"):
        timestep = envs.reset(start_key, task)
        check_timestep(env, timestep, NUM_ENVS)
    if timestep.attributes is None:
        return []
    with blaming(env, f"goal of task {task.name!r}"):
        starts = np.tile(np.asarray(timestep.attributes, np.int32), (GOALS_PER_COPY, 1))
        draws = [envs.sample_goals(task, draw_key) for draw_key in jax.random.split(goal_key, GOALS_PER_COPY)]
        goals = jax.tree.map(lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]), *draws)
        check_goals(env.attributes, goals, len(starts))
        is_solved = is_solved_at_start(goals, starts)
        if is_solved.all():
            raise EnvironmentFaultError("every goal that was drawn is already satisfied at the start.")
    if not is_solved.any():
        return []
    return [
        f"task {task.name!r}: {is_solved.sum()} of {len(starts)} goals are satisfied at the start and do not count."
    ]


def _picture_size(env: Environment, envs: VectorEnv) -> tuple[int, int] | None:
    """Height and width of a picture, which must be one; `None` if the environment has none."""
    with blaming(env, "draw"):
        try:
            picture = envs.render(0)
        except NotImplementedError:
            return None
        check_picture(picture)
    return picture.shape[0], picture.shape[1]


def _warnings(env: Environment, seen: _Seen, steps: int) -> list[str]:
    """What a random game makes one wonder about."""
    warnings = [] if env.tasks else ["there are no tasks to evaluate on."]
    if not env.has_attribute_fn:
        return warnings
    if not seen.changed.any():
        return [
            *warnings,
            f"no attribute ever changed in {steps} random steps: random play will not explore this world.",
        ]
    still = [name for name, changed in zip(env.attributes.names, seen.changed, strict=True) if not changed]
    return [*warnings, *(f"attribute {name!r} never changed in {steps} random steps." for name in still)]
