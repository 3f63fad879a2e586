"""Splits: tests on an observation that define a binary attribute. A split is data: it can be stored and compared.

A split looks at the flat observation `[..., D]` (`flat_observation`) and can be traced.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from attribute_planner.environments.seen_from_agent import DISTANCES
from attribute_planner.environments.spaces import Array, FlatSpec, ObservationSpec, Part
from attribute_planner.errors import ConfigurationError
from attribute_planner.files.typed_json import dataclass_from_json, typed

ComponentName = Callable[[int], str]
"""The name of a component of the flat observation."""

MAX_LISTED_CODES = 6
"""More codes than these are counted in messages, not listed."""


def indexed_name(component: int) -> str:
    """`observation[3]`, the default name of a component."""
    return f"observation[{component}]"


def component_name(spec: ObservationSpec) -> ComponentName:
    """Names by the parts of an observation, where they have names: `key`, or `board[3]`."""
    parts = spec.parts if isinstance(spec, FlatSpec) else ()
    names = [_name_in(part, place) for part in parts for place in range(part.size)]
    return lambda component: (names[component : component + 1] or [""])[0] or indexed_name(component)


def _name_in(part: Part, place: int) -> str:
    """The name of one component of a part; empty if the part has none."""
    if part.name.endswith(DISTANCES) and place >= part.size - 2:
        return f"the agent's {('row', 'column')[place - part.size]}"
    return part.name if part.size == 1 or not part.name else f"{part.name}[{place}]"


def flat_observation(observation: Array, spec: ObservationSpec) -> Array:
    """Observations `[..., *shape]` of one agent as `float32[..., D]`; images are flattened as they are."""
    shape = observation.shape
    if shape[len(shape) - len(spec.shape) :] != spec.shape:
        raise ConfigurationError(f"The observation has shape {shape}; it must end with {spec.shape}.")
    return observation.reshape(*shape[: len(shape) - len(spec.shape)], -1).astype(np.float32)


def given_observation(observation: Array, spec: ObservationSpec) -> Array:
    """The same without the parts that repeat another one, seen from the agent; they come last."""
    flat = flat_observation(observation, spec)
    return flat[..., : spec.given] if isinstance(spec, FlatSpec) else flat


@dataclass(frozen=True)
class Threshold:
    """Holds where a component is greater than `value` or, if `above` is false, where it is not."""

    component: int
    value: float
    above: bool = True

    @property
    def first(self) -> int:
        """The first component that it looks at."""
        return self.component

    @property
    def last(self) -> int:
        """The last component that it looks at."""
        return self.component

    def holds(self, observation: Float[Array, "*batch D"]) -> Bool[Array, "*batch"]:
        """Whether it holds for flat observations."""
        is_above = observation[..., self.component] > self.value
        return is_above if self.above else ~is_above

    def words(self, name: ComponentName = indexed_name) -> str:
        """`observation[3] > 0.5`."""
        return f"{name(self.component)} {'>' if self.above else '≤'} {self.value:.4g}"


@dataclass(frozen=True)
class Codes:
    """Holds where a category is one of `codes`.

    start: the component with the code or, if `size` is above 1, the first of `size` components that are its one-hot
        form.
    """

    start: int
    size: int
    codes: tuple[int, ...]

    def __post_init__(self) -> None:
        if (
            self.size < 1
            or not self.codes
            or (self.size > 1 and not 0 <= min(self.codes) <= max(self.codes) < self.size)
        ):
            raise ConfigurationError(f"Codes needs at least one code, each below its size {self.size}: {self.codes}.")

    @property
    def first(self) -> int:
        """The first component that it looks at."""
        return self.start

    @property
    def last(self) -> int:
        """The last component that it looks at."""
        return self.start + self.size - 1

    def holds(self, observation: Float[Array, "*batch D"]) -> Bool[Array, "*batch"]:
        """Whether it holds for flat observations."""
        if self.size > 1:
            return observation[..., self.start + np.array(self.codes)].sum(axis=-1) > 0
        return reduce(or_, (observation[..., self.start] == code for code in self.codes))

    def words(self, name: ComponentName = indexed_name) -> str:
        """`observation[3] is 1 or 4`."""
        if self.size == 1:
            return f"{name(self.start)} is {_listed([str(code) for code in self.codes])}"
        if len(self.codes) <= MAX_LISTED_CODES:
            return f"{_listed([name(self.start + code) for code in self.codes])} is 1"
        first, last = name(self.start), name(self.start + self.size - 1)
        return f"one of {len(self.codes)} categories of {first} … {last} holds"


Condition = Threshold | Codes
CONDITIONS: dict[str, type[Threshold] | type[Codes]] = {"threshold": Threshold, "codes": Codes}
"""The kinds of conditions by their names in files."""


@dataclass(frozen=True)
class Split:
    """Divides observations: those for which all conditions hold (or, if `any_of`, at least one), and the rest."""

    conditions: tuple[Condition, ...]
    any_of: bool = False

    def holds(self, observation: Float[Array, "*batch D"]) -> Bool[Array, "*batch"]:
        """The side of each flat observation."""
        return reduce(or_ if self.any_of else and_, (each.holds(observation) for each in self.conditions))

    def words(self, name: ComponentName = indexed_name) -> str:
        """`observation[3] > 0.5 and observation[7] is 2`."""
        return (" or " if self.any_of else " and ").join(each.words(name) for each in self.conditions)

    def to_json(self) -> dict[str, Any]:
        """The split as data for a JSON file."""
        kinds = {kind: name for name, kind in CONDITIONS.items()}
        conditions = [{"kind": kinds[type(each)], **asdict(each)} for each in self.conditions]
        return {"conditions": conditions, "any_of": self.any_of}


def split_from_json(saved: dict[str, Any]) -> Split:
    """The inverse of `Split.to_json`."""
    conditions = tuple(_condition(dict(each)) for each in saved["conditions"])
    if not conditions:
        raise ConfigurationError("A split needs at least one condition.")
    return Split(conditions, typed(saved["any_of"], bool, "any_of"))


def _condition(saved: dict[str, Any]) -> Condition:
    return dataclass_from_json(CONDITIONS[saved.pop("kind")], saved)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
