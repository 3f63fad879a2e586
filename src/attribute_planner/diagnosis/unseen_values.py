"""Declared values that training never saw."""

from collections.abc import Sequence

import numpy as np

from attribute_planner.attributes import Attribute, Goal
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.ways import FEW_VISITS, time_runs_out
from attribute_planner.diagnosis.wording import percent, times
from attribute_planner.transitions.model import Listing, TransitionModel
from attribute_planner.transitions.numbering import NumberedSets

NOT_ASKED = 0.01
"""Importance of unseen values that no task asks for."""

MAX_LISTED = 6
"""More values than these are counted, not listed."""


def unseen_values(model: TransitionModel, asked: Sequence[Asked], given: int) -> list[Finding]:
    """One finding for each of the first `given` attributes with values that no known set has."""
    sets = model.listing()
    findings = []
    for number, attribute in enumerate(sets.space.attributes[:given]):
        unseen = never_seen(sets, asked, number)
        if len(unseen):
            asking = [each for each in asked if asks_for(each.plan.goal, number, attribute, unseen)]
            share = sum(each.weight for each in asking)
            advice = time_runs_out(model, asking) or incomplete(sets, number, unseen) or HOW_TO_SEE
            findings.append(_finding(attribute, unseen, share, advice))
    return findings


def never_seen(sets: NumberedSets, asked: Sequence[Asked], attribute: int) -> np.ndarray:
    """`[n]` the values of an attribute that neither training nor the start of an episode holds."""
    starts = [int(each.plan.start[attribute]) for each in asked]
    seen = np.union1d(sets.values[:, attribute], np.array(starts, int))
    return np.setdiff1d(np.arange(sets.space.sizes[attribute]), seen)


def asks_for(goal: Goal, number: int, attribute: Attribute, unseen: np.ndarray) -> bool:
    """Whether a goal can only be satisfied with one of these values of an attribute."""
    if not goal.wanted[number]:
        return False
    wanted = int(goal.values[number])
    or_more = goal.at_least is not None and bool(goal.at_least[number])
    return all(value in unseen for value in range(wanted, attribute.size if or_more else wanted + 1))


def asks_for_unseen(each: Asked, sets: NumberedSets, asked: Sequence[Asked]) -> bool:
    """Whether a goal needs any value that was never seen."""
    return any(
        asks_for(each.plan.goal, number, attribute, never_seen(sets, asked, number))
        for number, attribute in enumerate(sets.space.attributes)
        if each.plan.goal.wanted[number]
    )


def incomplete(listing: Listing, attribute: int, unseen: np.ndarray) -> str:
    """What to change if exploration has hardly seen the values next to unseen ones, in their order; else empty."""
    seen = np.setdiff1d(np.union1d(unseen - 1, unseen + 1), unseen)
    entering = np.isin(listing.values[listing.target, attribute], seen) & np.isin(
        listing.values[listing.source, attribute], seen, invert=True
    )
    visits = int(listing.visits[entering].sum())
    if not entering.any() or visits >= FEW_VISITS:
        return ""
    space = listing.space
    listed = " or ".join(
        f"{space.names[attribute]}={space.attributes[attribute].text(int(value))}"
        for value in seen
        if (listing.values[:, attribute] == value).any()
    )
    return (
        f"Exploration is not complete: it came to {listed} {times(visits)}. Train for more steps, or add attributes "
        "for what comes before. If that does not help, check that the state can have this value and that it is "
        "described correctly."
    )


HOW_TO_SEE = (
    "Check that the state can have this value and that it is described correctly; if it is hard to reach, train for "
    "more steps, or add attributes for what comes before."
)
"""What to do about a value that was never seen."""


def _finding(attribute: Attribute, unseen: np.ndarray, share: float, advice: str) -> Finding:
    listed = " and ".join(f"{attribute.name}={attribute.text(value)}" for value in unseen)
    values = [str(attribute.values[int(value)]) for value in unseen]
    if len(unseen) > MAX_LISTED:
        listed = f"{len(values)} of the {attribute.size} values of {attribute.name}"
    were, asks = ("was" if len(values) == 1 else "were"), f"{percent(share)} of the goals of the tasks need it. "
    message = f"{listed} {were} never seen in training. {asks if share else ''}{advice}"
    return Finding("unseen-value", message, share or NOT_ASKED, {"attribute": attribute.name, "values": values})
