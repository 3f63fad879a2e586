import pytest

from attribute_planner.experiments.runs import Execution, Measurement
from attribute_planner.experiments.strangers import make_world
from attribute_planner.experiments.strangers.peers import DETERMINISTIC, STEPS, is_installed, train_peer

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="stable-baselines3 is not installed (extra `peers`)"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.mark.parametrize(
    ("model", "world", "trained"),
    [("ppo", "frozen-lake-blocks", "PPO"), ("her", "taxi", "DQN with HER"), ("her", "pushing", "SAC with HER")],
)
def test_a_peer_learns_for_some_steps_and_is_measured(model: str, world: str, trained: str):
    peer = train_peer(model, make_world(world), steps=220, seed=0)
    assert (peer.configuration["config"]["model"], peer.scalars[STEPS]) == (trained, 220)
    evaluation = peer.evaluate(Measurement("goal", Execution(DETERMINISTIC, "", False)), 2, 0)
    assert (evaluation.episodes, evaluation.task, evaluation.mode) == (2, "goal", DETERMINISTIC)
