from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.spaces import ImageSpec
from attribute_planner.models.encoders import ImageEncoder, no_values
from attribute_planner.models.vision import Convolutions, Keypoints, Patches, halving_convolution
from tests.probes import with_drawn_weights


def test_each_convolution_halves_the_image():
    convolved = lambda key, images: Convolutions([3, 4, 5], key=key)(images)  # noqa: E731
    maps = eqx.filter_eval_shape(convolved, jax.random.key(0), jnp.zeros((2, 9, 16, 3)))
    assert [each.shape for each in maps] == [(2, 5, 8, 4), (2, 3, 4, 5)]


@pytest.mark.parametrize("size", [(8, 12), (7, 12), (8, 5)])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_a_halving_convolution_is_one_with_stride_two(
    size: tuple[int, int], backend: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    image_key, kernel_key = jax.random.split(jax.random.key(0))
    images = jax.random.normal(image_key, (2, *size, 3))
    kernel = jax.random.normal(kernel_key, (3, 3, 3, 5))
    layout = ("NHWC", "HWIO", "NHWC")
    plain = jax.lax.conv_general_dilated(images, kernel, (2, 2), "SAME", dimension_numbers=layout)
    np.testing.assert_allclose(halving_convolution(images, kernel), plain, atol=1e-4)


@pytest.mark.parametrize(("size", "side"), [((16, 16), 2), ((17, 30), 4), ((8, 5), 1)])
def test_patches_are_a_convolution_whose_stride_is_its_kernel(size: tuple[int, int], side: int):
    patches_key, image_key = jax.random.split(jax.random.key(0))
    patches = Patches((*size, 3), key=patches_key)
    images = jax.random.normal(image_key, (2, *size, 3))
    more = [-length % side for length in size]
    padded = jnp.pad(images, ((0, 0), (0, more[0]), (0, more[1]), (0, 0)))
    kernel = patches.encode.weight.reshape(side, side, 3, -1)
    layout = ("NHWC", "HWIO", "NHWC")
    plain = jax.lax.conv_general_dilated(padded, kernel, (side, side), "VALID", dimension_numbers=layout)
    assert patches.side == side
    np.testing.assert_allclose(patches(images), jax.nn.relu(plain).reshape(2, patches.features), atol=1e-4)


def test_keypoints_tell_where_a_thing_is():
    points = eqx.tree_at(lambda each: each.looks, Keypoints(2, 2, key=jax.random.key(0)), jnp.eye(2))
    maps = jnp.zeros((1, 5, 9, 2)).at[0, 0, 8, 0].set(3.0).at[0, 3, 1, 1].set(3.0)
    rows, columns = np.asarray(points(maps)).reshape(2, 2)
    np.testing.assert_allclose(rows, [-1.0, 0.5], atol=1e-3)
    np.testing.assert_allclose(columns, [1.0, -0.75], atol=1e-3)


def test_keypoints_are_finer_than_their_map():
    points = eqx.tree_at(lambda each: each.looks, Keypoints(1, 1, key=jax.random.key(0)), jnp.ones((1, 1)))
    between = jnp.zeros((1, 1, 5, 1)).at[0, 0, 1:3, 0].set(3.0)
    np.testing.assert_allclose(np.asarray(points(between))[0, 1], -0.25, atol=1e-3)


@pytest.mark.parametrize("size", [4, 16, 40])
def test_an_encoder_with_keypoints_accepts_images_of_any_size(size: int):
    space, spec = AttributeSpace((Attribute("lamp"),)), ImageSpec(size, size)
    encoder = with_drawn_weights(lambda key: ImageEncoder(spec, space, 8, 3, key=key))
    images, nothing = jnp.zeros((2, 1, *spec.shape), jnp.uint8), no_values(space, (2, 1))
    assert eqx.filter_eval_shape(encoder, images, nothing, nothing).shape == (2, 1, 8)
    assert encoder.keypoints is not None


def test_no_two_layers_of_an_image_encoder_share_a_random_key(monkeypatch: pytest.MonkeyPatch):
    used: list[tuple[int, ...]] = []

    def recording(make: Any) -> Any:
        def initializer(*arguments: Any) -> Any:
            def initialise(key: jax.Array, *form: Any) -> jax.Array:
                used.append(tuple(np.asarray(jax.random.key_data(key)).tolist()))
                return make(*arguments)(key, *form)

            return initialise

        return initializer

    for name in ("orthogonal", "he_normal"):
        monkeypatch.setattr(jax.nn.initializers, name, recording(getattr(jax.nn.initializers, name)))
    ImageEncoder(ImageSpec(16, 16), AttributeSpace((Attribute("lamp"),)), 4, 2, key=jax.random.key(0))
    assert len(set(used)) == len(used) == 7
