"""Layers for images: convolutions and keypoints."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from attribute_planner.models.layers import Dense

Key = jax.Array


class Convolutions(eqx.Module):
    """3 × 3 convolutions with stride 2, each followed by an ELU."""

    kernels: tuple[jax.Array, ...]
    biases: tuple[jax.Array, ...]

    def __init__(self, channels: Sequence[int], *, key: Key) -> None:
        keys = jax.random.split(key, len(channels) - 1)
        he = jax.nn.initializers.he_normal()
        shapes = [(3, 3, i, o) for i, o in pairwise(channels)]
        self.kernels = tuple(he(k, shape, jnp.float32) for k, shape in zip(keys, shapes, strict=True))
        self.biases = tuple(jnp.zeros(shape[-1]) for shape in shapes)

    def __call__(self, images: Float[jax.Array, "N H W C"]) -> list[jax.Array]:
        """The output map of each convolution; the last one is in full precision."""
        maps = [images.astype(_precision())]
        for kernel, bias in zip(self.kernels, self.biases, strict=True):
            outputs = halving_convolution(maps[-1], kernel.astype(maps[-1].dtype))
            maps.append(jax.nn.elu(outputs + bias.astype(outputs.dtype).reshape(1, 1, 1, -1)))
        return [*maps[1:-1], maps[-1].astype(jnp.float32)]


def _precision() -> jnp.dtype:
    """bfloat16 on a GPU, where it is twice as fast; float32 on a CPU, where bfloat16 is slower."""
    return jnp.dtype(jnp.bfloat16 if jax.default_backend() == "gpu" else jnp.float32)


def halving_convolution(
    images: Float[jax.Array, "N H W C"], kernel: Float[jax.Array, "3 3 C O"]
) -> Float[jax.Array, "N (H+1)//2 (W+1)//2 O"]:
    """The convolution with a 3 × 3 kernel and stride 2."""
    return _as_product(images, kernel) if jax.default_backend() == "cpu" else _without_stride(images, kernel)


def _as_product(images: jax.Array, kernel: jax.Array) -> jax.Array:
    """The convolution as a matrix product: about twice as fast on a CPU, gradients included."""
    height, width, channels = images.shape[1:]
    # Even sides are padded at the end, odd sides at both ends.
    images = jnp.pad(images, ((0, 0), (height % 2, 1), (width % 2, 1), (0, 0)))
    rows, columns = -(-height // 2), -(-width // 2)
    windows = [images[:, i : i + 2 * rows - 1 : 2, j : j + 2 * columns - 1 : 2] for i in range(3) for j in range(3)]
    return jnp.concatenate(windows, axis=-1) @ kernel.reshape(9 * channels, -1)


def _without_stride(images: jax.Array, kernel: jax.Array) -> jax.Array:
    """The convolution without a stride, on blocks of 2 × 2 pixels stacked as channels; needs even sides.

    This is faster on a GPU for images with few channels.
    """
    layout = ("NHWC", "HWIO", "NHWC")
    count, height, width, channels = images.shape
    if height % 2 or width % 2:
        return jax.lax.conv_general_dilated(images, kernel, (2, 2), "SAME", dimension_numbers=layout)
    images = images.reshape(count, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 2, 4, 5)
    images = images.reshape(count, height // 2, width // 2, 4 * channels)
    kernel = jnp.pad(kernel, ((0, 1), (0, 1), (0, 0), (0, 0))).reshape(2, 2, 2, 2, channels, -1)
    kernel = kernel.transpose(0, 2, 1, 3, 4, 5).reshape(2, 2, 4 * channels, -1)
    return jax.lax.conv_general_dilated(images, kernel, (1, 1), ((0, 1), (0, 1)), dimension_numbers=layout)


class Patches(eqx.Module):
    """Non-overlapping square patches of an image, each encoded by the same linear layer and a ReLU.

    A convolution whose stride is as long as its kernel. Its few, large matrix products take an eighth of the time of
    `Convolutions` on a CPU, where a policy that replays its steps could otherwise learn little from images.

    side: pixels on a side of a patch, such that there are about `PATCHES` patches on the longer side of the image.
    """

    encode: Dense
    side: int = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def __init__(self, shape: tuple[int, int, int], *, key: Key) -> None:
        height, width, channels = shape
        self.side = -(-max(height, width) // PATCHES)
        self.count = -(-height // self.side) * -(-width // self.side)
        self.encode = Dense(self.side**2 * channels, PATCH_FEATURES, key=key)

    @property
    def features(self) -> int:
        """The number of features of an image."""
        return self.count * PATCH_FEATURES

    def __call__(self, images: Float[jax.Array, "N H W C"]) -> Float[jax.Array, "N features"]:
        count, height, width, channels = images.shape
        rows, columns = -(-height // self.side), -(-width // self.side)
        more = (rows * self.side - height, columns * self.side - width)
        images = jnp.pad(images, ((0, 0), (0, more[0]), (0, more[1]), (0, 0)))
        patches = images.reshape(count, rows, self.side, columns, self.side, channels).transpose(0, 1, 3, 2, 4, 5)
        return jax.nn.relu(self.encode(patches.reshape(count * self.count, -1))).reshape(count, -1)


PATCHES, PATCH_FEATURES = 8, 16
"""The number of patches on a side of an image, and of the features of each."""


class Keypoints(eqx.Module):
    """Spatial soft-argmax: the expected position of each of several features in a map.

    The positions are finer than the cells of the map.
    """

    looks: jax.Array
    sharpness: jax.Array

    def __init__(self, channels: int, count: int, *, key: Key) -> None:
        self.looks = jax.nn.initializers.orthogonal(1.0)(key, (channels, count), jnp.float32)
        self.sharpness = jnp.full(count, SHARPNESS)

    def __call__(self, features: Float[jax.Array, "N H W C"]) -> Float[jax.Array, "N coordinates"]:
        """`[N, 2 * count]` rows and columns between −1 and 1."""
        count, height, width, channels = features.shape
        looks = self.looks.astype(features.dtype)
        cells = features.reshape(count, height * width, channels)
        likeness = jnp.matmul(cells, looks, preferred_element_type=jnp.float32)
        shares = jax.nn.softmax(likeness * self.sharpness.reshape(1, 1, -1), axis=1)
        rows, columns = jnp.meshgrid(jnp.linspace(-1, 1, height), jnp.linspace(-1, 1, width), indexing="ij")
        places = jnp.stack([rows, columns]).reshape(2, height * width)
        return jnp.einsum("npk,dp->ndk", shares, places).reshape(count, -1)


SHARPNESS = 10.0
"""Initial inverse temperature of the softmax over cells."""
