"""Phase 3, practise: learn to move between neighbouring sets, and how well that works (step 3 of Algorithm 1)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.interface import Environment
from attribute_planner.environments.spaces import Action, Observation
from attribute_planner.errors import AttributePlannerError
from attribute_planner.learning.collecting import Arrival, Behaviour, Experience, collector_for
from attribute_planner.learning.progress import Watch
from attribute_planner.learning.reinforce import Batch, Learner, ReinforceConfig, new_learner, update
from attribute_planner.parts.bodies import NO_VALUE
from attribute_planner.parts.detector import AttributeDetector
from attribute_planner.parts.policy import GoalPolicy, Opinion
from attribute_planner.parts.table import UNKNOWN, TransitionTable
from attribute_planner.phases.far_aims import edge_on_the_way, plan_to_far_sets
from attribute_planner.phases.neighbours import NeighbourGraph, neighbour_graph

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
    step_reward: float = -0.01
    """Reward of every step, so that short ways are preferred; arriving earns 1. The paper has −0.1, under which it pays
    to change any attribute at once rather than to walk ten steps to the right one."""
    hindsight: float = 0.5
    """Share of the attempts that ended in another set than the one aimed at which are learned from as if that one had
    been the aim; 0 for the paper's way."""
    aim: str = "neighbours"
    """What is aimed at: `neighbours` of the current set, by visit counts, the paper's way; or `far`: the next set on a
    planned way to a random far one."""
    hurry: float = 0.0
    """What each environment step of a plan costs, on the scale of −log c_π, here and afterwards; 0 for the paper's
    way, in which time does not matter."""
    visit_exponent: float = 1.0
    """Neighbours are drawn by their visit counts to this power: 1 is the paper's way; less favours rare ones."""
    decay: float = 0.9
    """γ: how much the statistics of an epoch weigh one epoch later; 1 for plain ratios."""
    copies: int = 256
    """How many copies of the environment run at once."""
    window: int = 40
    """Steps of each copy between two updates of the policy."""
    windows_per_epoch: int = 25
    """Updates in an epoch; an epoch begins with fresh episodes."""
    width: int = 100
    """Units in each hidden layer."""
    greedy: bool = False
    """Whether π always takes its likeliest action, in practice and afterwards; else it draws one."""
    learning: ReinforceConfig = field(default_factory=ReinforceConfig)
    """How the policy learns."""


class Practised(NamedTuple):
    """What practice has come to.

    learner: the policy π.
    attempts, successes: `float64[E]` decayed sums over epochs, in the order of the table's edges: A_π and S_π.
    epoch: how many epochs it took so far.
    steps: how many environment steps.
    spent: `float64[E]` the steps that the attempts took, decayed likewise; `None` if nobody counted.
    """

    learner: Learner
    attempts: np.ndarray
    successes: np.ndarray
    epoch: int
    steps: int
    spent: np.ndarray | None = None


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
    graph = neighbour_graph(explored, config.visit_exponent)
    practised = begun or practice_of(GoalPolicy(env, config.width, key=policy_key), explored, config)
    while practised.steps < config.steps:
        epoch_key = jax.random.fold_in(epochs_key, practised.epoch)
        plans = None
        if config.aim == "far":
            plan_key = jax.random.fold_in(plans_key, practised.epoch)
            plans = plan_to_far_sets(_so_far(explored, practised), config.hurry, key=plan_key)
        practised, metrics = _practise_epoch(env, detector, graph, plans, config, practised, key=epoch_key)
        watch("practise", practised.steps / config.steps, metrics, practised)
    if config.steps == 0:
        watch("practise", 1.0, {"steps": 0}, practised)
    return practised, _so_far(explored, practised)


def _so_far(explored: TransitionTable, practised: Practised) -> TransitionTable:
    return explored.with_practice(practised.attempts, practised.successes, practised.spent)


def practice_of(policy: GoalPolicy, explored: TransitionTable, config: PractiseConfig) -> Practised:
    """Where practice with a policy begins: with no attempt at any edge."""
    nothing = np.zeros(explored.num_edges)
    return Practised(new_learner(policy, config.learning), nothing, nothing, epoch=0, steps=0, spent=nothing)


def _practise_epoch(
    env: Environment,
    detector: AttributeDetector | None,
    graph: NeighbourGraph,
    plans: jax.Array | None,
    config: PractiseConfig,
    practised: Practised,
    *,
    key: Key,
) -> tuple[Practised, dict]:
    """One epoch: fresh episodes, several windows of attempts; then the old statistics fade by γ."""
    begin_key, windows_key = jax.random.split(key)
    collector = collector_for(env, detector, config.copies, key=begin_key)
    learn = LEARNERS[config.method]
    learner, steps, metrics = practised.learner, practised.steps, {}
    score = jnp.zeros((3, len(practised.attempts)), jnp.int32)
    for window_key in jax.random.split(windows_key, config.windows_per_epoch):
        collect_key, update_key = jax.random.split(window_key)
        behaviour = AimAtNeighbours(learner.policy, graph, config.max_attempt_steps, config.greedy, plans)
        experience = collector.collect(behaviour, config.window, key=collect_key)
        score = add_attempts(score, experience)
        remaining = jnp.float32(max(1 - steps / config.steps, 0.0))
        learner, metrics = learn(graph, config, learner, experience, remaining, update_key)
        steps += config.copies * config.window
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
    return Practised(
        learner,
        config.decay * practised.attempts + attempts,
        config.decay * practised.successes + successes,
        practised.epoch + 1,
        steps,
        None if practised.spent is None else config.decay * practised.spent + spent,
    ), metrics


LearnWindow = Callable[[NeighbourGraph, PractiseConfig, Learner, Experience, jax.Array, Key], tuple[Learner, dict]]
"""Graph, settings, learner, attempts of one window, share of the phase that remains, key → learner, metrics."""


def _by_reinforce(
    graph: NeighbourGraph,
    config: PractiseConfig,
    learner: Learner,
    experience: Experience,
    remaining: jax.Array,
    key: Key,
) -> tuple[Learner, dict]:
    """Learn from the attempts themselves."""
    hindsight_key, update_key = jax.random.split(key)
    batch = attempt_batch(graph, experience, config, key=hindsight_key)
    return update(learner, batch, config.learning, remaining=remaining, key=update_key)


def _nothing_to_learn(
    graph: NeighbourGraph, config: PractiseConfig, learner: Learner, *attempts: object
) -> tuple[Learner, dict]:
    """The inverse model was fitted before."""
    del graph, config, attempts
    return learner, {}


AIMS = ("neighbours", "far")

LEARNERS: dict[str, LearnWindow] = {"reinforce": _by_reinforce, "inverse": _nothing_to_learn}
"""The ways in which π can learn, and what they do with a window of attempts."""


class Aim(NamedTuple):
    """What each copy is up to; `[B]` or `[B, W]`.

    source: the set in which the attempt began.
    edge: the edge of the table that it tries to take, `UNKNOWN` where there was none to choose.
    age: how many steps it has taken.
    idle: whether a new attempt begins at the next step.
    """

    source: jax.Array
    edge: jax.Array
    age: jax.Array
    idle: jax.Array


class Aimed(NamedTuple):
    """What the policy did, and thought then.

    edge: `[B]` the edge it was trying to take.
    """

    edge: jax.Array
    action: Action
    log_prob: jax.Array
    baseline: jax.Array


class Outcome(NamedTuple):
    """What a step meant for the attempt; `[B]` each.

    ended: the attempt is over: the attributes changed, t_max was reached, or the episode ended for good.
    reached: it arrived where it was aimed.
    cut: the episode's time limit came first; nothing is known of how the attempt would have gone on.
    """

    ended: jax.Array
    reached: jax.Array
    cut: jax.Array


class AimAtNeighbours(Behaviour[Aim]):
    """Picks a neighbour of the current set, by visit counts, and acts towards it until the attempt is over.

    plans: with them, the neighbour on the way to a far set is picked, as long as there is one.
    """

    policy: GoalPolicy
    graph: NeighbourGraph
    max_attempt_steps: int = eqx.field(static=True)
    greedy: bool = eqx.field(static=True, default=False)
    plans: jax.Array | None = None

    def begin(self, copies: int) -> Aim:
        source = jnp.zeros((copies, self.graph.words.shape[1]), jnp.uint32)
        nothing = jnp.zeros(copies, jnp.int32)
        return Aim(source, nothing + UNKNOWN, nothing, jnp.ones(copies, bool))

    def act(self, memory: Aim, observation: Observation, values: jax.Array, *, key: Key) -> tuple[Aim, Action, Aimed]:
        goal_key, action_key = jax.random.split(key)
        aim = self.choose(memory, values, key=goal_key)
        opinion = self.opinion(aim, observation, values)
        action = opinion.mode() if self.greedy else opinion.sample(key=action_key)
        return aim, action, Aimed(aim.edge, action, opinion.log_prob(action), opinion.baseline)

    def choose(self, memory: Aim, values: jax.Array, *, key: Key) -> Aim:
        """The aims as they were, and new ones where an attempt begins."""
        words = jnp.asarray(self.graph.space.pack(values))
        number = self.graph.locate(words)
        fresh = self.graph.random_neighbour(number, key=key)
        if self.plans is not None:
            fresh = edge_on_the_way(self.plans, number, fresh)
        return Aim(
            source=jnp.where(memory.idle[:, None], words, memory.source),
            edge=jnp.where(memory.idle, fresh, memory.edge),
            age=jnp.where(memory.idle, 0, memory.age),
            idle=jnp.zeros_like(memory.idle),
        )

    def opinion(self, aim: Aim, observation: Observation, values: jax.Array) -> Opinion:
        """What the policy thinks of the aims."""
        return self.policy(observation, values, goal_values(self.graph, aim.edge))

    def judge(self, memory: Aim, arrival: Arrival) -> tuple[Aim, Outcome]:
        age = memory.age + 1
        left = jnp.any(arrival.words != memory.source, axis=-1)
        ended = left | (age >= self.max_attempt_steps) | arrival.terminated
        reached = jnp.all(arrival.words == self.graph.target_words(memory.edge), axis=-1) & (memory.edge != UNKNOWN)
        cut = jnp.asarray(arrival.truncated) & ~ended
        return memory._replace(age=age, idle=ended | cut), Outcome(ended, reached, cut)

    def has_nothing_to_do(self, words: jax.Array) -> jax.Array:
        """A set from which exploration never saw a way on offers nothing to practise."""
        return ~self.graph.leads_on(self.graph.locate(words))


def goal_values(graph: NeighbourGraph, edge: jax.Array) -> jax.Array:
    """`int32[..., A]` the attribute values that an edge leads to; none for `UNKNOWN`."""
    values = jnp.asarray(graph.space.unpack(graph.target_words(edge)))
    return jnp.where((edge != UNKNOWN)[..., None], values, NO_VALUE)


@jax.jit
def add_attempts(score: jax.Array, experience: Experience) -> jax.Array:
    """`int32[3, E]` attempts, successes and steps per edge with those of the experience added.

    They belong to the pair that was aimed at, wherever the attempt ended. What a time limit cut off says nothing.
    """
    outcome: Outcome = experience.outcome
    edge = experience.record.edge
    counted = outcome.ended & (edge != UNKNOWN)
    # An edge past the end is dropped.
    place = jnp.where(counted, edge, score.shape[1])
    score = score.at[0, place].add(1, mode="drop")
    score = score.at[1, place].add(outcome.reached.astype(jnp.int32), mode="drop")
    return score.at[2, jnp.where(edge == UNKNOWN, score.shape[1], edge)].add(1, mode="drop")


@eqx.filter_jit
def attempt_batch(graph: NeighbourGraph, experience: Experience, config: PractiseConfig, *, key: Key) -> Batch:
    """The experience as steps to learn from: 1 for arriving, a small cost for every step."""
    record: Aimed = experience.record
    outcome: Outcome = experience.outcome
    chance, landed = hindsight(experience, config.hindsight, key=key)
    arrived = outcome.reached | (chance & outcome.ended)
    return Batch(
        observation=experience.observation,
        values=jnp.asarray(graph.space.unpack(experience.words)),
        goal=jnp.where(chance[..., None], graph.space.unpack(landed), goal_values(graph, record.edge)),
        action=record.action,
        log_prob=record.log_prob,
        baseline=record.baseline,
        reward=config.step_reward + arrived.astype(jnp.float32),
        ended=outcome.ended,
        cut=outcome.cut,
        weight=((record.edge != UNKNOWN) | chance).astype(jnp.float32),
        imitate=chance,
    )


def ended_elsewhere(experience: Experience) -> jax.Array:
    """`[T, B]` whether an attempt ended with a step into another set than the one aimed at."""
    outcome: Outcome = experience.outcome
    changed = jnp.any(experience.words != experience.arrival.words, axis=-1)
    return outcome.ended & ~outcome.reached & changed


def hindsight(experience: Experience, share: float, *, key: Key) -> tuple[jax.Array, jax.Array]:
    """Attempts that ended elsewhere show how to get there.

    `[T, B]` whether a step belongs to a chosen one of them, and `uint32[T, B, W]` the set in which its attempt ended.
    """
    outcome: Outcome = experience.outcome
    arrived = jnp.asarray(experience.arrival.words)
    chosen = ended_elsewhere(experience) & (jax.random.uniform(key, outcome.ended.shape) < share)

    def backwards(later: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]):
        ended, cut, chosen, arrived = step
        chance = jnp.where(ended, chosen, later[0] & ~cut)
        landed = jnp.where(ended[..., None], arrived, later[1])
        return (chance, landed), (chance, landed)

    unknown = (jnp.zeros_like(chosen[0]), arrived[0])
    return jax.lax.scan(backwards, unknown, (outcome.ended, outcome.cut, chosen, arrived), reverse=True)[1]
