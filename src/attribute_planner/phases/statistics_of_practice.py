"""The statistics of practice from one epoch to the next: what is new is added, and makes what is old count less."""

from typing import TypeVar

import numpy as np
from jaxtyping import Float

from attribute_planner.phases.passed_sets import PassedSets
from attribute_planner.transitions.model import Listing, PractisedTransitions

Model = TypeVar("Model", bound=PractisedTransitions)


def with_epoch(
    model: Model, counts: Float[np.ndarray, "3 E"], decay: float, *, of: Listing, passed: PassedSets | None = None
) -> Model:
    """The model with the attempts of an epoch.

    Earlier statistics of a transition decay if there are new ones. The policy has changed since, but as long as nothing
    newer is known, they say more than those of other transitions: what practice avoids because it fails would otherwise
    look as good as the rest again, and plans would lead there.

    counts: attempts, successes and steps of each transition of the listing `of`, all of which the model has.
    passed: attempts from sets on the way. Transitions that the model does not have are added, as never visited.
    """
    if passed is not None and len(passed.source):
        model = model.with_pairs(passed.source, passed.target)
    before = model.listing()
    new = np.zeros((3, before.num_edges))
    new[:, slice(None) if before is of else of.edges_in(before)] = counts
    if passed is not None:
        number = before.edges_between(before.numbers_of(passed.source), before.numbers_of(passed.target))
        columns = (np.ones(len(number)), passed.reached, passed.steps)
        new += [np.bincount(number, weights=each, minlength=before.num_edges) for each in columns]
    weight = np.where(new[0] > 0, decay, 1.0)
    return model.with_practice(
        weight * before.attempts + new[0],
        weight * before.successes + new[1],
        None if before.spent is None else weight * before.spent + new[2],
    )
