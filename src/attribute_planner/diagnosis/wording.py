"""Attribute sets and shares in words."""

import numpy as np

from attribute_planner.attributes import AttributeSpace


def set_words(space: AttributeSpace, values: np.ndarray, of: np.ndarray | None = None) -> str:
    """`door=open key=false`; only attributes in the mask `of`, if given."""
    named = space.decode(values)
    chosen = [name for i, name in enumerate(space.names) if of is None or of[i]]
    return " ".join(f"{name}={value_words(named[name])}" for name in chosen)


def value_words(value: object) -> str:
    """A value as goals spell it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def percent(share: float) -> str:
    """`37 %`; shares that are not quite 0 or 1 are not shown as such."""
    if 0 < share < 0.01:
        return "less than 1 %"
    if 0.99 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"
