from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from attribute_planner.experiments.reliability.peer_savers import SAVERS, OwnSaver, arrays_of, number_of
from attribute_planner.experiments.reliability.peers import OTHER, Peer, outcome_of, print_flips, table

PACKAGES = {"own": "attribute_planner", "stable-baselines3": "stable_baselines3", "orbax": "orbax.checkpoint"}


@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=[pytest.mark.slow] if name != "own" else []) for name in SAVERS]
)
def test_a_saver_reads_what_it_has_saved(library: str, tmp_path: Path):
    pytest.importorskip(PACKAGES[library])
    saver = SAVERS[library]()
    for number in range(3):
        saver.save(tmp_path / "saved", number)
    assert number_of(saver, saver.read(tmp_path / "saved")) == 2


def test_arrays_of_two_checkpoints_are_torn():
    saver = OwnSaver()
    mixed = {**arrays_of(saver, 1), "second": arrays_of(saver, 2)["second"]}
    assert number_of(saver, mixed) is None
    assert number_of(saver, {**mixed, "first": np.full((256, 512), np.nan, np.float32)}) is None


def test_a_flipped_bit_that_is_accepted_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    saver = OwnSaver()
    monkeypatch.setattr(saver, "read", lambda folder: {**arrays_of(saver, 0), "first": np.zeros((256, 512))})
    assert outcome_of(saver, tmp_path) == OTHER


def test_flipped_bits_are_refused(capsys: pytest.CaptureFixture[str]):
    print_flips("own", 5, 0)
    assert capsys.readouterr().out.split() == ["refused"] * 5


def test_table():
    peer = Peer("library 1.0", "save", Counter(kept=24, lost=1), Counter(refused=3, other=7))
    assert table([peer]).splitlines()[-1] == "| library 1.0 | `save` | 24 of 25 | 3 of 10 | 0 | 7 |"
