"""Goals and changes in a few words."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attribute_planner.attributes import AttributeSpace, Goal, value_text

MAX_GOAL = 120
"""Characters of a goal that are shown."""
MAX_CHANGES = 3
"""Changes that are written out; more are counted."""


def goal_words(goal: Goal, space: AttributeSpace) -> str:
    """The goal; of a long one, how it begins."""
    text, parts = goal.text(space), goal.texts(space)
    if len(text) <= MAX_GOAL:
        return text
    fitting = int((np.cumsum([len(part) + 1 for part in parts]) <= MAX_GOAL + 1).sum())
    return f"{' '.join(parts[:fitting]) or text[:MAX_GOAL]} … ({len(parts)} attributes)"


def change_words(change: Mapping[str, Any]) -> str:
    """What a transition changes; of many changes, the first few."""
    words = [f"{name} → {value_text(value)}" for name, value in change.items()]
    more = f" +{len(words) - MAX_CHANGES}" if len(words) > MAX_CHANGES else ""
    return ", ".join(words[:MAX_CHANGES]) + more
