"""Evaluation: how often an agent reaches the goals of a task."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.attributes import Goal
from attribute_planner.environments.tasks import Task, is_solved_at_start
from attribute_planner.environments.vector_env import TimeStep, VectorEnv, where_batch
from attribute_planner.errors import AttributePlannerError
from attribute_planner.evaluation.statistics import Interval, success_interval
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import Executor, executor_named
from attribute_planner.ranges import check_seed, require_positive

Key = jax.Array

AT_ONCE = 1000
"""Number of episodes that run in parallel."""


@dataclass(frozen=True)
class Evaluation:
    """The result of an agent on a task.

    success: share of the episodes that reached the goal; interval: its 95 % interval.
    mean_steps: environment steps of the successful ones.
    planned: mean probability of the plans at the start.
    oracle: share of the same tasks that the environment's own scripted policy solves; `None` where there is none.
    failures: number of failures by reason, the most frequent first.
    """

    environment: str
    task: str
    mode: str
    episodes: int
    success: float
    interval: Interval
    mean_steps: float
    mean_replans: float
    planned: float
    max_steps: int
    oracle: float | None = None
    failures: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        low, high = self.interval.low, self.interval.high
        rate = f"{self.success:.1%} of {self.episodes:,} episodes [{low:.1%}, {high:.1%}]"
        return f"Evaluation({self.environment}, {self.task}: {rate})"

    def _repr_html_(self) -> str:
        from attribute_planner.drawing.html import evaluation_html

        return evaluation_html(self)


def evaluate(
    agent: Agent,
    task: str | None = None,
    *,
    episodes: int = 1000,
    mode: str = "default",
    seed: int = 0,
    max_steps: int | None = None,
    progress: bool = False,
) -> Evaluation:
    """The success rate of an agent on new tasks, none of them solved at the start.

    task: name of a task of the environment; the main task by default.
    mode: the execution mode, a name in `EXECUTORS`.
    max_steps: most environment steps of an episode; those of the task by default.
    progress: show a progress bar.
    """
    require_positive("episodes", episodes)
    check_seed(seed)
    chosen = agent.task(task)
    if max_steps is not None:
        require_positive("max_steps", max_steps)
        chosen = replace(chosen, max_steps=max_steps)
    if not progress:
        return _evaluate(agent, chosen, episodes, mode, seed, None)
    from attribute_planner.drawing.progress_bars import EpisodeBar

    with EpisodeBar(episodes) as bar:
        return _evaluate(agent, chosen, episodes, mode, seed, bar.show)


def _evaluate(
    agent: Agent, task: Task, episodes: int, mode: str, seed: int, watch: Callable[[int], None] | None
) -> Evaluation:
    """The same; `watch` is called after every step with the number of episodes that have ended."""
    executor = executor_named(mode)
    done: list[Episode] = []
    solvable: list[bool] = []
    for batch_key in batch_keys(seed):
        count = min(AT_ONCE, episodes - len(done))
        ended = None if watch is None else partial(_watch_from, watch, len(done))
        attempted, solved = attempt_tasks(agent, task, count, executor, key=batch_key, watch=ended)
        done += attempted
        solvable += solved
        if len(done) >= episodes:
            break
    return _summary(agent, task, mode, done, solvable)


def _watch_from(watch: Callable[[int], None], before: int, ended: int) -> None:
    watch(before + ended)


def attempt_tasks(
    agent: Agent,
    task: Task,
    count: int,
    executor: Executor,
    *,
    key: Key,
    watch: Callable[[int], None] | None = None,
) -> tuple[list[Episode], list[bool]]:
    """`count` episodes in parallel, and whether the environment's oracle, if it has one, solves the same tasks.

    watch: called after every step with the number of episodes that have ended.
    """
    start_key, goal_key, pursue_key = jax.random.split(key, 3)
    envs = agent.env.vector_env(count)
    try:

        def values_of(timestep: TimeStep) -> np.ndarray:
            return np.asarray(agent.detect(timestep) if timestep.attributes is None else timestep.attributes)

        timestep, drawn = draw_starts_and_goals(task, envs, values_of, start_key=start_key, goal_key=goal_key)
        solved = oracle_success(agent, task, timestep, drawn)
        goals = [drawn[copy] for copy in range(count)]
        return agent.pursue(envs, timestep, goals, task.max_steps, executor, key=pursue_key, watch=watch), solved
    finally:
        envs.close()


DRAWS = 50
"""How many goals are drawn for a start before the start is drawn again."""
START_DRAWS, MOST_START_DRAWS = 50, 2_000
"""How often the starts are drawn again, at least and at most, before we conclude that there are no others."""


def draw_starts_and_goals(
    task: Task, envs: VectorEnv, values_of: Callable[[TimeStep], np.ndarray], *, start_key: Key, goal_key: Key
) -> tuple[TimeStep, Goal]:
    """Starts, and goals `[B]` that they do not satisfy already.

    values_of: attribute values `[B, A]` of a time step.

    Goals that hold at the start are drawn again; then, where no other goal is found, the start as well.
    """
    timestep = envs.reset(start_key, task)
    goals, solved = _draw_goals(task, envs, values_of(timestep), key=goal_key)
    for draw in range(MOST_START_DRAWS):
        if not solved.any() or (solved.all() and draw >= START_DRAWS and draw * len(solved) >= MOST_START_DRAWS):
            break
        timestep = envs.reset_where(solved, jax.random.fold_in(start_key, draw), task)
        others = envs.sample_goals(task, jax.random.fold_in(goal_key, draw))
        goals = where_batch(jnp.asarray(solved), others, goals)
        solved = is_solved_at_start(goals, values_of(timestep))
    if solved.all():
        raise AttributePlannerError(f"Task {task.name!r} only has goals that are satisfied at the start.")
    if solved.any():
        raise AttributePlannerError(
            f"Task {task.name!r}: {MOST_START_DRAWS:,} starts in a row satisfy the goal; too few episodes can be drawn."
        )
    return timestep, goals


def _draw_goals(task: Task, envs: VectorEnv, start: np.ndarray, *, key: Key) -> tuple[Goal, np.ndarray]:
    """`[B]` goals, drawn again where the start satisfies them, and `bool[B]` whether it still does."""
    first_key, *other_keys = jax.random.split(key, DRAWS)
    goals = envs.sample_goals(task, first_key)
    for draw_key in other_keys:
        solved = is_solved_at_start(goals, start)
        if not solved.any():
            break
        goals = where_batch(jnp.asarray(solved), envs.sample_goals(task, draw_key), goals)
    return goals, is_solved_at_start(goals, start)


def oracle_success(agent: Agent, task: Task, timestep: TimeStep, goals: Goal) -> list[bool]:
    """Which goals the environment's oracle reaches from the same start; empty if it has none."""
    solved = agent.env.oracle(timestep.states, goals, task.max_steps)
    return [] if solved is None else np.asarray(solved).tolist()


def batch_keys(seed: int) -> Iterator[Key]:
    """A key for each batch of episodes: with the same seed, all models face the same tasks."""
    key = jax.random.key(seed)
    number = 0
    while True:
        yield jax.random.fold_in(key, number)
        number += 1


def _summary(agent: Agent, task: Task, mode: str, episodes: list[Episode], solvable: list[bool]) -> Evaluation:
    won = [episode for episode in episodes if episode.success]
    return Evaluation(
        environment=agent.env.name,
        task=task.name,
        mode=mode,
        episodes=len(episodes),
        success=len(won) / len(episodes),
        interval=success_interval(len(won), len(episodes)),
        mean_steps=float(np.mean([episode.steps for episode in won])) if won else float("nan"),
        mean_replans=float(np.mean([episode.replans for episode in episodes])),
        planned=float(np.mean([episode.plan.probability for episode in episodes])),
        max_steps=task.max_steps,
        oracle=float(np.mean(solvable)) if solvable else None,
        failures=dict(Counter(episode.reason for episode in episodes if not episode.success).most_common()),
    )
