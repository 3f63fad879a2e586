"""Rows of the table of reliability that are about files, in small numbers."""

import pytest

from attribute_planner.experiments.reliability import full_disk, killed_saves, killed_training, large_table, one_writer
from attribute_planner.files.manifest import commit


def test_kills_while_saving():
    row = killed_saves.measure(kills=20)
    assert row.passed, row.measured


def test_a_torn_checkpoint_would_be_noticed(tmp_path):
    commit(tmp_path, {"config.json": b"2", "agent.safetensors": b"000000001" * (killed_saves.AGENT_BYTES // 9)})
    assert killed_saves.state_of(tmp_path) == ["run", "torn"]
    (tmp_path / "config.json").write_bytes(b"3")
    assert killed_saves.state_of(tmp_path) == ["run", "refused"]


def test_races_for_a_run():
    row = one_writer.measure(races=4)
    assert row.passed, row.measured


def test_faults_of_the_disk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(full_disk, "ERRORS", full_disk.ERRORS[:2])
    row = full_disk.measure(limit=False)
    assert row.passed, row.measured


@pytest.mark.slow
def test_kills_while_training():
    row = killed_training.measure(kills=8, chain=3)
    assert row.passed, row.measured


def test_a_large_table_in_small(tmp_path):
    found = large_table.saving(str(tmp_path), 8) | large_table.planning(str(tmp_path), 8)
    assert (found["sets"], found["edges"]) == (256, 5 * 256)
    assert 10 < found["bytes"] / found["edges"] < 30  # a header, and 17 bytes for each transition
    assert min(found.values()) >= 0
