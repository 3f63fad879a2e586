"""Worlds with goals or values that are impossible, and with detectors that fail."""

import numpy as np

from attribute_planner.attributes import Attribute
from attribute_planner.experiments.failing.world import LEFT, OTHER, RIGHT, USE, FailingWorld, Outcomes, State, moved


def interlock() -> FailingWorld:
    """Two valves of which one can be open."""

    def outcomes(state: State, action: int) -> Outcomes:
        a, b = state
        if action == LEFT:
            return [(1.0, (1 - a, 0))]
        return [(1.0, (0, 1 - b) if action == RIGHT else (a, b))]

    return FailingWorld(
        "interlock",
        "both valves cannot be open at once",
        ("no-way",),
        ("inlet=True outlet=True",),
        (Attribute("inlet"), Attribute("outlet")),
        {"both": {"inlet": True, "outlet": True}},
        ((0, 0),),
        outcomes,
        lambda state: dict(zip(("inlet", "outlet"), state, strict=True)),
        lambda state: {"inlet": bool(state[0]), "outlet": bool(state[1])},
    )


def one_way() -> FailingWorld:
    """Stairs that lead down only."""
    rooms = ("attic", "hall", "cellar")
    return FailingWorld(
        "one-way",
        "no stairs lead up to the attic",
        ("no-way",),
        ("room=attic",),
        (Attribute("room", rooms),),
        {"up": {"room": "attic"}},
        ((0,), (1,), (2,)),
        lambda state, action: [(1.0, (min(state[0] + int(action == RIGHT), 2),))],
        lambda state: {"room": state[0]},
        lambda state: {"room": rooms[state[0]]},
    )


def broken_door() -> FailingWorld:
    """A declared value that does not occur."""
    values = ("closed", "open", "broken")
    return FailingWorld(
        "broken-door",
        "the door never breaks",
        ("unseen-value",),
        ("door=broken",),
        (Attribute("door", values), Attribute("lamp")),
        {"break": {"door": "broken"}, "light": {"lamp": True}},
        ((0, 0),),
        lambda state, action: [(1.0, (state[0] ^ int(action == USE), state[1] ^ int(action == OTHER)))],
        lambda state: dict(zip(("door", "lamp"), state, strict=True)),
        lambda state: {"door": values[state[0]], "lamp": bool(state[1])},
    )


def full_basket() -> FailingWorld:
    """A basket that holds three apples, and a task that asks for six."""
    return FailingWorld(
        "full-basket",
        "the basket holds three apples at most",
        ("unseen-value",),
        ("apples",),
        (Attribute("apples", range(8)),),
        {"six": {"apples": 6}},
        ((0,),),
        lambda state, action: [(1.0, (moved(state[0], action, 3),))],
        lambda state: {"apples": state[0]},
        lambda state: {"apples": state[0]},
    )


def few_labels() -> FailingWorld:
    """Sixty-four states that look unlike each other, and a dozen labels."""
    look = np.random.default_rng(7).normal(size=(64, 8))
    is_hot = np.random.default_rng(8).random(64) < 0.5
    return FailingWorld(
        "few-labels",
        "a dozen labels are too few",
        ("detector",),
        ("labels",),
        (Attribute("hot"), Attribute("half", ("low", "high"))),
        {"hot": {"hot": True, "half": "high"}},
        tuple((x,) for x in range(64)),
        lambda state, action: [(1.0, (moved(state[0], action, 63),))],
        lambda state: {f"look{i}": float(value) for i, value in enumerate(look[state[0]])},
        lambda state: {"hot": bool(is_hot[state[0]]), "half": ("low", "high")[state[0] // 32]},
        num_labels=20,
        explore_steps=2_000,
    )


def blind_detector() -> FailingWorld:
    """An attribute that cannot be observed."""
    return FailingWorld(
        "blind-detector",
        "the lid cannot be seen",
        ("detector",),
        ("lid",),
        (Attribute("place", range(4)), Attribute("lid")),
        {"lift": {"lid": True}},
        tuple((x, lid) for x in range(4) for lid in (0, 1)),
        lambda state, action: [(1.0, (moved(state[0], action, 3), state[1] ^ int(action == USE)))],
        lambda state: {"x": state[0]},
        lambda state: {"place": state[0], "lid": bool(state[1])},
        num_labels=400,
    )
