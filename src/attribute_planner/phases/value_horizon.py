"""How far policies that learn values look ahead: some times as long as transitions take."""

import numpy as np

from attribute_planner.transitions.model import Listing

TIMES_AS_LONG = 4.0
"""The horizon in units of the time that a transition takes. A shorter one would prefer risky short ways."""
COVERED = 0.9
"""The fraction of arrivals whose transitions take no longer than the time that counts."""
SHORTEST, FEWEST_ARRIVALS = 5.0, 100.0
"""The shortest horizon in steps, and the number of arrivals from which their duration counts."""


def value_discount(listing: Listing, max_attempt_steps: int) -> float:
    """The discount factor of policies that estimate the probability of arriving.

    Until there are some arrivals, the horizon is t_max. Where transitions take much less, values that are discounted so
    little differ by less than the network's error between a step towards the target and a detour.
    """
    horizon = min(max(TIMES_AS_LONG * usual_steps(listing, max_attempt_steps), SHORTEST), max_attempt_steps)
    return 1 - 1 / horizon


def usual_steps(listing: Listing, max_attempt_steps: int) -> float:
    """The steps per arrival that are not exceeded on the edges of nine in ten arrivals; t_max if that is not known."""
    if listing.spent is None or listing.successes.sum() < FEWEST_ARRIVALS:
        return float(max_attempt_steps)
    arrived = listing.successes > 0
    weight = listing.successes[arrived]
    steps = listing.spent[arrived] / weight
    order = np.argsort(steps)
    reached = np.cumsum(weight[order]) >= COVERED * weight.sum()
    return float(steps[order][np.argmax(reached)])
