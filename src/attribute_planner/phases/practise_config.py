"""The settings of phase 3, practise."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from attribute_planner.errors import unknown_name
from attribute_planner.learning.dqn import DQNConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.reachers import REACHERS, Reacher
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.phases.attempt_batch import HINDSIGHT, STEP_REWARD
from attribute_planner.phases.goal_sampling import (
    GOAL_SAMPLING,
)
from attribute_planner.ranges import COUNT, COUNT_OR_ZERO, EXPONENT, FRACTION, NUM_ENVS, REWARD, WIDTH, check_settings


@dataclass(frozen=True)
class PractiseConfig:
    """How the agent learns to move between neighbouring attribute sets."""

    steps: int = 10_000_000
    """Environment steps in all environments together: N₂ of Algorithm 1. May be 0 for `inverse`."""
    method: str = "ppo"
    """How π learns: `ppo` or `reinforce`, from the rewards of attempts; `dqn` (discrete actions) or `sac` (actions in a
    box), from a replay buffer with goals in hindsight; or `inverse`, from the steps that exploration recorded, if every
    transition takes a single step. Practice then only measures the success of π. So it does with `given`, an external
    policy."""
    max_attempt_steps: int = 80
    """The number of steps after which an attempt fails: t_max."""
    stop_on_any_change: bool = True
    """Whether an attempt ends with any change of the attributes, as in the paper's Algorithm 1, or only at its target
    or after t_max steps, as in the paper's text."""
    step_reward: float = STEP_REWARD
    """Reward of every step; reaching the target adds 1. The paper has −0.1. If any change ends an attempt, changing a
    nearby attribute then has a higher return than taking ten steps to the target."""
    hindsight: float = HINDSIGHT
    """Fraction of the attempts that ended in another set and are used as examples of reaching it; 0 in the paper."""
    goal_sampling: str = "neighbours"
    """How targets are drawn: `neighbours` of the current set by visit counts, as in the paper; or `planned`, the next
    set on a plan to a random distant set."""
    visit_exponent: float = 1.0
    """Neighbours are drawn by their visit counts to this power: 1 as in the paper; less favours rare ones."""
    decay: float = 0.9
    """γ: the weight of the statistics of an epoch one epoch later; 1 for plain ratios."""
    num_envs: int = 256
    """Number of parallel environments."""
    rollout_length: int = 40
    """Steps of each environment between two updates of the policy."""
    rollouts_per_epoch: int = 25
    """Updates in an epoch; an epoch begins with fresh episodes."""
    overlap: bool = False
    """Whether `dqn` and `sac` learn from a rollout while the next one runs. Each rollout then acts with the policy from
    before the last update. This is faster if the environment runs in worker processes. The result is another one, but
    still does not depend on their number."""
    hidden_size: int = 100
    """Units in each hidden layer."""
    deterministic: bool = False
    """Whether π always takes its most probable action, in practice and in execution; otherwise it samples."""
    ppo: PPOConfig = field(default_factory=PPOConfig)
    """Settings of `ppo`."""
    reinforce: ReinforceConfig = field(default_factory=ReinforceConfig)
    """Settings of `reinforce`."""
    inverse: InverseConfig = field(default_factory=InverseConfig)
    """Settings of `inverse`."""
    dqn: DQNConfig = field(default_factory=DQNConfig)
    """Settings of `dqn`."""
    sac: DQNConfig = field(default_factory=lambda: DQNConfig(batch_size=64))
    """Settings of `sac`."""
    given: ClassVar[None] = None
    """There are no settings of `given`."""

    def __post_init__(self) -> None:
        if self.method not in REACHERS:
            raise unknown_name("learning method", self.method, REACHERS)
        if self.goal_sampling not in GOAL_SAMPLING:
            raise unknown_name("goal sampling", self.goal_sampling, GOAL_SAMPLING)
        check_settings(
            self,
            steps=COUNT_OR_ZERO if self.method == "inverse" else COUNT,
            max_attempt_steps=COUNT,
            step_reward=REWARD,
            hindsight=FRACTION,
            visit_exponent=EXPONENT,
            decay=FRACTION,
            num_envs=NUM_ENVS,
            rollout_length=COUNT,
            rollouts_per_epoch=COUNT,
            hidden_size=WIDTH,
        )
        if self.method == "ppo":
            self.ppo.check_batch(self.num_envs * self.rollout_length)

    @property
    def value_discount(self) -> float:
        """Discount factor of policies that estimate the probability of arriving: t_max is their horizon."""
        return 1 - 1 / self.max_attempt_steps

    @property
    def remembered_steps(self) -> float:
        """Steps of each environment that the decaying statistics stand for: those of 1 / (1 − γ) epochs."""
        steps = self.rollouts_per_epoch * self.rollout_length
        return steps / (1 - self.decay) if self.decay < 1 else math.inf

    @property
    def reacher(self) -> Reacher:
        """How π learns, with its settings."""
        return REACHERS[self.method](self.method, getattr(self, self.method))
