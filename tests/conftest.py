"""The strict test session. Each switch is set once: here, or in `pyproject.toml` (warnings)."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"  # read once, when jax is first imported
# Tests run compiled code briefly: fast compilation matters more than fast code.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# The older emitters for fused operations compile in slightly more than half the time. A module that is not split
# compiles on one core: each worker has no more, and splitting costs time too.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1")
os.environ["MPLBACKEND"] = "Agg"

import contextlib
import gc
import ipaddress
import platform
import shutil
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
import optax
import pytest
from jax._src.interpreters import mlir

from tests import type_checks

RANK_PROMOTION = "raise"
"""Operations on arrays of different rank raise an error unless the code broadcasts explicitly."""

DTYPE_PROMOTION = "strict"
"""Operations on arrays of different types raise an error unless the code converts explicitly."""

CHECKED = ["attribute_planner"]
"""The packages whose calls are checked. `@no_type_check` exempts what reports wrong input in words of its own.

Protocols in a checked signature must be `runtime_checkable`.
"""

CACHED_FROM_SECONDS = 0.05
"""Minimum compile time of a function that is kept in the cache, in seconds."""
MAX_CACHE_BYTES = 500_000_000
"""A larger cache is deleted: most of it belongs to earlier versions of the code."""


def pytest_configure(config: pytest.Config) -> None:
    """Share compiled functions between workers, sessions and clones: half of a session's time is compilation."""
    directory = _cache_directory(config)
    if directory is not None:
        jax.config.update("jax_compilation_cache_dir", str(directory))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", CACHED_FROM_SECONDS)


def _cache_directory(config: pytest.Config) -> Path | None:
    """A directory in the user's cache folder, or in pytest's if that cannot be written to."""
    name = f"{platform.node()}-{_processor()}"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attribute-planner" / "tests"
    try:
        (folder / name).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # not permitted, or no home directory
        cache = getattr(config, "cache", None)
        return None if cache is None else Path(cache.mkdir(name))
    with contextlib.suppress(OSError):  # another session may be deleting it
        size = sum(file.stat().st_size for file in folder.rglob("*"))
        if size > MAX_CACHE_BYTES and not hasattr(config, "workerinput"):
            shutil.rmtree(folder)
            (folder / name).mkdir(parents=True)
    return folder / name


def _processor() -> str:
    """What tells processors apart: compiled code depends on their instructions, but JAX's cache keys do not."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        return f"{zlib.crc32(next((line for line in file if line.startswith('flags')), '').encode()):08x}"
    return platform.machine()


LONGEST = (
    "tests/test_documentation.py",
    "tests/experiments/test_running.py",
    "tests/command_line/test_commands.py",
    "tests/environments/test_registry.py",
    "tests/test_from_gymnasium_training.py",
    "tests/phases/test_practise.py",
    "tests/phases/test_forward_model.py",
    "tests/phases/test_refine.py",
    "tests/baselines/test_hindsight_replay.py",
    "tests/test_ray_cluster.py",
    "tests/test_several_seeds.py",
    "tests/viewer/test_browser.py",
)
"""The files that take longest. They run first, so that all workers finish at about the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; workers take files in this order."""
    order = {file: number for number, file in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.nodeid.partition("::")[0], len(order)))


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: the garbage collector need not look at them again."""
    gc.collect()
    gc.freeze()


def _with_loose_types(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of another library that relies on type promotion."""

    def loose(*args: Any, **kwargs: Any) -> Any:
        with jax.numpy_dtype_promotion("standard"):
            return function(*args, **kwargs)

    return loose


def _kept_by_each_thread(make: Callable[[], Any]) -> Callable[[], Any]:
    """A function that makes something for each thread once."""
    kept = threading.local()

    def get() -> Any:
        if not hasattr(kept, "made"):
            kept.made = make()
        return kept.made

    return get


def _without_checks(register: Callable[..., Any]) -> Callable[..., Any]:
    """`register_dataclass` without checks of constructors: JAX rebuilds states with axes, shapes or `None`."""

    def registered(cls: Any, *args: Any, **kwargs: Any) -> Any:
        cls.__no_type_check__ = True
        return register(cls, *args, **kwargs)

    return registered


jax.config.update("jax_numpy_rank_promotion", RANK_PROMOTION)
jax.config.update("jax_numpy_dtype_promotion", DTYPE_PROMOTION)
optax.tree.bias_correction = _with_loose_types(optax.tree.bias_correction)  # Adam: a float to the power of an int
# JAX makes a new context for each function that it compiles: a quarter of the time of a small one.
mlir.make_ir_context = _kept_by_each_thread(mlir.make_ir_context)

# Both must precede the first import of the package.
jax.tree_util.register_dataclass = _without_checks(jax.tree_util.register_dataclass)
type_checks.install(CHECKED)


# A busy machine is no failure.
hypothesis.settings.register_profile(
    "tests", deadline=None, max_examples=30, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("tests")


@pytest.fixture(autouse=True, scope="session")
def own_state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a user has trusted does not matter to tests, and tests add nothing to it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True, scope="session")
def no_measurements() -> Iterator[None]:
    """What training does must not depend on the speed of the machine: no goals are measured on the way."""
    from attribute_planner.evaluation import goal_meter

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(goal_meter, "FIRST_AFTER", float("inf"))
        yield


class NetworkAccessError(RuntimeError):
    """A test used the network. Not an `OSError`, so that no handler of connection errors catches it."""


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Restrict sockets and name look-ups to this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, method, _to_local_addresses(getattr(socket.socket, method)))
        patch.setattr(socket, "getaddrinfo", _of_local_names(socket.getaddrinfo))
        yield


def _to_local_addresses(method: Callable[..., Any]) -> Callable[..., Any]:
    """A socket method whose last argument is an address, restricted to local addresses."""

    def guarded(self: socket.socket, *args: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_unless_local(args[-1][0])
        return method(self, *args)

    return guarded


def _of_local_names(look_up: Callable[..., Any]) -> Callable[..., Any]:
    """`getaddrinfo`, restricted to local names."""

    def guarded(host: str | bytes | None, *args: Any, **kwargs: Any) -> Any:
        if host is not None:
            _refuse_unless_local(host.decode() if isinstance(host, bytes) else host)
        return look_up(host, *args, **kwargs)

    return guarded


def _refuse_unless_local(host: str) -> None:
    try:
        local = host in ("", "localhost") or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        local = False
    if not local:
        raise NetworkAccessError(f"Tests must not use the network, but this one connected to {host!r}.")
