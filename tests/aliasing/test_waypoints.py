from dataclasses import replace

import numpy as np
import pytest

from attribute_planner.aliasing.records import AttemptRecord
from attribute_planner.aliasing.waypoints import (
    MAX_SETS,
    MIN_ATTEMPTS,
    Waypoint,
    find_waypoints,
    halfway,
    thresholds_of,
)
from attribute_planner.attributes import Attribute, AttributeSpace

QUADRANTS = AttributeSpace((Attribute("disc", ("SW", "SE", "NW", "NE")), Attribute("lamp")))


def found_in(records: AttemptRecord, space: AttributeSpace = QUADRANTS, horizon: float = 0) -> list[Waypoint]:
    values = np.asarray(space.unpack(records.source))
    return find_waypoints(records, records.observation, values, space, horizon=horizon)


def attempts_at_quadrants(success: float, count: int = 400, *, improving: bool = False) -> AttemptRecord:
    """Attempts to change the quadrant of a disc, whose position is in components 1 and 3; component 0 is a code.

    success: the share that arrives; from none to twice as many if it is improving.
    """
    random = np.random.default_rng(0)
    observation = random.uniform(-1, 1, (count, 4)).astype(np.float32)
    observation[:, 0] = random.integers(0, 3, count)
    x, y = observation[:, 1], observation[:, 3]
    lamp = random.integers(0, 2, count)
    source = np.stack([2 * (y > 0) + (x > 0), lamp], axis=1).astype(np.int32)
    target = np.stack([(source[:, 0] + 1) % 4, lamp], axis=1).astype(np.int32)
    rate = np.linspace(0, 2 * success, count) if improving else success
    reached = random.random(count) < rate
    source, target = (np.asarray(QUADRANTS.pack(values)) for values in (source, target))
    return AttemptRecord(observation, source, target, reached, epoch=np.arange(count))


def test_ways_are_divided_where_attempts_seldom_succeed():
    found = found_in(attempts_at_quadrants(success=0.05))
    conditions = [each.threshold for each in found]
    assert [each.component for each in conditions] == [1, 1, 3, 3], "not the code, and not what the disc is not at"
    assert [each.value for each in conditions] == pytest.approx([-0.5, 0.5] * 2, abs=0.05)
    assert found[0].message.startswith("Changing disc succeeded in ")
    assert found[0].message.endswith(f"attempts; whether observation[1] > {conditions[0].value:.3g} divides the way.")


def test_the_rows_of_a_grid_are_numbers_and_its_codes_are_not():
    records = attempts_at_quadrants(success=0.05)
    rows = np.floor(10 * records.observation)
    rows[:, 0] = 2 * (rows[:, 3] >= 0) + (rows[:, 1] >= 0)  # a code that tells the quadrant by itself
    found = found_in(replace(records, observation=rows))
    assert [each.threshold.component for each in found] == [1, 1, 3, 3]


def test_only_numbers_divide_ways():
    records = attempts_at_quadrants(success=0.05)
    values = np.asarray(QUADRANTS.unpack(records.source))
    both = np.concatenate([records.observation, np.floor(10 * records.observation)], axis=1)
    for numbers, components in ((range(4), {1, 3}), (range(4, 8), {5, 7}), ((), set())):
        found = find_waypoints(records, both, values, QUADRANTS, numbers=np.array(numbers, int))
        assert {each.threshold.component for each in found} == components


def test_ways_stay_as_they_are_where_attempts_succeed_or_are_few():
    assert found_in(attempts_at_quadrants(success=0.5)) == []
    assert found_in(attempts_at_quadrants(success=0.05, count=MIN_ATTEMPTS - 1)) == []


@pytest.mark.parametrize(
    ("improving", "horizon", "divided"), [(True, 800, False), (True, 400, True), (False, 800, True)]
)
def test_ways_stay_as_they_are_while_attempts_improve(improving: bool, horizon: int, divided: bool):
    """So far 8 % succeeded, now 16 % do; by twice the time it will be 32 %."""
    records = attempts_at_quadrants(success=0.08, improving=improving)
    assert bool(found_in(records, horizon=horizon)) == divided


def test_few_attempts_do_not_tell_whether_they_will_improve():
    failing = attempts_at_quadrants(success=0, count=1_000)
    few = attempts_at_quadrants(success=0, count=MIN_ATTEMPTS)
    assert len(found_in(failing, horizon=2_000)) == len(found_in(few, horizon=100)) == 4
    assert found_in(few, horizon=1_000) == []


def test_an_attribute_that_does_not_follow_from_the_observation_is_not_divided():
    records = attempts_at_quadrants(success=0.05)
    shuffled = np.random.default_rng(1).permutation(records.observation)
    assert found_in(replace(records, observation=shuffled)) == []


def test_too_many_sets_are_not_made():
    space = AttributeSpace(tuple(Attribute(f"at_{place}") for place in range(6)))
    random = np.random.default_rng(0)
    observation = random.uniform(-1, 1, (500, 6)).astype(np.float32)
    source = (observation > 0).astype(np.int32)
    before, after = (np.asarray(space.pack(values)) for values in (source, 1 - source))
    failed = np.zeros(500, bool)
    assert 4**5 <= MAX_SETS < 4**6
    assert found_in(AttemptRecord(observation, before, after, failed), space) == []
    five = AttributeSpace(tuple(space)[:5])
    before, after = (np.asarray(five.pack(values[:, :5])) for values in (source, 1 - source))
    assert len(found_in(AttemptRecord(observation, before, after, failed), five)) == 10


def test_thresholds_of_zones_along_one_component():
    position = np.random.default_rng(0).uniform(0, 6, (1000, 2))
    found = thresholds_of(position, position[:, 1].astype(int))
    assert found is not None
    assert found == {1: pytest.approx([1, 2, 3, 4, 5], abs=0.05)}
    assert thresholds_of(position, np.zeros(1000, int)) is None


def test_halfway_is_between_thresholds_and_ends():
    assert halfway([2.0, 4.0], np.array([0.0, 10.0])) == [1.0, 3.0, 7.0]
