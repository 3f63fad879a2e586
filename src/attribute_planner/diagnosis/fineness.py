"""Attributes that are too fine: they matter to no goal and no transition, and leave too few attempts for each."""

from collections.abc import Sequence, Set

import numpy as np

from attribute_planner.attributes import Goal
from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.weak_edges import WeakChange
from attribute_planner.transitions.model import Listing
from attribute_planner.transitions.projection import as_table, irrelevant_attributes, project

MAX_EDGES = 200_000
"""Larger tables are not searched."""


def too_fine(listing: Listing, asked: Sequence[Asked], weak: Sequence[WeakChange], known: Set[str]) -> list[Finding]:
    """A finding if leaving out attributes would give transitions that were rarely attempted more attempts each.

    known: attributes that another finding says to leave out.
    """
    loss = sum(each.loss for each in weak if each.is_new)
    if not asked or not loss or listing.num_edges > MAX_EDGES:
        return []
    table = as_table(listing)
    wanted = np.any([np.asarray(each.plan.goal.wanted) for each in asked], axis=0)
    goal = Goal(np.zeros(len(wanted), np.int32), wanted)
    unneeded = [name for name in irrelevant_attributes(table, goal) if name not in known]
    if not unneeded:
        return []
    merged = project(table, [name for name in table.space.names if name not in unneeded])
    listed = " and ".join(unneeded)
    message = (
        f"{listed} matter{'s' if len(unneeded) == 1 else ''} to no task and to no other change, and split"
        f"{'s' if len(unneeded) == 1 else ''} {merged.num_nodes} sets into {table.num_nodes}: a transition had "
        f"{table.attempts.mean():.1f} recent attempts on average, and would have had "
        f"{merged.attempts.mean():.1f}. Leave {'it' if len(unneeded) == 1 else 'them'} out, or train for more steps."
    )
    evidence = {"attributes": unneeded, "sets": table.num_nodes, "sets_without": merged.num_nodes}
    return [Finding("weak-edge", message, min(loss, 1.0), evidence)]
