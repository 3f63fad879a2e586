"""Phase 3, practise: learn to move between neighbouring sets, and how well that works (step 3 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.data.collecting import Trajectories, collector_for
from attribute_planner.environments.interface import Environment
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import ReinforceConfig, TrainState, new_train_state, update
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.attempts import HINDSIGHT, STEP_REWARD, AimAtNeighbours, add_attempts, attempt_batch
from attribute_planner.phases.device_graph import DeviceGraph, device_graph
from attribute_planner.phases.goal_sampling import plan_to_far_sets
from attribute_planner.transitions.table import TransitionTable

Key = jax.Array


@dataclass(frozen=True)
class PractiseConfig:
    """How the agent learns to move between neighbouring attribute sets."""

    steps: int = 10_000_000
    """Environment steps in all copies together: N₂ of Algorithm 1. May be 0 where an outlook is learned."""
    method: str = "reinforce"
    """How π learns: `reinforce`, from arriving; or `inverse`, from random actions and what came of them, for worlds in
    which a transition is a single step: practice then only keeps the score."""
    max_attempt_steps: int = 80
    """After how many steps an attempt at a neighbour is given up: t_max."""
    stop_on_any_change: bool = True
    """Whether an attempt that came into another set than the one aimed at goes on from there until t_max. So says the
    paper's text; its Algorithm 1 ends an attempt with any change."""
    step_reward: float = STEP_REWARD
    """Reward of every step, so that short ways are preferred; arriving earns 1. The paper has −0.1; if any change
    ends an attempt, it then pays to change whatever is near rather than to walk ten steps to the right thing."""
    hindsight: float = HINDSIGHT
    """Share of the attempts that ended in another set than the one aimed at which are learned from as if that one had
    been the aim; 0 for the paper's way."""
    goal_sampling: str = "neighbours"
    """What is aimed at: `neighbours` of the current set, by visit counts, the paper's way; or `far`: the next set on a
    planned way to a random far one."""
    time_cost: float = 0.0
    """What each environment step of a plan costs, on the scale of −log c_π, here and afterwards; 0 for the paper's
    way, in which time does not matter."""
    visit_exponent: float = 1.0
    """Neighbours are drawn by their visit counts to this power: 1 is the paper's way; less favours rare ones."""
    decay: float = 0.9
    """γ: how much the statistics of an epoch weigh one epoch later; 1 for plain ratios."""
    num_envs: int = 256
    """How many copies of the environment run at once."""
    rollout_length: int = 40
    """Steps of each copy between two updates of the policy."""
    rollouts_per_epoch: int = 25
    """Updates in an epoch; an epoch begins with fresh episodes."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    deterministic: bool = False
    """Whether π always takes its likeliest action, in practice and afterwards; else it draws one."""
    learning: ReinforceConfig = field(default_factory=ReinforceConfig)
    """How the policy learns."""


class Practised(NamedTuple):
    """What practice has come to.

    train_state: the policy π.
    table: the explored graph with attempts, successes and steps, decayed sums over epochs.
    epoch: how many epochs it took so far.
    steps: how many environment steps.
    """

    train_state: TrainState
    table: TransitionTable
    epoch: int
    steps: int


def practise(
    env: Environment,
    detector: AttributeDetector | None,
    explored: TransitionTable,
    config: PractiseConfig,
    *,
    key: Key,
    begun: Practised | None = None,
    watch: Watch,
) -> tuple[Practised, TransitionTable]:
    """Step 3 of Algorithm 1: aim at random neighbours, learn from arriving, and keep the score of each edge."""
    if explored.num_edges == 0:
        raise AttributePlannerError(
            "Exploration saw no attribute change at all, so there is nothing to practise: explore for more steps, "
            "or check with ap.check_environment whether the attributes can change."
        )
    policy_key, epochs_key, plans_key = jax.random.split(key, 3)
    graph = device_graph(explored, config.visit_exponent)
    if begun is None:
        practised = practice_of(GoalPolicy(env.spec, config.hidden_size, key=policy_key), explored, config)
    else:  # on a graph to which a longer exploration may have added edges
        practised = begun._replace(table=explored.with_practice_of(begun.table))
    while practised.steps < config.steps:
        epoch_key = jax.random.fold_in(epochs_key, practised.epoch)
        plans = None
        if config.goal_sampling == "planned":
            plan_key = jax.random.fold_in(plans_key, practised.epoch)
            plans = plan_to_far_sets(practised.table, config.time_cost, key=plan_key)
        practised, metrics = _practise_epoch(env, detector, graph, plans, config, practised, key=epoch_key)
        watch("practise", practised.steps / config.steps, metrics, practised)
    if config.steps == 0:
        watch("practise", 1.0, {"steps": 0}, practised)
    return practised, practised.table


def practice_of(policy: GoalPolicy, explored: TransitionTable, config: PractiseConfig) -> Practised:
    """Where practice with a policy begins: with no attempt at any edge."""
    nothing = np.zeros(explored.num_edges)
    table = explored.with_practice(nothing, nothing, nothing)
    return Practised(new_train_state(policy, config.learning), table, epoch=0, steps=0)


def _practise_epoch(
    env: Environment,
    detector: AttributeDetector | None,
    graph: DeviceGraph,
    plans: jax.Array | None,
    config: PractiseConfig,
    practised: Practised,
    *,
    key: Key,
) -> tuple[Practised, dict]:
    """One epoch: fresh episodes, several windows of attempts; then the old statistics fade by γ."""
    begin_key, rollouts_key = jax.random.split(key)
    collector = collector_for(env, detector, config.num_envs, key=begin_key)
    learn = LEARNERS[config.method]
    train_state, steps, metrics = practised.train_state, practised.steps, {}
    score = jnp.zeros((3, practised.table.num_edges), jnp.int32)
    for rollout_key in jax.random.split(rollouts_key, config.rollouts_per_epoch):
        collect_key, update_key = jax.random.split(rollout_key)
        actor = AimAtNeighbours(
            train_state.policy, graph, config.max_attempt_steps, config.deterministic, plans, config.stop_on_any_change
        )
        trajectories = collector.collect(actor, config.rollout_length, key=collect_key)
        score = add_attempts(score, trajectories)
        remaining = jnp.float32(max(1 - steps / config.steps, 0.0))
        train_state, metrics = learn(graph, config, train_state, trajectories, remaining, update_key)
        steps += config.num_envs * config.rollout_length
        if steps >= config.steps:
            break
    collector.close()
    attempts, successes, spent = np.asarray(score, float)
    metrics = {
        "steps": steps,
        "success": float(successes.sum() / max(attempts.sum(), 1)),
        "attempts": int(attempts.sum()),
        **{name: float(value) for name, value in metrics.items()},
    }
    before, decay = practised.table, config.decay
    table = before.with_practice(
        decay * before.attempts + attempts,
        decay * before.successes + successes,
        None if before.spent is None else decay * before.spent + spent,
    )
    return Practised(train_state, table, practised.epoch + 1, steps), metrics


LearnWindow = Callable[[DeviceGraph, PractiseConfig, TrainState, Trajectories, jax.Array, Key], tuple[TrainState, dict]]
"""Graph, settings, learner, attempts of one window, share of the phase that remains, key → learner, metrics."""


def _by_reinforce(
    graph: DeviceGraph,
    config: PractiseConfig,
    train_state: TrainState,
    trajectories: Trajectories,
    remaining: jax.Array,
    key: Key,
) -> tuple[TrainState, dict]:
    """Learn from the attempts themselves."""
    hindsight_key, update_key = jax.random.split(key)
    batch = attempt_batch(
        graph, trajectories, step_reward=config.step_reward, hindsight_share=config.hindsight, key=hindsight_key
    )
    return update(train_state, batch, config.learning, remaining=remaining, key=update_key)


def _nothing_to_learn(
    graph: DeviceGraph, config: PractiseConfig, train_state: TrainState, *attempts: object
) -> tuple[TrainState, dict]:
    """The inverse model was fitted before."""
    del graph, config, attempts
    return train_state, {}


GOAL_SAMPLING = ("neighbours", "planned")

LEARNERS: dict[str, LearnWindow] = {"reinforce": _by_reinforce, "inverse": _nothing_to_learn}
"""The ways in which π can learn, and what they do with a window of attempts."""
