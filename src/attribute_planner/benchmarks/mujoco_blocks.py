"""The peer of `benchmark blocks`: MuJoCo, one scene at a time, with its own renderer (default settings, shadows on).

It runs in a process of its own, since MuJoCo reads which OpenGL library to use when it is first imported:
`MUJOCO_GL=egl python -m attribute_planner.benchmarks.mujoco_blocks` prints two rates as JSON.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from attribute_planner.environments.blocks.physics import CAMERA_NAME, load_model
from attribute_planner.environments.blocks.rendering import IMAGE_SIZE
from attribute_planner.environments.blocks.scene import CELL_SPACING, DROP_HEIGHT, GRID, NUM_BLOCKS

SECONDS = 8.0
PHYSICS_STEPS = {"discrete": 150, "continuous": 193}
"""How many physics steps a dropped block needs to come to rest, on the grid and at any position."""


def rates() -> dict[str, float] | None:
    """Examples per second, one drop and one image each; `None` if MuJoCo finds no OpenGL library."""
    program = [sys.executable, "-m", "attribute_planner.benchmarks.mujoco_blocks"]
    for platform in ("egl", "osmesa"):
        variables = {**os.environ, "MUJOCO_GL": platform, "PYTHONPATH": os.pathsep.join(sys.path)}
        finished = subprocess.run(program, env=variables, capture_output=True, text=True, check=False)
        if finished.returncode == 0:
            return json.loads(finished.stdout.splitlines()[-1])
    return None


def measure() -> dict[str, float]:
    """Both rates, in this process."""
    # MuJoCo has no type information for its compiled part.
    mujoco: Any = importlib.import_module("mujoco")

    model = load_model()
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    with mujoco.Renderer(model, IMAGE_SIZE, IMAGE_SIZE) as renderer:

        def example(point: np.ndarray, steps: int) -> None:
            block = random.integers(NUM_BLOCKS)
            data.qpos[7 * block : 7 * block + 7] = [*point, DROP_HEIGHT, 1, 0, 0, 0]
            data.qvel[:] = 0
            mujoco.mj_step(model, data, nstep=steps)
            renderer.update_scene(data, camera=CAMERA_NAME)
            renderer.render()

        return {
            "discrete": _rate(lambda: example(random.integers(GRID, size=2) * CELL_SPACING, PHYSICS_STEPS["discrete"])),
            "continuous": _rate(lambda: example(random.uniform(size=2), PHYSICS_STEPS["continuous"])),
        }


def _rate(work: Callable[[], Any]) -> float:
    for _ in range(5):
        work()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        work()
        count += 1
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    print(json.dumps(measure()))
