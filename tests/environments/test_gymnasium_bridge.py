"""The bridge to Gymnasium: spaces, vector environments, attributes, and errors of broken environments."""

import re
from collections.abc import Callable
from inspect import unwrap
from typing import Any

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium import spaces

import attribute_planner as ap
from attribute_planner.environments import tasks
from attribute_planner.environments.gymnasium_bridge import GymnasiumEnvironment, environment
from attribute_planner.environments.gymnasium_bridge.actions import actions_of
from attribute_planner.environments.gymnasium_bridge.describing import AttributeReader
from attribute_planner.environments.gymnasium_bridge.observations import encoder_by, encoder_for
from attribute_planner.environments.spaces import Box, Discrete, FlatSpec, Part
from attribute_planner.errors import ConfigurationError, EnvironmentFaultError, UnknownNameError


class Countdown(gymnasium.Env):
    """A number that an action lowers by 0 or 1; the episode is over at zero. It starts at 3, or 4 by an even seed."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None) -> None:
        self.observation_space = spaces.Discrete(6)
        self.action_space = spaces.Discrete(2)
        self.render_mode = render_mode
        self.number, self.calls, self.closed = 0, 0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        assert seed is not None
        self.number, self.calls = 3 + (seed % 2 == 0), 0
        return self.number, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.number, self.calls = self.number - int(action), self.calls + 1
        return self.number, 0.0, self.number == 0, False, {"calls": self.calls}

    def render(self) -> Any:
        return np.full((8, 8, 3), self.number, np.uint8)

    def close(self) -> None:
        self.closed = True


ATTRIBUTES = [ap.Attribute("number", values=range(0, 6)), ap.Attribute("done")]


def describe_countdown(observation: Any, info: dict[str, Any], env: gymnasium.Env) -> dict[str, Any]:
    return {"number": observation, "done": env.unwrapped.number == 0}  # pyright: ignore[reportAttributeAccessIssue]


def countdown(make: Callable[[], gymnasium.Env] = Countdown, **settings: Any) -> GymnasiumEnvironment:
    given = {"attributes": ATTRIBUTES, "describe": describe_countdown, "name": "countdown", **settings}
    return ap.from_gymnasium(make, **given)


def unchecked_countdown(**settings: Any) -> GymnasiumEnvironment:
    """The same without the checks of types of the test session, as users call it."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((environment, "_tasks"), (environment, "fixed_goal_task"), (tasks, "goal_from_names")):
            patch.setattr(module, name, unwrap(getattr(module, name)))
        given = {"attributes": ATTRIBUTES, "describe": describe_countdown, "name": "countdown", **settings}
        return unwrap(ap.from_gymnasium)(Countdown, **given)


def act(*actions: int) -> np.ndarray:
    return np.array(actions, np.int32)


KEY = jax.random.key(0)


# --- actions ---


def test_discrete_actions_begin_where_the_space_begins():
    actions = actions_of(spaces.Discrete(3, start=5), None)
    assert actions.space == Discrete(("5", "6", "7"))
    assert [actions.translate(choice) for choice in act(0, 1, 2)] == [5, 6, 7]


def test_several_choices_become_one_among_all_combinations():
    actions = actions_of(spaces.MultiDiscrete([2, 3], start=[0, 10]), None)
    assert isinstance(actions.space, Discrete)
    assert actions.space.names == ("0,10", "0,11", "0,12", "1,10", "1,11", "1,12")
    chosen = [actions.translate(choice) for choice in act(0, 4)]
    assert [each.tolist() for each in chosen] == [[0, 10], [1, 11]]
    assert spaces.MultiDiscrete([2, 3], start=[0, 10]).contains(chosen[0])


def test_binary_choices_become_one_among_all_combinations():
    actions = actions_of(spaces.MultiBinary(3), None)
    assert isinstance(actions.space, Discrete) and actions.space.count == 8
    assert actions.translate(act(5)[0]).tolist() == [1, 0, 1]


def test_points_are_moved_into_the_box():
    space = spaces.Box(np.array([[-1.0, 0.0]], np.float32), np.array([[1.0, 10.0]], np.float32))
    actions = actions_of(space, None)
    assert actions.space == Box((-1.0, 0.0), (1.0, 10.0))
    moved = actions.translate(np.array([-7.0, 4.5], np.float32))
    assert moved.tolist() == [[-1.0, 4.5]] and space.contains(moved)


def test_points_among_integers_are_rounded():
    actions = actions_of(spaces.Box(0, 9, (2,), np.int64), None)
    assert actions.translate(np.array([1.6, 12.0], np.float32)).tolist() == [2, 9]


def test_actions_may_have_names():
    assert actions_of(spaces.Discrete(2), ["stay", "go"]).space == Discrete(("stay", "go"))


@pytest.mark.parametrize(
    ("space", "names", "said"),
    [
        (spaces.MultiDiscrete([20, 20, 20]), None, "8,000 combinations"),
        (spaces.Box(-np.inf, np.inf, (1,)), None, "not bounded"),
        (spaces.Dict({"a": spaces.Discrete(2)}), None, "are not supported"),
        (spaces.Discrete(2), ["one"], "has 1 names; there are 2 actions"),
        (spaces.Box(0, 1, (1,)), ["one"], "have no names"),
    ],
)
def test_actions_that_cannot_be_used_are_refused_in_words(space: spaces.Space, names: list[str] | None, said: str):
    with pytest.raises(ConfigurationError, match=said):
        actions_of(space, names)


# --- observations ---


def test_numbers_are_kept_as_they_are():
    low = np.array([0.0, -4.0, -np.inf, 0.0, -1e30], np.float32)
    encoder = encoder_for(spaces.Box(low, np.array([10.0, 4.0, np.inf, 1.0, 1e30], np.float32)))
    assert encoder.spec == FlatSpec((Part("", (5,), "numbers", -8, 32, integers=False),), "float32")
    seen = encoder.encode(np.array([10.0, 2.0, 7.0, 0.25, 3.0], np.float32))
    assert seen.dtype == np.float32
    assert seen.tolist() == [10.0, 2.0, 7.0, 0.25, 3.0]


@pytest.mark.parametrize(
    ("space", "stored_as", "first", "slots"),
    [
        (spaces.Box(0, 255, (2, 2), np.uint8), "uint8", 0, 32),
        (spaces.Box(-1, 10, (2, 2), np.int64), "int16", -1, 12),
        (spaces.Box(-(2**40), 2**40, (2, 2), np.int64), "float32", -8, 32),
        (spaces.Box(0, 1, (2, 2), np.float32), "float32", 0, 2),
        (spaces.Box(0, 255, (15, 15, 9), np.uint8), "uint8", 0, 16),
        (spaces.Box(0, 255, (15, 15, 15), np.uint8), "uint8", 0, 0),
        (spaces.Box(0, 255, (500,), np.float32), "float32", 0, 0),
    ],
)
def test_integers_are_stored_in_a_small_type(space: spaces.Box, stored_as: str, first: int, slots: int):
    encoder = encoder_for(space)
    assert isinstance(encoder.spec, FlatSpec)
    (part,) = encoder.spec.parts
    assert (encoder.spec.stored_as, part.first, part.slots) == (stored_as, first, slots)
    assert encoder.encode(np.zeros(space.shape, space.dtype)).dtype == encoder.spec.dtype


def test_integers_outside_their_bounds_do_not_wrap():
    assert encoder_for(spaces.Box(0, 9, (2,), np.int64)).encode(np.array([300, -5])).tolist() == [255, 0]


def test_choices_are_one_number_each_also_inside_others():
    encoder = encoder_for(spaces.Discrete(3, start=1))
    assert encoder.spec == FlatSpec((Part("", (), "choice", 1, 3),), "uint8")
    assert encoder.encode(2).tolist() == [2]
    space = spaces.Dict({"choice": spaces.Discrete(2), "more": spaces.Tuple([spaces.MultiBinary(2)])})
    encoder = encoder_for(space)
    assert encoder.encode({"choice": 1, "more": (np.array([1, 0], np.int8),)}).tolist() == [1, 1, 0]
    assert isinstance(encoder.spec, FlatSpec)
    assert [part.name for part in encoder.spec.parts] == ["choice", "more.0"]
    assert encoder_for(spaces.MultiDiscrete([5, 300])).encode(np.array([4, 299])).tolist() == [4, 299]


def test_text_is_the_hashes_of_its_words():
    encoder = encoder_for(spaces.Dict({"mission": spaces.Text(40)}))
    first, other = (encoder.encode({"mission": text}) for text in ("Get the red key", "get the blue key."))
    assert first.dtype == np.uint8 and first.shape == (16,)
    assert (first != other).tolist() == [False, False, True] + [False] * 13
    assert (first > 0).sum() == 4
    with pytest.raises(EnvironmentFaultError, match="it is a int; it must be a text"):
        encoder.encode({"mission": 3})


@pytest.mark.parametrize(
    ("shape", "same_pixel"), [((20, 24, 3), (1, 2, 0)), ((20, 24), (1, 2)), ((3, 20, 24), (0, 1, 2))]
)
def test_pictures_stay_pictures_with_channels_last(shape: tuple[int, ...], same_pixel: tuple[int, ...]):
    encoder = encoder_for(spaces.Box(0, 255, shape, np.uint8))
    (part,) = encoder.spec.parts
    assert part == Part("", (20, 24, 3 if len(shape) == 3 else 1), "image")
    picture = np.arange(np.prod(shape)).reshape(shape).astype(np.uint8)
    seen = encoder.encode(picture)
    assert seen.shape == encoder.spec.shape and seen.dtype == encoder.spec.dtype == np.uint8
    assert seen.reshape(part.shape)[1, 2, 0] == picture[same_pixel]


def test_a_large_grid_of_small_integers_is_not_an_image():
    space, grid = spaces.Box(0, 255, (19, 19, 3), np.uint8), np.full((19, 19, 3), 10, np.uint8)
    image = FlatSpec((Part("", (19, 19, 3), "image"),), "uint8")
    assert encoder_for(space).spec == encoder_for(space, grid + 100).spec == image
    assert encoder_for(space, 0 * grid).spec == image, "the first image of an episode may be black"
    assert encoder_for(space, grid).spec == FlatSpec((Part("", (19, 19, 3), "numbers", 0, 16),), "uint8")


def test_an_image_inside_others_stays_an_image():
    space = spaces.Dict({"view": spaces.Box(0, 255, (3, 20, 24), np.uint8), "way": spaces.Discrete(4)})
    encoder = encoder_for(space)
    assert encoder.spec == FlatSpec((Part("view", (20, 24, 3), "image"), Part("way", (), "choice", 0, 4)), "uint8")
    picture = np.arange(3 * 20 * 24).reshape(3, 20, 24).astype(np.uint8)
    seen = encoder.encode({"view": picture, "way": 2})
    assert np.array_equal(seen[:-1].reshape(20, 24, 3), np.moveaxis(picture, 0, -1)) and seen[-1] == 2


def test_a_users_encoding_says_what_the_agent_sees():
    assert encoder_by(lambda number: np.eye(4)[number], 0).encode(2).tolist() == [0, 0, 1, 0]
    assert encoder_by(lambda _: np.zeros((16, 16, 3), np.uint8), None).spec.parts == (Part("", (16, 16, 3), "image"),)


def test_observations_that_cannot_be_numbers_ask_for_an_encoding():
    with pytest.raises(ConfigurationError, match="pass encode_observation"):
        encoder_for(spaces.Sequence(spaces.Discrete(3)))
    with pytest.raises(ConfigurationError, match="have 1,000,000 numbers"):
        encoder_for(spaces.Discrete(1_000_000))


@pytest.mark.parametrize(
    ("space", "observation", "said"),
    [
        (spaces.Box(-1, 1, (3,)), np.zeros(4, np.float32), r"has shape \(4,\); it must have \(3,\)"),
        (spaces.Box(0, 9, (2,), np.int32), np.zeros(2), "has type float64; its space says int32"),
        (spaces.Box(0, 255, (16, 16, 3), np.uint8), np.zeros((16, 16, 3)), "has type float64; its space says uint8"),
        (spaces.Box(-1, 1, (1,)), np.array(["a"]), "has type <U1"),
        (spaces.Discrete(6), 9, "contains 9; its space has 0 to 5"),
        (spaces.MultiDiscrete([3, 2]), np.array([0, 1, 0]), "has shape"),
    ],
)
def test_observations_unlike_their_space_are_faults(space: spaces.Space, observation: Any, said: str):
    with pytest.raises(EnvironmentFaultError, match=said):
        encoder_for(space).encode(observation)


# --- attributes ---


def test_attribute_values_are_read_by_name_in_the_order_of_the_space():
    read = AttributeReader(ap.AttributeSpace((ap.Attribute("where", values=("left", "right")), *ATTRIBUTES)))
    assert read({"done": True, "number": 5, "where": "right"}) == [1, 5, 1]
    assert read({"done": np.bool_(False), "number": np.int64(2), "where": 0}) == [0, 2, 0]


@pytest.mark.parametrize(
    ("described", "error", "said"),
    [
        ({"number": 1}, UnknownNameError, "it lacks: done"),
        ({"number": 1, "done": 0, "dome": 0}, UnknownNameError, "no attribute 'dome'. Did you mean 'done'"),
        ({"number": 6, "done": 0}, UnknownNameError, "Attribute 'number' has no value '6'"),
        ({"number": True, "done": 0}, UnknownNameError, "Attribute 'number' has no value 'True'"),
        ({"number": np.zeros(1), "done": 0}, EnvironmentFaultError, "attribute 'number' is a ndarray"),
        ([1, 0], EnvironmentFaultError, "the attributes are a list"),
    ],
)
def test_descriptions_that_do_not_fit_the_attributes_are_refused_in_words(described: Any, error: type, said: str):
    with pytest.raises(error, match=said):
        AttributeReader(ap.AttributeSpace(tuple(ATTRIBUTES)))(described)


# --- vector environments ---


def test_the_check_finds_no_fault():
    report = ap.check_environment(countdown(lambda: Countdown("rgb_array")), steps=30)
    assert report.episodes > 0 and report.image == (8, 8) and report.tasks == ("any-value",)


def test_a_real_environment_brings_its_name_its_limit_and_its_actions():
    env = ap.from_gymnasium(
        lambda: gymnasium.make("Taxi-v4"),
        attributes=[ap.Attribute("in_taxi")],
        describe=lambda observation, info, env: {"in_taxi": observation // 4 % 5 == 4},
    )
    assert (env.name, env.episode_steps) == ("Taxi-v4", 200)
    assert (env.observation, env.actions) == (
        FlatSpec((Part("", (), "choice", 0, 500),), "int16"),
        Discrete(tuple("012345")),
    )
    assert ap.check_environment(env, steps=10).image is None


def test_an_environment_whose_episode_is_over_is_not_stepped():
    made: list[Countdown] = []
    env = countdown(lambda: made.append(Countdown()) or made[-1])
    envs = env.vector_env(2)
    timestep = envs.reset(KEY)
    for _ in range(4):
        timestep = envs.step(act(1, 0), KEY)
    assert timestep.terminated.tolist() == [True, False]
    assert np.asarray(timestep.attributes).tolist()[0] == [0, 1]
    assert timestep.observation[0].tolist() == [0]
    running, resting = sorted((each.calls for each in made), reverse=True)
    again = envs.step(act(1, 0), KEY)
    assert sorted((each.calls for each in made), reverse=True) == [running + 1, resting]
    assert again.terminated.tolist() == [True, False]
    assert np.array_equal(again.observation[0], timestep.observation[0])


def test_only_the_chosen_environments_are_reset():
    envs = countdown().vector_env(3)
    envs.reset(KEY)
    before = envs.step(act(1, 1, 1), KEY)
    after = envs.reset_where(np.array([False, True, False]), KEY)
    assert np.array_equal(np.asarray(before.attributes)[[0, 2]], np.asarray(after.attributes)[[0, 2]])
    assert np.asarray(after.attributes)[1, 0] in (3, 4)


def test_what_was_shown_never_changes():
    envs = countdown().vector_env(1)
    first = envs.reset(KEY)
    kept = np.array(first.attributes), np.array(first.observation)
    envs.step(act(1), KEY)
    assert np.array_equal(kept[0], np.asarray(first.attributes)) and np.array_equal(kept[1], first.observation)


def test_seeds_follow_from_the_key():
    envs = countdown().vector_env(16)
    starts = [np.asarray(envs.reset(jax.random.key(seed)).attributes)[:, 0].tolist() for seed in (0, 0, 1)]
    assert starts[0] == starts[1] != starts[2]
    assert set(starts[0]) == {3, 4}


def test_the_limit_cuts_an_episode_off_without_ending_it():
    env = countdown(episode_steps=2)
    envs = env.vector_env(1)
    envs.reset(KEY)
    moments = [envs.step(act(0), KEY) for _ in range(2)]
    assert [each.truncated.tolist() for each in moments] == [[False], [True]]
    assert not moments[1].terminated.any()
    assert not envs.reset_where(moments[1].over, KEY).over.any()


def test_the_sooner_of_two_limits_counts():
    limited = lambda: gymnasium.make("Taxi-v4")  # noqa: E731
    parts = {"attributes": [ap.Attribute("x")], "describe": lambda *_: {"x": 0}}
    assert ap.from_gymnasium(limited, **parts, episode_steps=50).episode_steps == 50
    assert ap.from_gymnasium(limited, **parts, episode_steps=500).episode_steps == 200
    assert countdown().episode_steps == 200
    with pytest.raises(ConfigurationError, match="episode_steps must be greater than zero"):
        countdown(episode_steps=0)


def test_pictures_need_a_render_mode():
    envs = countdown(lambda: Countdown("rgb_array")).vector_env(1)
    envs.reset(KEY)
    assert envs.render(0).shape == (8, 8, 3)
    blind = countdown().vector_env(1)
    with pytest.raises(NotImplementedError, match='render_mode="rgb_array"'):
        blind.render(0)


def test_released_environments_are_reused_and_finally_closed():
    made: list[Countdown] = []
    env = countdown(lambda: made.append(Countdown()) or made[-1])
    for _ in range(3):
        envs = env.vector_env(2)
        envs.reset(KEY)
        envs.close()
    assert len(made) == 2
    env.close()
    assert all(each.closed for each in made)


def test_tasks_are_goals_by_name():
    env = countdown(tasks={"finish": {"done": True}})
    envs = env.vector_env(2)
    envs.reset(KEY)
    goals = envs.sample_goals(env.task("finish"), KEY)
    assert np.asarray(goals.wanted).tolist() == [[False, True]] * 2
    assert np.asarray(goals.values)[:, 1].tolist() == [1, 1]


def test_a_goal_of_a_task_may_be_text():
    as_text, named = (countdown(tasks={"t": goal}).task("t") for goal in ("done number=2", {"done": True, "number": 2}))
    assert as_text.description == named.description


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ({"finish": {"over": True}}, r"^Task 'finish': There is no attribute 'over'\. There are: number, done"),
        ({"finish": {"number": 9}}, "^Task 'finish': Attribute 'number' has no value '9'"),
        ({"finish": 3}, "^Task 'finish': A goal is a dictionary or a text"),
        ([{"done": True}], r"^tasks must be a dictionary of goals by name, like \{'name': \{'number': 0\}\}; it is \["),
    ],
)
def test_a_task_that_makes_no_sense_is_named(goals: Any, message: str):
    with pytest.raises(ConfigurationError, match=message):
        unchecked_countdown(tasks=goals)


def test_describe_takes_three_arguments():
    with pytest.raises(
        ConfigurationError, match=r"three arguments, \(observation, info, env\); it takes \(observation, info\)"
    ):
        countdown(describe=lambda observation, info: {})
    assert countdown(describe=lambda *seen: describe_countdown(*seen)).has_attribute_fn


def test_a_reset_without_a_seed_is_told_what_it_must_be():
    class Unseeded(Countdown):
        def reset(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            return 3, {}

    for make in (Unseeded, lambda: gymnasium.wrappers.TimeLimit(Unseeded(), 5)):
        with pytest.raises(
            EnvironmentFaultError, match=r"it must be defined as reset\(self, \*, seed=None, options=None"
        ):
            countdown(make)


def test_the_default_task_asks_for_another_value_of_one_attribute():
    env = countdown()
    envs = env.vector_env(200)
    timestep = envs.reset(KEY)
    goals = envs.sample_goals(env.task(None), KEY)
    wanted = np.asarray(goals.wanted)
    assert (wanted.sum(axis=1) == 1).all()
    assert set(np.argmax(wanted, axis=1).tolist()) == {0, 1}
    asked, now = np.asarray(goals.values)[wanted], np.asarray(timestep.attributes)[wanted]
    assert (asked != now).all()
    env.attributes.validate(np.asarray(goals.values), "goal")


# --- labels ---


@pytest.mark.parametrize("as_indices", [False, True])
def test_labels_take_the_place_of_describing(as_indices: bool):
    attributes = np.array([[3, 0], [0, 1]]) if as_indices else [{"number": 3, "done": 0}, {"number": 0, "done": True}]
    env = countdown(describe=None, labelled=([3, 0], attributes))
    assert not env.has_attribute_fn
    assert env.labels is not None
    assert env.labels.states.tolist() == [[3], [0]]
    assert env.labels.values.tolist() == [[3, 0], [0, 1]]
    assert env.vector_env(1).reset(KEY).attributes is None


@pytest.mark.parametrize(
    ("labelled", "said"),
    [
        (([3], []), "has 1 observations, but the attributes of 0 states"),
        (([], []), "holds no observation"),
        (([3], [{"number": 7, "done": 0}]), "labelled state 0: Attribute 'number' has no value '7'"),
        (([9], [{"number": 3, "done": 0}]), "labelled state 0"),
        (([3], np.array([[0.5, 1.0]])), "an integer array"),
    ],
)
def test_labels_that_make_no_sense_are_refused_in_words(labelled: tuple, said: str):
    with pytest.raises(ConfigurationError, match=said):
        countdown(describe=None, labelled=labelled)


# --- faults ---


def test_what_makes_no_environment_is_refused_in_words():
    shared = Countdown()
    with pytest.raises(ConfigurationError, match="either describe=… or labelled=…"):
        countdown(describe=None)
    with pytest.raises(ConfigurationError, match=r"not a gymnasium\.Env"):
        countdown(lambda: "Taxi-v4")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigurationError, match="the same one twice"):
        countdown(lambda: shared).vector_env(2)
    with pytest.raises(ConfigurationError, match="name of a built-in"):
        countdown(name="switches")
    with pytest.raises(ConfigurationError, match="Task 'finish': There is no attribute 'finished'"):
        countdown(tasks={"finish": {"finished": True}})


class Broken(Countdown):
    """A countdown that breaks at its second step."""

    def __init__(self, outcome: Callable[[], Any]) -> None:
        super().__init__()
        self.outcome = outcome

    def step(self, action: Any) -> Any:
        normal = super().step(action)
        return normal if self.calls < 2 else self.outcome()


def test_an_exception_names_environment_step_and_cause_in_one_line():
    def explode() -> None:
        raise RuntimeError("the simulator\ncrashed")

    envs = countdown(lambda: Broken(explode)).vector_env(2)
    envs.reset(KEY)
    envs.step(act(0, 0), KEY)
    with pytest.raises(EnvironmentFaultError) as fault:
        envs.step(act(0, 0), KEY)
    words = r"countdown: environment 0, episode 1, step 2, seed \d+: env\.step: RuntimeError: the simulator$"
    assert re.match(words, str(fault.value))
    assert isinstance(fault.value.__cause__, RuntimeError)


def test_an_old_interface_is_a_fault():
    envs = countdown(lambda: Broken(lambda: (1, 0.0, False, {}))).vector_env(1)
    envs.reset(KEY)
    envs.step(act(0), KEY)
    with pytest.raises(EnvironmentFaultError, match=r"step 2, seed \d+: env\.step: it returned a tuple of 4; it must"):
        envs.step(act(0), KEY)


def test_nan_and_wrong_attributes_are_faults_with_environment_and_step():
    nothing = lambda observation: np.array([np.nan if observation == 2 else observation], np.float32)  # noqa: E731
    envs = countdown(encode_observation=nothing).vector_env(2)
    envs.reset(KEY)
    with pytest.raises(
        EnvironmentFaultError, match=r"environment [01], episode 1, step [12], .*: observation: .* is NaN"
    ):
        for _ in range(2):
            envs.step(act(1, 1), KEY)

    wrong = countdown(describe=lambda observation, info, env: {"number": "many", "done": False}).vector_env(1)
    with pytest.raises(EnvironmentFaultError, match=r"step 0, seed \d+: describe: Attribute 'number' has no value"):
        wrong.reset(KEY)


def test_environments_that_failed_are_not_reused():
    made: list[Broken] = []
    env = countdown(lambda: made.append(Broken(lambda: None)) or made[-1])
    envs = env.vector_env(1)
    envs.reset(KEY)
    envs.step(act(0), KEY)
    with pytest.raises(EnvironmentFaultError):
        envs.step(act(0), KEY)
    envs.close()
    assert made[0].closed
    env.vector_env(1)
    assert len(made) == 2
