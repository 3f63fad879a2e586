"""Small environments with known solutions, tables written down by hand, and an agent trained once a session."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner import algorithm
from attribute_planner.agent import Agent
from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.configuration import TrainConfig
from attribute_planner.data.examples import Examples
from attribute_planner.environments.graph_world import GraphWorld, graph_world
from attribute_planner.environments.interface import Environment, HostEnvironment, PureEnvironment
from attribute_planner.environments.spaces import (
    Action,
    ActionSpace,
    Box,
    Discrete,
    ObservationSpec,
    UnitObservation,
    VectorSpec,
)
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.environments.vector_env import PureVectorEnv, TimeStep, VectorEnv
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.models.distributions import Categorical
from attribute_planner.models.policy import GoalPolicy, PolicyOutput
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable

EAGER = PPOConfig(learning_rate=0.02, entropy_coef=0.003, update_epochs=2, num_minibatches=2)
"""Learns a decision or two within a few thousand steps."""

TINY = TrainConfig(
    detect=DetectConfig(num_labels=512, fit=FitConfig(updates=60, batch=64, learning_rate=0.02), hidden_size=16),
    explore=ExploreConfig(
        steps=3_200,
        num_envs=16,
        rollout_length=10,
        rollouts_per_epoch=5,
        hidden_size=16,
        ppo=replace(EAGER, anneal=False),
    ),
    practise=PractiseConfig(
        steps=16_000,
        max_attempt_steps=4,
        num_envs=16,
        rollout_length=10,
        rollouts_per_epoch=20,
        hidden_size=16,
        # Exploration prefers some transitions: practice that does so too can unlearn the others.
        visit_exponent=0.0,
        ppo=replace(EAGER, entropy_coef=0.03),
    ),
)
"""Everything small: enough for environments with a few states."""


def counts_of(env: Environment, examples: Examples) -> TransitionCounts:
    """How often each transition was seen."""
    counts, pack = TransitionCounts(env.attributes.num_words), env.attributes.pack
    seen = examples.take(examples.changed)
    counts.record(*(np.asarray(pack(np.asarray(each))) for each in (seen.values, seen.values_after)))
    return counts


Network = TypeVar("Network")


def with_drawn_weights(make: Callable[[jax.Array], Network]) -> Network:
    """A network with weights drawn by NumPy: compiling JAX's own initialisers takes longer than most tests do."""
    random = np.random.default_rng(0)
    shapes = eqx.filter_eval_shape(make, jax.random.key(0))
    return jax.tree.map(lambda leaf: jnp.asarray(random.normal(0, 0.3, leaf.shape), leaf.dtype), shapes)


def numbers(size: int, name: str = "n") -> AttributeSpace:
    """One integer attribute: the smallest space with `size` sets."""
    return AttributeSpace((Attribute(name, range(size)),))


RING = graph_world(
    numbers(5),
    [((i,), action, ((i + (1, -1)[action]) % 5,)) for i in range(5) for action in (0, 1)],
    episode_steps=20,
)
"""Five places in a circle: action 0 leads on, action 1 back."""


def new_ring() -> GraphWorld:
    """Another ring, as a function of one's own makes it."""
    return replace(RING)


@cache
def ring_agent() -> Agent:
    """An agent that was trained on the ring."""
    return algorithm.train(RING, TINY, key=jax.random.key(1))


def table_of(
    space: AttributeSpace,
    edges: Iterable[tuple[tuple[int, ...], tuple[int, ...], float]],
    *,
    also: Iterable[tuple[int, ...]] = (),
) -> TransitionTable:
    """A table with edges (source, target, c_π), each tried a thousand times; `also` holds sets that no edge touches."""
    known = {(tuple(source), tuple(target)): probability for source, target, probability in edges}
    sets = sorted({each for pair in known for each in pair} | set(also), key=lambda v: space.key(np.array(v)))
    number = {values: i for i, values in enumerate(sets)}
    pairs = sorted((number[source], number[target], probability) for (source, target), probability in known.items())
    source, target = (np.array([pair[i] for pair in pairs], np.int32) for i in (0, 1))
    attempts = np.full(len(pairs), 1000.0)
    successes = attempts * [probability for *_, probability in pairs]
    words = np.asarray(space.pack(np.array(sets, np.int32)))
    return TransitionTable(space, words, source, target, np.ones(len(pairs)), attempts, successes, "ratio")


def partial_goal(values: Iterable[int | None]) -> Goal:
    """The goal with these values; `None` for attributes that do not matter."""
    values = list(values)
    return Goal(np.array([v or 0 for v in values], np.int32), np.array([v is not None for v in values]))


class Oracle(GoalPolicy):
    """The optimal policy of a `GraphWorld` with one attribute.

    best: `[places, values]` what to do at a place to get to a value: the action of the edge there, 0 if there is none.
    """

    best: jax.Array

    def __init__(self, world: GraphWorld) -> None:
        ignorant = with_drawn_weights(lambda key: GoalPolicy(world.spec, 2, key=key))
        self.encoder, self.action_head, self.baseline_head = (
            ignorant.encoder,
            ignorant.action_head,
            ignorant.baseline_head,
        )
        self.action_space, self.temperature = world.actions, None
        best = np.zeros((len(world.places), world.space.attributes[0].size), np.int32)
        for edge in world.edges:
            best[world.places.index(edge.source), edge.target.values[0]] = edge.action
        self.best = jnp.asarray(best)

    def __call__(self, observation: Any, values: jax.Array, goal: jax.Array) -> PolicyOutput:
        action = self.best[jnp.argmax(observation, axis=-1), goal[..., 0]]
        assert isinstance(self.action_space, Discrete)
        return PolicyOutput(Categorical(50 * jax.nn.one_hot(action, self.action_space.count)), jnp.zeros(action.shape))


@dataclass(frozen=True)
class Still(PureEnvironment):
    """An environment in which nothing happens, for networks that need a specification."""

    name = "still"
    observed: ObservationSpec
    space: AttributeSpace
    offered: ActionSpace
    episode_steps: int = 20

    @property
    def attributes(self) -> AttributeSpace:
        return self.space

    @property
    def observation(self) -> ObservationSpec:
        return self.observed

    @property
    def actions(self) -> ActionSpace:
        return self.offered

    def reset(self, key: jax.Array) -> jax.Array:
        return jnp.zeros(())

    def step(self, state: jax.Array, action: Any, key: jax.Array) -> jax.Array:
        return state

    def observe(self, state: jax.Array) -> jax.Array:
        return jnp.zeros(self.observed.shape, self.observed.dtype)

    def describe(self, state: jax.Array) -> jax.Array:
        return jnp.zeros(len(self.space), jnp.int32)

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {}


@dataclass(frozen=True)
class Levers(PureEnvironment):
    """Two units must pull at once to open a door, and push at once to close it; a third one is there but not active."""

    name = "levers"
    episode_steps: int = 20

    @property
    def attributes(self) -> AttributeSpace:
        return AttributeSpace((Attribute("open"),))

    @property
    def observation(self) -> VectorSpec:
        return VectorSpec(3)

    @property
    def actions(self) -> ActionSpace:
        return Discrete(("push", "pull"))

    @property
    def num_units(self) -> int:
        return 3

    def reset(self, key: jax.Array) -> jax.Array:
        return jax.random.bernoulli(key)

    def step(self, state: jax.Array, action: Any, key: jax.Array) -> jax.Array:
        first, second, _ = action
        return jnp.where(first == second, first == 1, state)

    def observe(self, state: jax.Array) -> UnitObservation:
        return UnitObservation(jnp.eye(3), jnp.array([True, True, False]))

    def describe(self, state: jax.Array) -> jax.Array:
        return state.astype(jnp.int32)[None]

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"toggle": Task("toggle", "the other one", lambda s, values, key: complete_goal(1 - values), 5)}


@dataclass(frozen=True)
class Thirds(PureEnvironment):
    """A number between −1 and 1 is chosen; the attribute tells in which third of that range it was."""

    name = "thirds"
    episode_steps: int = 20

    @property
    def attributes(self) -> AttributeSpace:
        return AttributeSpace((Attribute("third", ("low", "middle", "high")),))

    @property
    def observation(self) -> VectorSpec:
        return VectorSpec(1)

    @property
    def actions(self) -> ActionSpace:
        return Box((-1.0,), (1.0,))

    def reset(self, key: jax.Array) -> jax.Array:
        return jax.random.randint(key, (), 0, 3)

    def step(self, state: jax.Array, action: Any, key: jax.Array) -> jax.Array:
        return (action[0] > -1 / 3).astype(jnp.int32) + (action[0] > 1 / 3).astype(jnp.int32)

    def observe(self, state: jax.Array) -> jax.Array:
        return jnp.zeros(1)

    def describe(self, state: jax.Array) -> jax.Array:
        return state[None]

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"next": Task("next", "the next third", lambda s, values, key: complete_goal((values + 1) % 3), 5)}


@dataclass(frozen=True)
class Hosted(HostEnvironment):
    """A `GraphWorld` that is stepped from the host, like a user's simulator.

    fails_at: raises at so many steps of its life; never if `None`.
    """

    name = "hosted"
    graph: GraphWorld
    episode_steps: int = 20
    fails_at: int | None = None

    @property
    def attributes(self) -> AttributeSpace:
        return self.graph.attributes

    @property
    def observation(self) -> VectorSpec:
        return self.graph.observation

    @property
    def actions(self) -> ActionSpace:
        return self.graph.actions

    @property
    def tasks(self) -> Mapping[str, Task]:
        return self.graph.tasks

    def vector_env(self, num_envs: int) -> VectorEnv:
        return HostedWorlds(self, num_envs)


class HostedWorlds(VectorEnv):
    """Environments of a `GraphWorld` with a time limit."""

    steps_of_all: ClassVar[int] = 0

    def __init__(self, env: Hosted, num_envs: int) -> None:
        self.env, self.num_envs = env, num_envs
        self.inner, self.ages = PureVectorEnv(env.graph, num_envs), np.zeros(num_envs, int)

    def reset(self, key: jax.Array, task: Task | None = None) -> TimeStep:
        self.ages[:] = 0
        return self._on_the_host(self.inner.reset(key, task))

    def reset_where(self, which: np.ndarray, key: jax.Array, task: Task | None = None) -> TimeStep:
        self.ages[which] = 0
        return self._on_the_host(self.inner.reset_where(which, key, task))

    def step(self, action: Action, key: jax.Array) -> TimeStep:
        HostedWorlds.steps_of_all += 1
        if HostedWorlds.steps_of_all == self.env.fails_at:
            raise RuntimeError("the simulator fell over")
        self.ages += 1
        return self._on_the_host(self.inner.step(jnp.asarray(action), key))

    def sample_goals(self, task: Task, key: jax.Array) -> Goal:
        return self.inner.sample_goals(task, key)

    def render(self, index: int) -> np.ndarray:
        return np.full((8, 12, 3), index, np.uint8)

    def _on_the_host(self, timestep: TimeStep) -> TimeStep:
        return TimeStep(
            np.asarray(timestep.observation),
            np.asarray(timestep.attributes),
            timestep.terminated,
            self.ages >= self.env.episode_steps,
        )
