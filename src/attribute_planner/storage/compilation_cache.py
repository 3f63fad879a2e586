"""What was compiled, kept for the next time: networks that see pictures take longer to compile than most episodes."""

import os
import platform
import shutil
from contextlib import suppress
from pathlib import Path

import jax

WORTH_SECONDS = 0.5
"""What is compiled faster is not kept."""
LARGEST = 500_000_000
"""How many bytes a user's folder may grow to. Then it is emptied: most of it is of other versions by then."""


def keep_compiled(folder: Path) -> None:
    """Keep what takes long to compile in a folder, unless JAX was told of another place (JAX_COMPILATION_CACHE_DIR)."""
    if jax.config.values["jax_compilation_cache_dir"] is None:
        # A folder for each machine: compiled code depends on the processor, and JAX's keys do not tell.
        jax.config.update("jax_compilation_cache_dir", str(folder / platform.node()))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", WORTH_SECONDS)


def keep_compiled_for_user() -> None:
    """The same in the folder that the user's system has for such things, if it can be written to."""
    if (folder := users_folder()) is not None:
        with suppress(OSError):  # others may be at it, too
            empty_if_large(folder)
        keep_compiled(folder)


def users_folder() -> Path | None:
    """Where a user's programs keep what can be made anew; `None` if nothing can be kept."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attribute-planner" / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # not allowed, or nobody's home
        return None
    return folder if os.access(folder, os.W_OK) else None


def empty_if_large(folder: Path, largest: int = LARGEST) -> None:
    """Remove all that is in a folder if that is more than so many bytes."""
    if sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) > largest:
        for inside in folder.iterdir():
            shutil.rmtree(inside, ignore_errors=True)
