"""Attributes, attribute sets (ρ in the paper), and goals."""

from attribute_planner.attributes.goal import Goal as Goal
from attribute_planner.attributes.goal import goal_from_names as goal_from_names
from attribute_planner.attributes.goal import parse_goal as parse_goal
from attribute_planner.attributes.space import Attribute as Attribute
from attribute_planner.attributes.space import AttributeSpace as AttributeSpace
from attribute_planner.attributes.space import Value as Value
