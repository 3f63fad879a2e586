"""Attributes, attribute sets (ρ in the paper), and goals."""

from typing import TYPE_CHECKING

from attribute_planner.lazy import lazy_names

if TYPE_CHECKING:
    from attribute_planner.attributes.attribute import Attribute as Attribute
    from attribute_planner.attributes.attribute import Value as Value
    from attribute_planner.attributes.attribute import value_text as value_text
    from attribute_planner.attributes.goal import Goal as Goal
    from attribute_planner.attributes.goal import goal_from_names as goal_from_names
    from attribute_planner.attributes.goal import parse_goal as parse_goal
    from attribute_planner.attributes.space import AttributeSpace as AttributeSpace

__getattr__ = lazy_names(
    __name__,
    {
        "Attribute": "attribute",
        "AttributeSpace": "space",
        "Goal": "goal",
        "Value": "attribute",
        "goal_from_names": "goal",
        "parse_goal": "goal",
        "value_text": "attribute",
    },
)
