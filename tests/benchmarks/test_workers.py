import jax
import pytest

from attribute_planner.benchmarks import busy_env, no_communication, workers
from attribute_planner.benchmarks.no_communication import separate_processes
from attribute_planner.environments.gymnasium_bridge.vector_env import batch_layout
from attribute_planner.environments.workers.sending import packed
from attribute_planner.models.policy import GoalPolicy
from attribute_planner.phases.exploration_policies import ExplorationPolicy


def test_worker_numbers_double_up_to_the_number_of_cores():
    assert [workers.worker_numbers(cores) for cores in (1, 2, 6, 8)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


def test_a_busy_simulator_takes_the_time_that_it_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(busy_env, "CALIBRATION", 200_000)
    short, long = busy_env.iterations_for(1.0), busy_env.iterations_for(10.0)
    assert 5 < long / short < 20


def test_rates_stand_beside_one_process_and_the_peers(monkeypatch: pytest.MonkeyPatch):
    rate = {workers.ONE_PROCESS: 100.0, "1": 90.0, "2": 190.0, workers.SEPARATE: 195.0, workers.ASYNC: 95.0}
    speeds = {name: workers.Speed(each, 1e4 / each) for name, each in rate.items()}
    monkeypatch.setattr(workers, "measured_speeds", lambda contexts: speeds)
    monkeypatch.setattr(workers, "num_cores", lambda: 2)
    lines = list(workers.measure_env(busy_env.busy(0.01)))
    assert [(line.name, line.ours, line.peer, line.ratio) for line in lines] == [
        ("0.01 ms, 1 worker", 90.0, 100.0, 0.9),
        ("0.01 ms, 2 workers", 190.0, 100.0, 1.9),
        ("0.01 ms, 2 processes without communication", 195.0, 100.0, 1.95),
        ("0.01 ms, 2 workers", 190.0, 95.0, 2.0),
        ("0.01 ms, 2 workers", 190.0, None, None),
        ("0.01 ms, 2 workers, core time of the learner per step", 1e4 / 190, 1e4 / 95, pytest.approx(2.0)),
    ]


def test_speed_is_measured_in_worker_processes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "SECONDS", 0.05)
    monkeypatch.setattr(workers, "NUM_ENVS", 2)
    env = busy_env.busy(0.01)
    actor = ExplorationPolicy(GoalPolicy(env.spec, hidden_size=8, key=jax.random.key(0)))
    found = workers.measured_speeds({"here": workers.ours(env, actor, 0), "there": workers.ours(env, actor, 1)})
    assert found["here"].rate > 0 and found["there"].rate > 0 and found["there"].learner > 0


def test_weak_scaling_gives_every_worker_as_many_environments(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr(workers, "num_cores", lambda: 4)
    monkeypatch.setattr(workers, "ours", lambda env, actor, *sizes: asked.append(sizes))
    speeds = {"1": 100.0, "2": 190.0, "4": 300.0}
    monkeypatch.setattr(
        workers, "measured_speeds", lambda contexts: {name: workers.Speed(speeds[name], 1.0) for name in contexts}
    )
    lines = list(workers.measure_weak_scaling(busy_env.busy(0.01)))
    assert asked == [(1, 8), (2, 16), (4, 32)]
    assert [line.ratio for line in lines] == [1.0, 1.9, 3.0]
    assert lines[2].name == "0.01 ms, 8 environments for each of 4 workers"


def test_steps_of_ray_actors_stand_beside_those_of_processes(monkeypatch: pytest.MonkeyPatch):
    speeds = {"here": workers.Speed(1000.0, 50.0), workers.RAY: workers.Speed(500.0, 150.0)}
    monkeypatch.setattr(workers, "measured_speeds", lambda contexts: {name: speeds[name] for name in contexts})
    monkeypatch.setattr(workers, "num_cores", lambda: 2)
    for has_ray, expected in ((True, [(1000.0, 2000.0, 2.0), (50.0, 150.0, 3.0)]), (False, [(1000.0, None, None)])):
        monkeypatch.setattr(workers, "_has_ray", lambda has_ray=has_ray: has_ray)
        lines = list(workers.measure_ray(busy_env.busy(0.01)))
        assert [(line.ours, line.peer, line.ratio) for line in lines][: len(expected)] == expected


def test_processes_without_communication_step_their_share():
    env = busy_env.busy(0.01)
    with separate_processes(env, 2, 5) as play:
        assert (play(3), play(2)) == (15, 10)
    given = packed(env.recipe, env.name), env.name, batch_layout(env, 2)
    no_communication.step_alone(*given, busy_env.EPISODE_STEPS + 1)
    rows = no_communication._rows(*given)
    assert [getattr(each.unwrapped, "age", 0) for each in rows._envs] == [1, 1], "an episode that is over is reset"
