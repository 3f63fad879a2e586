"""Sets that attempts passed on their way: each is an attempt from there, too.

An attempt that goes on until it arrives may pass through other sets. How it ended tells how likely the policy is to get
from each of them to its target, which is what a plan needs to know that finds itself there: go on, or turn elsewhere?
"""

from typing import NamedTuple, TypeVar

import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.attempt_log import CUT_OFF, AttemptLog
from attribute_planner.data.replay import Replay
from attribute_planner.transitions.model import PractisedTransitions

Model = TypeVar("Model", bound=PractisedTransitions)


class PassedSets(NamedTuple):
    """Attempts from sets on the way, `[N]` each.

    source, target: `uint32[N, W]` the set, packed, and the target of the attempt.
    reached: whether it arrived.
    steps: the steps from that set on.
    """

    source: np.ndarray
    target: np.ndarray
    reached: np.ndarray
    steps: np.ndarray


def passed_sets(log: AttemptLog, replay: Replay, space: AttributeSpace, since: int) -> PassedSets:
    """The sets that were passed by the attempts that began at step number `since` or later, each once an attempt."""
    found: list[tuple[np.ndarray, np.ndarray, int, int]] = []
    over = log.rows[(log.rows[:, 0] >= max(since, replay.first)) & (log.rows[:, 3] != CUT_OFF)]
    for first, last, env, reached in over.tolist():
        if last == first:
            continue
        steps = replay.steps_at(np.arange(first, last + 1), np.full(last + 1 - first, env))
        values, target = steps.values, steps.pursued[-1]
        entered = 1 + np.flatnonzero((values[1:] != values[:-1]).any(axis=1))
        seen = {values[0].tobytes(), target.tobytes()}
        for place in entered.tolist():
            if values[place].tobytes() not in seen:
                seen.add(values[place].tobytes())
                found.append((values[place], target, reached, last + 1 - first - place))
    if not found:
        nothing = np.zeros((0, space.num_words), np.uint32)
        return PassedSets(nothing, nothing, np.zeros(0), np.zeros(0))
    source, target, reached, steps = (np.array(column) for column in zip(*found, strict=True))
    source, target = (np.asarray(space.pack(each.astype(np.int32))) for each in (source, target))
    return PassedSets(source, target, reached.astype(float), steps.astype(float))


def with_passed_sets(model: Model, passed: PassedSets) -> Model:
    """The model with these attempts; transitions that it does not hold yet are added, and count as never visited."""
    if not len(passed.source):
        return model
    model = model.with_pairs(passed.source, passed.target)
    listed = model.listing()
    number = listed.edges_between(listed.numbers_of(passed.source), listed.numbers_of(passed.target))
    attempts, successes, spent = (
        np.bincount(number, weights=each, minlength=listed.num_edges)
        for each in (np.ones(len(number)), passed.reached, passed.steps)
    )
    return model.with_practice(
        listed.attempts + attempts,
        listed.successes + successes,
        None if listed.spent is None else listed.spent + spent,
    )
