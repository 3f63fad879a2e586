"""Environments of one's own: anything with the Gymnasium API becomes worlds with named attributes."""

from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment as GymnasiumEnvironment
from attribute_planner.environments.gymnasium_bridge.environment import from_gymnasium as from_gymnasium
