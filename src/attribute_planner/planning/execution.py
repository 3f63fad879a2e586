"""Execution (Algorithm 2): act towards the next set on the path, look where that led, replan.

Many goals are pursued at once, one in each copy of the environment: the networks see whole batches, and only copies
whose attributes changed, or whose patience ran out, cost a look at the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.environments.spaces import Action, Observation, uniform_action
from attribute_planner.environments.vector_env import TimeStep, VectorEnv, where_batch
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.planning.belief import Sight, look
from attribute_planner.planning.episode import Episode
from attribute_planner.planning.executor import ExecutionConfig, Walk
from attribute_planner.planning.lookahead import consider
from attribute_planner.planning.observation_search import Trails
from attribute_planner.planning.planner import Planner

Key = jax.Array


@dataclass(frozen=True)
class Driver:
    """The parts of an agent that act.

    detector: `None` if the true f is asked.
    greedy: whether the policy always takes its likeliest action.
    outlook: with it, plans are made by `foresight_planner`, to which long ways are dear.
    doubt: how often the outlook is wrong.
    """

    detector: AttributeDetector | None
    policy: GoalPolicy
    planner: Planner
    deterministic: bool
    forward_model: ForwardModel | None
    lookahead_planner: Planner
    model_error: float = 0.0


def pursue(
    driver: Driver,
    envs: VectorEnv,
    timestep: TimeStep,
    goals: Sequence[Goal],
    max_steps: int,
    config: ExecutionConfig,
    *,
    key: Key,
) -> list[Episode]:
    """Algorithm 2 for a batch: one goal in each copy, from the given moment, for at most `max_steps` steps."""
    model_error = _doubt(driver, config)
    looks_ahead = model_error is not None
    planner = driver.lookahead_planner if looks_ahead else driver.planner
    wanted, sight = _all_of(goals), look(driver.detector, timestep)
    there = sight.chance_of(wanted)
    planner.prepare(goals)
    walks = [
        Walk(planner, goal, sight.values[i], sight.truth[i], config, float(there[i]), model_error)
        for i, goal in enumerate(goals)
    ]
    trails = Trails(driver.policy.action_space, len(walks))
    pictures = [_picture(envs, i, config) for i in range(len(walks))]
    for step in range(max_steps):
        last = step == max_steps - 1
        active = np.array([walk.active for walk in walks])
        if not active.any():
            break
        act_key, chance_key = jax.random.split(jax.random.fold_in(key, step))
        remembering = (
            (not looks_ahead)
            & active
            & trails.apply_to(timestep.observation)
            & np.array([walk.remembers for walk in walks])
        )
        if looks_ahead:
            action = _look_ahead(driver, timestep, sight, walks, last, key=act_key)
            active = np.array([walk.active for walk in walks])
        else:
            action = _choose_actions(driver, timestep, sight.values, walks, trails, remembering, key=act_key)
        before, timestep = timestep.observation, envs.step_where(active, action, chance_key)
        sight = look(driver.detector, timestep)
        there = sight.chance_of(wanted)
        for i in np.flatnonzero(active).tolist():
            taken = _action_of(action, i)
            transitions, aim = walks[i].transitions, walks[i].target
            over = bool(timestep.over[i])
            # After the last step it is too late to make sure.
            chance = 1.0 if over or last else float(there[i])
            walks[i].advance(step, sight.values[i], sight.truth[i], over, taken, chance)
            if walks[i].transitions != transitions:
                trails.forget(i)
            else:
                if remembering[i]:
                    trails.remember(i, np.asarray(before), taken, np.asarray(timestep.observation))
                if walks[i].target != aim:
                    trails.turn(i, aim, walks[i].target)
            pictures[i] += _picture(envs, i, config)
    return [walk.episode(max_steps, pictures[i]) for i, walk in enumerate(walks)]


def _doubt(driver: Driver, config: ExecutionConfig) -> float | None:
    """How far foresight is to doubt the outlook; `None` if there is to be no foresight."""
    if driver.forward_model is None:
        return None
    return {"default": driver.model_error, "outlook": 0.0}.get(config.mode)


def _choose_actions(
    driver: Driver,
    timestep: TimeStep,
    values: np.ndarray,
    walks: Sequence[Walk],
    trails: Trails,
    remembering: np.ndarray,
    *,
    key: Key,
) -> Action:
    """An action for each copy: what the policy says, and what the trails of the copies `remembering` make of it."""
    aims = np.stack([walk.aim for walk in walks])
    action, log_probs = _act(
        driver.policy, timestep.observation, jnp.asarray(values), jnp.asarray(aims), driver.deterministic, key
    )
    if not remembering.any():
        return action
    return trails.decide(remembering, np.asarray(timestep.observation), np.asarray(log_probs), np.asarray(action))


def _look_ahead(
    driver: Driver, timestep: TimeStep, sight: Sight, walks: Sequence[Walk], last: bool, *, key: Key
) -> Action:
    """An action for each copy: the one that is expected to lead nearest to its goal; any one where none does."""
    assert driver.forward_model is not None
    under_way = np.flatnonzero([walk.active for walk in walks])
    rows = enough_of(under_way, len(walks))
    aims = np.stack([walks[row].aim for row in rows.tolist()])
    observation = jax.tree.map(lambda leaf: leaf[rows], timestep.observation)
    goals = np.stack([walks[row].wanted for row in rows.tolist()])
    options = consider(
        driver.forward_model,
        driver.policy,
        driver.lookahead_planner,
        observation,
        sight.beliefs(rows),
        aims,
        goals,
        key=key,
    )
    chosen = np.array(
        [walks[row].look_ahead(options, place, last=last) for place, row in enumerate(under_way.tolist())]
    )
    # Whoever is done does as the first: it does not matter.
    place = np.zeros(len(walks), int)
    place[under_way] = np.arange(len(under_way))
    return jax.tree.map(lambda leaf: leaf[place, chosen[place]], options.actions)


FEWEST_ROWS = 64
"""Fewer take hardly less time."""


def enough_of(rows: np.ndarray, most: int) -> np.ndarray:
    """The rows, some of them repeated: of the few counts that occur, each is compiled once.

    Looking ahead is most of the work, and the longer a batch takes, the fewer of it are still under way.
    """
    count = most
    while count // 4 >= max(len(rows), FEWEST_ROWS):
        count //= 4
    return np.resize(rows, count)


def _all_of(goals: Sequence[Goal]) -> Goal:
    """The goals as a batch."""
    at_least = [np.zeros_like(goal.wanted) if goal.at_least is None else goal.at_least for goal in goals]
    return Goal(
        np.stack([goal.values for goal in goals]), np.stack([goal.wanted for goal in goals]), np.stack(at_least)
    )


@eqx.filter_jit
def _act(
    policy: GoalPolicy, observation: Observation, values: jax.Array, aims: jax.Array, deterministic: bool, key: Key
) -> tuple[Action, jax.Array | None]:
    """An action for each copy, a random one where there is no plan; and `[B, actions]` log probabilities, if listed."""
    policy_key, random_key = jax.random.split(key)
    output = policy(observation, values, aims)
    batch = values.shape[:1] if output.active is None else output.active.shape
    at_random = uniform_action(policy.action_space, batch, key=random_key)
    chosen = output.mode() if deterministic else output.sample(key=policy_key)
    action = where_batch(aims[:, 0] == NO_VALUE, at_random, chosen)
    log_probs = jax.nn.log_softmax(output.actions.logits) if isinstance(output.actions, Categorical) else None
    return action, log_probs


def _action_of(action: Action, copy: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf[copy]).tolist(), action)


def _picture(envs: VectorEnv, copy: int, config: ExecutionConfig) -> list[np.ndarray]:
    return [envs.render(copy)] if config.pictures else []
