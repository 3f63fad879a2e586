import pytest

from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.experiments.reliability.bad_environments import fault_in_answer, play, training_that_hangs
from attribute_planner.experiments.reliability.environment_cases import cases, stepped
from attribute_planner.experiments.reliability.environment_cases.case import options


def test_faults_of_environments_are_named_with_their_place():
    # The checks of the test session refuse names that are no texts first.
    every = [case for case in stepped() if case.name != "describe returns numbers as names"]
    assert len(every) > 80
    assert {case.name: fault for case in every if (fault := fault_in_answer(case))} == {}


def test_calls_that_hang_are_ended():
    hanging = [case for case in cases() if "step loops" in case.name or "reset waits" in case.name]
    assert len(hanging) == 3
    assert {case.name: fault for case in hanging if (fault := fault_in_answer(case))} == {}


@pytest.mark.slow
def test_a_training_that_hangs_is_ended_and_saved():
    assert training_that_hangs() == ""


def test_the_room_has_no_fault_of_its_own():
    play(from_gymnasium(**options()))
