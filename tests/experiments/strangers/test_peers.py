import pytest

from attribute_planner.experiments.runs import Execution, Measurement
from attribute_planner.experiments.strangers import make_world
from attribute_planner.experiments.strangers.peers import DETERMINISTIC, STEPS, is_installed, train_peer

pytestmark = [
    pytest.mark.skipif(not is_installed(), reason="stable-baselines3 is not installed (extra `peers`)"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.mark.parametrize(
    ("model", "world", "trained", "steps"),
    [
        ("ppo", "frozen-lake-blocks", "PPO", 2048),
        ("her", "taxi", "DQN with HER", 220),
        ("her", "pushing", "SAC with HER", 220),
    ],
)
def test_a_peer_learns_for_some_steps_and_is_measured(model: str, world: str, trained: str, steps: int):
    peer = train_peer(model, make_world(world), steps=220, seed=0)
    assert (peer.configuration["config"]["model"], peer.scalars[STEPS]) == (trained, steps)
    evaluation = peer.evaluate(Measurement("goal", Execution(DETERMINISTIC, "", False)), 2, 0)
    assert (evaluation.episodes, evaluation.task, evaluation.mode) == (2, "goal", DETERMINISTIC)
