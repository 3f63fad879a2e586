"""`FailingWorld`: a small Markov decision process, and the reason why an agent fails in it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from attribute_planner.attributes import Attribute, Value
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, from_gymnasium
from attribute_planner.experiments.failing.case import FailingCase

State = tuple[int, ...]
Outcomes = Sequence[tuple[float, State]]

NUM_ACTIONS = 4
LEFT, RIGHT, USE, OTHER = range(NUM_ACTIONS)


def moved(x: int, action: int, last: int) -> int:
    """A place in a corridor from 0 to `last` after an action."""
    return min(max(x + (action == RIGHT) - (action == LEFT), 0), last)


@dataclass(frozen=True)
class FailingWorld:
    """A world, and why an agent fails in it.

    cause: the reason, in words.
    kinds: the kinds of findings that name it.
    mentions: what the message of such a finding must contain, any one of them.
    starts: states in which episodes begin, equally likely.
    outcomes: probabilities and states to which an action leads.
    observe, describe: what the agent observes by name, and the attributes.
    tasks: goals by name.
    terminal: states that end an episode.
    explore_steps, practise_steps: budget of training.
    num_labels: number of labelled states that a detector learns from; 0 if `describe` is given to the agent.
    train_steps: budget of `train`, in place of the above.
    """

    name: str
    cause: str
    kinds: tuple[str, ...]
    mentions: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    tasks: Mapping[str, Mapping[str, Value]]
    starts: tuple[State, ...]
    outcomes: Callable[[State, int], Outcomes]
    observe: Callable[[State], Mapping[str, float]]
    describe: Callable[[State], Mapping[str, Value]]
    terminal: Callable[[State], bool] = field(default=lambda state: False)
    episode_steps: int = 60
    max_attempt_steps: int = 20
    explore_steps: int = 6_000
    practise_steps: int = 12_000
    num_labels: int = 0
    train_steps: int = 15_000

    @cached_property
    def states(self) -> list[State]:
        """All states that can occur."""
        found, pending = dict.fromkeys(self.starts), list(self.starts)
        while pending:
            state = pending.pop()
            for action in range(NUM_ACTIONS):
                for _, after in self.outcomes(state, action):
                    if after not in found:
                        found[after] = None
                        pending.append(after)
        return list(found)

    @cached_property
    def environment(self) -> GymnasiumEnvironment:
        """The world as a user would give it."""
        given: dict[str, Any] = {"describe": lambda observation, info, env: self.describe(env.unwrapped.state)}
        if self.num_labels:
            random = np.random.default_rng(0)
            labelled = [self.states[i] for i in random.integers(len(self.states), size=self.num_labels)]
            given = {"labelled": ([observation_of(self, s) for s in labelled], [self.describe(s) for s in labelled])}
        return from_gymnasium(
            lambda: WorldEnv(self),
            attributes=self.attributes,
            tasks=self.tasks,
            episode_steps=self.episode_steps,
            name=self.name,
            **given,
        )

    @property
    def case(self) -> FailingCase:
        """The world and its cause, for training as a user would."""
        limit = self.max_attempt_steps
        return FailingCase(self.name, self.cause, self.kinds, self.mentions, self.environment, self.train_steps, limit)


def observation_of(world: FailingWorld, state: State) -> dict[str, np.ndarray]:
    """What the agent observes in a state."""
    return {name: np.array([value], np.float32) for name, value in world.observe(state).items()}


class WorldEnv(gymnasium.Env):
    """A failing world with the Gymnasium API."""

    def __init__(self, world: FailingWorld) -> None:
        self.world, self.state = world, world.starts[0]
        names = world.observe(self.state)
        self.observation_space = spaces.Dict({name: spaces.Box(-np.inf, np.inf, (1,)) for name in names})
        self.action_space = spaces.Discrete(NUM_ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state = self.world.starts[int(self.np_random.integers(len(self.world.starts)))]
        return observation_of(self.world, self.state), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        outcomes = self.world.outcomes(self.state, int(action))
        chance = np.cumsum([probability for probability, _ in outcomes])
        number = int(np.searchsorted(chance, self.np_random.random() * chance[-1]))
        self.state = outcomes[min(number, len(outcomes) - 1)][1]
        return observation_of(self.world, self.state), 0.0, self.world.terminal(self.state), False, {}
