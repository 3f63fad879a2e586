"""`benchmark blocks`: examples per second, one drop and one image each, against MuJoCo with its own renderer."""

import jax
import numpy as np

from attribute_planner.benchmarks import mujoco_blocks
from attribute_planner.benchmarks.measuring import Measurement, rates, seconds
from attribute_planner.environments.blocks.continuous import ContinuousBlocks
from attribute_planner.environments.blocks.discrete import Blocks
from attribute_planner.environments.spaces import uniform_action

PEER = "MuJoCo and its renderer, one scene at a time"


def measure() -> list[Measurement]:
    """Both variants, on all CPU cores or the GPU."""
    peer, on_gpu = mujoco_blocks.rates() or {}, jax.default_backend() != "cpu"
    discrete, continuous = discrete_rate(2**15 if on_gpu else 2048), continuous_rate(4096 if on_gpu else 512)
    return [
        rates("discrete", discrete, peer.get("discrete"), "examples/s", PEER),
        rates("continuous", continuous, peer.get("continuous"), "examples/s", PEER),
    ]


def discrete_rate(num_envs: int) -> float:
    """One drop in each of many states, and an image of each result."""
    env, key = Blocks(), jax.random.key(0)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, num_envs))
    action = uniform_action(env.actions, (num_envs,), key=key)

    @jax.jit
    def example(states, action):
        after = jax.vmap(env.step, (0, 0, None))(states, action, key)
        return env.observe_batch(after)

    return num_envs / seconds(lambda: example(states, action))


def continuous_rate(num_envs: int) -> float:
    """The same with MuJoCo's physics, on all CPU cores."""
    env, key = ContinuousBlocks(), jax.random.key(0)
    envs = env.vector_env(num_envs)
    envs.reset(key)
    keys = iter(jax.random.split(key, 100))

    def example() -> jax.Array:
        action = uniform_action(env.actions, (num_envs,), key=next(keys))
        return envs.step(jax.tree.map(np.asarray, action), key).observation  # pyright: ignore[reportReturnType]

    return num_envs / seconds(example, repeats=3)
