"""Damaged and forged files, in small numbers. `make reliability` has the large ones."""

import os
from pathlib import Path

import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.errors import AttributePlannerError
from attribute_planner.experiments.reliability.damaged_files import outcome_of
from attribute_planner.experiments.reliability.mutations import DAMAGE, FORGERIES, Forgery
from attribute_planner.storage.agents import shipped_agents

CRAFTING = shipped_agents()["crafting"]


@pytest.mark.parametrize("number", range(24))
def test_a_mutation_is_refused_or_harmless(number: int):
    outcome = outcome_of({"crafting": CRAFTING}, number, np.random.default_rng(number))
    assert outcome["outcome"] in ("refused", "same", "possible"), outcome


@pytest.mark.parametrize("mutate", dict.fromkeys([*DAMAGE, *FORGERIES]), ids=lambda each: each.__name__)
def test_mutations_change_something(mutate, tmp_path: Path):
    mutate(Forgery(CRAFTING, tmp_path, np.random.default_rng(3)))
    before = {path.name: path.read_bytes() for path in CRAFTING.iterdir()}
    assert any(
        not os.path.isfile(path) or path.stat().st_size > 2**30 or path.read_bytes() != before[path.name]
        for path in tmp_path.iterdir()
    ) or len(list(tmp_path.iterdir())) < len(before)


@pytest.mark.parametrize("name", ["config.json", "agent.safetensors", "manifest.json"])
def test_a_named_pipe_does_not_hang(name: str, tmp_path: Path):
    Forgery(CRAFTING, tmp_path, np.random.default_rng(0)).remove(name)
    os.mkfifo(tmp_path / name)
    with pytest.raises(AttributePlannerError):
        ap.load(tmp_path)
