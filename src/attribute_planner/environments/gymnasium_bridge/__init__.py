"""`from_gymnasium`: environments with the Gymnasium API, extended by named attributes."""

from typing import TYPE_CHECKING

from attribute_planner.lazy import lazy_names

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge.environment import GymnasiumEnvironment as GymnasiumEnvironment
    from attribute_planner.environments.gymnasium_bridge.environment import from_gymnasium as from_gymnasium

__getattr__ = lazy_names(__name__, {"GymnasiumEnvironment": "environment", "from_gymnasium": "environment"})
