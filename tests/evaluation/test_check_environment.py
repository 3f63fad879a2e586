import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.attributes import Attribute, AttributeSpace, Goal
from attribute_planner.data.random_actions import any_action
from attribute_planner.environments.interface import HostEnvironment
from attribute_planner.environments.spaces import (
    Action,
    Box,
    Discrete,
    ImageSpec,
    Mixed,
    VectorSpec,
    WordsSpec,
)
from attribute_planner.environments.tasks import Task, complete_goal
from attribute_planner.environments.vector_env import TimeStep, VectorEnv
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError
from attribute_planner.evaluation.check_environment import check_environment
from tests.probes import RING

FLIP = 1
TWO_NUMBERS = VectorSpec(2)
FLIP_OR_NOT = Discrete(("nothing", "flip"))
LIT_AND_BROKEN = AttributeSpace((Attribute("lit"), Attribute("broken")))


def other_value(state: None, values: jax.Array, key: jax.Array) -> Goal:
    del state, key
    return complete_goal(1 - values)


@dataclass(frozen=True)
class Lamps(HostEnvironment):
    """Two lamps of which only the first has a switch. `spoil` tampers with what is seen after `spoiled_step` steps."""

    name = "lamps"

    spoil: Callable[[TimeStep], TimeStep] = lambda timestep: timestep
    spoiled_step: int = 0
    goal: Callable[[Any, jax.Array, jax.Array], Any] = other_value
    picture: np.ndarray | None = None
    seen: VectorSpec | WordsSpec | ImageSpec = TWO_NUMBERS
    leaky_reset: bool = False
    cut_off: bool = True
    episode_steps: int = 10
    has_f: bool = True
    units: int | None = None
    space: Discrete | Box | Mixed = FLIP_OR_NOT

    @property
    def attributes(self) -> AttributeSpace:
        return LIT_AND_BROKEN

    @property
    def actions(self) -> Discrete | Box | Mixed:
        return self.space

    @property
    def has_attribute_fn(self) -> bool:
        return self.has_f

    @property
    def num_units(self) -> int | None:
        return self.units

    @property
    def observation(self) -> VectorSpec | WordsSpec | ImageSpec:
        return self.seen

    @property
    def tasks(self) -> Mapping[str, Task]:
        return {"other": Task("other", "", self.goal, 10)}

    def vector_env(self, num_envs: int) -> VectorEnv:
        return LampVectorEnv(self, num_envs)


class LampVectorEnv(VectorEnv):
    def __init__(self, env: Lamps, num_envs: int) -> None:
        self.env, self.num_envs, self.steps = env, num_envs, 0
        self.values, self.ages = np.zeros((num_envs, 2), np.int32), np.zeros(num_envs, int)

    def reset(self, key: jax.Array, task: Task | None = None) -> TimeStep:
        return self.reset_where(np.ones(self.num_envs, bool), key)

    def reset_where(self, which: np.ndarray, key: jax.Array, task: Task | None = None) -> TimeStep:
        self.values[which], self.ages[which] = 0, 0
        if self.env.leaky_reset and not which.all():
            self.values[:, 0] = 1
        return self._timestep()

    def step(self, action: Action, key: jax.Array) -> TimeStep:
        self.steps += 1
        self.ages += 1
        self.values[:, 0] ^= np.asarray(action) == FLIP
        timestep = self._timestep()
        return self.env.spoil(timestep) if self.steps == self.env.spoiled_step else timestep

    def sample_goals(self, task: Task, key: jax.Array) -> Goal:
        draw = jax.vmap(lambda values, key: task.goal(None, values, key))
        return draw(jnp.asarray(self.values), jax.random.split(key, self.num_envs))

    def render(self, index: int) -> np.ndarray:
        if self.env.picture is None:
            raise NotImplementedError
        return self.env.picture

    def _timestep(self) -> TimeStep:
        truncated = (self.ages >= self.env.episode_steps) & self.env.cut_off
        return TimeStep(self.values.astype(np.float32), self.values.copy(), np.zeros(self.num_envs, bool), truncated)


def spoiling(**changes: Callable[[np.ndarray], np.ndarray | None]) -> Callable[[TimeStep], TimeStep]:
    """Changes fields of a time step: `spoiling(attributes=lambda values: values + 1)`."""
    return lambda timestep: replace(
        timestep, **{name: change(getattr(timestep, name)) for name, change in changes.items()}
    )


def raising(error: Exception) -> Callable[[TimeStep], TimeStep]:
    def spoil(timestep: TimeStep) -> TimeStep:
        raise error

    return spoil


def test_a_healthy_environment_is_reported_with_what_was_seen():
    report = check_environment(Lamps(picture=np.zeros((4, 6, 3), np.uint8)), steps=25)
    assert (report.steps, report.episodes, report.attribute_sets, report.transitions) == (800, 64, 2, 2)
    assert report.step_limit == "10 steps, as the environment says"
    assert str(report).splitlines() == [
        "lamps: no fault in 800 random steps of 8 environments; 64 episodes ended, 0 of them terminated",
        "  observed: 2 attribute sets, 2 transitions between them",
        "  time limit: 10 steps, as the environment says",
        "  observation: 2 numbers, unchanged",
        "  tasks: other",
        "  rendered images: 4 × 6 pixels",
        "  warning: not seen in 800 random steps: broken=true. That is usual for what takes skill; leave out only what "
        "cannot occur.",
        "  warning: task 'other': asks for broken=true, not seen in 800 random steps.",
    ]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoiling(observation=lambda seen: seen * np.float32("nan")), "the observation contains NaN"),
        (spoiling(observation=lambda seen: seen + np.float32("inf")), "the observation contains an infinite number"),
        (spoiling(observation=lambda seen: seen[:, :1]), r"the observation has shape \(8, 1\); it must have \(8, 2\)"),
        (
            spoiling(observation=lambda seen: seen.astype(float)),
            "the observation has type float64; it must have float32",
        ),
        (spoiling(attributes=lambda values: values + 2), "index [23] for attribute '(lit|broken)', which has 2 values"),
        (
            spoiling(attributes=lambda values: values.astype(float)),
            "the attribute values are float64; they must be integers",
        ),
        (
            spoiling(attributes=lambda values: values[0]),
            r"the attribute values have shape \(2,\); they must have \(8, 2\)",
        ),
        (spoiling(attributes=lambda values: None), "there are no attribute values"),
        (spoiling(terminated=lambda over: over.astype(int)), "terminated has type int64; it must have bool"),
        (spoiling(truncated=lambda over: over[:2]), r"truncated has shape \(2,\); it must have \(8,\)"),
        (raising(ZeroDivisionError("of no use\nat all")), "ZeroDivisionError: of no use$"),
        (raising(EnvironmentFaultError("the engine is out of fuel.")), "the engine is out of fuel.$"),
    ],
)
def test_a_fault_is_one_line_that_says_what_and_when(spoil: Callable[[TimeStep], TimeStep], message: str):
    with pytest.raises(EnvironmentFaultError, match=f"^lamps: step 7: .*{message}") as caught:
        check_environment(Lamps(spoil, spoiled_step=7), steps=10)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_environment_and_the_operation_once():
    def describe(observation: Any, info: dict, env: Any) -> dict[str, Any]:
        return {"lit": 1 // int(not env.unwrapped.age)}

    env = ap.from_gymnasium(Colours, attributes=[ap.Attribute("lit")], describe=describe)
    with pytest.raises(EnvironmentFaultError) as caught:
        check_environment(env, steps=3)
    words = r"Colours: environment 0, episode 1, step 1, seed \d+: describe: ZeroDivisionError: integer division"
    assert re.match(words, str(caught.value))


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (Lamps(episode_steps=0), "episode_steps is 0"),
        (Lamps(cut_off=False), "step 10: an episode was not truncated after episode_steps = 10"),
        (Lamps(leaky_reset=True), "reset of some environments .*: an environment that was not reset has changed"),
        (Lamps(seen=ImageSpec(4, 4)), r"reset: the observation has shape \(8, 2\); it must have \(8, 4, 4, 3\)"),
        (Lamps(units=3), "its observation must be a UnitObservation"),
        (Lamps(picture=np.zeros((4, 6), np.uint8)), r"render: the image is uint8\[4, 6\]; it must be uint8\[H, W, 3\]"),
        (
            Lamps(goal=lambda state, values, key: complete_goal(values)),
            "goal of task 'other': the task only has goals that are satisfied at the start.$",
        ),
        (
            Lamps(goal=lambda state, values, key: complete_goal(values + 2)),
            "goal of task 'other': .*index 2 for attribute 'lit'",
        ),
        (Lamps(goal=lambda state, values, key: Goal(values, values > 5)), "a goal is empty"),
        (Lamps(goal=lambda state, values, key: Goal(values, values)), "goal.wanted has type int32; it must have bool"),
        (
            Lamps(goal=lambda state, values, key: Goal(1 - values, values < 2, values < 2)),
            "lower bound on an attribute that is not an integer",
        ),
        (Lamps(goal=lambda state, values, key: 1 // 0), "goal of task 'other': ZeroDivisionError: "),
    ],
)
def test_other_faults_are_found_too(env: Lamps, message: str):
    with pytest.raises(EnvironmentFaultError, match=f"^lamps: .*{message}"):
        check_environment(env, steps=12)


def test_words_outside_the_vocabulary_are_a_fault():
    def words(number: int) -> Callable[[TimeStep], TimeStep]:
        return spoiling(observation=lambda seen: np.full(seen.shape, number, np.int16))

    env = Lamps(words(5), spoiled_step=1, seen=WordsSpec(2, 5, (0, 1)))
    with pytest.raises(EnvironmentFaultError, match="the observation has type float32; it must have int16"):
        check_environment(env, steps=1)


def test_goals_that_are_sometimes_satisfied_are_a_warning():
    def sometimes(state: None, values: jax.Array, key: jax.Array) -> Goal:
        return complete_goal(jnp.where(jax.random.bernoulli(key), values, 1 - values))

    warnings = check_environment(Lamps(goal=sometimes), steps=5).warnings
    assert any(
        "of 32 sampled goals are satisfied at the start; evaluation draws another goal then" in each
        for each in warnings
    )


def test_no_change_in_random_steps_is_a_warning():
    warnings = check_environment(Lamps(space=Discrete(("wait",))), steps=2).warnings
    assert warnings[1].startswith("no attribute changed in 64 random steps: exploration may find no transition.")


@dataclass
class Colours(gymnasium.Env):
    """A lamp that a switch turns on and off, a colour that is never blue, and noise. It cannot be hashed."""

    observation_space = gymnasium.spaces.MultiDiscrete([2, 3])
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.lit, self.colour, self.drawn, self.age = 0, 0, 0, 0
        return self.seen(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.lit, self.colour, self.age = (self.lit + int(action)) % 2, int(action), self.age + 1
        self.drawn = int(self.np_random.integers(2))
        return self.seen(), 0.0, False, False, {}

    def seen(self) -> np.ndarray:
        return np.array([self.lit, self.colour])


UNSEEDED = np.random.default_rng(0)


def colours(noise: Callable[[Colours], int] = lambda env: env.lit, **options: Any) -> Any:
    def describe(observation: Any, info: dict, env: Any) -> dict[str, Any]:
        del info
        return {"lit": bool(observation[0]), "colour": int(observation[1]), "noise": noise(env.unwrapped)}

    attributes = [ap.Attribute("lit"), ap.Attribute("colour", ("red", "green", "blue")), ap.Attribute("noise")]
    return ap.from_gymnasium(Colours, attributes=attributes, describe=describe, **options)


def test_declared_values_that_never_occur_and_tasks_that_ask_for_them_are_warned_of():
    tasks = {"turn-blue": {"colour": "blue"}, "turn-green": {"colour": "green"}}
    env = colours(tasks=tasks, episode_steps=10)
    assert check_environment(env, steps=20).warnings == (
        "not seen in 640 random steps: colour=blue. That is usual for what takes skill; leave out only what cannot "
        "occur.",
        "task 'turn-blue': asks for colour=blue, not seen in 640 random steps.",
    )


def test_all_unseen_values_are_one_warning():
    def describe(observation: Any, info: dict, env: Any) -> dict[str, Any]:
        return {"lit": observation[0], "size": 0.0, "way": "a b", "a": 0, "done": False}

    attributes = [
        ap.Attribute("lit"),
        ap.Attribute("size", range(9)),
        ap.Attribute("way", ("a b", "c d", "e")),
        ap.Attribute("a"),
        ap.Attribute("done"),
    ]
    env = ap.from_gymnasium(Colours, attributes=attributes, describe=describe, tasks={"t": {"lit": True}})
    assert [each for each in check_environment(env, steps=5).warnings if "not seen" in each] == [
        'not seen in 160 random steps: size=1, 2, 3, 4, 5, 6 and 2 more; way="c d" and e; a=true; done=true. That is '
        "usual for what takes skill; leave out only what cannot occur."
    ]


@dataclass
class Visits(Colours):
    """A lamp, and a place to visit that differs between episodes, which end when the lamp is lit at an even step."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        seen, info = super().reset(seed=seed)
        self.place = int(self.np_random.integers(3))
        return seen, info

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        seen, reward, _, truncated, info = super().step(action)
        return seen, reward, bool(self.lit and self.age % 2 == 0), truncated, info


def visits(**options: Any) -> Any:
    return ap.from_gymnasium(
        Visits,
        attributes=[ap.Attribute("lit"), ap.Attribute("place", range(3))],
        describe=lambda observation, info, env: {"lit": observation[0], "place": env.unwrapped.place},
        tasks={"light": {"lit": True}},
        **options,
    )


def test_an_attribute_that_is_fixed_in_each_episode_is_no_warning():
    report = check_environment(visits(), steps=30)
    assert report.fixed == ("place",) and report.warnings == ()
    assert "  fixed in each episode: place" in str(report).splitlines()


def test_episodes_that_terminate_are_told_from_those_that_reach_the_time_limit():
    report = check_environment(visits(episode_steps=2), steps=30)
    assert 0 < report.terminated < report.episodes
    assert f"{report.episodes} episodes ended, {report.terminated} of them terminated" in str(report)


def test_a_check_without_the_end_of_an_episode_is_a_warning():
    report = check_environment(Lamps(episode_steps=50), steps=20)
    assert "; no episode ended" in str(report).splitlines()[0]
    assert report.warnings[0].startswith("no episode ended: ends of episodes, and the resets after them, were not")
    assert not any("no episode ended" in each for each in check_environment(Lamps(), steps=20).warnings)


def test_the_time_limit_of_a_pure_environment_ends_episodes():
    report = check_environment(RING, steps=RING.episode_steps + 1)
    assert report.episodes >= 8 and report.terminated == 0


def test_an_agent_that_was_looked_for_and_not_found_is_reported():
    class Grid(Colours):
        observation_space = gymnasium.spaces.MultiDiscrete(np.full((4, 5), 3))

        def seen(self) -> np.ndarray:
            return np.full((4, 5), self.colour)

    def describe(observation: Any, info: dict, env: Any) -> dict[str, Any]:
        return {"lit": env.unwrapped.lit}

    def lines(**options: Any) -> tuple[str, ...]:
        env = ap.from_gymnasium(Grid, attributes=[ap.Attribute("lit")], describe=describe, **options)
        return check_environment(env, steps=5).observation

    assert lines() == ("4 × 5 choices of up to 3, one-hot; no agent found in it",)
    assert lines(encode_observation=np.asarray) == ("4 × 5 integers, 0 to 1 seen; one-hot",)


def test_every_step_of_the_check_counts():
    """A value that occurs only after the first 160 steps, while episodes are repeated, has been seen."""
    taken = [0]

    def late(env: Colours) -> bool:
        taken[0] += env.age > 0
        return taken[0] > 160 and bool(env.lit)

    report = check_environment(colours(late, tasks={"late": {"noise": True}}), steps=20)
    assert report.steps == taken[0] == 640
    assert not any("noise=true" in each for each in report.warnings)


@pytest.mark.parametrize(("scale", "warned"), [(1.0, False), (1.5, True)])
def test_observations_outside_their_space_are_warned_of(scale: float, warned: bool):
    class Scaled(Colours):
        observation_space = gymnasium.spaces.Box(0.0, 1.0, (2,), np.float32)

        def seen(self) -> np.ndarray:
            return np.array([self.lit, self.colour], np.float32) * np.float32(scale)

    env = ap.from_gymnasium(
        Scaled, attributes=[ap.Attribute("lit")], describe=lambda seen, info, env: {"lit": seen[0] > 0.5}
    )
    warnings = check_environment(env, steps=5).warnings
    assert ("the observation had values from 0 to 1.5; its space says 0 to 1." in warnings) == warned


def test_some_of_the_goals_of_a_task_ask_for_unseen_values():
    warnings = check_environment(colours(), steps=20).warnings
    assert any("of 32 goals ask for colour=blue, not seen in 640 random steps" in each for each in warnings)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (lambda env: env.drawn, "attribute 'noise' changes in the same way whatever the actions are"),
        (lambda env: env.age // 3 % 2, "attribute 'noise' changes in the same way whatever the actions are"),
        (lambda env: UNSEEDED.integers(2), "the same seed and the same actions give other values of 'noise': either"),
    ],
)
def test_an_attribute_that_is_noise_or_a_clock_is_warned_of(noise: Callable[[Colours], int], message: str):
    warnings = [each for each in check_environment(colours(noise), steps=20).warnings if "noise" in each]
    assert len(warnings) == 1 and warnings[0].startswith(message)


@dataclass
class Limited(Colours):
    """An environment that tells its own limit as MiniGrid does."""

    max_steps: int = 576


@pytest.mark.parametrize(
    ("make", "given", "limit", "source"),
    [
        (Colours, None, 200, "the default, because the environment tells no limit; set it with episode_steps=…"),
        (Colours, 40, 40, "as given by episode_steps"),
        (Limited, None, 576, "the environment's own limit (max_steps)"),
        (Limited, 30, 30, "as given by episode_steps; the environment's own limit is 576"),
        (Limited, 999, 576, "the environment's own limit (max_steps); episode_steps=999 cannot extend it"),
        (
            lambda: gymnasium.wrappers.TimeLimit(Limited(), 40),
            None,
            40,
            "the environment's own limit (its wrapper TimeLimit)",
        ),
    ],
)
def test_the_report_says_which_step_limit_applies_and_why(make: Any, given: int | None, limit: int, source: str):
    env = ap.from_gymnasium(
        make,
        attributes=[ap.Attribute("lit")],
        describe=lambda observation, info, env: {"lit": observation[0]},
        episode_steps=given,
    )
    assert (env.episode_steps, env.step_limit_source) == (limit, source)
    assert env.task(None).max_steps == limit


class MostlyLit(Colours):
    """Nineteen of twenty starts are lit."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.lit = int(self.np_random.integers(20) > 0)
        return self.seen(), {}


def test_a_task_that_most_starts_satisfy_is_a_warning_and_not_a_fault():
    env = ap.from_gymnasium(
        MostlyLit,
        attributes=[ap.Attribute("lit")],
        describe=lambda observation, info, env: {"lit": observation[0]},
        tasks={"light": {"lit": True}},
    )
    warnings = check_environment(env, steps=5).warnings
    assert any("sampled goals are satisfied at the start" in each for each in warnings)


def test_an_environment_without_f_is_checked_for_the_rest():
    env = Lamps(spoiling(attributes=lambda values: None), spoiled_step=1, has_f=False)
    report = check_environment(env, steps=3)
    assert (report.attribute_sets, report.transitions) == (None, None)


def test_environments_are_closed_even_after_a_fault(monkeypatch: pytest.MonkeyPatch):
    closed = []
    monkeypatch.setattr(LampVectorEnv, "close", lambda envs: closed.append(envs))
    with pytest.raises(EnvironmentFaultError):
        check_environment(Lamps(raising(OSError("gone")), spoiled_step=1), steps=1)
    assert len(closed) == 1


@pytest.mark.parametrize("steps", [0, -1])
def test_a_check_needs_steps(steps: int):
    with pytest.raises(ConfigurationError, match=f"^steps must be greater than zero; it is {steps}.$"):
        check_environment(Lamps(), steps=steps)


@pytest.mark.parametrize(
    ("actions", "units", "shapes"),
    [
        (Discrete(("a", "b")), None, [(5,)]),
        (Discrete(("a", "b")), 3, [(5, 3)]),
        (Box((0.0, -1.0), (1.0, 1.0)), None, [(5, 2)]),
        (Mixed(Discrete(("a", "b")), Box((0.0,), (1.0,))), 3, [(5, 3), (5, 3, 1)]),
    ],
)
def test_random_actions_have_the_shape_of_the_space(actions, units, shapes):
    action = any_action(Lamps(space=actions, units=units), 5, key=jax.random.key(0))
    assert [leaf.shape for leaf in jax.tree.leaves(action)] == shapes
    assert all(leaf.dtype in (np.int32, np.float32) for leaf in jax.tree.leaves(action))
