"""Targets along plans: practice follows plans to distant sets, and so attempts the transitions that plans use."""

from dataclasses import replace
from typing import Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.stacking import Growing
from attribute_planner.planning.search import NOWHERE, Graph
from attribute_planner.transitions.model import Listing, PractisedTransitions, TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

Key = jax.Array
Model = TypeVar("Model", bound=PractisedTransitions)

GOAL_SAMPLING = ("neighbours", "planned")
"""How practice draws its targets."""

FAR_SETS = 32
"""Number of distant sets to which plans are made; each environment is assigned one of them."""
SUBSTITUTES = 4
"""Number of them that an environment tries in turn if it is at its own, or has no path to it."""


class FarSets(Growing):
    """Distant sets, each with the paths to it.

    number: the sets.
    edges: the first edge from each set towards each distant one; `UNKNOWN` if there is none, and at the set itself.
    """

    number: Int[jax.Array, " F"]
    edges: Int[jax.Array, "F N"]

    def edge(self, turn: Int[jax.Array, " B"], number: Int[jax.Array, " B"]) -> Int[jax.Array, " B"]:
        """The next edge of environments in the sets `number`, which had `turn` goals before."""
        which = (jnp.arange(len(number)) + turn * SPREAD) % len(self.number)
        return jnp.where(number == UNKNOWN, UNKNOWN, self.edges[which, number])

    def keep_or_draw(
        self,
        far: Int[jax.Array, " B"],
        number: Int[jax.Array, " B"],
        otherwise: Int[jax.Array, " B"],
        *,
        key: Key,
    ) -> tuple[Int[jax.Array, " B"], Int[jax.Array, " B"]]:
        """The distant set of each environment and the next edge towards it, from the sets `number`.

        far: the current distant set, `UNKNOWN` for none. It is kept while there is a path to it; otherwise one is drawn
            from those to which there is a path.
        otherwise: the edge if there is no path to any of them.
        """
        ways = jnp.where(number[None] == UNKNOWN, UNKNOWN, self.edges[:, number])
        drawn = jnp.argmax(jnp.where(ways == UNKNOWN, 0.0, 1 + jax.random.uniform(key, ways.shape)), axis=0)
        place = jnp.arange(len(number))
        keeps = (far != UNKNOWN) & (ways[jnp.maximum(far, 0), place] != UNKNOWN)
        chosen = jnp.where(keeps, far, drawn.astype(jnp.int32))
        edge = ways[chosen, place]
        return chosen, jnp.where(edge == UNKNOWN, otherwise, edge)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of sets."""
        return (self.edges.shape[1],)

    def padded_to(self, sizes: tuple[int, ...]) -> Self:
        more = sizes[0] - self.edges.shape[1]
        return replace(self, edges=jnp.pad(self.edges, ((0, 0), (0, more)), constant_values=UNKNOWN))


SPREAD = 17
"""Distance in the list between the goals of an environment, so that environments do not follow each other."""


def plan_to_far_sets(
    model: TransitionModel, weight: Float[np.ndarray, " N"] | None = None, *, padded_to: int | None = None, key: Key
) -> FarSets:
    """Paths to some sets, which are drawn by weight; by default uniformly.

    padded_to: the number of sets that the result is made for, if not that of the model.
    """
    paths = Graph(model)
    num_nodes = paths.listing.num_nodes
    padded_to = num_nodes if padded_to is None else padded_to
    nowhere = np.full((FAR_SETS, padded_to), UNKNOWN, np.int32)
    if num_nodes == 0:
        return FarSets(jnp.zeros(FAR_SETS, jnp.int32), jnp.asarray(nowhere))
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    sets = random.choice(num_nodes, FAR_SETS, p=None if weight is None else weight / weight.sum())
    ways = {number: _edges_towards(paths, number) for number in set(sets.tolist())}
    nowhere[:, :num_nodes] = np.stack([ways[number] for number in sets.tolist()])
    return FarSets(jnp.asarray(sets, jnp.int32), jnp.asarray(nowhere))


def rarely_reached(model: TransitionModel) -> Float[np.ndarray, " N"]:
    """The sampling weight of each set: half uniform, half in favour of rarely reached sets."""
    listing = model.listing()
    reached = np.bincount(listing.target, weights=listing.successes, minlength=listing.num_nodes)
    rarity = (1 + reached) ** -0.5
    return rarity / rarity.sum() + 1 / listing.num_nodes


PRIOR_ATTEMPTS = 2.0
"""Prior attempts, all successful, of each transition: that many failures halve its estimated success."""


def optimistic(model: TransitionModel) -> Listing:
    """The transitions of a model with optimistic estimates: an untried transition is assumed to succeed."""
    listing = model.listing()
    success = (listing.successes + PRIOR_ATTEMPTS) / (listing.attempts + PRIOR_ATTEMPTS)
    return replace(listing, probability=success, durations=lambda: np.zeros(listing.num_edges))


def _edges_towards(paths: Graph, number: int) -> np.ndarray:
    """`int64[N]` the first edge of the shortest path from each set to one set."""
    successor = paths.to_sets(np.array([number])).successor.astype(np.int64)
    known = np.flatnonzero(successor != NOWHERE)
    edges = np.full(len(successor), UNKNOWN, np.int64)
    edges[known] = paths.listing.edges_between(known, successor[known])
    return edges


def edge_on_the_way(
    plans: Int[jax.Array, "F N"], number: Int[jax.Array, " B"], otherwise: Int[jax.Array, " B"]
) -> Int[jax.Array, " B"]:
    """The edge from each environment's set, `number`, towards its far set or a substitute.

    otherwise: the edge where no way is known.
    """
    edge, index = otherwise, jnp.arange(len(number))
    for substitute in reversed(range(SUBSTITUTES)):
        planned = plans[(index + substitute) % plans.shape[0], number]
        edge = jnp.where((number != UNKNOWN) & (planned != UNKNOWN), planned, edge)
    return edge
