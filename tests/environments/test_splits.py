import json

import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.environments.spaces import FlatSpec, ImageSpec, Part, VectorSpec
from attribute_planner.environments.splits import (
    Codes,
    Split,
    Threshold,
    component_name,
    flat_observation,
    split_from_json,
)
from attribute_planner.errors import ConfigurationError

ABOVE, BELOW = Threshold(0, 0.5), Threshold(0, 0.5, above=False)
CODE, CATEGORY = Codes(1, 1, (2, 4)), Codes(2, 3, (0, 2))
OBSERVATIONS = np.array([[0.6, 2, 1, 0, 0], [0.5, 3, 0, 1, 0], [0.4, 4, 0, 0, 1]], np.float32)


@pytest.mark.parametrize("arrays", [np, jnp])
@pytest.mark.parametrize(
    ("split", "holds"),
    [
        (Split((ABOVE,)), [True, False, False]),
        (Split((BELOW,)), [False, True, True]),
        (Split((CODE,)), [True, False, True]),
        (Split((CATEGORY,)), [True, False, True]),
        (Split((BELOW, CODE)), [False, False, True]),
        (Split((ABOVE, CODE), any_of=True), [True, False, True]),
    ],
)
def test_a_split_holds_where_its_conditions_do(split: Split, holds: list[bool], arrays):
    assert split.holds(arrays.asarray(OBSERVATIONS)).tolist() == holds
    assert split_from_json(json.loads(json.dumps(split.to_json()))) == split


def test_components_without_a_name_are_numbered():
    box = FlatSpec((Part("", (3,), "numbers"),), "float32")
    named = FlatSpec((Part("key", (1,), "numbers"), Part("sensors", (2,), "numbers")), "float32")
    assert [component_name(box)(number) for number in range(4)] == [f"observation[{number}]" for number in range(4)]
    assert [component_name(named)(number) for number in range(3)] == ["key", "sensors[0]", "sensors[1]"]


def test_a_split_in_words():
    assert Split((ABOVE, CODE)).words() == "observation[0] > 0.5 and observation[1] is 2 or 4"
    assert (
        Split((BELOW, CATEGORY), any_of=True).words() == "observation[0] ≤ 0.5 or observation[2] or observation[4] is 1"
    )
    assert Codes(0, 500, tuple(range(9))).words() == "one of 9 categories of observation[0] … observation[499] holds"


def test_observations_are_flattened():
    assert flat_observation(np.zeros((7, 2, 3, 1), np.uint8), ImageSpec(2, 3, 1)).shape == (7, 6)
    assert flat_observation(np.zeros(4), VectorSpec(4)).shape == (4,)
    with pytest.raises(ConfigurationError, match="must end with"):
        flat_observation(np.zeros(5), VectorSpec(4))
