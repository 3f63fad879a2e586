"""Goals of the tasks, and the agent's plans for them."""

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.errors import AttributePlannerError
from attribute_planner.evaluation.evaluate import draw_starts_and_goals
from attribute_planner.planning.executor import EXECUTORS
from attribute_planner.planning.plan import Plan

Key = jax.Array


@dataclass(frozen=True)
class Asked:
    """A goal that was drawn from a task.

    plan: from the set in which its episode begins; the goal is `plan.goal`.
    weight: the share of this goal in all that were drawn.
    success: whether the agent reached it; `None` if no episode was run.
    """

    task: Task
    plan: Plan
    weight: float
    success: bool | None = None


def ask(agent: Agent, draws: int, *, run: bool, key: Key) -> list[Asked]:
    """`draws` goals of every task of the agent's environment, each from its own start.

    run: whether to pursue them, too.
    """
    tasks = agent.env.tasks.values()
    drawn = [
        (task, plan, success)
        for number, task in enumerate(tasks)
        for plan, success in _ask_task(agent, task, draws, run=run, key=jax.random.fold_in(key, number))
    ]
    return [Asked(task, plan, 1 / len(drawn), success) for task, plan, success in drawn]


def _ask_task(agent: Agent, task: Task, draws: int, *, run: bool, key: Key) -> Iterator[tuple[Plan, bool | None]]:
    start_key, goal_key, pursue_key = jax.random.split(key, 3)
    envs = agent.env.vector_env(draws)
    envs.episode_steps = task.max_steps

    def values_of(timestep: TimeStep) -> np.ndarray:
        return np.asarray(agent.detect(timestep) if timestep.attributes is None else timestep.attributes)

    try:
        timestep, goals = draw_starts_and_goals(task, envs, values_of, start_key=start_key, goal_key=goal_key)
        starts, wanted = agent.detect(timestep), [goals[number] for number in range(draws)]
        success: list[bool | None] = [None] * draws
        if run:
            episodes = agent.pursue(envs, timestep, wanted, task.max_steps, EXECUTORS["default"], key=pursue_key)
            success = [episode.success for episode in episodes]
    except AttributePlannerError:
        return  # a task whose goals are all satisfied at the start asks for nothing
    finally:
        envs.close()
    planner = agent.planner_for(task.max_steps)
    for number in range(draws):
        yield planner.plan(starts[number], wanted[number]), success[number]
