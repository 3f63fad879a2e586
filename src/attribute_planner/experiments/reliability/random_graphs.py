"""Row 11: plans on random graphs, compared with an independent reference in exact arithmetic."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.experiments.reliability.row import Row
from attribute_planner.planning.plan import Plan, Planner
from attribute_planner.transitions.counting import TransitionCounts
from attribute_planner.transitions.table import TransitionTable, table_of_counts

NUMBER = 11

Values = tuple[int, ...]
Parts = tuple[Any, ...]
ATTRIBUTES = (
    Attribute("on"),
    Attribute("colour", ("red", "green", "blue")),
    Attribute("count", range(4)),
    Attribute("level", range(2, 11, 4)),
)
EIGHTHS = tuple(Fraction(number, 8) for number in range(9))
"""The probabilities of edges, zero and one included. Equal products are common, and exact."""


@dataclass(frozen=True)
class Problem:
    """A graph, a start and a goal.

    sets: the sets of the graph; edges: the probability of each edge.
    wanted: the required value of each attribute, `None` where it does not matter.
    at_least: whether that value is a lower bound.
    """

    space: AttributeSpace
    sets: tuple[Values, ...]
    edges: Mapping[tuple[Values, Values], Fraction]
    start: Values
    wanted: tuple[int | None, ...]
    at_least: tuple[bool, ...]

    @property
    def goal(self) -> Goal:
        """The goal as the planner takes it."""
        values, wanted = [each or 0 for each in self.wanted], [each is not None for each in self.wanted]
        or_more = np.array(self.at_least) if any(self.at_least) else None
        return Goal(np.array(values, np.int32), np.array(wanted), or_more)

    def is_goal(self, values: Values) -> bool:
        """Whether a set satisfies the goal, by its definition."""
        return all(
            wanted is None or value == wanted or (or_more and value > wanted)
            for value, wanted, or_more in zip(values, self.wanted, self.at_least, strict=True)
        )


def measure(count: int = 10_000, seed: int = 0) -> Row:
    """Compare plans on `count` random graphs."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    began, kinds = time.monotonic(), Counter()

    @seeded(seed)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(problems())
    def compare(parts: Any) -> None:
        problem = problem_of(parts)
        kinds.update(kinds_of(problem))
        if fault := fault_of(problem):
            raise AssertionError(f"{fault}: {problem}")

    fault = ""
    try:
        compare()
    except AssertionError as error:
        fault = f"; {error}"
    listed = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()) if kind != "graphs")
    measured = f"{kinds['graphs']:,} graphs, all plans optimal: {listed}" if not fault else f"wrong plan{fault}"
    return Row("planner", measured, not fault and kinds["graphs"] >= count, time.monotonic() - began)


def problems() -> Any:
    """A strategy of hypothesis for the parts of problems."""
    from hypothesis import strategies as st

    sizes = [each.size for each in ATTRIBUTES]
    are_integers = [each.is_integer for each in ATTRIBUTES]

    @st.composite
    def parts(draw: Any) -> Parts:
        chosen = draw(st.lists(st.sampled_from(range(len(sizes))), min_size=1, max_size=3, unique=True))
        every = list(product(*(range(sizes[each]) for each in chosen)))
        least = min(draw(st.sampled_from((0, 2, 8))), len(every))
        sets = draw(st.lists(st.sampled_from(every), min_size=least, max_size=8, unique=True))
        pairs = [(source, target) for source in sets for target in sets if source != target]
        least = min(draw(st.sampled_from((0, 8, 16))), len(pairs))
        some = draw(st.lists(st.sampled_from(pairs), min_size=least, max_size=24, unique=True)) if pairs else []
        edges = {pair: draw(st.sampled_from(EIGHTHS)) for pair in some}
        start = draw(st.sampled_from(sets or every) | st.sampled_from(every))
        wanted = [draw(st.none() | st.integers(0, sizes[each] - 1)) for each in chosen]
        if all(each is None for each in wanted):
            wanted[0] = 0
        both = zip(chosen, wanted, strict=True)
        at_least = [are_integers[each] and value is not None and draw(st.booleans()) for each, value in both]
        return tuple(chosen), tuple(sets), edges, start, tuple(wanted), tuple(at_least)

    return parts()


def problem_of(parts: Parts) -> Problem:
    """The problem with these parts, of which the first are the numbers of the attributes."""
    chosen, *others = parts
    return Problem(AttributeSpace(tuple(ATTRIBUTES[each] for each in chosen)), *others)


def kinds_of(problem: Problem) -> list[str]:
    """What a problem tests."""
    best, hops = reference(problem)
    chances = set(problem.edges.values())
    touched = {each for pair in problem.edges for each in pair}
    tests = {
        "graphs": True,
        "with at-least goals": any(problem.at_least),
        "with a probability of zero": Fraction(0) in chances,
        "with a probability of one": Fraction(1) in chances,
        "with islands": bool(set(problem.sets) - touched),
        "without edges": not problem.edges,
        "from unknown sets": problem.start not in problem.sets,
        "not reachable": best == 0,
        "with several steps": hops > 1,
    }
    return [kind for kind, present in tests.items() if present]


def reference(problem: Problem) -> tuple[Fraction, int]:
    """The probability of the best path to the goal, and the fewest transitions of such a path; by value iteration."""
    best = {each: Fraction(int(problem.is_goal(each))) for each in {*problem.sets, problem.start}}
    hops = 0
    for number in range(1, len(best) + 1):
        onward = dict(best)
        for (source, target), chance in problem.edges.items():
            onward[source] = max(onward[source], chance * best[target])
        if onward[problem.start] > best[problem.start]:
            hops = number
        best = onward
    return best[problem.start], hops


def table_of(problem: Problem) -> TransitionTable:
    """The table of a problem, with eight attempts at each edge."""
    space = problem.space
    counts = TransitionCounts(space.num_words)
    counts.sets.number(packed(space, problem.sets))
    source, target = (packed(space, [pair[end] for pair in problem.edges]) for end in (0, 1))
    counts.add(source, target, np.ones(len(problem.edges), np.int64))
    table = table_of_counts(space, counts)
    ends = ([tuple(table.values[each].tolist()) for each in end] for end in (table.source, table.target))
    chances = [float(problem.edges[pair]) for pair in zip(*ends, strict=True)]
    attempts = np.full(table.num_edges, 8.0)
    return table.with_practice(attempts, attempts * np.array(chances, float))


def packed(space: AttributeSpace, sets: Sequence[Values]) -> np.ndarray:
    """`uint32[n, W]` packed sets."""
    return np.asarray(space.pack(np.array(sets, np.int32).reshape(-1, len(space))))


def fault_of(problem: Problem) -> str:
    """What is wrong with the plan; empty if it is optimal."""
    best, hops = reference(problem)
    plan: Plan = Planner(table_of(problem)).plan(np.array(problem.start, np.int32), problem.goal)
    if plan.reachable != (best > 0):
        return f"reachable is {plan.reachable}"
    if not plan.reachable:
        return "" if plan.probability == 0 and plan.reason else "a plan to nowhere"
    path = [tuple(values.tolist()) for values in plan.values]
    steps = list(pairwise(path))
    if path[0] != problem.start or not problem.is_goal(path[-1]) or any(step not in problem.edges for step in steps):
        return f"the path {path} is not one of the graph"
    if not np.isclose(plan.probability, float(best), rtol=1e-9, atol=0):
        return f"probability {plan.probability}, not {float(best)}"
    return "" if len(steps) == hops else f"{len(steps)} transitions, not {hops}"
