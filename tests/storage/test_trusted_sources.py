"""Which functions that files name are run."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import attribute_planner as ap
from attribute_planner.errors import RunDirectoryError
from attribute_planner.files.manifest import commit
from attribute_planner.storage import trusted_sources
from attribute_planner.storage.run_directory import save_agent
from attribute_planner.storage.trusted_sources import is_trusted, trust
from tests.probes import TINY, ring_agent


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(trusted_sources, "_HERE", {})
    monkeypatch.chdir(tmp_path)


def test_a_module_that_a_file_names_is_not_imported(tmp_path: Path):
    (tmp_path / "hostile.py").write_text("raise SystemExit('code of a file was run')\n")
    save_agent(tmp_path / "run", ring_agent(), TINY, seed=0)
    described = json.loads((tmp_path / "run" / "config.json").read_text())
    described["environment"]["source"] = "hostile:make"
    commit(tmp_path / "run", {"config.json": json.dumps(described).encode()})
    with pytest.raises(
        RunDirectoryError, match=r"trained on hostile:make, which you have not used here.*--env hostile:"
    ):
        ap.load(tmp_path / "run")
    assert "hostile" not in sys.modules


def test_what_was_trained_with_is_trusted_later_also_by_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save_agent(tmp_path / "run", replace(ring_agent(), env=ap.make("tests.probes:new_ring")), TINY, seed=0)
    monkeypatch.setattr(trusted_sources, "_HERE", {})
    assert is_trusted("tests.probes:new_ring")
    assert not is_trusted("tests.probes:other")


def test_another_module_of_the_same_name_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for folder in ("mine", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "worlds_of_mine.py").write_text("")
    monkeypatch.chdir(tmp_path / "mine")
    trust("worlds_of_mine:make")
    assert is_trusted("worlds_of_mine:make")
    monkeypatch.chdir(tmp_path / "theirs")
    assert not is_trusted("worlds_of_mine:make")
