"""What the user's mistakes are answered with."""

import pytest

from attribute_planner.errors import unknown_name


@pytest.mark.parametrize(("count", "end"), [(0, "(none)"), (2, "a-0, a-1"), (40, "a-38, a-39"), (267, "and 257 more")])
def test_an_unknown_name_lists_what_exists_or_the_first_of_many(count: int, end: str):
    said = str(unknown_name("cell", "a-39?", (f"a-{number}" for number in range(count))))
    assert said.endswith(f"{end}.") and len(said) < 400
    assert ("Did you mean 'a-39'?" in said) == (count > 39)
