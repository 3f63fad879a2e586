from dataclasses import replace

import equinox as eqx
import jax
import numpy as np

from attribute_planner.configuration import default_config
from attribute_planner.environments.blocks.continuous import ContinuousBlocks
from attribute_planner.parts.detector import AttributeDetector
from attribute_planner.parts.outlook import Outlook
from attribute_planner.storage.arrays import arrays_of
from attribute_planner.storage.products import load_detector, load_foreseen
from tests.probes import with_drawn_weights

WIDTH, KEYPOINTS = 8, 3


def test_networks_with_keypoints_come_back_as_they_were():
    env, config = ContinuousBlocks(image_size=16), default_config("blocks-continuous")
    config = replace(
        config,
        detect=replace(config.detect, width=WIDTH, keypoints=KEYPOINTS),
        foresee=replace(config.foresee, width=WIDTH, keypoints=KEYPOINTS),
    )
    detector = with_drawn_weights(lambda key: AttributeDetector(env, WIDTH, KEYPOINTS, key=key))
    outlook = with_drawn_weights(lambda key: Outlook(env, WIDTH, KEYPOINTS, key=key))
    arrays = arrays_of("detected.detector", detector) | arrays_of("foreseen.outlook", outlook)

    foreseen = load_foreseen(env, config, arrays, {"foreseen": {"error": 0.25}})
    assert foreseen is not None
    assert foreseen.error == 0.25
    for before, after in ((detector, load_detector(env, config, arrays)), (outlook, foreseen.outlook)):
        saved, loaded = (jax.tree.leaves(eqx.filter(each, eqx.is_array)) for each in (before, after))
        assert (KEYPOINTS,) in [leaf.shape for leaf in loaded]
        for one, other in zip(saved, loaded, strict=True):
            np.testing.assert_array_equal(one, other)
