"""Goals and changes in a few words."""

from collections.abc import Mapping
from typing import Any

from attribute_planner.attributes import AttributeSpace, Goal

MAX_GOAL = 120
"""Characters of a goal that are shown."""
MAX_CHANGES = 3
"""Changes that are written out; more are counted."""


def goal_words(goal: Goal, space: AttributeSpace) -> str:
    """The goal; of a long one, how it begins."""
    text = goal.text(space)
    if len(text) <= MAX_GOAL:
        return text
    return f"{text[:MAX_GOAL].rpartition(' ')[0] or text[:MAX_GOAL]} … ({int(goal.wanted.sum())} attributes)"


def change_words(change: Mapping[str, Any]) -> str:
    """What a transition changes; of many changes, the first few."""
    words = [f"{name} → {value}" for name, value in change.items()]
    more = f" +{len(words) - MAX_CHANGES}" if len(words) > MAX_CHANGES else ""
    return ", ".join(words[:MAX_CHANGES]) + more
