"""Targets along plans: practice follows plans to distant sets, and so attempts the transitions that plans use."""

from collections.abc import Callable
from dataclasses import replace
from typing import Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from attribute_planner.data.stacking import Growing
from attribute_planner.planning.search import Distances, Graph
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

    number: the sets; `UNKNOWN` where there are fewer.
    edges: the first edge from each set towards each distant one; `UNKNOWN` if there is none, and at the set itself.
    weight: how often each distant set is drawn from each set, relative to the others.
    """

    number: Int[jax.Array, " F"]
    edges: Int[jax.Array, "F N"]
    weight: Float[jax.Array, "F N"]

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
            by weight from those to which there is a path.
        otherwise: the edge if there is no path to any of them.
        """
        ways = jnp.where(number[None] == UNKNOWN, UNKNOWN, self.edges[:, number])
        chance = jnp.log(self.weight[:, number]) + jax.random.gumbel(key, ways.shape)
        drawn = jnp.argmax(jnp.where(ways == UNKNOWN, -jnp.inf, chance), axis=0)
        place = jnp.arange(len(number))
        keeps = (far != UNKNOWN) & (ways[jnp.maximum(far, 0), place] != UNKNOWN)
        chosen = jnp.where(keeps, far, drawn.astype(jnp.int32))
        edge = ways[chosen, place]
        return chosen, jnp.where(edge == UNKNOWN, otherwise, edge)

    def shares(self) -> Float[jax.Array, "F N"]:
        """The weights as shares of those of all distant sets to which there is a path."""
        weight = jnp.where(self.edges == UNKNOWN, 0.0, self.weight)
        return weight / jnp.maximum(weight.sum(axis=0, keepdims=True), 1e-30)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of sets."""
        return (self.edges.shape[1],)

    def padded_to(self, sizes: tuple[int, ...]) -> Self:
        more = ((0, 0), (0, sizes[0] - self.edges.shape[1]))
        return replace(
            self, edges=jnp.pad(self.edges, more, constant_values=UNKNOWN), weight=jnp.pad(self.weight, more)
        )


SPREAD = 17
"""Distance in the list between the goals of an environment, so that environments do not follow each other."""


def plan_to_far_sets(
    model: TransitionModel, weight: Float[np.ndarray, " N"] | None = None, *, padded_to: int | None = None, key: Key
) -> FarSets:
    """Paths to some sets, which are drawn by weight; by default uniformly.

    padded_to: the number of sets that the result is made for, if not that of the model.
    """
    num_nodes = model.listing().num_nodes
    sets = np.zeros(0, int)
    if num_nodes:
        random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        sets = random.choice(num_nodes, FAR_SETS, p=None if weight is None else weight / weight.sum())
    return _far_sets(Graph(model), sets, lambda *_: np.ones(num_nodes), padded_to or num_nodes)


def plan_to_learnable_sets(
    model: TransitionModel, horizon: float | None = None, *, padded_to: int, key: Key
) -> FarSets:
    """Paths to all sets, or to some of many. Half of the draws are by rarity, half also by what can be learned.

    horizon: the number of steps of an episode, for the paths that execution would take in it. By default they are the
        safest ones by optimistic estimates.

    The rarity of a set that was reached n times is 1 / √(1 + n). What can be learned on the way there is P (1 − P), the
    variance of whether the path succeeds: it is small where nothing fails any more, and where nothing has ever
    succeeded. For P each transition has succeeded and failed once more than it did.
    """
    listing = model.listing()
    random = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    reached = np.bincount(listing.target, weights=listing.successes, minlength=listing.num_nodes)
    rarity = (1 + reached) ** -0.5
    count = min(listing.num_nodes, FAR_SETS)
    sets = random.choice(listing.num_nodes, count, replace=False, p=rarity / rarity.sum())
    cost = -np.log((listing.successes + 1) / (listing.attempts + 2))

    def learnable(number: int, ways: Distances) -> Float[np.ndarray, " N"]:
        success = np.exp(-ways.sum_along(lambda source, target: cost[listing.edges_between(source, target)]))
        return success * (1 - success) * rarity[number]

    paths = Graph(optimistic(listing)) if horizon is None else Graph(listing, horizon)
    far = _far_sets(paths, sets, learnable, padded_to)
    rare = jnp.zeros_like(far.weight).at[: len(sets)].set(jnp.asarray(rarity[sets], jnp.float32)[:, None])
    return replace(far, weight=far.shares() + replace(far, weight=rare).shares())


def _far_sets(
    paths: Graph, sets: Int[np.ndarray, " n"], weight_of: Callable[[int, Distances], np.ndarray], padded_to: int
) -> FarSets:
    """Up to `FAR_SETS` sets with the paths to them, and the weight of each from everywhere."""
    num_nodes = paths.listing.num_nodes
    number = np.full(FAR_SETS, UNKNOWN, np.int32)
    edges = np.full((FAR_SETS, padded_to), UNKNOWN, np.int32)
    weight = np.zeros((FAR_SETS, padded_to), np.float32)
    number[: len(sets)] = sets
    ways = {each: paths.to_sets(np.array([each])) for each in set(sets.tolist())}
    for place, each in enumerate(sets.tolist()):
        edges[place, :num_nodes] = _edges_towards(ways[each])
        weight[place, :num_nodes] = weight_of(each, ways[each])
    return FarSets(jnp.asarray(number), jnp.asarray(edges), jnp.asarray(weight))


PRIOR_ATTEMPTS = 2.0
"""Prior attempts, all successful, of each transition that was seen: that many failures halve its estimated success."""


def optimistic(model: TransitionModel) -> Listing:
    """The transitions of a model with optimistic estimates: an untried transition is assumed to succeed.

    Those that were never seen, but passed by an attempt on its way, must have succeeded.
    """
    listing = model.listing()
    seen = listing.visits > 0
    success = (listing.successes + PRIOR_ATTEMPTS * seen) / (listing.attempts + PRIOR_ATTEMPTS)
    return replace(listing, probability=success)


def _edges_towards(ways: Distances) -> np.ndarray:
    """`int64[N]` the first edge of the best path from each set."""
    successor = ways.successor.astype(np.int64)
    known = np.flatnonzero(successor != UNKNOWN)
    edges = np.full(len(successor), UNKNOWN, np.int64)
    edges[known] = ways.graph.listing.edges_between(known, successor[known])
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
