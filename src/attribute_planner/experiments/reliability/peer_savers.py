"""The same arrays saved by this package, by Stable-Baselines3 and by Orbax."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from attribute_planner.files.array_file import array_bytes, parse_arrays
from attribute_planner.files.manifest import commit, read_verified, recover

Arrays = dict[str, np.ndarray]
LAYERS = (256, 512)
"""Units of the layers: about one megabyte of weights."""


class Saver(ABC):
    """A library that saves arrays into a folder and reads them again.

    package: its name on the package index.
    call: what is measured.
    """

    package: str
    call: str

    @property
    def name(self) -> str:
        """The package and its version."""
        return f"{self.package} {version(self.package)}"

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of each array."""
        return {"first": LAYERS, "second": LAYERS}

    @cached_property
    def weights(self) -> Arrays:
        """Random weights, made once: a process that is killed should spend its time saving."""
        random = np.random.default_rng(0)
        return {name: random.normal(size=shape).astype(np.float32) for name, shape in self.shapes.items()}

    @abstractmethod
    def save(self, folder: Path, number: int) -> None:
        """Save the arrays with this number as the next checkpoint."""

    @abstractmethod
    def read(self, folder: Path) -> Arrays:
        """The arrays of the last checkpoint; raises an exception if there is none, or if it is refused."""


class OwnSaver(Saver):
    """This package."""

    package = "attribute-planner"
    call = "files.manifest.commit"

    def save(self, folder: Path, number: int) -> None:
        folder.mkdir(exist_ok=True)
        recover(folder)
        commit(folder, {"agent.safetensors": array_bytes(arrays_of(self, number), {})})

    def read(self, folder: Path) -> Arrays:
        return parse_arrays(read_verified(folder, "agent.safetensors"), folder / "agent.safetensors")[0]


class StableBaselinesSaver(Saver):
    """`model.save` of Stable-Baselines3."""

    package = "stable-baselines3"
    call = "PPO.save"

    @cached_property
    def model(self) -> Any:
        """A model whose weights are replaced."""
        import torch  # pyright: ignore[reportMissingImports]
        from gymnasium.envs.classic_control.cartpole import CartPoleEnv
        from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]

        torch.set_num_threads(1)  # other threads would not survive a fork
        return PPO("MlpPolicy", CartPoleEnv(), policy_kwargs={"net_arch": list(LAYERS)}, device="cpu")

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {name: tuple(weights.shape) for name, weights in self.model.policy.state_dict().items()}

    def save(self, folder: Path, number: int) -> None:
        import torch  # pyright: ignore[reportMissingImports]

        folder.mkdir(exist_ok=True)
        self.model.policy.load_state_dict(
            {name: torch.from_numpy(array) for name, array in arrays_of(self, number).items()}
        )
        self.model.save(folder / "model")

    def read(self, folder: Path) -> Arrays:
        loaded = type(self.model).load(folder / "model", device="cpu")
        return {name: weights.numpy() for name, weights in loaded.policy.state_dict().items()}


class OrbaxSaver(Saver):
    """The checkpoint manager of Orbax, which keeps the last two."""

    package = "orbax-checkpoint"
    call = "CheckpointManager.save"

    def save(self, folder: Path, number: int) -> None:
        import orbax.checkpoint as orbax  # pyright: ignore[reportMissingImports]

        with self._manager(folder) as manager:
            manager.save(number, args=orbax.args.StandardSave(arrays_of(self, number)))
            manager.wait_until_finished()

    def read(self, folder: Path) -> Arrays:
        import orbax.checkpoint as orbax  # pyright: ignore[reportMissingImports]

        with self._manager(folder) as manager:
            return manager.restore(manager.latest_step(), args=orbax.args.StandardRestore(arrays_of(self, 0)))

    def _manager(self, folder: Path) -> Any:
        import orbax.checkpoint as orbax  # pyright: ignore[reportMissingImports]

        options = orbax.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=False)
        return orbax.CheckpointManager(folder, options=options)


SAVERS: dict[str, type[Saver]] = {"own": OwnSaver, "stable-baselines3": StableBaselinesSaver, "orbax": OrbaxSaver}


def arrays_of(saver: Saver, number: int) -> Arrays:
    """Random weights, the same for every number, to which the number is added."""
    return {name: array + np.float32(number) for name, array in saver.weights.items()}


def number_of(saver: Saver, arrays: Arrays) -> int | None:
    """The number of arrays that were saved together; `None` if they are not as they were saved."""
    name = next(iter(saver.weights))
    number = float(arrays[name].flat[0] - saver.weights[name].flat[0])
    if not np.isfinite(number):
        return None
    expected = arrays_of(saver, round(number))
    same = arrays.keys() == expected.keys() and all(np.array_equal(arrays[each], expected[each]) for each in expected)
    return round(number) if same else None
