import pytest

from attribute_planner.benchmarks import starcraft
from attribute_planner.environments.starcraft.environment import StarcraftBuild


def test_both_versions_stand_beside_the_same_rules_in_plain_python(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(starcraft, "alone_rate", lambda env, num_envs, key: 600.0 if env.version == "small" else 400.0)
    monkeypatch.setattr(starcraft, "acting_rate", lambda env, num_envs, key: 100.0)
    monkeypatch.setattr(starcraft, "peer_rate", lambda env: 20.0)
    assert [(line.name, line.ratio) for line in starcraft.measure()] == [
        ("small, simulator alone", 30.0),
        ("small, with the policy acting", 5.0),
        ("large, simulator alone", 20.0),
        ("large, with the policy acting", 5.0),
    ]


def test_the_peer_plays_whole_games(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(starcraft, "PEER_SECONDS", 0.0)
    played: list[int] = []
    monkeypatch.setattr(starcraft.ReferenceGame, "step", lambda game, actions: played.append(len(actions)))
    assert starcraft.peer_rate(StarcraftBuild(episode_steps=30)) > 0
    assert played == 30 * [10]
