from dataclasses import replace

import equinox as eqx
import jax
import numpy as np
import pytest

from attribute_planner.algorithm import Progress
from attribute_planner.configuration import default_config
from attribute_planner.data.attempt_log import AttemptLog
from attribute_planner.environments.blocks.continuous import ContinuousBlocks
from attribute_planner.errors import ConfigurationError
from attribute_planner.evaluation.calibrate import Calibration
from attribute_planner.learning.policy_gradient import TrainState
from attribute_planner.models.detector import AttributeDetector
from attribute_planner.models.forward_model import ForwardModel
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.practise import Practised
from attribute_planner.planning.episode_model import Odds
from attribute_planner.storage.arrays import arrays_of
from attribute_planner.storage.checkpoint import (
    ATTEMPT_LOG,
    load_detector,
    load_forward_model,
    load_odds,
    progress_arrays,
)
from attribute_planner.storage.table_arrays import read_table, table_arrays
from tests.probes import RING, numbers, table_of, with_drawn_weights

WIDTH, KEYPOINTS = 8, 3


def test_networks_with_keypoints_come_back_as_they_were():
    env, config = ContinuousBlocks(image_size=16), default_config("blocks-continuous")
    config = replace(
        config,
        detect=replace(config.detect, hidden_size=WIDTH, keypoints=KEYPOINTS),
        forward_model=replace(config.forward_model, hidden_size=WIDTH, keypoints=KEYPOINTS),
    )
    detector = with_drawn_weights(lambda key: AttributeDetector(env.spec, WIDTH, KEYPOINTS, key=key))
    forward_model = with_drawn_weights(lambda key: ForwardModel(env.spec, WIDTH, KEYPOINTS, key=key))
    arrays = arrays_of("detector", detector) | arrays_of("forward_model", forward_model)

    fitted_model = load_forward_model(env, config, arrays, {"forward_model": {"error": 0.25}})
    assert fitted_model is not None
    assert fitted_model.error == 0.25
    for before, after in ((detector, load_detector(env, config, arrays)), (forward_model, fitted_model.forward_model)):
        saved, loaded = (jax.tree.leaves(eqx.filter(each, eqx.is_array)) for each in (before, after))
        assert (KEYPOINTS,) in [leaf.shape for leaf in loaded]
        for one, other in zip(saved, loaded, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("phase", ["detect", "forward_model"])
def test_fewer_than_no_keypoints_are_one_clear_line(phase: str):
    config = default_config("blocks-continuous")
    with pytest.raises(ConfigurationError, match=r"keypoints must be at least zero; it is -1\."):
        replace(config, **{phase: replace(getattr(config, phase), keypoints=-1)})


TABLE = table_of(numbers(5), [((0,), (1,), 0.5), ((1,), (2,), 0.25)])


def test_all_statistics_of_a_table_come_back():
    table = replace(TABLE, spent=np.array([7.0, 9.5]))
    loaded = read_table("practice", table.space, table_arrays("practice", table), "ratio")
    for name in ("visits", "attempts", "successes", "spent"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(table, name))


def test_attempts_and_calibration_are_saved():
    policy = with_drawn_weights(lambda key: GoalPolicy(RING.spec, 2, key=key))
    practised = Practised(TrainState(policy, ()), TABLE, epoch=1, steps=20)
    log = AttemptLog(np.array([[0, 3, 1, 1], [2, 4, 0, 0]]))
    measured = Calibration(Odds(0.5, 1.5, {"01": 0.25}), planned=0.4, reached=0.6, episodes=20)
    arrays, notes = progress_arrays(Progress(practised=practised, log=log, calibration=measured))
    np.testing.assert_array_equal(arrays[ATTEMPT_LOG], log.rows)
    assert load_odds(notes) == Odds(0.5, 1.5, {"01": 0.25})
