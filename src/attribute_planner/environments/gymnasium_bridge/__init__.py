"""`from_gymnasium`: environments with the Gymnasium API, extended by named attributes."""

from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment as GymnasiumEnvironment
from attribute_planner.environments.gymnasium_bridge.environment import from_gymnasium as from_gymnasium
