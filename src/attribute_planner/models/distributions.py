"""Distributions over discrete, continuous and mixed actions, parametrised by the outputs of a policy's head."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Float, Int

from attribute_planner.environments.spaces import Action, ActionSpace, Box, Discrete, MixedAction

Key = jax.Array

_LOG_SQRT_2PI = 0.9189385332046727


@runtime_checkable
class Distribution(Protocol):
    """A batch of distributions over actions."""

    def sample(self, *, key: Key) -> Action: ...

    def mode(self) -> Action: ...

    def log_prob(self, action: Any) -> jax.Array:
        """`[*batch]` log density of each action; actions have the structure of `sample`'s result."""
        ...

    def entropy(self) -> jax.Array:
        """`[*batch]` entropy."""
        ...


class Categorical(NamedTuple):
    """logits: unnormalised log probabilities."""

    logits: Float[jax.Array, "*batch count"]

    def sample(self, *, key: Key) -> Int[jax.Array, "*batch"]:
        # Inverse CDF: one uniform number per sample is cheaper than one Gumbel number per action.
        cumulative = jnp.cumsum(jax.nn.softmax(self.logits), axis=-1)
        threshold = jax.random.uniform(key, (*self.logits.shape[:-1], 1)) * cumulative[..., -1:]
        return jnp.sum(cumulative[..., :-1] <= threshold, axis=-1, dtype=jnp.int32)

    def mode(self) -> jax.Array:
        return jnp.argmax(self.logits, axis=-1).astype(jnp.int32)

    def log_prob(self, action: jax.Array) -> jax.Array:
        # By a mask: the gradient of an index is a scatter, which an accelerator computes in calls of its own.
        chosen = jax.nn.one_hot(action, self.logits.shape[-1], dtype=bool)
        return jnp.sum(jnp.where(chosen, self.logits, 0.0), axis=-1) - jax.nn.logsumexp(self.logits, axis=-1)

    def entropy(self) -> jax.Array:
        log_probabilities = jax.nn.log_softmax(self.logits)
        return -jnp.sum(jnp.exp(log_probabilities) * log_probabilities, axis=-1)


class Normal(NamedTuple):
    """Independent normal distributions in the units of the box `[low, high]`; the environment clips to the box."""

    mean: Float[jax.Array, "*batch dimensions"]
    log_std: Float[jax.Array, "*batch dimensions"]

    def sample(self, *, key: Key) -> jax.Array:
        return self.mean + jnp.exp(self.log_std) * jax.random.normal(key, self.mean.shape)

    def mode(self) -> jax.Array:
        return self.mean

    def log_prob(self, action: jax.Array) -> jax.Array:
        scaled = (action - self.mean) * jnp.exp(-self.log_std)
        return jnp.sum(-0.5 * scaled**2 - self.log_std - _LOG_SQRT_2PI, axis=-1)

    def entropy(self) -> jax.Array:
        return jnp.sum(self.log_std + 0.5 + _LOG_SQRT_2PI, axis=-1)


class SquashedNormal(NamedTuple):
    """Independent normal distributions, squashed by tanh into a box: samples, modes and densities are of points in it.

    mean, log_std: before squashing.
    middle, half: centre and half-width of the box.
    """

    mean: Float[jax.Array, "*batch dimensions"]
    log_std: Float[jax.Array, "*batch dimensions"]
    middle: Float[jax.Array, "*batch dimensions"]
    half: Float[jax.Array, "*batch dimensions"]

    def sample(self, *, key: Key) -> jax.Array:
        return self.sample_and_log_prob(key=key)[0]

    def sample_and_log_prob(self, *, key: Key) -> tuple[jax.Array, jax.Array]:
        """A sample and its log density, which is exact also where the sample is rounded to the border of the box."""
        raw = Normal(self.mean, self.log_std).sample(key=key)
        return self.middle + self.half * jnp.tanh(raw), self._log_prob(raw)

    def mode(self) -> jax.Array:
        """The image of the mean."""
        return self.middle + self.half * jnp.tanh(self.mean)

    def log_prob(self, action: jax.Array) -> jax.Array:
        return self._log_prob(jnp.arctanh(jnp.clip((action - self.middle) / self.half, -INSIDE, INSIDE)))

    def entropy(self) -> jax.Array:
        """To first order: the slope of the squashing at the mean. There is no closed form."""
        return Normal(self.mean, self.log_std).entropy() + jnp.sum(self._log_slope(self.mean), axis=-1)

    def _log_prob(self, raw: jax.Array) -> jax.Array:
        """The log density of the image of a point."""
        return Normal(self.mean, self.log_std).log_prob(raw) - jnp.sum(self._log_slope(raw), axis=-1)

    def _log_slope(self, raw: jax.Array) -> jax.Array:
        """log of half · (1 − tanh²), without loss of precision far from 0."""
        return jnp.log(self.half) + 2 * (jnp.log(2.0) - raw - jax.nn.softplus(-2 * raw))


INSIDE = 1 - 1e-6
"""The largest size of a point in a box of [−1, 1] whose density is computed; points on the border have none."""


class Mixture(NamedTuple):
    """A mixture of normal distributions, for targets with several modes.

    weights: over the K components.
    parts: the components, with mean and log_std `[*batch, K, dimensions]`.
    """

    weights: Categorical
    parts: Normal

    def sample(self, *, key: Key) -> jax.Array:
        part_key, point_key = jax.random.split(key)
        return _pick(self.parts, self.weights.sample(key=part_key)).sample(key=point_key)

    def mode(self) -> jax.Array:
        """The mean of the component with the highest peak: the mode unless components overlap."""
        peak = jax.nn.log_softmax(self.weights.logits) - jnp.sum(self.parts.log_std, axis=-1)
        return _pick(self.parts, jnp.argmax(peak, axis=-1)).mean

    def log_prob(self, action: jax.Array) -> jax.Array:
        densities = self.parts.log_prob(action[..., None, :])
        return jax.nn.logsumexp(jax.nn.log_softmax(self.weights.logits) + densities, axis=-1)

    def entropy(self) -> jax.Array:
        """An upper bound, tight where the components do not overlap; there is no closed form."""
        shares = jax.nn.softmax(self.weights.logits)
        return self.weights.entropy() + jnp.sum(shares * self.parts.entropy(), axis=-1)


class ChoiceAndPoint(NamedTuple):
    """A discrete choice, and a distribution of points for each choice.

    choice: over `count` choices.
    points: leaves are `[*batch, count, ...]`.
    """

    choice: Categorical
    points: Mixture

    def sample(self, *, key: Key) -> MixedAction:
        choice_key, point_key = jax.random.split(key)
        choice = self.choice.sample(key=choice_key)
        return MixedAction(choice, self._points_of(choice).sample(key=point_key))

    def mode(self) -> MixedAction:
        choice = self.choice.mode()
        return MixedAction(choice, self._points_of(choice).mode())

    def log_prob(self, action: MixedAction) -> jax.Array:
        choice = jnp.asarray(action.choice)
        return self.choice.log_prob(choice) + self._points_of(choice).log_prob(jnp.asarray(action.point))

    def entropy(self) -> jax.Array:
        weights = jax.nn.softmax(self.choice.logits)
        return self.choice.entropy() + jnp.sum(weights * self.points.entropy(), axis=-1)

    def _points_of(self, choice: jax.Array) -> Mixture:
        weights = jnp.take_along_axis(self.points.weights.logits, choice[..., None, None].astype(jnp.int32), axis=-2)
        index = choice[..., None, None, None].astype(jnp.int32)
        parts = (jnp.take_along_axis(each, index, axis=-3)[..., 0, :, :] for each in self.points.parts)
        return Mixture(Categorical(weights[..., 0, :]), Normal(*parts))


def _pick(parts: Normal, which: jax.Array) -> Normal:
    """The components with index `which` `[*batch]`, of components `[*batch, K, dimensions]`."""
    index = which[..., None, None].astype(jnp.int32)
    return Normal(*(jnp.take_along_axis(each, index, axis=-2)[..., 0, :] for each in parts))


def sharpened(distribution: Distribution, factor: Float[jax.Array, "*batch"]) -> Distribution:
    """The same with log probabilities multiplied by a factor; those of a squashed normal before squashing."""
    if isinstance(distribution, Categorical):
        return Categorical(distribution.logits * jnp.broadcast_to(factor[..., None], distribution.logits.shape))
    assert isinstance(distribution, SquashedNormal), f"a {type(distribution).__name__} cannot be sharpened"
    narrower = 0.5 * jnp.log(jnp.broadcast_to(factor[..., None], distribution.log_std.shape))
    return distribution._replace(log_std=distribution.log_std - narrower)


PARTS = 8
"""Number of components of a mixture."""


def head_size(space: ActionSpace) -> int:
    """Number of outputs of the head for an action space."""
    if isinstance(space, Discrete):
        return space.count
    if isinstance(space, Box):
        return 2 * space.dimensions
    return space.choice.count * (1 + PARTS * (1 + 2 * space.point.dimensions))


def distribution_of(space: ActionSpace, outputs: Float[jax.Array, "*batch outputs"]) -> Distribution:
    """The distribution with the parameters `outputs`, `head_size(space)` numbers each."""
    if isinstance(space, Discrete):
        return Categorical(outputs)
    if isinstance(space, Box):
        return _squashed_into_box(space, outputs)
    count, dimensions = space.choice.count, space.point.dimensions
    logits, weights, points = jnp.split(outputs, [count, count * (1 + PARTS)], axis=-1)
    weights = weights.reshape(*weights.shape[:-1], count, PARTS)
    points = points.reshape(*points.shape[:-1], count, PARTS, 2 * dimensions)
    # Components with equal initial means would separate slowly.
    apart = jnp.concatenate([_spread_out(dimensions), jnp.zeros((PARTS, dimensions))], axis=-1)
    points = points + apart.reshape((1,) * (points.ndim - 2) + apart.shape)
    return ChoiceAndPoint(Categorical(logits), Mixture(Categorical(weights), _normal_in_box(space.point, points)))


def _spread_out(dimensions: int) -> jax.Array:
    """`[PARTS, dimensions]` initial means between −1 and 1, evenly spread."""
    # A Kronecker sequence with irrational steps covers a cube evenly in any dimension.
    ratio = 2.0 ** (1 / (dimensions + 1))
    steps = jnp.arange(1, PARTS + 1, dtype=jnp.float32)[:, None] * ratio ** -jnp.arange(1, dimensions + 1)[None].astype(
        jnp.float32
    )
    return 2 * (steps % 1.0) - 1


def _squashed_into_box(box: Box, outputs: jax.Array) -> SquashedNormal:
    """Zero outputs give the centre of the box and a standard deviation of half of its half-width before squashing."""
    mean, spread = jnp.split(outputs, 2, axis=-1)
    low, high = (jnp.broadcast_to(jnp.array(bound, jnp.float32), mean.shape) for bound in (box.low, box.high))
    return SquashedNormal(mean, jnp.log(0.5) + jnp.clip(spread, -4.0, 1.0), (high + low) / 2, (high - low) / 2)


def _normal_in_box(box: Box, outputs: jax.Array) -> Normal:
    """Zero outputs give the centre of the box and a standard deviation of a quarter of its width."""
    centre, spread = jnp.split(outputs, 2, axis=-1)
    middle = (jnp.array(box.high, jnp.float32) + jnp.array(box.low, jnp.float32)) / 2
    half = (jnp.array(box.high, jnp.float32) - jnp.array(box.low, jnp.float32)) / 2
    lead = (1,) * (centre.ndim - 1)
    middle, half = middle.reshape(*lead, -1), half.reshape(*lead, -1)
    log_std = jnp.log(half) + jnp.log(0.5) + jnp.clip(spread, -3.0, 1.0)
    return Normal(middle + half * jnp.tanh(centre), log_std)
