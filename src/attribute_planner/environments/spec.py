"""What is known about an environment before it runs. Networks are built from this description alone."""

from dataclasses import dataclass

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.spaces import ActionSpace, ObservationSpec


@dataclass(frozen=True)
class EnvironmentSpec:
    """Static description of an environment. It can be compared, hashed and used without the environment.

    name: name of the environment.
    attributes: the attributes that goals refer to.
    observation: observation of the agent, or of each unit if there are several.
    actions: action space of the agent, or of each unit.
    num_units: number of units that act at once, on a leading axis of observation and action; `None` for one agent.
    episode_steps: number of steps after which an episode is truncated while experience is collected.
    has_attribute_fn: whether the true attribute function f is given; if not, a detector is learned from labels.
    """

    name: str
    attributes: AttributeSpace
    observation: ObservationSpec
    actions: ActionSpace
    num_units: int | None
    episode_steps: int
    has_attribute_fn: bool
