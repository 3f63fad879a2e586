"""Goals to which no known transitions lead, or not within the step limit of their task."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from attribute_planner.diagnosis.finding import Finding
from attribute_planner.diagnosis.tasks import Asked
from attribute_planner.diagnosis.wording import percent, set_words, times
from attribute_planner.planning.search import Graph
from attribute_planner.transitions.model import Listing, TransitionModel
from attribute_planner.transitions.numbering import UNKNOWN

FEW_VISITS = 30
"""A set that was entered and left fewer times may have ways on that were not seen."""

MAX_NEW = 0.02
"""While a larger share of the observed transitions is new, exploration is not complete."""

MOST_OF_AN_EPISODE = 0.75
"""If the way to the furthest known set takes this share of an episode, episodes end before they get further."""

RELIABLE = 0.7
"""c_π of a transition whose attempts tell how many steps it takes."""


def new_transitions(listing: Listing) -> float:
    """The chance that the next observed transition is a new one, by Good and Turing: the share of those seen once."""
    return float((listing.visits == 1).sum() / max(listing.visits.sum(), 1.0))


def missing_ways(model: TransitionModel, asked: Sequence[Asked]) -> list[Finding]:
    """For each task, where the way to its goals ends; one finding for the most frequent of them.

    asked: goals whose values were all seen.
    """
    graph, lost = Graph(model), [each for each in asked if not each.plan.reachable]
    limit = time_runs_out(model, lost)
    return [_no_way(graph, each, share, limit) for each, share in _by_task(lost)]


def slow_ways(model: TransitionModel, asked: Sequence[Asked]) -> list[Finding]:
    """For each task, plans that take more steps than the task allows."""
    graph = Graph(model)
    slow = [each for each in asked if each.plan.reachable and expected_steps(graph, each) > each.task.max_steps]
    return [_too_slow(graph, each, share) for each, share in _by_task(slow)]


def time_runs_out(model: TransitionModel, asked: Sequence[Asked]) -> str:
    """What to change if episodes end before they get further than the known sets; empty if they do not.

    asked: goals to which no way is known.
    """
    graph = Graph(model)
    for each in asked:
        start, limit = graph.listing.number_of(each.plan.start), each.task.max_steps
        if start == UNKNOWN:
            continue
        furthest, steps = furthest_set(graph, start)
        entered, left = _passages(graph.listing, furthest)
        if steps >= MOST_OF_AN_EPISODE * limit and left <= entered / 2:
            words = set_words(graph.listing.space, graph.listing.values[furthest])
            return (
                f"The way to {words}, the furthest set that is known, takes about {steps:.0f} of the {limit} steps of "
                "an episode: give episodes more steps (episode_steps=…, or the environment's own limit)."
            )
    return ""


def furthest_set(graph: Graph, start: int) -> tuple[int, float]:
    """The set that is most steps away from a set, by the quickest way, and these steps.

    Transitions that were never observed, only pursued past other sets, lead no further than those that they consist of.
    """
    listing = graph.listing
    possible = (listing.probability > 0) & (listing.visits > 0)
    steps = least_steps(listing)[possible]
    ends = (listing.source[possible], listing.target[possible])
    away = dijkstra(csr_array((steps, ends), shape=(listing.num_nodes,) * 2), indices=start)
    away[~np.isfinite(away)] = -1.0
    return int(away.argmax()), float(away.max())


def least_steps(listing: Listing) -> np.ndarray:
    """The steps of each transition that its attempts tell of; 1 if these mostly failed, which takes long."""
    return np.where(listing.probability > RELIABLE, np.maximum(listing.steps, 1.0), 1.0)


def expected_steps(graph: Graph, each: Asked) -> float:
    """Expected environment steps of a plan, if every transition succeeds."""
    path = np.array(each.plan.path)
    return float(least_steps(graph.listing)[graph.listing.edges_between(path[:-1], path[1:])].sum())


def end_of_the_way(graph: Graph, start: int, goal_values: np.ndarray, wanted: np.ndarray) -> int:
    """The set that can be reached from `start` and satisfies most of a goal; of several, the nearest one."""
    reached = breadth_first_order(graph.reversed.T.tocsr(), start, return_predecessors=False)
    met = (graph.listing.values[reached] == goal_values)[:, wanted].sum(axis=1)
    return int(reached[met.argmax()])


def _no_way(graph: Graph, each: Asked, share: float, limit: str) -> Finding:
    listing, plan = graph.listing, each.plan
    number, start = listing.number_of(plan.start), set_words(listing.space, plan.start)
    text, ends = plan.goal.text(listing.space), len(listing.satisfying(plan.goal))
    where = f"Episodes begin in {start}, which training never saw: train for more steps."
    if number != UNKNOWN:
        end = end_of_the_way(graph, number, np.asarray(plan.goal.values), np.asarray(plan.goal.wanted))
        seen = "1 set that satisfies it was" if ends == 1 else f"{ends or 'no'} sets that satisfy it were"
        where = (
            f"From {start}, known transitions lead as far as {set_words(listing.space, listing.values[end])}; "
            f"{seen} ever seen. {limit or _exploration_of(listing, end)}"
        )
    message = f"No path to {text} is known, for {percent(share)} of the goals of the tasks. {where}"
    return Finding("no-way", message, share, {"task": each.task.name, "goal": text, "sets": ends})


def _exploration_of(listing: Listing, number: int) -> str:
    """Whether exploration has seen what can be seen from a set."""
    entered, left = _passages(listing, number)
    visits, new = f"Exploration entered that set {times(entered)} and left it {times(left)}", new_transitions(listing)
    if max(entered, left) < FEW_VISITS or new > MAX_NEW:
        return f"{visits}; {percent(new)} of the transitions that it sees are new: train for more steps."
    return f"{visits}, and sees nothing new any more: the goal seems to be impossible, or needs many more steps."


def _passages(listing: Listing, number: int) -> tuple[int, int]:
    """How often exploration entered a set, and left it."""
    entered, left = (int(listing.visits[ends == number].sum()) for ends in (listing.target, listing.source))
    return entered, left


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
