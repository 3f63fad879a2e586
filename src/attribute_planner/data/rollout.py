"""The step loop of the package: an actor acts in a batch of environments, and the steps are recorded.

A pure environment with a traced actor runs as one compiled scan over steps. Everything else is stepped from Python.
`rollout` begins with fresh episodes. `start` and `advance` are its two halves, for callers that continue.
"""

import jax
import numpy as np

from attribute_planner.attributes import AttributeSpace
from attribute_planner.data.episodes import Episodes, Keep, attributes_of
from attribute_planner.data.host_loop import host_loop
from attribute_planner.data.scan import compiled_scan
from attribute_planner.data.trajectories import Actor, TracedActor, Trajectories
from attribute_planner.environments.vector_env import PureVectorEnv, TimeStep, VectorEnv
from attribute_planner.models.detector import AttributeDetector

Key = jax.Array


def rollout(
    actor: Actor,
    envs: VectorEnv,
    length: int,
    *,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int | None = None,
    timestep: TimeStep | None = None,
) -> Trajectories:
    """Act for `length` steps in every environment, from fresh episodes. An episode that ends is followed by another.

    space: the attributes, which are recorded packed.
    detector: detects the attribute values; without one they are those of the environment.
    keep: what to record of each observation.
    episode_steps: the time limit of an episode; by default the environment's own.
    timestep: where to begin, if the environments have been reset already.
    """
    start_key, steps_key = jax.random.split(key)
    episodes = start(actor, envs, key=start_key, detector=detector, timestep=timestep)
    return advance(
        actor,
        envs,
        episodes,
        length,
        space=space,
        key=steps_key,
        detector=detector,
        keep=keep,
        episode_steps=episode_steps,
    )[1]


def start(
    actor: Actor,
    envs: VectorEnv,
    *,
    key: Key,
    detector: AttributeDetector | None = None,
    timestep: TimeStep | None = None,
) -> Episodes:
    """Fresh episodes, or those at `timestep`, and a fresh memory."""
    reset_key, memory_key = jax.random.split(key)
    timestep = envs.reset(reset_key) if timestep is None else timestep
    memory = actor.begin(envs.num_envs, key=memory_key)
    attributes = attributes_of(detector, timestep)
    return Episodes(timestep.snapshot, timestep.observation, attributes, np.zeros(envs.num_envs, np.int32), memory)


def advance(
    actor: Actor,
    envs: VectorEnv,
    episodes: Episodes,
    length: int,
    *,
    space: AttributeSpace,
    key: Key,
    detector: AttributeDetector | None = None,
    keep: Keep = "observation",
    episode_steps: int | None = None,
    first_step: int = 0,
) -> tuple[Episodes, Trajectories]:
    """Continue for `length` steps; with an actor that says which environments are active, at most that many.

    first_step: the number of the first step. It enters the random keys of steps on the host, where several pieces give
        the same steps as one.
    """
    if isinstance(envs, PureVectorEnv) and isinstance(actor, TracedActor):
        limit = envs.env.episode_steps if episode_steps is None else episode_steps
        return compiled_scan(actor, envs.env, episodes, length, key, detector=detector, keep=keep, episode_steps=limit)
    if isinstance(envs, PureVectorEnv) and episode_steps is None:
        episode_steps = envs.env.episode_steps
    return host_loop(actor, envs, episodes, length, space, key, detector, keep, episode_steps, first_step)
