"""All settings of a training run. The defaults suit small environments; built-in environments have presets."""

from dataclasses import dataclass, field, replace

import jax

from attribute_planner.environments.interface import Environment, require_environment
from attribute_planner.environments.seen_from_agent import for_acting
from attribute_planner.environments.spaces import Box, Mixed
from attribute_planner.environments.spec import EnvironmentSpec
from attribute_planner.errors import ConfigurationError, unknown_name
from attribute_planner.learning.fitting import FitConfig
from attribute_planner.learning.inverse import InverseConfig
from attribute_planner.learning.ppo import PPOConfig
from attribute_planner.learning.reinforce import ReinforceConfig
from attribute_planner.models.encoders import work_of
from attribute_planner.phases.detect import DetectConfig
from attribute_planner.phases.explore import ExploreConfig
from attribute_planner.phases.forward_model import ForwardModelConfig
from attribute_planner.phases.practise_config import PractiseConfig
from attribute_planner.ranges import COUNT, check_settings
from attribute_planner.ranges import require_positive as require_positive
from attribute_planner.transitions.table import ESTIMATORS


@dataclass(frozen=True)
class TrainConfig:
    """Settings of the phases, and of the table."""

    detect: DetectConfig = field(default_factory=DetectConfig)
    """Phase 1: the attribute detector."""
    explore: ExploreConfig = field(default_factory=ExploreConfig)
    """Phase 2: which transitions are possible."""
    forward_model: ForwardModelConfig = field(default_factory=ForwardModelConfig)
    """The forward model, fitted to the steps of exploration."""
    practise: PractiseConfig = field(default_factory=PractiseConfig)
    """Phase 3: the policy, and how often its attempts succeed."""
    rounds: int = 1
    """Number of rounds, each of exploration and practice; 1 in the paper."""
    refine: bool = False
    """Whether to search for missing attributes after half of the rounds, and to add them as hidden attributes."""
    waypoints: bool = False
    """Whether to add hidden attributes on the way, in the first half of the rounds, where attempts seldom succeed."""
    estimator: str = "posterior"
    """Estimator of c_π from attempts and successes: `ratio` (the paper's), `posterior`, `alike` (edges with the same
    change share evidence), or `visits` (the paper's ablation)."""

    def __post_init__(self) -> None:
        if self.estimator not in ESTIMATORS:
            raise unknown_name("estimator", self.estimator, ESTIMATORS)
        check_settings(self, rounds=COUNT)
        if self.refine and (self.rounds < 2 or not self.practise.reacher.replays):
            raise ConfigurationError(
                "TrainConfig.refine needs recorded attempts, and practice afterwards: at least 2 rounds, and "
                f"dqn or sac as practise.method; they are {self.rounds} and {self.practise.method}."
            )
        if self.practise.reacher.replays and self.explore.num_envs != self.practise.num_envs:
            raise ConfigurationError(
                f"With practise.method={self.practise.method}, explore.num_envs and practise.num_envs must be equal: "
                f"they fill one replay buffer. They are {self.explore.num_envs} and {self.practise.num_envs}."
            )

    @property
    def records_steps(self) -> bool:
        """Whether exploration keeps its steps, because something is fitted to them."""
        return self.forward_model.learn or self.practise.reacher.fits

    @property
    def adds_model_edges(self) -> bool:
        """Whether the table holds predicted transitions in addition to observed ones."""
        return self.forward_model.learn and self.forward_model.model_edges

    @property
    def steps(self) -> int:
        """Environment steps of all phases together."""
        return self.explore.steps + self.practise.steps

    def with_steps(self, steps: int) -> "TrainConfig":
        """The same settings for another budget, split between exploring and practising in the same proportion.

        Exploration gets at least a fifth of a smaller budget, if it has as much now: what is not found cannot be
        practised. Where there is no practice, exploration gets everything. A smaller budget may mean fewer rounds: in
        each, every environment practises long enough for two attempts of the longest kind.
        """
        require_positive("steps", steps)
        if self.practise.steps == 0:
            return replace(self, explore=replace(self.explore, steps=steps))
        share = self.explore.steps / self.steps
        exploring = max(int(steps * share), min(self.explore.steps, steps // SMALLEST_SHARE), 1)
        practising = max(steps - exploring, 1)
        fit = practising // (self.practise.num_envs * 2 * self.practise.max_attempt_steps)
        return replace(
            self,
            explore=replace(self.explore, steps=exploring),
            practise=replace(self.practise, steps=practising),
            rounds=min(self.rounds, max(fit, 2 if self.refine else 1)),
        )


SMALLEST_SHARE = 5
"""Exploration gets at least one step in five, unless it needs fewer."""


HOST = TrainConfig(
    explore=ExploreConfig(steps=200_000, policy="frontier", num_envs=16, max_attempt_steps=50),
    practise=PractiseConfig(
        method="dqn",
        steps=300_000,
        num_envs=16,
        rollout_length=20,
        max_attempt_steps=50,
        stop_on_any_change=False,
        goal_sampling="planned",
    ),
    rounds=20,
    waypoints=True,
)
"""For environments without a preset, which usually run on the host: few environments, many updates per step."""

HOST_ON_POLICY = TrainConfig(
    explore=ExploreConfig(steps=100_000, policy="random", num_envs=16),
    practise=PractiseConfig(
        steps=400_000,
        num_envs=16,
        rollout_length=20,
        visit_exponent=0.5,
        ppo=PPOConfig(update_epochs=8, entropy_coef=0.02),
    ),
)
"""The same for several units and for mixed actions: DQN and SAC support one agent, with discrete actions or a box."""

WORDS_DETECTOR = DetectConfig(num_labels=1_000_000, val_fraction=0.02, fit=FitConfig(updates=12_000))
"""For the grid worlds, if a detector is learned: many words are rare, especially those of distant corners."""

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
)
"""The paper's bonus, t_max and steps of exploration, for a GPU; an epoch is one episode long. There are more edges than
can be attempted often, and what is built cannot be undone: practice follows plans, and takes more than the paper's 14 M
steps, after which plans of twenty transitions fail too often."""

IMAGES = FitConfig(updates=2_500, batch=1024, learning_rate=3e-3, weight_decay=1e-4)
"""For any number of examples. With a third of the step size, nearly twice as many updates are needed."""

SYMMETRIC_IMAGES = replace(IMAGES, updates=10_000, batch=256, max_grad_norm=1.0)
"""For a detector that learns each image under all permutations of the colours: as many images, in more updates."""

HARD_IMAGES = replace(IMAGES, updates=24_000, batch=256, max_grad_norm=1.0)
"""For blocks at continuous positions: more updates, each with fewer images."""
HARDER_IMAGES = replace(HARD_IMAGES, updates=48_000)
"""For a detector and a forward model, which need precise positions."""
IMAGES_AND_ACTIONS = replace(HARDER_IMAGES, batch=512, learning_rate=1e-3)
"""For a forward model, whose products of features and actions have large gradients."""

BLOCKS = TrainConfig(
    detect=DetectConfig(learn=True, num_labels=1_000_000, val_fraction=0.02, fit=SYMMETRIC_IMAGES, hidden_size=128),
    explore=ExploreConfig(steps=1_000_000, policy="random", num_envs=4_096, steps_per_episode=1),
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
        inverse=InverseConfig(fit=IMAGES),
    ),
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
    explore=replace(BLOCKS.explore, steps=500_000, action_repeat=2.0, steps_per_episode=20),
    practise=replace(BLOCKS.practise, steps=20_000, num_envs=2_048, inverse=InverseConfig(fit=HARD_IMAGES)),
    forward_model=replace(BLOCKS.forward_model, fit=IMAGES_AND_ACTIONS, hidden_size=256, keypoints=64),
)
"""Physics is expensive: every state is labelled, and a scene takes twenty drops before it is cleared. Every other drop
is near the one before, which builds towers; single random drops hardly ever do."""

PRESETS: dict[str, TrainConfig] = {
    "switches": TrainConfig(
        detect=WORDS_DETECTOR, explore=ExploreConfig(steps=400_000), practise=PractiseConfig(steps=12_000_000)
    ),
    "crafting": TrainConfig(
        detect=WORDS_DETECTOR, explore=ExploreConfig(steps=1_000_000), practise=PractiseConfig(steps=18_000_000)
    ),
    "blocks": BLOCKS,
    "blocks-continuous": BLOCKS_CONTINUOUS,
    "starcraft-small": STARCRAFT,
    "starcraft-large": STARCRAFT,
}
"""The settings of each built-in environment."""

ACCELERATOR_NUM_ENVS = {"switches": 2_048, "crafting": 2_048}
"""Parallel environments of practice on an accelerator, where that differs from a CPU."""
ACCELERATOR_STEPS = {"switches": 60_000_000, "crafting": 90_000_000}
"""Steps of practice on an accelerator: with more environments an epoch has more steps, and the decay of c_π needs some
tens of epochs to discount early failures."""


LONGEST_ATTEMPT, SHORTEST_ATTEMPT = 100, 20
"""Bounds of t_max in environments without a preset."""


def host_config(spec: EnvironmentSpec) -> TrainConfig:
    """The settings for an environment without a preset: its actions determine the learner, its episodes t_max."""
    if spec.num_units is not None or isinstance(spec.actions, Mixed):
        return host_on_policy_config(spec)
    max_attempt_steps = attempt_steps(spec)
    method = "sac" if isinstance(spec.actions, Box) else "dqn"
    practise = replace(HOST.practise, max_attempt_steps=max_attempt_steps, method=method)
    learning = replace(getattr(practise, method), replay_ratio=replay_ratio(spec, method, practise.hidden_size))
    return replace(
        HOST,
        explore=replace(HOST.explore, max_attempt_steps=max_attempt_steps),
        practise=replace(practise, **{method: learning}),
    )


def host_on_policy_config(spec: EnvironmentSpec) -> TrainConfig:
    """The same, with a policy that learns from its own attempts alone."""
    return replace(HOST_ON_POLICY, practise=replace(HOST_ON_POLICY.practise, max_attempt_steps=attempt_steps(spec)))


def attempt_steps(spec: EnvironmentSpec) -> int:
    """t_max: half of an episode, within bounds."""
    return min(max(spec.episode_steps // 2, SHORTEST_ATTEMPT), LONGEST_ATTEMPT)


MOST_REPLAYS = {"dqn": 64.0, "sac": 16.0}
"""How often each step is replayed, at most."""
FEWEST_REPLAYS = 2.0
"""The same, at least."""
WORK = {"dqn": 1.5e6, "sac": 3.6e5}
"""The multiplications that may be spent on all replays of a step: such that half a million steps take about a quarter
of an hour on two cores."""
OTHER_WORK = 1.5e4
"""The multiplications of a replay besides those that encode the observation."""


def replay_ratio(spec: EnvironmentSpec, method: str, hidden_size: int) -> float:
    """How often each step is replayed: less where observations are large, so that the time stays the same."""
    work = OTHER_WORK + work_of(for_acting(spec.observation), hidden_size)
    return max(min(MOST_REPLAYS[method], float(round(WORK[method] / work))), FEWEST_REPLAYS)


def config_for(env: Environment) -> TrainConfig:
    """The settings that `train` uses for an environment: its preset, or settings that follow from its specification."""
    require_environment(env, "config_for")
    return default_config(env.name) if env.name in PRESETS else host_config(env.spec)


def default_config(name: str) -> TrainConfig:
    """The preset of a built-in environment, for the current device; `config_for` takes any environment."""
    if name not in PRESETS:
        raise unknown_name("preset for an environment", name, PRESETS)
    config = PRESETS[name]
    if jax.default_backend() == "cpu" or name not in ACCELERATOR_NUM_ENVS:
        return config
    practise = replace(config.practise, num_envs=ACCELERATOR_NUM_ENVS[name], steps=ACCELERATOR_STEPS[name])
    return replace(config, practise=practise)


PUBLISHED_PRACTICE: dict[str, dict[str, int]] = {
    "switches": {"steps": 300_000_000, "num_envs": 2_048},
    "crafting": {"steps": 500_000_000, "num_envs": 2_048},
    "blocks": {"steps": 20_000_000},
    "blocks-continuous": {"steps": 500_000},
    "starcraft-small": {"steps": 14_000_000, "num_envs": 256},
    "starcraft-large": {"steps": 14_000_000, "num_envs": 256},
}
"""Budgets of practice as published. The paper states the steps in StarCraft. Those of the grid worlds are the ones
after which success no longer rises (`experiments.published_search`). On the blocks they are attempts behind c_π, which
physics limits where positions are continuous."""

STARCRAFT_STEPS = ReinforceConfig(learning_rate=3e-3, entropy_coef=0.003)
PUBLISHED_LEARNING: dict[str, ReinforceConfig] = {
    "switches": ReinforceConfig(entropy_coef=0.001),
    "crafting": ReinforceConfig(entropy_coef=0.001),
    "starcraft-small": STARCRAFT_STEPS,
    "starcraft-large": STARCRAFT_STEPS,
}
"""How REINFORCE learns as published, by the same search."""

PUBLISHED_EXPLORATION: dict[str, dict[str, int]] = {
    "starcraft-small": {"num_envs": 256},
    "starcraft-large": {"num_envs": 256},
}
"""Environments in exploration as published: fewer environments are more updates in the same number of steps."""

PUBLISHED_FITS = {"blocks": IMAGES}
"""How detectors are fitted as published, without symmetries, where ours need more updates because of them."""


def paper_config(env: Environment | str) -> TrainConfig:
    """The algorithm as published: plain REINFORCE, the paper's rewards, decayed ratios, and none of our additions.

    env: an environment, or the name of a built-in one.

    What the paper does not state (optimiser, step size, entropy bonus, number of environments, steps in the grid
    worlds) was chosen by a search on other seeds and tasks than those that are reported.
    """
    name = env if isinstance(env, str) else env.name
    config = default_config(name) if isinstance(env, str) or name in PRESETS else host_on_policy_config(env.spec)
    practise = config.practise
    method = "inverse" if practise.method == "inverse" else "reinforce"
    learning = PUBLISHED_LEARNING.get(name, ReinforceConfig(entropy_coef=practise.ppo.entropy_coef))
    explore = replace(config.explore, **PUBLISHED_EXPLORATION.get(name, {}))
    return replace(
        config,
        explore=replace(explore, learner="reinforce", reinforce=learning, action_repeat=1.0, symmetric=False),
        practise=replace(
            replace(practise, **PUBLISHED_PRACTICE.get(name, {})),
            method=method,
            reinforce=learning,
            stop_on_any_change=method == "inverse",
            step_reward=-0.1,
            hindsight=0.0,
            decay=1.0 if method == "inverse" else 0.9,  # an inverse model does not change while it is scored
            goal_sampling="neighbours",
            inverse=replace(practise.inverse, symmetric=False),
        ),
        detect=replace(
            config.detect,
            fit=PUBLISHED_FITS.get(name, config.detect.fit),
            symmetric=False,
            action_repeat=1.0,
            keypoints=0,
        ),
        forward_model=replace(config.forward_model, learn=False),
        estimator="ratio",
    )
