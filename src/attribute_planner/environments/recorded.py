"""An environment that is known by its specification alone, because only its recorded steps or its agent are at hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from attribute_planner.attributes import AttributeSpace
from attribute_planner.environments.interface import HostEnvironment
from attribute_planner.environments.spaces import ActionSpace, Discrete, ObservationSpec, VectorSpec
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.environments.tasks import Task
from attribute_planner.environments.vector_env import VectorEnv
from attribute_planner.errors import ConfigurationError


@dataclass(frozen=True)
class RecordedEnvironment(HostEnvironment):
    """An environment that cannot be stepped. It has no tasks.

    known: its specification.
    """

    known: EnvironmentSpec
    name: str = field(init=False)
    episode_steps: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.known.name)
        object.__setattr__(self, "episode_steps", self.known.episode_steps)

    @property
    def attributes(self) -> AttributeSpace:
        return self.known.attributes

    @property
    def observation(self) -> ObservationSpec:
        return self.known.observation

    @property
    def actions(self) -> ActionSpace:
        return self.known.actions

    @property
    def num_units(self) -> int | None:
        return self.known.num_units

    @property
    def has_attribute_fn(self) -> bool:
        return self.known.has_attribute_fn

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {}

    def vector_env(self, num_envs: int) -> VectorEnv:
        del num_envs
        raise ConfigurationError(
            f"{self.name} is known from recorded data alone and cannot be stepped; give the environment itself (env=…)."
        )


def known_by_attributes(name: str, space: AttributeSpace) -> RecordedEnvironment:
    """An environment of which only the attributes are known: enough to read a table."""
    return RecordedEnvironment(EnvironmentSpec(name, space, VectorSpec(1), Discrete(("unknown",)), None, 1, True))
