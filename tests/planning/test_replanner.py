import numpy as np
import pytest

from attribute_planner.errors import UnknownNameError
from attribute_planner.planning.planner import Planner
from attribute_planner.planning.replanner import NO_WAY, Pursuit, pursuit_for
from attribute_planner.transitions.table import UNKNOWN
from tests.probes import numbers, partial_goal, table_of

TABLE = table_of(
    numbers(5),
    [((0,), (1,), 0.9), ((1,), (3,), 0.9), ((0,), (2,), 0.5), ((2,), (3,), 0.5), ((1,), (0,), 0.9), ((2,), (0,), 0.9)],
    also=[(4,)],
)
"""From 0 to 3 by way of 1 (0.81) or of 2 (0.25); set 4 is cut off."""


def pursuit(mode: str) -> Pursuit:
    return pursuit_for(mode, Planner(TABLE), partial_goal([3]), patience=7)


@pytest.mark.parametrize("mode", ["paper", "default"])
def test_the_first_choice_is_the_next_set_on_the_plan(mode):
    choice = pursuit(mode).choose(0)
    assert choice.target == 1
    assert choice.edge == TABLE.edge(0, 1)


@pytest.mark.parametrize("mode", ["paper", "default"])
def test_where_no_way_leads_to_the_goal_there_is_no_choice(mode):
    assert pursuit(mode).choose(UNKNOWN) is NO_WAY
    assert pursuit(mode).choose(4) is NO_WAY


def test_the_papers_pursuit_never_learns():
    paper = pursuit("paper")
    for _ in range(20):
        paper.failed(0, paper.choose(0).edge)
    assert paper.choose(0).target == 1
    assert paper.patience is None


def test_the_remembering_pursuit_goes_around_what_failed():
    default = pursuit("default")
    assert default.patience == 7
    # One failure: 0.9 · 0.2 · 0.9 = 0.162 is less than 0.25.
    default.failed(0, default.choose(0).edge)
    assert default.choose(0).target == 2
    # Failing there too: 0.25 · 0.2 = 0.05 is less than 0.162.
    default.failed(0, default.choose(0).edge)
    assert default.choose(0).target == 1


def test_a_set_that_turned_out_badly_is_left_for_another_way():
    default = pursuit("default")
    # Here and now, 1 → 3 is impossible; all else works.
    here, moves = 0, []
    while here != 3 and len(moves) < 50:
        choice = default.choose(here)
        if (here, choice.target) == (1, 3):
            default.failed(here, choice.edge)
        else:
            here = choice.target
            moves.append(here)
    assert moves[:2] == [1, 0]
    assert moves[-2:] == [2, 3]


def test_failures_are_forgotten_with_the_pursuit():
    planner, goal = Planner(TABLE), partial_goal([3])
    first = pursuit_for("default", planner, goal, 7)
    first.failed(0, first.choose(0).edge)
    assert pursuit_for("default", planner, goal, 7).choose(0).target == 1


def test_an_unknown_mode_is_refused():
    with pytest.raises(UnknownNameError, match=r"no execution mode 'papr'.*There are: default, memory, outlook, paper"):
        pursuit("papr")


def test_costs_of_other_sets_stay_as_planned():
    planner, goal = Planner(TABLE), partial_goal([3])
    before = planner.distances(goal).cost.copy()
    hurt = pursuit_for("default", planner, goal, 7)
    for number in (0, 1, 2):
        hurt.failed(number, hurt.choose(number).edge)
    np.testing.assert_array_equal(planner.distances(goal).cost, before)
