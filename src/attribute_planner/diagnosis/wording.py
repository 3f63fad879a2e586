"""Attribute sets and shares in words."""

import numpy as np

from attribute_planner.attributes import AttributeSpace, value_text
from attribute_planner.transitions.evidence import percent as percent


def set_words(space: AttributeSpace, values: np.ndarray, of: np.ndarray | None = None) -> str:
    """`door=open key=false`; only attributes in the mask `of`, if given."""
    named = space.decode(values)
    chosen = [name for i, name in enumerate(space.names) if of is None or of[i]]
    return " ".join(f"{name}={value_text(named[name])}" for name in chosen)


def times(count: int) -> str:
    """`once`, `2 times`."""
    return "once" if count == 1 else f"{count:,} times"


def attempts_words(count: float) -> str:
    """`1 recent attempt`, `12 recent attempts`."""
    return f"{count:.0f} recent attempt{'' if round(count) == 1 else 's'}"
