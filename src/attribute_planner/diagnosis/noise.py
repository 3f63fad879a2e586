"""Attributes that change by themselves: at random, or with every step, whatever the agent does.

Such an attribute splits every set, and so the evidence about every transition. In a few random steps it shows: with
other actions it has the same values, as a clock has; or the action does not tell its next value, nor does the
observation tell when it changes, as it would for what moves on by inertia. Where a single action does little, the
policy has the last word: such an attribute changes as often when the policy acts.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Int
from scipy import stats

from attribute_planner.aliasing.evidence import evidence_for
from attribute_planner.aliasing.split_search import best_split, one_hot_blocks
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.random_steps import PolicySteps, RandomSteps
from attribute_planner.diagnosis.weak_edges import WeakChange
from attribute_planner.diagnosis.wording import percent
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.projection import as_table, project

MIN_RATE = 0.03
"""Attributes that change in a smaller share of the steps are not looked at."""

SIGNIFICANCE = 0.001
"""Chance of a dependence on action or observation if there is none."""

HARMLESS = 0.05
"""Importance of an attribute that changes by itself if plans succeed all the same."""


def uncontrolled_attributes(
    listing: Listing,
    steps: RandomSteps,
    policy_steps: Callable[[], PolicySteps],
    weak: Sequence[WeakChange],
    given: int,
) -> list[Finding]:
    """One finding for each of the first `given` attributes that changes by itself.

    It is as important as all weak transitions together: it makes each of them several, which are tried less often.

    policy_steps: steps of the policy, which are only taken if an attribute is suspected.
    """
    suspected = [number for number in range(given) if changes_by_itself(steps, number)]
    if not suspected:
        return []
    importance, of_policy = min(max(sum(each.loss for each in weak), HARMLESS), 1.0), policy_steps()
    return [
        _finding(listing, steps, number, importance)
        for number in suspected
        if steps.same[number] or not depends_on_policy(steps, of_policy, number)
    ]


def depends_on_policy(steps: RandomSteps, of_policy: PolicySteps, attribute: int) -> bool:
    """Whether the next value of an attribute depends on who acts: the policy, or chance."""
    sizes = [len(each.values) for each in (steps, of_policy)]
    before, after = (
        np.concatenate([first[:, attribute], second[:, attribute]])
        for first, second in ((steps.values, of_policy.values), (steps.after, of_policy.after))
    )
    return depends_on(np.repeat([0, 1], sizes), before, after)


def changes_by_itself(steps: RandomSteps, attribute: int) -> bool:
    """Whether an attribute changes often, whatever the actions, or neither action nor observation tells how."""
    before, after = steps.values[:, attribute], steps.after[:, attribute]
    changed = before != after
    if changed.mean() < MIN_RATE:
        return False
    if steps.same[attribute]:
        return True
    return not depends_on(steps.action, before, after) and not is_predictable(steps, changed, before)


def depends_on(cause: Int[np.ndarray, " n"], before: Int[np.ndarray, " n"], after: Int[np.ndarray, " n"]) -> bool:
    """Whether the next value depends on the cause, among steps that are the same before: a χ² test."""
    statistic = freedom = 0.0
    for value in np.unique(before):
        rows = before == value
        _, first = np.unique(cause[rows], return_inverse=True)
        _, second = np.unique(after[rows], return_inverse=True)
        counts = np.zeros((first.max() + 1, second.max() + 1))
        np.add.at(counts, (first, second), 1)
        expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
        statistic += ((counts - expected) ** 2 / expected).sum()
        freedom += (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return freedom > 0 and bool(stats.chi2.sf(statistic, freedom) < SIGNIFICANCE)


def is_predictable(steps: RandomSteps, changed: Bool[np.ndarray, " n"], before: Int[np.ndarray, " n"]) -> bool:
    """Whether a split of the observation, found in one half of the environments, tells in the other when it changes."""
    stratum = np.unique(before, return_inverse=True)[1]
    rate = np.bincount(stratum, weights=changed) / np.bincount(stratum)
    residual, half = changed - rate[stratum], steps.env % 2 == 0
    if not residual.any():
        return False
    blocks, random = one_hot_blocks(steps.features), np.random.default_rng(0)
    for fitted in (half, ~half):
        split = best_split(steps.features[fitted], residual[fitted] - residual[fitted].mean(), blocks, random)
        if split is None:
            return False
        evidence = evidence_for(np.asarray(split.holds(steps.features[~fitted])), changed[~fitted], stratum[~fitted])
        if evidence.p_value >= SIGNIFICANCE:
            return False
    return True


def _finding(listing: Listing, steps: RandomSteps, number: int, importance: float) -> Finding:
    name, names = listing.space.names[number], listing.space.names
    rate = float((steps.values[:, number] != steps.after[:, number]).mean())
    others = [other for other in names if other != name]
    merged = (
        f" Without it, {listing.num_nodes} sets become {project(as_table(listing), others).num_nodes}."
        if others
        else ""
    )
    message = (
        f"{name} changes in {percent(rate)} of random steps, whatever the action: it is noise, or changes by itself, "
        f"and makes every set several.{merged} Leave it out, or describe something that the agent can change."
    )
    return Finding("noise", message, importance, {"attribute": name, "rate": rate})
