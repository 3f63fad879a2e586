"""The compilation cache."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from attribute_planner.storage.compilation_cache import empty_if_larger, use_compilation_cache, user_cache_folder

COMPILE = """
import jax
from attribute_planner.storage import compilation_cache as compiled
compiled.MIN_COMPILE_SECONDS = 0
compiled.use_user_compilation_cache()
print(jax.jit(lambda x: x * 2)(21))
"""


def compile_with(cache_home: Path) -> list[Path]:
    """The files in a user's cache folder after a program has compiled a function."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_home)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "42\n")
    assert "cache" not in done.stderr
    return [path for path in cache_home.rglob("*") if path.is_file()]


def test_compiled_functions_are_cached_in_the_user_folder(tmp_path: Path):
    assert any("attribute-planner" in path.parts for path in compile_with(tmp_path))


def test_without_a_writable_folder_nothing_is_cached(tmp_path: Path):
    home = tmp_path / "a file"
    home.write_text("")
    assert compile_with(home) == []


def test_a_cache_that_jax_already_has_is_kept(tmp_path: Path):
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "chosen"))
    try:
        use_compilation_cache(tmp_path / "other")
        assert jax.config.values["jax_compilation_cache_dir"] == str(tmp_path / "chosen")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_the_user_folder_follows_the_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache_folder() == tmp_path / "attribute-planner" / "compiled"


def test_a_large_folder_is_emptied(tmp_path: Path):
    (tmp_path / "machine").mkdir()
    (tmp_path / "machine" / "code").write_bytes(b"x" * 1000)
    empty_if_larger(tmp_path, 1000)
    assert (tmp_path / "machine" / "code").exists()
    empty_if_larger(tmp_path, 999)
    assert list(tmp_path.iterdir()) == []
