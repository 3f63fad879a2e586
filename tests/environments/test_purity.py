from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attribute_planner.attributes import Attribute, AttributeSpace
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.environments.spaces import Discrete, VectorSpec
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.errors import EnvironmentFaultError
from attribute_planner.evaluation.check_environment import check_environment


def counted_up(state: jax.Array, action: jax.Array, key: jax.Array) -> jax.Array:
    return (state + action) % 4


@dataclass(frozen=True)
class Counter(PureEnvironment):
    """A number from 0 to 3 that an action counts up; every rule can be exchanged for a faulty one."""

    name = "counter"

    first: Callable[[jax.Array], Any] = lambda key: jax.random.randint(key, (), 0, 4)
    rule: Callable[[Any, jax.Array, jax.Array], Any] = counted_up
    f: Callable[[Any], Any] = lambda state: state[None]
    over: Callable[[Any], jax.Array] = lambda state: jnp.zeros((), bool)
    episode_steps: int = 50

    @property
    def attributes(self) -> AttributeSpace:
        return AttributeSpace((Attribute("count", range(4)),))

    @property
    def observation(self) -> VectorSpec:
        return VectorSpec(4)

    @property
    def actions(self) -> Discrete:
        return Discrete(("stay", "count"))

    def reset(self, key: jax.Array) -> Any:
        return self.first(key)

    def step(self, state: Any, action: Any, key: jax.Array) -> Any:
        return self.rule(state, action, key)

    def observe(self, state: Any) -> jax.Array:
        return jax.nn.one_hot(state, 4)

    def describe(self, state: Any) -> jax.Array:
        return self.f(state)

    def terminated(self, state: Any) -> jax.Array:
        return self.over(state)

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"next": Task("next", "", lambda state, values, key: complete_goal((values + 1) % 4), 10)}


def test_a_pure_environment_passes():
    report = check_environment(Counter(), steps=60)
    assert (report.attribute_sets, report.transitions, report.image, report.warnings) == (4, 4, None, ())


def test_chance_from_the_key_is_welcome():
    def unreliable(state: jax.Array, action: jax.Array, key: jax.Array) -> jax.Array:
        return (state + action * jax.random.bernoulli(key).astype(jnp.int32)) % 4

    assert check_environment(Counter(rule=unreliable), steps=60).transitions == 4


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (
            Counter(first=lambda key: jnp.int32(np.random.randint(4)) + jnp.int32(np.random.randint(2**20))),
            "reset under jax.jit: the same inputs gave two outcomes; all randomness must come from the key",
        ),
        (
            Counter(rule=lambda state, action, key: state + jnp.int32(np.random.randint(2**30))),
            "step under jax.jit: the same inputs gave two outcomes",
        ),
        (
            Counter(rule=lambda state, action, key: state if state > 2 else state + action),
            "step under jax.jit: TracerBoolConversionError",
        ),
        (
            Counter(rule=lambda state, action, key: state.astype(jnp.float32)),
            r"step under jax.jit: state went in as int32\[\] and came back as float32\[\]",
        ),
        (Counter(rule=lambda state, action, key: (state, state)), "the state went in as .* and came back as"),
        (
            Counter(first=lambda key: jnp.asarray(1), rule=lambda state, action, key: jnp.int32(1)),
            "the step is compiled twice",
        ),
        (
            Counter(f=lambda state: state[None].astype(jnp.int8)),
            r"describe under jax.jit: it returns int8\[1\]; it must return int32\[1\]",
        ),
        (Counter(f=lambda state: state), r"describe under jax.jit: it returns int32\[\]; it must return int32\[1\]"),
        (Counter(f=lambda state: [state]), "describe under jax.jit: "),
        (
            Counter(over=lambda state: jnp.float32(0)),
            r"terminated under jax.jit: it returns float32\[\]; it must return bool\[\]",
        ),
        (Counter(over=lambda state: state == 2), "although can_terminate is false"),
        (Counter(rule=lambda state, action, key: state + action), r"step \d+: describe returned index 4"),
    ],
)
def test_what_jax_cannot_work_with_is_named(env: Counter, message: str):
    with pytest.raises(EnvironmentFaultError, match=f"^counter: .*{message}") as caught:
        check_environment(env, steps=30)
    assert "\n" not in str(caught.value)
