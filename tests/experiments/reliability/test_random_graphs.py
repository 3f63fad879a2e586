from fractions import Fraction

from attribute_planner.attributes import AttributeSpace
from attribute_planner.experiments.reliability import random_graphs
from attribute_planner.experiments.reliability.random_graphs import ATTRIBUTES, Problem, measure, reference


def test_plans_on_random_graphs_are_optimal():
    row = measure(100)
    assert row.passed, row.measured


def test_the_reference_by_hand():
    half, one = Fraction(1, 2), Fraction(1)
    edges = {((0,), (1,)): half, ((1,), (3,)): one, ((0,), (2,)): Fraction(1, 4)}
    problem = Problem(AttributeSpace((ATTRIBUTES[2],)), ((0,), (1,), (2,), (3,)), edges, (0,), (2,), (True,))
    assert reference(problem) == (half, 2)


def test_a_wrong_plan_is_found(monkeypatch):
    monkeypatch.setattr(random_graphs, "fault_of", lambda problem: "wrong" if problem.edges else "")
    row = measure(50)
    assert not row.passed and "wrong" in row.measured
