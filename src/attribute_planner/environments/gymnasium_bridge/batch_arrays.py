"""The arrays through which a batch of environments is stepped; in shared memory if worker processes do it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

ALIGNMENT = 64
"""Each array begins at a multiple of this number of bytes, so that workers do not write to the same cache line."""


@dataclass(frozen=True)
class BatchLayout:
    """Sizes of the arrays of a batch.

    num_envs: B, number of environments.
    observation: shape and name of the type of an encoded observation.
    num_attributes: A.
    action_size: number of components of an action that is a point; 0 if it is a choice.
    """

    num_envs: int
    observation: tuple[tuple[int, ...], str]
    num_attributes: int
    action_size: int

    def fields(self) -> Iterator[tuple[str, tuple[int, ...], np.dtype]]:
        """Name, shape and type of each array."""
        batch, (shape, dtype) = (self.num_envs,), self.observation
        yield "observation", (*batch, *shape), np.dtype(dtype)
        yield "values", (*batch, self.num_attributes), np.dtype(np.int32)
        point = (self.action_size,) if self.action_size else ()
        yield "action", (*batch, *point), np.dtype(np.float64 if self.action_size else np.int64)
        yield "seed", batch, np.dtype(np.int64)
        yield "age", batch, np.dtype(np.int64)
        for name in ("terminated", "truncated", "which", "finished"):
            yield name, batch, np.dtype(bool)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(_padded(shape, dtype) for _, shape, dtype in self.fields())


@dataclass(frozen=True, eq=False)
class BatchArrays:
    """What goes in and out of the environments of a batch.

    observation, values: `[B, ...]` encoded observations, and `int32[B, A]` attribute values.
    action: `[B, ...]` the actions of the next step. 64 bits hold every action exactly.
    seed: `int64[B]` the seeds of the next reset.
    age: `int64[B]` steps since each episode began.
    terminated, truncated: `bool[B]` how episodes have ended.
    which: `bool[B]` the environments that the current operation is for.
    finished: `bool[B]` those for which it is done.
    """

    observation: np.ndarray
    values: np.ndarray
    action: np.ndarray
    seed: np.ndarray
    age: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    which: np.ndarray
    finished: np.ndarray


def batch_arrays(layout: BatchLayout, buffer: Any = None) -> BatchArrays:
    """The arrays in a buffer of `layout.nbytes` bytes, by default a new one."""
    buffer = bytearray(layout.nbytes) if buffer is None else buffer
    arrays, offset = {}, 0
    for name, shape, dtype in layout.fields():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(buffer, dtype, count, offset).reshape(shape)
        offset += _padded(shape, dtype)
    return BatchArrays(**arrays)


def _padded(shape: tuple[int, ...], dtype: np.dtype) -> int:
    size = int(np.prod(shape)) * dtype.itemsize
    return -(-size // ALIGNMENT) * ALIGNMENT
