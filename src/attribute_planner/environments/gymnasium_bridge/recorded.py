"""What is needed to read episodes that were recorded in a Gymnasium environment: spaces, attributes, `describe`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from attribute_planner.attributes import Attribute
from attribute_planner.environments.gymnasium_bridge.actions import Actions, actions_of
from attribute_planner.environments.gymnasium_bridge.describing import Describe, ReadValues, values_reader
from attribute_planner.environments.gymnasium_bridge.environment import (
    DEFAULT_EPISODE_STEPS,
    GymnasiumEnvironment,
    attribute_space,
)
from attribute_planner.environments.gymnasium_bridge.observations import encoder_for
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError


@dataclass(frozen=True)
class RecordedSource:
    """How recorded episodes are read.

    spec: the environment that they are from.
    actions: the conversion of its actions.
    encode: converts an observation.
    read: the attribute values of an observation and its info, as indices.
    """

    spec: EnvironmentSpec
    actions: Actions
    encode: Callable[[Any], np.ndarray]
    read: Callable[[Any, dict[str, Any]], list[int]]


def recorded_source(
    env: Any,
    episodes: Any,
    attributes: Sequence[Attribute] | None,
    describe: Describe | None,
    observation_space: Any,
    action_space: Any,
    name: str,
) -> RecordedSource:
    """From an environment, or from attributes, `describe` and spaces."""
    if env is not None:
        if not isinstance(env, GymnasiumEnvironment):
            raise ConfigurationError(f"env must be made by from_gymnasium; it is a {type(env).__name__}.")
        read = values_reader(describe, env.attributes) if describe is not None else env.read_values
        if read is None:
            raise ConfigurationError(f"{env.name} has no describe function; pass describe=….")
        return RecordedSource(env.spec, env.action_map, env.encoder.encode, _without_env(read))
    if attributes is None or describe is None:
        raise ConfigurationError("Give env=…, or attributes=… and describe=….")
    observed = observation_space or getattr(episodes, "observation_space", None)
    acted = action_space or getattr(episodes, "action_space", None)
    if not isinstance(observed, gymnasium.Space) or not isinstance(acted, gymnasium.Space):
        raise ConfigurationError("Without env=…, observation_space=… and action_space=… must be Gymnasium spaces.")
    space, encoder, actions = attribute_space(attributes), encoder_for(observed), actions_of(acted, None)
    spec = EnvironmentSpec(name, space, encoder.spec, actions.space, None, DEFAULT_EPISODE_STEPS, True)
    return RecordedSource(spec, actions, encoder.encode, _without_env(values_reader(describe, space)))


def _without_env(read: ReadValues) -> Callable[[Any, dict[str, Any]], list[int]]:
    return lambda observation, info: read(observation, info, None)
