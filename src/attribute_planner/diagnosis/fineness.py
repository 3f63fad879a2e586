"""Attributes that are too fine: no goal mentions them, and they leave too few attempts for each transition."""

from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.weak_edges import WeakChange
from attribute_planner.environments.hidden_attributes import NAME as HIDDEN
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.projection import as_table, irrelevant_attributes, project

MAX_EDGES = 200_000
"""Larger tables are not searched."""

MANY = 8
"""Attributes that no task mentions are too fine if they make so many sets of one, though other changes need them."""


def too_fine(listing: Listing, asked: Sequence[Asked], weak: Sequence[WeakChange], known: Set[str]) -> list[Finding]:
    """A finding if leaving out attributes would give transitions that were rarely attempted more attempts each.

    Hidden attributes, which training has added, are not the user's to leave out.

    known: attributes that another finding says to leave out. What the others matter to is judged without them: they
        split the evidence.
    """
    loss = sum(each.loss for each in weak if each.is_new)
    if not asked or not loss or listing.num_edges > MAX_EDGES:
        return []
    kept = np.array([name not in known for name in listing.space.names])
    wanted = np.any([np.asarray(each.plan.goal.wanted) for each in asked], axis=0)[kept]
    if not kept.any():
        return []
    table = as_table(listing)
    if not kept.all():
        table = project(table, [name for name in listing.space.names if name not in known])
    given = [name for name in table.space.names if not name.startswith(HIDDEN)]
    unneeded = [
        each for each in irrelevant_attributes(table, Goal(np.zeros(len(wanted), np.int32), wanted)) if each in given
    ]
    unasked = [name for name, asks in zip(table.space.names, wanted, strict=True) if not asks and name in given]
    if not (unneeded or unasked) or not wanted.any():
        return []
    merged = project(table, [name for name in table.space.names if name not in (unneeded or unasked)])
    if not unneeded and MANY * merged.num_nodes > table.num_nodes:
        return []
    say, names = (_unneeded, unneeded) if unneeded else (_unasked, unasked)
    message = say(names, *(Size(each.num_nodes, float(each.attempts.mean())) for each in (table, merged)))
    evidence = {"attributes": unneeded or unasked, "sets": table.num_nodes, "sets_without": merged.num_nodes}
    return [Finding("weak-edge", message, min(loss, 1.0), evidence)]


class Size(NamedTuple):
    """The number of sets of a table, and the attempts at a transition, on average."""

    sets: int
    attempts: float


def _unneeded(names: Sequence[str], now: Size, without: Size) -> str:
    s, them = ("s", "it") if len(names) == 1 else ("", "them")
    return (
        f"{' and '.join(names)} matter{s} to no task and to no other change, and split{s} {without.sets} sets into "
        f"{now.sets}: a transition had {now.attempts:.1f} recent attempts on average, and would have "
        f"had {without.attempts:.1f}. Leave {them} out, or train for more steps."
    )


def _unasked(names: Sequence[str], now: Size, without: Size) -> str:
    s, them, they = ("s", "it", "it decides") if len(names) == 1 else ("", "them", "they decide")
    return (
        f"No task mentions {' or '.join(names)}, which split{s} {without.sets} sets into {now.sets}: a "
        f"transition had {now.attempts:.1f} recent attempts on average. Leave {them} out unless {they} which "
        f"changes are possible, or give {them} fewer values; otherwise train for more steps."
    )
