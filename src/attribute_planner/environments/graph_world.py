"""An environment given by an attribute graph, so that its optimal policy, table and plans are known.

An action follows an edge with the edge's probability; otherwise the state does not change. For aliasing, several places
can share their attribute values and have different edges.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal
from attribute_planner.environments.interface import Key, PureEnvironment
from attribute_planner.environments.spaces import Action, Discrete, VectorSpec
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError

MAX_TOTAL = 1 + 1e-6
"""Largest sum of the probabilities of an action's outcomes, with rounding."""


class Place(NamedTuple):
    """A node of the graph.

    values: index of each attribute's value.
    hidden: distinguishes places with the same values.
    """

    values: tuple[int, ...]
    hidden: int = 0


class Edge(NamedTuple):
    """An edge that `action` follows with `probability`."""

    source: Place
    action: int
    target: Place
    probability: float = 1.0


@dataclass(frozen=True)
class GraphWorld(PureEnvironment):
    """The environment with these edges; `graph_world` builds one from tuples. A state is the index of a place.

    space: the attributes.
    edges: all edges. An action may have several outcomes; with the remaining probability the state does not change.
    start: start of every episode; `None` for a random place.
    episode_steps: number of steps after which an episode is truncated.
    """

    name = "graph"

    space: AttributeSpace
    edges: tuple[Edge, ...]
    start: Place | None = None
    episode_steps: int = 50

    def __post_init__(self) -> None:
        if not self.edges:
            raise ConfigurationError("A graph world needs at least one edge.")
        try:
            self.space.validate(np.array([place.values for place in self.places]), "the graph")
        except (EnvironmentFaultError, ValueError) as error:
            raise ConfigurationError(f"The places of a graph world must fit its attributes: {error}") from error
        if self.start is not None and self.start not in self.places:
            raise ConfigurationError(f"The start {self.start} is on no edge of the graph world.")
        if min(edge.action for edge in self.edges) < 0:
            raise ConfigurationError("The actions of a graph world are numbers from 0 on.")
        if min(edge.probability for edge in self.edges) < 0 or self._transitions[1][..., -1].max() > MAX_TOTAL:
            raise ConfigurationError(
                "The probabilities of an action's outcomes must be at least 0, and at most 1 in all."
            )

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """All places, in the order of their first occurrence in `edges`."""
        return tuple(dict.fromkeys(place for edge in self.edges for place in (edge.source, edge.target)))

    @property
    def attributes(self) -> AttributeSpace:
        return self.space

    @property
    def observation(self) -> VectorSpec:
        """The one-hot index of the place, which also distinguishes places with the same attributes."""
        return VectorSpec(len(self.places))

    @property
    def actions(self) -> Discrete:
        return Discrete(tuple(f"action_{number}" for number in range(1 + max(edge.action for edge in self.edges))))

    def reset(self, key: Key) -> jax.Array:
        if self.start is not None:
            return jnp.asarray(self.places.index(self.start), jnp.int32)
        return jax.random.randint(key, (), 0, len(self.places))

    def step(self, state: jax.Array, action: Action, key: Key) -> jax.Array:
        targets, chances = self._transitions
        is_past = jnp.asarray(chances)[state, action] <= jax.random.uniform(key)
        outcome = is_past.sum()
        return jnp.append(jnp.asarray(targets)[state, action], state)[outcome]

    def observe(self, state: jax.Array) -> jax.Array:
        return jax.nn.one_hot(state, len(self.places))

    def describe(self, state: jax.Array) -> jax.Array:
        return jnp.asarray(self._values)[state]

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"any-to-any": Task("any-to-any", "any other attribute set", self._other_set, self.episode_steps)}

    def _other_set(self, state: jax.Array, values: jax.Array, key: Key) -> Goal:
        """A random attribute set other than the current one; it may be unreachable."""
        del state
        sets = jnp.asarray(np.unique(self._values, axis=0))
        is_other = (sets != values[None]).any(axis=1)
        rank = jnp.floor(jax.random.uniform(key) * is_other.sum().astype(jnp.float32)).astype(jnp.int32)
        return complete_goal(sets[(jnp.cumsum(is_other) <= rank).sum()])

    @cached_property
    def _values(self) -> np.ndarray:
        """`int32[N, A]` attribute values of each place."""
        return np.array([place.values for place in self.places], np.int32)

    @cached_property
    def _transitions(self) -> tuple[np.ndarray, np.ndarray]:
        """`[N, A, K]` outcomes of each action at each place, and their cumulative probabilities."""
        outcomes: dict[tuple[int, int], list[Edge]] = {}
        for edge in self.edges:
            outcomes.setdefault((self.places.index(edge.source), edge.action), []).append(edge)
        shape = (len(self.places), self.actions.count, max(map(len, outcomes.values())))
        targets, probabilities = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for (place, action), edges in outcomes.items():
            for number, edge in enumerate(edges):
                targets[place, action, number] = self.places.index(edge.target)
                probabilities[place, action, number] = edge.probability
        return targets, probabilities.cumsum(axis=-1)


def graph_world(
    space: AttributeSpace, edges: Iterable[Sequence[Any]], *, start: Any = None, episode_steps: int = 50
) -> GraphWorld:
    """A `GraphWorld` with edges (source, action, target) or (source, action, target, probability).

    A place is a tuple of values, or a `Place`.
    """
    known = tuple(
        Edge(_as_place(source), int(action), _as_place(target), *map(float, probability))
        for source, action, target, *probability in edges
    )
    return GraphWorld(space, known, None if start is None else _as_place(start), episode_steps)


def _as_place(values: Any) -> Place:
    return values if isinstance(values, Place) else Place(tuple(map(int, values)))
