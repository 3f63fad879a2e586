"""A goal as the page shows it: as text for `reach` and for Python, what is known of it, and examples."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy.sparse.csgraph import breadth_first_order

from attribute_planner.attributes import AttributeSpace, Goal, Value
from attribute_planner.environments.tasks import is_solved_at_start
from attribute_planner.planning.nearest_set import nearest_set
from attribute_planner.planning.plan import Planner
from attribute_planner.transitions.numbering import UNKNOWN
from attribute_planner.viewer.data import plan_json

PARTIAL_EXAMPLES = (1, 2)
"""How many attributes the partial examples mention."""
TASK_EXAMPLES = 2
"""Examples that are goals of tasks."""


def goal_json(goal: Goal, space: AttributeSpace) -> dict[str, Any]:
    """A goal as text and as the numbers of its values, `None` where it does not matter."""
    at_least = np.zeros(len(space), bool) if goal.at_least is None else np.asarray(goal.at_least)
    wanted = np.asarray(goal.wanted).tolist()
    values = [value if is_wanted else None for value, is_wanted in zip(goal.values.tolist(), wanted, strict=True)]
    return {"text": goal.text(space), "values": values, "at_least": at_least.tolist()}


def asked_json(run: str, planner: Planner, start: Int[np.ndarray, " A"], goal: Goal, seed: int) -> dict[str, Any]:
    """What is known of a goal: how many known sets satisfy it, the plan, and the nearest goal if there is none."""
    space, plan = planner.listing.space, planner.plan(start, goal)
    nearest = None if plan.reachable else nearest_goal(planner, start, goal)
    return {
        **goal_json(goal, space),
        "command": f"attribute-planner reach {shlex.quote(run)} --goal {shlex.quote(goal.text(space))} --seed {seed}",
        "python": f"agent.reach({named_goal(goal, space)!r}, seed={seed})",
        "satisfying": len(planner.listing.satisfying(goal)),
        "known": planner.listing.num_nodes,
        "plan": plan_json(plan),
        "nearest": None if nearest is None else goal_json(nearest, space),
    }


def named_goal(goal: Goal, space: AttributeSpace) -> dict[str, Value]:
    """The goal as a dictionary, as `agent.reach` takes it."""
    named = goal.named(space)
    if goal.at_least is None:
        return named
    return {name: f">={value}" if goal.at_least[space.index(name)] else value for name, value in named.items()}


def nearest_goal(planner: Planner, start: Int[np.ndarray, " A"], goal: Goal) -> Goal | None:
    """The goal with the values of the set that comes nearest to it, of those to which a way is known."""
    listing, wanted = planner.listing, np.asarray(goal.wanted)
    ideal = np.where(wanted, goal.values, start).astype(np.int32)
    end = nearest_set(listing, ideal, goal, reachable_from(planner, start))
    nearest = replace(goal, values=np.where(wanted, listing.values[end], 0).astype(np.int32), at_least=None)
    return None if end == UNKNOWN or nearest.satisfied_by(start) else nearest


def reachable_from(planner: Planner, start: Int[np.ndarray, " A"]) -> Bool[np.ndarray, " N"]:
    """To which other sets a way is known."""
    possible, number = np.zeros(planner.listing.num_nodes, bool), planner.listing.number_of(start)
    if number != UNKNOWN:
        possible[breadth_first_order(planner.graph.reversed.T.tocsr(), number, return_predecessors=False)] = True
        possible[number] = False
    return possible


def partial_examples(planner: Planner, start: Int[np.ndarray, " A"], seed: int) -> list[Goal]:
    """Goals to start from: partial ones that are possible by what is known."""
    random = np.random.default_rng(seed)
    examples = [partial_example(planner, start, count, random) for count in PARTIAL_EXAMPLES]
    return [goal for goal in examples if goal is not None]


def farthest(planner: Planner, start: Int[np.ndarray, " A"], goals: Sequence[Goal]) -> list[Goal]:
    """Those of several goals that do not hold at the start and have the longest plans."""
    unsolved = [goal for goal in goals if not bool(is_solved_at_start(goal, start))]
    return sorted(unsolved, key=lambda goal: -len(planner.plan(start, goal).path))[:TASK_EXAMPLES]


def partial_example(
    planner: Planner, start: Int[np.ndarray, " A"], count: int, random: np.random.Generator
) -> Goal | None:
    """A goal that mentions a few of the attributes in which a set that can be reached differs from the start."""
    values = planner.listing.values
    differing = np.flatnonzero(((values != start).sum(axis=1) >= count) & reachable_from(planner, start))
    if not len(differing):
        return None
    there = values[random.choice(differing)]
    # What becomes true says more than what becomes false.
    changed = np.flatnonzero(there != start)
    chosen = sorted(random.permutation(changed), key=lambda each: bool(there[each] < start[each]))[:count]
    wanted = np.isin(np.arange(len(start)), chosen)
    return Goal(np.where(wanted, there, 0).astype(np.int32), wanted)
