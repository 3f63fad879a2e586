"""A policy that was made elsewhere, as π: any object with `predict(observation, goal)`."""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from attribute_planner.attributes import Value
from attribute_planner.environments.faults import first_line
from attribute_planner.environments.spaces import Box, Discrete, FlatSpec, Observation
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError
from attribute_planner.models.distributions import Categorical, Normal
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.models.policy import GoalPolicy, PolicyOutput

CERTAIN = 50.0
"""The logit of the action that was predicted; that of the others is 0."""
EXACT = -20.0
"""The logarithm of the standard deviation of an action in a box: none to speak of."""


@runtime_checkable
class Predicts(Protocol):
    """What a policy of one's own must have."""

    def predict(self, observation: Any, goal: dict[str, Value], /) -> Any:
        """The action for one observation, given the attribute set to reach next.

        observation: as the environment gives it: an array, a number, or a dictionary of them; without texts.
        Returns the action, or a tuple whose first element it is, as in Stable-Baselines3.
        """
        ...


class GivenPolicy(GoalPolicy):
    """π by an object with `predict`, which is called on the host for one observation after the other.

    Its networks are never used; they only make it look like any other policy.
    """

    model: "HostModel" = eqx.field(static=True)

    def __init__(self, spec: EnvironmentSpec, predicts: Any, *, like: GoalPolicy) -> None:
        self.encoder, self.action_head, self.baseline_head = like.encoder, like.action_head, like.baseline_head
        self.action_space, self.temperature = spec.actions, None
        self.model = HostModel(spec, predicts)

    def __call__(
        self, observation: Observation, values: Int[jax.Array, "*batch A"], goal: Int[jax.Array, "*batch A"]
    ) -> PolicyOutput:
        batch = values.shape[:-1]
        nothing = jnp.zeros(batch)
        if isinstance(self.action_space, Discrete):
            shape: Any = jax.ShapeDtypeStruct(batch, jnp.int32)
            action = jax.pure_callback(self.model.guarded, shape, observation, goal, vmap_method="expand_dims")
            return PolicyOutput(Categorical(CERTAIN * jax.nn.one_hot(action, self.action_space.count)), nothing)
        assert isinstance(self.action_space, Box)
        shape = jax.ShapeDtypeStruct((*batch, self.action_space.dimensions), jnp.float32)
        action = jax.pure_callback(self.model.guarded, shape, observation, goal, vmap_method="expand_dims")
        return PolicyOutput(Normal(action, jnp.full_like(action, EXACT)), nothing)


class HostModel:
    """Calls `predict` for a batch. Compared by identity, as compiled functions need it."""

    def __init__(self, spec: EnvironmentSpec, predicts: Any) -> None:
        if not callable(getattr(predicts, "predict", None)):
            raise ConfigurationError(
                f"A policy needs a method predict(observation, goal); a {type(predicts).__name__} has none."
            )
        if spec.num_units is not None or not isinstance(spec.actions, Discrete | Box):
            raise ConfigurationError("A policy of one's own can act for one agent, with listed actions or in a box.")
        self._spec, self._actions, self._predicts = spec, spec.actions, predicts

    def guarded(self, observation: Any, goal: Any) -> np.ndarray:
        """The same for compiled code, in which an error of `predict` would become a traceback of many lines.

        The error is kept for `raise_fault`, and any action is returned until it is raised.
        """
        try:
            if not _FAULTS:
                return self(observation, goal)
        except ConfigurationError as fault:
            _FAULTS.append(fault)
        except Exception as error:
            what = f"{type(self._predicts).__name__}.predict(observation, goal)"
            fault = ConfigurationError(f"{what}: {type(error).__name__}: {first_line(str(error))}")
            fault.__cause__ = error
            _FAULTS.append(fault)
        batch = np.shape(goal)[:-1]
        if isinstance(self._actions, Discrete):
            return np.zeros(batch, np.int32)
        return np.zeros((*batch, self._actions.dimensions), np.float32)

    def __call__(self, observation: Any, goal: Any) -> np.ndarray:
        """`[*batch]` or `[*batch, dimensions]` the action for each observation."""
        goals, shape = np.asarray(goal), self._spec.observation.shape
        rows = np.asarray(observation).reshape(-1, *shape)
        actions = [
            self._action(row, wanted) for row, wanted in zip(rows, goals.reshape(-1, goals.shape[-1]), strict=True)
        ]
        kind = np.int32 if isinstance(self._actions, Discrete) else np.float32
        return np.asarray(actions, kind).reshape(*goals.shape[:-1], *np.shape(actions)[1:])

    def _action(self, row: np.ndarray, goal: np.ndarray) -> Any:
        """One action; any one where there is nothing to reach."""
        space, actions = self._spec.attributes, self._actions
        if goal[0] == NO_VALUE:
            return 0 if isinstance(actions, Discrete) else np.zeros(actions.dimensions)
        answer = self._predicts.predict(decoded(self._spec, row), space.decode(goal))
        found = np.asarray(answer[0] if isinstance(answer, tuple) else answer)
        if isinstance(actions, Discrete):
            if found.size != 1 or not 0 <= found.item() < actions.count:
                raise ConfigurationError(f"predict returned {found.tolist()}; actions are 0 to {actions.count - 1}.")
            return int(found.item())
        if found.size != actions.dimensions:
            raise ConfigurationError(f"predict returned {found.shape}; an action has {actions.dimensions} numbers.")
        return found.reshape(-1)


_FAULTS: list[ConfigurationError] = []
"""The error of a policy that was called by compiled code, until it is raised."""


def raise_fault() -> None:
    """Raise the error of a policy that compiled code has called, if there was one."""
    if _FAULTS:
        fault = _FAULTS[0]
        _FAULTS.clear()
        raise fault


def decoded(spec: EnvironmentSpec, row: np.ndarray) -> Any:
    """An observation as the environment gave it, from the flat form; texts, of which hashes are kept, are left out."""
    if not isinstance(spec.observation, FlatSpec):
        return row
    parts, start = {}, 0
    for part in spec.observation.parts:
        value = row[start : start + part.size].reshape(part.shape)
        start += part.size
        if part.kind != "text" and part.seen_from is None:
            parts[part.name] = int(value) if part.kind == "choice" and not part.shape else value
    if list(parts) == [""]:
        return parts[""]
    nested: dict[str, Any] = {}
    for name, value in parts.items():
        *outer, last = name.split(".")
        inside = nested
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = value
    return nested
