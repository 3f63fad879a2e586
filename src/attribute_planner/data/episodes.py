"""Episodes in progress, and what steps on the device and on the host share."""

from typing import Any, Literal, NamedTuple

import numpy as np

from attribute_planner.data.trajectories import Actor
from attribute_planner.environments.spaces import Observation
from attribute_planner.environments.vector_env import TimeStep
from attribute_planner.models.detector import AttributeDetector, detected_values

Keep = Literal["observation", "snapshot", "nothing"]
"""What `Trajectories.observation` holds. Snapshots are smaller than images; `env.observe_batch` shows them again."""


class Episodes(NamedTuple):
    """Episodes in progress, from which a rollout continues.

    states: what the environments keep of their current state: `[B, ...]` states, or a snapshot.
    observation, attributes: what the actor sees; attributes are `int32[B, A]` values, `None` if not known.
    age: `int32[B]` steps since each episode began.
    memory: the actor's memory.
    """

    states: Any
    observation: Observation
    attributes: Any
    age: Any
    memory: Any


def attributes_of(detector: AttributeDetector | None, timestep: TimeStep) -> Any:
    """`int32[B, A]` the values, detected if there is a detector; `None` if they are not known."""
    if detector is not None:
        return np.asarray(detected_values(detector, timestep.observation))
    return None if timestep.attributes is None else np.asarray(timestep.attributes)


def ends_of(actor: Actor, memory: Any, timestep: TimeStep) -> tuple[Any, Any]:
    """`bool[B]` which episodes are over, and which of them for another reason than that the environment ended them."""
    wanted = actor.wants_reset(memory, timestep)
    truncated = timestep.truncated if wanted is None else timestep.truncated | wanted
    truncated = truncated & ~timestep.terminated
    return timestep.terminated | truncated, truncated
