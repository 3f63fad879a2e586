"""Worker processes: the same results as in one process, workers that fail, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import jax
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.data.random_actions import RandomActions
from attribute_planner.data.rollout import rollout
from attribute_planner.data.trajectories import Trajectories
from attribute_planner.environments.workers import choice
from attribute_planner.environments.workers import pool as pool_module
from attribute_planner.environments.workers.choice import choose_num_workers
from attribute_planner.environments.workers.process import WorkerProcess
from attribute_planner.environments.workers.rows import shares
from attribute_planner.environments.workers.running import worker_processes
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError
from tests.environments.worker_envs import ATTRIBUTES, Walk, describe, walk

NUM_ENVS = 5


def play(env: ap.Environment, steps: int = 30) -> Trajectories:
    envs = env.vector_env(NUM_ENVS)
    try:
        return rollout(RandomActions(env), envs, steps, space=env.attributes, key=jax.random.key(3))
    finally:
        envs.close()


def test_steps_are_the_same_for_any_number_of_workers_which_import_no_jax(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEARNER", str(os.getpid()))
    env = walk()
    expected = play(env)
    assert np.asarray(expected.terminated).any() and np.asarray(expected.truncated).any()
    for num_workers in (1, 2, 3):
        with worker_processes(env, num_workers):
            found = play(env)
        for before, after in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
            assert np.array_equal(before, after), num_workers


@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux only")
def test_workers_do_not_interrupt_the_learner():
    env = walk()
    with worker_processes(env, 1):
        play(env)
        pool = env.workers.running
        assert pool is not None
        (worker,) = pool.workers
        assert isinstance(worker, WorkerProcess)
        assert os.sched_getscheduler(worker.pid) == os.SCHED_BATCH
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_rows_are_divided_into_contiguous_shares():
    assert shares(5, 2) == [range(3), range(3, 5)]
    assert shares(2, 3) == [range(1), range(1, 2), range(2, 2)]


def test_a_worker_that_dies_is_replaced_and_its_episodes_are_cut(tmp_path: Path):
    env, lines = walk(folder=str(tmp_path), fails="dies"), []
    with worker_processes(env, 2, say=lines.append) as pool:
        assert pool is not None
        found = play(env)
        assert pool.metrics() == {"workers": 2, "worker_restarts": 1, "worker_timeouts": 0}
    (line,) = lines
    words = r"walk: environment (\d), step 3: env.step: worker process (\d) ended with status 7 \(the simulator ran out"
    match = re.match(words, line)
    assert match is not None, line
    row, worker = map(int, match.groups())
    lost = np.isin(np.arange(NUM_ENVS), shares(NUM_ENVS, 2)[worker])
    assert lost[row]
    # The other worker goes on.
    assert (np.asarray(found.truncated)[2] == lost).all()
    assert (np.asarray(found.observation)[3, :, 1] == np.where(lost, 0, 3)).all()


def test_a_worker_that_hangs_is_ended_after_the_time_limit(tmp_path: Path):
    env, lines = walk(folder=str(tmp_path), fails="hangs"), []
    began = time.monotonic()
    with worker_processes(env, 1, step_timeout=2, say=lines.append) as pool:
        assert pool is not None
        play(env)
        assert pool.metrics() == {"workers": 1, "worker_restarts": 1, "worker_timeouts": 1}
    assert "worker process 0 did not answer within 2 s" in lines[0] and time.monotonic() - began < 30


def test_three_losses_in_a_row_are_an_error_with_the_words_of_the_environment(tmp_path: Path):
    env, lines = walk(folder=str(tmp_path), fails="dies", times=100), []
    with (
        worker_processes(env, 1, say=lines.append),
        pytest.raises(EnvironmentFaultError, match=r"3 times in a row; .* status 7 \(the simulator ran out of floor\)"),
    ):
        play(env)
    assert len(lines) == 2


@pytest.mark.parametrize("num_workers", [0, 1])
def test_an_exception_of_the_environment_has_the_same_words_in_a_worker(tmp_path: Path, num_workers: int):
    env = walk(folder=str(tmp_path), fails="raises")
    words = r"^walk: environment 0, episode 1, step 3, seed \d+: env\.step: RuntimeError: the floor gave way$"
    with worker_processes(env, num_workers), pytest.raises(EnvironmentFaultError, match=words):
        play(env)


PROGRAM = """
import signal, sys
from attribute_planner.environments.gymnasium_bridge.batch_arrays import BatchLayout
from attribute_planner.environments.gymnasium_bridge.bridge import Recipe, build_bridge
from attribute_planner.environments.workers.pool import WorkerPool
from tests.environments.worker_envs import ATTRIBUTES, Walk, describe
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for programs in the background
folder = sys.argv[1]
recipe = Recipe(lambda: Walk(folder, "hangs"), tuple(ATTRIBUTES), describe, None, None)
pool = WorkerPool("walk", recipe, build_bridge(recipe).encoder.spec, 2, step_timeout=100.0)
rows = pool.open(BatchLayout(2, ((3,), "float32"), 2, 0))
try:
    rows.arrays.which[:] = True
    rows.run("reset")
    print(*(each.pid for each in pool.workers), flush=True)
    while True:
        rows.run("step")
finally:
    rows.close()
    pool.close()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_when_the_learner_ends(tmp_path: Path, number: signal.Signals):
    learner = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert learner.stdout is not None
    with learner.stdout:
        pids = [int(each) for each in learner.stdout.readline().split()]
    assert len(pids) == 2 and all(map(_is_running, pids))
    assert _holds_soon(lambda: any(tmp_path.iterdir())), "a worker hangs in a step"
    learner.send_signal(number)
    try:
        learner.wait(timeout=20)
    finally:
        learner.kill()
        learner.wait()
    assert _holds_soon(lambda: not any(map(_is_running, pids)))


def _holds_soon(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_cannot_be_sent_is_named():
    lock = threading.Lock()

    def locked(*arguments: Any) -> dict[str, Any]:
        with lock:
            return describe(*arguments)

    env = ap.from_gymnasium(Walk, attributes=ATTRIBUTES, describe=locked, episode_steps=12)
    words = "Walk: describe cannot be sent to a worker process .*num_workers=0"
    with pytest.raises(ConfigurationError, match=words), worker_processes(env, 2):
        pass
    assert choose_num_workers(env, None, num_envs=16, steps=10**9) == 0


def test_environments_that_were_registered_here_are_known_to_workers():
    gymnasium.register("OwnWalk-v0", f"{Walk.__module__}:{Walk.__name__}", disable_env_checker=True)
    try:
        env = ap.from_gymnasium(
            lambda: gymnasium.make("OwnWalk-v0"), attributes=ATTRIBUTES, describe=describe, episode_steps=12
        )
        with worker_processes(env, 1) as pool:
            assert pool is not None and pool.num_workers == 1
            play(env, steps=2)
    finally:
        del gymnasium.registry["OwnWalk-v0"]


def test_without_need_an_environment_that_workers_cannot_make_runs_in_this_process():
    here = os.getpid()

    def make() -> Walk:
        if os.getpid() != here:
            raise OSError("no display")
        return Walk()

    env, lines = ap.from_gymnasium(make, attributes=ATTRIBUTES, describe=describe, episode_steps=12), []
    words = "cannot be made in a worker process: .*no display"
    with pytest.raises(ConfigurationError, match=words), worker_processes(env, 1):
        pass
    with worker_processes(env, 1, required=False, say=lines.append) as pool:
        assert pool is None
        play(env, steps=2)
    (line,) = lines
    assert "no display" in line and "continues without worker processes" in line


def test_a_printing_environment_is_named_once():
    def make() -> Walk:
        print("welcome")
        return Walk()

    env, lines = ap.from_gymnasium(make, attributes=ATTRIBUTES, describe=describe, episode_steps=12), []
    with worker_processes(env, 1, say=lines.append):
        play(env, steps=2)
    assert lines == ["Walk prints in its worker processes, where it is not shown: 'welcome'"]


def test_a_leaking_environment_is_named_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool_module, "LEAK", 2**26)

    class Leaking(Walk):
        kept: ClassVar[list[bytes]] = []

        def step(self, action: Any) -> Any:
            self.kept.append(b"x" * 2**20)
            return super().step(action)

    env, lines = ap.from_gymnasium(Leaking, attributes=ATTRIBUTES, describe=describe, episode_steps=12), []
    with worker_processes(env, 1, say=lines.append):
        for _ in range(4):
            play(env, steps=10)
    (line,) = lines
    assert re.match(r"Leaking: the memory of a worker process has grown from \d+ to \d+ MiB\.", line)


def test_the_default_depends_on_the_duration_of_a_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choice, "num_cores", lambda: 4)
    seconds = 1e-5
    monkeypatch.setattr(choice, "step_seconds", lambda env: seconds)
    env = walk()
    assert choose_num_workers(env, None, num_envs=16, steps=10**9) == 0
    seconds = 5e-3
    assert choose_num_workers(env, None, num_envs=16, steps=10**6) == 4
    assert choose_num_workers(env, None, num_envs=3, steps=10**6) == 3
    assert choose_num_workers(env, None, num_envs=16, steps=1000) == 0, "it saves less than starting them takes"
    assert choose_num_workers(env, 0, num_envs=16, steps=10**6) == 0


def test_the_duration_of_a_step_is_measured():
    class Slow(Walk):
        def step(self, action: Any) -> Any:
            time.sleep(0.01)
            return super().step(action)

    env = ap.from_gymnasium(Slow, attributes=ATTRIBUTES, describe=describe, episode_steps=12)
    assert 0.01 <= choice.step_seconds(env) < 0.1


def test_a_wrong_number_of_workers_is_an_error():
    with pytest.raises(ConfigurationError, match="num_workers must be at least zero; it is -1"):
        choose_num_workers(walk(), -1, num_envs=4, steps=100)
    with pytest.raises(ConfigurationError, match=r"num_workers=2: .* switches is not made by ap.from_gymnasium"):
        choose_num_workers(ap.make("switches"), 2, num_envs=4, steps=100)
    assert choose_num_workers(ap.make("switches"), None, num_envs=4, steps=100) == 0
