"""The strict session that every test runs in. Each switch stands once: here, or in `pyproject.toml` (warnings)."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"  # read once, when jax is first imported
# What is compiled here runs for a moment: to compile it quickly is worth more than to have it run fast.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# The older way to emit code for fused operations takes little more than half the time, and nobody waits for the code.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")
os.environ["MPLBACKEND"] = "Agg"

import ipaddress
import platform
import socket
from collections.abc import Callable, Iterator
from typing import Any

import jax
import optax
import pytest
from jaxtyping import install_import_hook

RANK_PROMOTION = "raise"
"""Arrays of different rank meet only where the code says how."""

DTYPE_PROMOTION = "strict"
"""Arrays of different types meet only where the code converts one."""

TYPE_CHECKER = "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
"""What checks the types and shapes of calls into the package; an `int` will do for a `float`."""

CHECKED = [
    f"attribute_planner.{part}"
    for part in (
        "environments",
        "baselines",
        "evaluation",
        "phases",
        "planning",
        "agent",
        "algorithm",
        "storage",
        "drawing",
        "training",
        "experiments",
        "benchmarks",
        "command_line",
    )
]
"""The parts whose calls are checked; not those that themselves tell users what is wrong with what they were handed.

Protocols in a checked signature must be `runtime_checkable`.
"""

CACHED_FROM_SECONDS = 0.2
"""What takes at least this long to compile is kept for the next session."""


def pytest_configure(config: pytest.Config) -> None:
    """Lets workers and sessions share compiled functions, in pytest's own cache: `--cache-clear` throws them away."""
    cache = getattr(config, "cache", None)
    if cache is not None:
        # A folder for each machine: compiled code depends on the processor, and JAX's keys do not tell.
        jax.config.update("jax_compilation_cache_dir", str(cache.mkdir(f"jax-{platform.node()}")))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", CACHED_FROM_SECONDS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: last, they would keep one worker busy for minutes while the others have nothing to do."""
    items.sort(key=lambda item: "test_python_blocks_run" not in item.nodeid)


def _with_loose_types(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of another library that counts on types that promote."""

    def loose(*args: Any, **kwargs: Any) -> Any:
        with jax.numpy_dtype_promotion("standard"):
            return function(*args, **kwargs)

    return loose


def _without_checks(register: Callable[..., Any]) -> Callable[..., Any]:
    """`register_dataclass` that leaves constructors unchecked: JAX rebuilds states with axes, shapes or None inside."""

    def registered(cls: Any, *args: Any, **kwargs: Any) -> Any:
        cls.__no_type_check__ = True
        return register(cls, *args, **kwargs)

    return registered


jax.config.update("jax_numpy_rank_promotion", RANK_PROMOTION)
jax.config.update("jax_numpy_dtype_promotion", DTYPE_PROMOTION)
optax.tree.bias_correction = _with_loose_types(optax.tree.bias_correction)  # Adam: a float to the power of an int

# Both must precede the first import of the package.
jax.tree_util.register_dataclass = _without_checks(jax.tree_util.register_dataclass)
install_import_hook(CHECKED, TYPE_CHECKER)


class NetworkAccessError(RuntimeError):
    """A test that reached for the network. No `OSError`, so that nothing takes it for a bad line and goes on."""


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Lets sockets and look-ups of names go no further than this machine."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, method, _to_local_addresses(getattr(socket.socket, method)))
        patch.setattr(socket, "getaddrinfo", _of_local_names(socket.getaddrinfo))
        yield


def _to_local_addresses(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a socket, whose last argument is an address, for local addresses only."""

    def guarded(self: socket.socket, *args: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_unless_local(args[-1][0])
        return method(self, *args)

    return guarded


def _of_local_names(look_up: Callable[..., Any]) -> Callable[..., Any]:
    """`getaddrinfo` for local names only."""

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
        raise NetworkAccessError(f"Tests must not use the network, and this one reached for {host!r}.")
