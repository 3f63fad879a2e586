"""The diagnosis of worlds made to fail; an idealised learner trains on them."""

import pytest

from attribute_planner.experiments.failing.tabular import train_tabular
from attribute_planner.experiments.failing.worlds import WORLDS

REQUIRED = 18
"""Of the twenty worlds, in so many the first finding names the cause."""


@pytest.fixture(scope="module")
def named() -> dict[str, bool]:
    """Whether the first finding names the cause, by world."""
    results = {}
    for make in WORLDS:
        world = make()
        found = train_tabular(world).diagnose(episodes=0).findings
        results[world.name] = bool(found) and world.is_named_by(found[0].kind, found[0].message)
        world.environment.close()
    return results


def test_the_first_finding_names_the_cause(named: dict[str, bool]):
    assert len(named) == 20
    assert sum(named.values()) >= REQUIRED, [name for name, right in named.items() if not right]
