"""Name the properties, explore once, reach any goal: the Attribute Planner of "Composable Planning with Attributes"."""

from typing import TYPE_CHECKING

from attribute_planner.lazy import lazy_names

if TYPE_CHECKING:
    from attribute_planner.agent import Agent as Agent
    from attribute_planner.attributes import Attribute as Attribute
    from attribute_planner.attributes import AttributeSpace as AttributeSpace
    from attribute_planner.attributes import Goal as Goal
    from attribute_planner.configuration import TrainConfig as TrainConfig
    from attribute_planner.configuration import config_for as config_for
    from attribute_planner.configuration import default_config as default_config
    from attribute_planner.configuration import paper_config as paper_config
    from attribute_planner.data.dataset import Dataset as Dataset
    from attribute_planner.diagnosis.finding import Diagnosis as Diagnosis
    from attribute_planner.diagnosis.finding import Finding as Finding
    from attribute_planner.environments.gymnasium_bridge import from_gymnasium as from_gymnasium
    from attribute_planner.environments.interface import Environment as Environment
    from attribute_planner.environments.interface import HostEnvironment as HostEnvironment
    from attribute_planner.environments.interface import PureEnvironment as PureEnvironment
    from attribute_planner.environments.registry import make as make
    from attribute_planner.environments.tasks import Task as Task
    from attribute_planner.errors import AttributePlannerError as AttributePlannerError
    from attribute_planner.evaluation.check_environment import EnvironmentReport as EnvironmentReport
    from attribute_planner.evaluation.check_environment import check_environment as check_environment
    from attribute_planner.evaluation.evaluate import Evaluation as Evaluation
    from attribute_planner.evaluation.evaluate import evaluate as evaluate
    from attribute_planner.planning.episode import Episode as Episode
    from attribute_planner.planning.plan import Plan as Plan
    from attribute_planner.several_seeds import train_seeds as train_seeds
    from attribute_planner.training import load as load
    from attribute_planner.training import train as train
    from attribute_planner.transitions.table import TransitionTable as TransitionTable

__version__ = "0.2.0"

PUBLIC = {
    "Agent": "agent",
    "Attribute": "attributes",
    "AttributePlannerError": "errors",
    "AttributeSpace": "attributes",
    "Dataset": "data.dataset",
    "Diagnosis": "diagnosis.finding",
    "Environment": "environments.interface",
    "EnvironmentReport": "evaluation.check_environment",
    "Episode": "planning.episode",
    "Evaluation": "evaluation.evaluate",
    "Finding": "diagnosis.finding",
    "Goal": "attributes",
    "HostEnvironment": "environments.interface",
    "Plan": "planning.plan",
    "PureEnvironment": "environments.interface",
    "Task": "environments.tasks",
    "TrainConfig": "configuration",
    "TransitionTable": "transitions.table",
    "check_environment": "evaluation.check_environment",
    "config_for": "configuration",
    "default_config": "configuration",
    "evaluate": "evaluation.evaluate",
    "from_gymnasium": "environments.gymnasium_bridge",
    "load": "training",
    "make": "environments.registry",
    "paper_config": "configuration",
    "train": "training",
    "train_seeds": "several_seeds",
}
"""The public names and their modules, which are imported when a name is first used."""

__getattr__ = lazy_names(__name__, PUBLIC)


def __dir__() -> list[str]:
    return [*globals(), *PUBLIC]
