"""Keeping what was compiled."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from attribute_planner.storage.compilation_cache import empty_if_large, keep_compiled, users_folder

COMPILE = """
import jax
from attribute_planner.storage import compilation_cache as compiled
compiled.WORTH_SECONDS = 0
compiled.keep_compiled_for_user()
print(jax.jit(lambda x: x * 2)(21))
"""


def compile_with(cache_home: Path) -> list[Path]:
    """What lies in a user's folder after a program has kept what it compiled."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_home)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "42\n")
    assert "cache" not in done.stderr
    return [path for path in cache_home.rglob("*") if path.is_file()]


def test_what_was_compiled_lies_in_the_users_folder(tmp_path: Path):
    assert any("attribute-planner" in path.parts for path in compile_with(tmp_path))


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path):
    home = tmp_path / "a file"
    home.write_text("")
    assert compile_with(home) == []


def test_a_place_that_was_chosen_stays(tmp_path: Path):
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "chosen"))
    try:
        keep_compiled(tmp_path / "other")
        assert jax.config.values["jax_compilation_cache_dir"] == str(tmp_path / "chosen")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_a_user_may_have_another_folder_for_such_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert users_folder() == tmp_path / "attribute-planner" / "compiled"


def test_a_folder_that_has_grown_large_is_emptied(tmp_path: Path):
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "code").write_bytes(b"x" * 1000)
    empty_if_large(tmp_path, 1000)
    assert (tmp_path / "machine" / "code").exists()
    empty_if_large(tmp_path, 999)
    assert list(tmp_path.iterdir()) == []
