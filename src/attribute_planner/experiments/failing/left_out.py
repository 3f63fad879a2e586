"""Worlds in which a needed attribute is left out, or attributes are too coarse."""

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.failing.world import LEFT, RIGHT, USE, FailingWorld, Outcomes, State, moved


def key_left_out() -> FailingWorld:
    """A door needs a key, which is no attribute."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, key, door = state
        return [(1.0, (moved(x, action, 4), key, int(door or (action == USE and x == 4 and key))))]

    return FailingWorld(
        "key-left-out",
        "whether the agent has the key is no attribute",
        ("aliasing",),
        ("key",),
        (Attribute("side", ("left", "middle", "right")), Attribute("door")),
        {"open": {"door": True}},
        ((2, 0, 0), (2, 1, 0)),
        outcomes,
        lambda state: dict(zip(("x", "key", "door"), state, strict=True)),
        lambda state: {"side": ("left", "left", "middle", "right", "right")[state[0]], "door": bool(state[2])},
    )


def power_left_out() -> FailingWorld:
    """A lamp works only where there is power, which is no attribute."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, power, lamp = state
        toggles = action == USE and x == 2 and power
        return [(1.0, (moved(x, action, 2), power, lamp ^ int(toggles)))]

    return FailingWorld(
        "power-left-out",
        "whether there is power is no attribute",
        ("aliasing",),
        ("power",),
        (Attribute("place", range(3)), Attribute("lamp")),
        {"light": {"lamp": True}},
        tuple((x, power, 0) for x in range(3) for power in (0, 1)),
        outcomes,
        lambda state: dict(zip(("x", "power", "lamp"), state, strict=True)),
        lambda state: {"place": state[0], "lamp": bool(state[2])},
    )


def fuel_left_out() -> FailingWorld:
    """A car needs three units of fuel to drive, which is no attribute."""

    def outcomes(state: State, action: int) -> Outcomes:
        place, fuel = state
        if action == RIGHT and fuel >= 3:
            return [(1.0, (1, fuel))]
        return [(1.0, (0 if action == LEFT else place, fuel))]

    return FailingWorld(
        "fuel-left-out",
        "whether there is enough fuel is no attribute",
        ("aliasing",),
        ("fuel",),
        (Attribute("place", ("home", "town")),),
        {"town": {"place": "town"}},
        tuple((0, fuel) for fuel in range(6)),
        outcomes,
        lambda state: dict(zip(("place", "fuel"), state, strict=True)),
        lambda state: {"place": ("home", "town")[state[0]]},
    )


def coarse_zone() -> FailingWorld:
    """Only the southern part of a zone has a bridge to the other one; the attribute is the zone."""

    def outcomes(state: State, action: int) -> Outcomes:
        south, x, east = state
        crosses = action == USE and x == 3 and south
        return [(1.0, (south, moved(x, action, 3), int(not east) if crosses else east))]

    return FailingWorld(
        "coarse-zone",
        "the zone is too coarse: only its southern part has the bridge",
        ("aliasing",),
        ("south",),
        (Attribute("zone", ("west", "east")),),
        {"east": {"zone": "east"}},
        tuple((south, x, 0) for south in (0, 1) for x in range(4)),
        outcomes,
        lambda state: dict(zip(("south", "x", "east"), state, strict=True)),
        lambda state: {"zone": ("west", "east")[state[2]]},
    )


def coarse_maze() -> FailingWorld:
    """One transition takes more steps than an attempt has."""
    return FailingWorld(
        "coarse-maze",
        "attributes are too coarse: one transition takes longer than an attempt",
        ("weak-edge", "aliasing"),
        ("longer attempts", "finer"),
        (Attribute("at_goal"),),
        {"goal": {"at_goal": True}},
        ((0,), (12,), (24,), (32,)),
        lambda state, action: [(1.0, (moved(state[0], action, 40),))],
        lambda state: {"x": state[0]},
        lambda state: {"at_goal": state[0] == 40},
        explore_steps=20_000,
    )
