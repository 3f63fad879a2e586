"""Transitions that succeed in some states only, which the attributes do not distinguish."""

from collections.abc import Sequence

import jax

from attribute_planner.aliasing.find import find_aliasing
from attribute_planner.aliasing.finding import Aliasing
from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.attributes import AttributeSpace
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.weak_edges import WeakChange
from attribute_planner.environments.splits import ComponentName

OFF_PLANS = 0.05
"""Importance of a missing attribute that explains all failures of a change which no plan contains."""


def aliasing(
    records: AttemptRecord,
    space: AttributeSpace,
    weak: Sequence[WeakChange],
    component_name: ComponentName,
    unexplained: float = 0.0,
) -> list[Finding]:
    """The missing attributes that the attempts show; each is as important as the changes that it explains.

    unexplained: the share of the goals that fail although the plans promise success. If plans contain such a change, it
        is the reason: episodes begin where it fails more often than attempts of practice do.
    """
    found = find_aliasing(records, space, key=jax.random.key(0), component_name=component_name)
    return [_finding(each, weak, unexplained) for each in found if each.is_attribute]


def _finding(found: Aliasing, weak: Sequence[WeakChange], unexplained: float) -> Finding:
    explained = {_without_rest(change) for change in (found.change, *found.also)}
    needed = [each for each in weak if _without_rest(each.change) in explained]
    loss = sum(each.loss for each in needed) + unexplained * max((each.share for each in needed), default=0.0)
    importance = min(max(loss, OFF_PLANS * found.share_explained), 1.0)
    saved = found.to_json()
    message = (
        f"{saved.pop('message')} Training with refine=True adds it. If the change only takes longer from there, allow "
        "longer attempts (practise.max_attempt_steps) or name finer attributes on the way."
    )
    return Finding("aliasing", message, importance, saved)


def _without_rest(change: str) -> str:
    """The change without the values of the attributes that stay as they are."""
    return change.partition(" with ")[0]
