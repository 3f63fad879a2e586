import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attribute_planner as ap
from attribute_planner.attributes import Goal
from attribute_planner.baselines.training_distribution import (
    TRAINING_DISTRIBUTIONS,
    goal_values,
    open_stages,
    random_mentions,
    stages_of,
    with_partial_goals,
)
from attribute_planner.errors import UnknownNameError
from attribute_planner.models.encoders import NO_VALUE


@pytest.mark.parametrize(
    ("name", "first", "main", "single_attempts"),
    [
        ("switches", "1-step", "multi-step", True),
        ("crafting", "1-step", "craft", True),
        ("blocks", "1-step", "multi-step", True),
        ("starcraft-small", "build-1-of-4", "build", False),
    ],
)
def test_regimes_lead_from_near_goals_to_the_main_task(name: str, first: str, main: str, single_attempts: bool):
    env = ap.make(name)
    near, far, curriculum = (stages_of(env, training_distribution) for training_distribution in TRAINING_DISTRIBUTIONS)
    assert [stage.task.name for stage in near + far] == [first, main]
    assert [stage.task for stage in curriculum] == list(env.curriculum)
    assert curriculum[-1].task.name == main
    # What is one transition away is tried once; StarCraft has no such tasks.
    assert near[0].single_attempt == curriculum[0].single_attempt == single_attempts
    assert not far[0].single_attempt and not any(stage.single_attempt for stage in curriculum[1:])
    assert not stages_of(env, "1-step", single_attempts=False)[0].single_attempt


def test_a_regime_that_there_is_none_of():
    with pytest.raises(UnknownNameError, match="training distribution"):
        stages_of(ap.make("switches"), "2-step")


def test_stages_open_evenly():
    opened = [open_stages(5, done, ramp=0.5) for done in (0.0, 0.124, 0.126, 0.3, 0.49, 0.5, 1.0)]
    assert opened == [1, 1, 2, 3, 4, 5, 5]
    assert open_stages(1, 0.0, 0.5) == 1
    assert open_stages(3, 0.0, 0.0) == 3


def test_partial_goals_mention_always_as_many_attributes_and_never_the_same():
    told = np.asarray(random_mentions((200, 36), 0.7, key=jax.random.key(0)))
    assert (told.sum(axis=-1) == 25).all()
    assert (told.mean(axis=0) > 0.5).all() and (told.mean(axis=0) < 0.9).all()
    env = ap.make("blocks")
    task = with_partial_goals(env.task("4-stack"), 0.7)
    goal = task.goal(None, jnp.zeros(36, jnp.int32), jax.random.key(1))
    # The tower's three attributes are all that the goal asked for; it does not ask for others now.
    whole = env.task("4-stack").goal(None, jnp.zeros(36, jnp.int32), jax.random.key(1))
    assert not np.any(np.asarray(goal.wanted) & ~np.asarray(whole.wanted))
    assert stages_of(env, "multi-step", mentioned=0.7) == stages_of(env, "multi-step", mentioned=0.7)


def test_some_goals_are_partial_and_the_others_whole():
    told = np.asarray(random_mentions((400, 36), 0.7, 0.25, key=jax.random.key(0))).sum(axis=-1)
    assert set(told.tolist()) == {25, 36}
    assert 0.15 < (told == 25).mean() < 0.35


def test_networks_are_shown_no_value_where_none_matters():
    goal = Goal(np.array([3, 2, 1]), np.array([True, False, True]))
    assert goal_values(goal).tolist() == [3, NO_VALUE, 1]
