"""`FailingCase`: an environment in which an agent fails, the reason, and the training that a user would give it."""

from dataclasses import dataclass, replace

from attribute_planner.agent import Agent
from attribute_planner.configuration import config_for
from attribute_planner.environments.interface import Environment
from attribute_planner.training import train


@dataclass(frozen=True)
class FailingCase:
    """An environment, and why an agent fails in it.

    cause: the reason, in words.
    kinds: the kinds of findings that name it.
    mentions: what the message of such a finding must contain, any one of them.
    steps: steps of training.
    max_attempt_steps: t_max, if the user sets it.
    """

    name: str
    cause: str
    kinds: tuple[str, ...]
    mentions: tuple[str, ...]
    environment: Environment
    steps: int
    max_attempt_steps: int | None = None

    def is_named_by(self, kind: str, message: str) -> bool:
        """Whether a finding names the cause."""
        return kind in self.kinds and any(word in message for word in self.mentions)

    def train(self, steps: int | None = None, seed: int = 0) -> Agent:
        """An agent that was trained as a user would."""
        config = config_for(self.environment)
        if self.max_attempt_steps is not None:
            limit = {"max_attempt_steps": self.max_attempt_steps}
            config = replace(
                config, explore=replace(config.explore, **limit), practise=replace(config.practise, **limit)
            )
        return train(self.environment, seed=seed, steps=steps or self.steps, config=config)
