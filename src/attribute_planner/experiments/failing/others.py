"""Five more worlds made to fail, on which nothing was tuned: they were written after the findings."""

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.failing.world import (
    LEFT,
    OTHER,
    RIGHT,
    USE,
    FailingWorld,
    Outcomes,
    State,
    moved,
)


def ladder_left_out() -> FailingWorld:
    """The roof can only be climbed at the wall where the ladder stands, which is no attribute."""

    def outcomes(state: State, action: int) -> Outcomes:
        wall, ladder, roof = state
        if action == USE:
            return [(1.0, (wall, ladder, 1 if wall == ladder and wall < 2 else roof))]
        return [(1.0, (moved(wall, action, 2), ladder, 0 if action == OTHER else roof))]

    return FailingWorld(
        "ladder-left-out",
        "where the ladder stands is no attribute",
        ("aliasing",),
        ("ladder",),
        (Attribute("wall", ("north", "middle", "south")), Attribute("roof")),
        {"up": {"roof": True, "wall": "north"}},
        tuple((wall, ladder, 0) for wall in range(3) for ladder in range(3)),
        outcomes,
        lambda state: dict(zip(("wall", "ladder", "roof"), state, strict=True)),
        lambda state: {"wall": ("north", "middle", "south")[state[0]], "roof": bool(state[2])},
    )


def bad_sensor() -> FailingWorld:
    """A battery whose charge is read at random, and is not observed."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, door, _ = state
        after = moved(x, action, 5), door ^ int(action == USE and x == 5)
        return [(0.5, (*after, 0)), (0.25, (*after, 1)), (0.25, (*after, 2))]

    return FailingWorld(
        "bad-sensor",
        "battery is read at random",
        ("noise",),
        ("battery",),
        (Attribute("half", ("left", "right")), Attribute("door"), Attribute("battery", ("low", "medium", "high"))),
        {"open": {"door": True, "half": "left"}},
        tuple((x, 0, 0) for x in range(6)),
        outcomes,
        lambda state: {"x": state[0], "door": state[1]},
        lambda state: {
            "half": ("left", "right")[state[0] // 3],
            "door": bool(state[1]),
            "battery": ("low", "medium", "high")[state[2]],
        },
    )


def spilled_milk() -> FailingWorld:
    """What is spilled cannot be put back: the goal contradicts the start."""

    def outcomes(state: State, action: int) -> Outcomes:
        full, drunk = state
        if action == LEFT and full:
            return [(1.0, (0, drunk))]
        return [(1.0, (0, 1) if action == RIGHT and full else (full, drunk))]

    return FailingWorld(
        "spilled-milk",
        "a glass that was drunk from is not full",
        ("no-way",),
        ("full=True", "drunk=True"),
        (Attribute("full"), Attribute("drunk")),
        {"cake": {"full": True, "drunk": True}},
        ((1, 0),),
        outcomes,
        lambda state: dict(zip(("full", "drunk"), state, strict=True)),
        lambda state: {"full": bool(state[0]), "drunk": bool(state[1])},
        episode_steps=20,
    )


def heavy_crank() -> FailingWorld:
    """A crank that takes thirty turns, and attempts of twenty steps."""

    def outcomes(state: State, action: int) -> Outcomes:
        turns, bridge = state
        if action != USE:
            return [(1.0, (max(turns - int(action == LEFT), 0), bridge))]
        return [(1.0, (min(turns + 1, 30), int(bridge or turns >= 29)))]

    return FailingWorld(
        "heavy-crank",
        "an attempt is too short for thirty turns",
        ("weak-edge", "aliasing"),
        ("longer attempts",),
        (Attribute("bridge"),),
        {"lower": {"bridge": True}},
        ((0, 0), (0, 0), (20, 0)),
        outcomes,
        lambda state: dict(zip(("turns", "bridge"), state, strict=True)),
        lambda state: {"bridge": bool(state[1])},
        explore_steps=20_000,
        episode_steps=80,
    )


def far_corner() -> FailingWorld:
    """A field that takes longer to cross than an episode."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, y = state
        return [(1.0, (moved(x, action, 11), min(max(y + int(action == USE) - int(action == OTHER), 0), 11)))]

    return FailingWorld(
        "far-corner",
        "an episode of twelve steps is too short to cross the field",
        ("no-way",),
        ("episode_steps", "more steps"),
        (Attribute("column", range(4)), Attribute("row", range(4))),
        {"corner": {"column": 3, "row": 3}},
        tuple((x, y) for x in range(0, 12, 3) for y in range(0, 12, 3)),
        outcomes,
        lambda state: dict(zip(("x", "y"), state, strict=True)),
        lambda state: {"column": state[0] // 3, "row": state[1] // 3},
        episode_steps=12,
        explore_steps=20_000,
    )


OTHERS = (ladder_left_out, bad_sensor, spilled_milk, heavy_crank, far_corner)
"""Each makes a world."""
