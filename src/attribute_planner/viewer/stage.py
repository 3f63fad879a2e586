"""`Stage`: an environment on which an agent pursues goals, one step at a time."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from attribute_planner.agent import Agent
from attribute_planner.attributes import Goal
from attribute_planner.evaluation.pursue import RunningEpisodes
from attribute_planner.models.encoders import NO_VALUE
from attribute_planner.planning.belief import Belief, perceive
from attribute_planner.planning.executor import executor_named
from attribute_planner.viewer.data import image_url, set_json
from attribute_planner.viewer.frames import FrameWriter, result_json


class Stage:
    """One environment of an agent. With a seed it begins as `agent.reach` does, and so do the episodes."""

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        self.agent = agent
        self.envs = agent.env.vector_env(1)
        self.envs.episode_steps = agent.max_steps
        self._image = ""
        self._running: RunningEpisodes | None = None
        self._writer: FrameWriter | None = None
        self.reset(seed)

    def close(self) -> None:
        """Release the environment."""
        self.envs.close()

    def reset(self, seed: int) -> None:
        """Begin an episode at the start of this seed, without a goal."""
        self.seed, self._running, self._image = seed, None, ""
        reset_key, self._key = jax.random.split(jax.random.key(seed))
        self._timestep = self.envs.reset(reset_key)
        attributes = None if self._timestep.attributes is None else np.asarray(self._timestep.attributes)
        # The first time, both are compiled; that takes seconds, and the helper does it at the same time.
        with ThreadPoolExecutor(1) as helper:
            perceived = helper.submit(perceive, self.agent.detector, self._timestep.observation, attributes)
            self._start_image = self._drawn()
            self._belief = perceived.result()

    @property
    def values(self) -> np.ndarray:
        """`int32[A]` the set in which the episode begins, as the agent detects it."""
        return self._belief.values[0]

    def scene(self) -> dict[str, Any]:
        """The frame of the start, without a goal."""
        self._image = ""
        return {"step": 0, "believed": set_json(self.values), **self._seen_at_start()}

    def begin(self, goal: Goal, mode: str) -> dict[str, Any]:
        """Begin to pursue a goal at the start; the first frame."""
        self.reset(self.seed)
        executor, limit = executor_named(mode), self.agent.max_steps
        execution = self.agent.execution([goal], limit, executor, record=True)
        space = self.agent.env.attributes
        self._running = RunningEpisodes(execution, self.envs, self._timestep, space, key=self._key)
        self._writer = FrameWriter(execution.planner, goal)
        return self._writer.frame(0, self.values, None, **self._seen_at_start())

    def step(self, count: int) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """The frames of the next steps, and the result if the episode has ended."""
        assert self._running is not None, "an episode begins before it is stepped"
        frames: list[dict[str, Any]] = []
        while len(frames) < count:
            if not self._running.advance(1):
                return frames, result_json(self._running.episodes()[0])
            frames.append(self._frame(self._running))
        return frames, None

    @property
    def has_begun(self) -> bool:
        """Whether a goal is pursued."""
        return self._running is not None

    def _frame(self, running: RunningEpisodes) -> dict[str, Any]:
        assert self._writer is not None
        memory = running.now.memory
        active = memory.episodes[0]
        target = None if active.target[0] == NO_VALUE else active.target
        seen = self._seen(memory.belief, running.now.attributes, self._drawn())
        return self._writer.frame(
            active.steps, active.values, target, before=active.trace[-1], left=max(active.left, 1), **seen
        )

    def _seen_at_start(self) -> dict[str, Any]:
        return self._seen(self._belief, self._timestep.attributes, self._start_image)

    def _seen(self, belief: Belief, attributes: Any, image: str) -> dict[str, Any]:
        """What is seen besides the plan: the image if it changed, the truth, and how certain the detector is."""
        seen: dict[str, Any] = {}
        if image != self._image:
            seen["image"], self._image = image, image
        if attributes is not None:
            seen["truth"] = set_json(np.asarray(attributes)[0])
        if belief.log_shares is not None:
            seen["certainty"] = np.exp(belief.log_shares[0].max(axis=-1)).round(4).tolist()
        return seen

    def _drawn(self) -> str:
        """The image of the state; empty for an environment that cannot be drawn."""
        try:
            return image_url(np.asarray(self.envs.render(0)))
        except NotImplementedError:
            return ""
