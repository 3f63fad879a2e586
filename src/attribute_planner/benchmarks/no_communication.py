"""Processes that step environments on their own: the most that the cores of a machine give to worker processes."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout, batch_arrays
from attribute_planner.environments.gymnasium_bridge.bridge import build_bridge
from attribute_planner.environments.gymnasium_bridge.env_rows import EnvRows
from attribute_planner.environments.workers.rows import shares
from attribute_planner.environments.workers.sending import packed, unpacked


@contextmanager
def separate_processes(env: Any, number: int, num_envs: int) -> Iterator[Callable[[int], int]]:
    """A function that takes steps in each of `num_envs` environments, divided among processes that need nobody."""
    from attribute_planner.environments.gymnasium_bridge.vector_env import batch_layout

    recipe, forked = packed(env.recipe, env.name), multiprocessing.get_context("forkserver")
    layouts = [batch_layout(env, len(rows)) for rows in shares(num_envs, number)]
    with ExitStack() as stack:
        pools = [stack.enter_context(ProcessPoolExecutor(1, forked)) for _ in layouts]

        def play(length: int) -> int:
            pairs = zip(pools, layouts, strict=True)
            running = [pool.submit(step_alone, recipe, env.name, layout, length) for pool, layout in pairs]
            for each in running:
                each.result()
            return num_envs * length

        yield play


def step_alone(recipe: bytes, name: str, layout: BatchLayout, length: int) -> None:
    """Step all environments of a batch, always with the first action; an episode that is over is reset."""
    rows = _rows(recipe, name, layout)
    arrays = rows.arrays
    for _ in range(length):
        arrays.which[:] = arrays.terminated | arrays.truncated
        arrays.terminated[:], arrays.truncated[:] = False, False
        rows.run("reset")
        arrays.which[:] = True
        rows.run("step")


@lru_cache
def _rows(recipe: bytes, name: str, layout: BatchLayout) -> EnvRows:
    """The environments of this process, which are made once."""
    rows = EnvRows(build_bridge(unpacked(recipe), name), batch_arrays(layout), range(layout.num_envs))
    rows.arrays.truncated[:] = True
    return rows
