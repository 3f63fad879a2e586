"""What the user's mistakes are answered with."""

from collections.abc import Callable
from inspect import unwrap

import pytest

from attribute_planner.attributes import goal_from_names
from attribute_planner.configuration import config_for
from attribute_planner.errors import AttributePlannerError, unknown_name
from attribute_planner.evaluation.check_environment import check_environment
from attribute_planner.training import train
from tests.probes import numbers


@pytest.mark.parametrize(("count", "end"), [(0, "(none)"), (2, "a-0, a-1"), (40, "a-38, a-39"), (267, "and 257 more")])
def test_an_unknown_name_lists_what_exists_or_the_first_of_many(count: int, end: str):
    said = str(unknown_name("cell", "a-39?", (f"a-{number}" for number in range(count))))
    assert said.endswith(f"{end}.") and len(said) < 400
    assert ("Did you mean 'a-39'?" in said) == (count > 39)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unwrap(config_for)("switches"), r"^config_for needs an environment \(ap.make, .*\), not a str\.$"),
        (lambda: unwrap(check_environment)(3), "^check_environment needs an environment .* not a int"),
        (lambda: unwrap(train)(object()), "^train needs an environment .* not a object"),
        (lambda: unwrap(goal_from_names)(numbers(3), 2), "^A goal is a dictionary or a text, as in n=…; it is 2"),
    ],
)
def test_arguments_of_another_type_are_named_in_one_line(call: Callable[[], object], message: str):
    """Without the checks of types of the test session, as users call them."""
    with pytest.raises(AttributePlannerError, match=message):
        call()


def test_an_unknown_name_is_said_of_what_lacks_it():
    known = ("empty", "full")
    assert str(unknown_name("kettle", "emty", known)) == (
        "There is no kettle 'emty'. Did you mean 'empty'? There are: empty, full."
    )
    assert str(unknown_name("value", 3, known, of="Attribute 'kettle'")) == (
        "Attribute 'kettle' has no value '3'. There are: empty, full."
    )
