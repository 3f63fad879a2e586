"""Worlds in which an attribute is noise, or changes by itself; and worlds with attributes that are too fine."""

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.failing.world import OTHER, USE, FailingWorld, Outcomes, State, moved


def _lamp_and(name: str, cause: str, noise: Attribute, changed: list[list[tuple[float, int]]]) -> FailingWorld:
    """A corridor with a lamp, and an attribute that changes by itself: `changed[value]` are its outcomes."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, lamp, value = state
        after = moved(x, action, 4), lamp ^ int(action == USE and x == 4)
        return [(chance, (*after, later)) for chance, later in changed[value]]

    return FailingWorld(
        name,
        cause,
        ("noise",),
        (noise.name,),
        (Attribute("place", range(5)), Attribute("lamp"), noise),
        {"light": {"lamp": True}, "home": {"place": 0, "lamp": True}},
        tuple((x, 0, value) for x in range(5) for value in range(noise.size)),
        outcomes,
        lambda state: dict(zip(("x", "lamp", noise.name), state, strict=True)),
        lambda state: {
            "place": state[0],
            "lamp": bool(state[1]),
            noise.name: bool(state[2]) if noise.size == 2 else state[2],
        },
    )


def noisy_bit() -> FailingWorld:
    """A sensor that reads anything."""
    return _lamp_and("noisy-bit", "flicker is noise", Attribute("flicker"), [[(0.5, 0), (0.5, 1)]] * 2)


def noisy_weather() -> FailingWorld:
    """Weather, which changes as it likes."""
    changed = [[(0.7, value), *((0.1, other) for other in range(4) if other != value)] for value in range(4)]
    return _lamp_and("noisy-weather", "weather is noise", Attribute("weather", range(4)), changed)


def clock() -> FailingWorld:
    """A clock, which runs by itself."""
    return _lamp_and(
        "clock",
        "the hour changes by itself with every step",
        Attribute("hour", range(8)),
        [[(1.0, (value + 1) % 8)] for value in range(8)],
    )


def fine_dials() -> FailingWorld:
    """Two dials that matter to no task split the evidence."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, door, dial, knob = state
        opens, turns = action == USE and x == 3, action == OTHER
        return [(1.0, (moved(x, action, 3), door ^ int(opens), (dial + turns) % 10, (knob + 3 * turns * (x > 1)) % 10))]

    return FailingWorld(
        "fine-dials",
        "dial and knob matter to no task and split the evidence",
        ("weak-edge", "noise"),
        ("dial", "knob"),
        (Attribute("place", range(4)), Attribute("door"), Attribute("dial", range(10)), Attribute("knob", range(10))),
        {"open": {"door": True}},
        tuple((x, 0, dial, dial) for x in range(4) for dial in range(10)),
        outcomes,
        lambda state: dict(zip(("x", "door", "dial", "knob"), state, strict=True)),
        lambda state: {"place": state[0], "door": bool(state[1]), "dial": state[2], "knob": state[3]},
        practise_steps=1_500,
        train_steps=3_000,
    )


def stiff_lock() -> FailingWorld:
    """A lock that opens once in a hundred tries."""

    def outcomes(state: State, action: int) -> Outcomes:
        x, door = state
        if action == USE and x == 2 and not door:
            return [(0.01, (x, 1)), (0.99, (x, 0))]
        return [(1.0, (moved(x, action, 2), door))]

    return FailingWorld(
        "stiff-lock",
        "the lock opens by chance only",
        ("weak-edge",),
        ("door",),
        (Attribute("place", range(3)), Attribute("door")),
        {"open": {"door": True}},
        ((0, 0), (1, 0)),
        outcomes,
        lambda state: dict(zip(("x", "door"), state, strict=True)),
        lambda state: {"place": state[0], "door": bool(state[1])},
        episode_steps=40,
    )
