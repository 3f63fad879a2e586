"""All settings of a training run in one place. The defaults suit small worlds; built-in environments have their own."""

from dataclasses import dataclass, field, replace

from attribute_planner.errors import ConfigurationError, unknown_name
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import BONUSES, ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.practise import GOAL_SAMPLING, LEARNERS, PractiseConfig
from attribute_planner.transitions.table import ESTIMATORS


@dataclass(frozen=True)
class TrainConfig:
    """Settings of the three phases, and of the table that comes out."""

    detect: DetectConfig = field(default_factory=DetectConfig)
    """Phase 1: the attribute detector."""
    explore: ExploreConfig = field(default_factory=ExploreConfig)
    """Phase 2: which transitions are possible."""
    practise: PractiseConfig = field(default_factory=PractiseConfig)
    """Phase 3: the policy and how well it does."""
    inverse: InverseConfig = field(default_factory=InverseConfig)
    """The policy as an inverse model, where a transition is a single step."""
    forward_model: ForwardModelConfig = field(default_factory=ForwardModelConfig)
    """The outlook, likewise."""
    estimator: str = "posterior"
    """How attempts and successes become c_π: `ratio` (the paper's), `posterior`, `alike` (edges that change the same
    help each other out), or `visits` (the paper's ablation)."""

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise unknown_name("estimator", self.estimator, ESTIMATORS)
        if self.explore.bonus not in BONUSES:
            raise unknown_name("bonus", self.explore.bonus, BONUSES)
        if self.explore.policy not in EXPLORERS:
            raise unknown_name("exploring policy", self.explore.policy, EXPLORERS)
        if self.practise.method not in LEARNERS:
            raise unknown_name("learning method", self.practise.method, LEARNERS)
        if self.practise.goal_sampling not in GOAL_SAMPLING:
            raise unknown_name("goal sampling", self.practise.goal_sampling, GOAL_SAMPLING)
        if self.forward_model.learn and self.practise.method != "inverse":
            raise ConfigurationError(
                "An outlook is learned from single steps: forward_model.learn needs practise.method=inverse."
            )
        for phase in (self.detect, self.forward_model):
            if phase.keypoints < 0:
                raise ConfigurationError(
                    f"{type(phase).__name__}.keypoints is a number of places, or 0 for none; it is {phase.keypoints}."
                )
        for phase in (self.explore, self.practise):
            for name in ("steps", "num_envs", "rollout_length", "rollouts_per_epoch", "hidden_size"):
                if not self._may_be_zero(phase, name):
                    require_positive(f"{type(phase).__name__}.{name}", getattr(phase, name))

    def _may_be_zero(self, phase: object, name: str) -> bool:
        """An inverse model with an outlook needs no practice: the table can be imagined."""
        return phase is self.practise and name == "steps" and self.practise.steps == 0 and self.forward_model.learn

    @property
    def adds_model_edges(self) -> bool:
        """Whether the table holds transitions that the outlook imagined, beside those that were seen."""
        return self.forward_model.learn and self.forward_model.model_edges

    @property
    def steps(self) -> int:
        """Environment steps of all phases together."""
        return self.explore.steps + self.practise.steps

    def with_steps(self, steps: int) -> "TrainConfig":
        """The same settings for another budget, split between exploring and practising in the same proportion.

        Of a smaller budget a fifth is explored with, if so much is called for: what was not found cannot be practised.
        """
        require_positive("steps", steps)
        share = self.explore.steps / self.steps
        exploring = max(int(steps * share), min(self.explore.steps, steps // SMALLEST_SHARE), 1)
        return replace(
            self,
            explore=replace(self.explore, steps=exploring),
            practise=replace(self.practise, steps=max(steps - exploring, 1)),
        )


SMALLEST_SHARE = 5
"""One step in so many is for exploring, unless exploration needs fewer."""

EXPLORERS = ("count-based", "graph", "random")


def require_positive(name: str, value: float) -> None:
    """An error unless a setting is greater than zero."""
    if value <= 0:
        raise ConfigurationError(f"{name} must be greater than zero; it is {value}.")


HOST = TrainConfig(
    explore=ExploreConfig(steps=100_000, policy="random", num_envs=16),
    practise=PractiseConfig(
        steps=400_000,
        num_envs=16,
        rollout_length=20,
        max_attempt_steps=40,
        visit_exponent=0.5,
        learning=ReinforceConfig(update_epochs=8, entropy_coef=0.02),
    ),
)
"""For environments of one's own, on the host: few copies, each step used well, rare transitions not neglected."""

MANY_WORDS = DetectConfig(num_labels=1_000_000, val_fraction=0.02, fit=FitConfig(updates=12_000))
"""For the grid worlds, if a detector is to be learned: many words are rare, those of far corners above all."""

STARCRAFT = TrainConfig(
    explore=ExploreConfig(steps=16_000_000, bonus="count", num_envs=2_048, rollouts_per_epoch=10),
    practise=PractiseConfig(
        steps=40_000_000,
        max_attempt_steps=50,
        goal_sampling="planned",
        num_envs=2_048,
        rollout_length=50,
        rollouts_per_epoch=10,
    ),
    estimator="alike",
)
"""The paper's bonus, t_max and steps of exploring, for a GPU; an epoch is one episode long. There are more edges than
can be tried often, and what was built cannot be undone: practice tries what plans will rely on, and for longer than the
paper's 14 M steps, after which plans of twenty transitions fail too often."""

IMAGES = FitConfig(updates=2_500, batch=1024, learning_rate=3e-3, weight_decay=1e-4)
"""However many examples there are. With a third of the step size, nearly twice as many updates are needed."""

TRADED_IMAGES = replace(IMAGES, updates=10_000, batch=256, max_grad_norm=1.0)
"""For a detector that has to learn each picture with all colours traded: as many pictures, in more updates."""

HARD_IMAGES = replace(IMAGES, updates=24_000, batch=256, max_grad_norm=1.0)
"""For blocks that lie anywhere: as many updates as time allows, each of fewer pictures."""
HARDER_IMAGES = replace(HARD_IMAGES, updates=48_000)
"""For a detector and an outlook, which have to be exact about where they lie."""
PICTURES_AND_DROPS = replace(HARDER_IMAGES, batch=512, learning_rate=1e-3)
"""For an outlook: products of what is seen and what is done make for large steps."""

BLOCKS = TrainConfig(
    detect=DetectConfig(learn=True, num_labels=1_000_000, val_fraction=0.02, fit=TRADED_IMAGES, hidden_size=128),
    explore=ExploreConfig(steps=1_000_000, policy="random", num_envs=4_096),
    practise=PractiseConfig(
        steps=2_000_000,
        method="inverse",
        max_attempt_steps=1,
        decay=1.0,
        num_envs=4_096,
        rollout_length=10,
        rollouts_per_epoch=10,
        hidden_size=128,
        deterministic=True,
    ),
    inverse=InverseConfig(fit=IMAGES),
    forward_model=ForwardModelConfig(learn=True, fit=IMAGES),
)
"""The paper's million single drops, and a detector from as many labels."""

BLOCKS_CONTINUOUS = replace(
    BLOCKS,
    detect=replace(
        BLOCKS.detect,
        num_labels=150_000,
        label_every=1,
        action_repeat=2.0,
        fit=HARDER_IMAGES,
        hidden_size=256,
        keypoints=64,
    ),
    explore=replace(BLOCKS.explore, steps=500_000, action_repeat=2.0),
    practise=replace(BLOCKS.practise, steps=20_000, num_envs=2_048),
    inverse=replace(BLOCKS.inverse, steps_per_episode=20, fit=HARD_IMAGES),
    forward_model=replace(BLOCKS.forward_model, fit=PICTURES_AND_DROPS, hidden_size=256, keypoints=64),
)
"""Physics is dear here: each state is labelled, and a scene is dropped into many times before it is cleared. Every
other drop is at about the place of the one before: that builds towers, which single random drops hardly ever do."""

PRESETS: dict[str, TrainConfig] = {
    "switches": TrainConfig(
        detect=MANY_WORDS, explore=ExploreConfig(steps=400_000), practise=PractiseConfig(steps=12_000_000)
    ),
    "crafting": TrainConfig(
        detect=MANY_WORDS, explore=ExploreConfig(steps=1_000_000), practise=PractiseConfig(steps=18_000_000)
    ),
    "blocks": BLOCKS,
    "blocks-continuous": BLOCKS_CONTINUOUS,
    "starcraft-small": STARCRAFT,
    "starcraft-large": STARCRAFT,
}
"""The settings of each built-in environment."""


def default_config(name: str) -> TrainConfig:
    """The settings for an environment of that name."""
    return PRESETS.get(name, HOST)


PUBLISHED_PRACTICE = {"starcraft-small": 14_000_000, "starcraft-large": 14_000_000}
"""Steps of practising in the paper, where it tells and ours differ."""

UNTRADED_FITS = {"blocks": IMAGES}
"""How detectors are fitted as published, where no colours are traded and ours need more updates because they are."""


def paper_config(name: str) -> TrainConfig:
    """The paper's algorithm as published: plain REINFORCE, its rewards, decayed ratios, nothing of ours.

    Optimiser, step size and discount are not in the paper; they stay ours.
    """
    config = default_config(name)
    plain = replace(config.practise.learning, update_epochs=1, num_minibatches=1, gae_lambda=1.0, anneal=False)
    return replace(
        config,
        explore=replace(config.explore, learning=plain, action_repeat=1.0),
        practise=replace(
            config.practise,
            steps=PUBLISHED_PRACTICE.get(name, config.practise.steps),
            learning=plain,
            stop_on_any_change=config.practise.method != "reinforce",
            step_reward=-0.1,
            hindsight=0.0,
            decay=0.9,
            goal_sampling="neighbours",
            time_cost=0.0,
        ),
        detect=replace(
            config.detect,
            fit=UNTRADED_FITS.get(name, config.detect.fit),
            symmetric=False,
            action_repeat=1.0,
            keypoints=0,
        ),
        inverse=replace(config.inverse, symmetric=False),
        forward_model=replace(config.forward_model, learn=False, novelty_fraction=0.0),
        estimator="ratio",
    )
