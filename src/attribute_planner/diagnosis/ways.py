"""Goals to which no known transitions lead, or not within the step limit of their task."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.wording import percent, set_words
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.model import TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN


def missing_ways(model: TransitionModel, asked: Sequence[Asked]) -> list[Finding]:
    """For each task, where the way to its goals ends; one finding for the most frequent of them.

    asked: goals whose values were all seen.
    """
    graph = Graph(model)
    lost = _by_task([each for each in asked if not each.plan.reachable])
    return [_no_way(graph, each, share) for each, share in lost]


def slow_ways(model: TransitionModel, asked: Sequence[Asked]) -> list[Finding]:
    """For each task, plans that take more steps than the task allows."""
    graph = Graph(model)
    slow = [each for each in asked if each.plan.reachable and expected_steps(graph, each) > each.task.max_steps]
    return [_too_slow(graph, each, share) for each, share in _by_task(slow)]


def expected_steps(graph: Graph, each: Asked) -> float:
    """Expected environment steps of a plan, if every transition succeeds."""
    path = np.array(each.plan.path)
    return float(graph.steps_between(path[:-1], path[1:]).sum()) if len(path) > 1 else 0.0


def end_of_the_way(graph: Graph, start: int, goal_values: np.ndarray, wanted: np.ndarray) -> int:
    """The set that can be reached from `start` and satisfies most of a goal; of several, the nearest one."""
    reached = breadth_first_order(graph.reversed.T.tocsr(), start, return_predecessors=False)
    met = (graph.listing.values[reached] == goal_values)[:, wanted].sum(axis=1)
    return int(reached[met.argmax()])


def _no_way(graph: Graph, each: Asked, share: float) -> Finding:
    listing, plan = graph.listing, each.plan
    space, goal = listing.space, plan.goal
    start, ends = set_words(space, plan.start), len(listing.satisfying(goal))
    number, where = listing.number_of(plan.start), ""
    if number == UNKNOWN:
        where = f"Episodes begin in {start}, which training never saw: train for more steps."
    else:
        wanted = np.asarray(goal.wanted)
        end = listing.values[end_of_the_way(graph, number, np.asarray(goal.values), wanted)]
        seen = {0: "no set that satisfies it was ever seen", 1: "1 set that satisfies it was seen"}.get(
            ends, f"{ends} sets that satisfy it were seen"
        )
        where = (
            f"From {start}, known transitions lead as far as {set_words(space, end)}; {seen}. The goal may be "
            "impossible; if it is not, train for more steps."
        )
    text = goal.text(space)
    message = f"No path to {text} is known, for {percent(share)} of the goals of the tasks. {where}"
    return Finding("no-way", message, share, {"task": each.task.name, "goal": text, "sets": ends})


def _too_slow(graph: Graph, each: Asked, share: float) -> Finding:
    text, steps = each.plan.goal.text(graph.listing.space), expected_steps(graph, each)
    message = (
        f"The plan to {text} takes about {steps:.0f} steps, and task {each.task.name!r} allows {each.task.max_steps}: "
        f"{percent(share)} of the goals are out of reach. Give episodes more steps (episode_steps=…)."
    )
    evidence = {"task": each.task.name, "goal": text, "steps": steps, "max_steps": each.task.max_steps}
    return Finding("no-way", message, share, evidence)


def _by_task(asked: Sequence[Asked]) -> list[tuple[Asked, float]]:
    """An example for each task, its most frequent goal, and the share of all goals that are like it."""
    examples = []
    for name in dict.fromkeys(each.task.name for each in asked):
        own = [each for each in asked if each.task.name == name]
        keys = [each.plan.goal.key(each.plan.space) for each in own]
        most = max(keys, key=keys.count)
        examples.append((own[keys.index(most)], sum(each.weight for each in own)))
    return examples
