import numpy as np
import pytest

from attribute_planner.planning.arrival import ArrivalModel, fit_arrival

GAMMA = 0.9


def attempts(count: int, truth: ArrivalModel, seed: int = 0) -> np.ndarray:
    """Attempts that succeed as a model says, with values and c_π between 0.05 and 0.95."""
    random = np.random.default_rng(seed)
    value, c = random.uniform(0.05, 0.95, (2, count))
    steps = random.integers(1, 6, count).astype(float)
    value *= truth.discount**steps
    reached = random.random(count) < truth.probability(value, c, steps)
    return np.stack([value, c, steps, reached], axis=1)


def test_the_probability_by_hand():
    model = ArrivalModel(bias=0.5, value_weight=2.0, table_weight=1.0, discount=0.5)
    # 0.1 after two steps at γ = ½ is 0.4 without discount: log odds log(2/3). c_π = 0.8 has log odds log 4.
    logit = 0.5 + 2 * np.log(2 / 3) + np.log(4)
    found = model.probability(np.array([0.1]), np.array([0.8]), np.array([2.0]))
    np.testing.assert_allclose(found, [1 / (1 + np.exp(-logit))])


def test_durations_below_one_step_and_values_out_of_range_are_bounded():
    model = ArrivalModel(0.0, 1.0, 0.0, 0.5)
    value, steps = np.array([0.25, 5.0, -1.0, 0.25]), np.array([0.0, 1.0, 1.0, 60.0])
    found = model.probability(value, np.full(4, 0.5), steps)
    np.testing.assert_allclose(found, [0.5, 0.999, 0.001, 0.999])


def test_without_attempts_the_table_alone_counts():
    model = fit_arrival(np.zeros((0, 4)), GAMMA)
    assert model == ArrivalModel(0.0, 0.0, 1.0, GAMMA)
    c = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(model.probability(np.full(3, 0.3), c, np.ones(3)), c)


@pytest.mark.parametrize(("bias", "value_weight", "table_weight"), [(0.5, 0.8, 0.3), (-1.0, 0.0, 1.0), (0.0, 1.5, 0.0)])
def test_the_weights_are_found_from_attempts(bias, value_weight, table_weight):
    truth = ArrivalModel(bias, value_weight, table_weight, GAMMA)
    found = fit_arrival(attempts(20_000, truth), GAMMA)
    np.testing.assert_allclose(found[:3], truth[:3], atol=0.1)


def test_a_value_that_tells_states_apart_outweighs_the_average():
    # Half of the states allow the transition, and the value knows which; c_π is one half everywhere.
    value = np.where(np.arange(400) % 2, 0.9, 0.05)
    rows = np.stack([value, np.full(400, 0.5), np.ones(400), np.arange(400) % 2], axis=1)
    model = fit_arrival(rows, 1.0)
    low, high = model.probability(np.array([0.05, 0.9]), np.full(2, 0.5), np.ones(2))
    assert low < 0.05
    assert high > 0.95


def test_a_higher_value_never_speaks_against_an_attempt():
    random = np.random.default_rng(0)
    value = random.uniform(0.05, 0.95, 2000)
    contrary = np.stack([value, np.full(2000, 0.5), np.ones(2000), random.random(2000) > value], axis=1)
    assert fit_arrival(contrary, 1.0).value_weight == 0


@pytest.mark.parametrize("reached", [0.0, 1.0])
@pytest.mark.parametrize("count", [1, 50, 4000])
def test_attempts_that_all_end_alike_give_finite_weights(reached, count):
    random = np.random.default_rng(count)
    rows = np.concatenate([random.random((count, 2)), np.ones((count, 1)), np.full((count, 1), reached)], axis=1)
    model = fit_arrival(rows, GAMMA)
    assert np.isfinite(model).all()
    found = model.probability(rows[:, 0], rows[:, 1], rows[:, 2])
    assert np.isfinite(found).all()
    if count > 1:
        assert abs(found.mean() - reached) < 0.2


def test_attempts_that_contradict_the_table_do_not_upset_the_fit():
    # c_π claims certainty and is right in one case of fifty; full Newton steps from the prior diverge here.
    random = np.random.default_rng(0)
    c = random.choice([0.001, 0.5, 1.0], 2000)
    rows = np.stack([random.random(2000), c, np.ones(2000), random.random(2000) < 0.02], axis=1)
    model = fit_arrival(rows, GAMMA)
    assert model.bias < -1
    assert max(model[1:3]) < 0.3
    assert model.probability(rows[:, 0], c, rows[:, 2]).mean() == pytest.approx(0.02, abs=0.01)
