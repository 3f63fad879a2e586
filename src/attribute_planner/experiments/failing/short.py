"""Worlds with too few steps of training, or of an episode."""

from itertools import product

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.failing.world import OTHER, USE, FailingWorld, Outcomes, State, moved


def short_exploration() -> FailingWorld:
    """A long corridor and little exploration."""
    return FailingWorld(
        "short-exploration",
        "too few steps to find the end of the corridor",
        ("no-way", "unseen-value"),
        ("more steps",),
        (Attribute("room", range(24)),),
        {"end": {"room": 23}},
        ((0,),),
        lambda state, action: [(1.0, (moved(state[0], action, 23),))],
        lambda state: {"x": state[0]},
        lambda state: {"room": state[0]},
        explore_steps=150,
        practise_steps=2_000,
        train_steps=400,
    )


def short_practice() -> FailingWorld:
    """Many transitions and hardly any practice."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, y = state
        return [(1.0, (moved(x, action, 7), min(max(y + int(action == USE) - int(action == OTHER), 0), 7)))]

    return FailingWorld(
        "short-practice",
        "too few steps to practise",
        ("weak-edge",),
        ("more steps",),
        (Attribute("x", range(8)), Attribute("y", range(8))),
        {"corner": {"x": 7, "y": 7}},
        tuple(product(range(8), range(8))),
        outcomes,
        lambda state: dict(zip(("x", "y"), state, strict=True)),
        lambda state: dict(zip(("x", "y"), state, strict=True)),
        practise_steps=60,
        train_steps=2_000,
    )


def short_episode() -> FailingWorld:
    """The last room is further away than an episode is long."""
    return FailingWorld(
        "short-episode",
        "an episode of 30 steps is too short for the way of 50",
        ("no-way",),
        ("episode_steps", "more steps"),
        (Attribute("room", range(6)),),
        {"last": {"room": 5}},
        tuple((x,) for x in range(0, 60, 5)),
        lambda state, action: [(1.0, (moved(state[0], action, 59),))],
        lambda state: {"x": state[0]},
        lambda state: {"room": state[0] // 10},
        episode_steps=30,
        explore_steps=20_000,
    )


def slow_machine() -> FailingWorld:
    """A machine whose stages take twelve steps each."""

    def outcomes(state: State, action: int) -> Outcomes:
        stage, done = state
        if action != USE:
            return [(1.0, (stage, done))]
        return [(1.0, (min(stage + 1, 4), 0) if done == 11 else (stage, done + 1))]

    return FailingWorld(
        "slow-machine",
        "an episode of 30 steps is too short for four stages of twelve",
        ("no-way",),
        ("episode_steps", "more steps"),
        (Attribute("stage", range(5)),),
        {"finish": {"stage": 4}},
        tuple((stage, 0) for stage in range(4)),
        outcomes,
        lambda state: dict(zip(("stage", "done"), state, strict=True)),
        lambda state: {"stage": state[0]},
        episode_steps=30,
        explore_steps=20_000,
    )
