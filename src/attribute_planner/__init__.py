"""Name the properties, explore once, reach any goal: the Attribute Planner of "Composable Planning with Attributes"."""

from typing import TYPE_CHECKING, Any

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
from attribute_planner.training import load as load
from attribute_planner.training import train as train
from attribute_planner.transitions.table import TransitionTable as TransitionTable

if TYPE_CHECKING:
    from attribute_planner.environments.gymnasium_bridge import from_gymnasium as from_gymnasium

__version__ = "0.2.0.dev0"


def __getattr__(name: str) -> Any:
    # Imported when it is first used: Gymnasium takes a while to import, and built-in environments do not need it.
    if name == "from_gymnasium":
        from attribute_planner.environments.gymnasium_bridge import from_gymnasium

        return from_gymnasium
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "from_gymnasium"]
