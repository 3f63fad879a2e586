"""Five environments with goals, labels or limits that do not suffice, written after the findings.

Each is written as a user would: a Gymnasium environment, attributes and `describe`.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute
from attribute_planner.environments.gymnasium_bridge import from_gymnasium
from attribute_planner.experiments.failing.case import FailingCase


class Jugs(gymnasium.Env):
    """Two jugs of four and six litres, a tap and a sink: amounts are always even."""

    observation_space = spaces.MultiDiscrete([5, 7])
    action_space = spaces.Discrete(6)  # fill, empty or pour, of the small or the large jug

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.litres = np.zeros(2, int)
        return self.litres.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        kind, jug = divmod(int(action), 2)
        other = 1 - jug
        poured = min(int(self.litres[jug]), int((4, 6)[other] - self.litres[other]))
        self.litres[jug] = ((4, 6)[jug], 0, self.litres[jug] - poured)[kind]
        self.litres[other] += poured * (kind == 2)
        return self.litres.copy(), 0.0, False, False, {}


class Lamps(gymnasium.Env):
    """Five lamps in a row. Each of four buttons switches two neighbours: the number of lit lamps stays even."""

    observation_space = spaces.MultiBinary(5)
    action_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.lit = np.zeros(5, np.int8)
        return self.lit.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.lit[[action, action + 1]] ^= 1
        return self.lit.copy(), 0.0, False, False, {}


class Dials(gymnasium.Env):
    """Four dials of six positions; an action turns one of them."""

    observation_space = spaces.MultiDiscrete([6] * 4)
    action_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.dials = np.zeros(4, int)
        return self.dials.copy(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.dials[action] = (self.dials[action] + 1) % 6
        return self.dials.copy(), 0.0, False, False, {}


class Ferry(gymnasium.Env):
    """A ferry that begins in the first of six harbours, each five steps from the last."""

    observation_space = spaces.Box(0.0, 1.0, (1,))
    action_space = spaces.Discrete(3)  # back, wait, on

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.way = 0
        return np.array([0.0], np.float32), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.way = int(np.clip(self.way + (-1, 0, 1)[action], 0, 25))
        return np.array([self.way / 25], np.float32), 0.0, False, False, {}


class Aquarium(gymnasium.Env):
    """A fish in a ring of 40 places; each looks like nothing else."""

    observation_space = spaces.Box(-np.inf, np.inf, (12,))
    action_space = spaces.Discrete(2)
    looks = np.random.default_rng(3).normal(size=(40, 12)).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(40))
        return self.looks[self.place], {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place = (self.place + (-1, 1)[action]) % 40
        return self.looks[self.place], 0.0, False, False, {}


def odd_litres() -> FailingCase:
    """An amount that is declared and cannot be measured."""
    env = from_gymnasium(
        Jugs,
        attributes=[Attribute("small", range(5)), Attribute("large", range(7))],
        describe=lambda observation, info, env: {"small": int(observation[0]), "large": int(observation[1])},
        tasks={"three": {"large": 3}},
        episode_steps=40,
    )
    return FailingCase(
        "odd-litres", "three litres cannot be measured with four and six", ("unseen-value",), ("large=3",), env, 4_000
    )


def odd_lamps() -> FailingCase:
    """All lamps lit: each of them can be, but never all of five."""
    names = [f"lamp_{number}" for number in range(5)]
    env = from_gymnasium(
        Lamps,
        attributes=[Attribute(name) for name in names],
        describe=lambda observation, info, env: dict(zip(names, observation.astype(bool), strict=True)),
        tasks={"all": dict.fromkeys(names, True)},
        episode_steps=40,
    )
    return FailingCase("odd-lamps", "five lamps are never all lit", ("no-way",), ("impossible",), env, 4_000)


def short_training() -> FailingCase:
    """1,296 sets and six hundred steps."""
    names = [f"dial_{number}" for number in range(4)]
    env = from_gymnasium(
        Dials,
        attributes=[Attribute(name, range(6)) for name in names],
        describe=lambda observation, info, env: dict(zip(names, observation.tolist(), strict=True)),
        tasks={"code": dict(zip(names, (3, 5, 1, 4), strict=True))},
        episode_steps=60,
    )
    return FailingCase(
        "short-training", "600 steps are too few for 1,296 sets", ("no-way", "weak-edge"), ("more steps",), env, 600
    )


def short_limit() -> FailingCase:
    """The environment's own limit ends each episode before the last harbour."""
    env = from_gymnasium(
        lambda: gymnasium.wrappers.TimeLimit(Ferry(), 20),
        attributes=[Attribute("harbour", range(6))],
        describe=lambda observation, info, env: {"harbour": round(float(observation[0]) * 25) // 5},
        tasks={"last": {"harbour": 5}},
    )
    return FailingCase(
        "short-limit",
        "an episode of 20 steps is too short for the way of 25",
        ("no-way", "unseen-value"),
        ("episodes more steps",),
        env,
        4_000,
    )


def few_examples() -> FailingCase:
    """Fifteen labels of forty places."""
    region = ("reef", "sand", "weeds", "cave")
    random = np.random.default_rng(5)
    labelled = random.integers(40, size=15)
    env = from_gymnasium(
        Aquarium,
        attributes=[Attribute("region", region)],
        labelled=(list(Aquarium.looks[labelled]), [{"region": region[place // 10]} for place in labelled]),
        tasks={"cave": {"region": "cave"}},
        episode_steps=60,
    )
    return FailingCase("few-examples", "15 labels are too few", ("detector",), ("labels",), env, 4_000)
