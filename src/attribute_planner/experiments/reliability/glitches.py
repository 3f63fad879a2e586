"""A world whose sensor rarely returns infinity: what is learned from such an observation is not finite."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import ActionSpace, Box, Discrete, VectorSpec
from attribute_planner.environments.tasks import Task, complete_goal


class GlitchState(NamedTuple):
    """The room, and whether the sensor fails."""

    room: jax.Array
    fails: jax.Array


@dataclass(frozen=True)
class Glitches(PureEnvironment):
    """Three rooms; an action goes to one of them.

    continuous: whether the action is a number between −1 and 1, not the number of a room.
    glitch: the probability that the sensor fails in a step.
    """

    name = "glitches"
    continuous: bool = False
    glitch: float = 1e-3
    episode_steps: int = 20

    @property
    def attributes(self) -> AttributeSpace:
        return AttributeSpace((Attribute("room", range(3)),))

    @property
    def observation(self) -> VectorSpec:
        return VectorSpec(3)

    @property
    def actions(self) -> ActionSpace:
        return Box((-1.0,), (1.0,)) if self.continuous else Discrete(("left", "middle", "right"))

    def reset(self, key: jax.Array) -> GlitchState:
        return GlitchState(jax.random.randint(key, (), 0, 3), jnp.array(False))

    def step(self, state: GlitchState, action: Any, key: jax.Array) -> GlitchState:
        room = jnp.sum(action[0] > jnp.array([-1 / 3, 1 / 3])) if self.continuous else action
        return GlitchState(room.astype(jnp.int32), jax.random.uniform(key) < self.glitch)

    def observe(self, state: GlitchState) -> jax.Array:
        return jnp.where(state.fails, jnp.inf, jax.nn.one_hot(state.room, 3))

    def describe(self, state: GlitchState) -> jax.Array:
        return state.room[None]

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"next": Task("next", "the next room", lambda state, values, key: complete_goal((values + 1) % 3), 5)}
