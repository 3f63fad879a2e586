"""`check_environment`: steps an environment at random and reports what is wrong with it.

A fault is an `EnvironmentFaultError` of one line that says what is wrong, and where. Things that are unusual but
possible are warnings in the report.
"""

from dataclasses import dataclass

import jax
import numpy as np

from attribute_planner.data.random_actions import UniformActions, any_action
from attribute_planner.data.rollout import rollout
from attribute_planner.environments.contract import (
    blaming,
    check_declaration,
    check_goals,
    check_image,
)
from attribute_planner.environments.interface import Environment, PureEnvironment, require_environment
from attribute_planner.environments.purity import check_purity
from attribute_planner.environments.tasks import Task, is_solved_at_start
from attribute_planner.environments.vector_env import VectorEnv
from attribute_planner.errors import AttributePlannerError, EnvironmentFaultError
from attribute_planner.evaluation.attribute_report import (
    control_warnings,
    fixed_attributes,
    unseen_goal_warning,
    unseen_value_warnings,
)
from attribute_planner.evaluation.checked_vector_env import CheckedVectorEnv, Observed
from attribute_planner.evaluation.evaluate import draw_starts_and_goals
from attribute_planner.evaluation.observation_report import bounds_warnings, observation_lines
from attribute_planner.ranges import require_positive

Key = jax.Array

NUM_ENVS = 8
"""Number of environments that are stepped at once."""

REPLAYED_STEPS = 100
"""Number of steps that are taken again, with the same and with other actions."""

GOALS_PER_ENV = 4
"""Number of goals that are sampled for each start of a task."""


@dataclass(frozen=True)
class EnvironmentReport:
    """Result of a check that found no fault.

    environment: name of the environment.
    steps, episodes: number of steps and of finished episodes in all environments together.
    terminated: number of episodes that ended in a terminal state, not at a time limit.
    attribute_sets, transitions: number of different ones observed; `None` if f is not given.
    fixed: attributes that differ between episodes and do not change in any.
    step_limit: number of steps after which an episode is truncated, and its source.
    observation: how the network encodes each part of an observation.
    tasks: names of the tasks.
    image: height and width of rendered images; `None` if the environment cannot be rendered.
    warnings: what is unusual but possible.
    """

    environment: str
    steps: int
    episodes: int
    terminated: int
    attribute_sets: int | None
    transitions: int | None
    fixed: tuple[str, ...]
    step_limit: str
    observation: tuple[str, ...]
    tasks: tuple[str, ...]
    image: tuple[int, int] | None
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [
            f"{self.environment}: no fault in {self.steps:,} random steps of {NUM_ENVS} environments; "
            + _ended(self.episodes, self.terminated)
        ]
        if self.attribute_sets is not None:
            lines.append(
                f"  observed: {self.attribute_sets:,} attribute sets, {self.transitions:,} transitions between them"
            )
        if self.fixed:
            lines.append(f"  fixed in each episode: {', '.join(self.fixed)}")
        lines.append(f"  time limit: {self.step_limit}")
        lines += [f"  observation: {line}" for line in self.observation]
        lines.append(f"  tasks: {', '.join(self.tasks) or 'none'}")
        size = (
            f"{self.image[0]} × {self.image[1]} pixels" if self.image else 'none (Gymnasium: render_mode="rgb_array")'
        )
        lines.append(f"  rendered images: {size}")
        return "\n".join(lines + [f"  warning: {warning}" for warning in self.warnings])


def _ended(episodes: int, terminated: int) -> str:
    """`no episode ended`, `64 episodes ended, 3 of them terminated`."""
    if not episodes:
        return "no episode ended"
    return f"{episodes:,} episode{'' if episodes == 1 else 's'} ended, {terminated:,} of them terminated"


FEWEST_STEPS, MOST_STEPS = 200, 500
"""Bounds of the number of steps in each environment, by default those of an episode and one more."""


def check_environment(env: Environment, steps: int | None = None, seed: int = 0) -> EnvironmentReport:
    """Take random steps in each of eight environments, repeat some, and sample every task.

    An error is raised at any fault.

    steps: steps in each environment; by default one more than an episode has, but at least 200 and at most 500. After
        them, up to 300 further steps in each repeat episodes: the same, again, and with other actions.
    """
    require_environment(env, "check_environment")
    if steps is not None:
        require_positive("steps", steps)
    action_key, purity_key, step_key, partial_key, task_key = jax.random.split(jax.random.key(seed), 5)
    replay_key = jax.random.fold_in(step_key, 1)
    with blaming(env, "declaration"):
        check_declaration(env)
    if steps is None:
        steps = min(max(env.episode_steps + 1, FEWEST_STEPS), MOST_STEPS)
    if isinstance(env, PureEnvironment):
        action = jax.tree.map(lambda leaf: leaf[0], any_action(env, 1, key=action_key))
        check_purity(env, action, key=purity_key)
    with blaming(env, f"vector_env({NUM_ENVS})"):
        envs = CheckedVectorEnv(env, env.vector_env(NUM_ENVS))
    try:
        actor = UniformActions(env)
        rollout(actor, envs, steps, space=env.attributes, key=step_key, keep="nothing", episode_steps=env.episode_steps)
        _reset_some(envs, key=partial_key)
        remarks = _seed_remarks(envs, key=partial_key)
        remarks += _control_remarks(env, envs, min(steps, REPLAYED_STEPS), key=replay_key)
        task_keys = jax.random.split(task_key, len(_all_tasks(env)))
        for task, key in zip(_all_tasks(env), task_keys, strict=True):
            remarks += _sample_task(env, envs, task, key=key)
        image = _image_size(env, envs)
    finally:
        envs.close()
    observed, seen = envs.observed, np.concatenate(envs.flat)
    remarks = [*bounds_warnings(env.observation, env.observation_bounds, seen), *remarks]
    return EnvironmentReport(
        environment=env.name,
        steps=observed.steps,
        episodes=observed.episodes,
        terminated=observed.terminated,
        attribute_sets=len(observed.sets) if env.has_attribute_fn else None,
        transitions=len(observed.transitions) if env.has_attribute_fn else None,
        fixed=fixed_attributes(env.attributes, observed.changed, observed.seen),
        step_limit=f"{env.episode_steps:,} steps, {env.step_limit_source}",
        # Where a space declares bounds, its grids and images are used as they are, and an agent was looked for in them.
        observation=observation_lines(env.observation, seen, looked_for_agent=env.observation_bounds is not None),
        tasks=tuple(env.tasks),
        image=image,
        warnings=(*_warnings(env, observed), *remarks),
    )


def _reset_some(envs: CheckedVectorEnv, *, key: Key) -> None:
    """Reset every second environment; the others must not change."""
    reset_key, again_key = jax.random.split(key)
    envs.reset(reset_key)
    envs.reset_where(np.arange(NUM_ENVS) % 2 == 0, again_key)


def _seed_remarks(envs: CheckedVectorEnv, *, key: Key) -> list[str]:
    """A warning if two resets with the same seed begin with different observations."""
    first, second = envs.reset(key), envs.reset(key)
    leaves = zip(jax.tree.leaves(first.observation), jax.tree.leaves(second.observation), strict=True)
    if all(np.array_equal(one, other) for one, other in leaves):
        return []
    return [
        "reset does not follow its seed: two resets with the same seed return different observations, so that no "
        "episode can be repeated; use env.np_random after super().reset(seed=seed)."
    ]


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
            _require_other_starts(envs, task, start_key, goal_key)
    remarks = unseen_goal_warning(env.attributes, task.name, goals, envs.observed.seen, envs.observed.steps)
    if not is_solved.any():
        return remarks
    return [
        *remarks,
        f"task {task.name!r}: {is_solved.sum()} of {len(starts)} sampled goals are satisfied at the start; evaluation "
        "draws another goal then, or another start.",
    ]


def _require_other_starts(envs: VectorEnv, task: Task, start_key: Key, goal_key: Key) -> None:
    """An error if there is no start that does not satisfy the goals of a task."""
    try:
        draw_starts_and_goals(
            task, envs, lambda timestep: np.asarray(timestep.attributes), start_key=start_key, goal_key=goal_key
        )
    except AttributePlannerError as error:
        raise EnvironmentFaultError("the task only has goals that are satisfied at the start.") from error


def _control_remarks(env: Environment, envs: VectorEnv, steps: int, *, key: Key) -> list[str]:
    """Warnings about attributes that do not follow from the actions: the same episodes, repeated and with others."""
    if not env.has_attribute_fn:
        return []
    limit = env.episode_steps
    first, repeated, other = (
        rollout(actor, envs, steps, space=env.attributes, key=key, keep="nothing", episode_steps=limit).on_host()
        for actor in (UniformActions(env, 1), UniformActions(env, 1), UniformActions(env, 2))
    )
    over = np.stack([each.over for each in (first, repeated, other)]).any(axis=0)
    until = np.where(over.any(axis=0), over.argmax(axis=0) + 1, steps)
    values = [np.asarray(env.attributes.unpack(each.next_attributes)) for each in (first, repeated, other)]
    return control_warnings(env.attributes, values[0], values[1], values[2], until)


def _image_size(env: Environment, envs: VectorEnv) -> tuple[int, int] | None:
    """Height and width of a rendered image; `None` if the environment cannot be rendered."""
    with blaming(env, "render"):
        try:
            image = envs.render(0)
        except NotImplementedError:
            return None
        check_image(image)
    return image.shape[0], image.shape[1]


def _warnings(env: Environment, observed: Observed) -> list[str]:
    warnings = [] if env.tasks else ["there are no tasks to evaluate on."]
    if not observed.episodes:
        warnings.append(
            "no episode ended: ends of episodes, and the resets after them, were not checked; steps=… takes more steps."
        )
    if not env.has_attribute_fn:
        return warnings
    if not observed.changed.any():
        return [
            *warnings,
            f"no attribute changed in {observed.steps:,} random steps: exploration may find no transition. If describe "
            "is right, add attributes that change on the way to the goal, or make episodes longer.",
        ]
    return [*warnings, *unseen_value_warnings(env.attributes, observed.seen, observed.steps)]
