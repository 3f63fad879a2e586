import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attribute_planner.learning.fitting import REPORTS, FitConfig, falling_rate, fit, optimiser_for


class Line(eqx.Module):
    slope: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.slope * x


Points = tuple[jax.Array, jax.Array]


def all_of_it(points: Points, key: jax.Array) -> Points:
    return points


def squared_error(line: Line, points: Points) -> jax.Array:
    x, y = points
    return jnp.mean((line(x) - y) ** 2)


def test_a_line_is_fitted_and_every_share_of_the_work_reported():
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    seen: list[tuple[int, float]] = []
    config = FitConfig(updates=200, batch=16, learning_rate=0.1)
    line = fit(
        Line(jnp.array(0.0)),
        all_of_it,
        squared_error,
        (x, 3 * x),
        config,
        key=jax.random.key(0),
        report=lambda updates, line, loss: seen.append((updates, loss)),
    )
    assert float(line.slope) == pytest.approx(3.0, abs=1e-2)
    assert [updates for updates, _ in seen] == list(range(10, 201, 10))
    assert len(seen) == REPORTS
    assert seen[-1][1] < seen[0][1] / 100


def test_weight_decay_draws_towards_zero():
    nothing = (np.zeros(8, np.float32), np.zeros(8, np.float32))
    config = FitConfig(updates=20, batch=4, learning_rate=0.1, weight_decay=1.0)
    line = Line(jnp.array(1.0))
    line = fit(line, all_of_it, squared_error, nothing, config, key=jax.random.key(0), report=lambda *_: None)
    assert 0 < float(line.slope) < 0.5


def test_one_bad_batch_does_not_undo_what_was_learned():
    optimiser = optimiser_for(FitConfig(updates=1000, learning_rate=0.1, max_grad_norm=1.0))
    without = optimiser_for(FitConfig(updates=1000, learning_rate=0.1))

    def change_after_shock(optimiser: optax.GradientTransformation) -> float:
        """Where a weight is after one huge gradient and ten small ones that point back."""
        weight, state = jnp.array(0.0), optimiser.init(jnp.array(0.0))
        for gradient in (0.5, 0.5, 1e6, *[-0.5] * 10):
            change, state = optimiser.update(jnp.array(gradient), state, weight)
            weight = jnp.asarray(optax.apply_updates(weight, change))
        return float(weight)

    assert abs(change_after_shock(optimiser)) < abs(change_after_shock(without)) / 2


def test_the_step_size_falls_from_its_highest_to_zero():
    rate = falling_rate(2.0, 100)
    assert [float(rate(jnp.array(count))) for count in (0, 50, 100, 150)] == pytest.approx(
        [2.0, 1.0, 0.0, 0.0], abs=1e-6
    )


def test_updates_are_the_same_in_a_compiled_loop_and_outside_of_one(monkeypatch: pytest.MonkeyPatch):
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    config = FitConfig(updates=7, batch=16, learning_rate=0.1)

    def slope() -> float:
        line, points, key = Line(jnp.array(0.0)), (x, 3 * x), jax.random.key(0)
        fitted = fit(line, all_of_it, squared_error, points, config, key=key, report=lambda *_: None)
        return float(fitted.slope)

    on_cpu = slope()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert slope() == pytest.approx(on_cpu, rel=1e-5)
