from dataclasses import replace

import numpy as np

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.diagnosis.noise import changes_by_itself, depends_on_policy, uncontrolled_attributes
from attribute_planner.diagnosis.random_steps import PolicySteps, RandomSteps
from attribute_planner.evaluation.attribute_report import unaffected_by_actions
from tests.probes import table_of

STEPS = 2_400
RANDOM = np.random.default_rng(0)
ACTION = RANDOM.integers(0, 3, STEPS)
ENV = np.arange(STEPS) % 16


def steps(before: np.ndarray, after: np.ndarray, *observed: np.ndarray) -> RandomSteps:
    """Random steps with one attribute."""
    features = np.stack([before, *observed], axis=1).astype(np.float32)
    return RandomSteps(before[:, None], after[:, None], features, ACTION, ENV, np.zeros(1, bool))


def test_an_attribute_that_is_drawn_at_random_is_noise():
    before, after = RANDOM.integers(0, 3, (2, STEPS))
    assert changes_by_itself(steps(before, after, RANDOM.normal(size=STEPS)), 0)


def test_a_clock_changes_by_itself():
    before = RANDOM.integers(0, 8, STEPS)
    assert changes_by_itself(steps(before, (before + 1) % 8), 0)


def test_what_an_action_changes_is_not_noise():
    before = RANDOM.integers(0, 5, STEPS)
    # It changes with every step, but the action says how; and: it changes by chance, with one action only.
    assert not changes_by_itself(steps(before, (before + np.where(ACTION == 0, 1, 4)) % 5), 0)
    toggled = (ACTION == 1) & (RANDOM.random(STEPS) < 0.3)
    assert not changes_by_itself(steps(before % 2, (before % 2) ^ toggled), 0)


def test_what_moves_on_by_inertia_is_not_noise():
    position, speed = RANDOM.uniform(0, 1, STEPS), RANDOM.normal(size=STEPS)
    before, after = (position > 0.5).astype(int), (position + 0.2 * speed > 0.5).astype(int)
    assert not changes_by_itself(steps(before, after, position, speed), 0)


def test_what_the_policy_changes_more_often_is_not_noise_though_single_actions_do_little():
    turns, flicker = RANDOM.integers(0, 2, (2, STEPS))
    values = np.stack([turns, flicker], axis=1)
    by_chance, by_policy = (values ^ (RANDOM.random((STEPS, 2)) < [rate, 0.5]) for rate in (0.05, 0.3))
    seen = RandomSteps(values, by_chance, np.zeros((STEPS, 1), np.float32), ACTION, ENV, np.zeros(2, bool))
    of_policy = PolicySteps(values, by_policy)
    assert changes_by_itself(seen, 0) and changes_by_itself(seen, 1)
    assert depends_on_policy(seen, of_policy, 0) and not depends_on_policy(seen, of_policy, 1)
    space = AttributeSpace((Attribute("turns"), Attribute("flicker")))
    listing = table_of(space, [((0, 0), (1, 1), 1.0)]).listing()
    (found,) = uncontrolled_attributes(listing, seen, lambda: of_policy, [], 2)
    assert found.evidence["attribute"] == "flicker"


def test_what_hardly_changes_is_not_noise():
    before = np.zeros(STEPS, int)
    assert not changes_by_itself(steps(before, (RANDOM.random(STEPS) < 0.01).astype(int)), 0)


def test_the_finding_says_how_many_sets_are_left_without_it():
    space = AttributeSpace((Attribute("lamp"), Attribute("flicker")))
    table = table_of(space, [((0, 0), (1, 0), 1.0), ((0, 1), (1, 1), 1.0)])
    lamp = RANDOM.integers(0, 2, STEPS)
    flicker, later = RANDOM.integers(0, 2, (2, STEPS))
    values, after = np.stack([lamp, flicker], axis=1), np.stack([lamp ^ (ACTION == 0), later], axis=1)
    seen = RandomSteps(values, after, values.astype(np.float32), ACTION, ENV, np.zeros(values.shape[1], bool))
    (found,) = uncontrolled_attributes(table.listing(), seen, lambda: PolicySteps(values, after), [], 2)
    assert found.kind == "noise" and found.evidence["attribute"] == "flicker"
    assert "Without it, 4 sets become 2." in found.message


def test_what_other_actions_do_not_change_is_a_clock_even_if_the_observation_tells_when_it_changes():
    minute = RANDOM.integers(0, 60, STEPS)
    seen = steps(minute // 20, (minute + 1) // 20 % 3, minute)
    assert not changes_by_itself(seen, 0)
    assert changes_by_itself(replace(seen, same=np.ones(1, bool)), 0)


def test_attributes_that_hardly_change_before_episodes_end_are_not_compared():
    first = np.arange(6).reshape(6, 1, 1) % 3
    shown = np.ones((6, 1, 1), bool)
    assert unaffected_by_actions(first, first, shown).tolist() == [True]
    assert unaffected_by_actions(first, first, shown & (np.arange(6) < 3)[:, None, None]).tolist() == [False]
    assert unaffected_by_actions(first, 2 - first, shown).tolist() == [False]
