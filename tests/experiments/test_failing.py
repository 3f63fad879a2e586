"""The diagnosis of worlds made to fail; an idealised learner trains on them."""

from collections.abc import Sequence

import pytest

from attribute_planner.experiments.failing.tabular import train_tabular
from attribute_planner.experiments.failing.world import FailingWorld
from attribute_planner.experiments.failing.worlds import WORLDS

ALL = [make() for make in WORLDS]
WITH_DETECTOR = [world for world in ALL if world.num_labels]
"""Their detectors take most of the time."""


def unnamed(worlds: Sequence[FailingWorld]) -> list[str]:
    """The worlds whose first finding does not name the cause."""
    missed = []
    for world in worlds:
        found = train_tabular(world).diagnose(episodes=0).findings
        if not found or not world.case.is_named_by(found[0].kind, found[0].message):
            missed.append(world.name)
        world.environment.close()
    return missed


def test_the_first_finding_names_the_cause_in_a_few_worlds():
    assert unnamed([world for world in ALL if world not in WITH_DETECTOR][::6]) == []


@pytest.mark.slow
def test_the_first_finding_names_the_cause():
    """Together with the worlds below: in at least 18 of 20."""
    others = [world for world in ALL if world not in WITH_DETECTOR]
    assert (len(others), len(WITH_DETECTOR)) == (18, 2)
    missed = unnamed(others)
    assert len(missed) <= 2, missed


@pytest.mark.slow
def test_the_first_finding_names_a_detector_that_fails():
    assert unnamed(WITH_DETECTOR) == []
