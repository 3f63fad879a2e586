from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.labels import Labels
from attribute_planner.environments.spaces import UnitObservation
from attribute_planner.errors import ConfigurationError
from attribute_planner.learning.progress import no_callback
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.phases.detect import _split, detect, detection_loss, detector_error, env_labels, fit_detector
from tests.probes import RING, TINY, Hosted, Levers, with_drawn_weights

KEY = jax.random.key(0)
LEARN = replace(TINY.detect, learn=True)


def test_a_given_f_is_used_unless_a_detector_is_asked_for():
    assert detect(RING, TINY.detect, key=KEY, watch=no_callback) is None


def test_a_small_environment_is_learned_without_error():
    seen: list[Any] = []
    detected = detect(RING, LEARN, key=KEY, watch=lambda *report: seen.append(report))
    assert detected is not None
    assert detected.error.full_set == 0.0
    assert detected.error.states == 51
    # Five places, one-hot: what the detector sees in each is known.
    assert detected.detector(jnp.eye(5)).tolist() == [[0], [1], [4], [2], [3]]
    assert [metrics["updates"] for _, _, metrics, _ in seen] == list(range(3, 61, 3))
    assert [so_far is None for *_, so_far in seen] == [True] * 19 + [False]


def test_labels_are_states_with_their_true_attributes():
    labels = env_labels(RING, 100, key=KEY)
    assert labels.values.shape == (100, 1)
    assert set(labels.values[:, 0].tolist()) == set(range(5))
    place_values = np.array([place.values[0] for place in RING.places])
    np.testing.assert_array_equal(
        place_values[np.asarray(RING.observe_batch(labels.states)).argmax(axis=1)], labels.values[:, 0]
    )


@dataclass(frozen=True)
class Undescribed(Hosted):
    """An environment without an attribute function."""

    @property
    def has_attribute_fn(self) -> bool:
        return False


def test_an_environment_with_neither_f_nor_labels_is_an_error():
    with pytest.raises(
        ConfigurationError, match="hosted has no attribute function and no labels: pass describe=… or labelled=…"
    ):
        detect(Undescribed(RING), TINY.detect, key=KEY, watch=no_callback)


def test_what_single_units_see_is_nothing_to_learn_from():
    labels: Any = Labels(UnitObservation(np.zeros((4, 3, 3)), np.ones((4, 3), bool)), np.zeros((4, 1), np.int32))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigurationError, match="observations of single units"):
        fit_detector(Levers(), labels, LEARN, key=KEY, watch=no_callback)


def test_a_single_label_is_too_few():
    with pytest.raises(ConfigurationError, match="1 labelled states are too few"):
        fit_detector(
            RING, Labels(np.eye(5, dtype=np.float32)[:1], np.zeros((1, 1), np.int32)), LEARN, key=KEY, watch=no_callback
        )


@pytest.fixture(scope="module")
def blind() -> AttributeDetector:
    """A detector that takes everything for value 2, and thinks it twice as likely as each other value."""
    zeros = jax.tree.map(jnp.zeros_like, with_drawn_weights(lambda key: AttributeDetector(RING.spec, 4, key=key)))
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: jnp.log(jnp.array([1.0, 1, 2, 1, 1])) if leaf.shape == (5,) else leaf, zeros
    )


def test_errors_by_hand(blind: AttributeDetector):
    labels = Labels(np.zeros((4, 5), np.float32), np.array([[2], [2], [2], [0]], np.int32))
    error = detector_error(Hosted(RING), blind, labels, batch=3)
    assert (error.per_attribute.tolist(), error.full_set, error.states) == ([0.25], 0.25, 4)


def test_the_loss_is_cross_entropy(blind: AttributeDetector):
    found = detection_loss(blind, jnp.zeros((2, 5)), jnp.array([[2], [0]]))
    np.testing.assert_allclose(found, -(np.log(2 / 6) + np.log(1 / 6)) / 2, rtol=1e-5)


def test_labels_are_either_learned_or_held_out():
    labels = Labels(np.arange(40, dtype=np.float32)[:, None], np.arange(40, dtype=np.int32)[:, None])
    kept, held = _split(labels, 0.25, key=KEY)
    assert (len(kept.values), len(held.values)) == (30, 10)
    assert sorted([*kept.values[:, 0], *held.values[:, 0]]) == list(range(40))
    np.testing.assert_array_equal(held.states, held.values)
