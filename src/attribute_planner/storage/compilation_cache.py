"""The persistent compilation cache: compiling networks that see images takes longer than most episodes."""

import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path

import jax

MIN_COMPILE_SECONDS = 0.5
"""Functions that compile faster are not cached."""
MAX_BYTES = 500_000_000
"""A user's cache that is larger is emptied; by then, most of it belongs to other versions."""


def use_compilation_cache(folder: Path) -> None:
    """Cache compiled functions in a folder, unless JAX already has a cache (JAX_COMPILATION_CACHE_DIR)."""
    if jax.config.values["jax_compilation_cache_dir"] is None:
        # One folder per machine: compiled code depends on the processor, which JAX's cache keys do not contain.
        jax.config.update("jax_compilation_cache_dir", str(folder / platform.node()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)


def use_user_compilation_cache() -> None:
    """Cache compiled functions in the user's cache folder, if it is writable."""
    if (folder := user_cache_folder()) is not None:
        with suppress(OSError):  # another process may be emptying it
            empty_if_larger(folder, MAX_BYTES)
        use_compilation_cache(folder)


def user_cache_folder() -> Path | None:
    """The package's folder in the user's cache folder; `None` if it is not writable."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attribute-planner" / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # not permitted, or no home directory
        return None
    return folder if os.access(folder, os.W_OK) else None


def empty_if_larger(folder: Path, max_bytes: int) -> None:
    """Delete the contents of a folder if they exceed `max_bytes`."""
    if sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) > max_bytes:
        for inside in folder.iterdir():
            shutil.rmtree(inside, ignore_errors=True)
