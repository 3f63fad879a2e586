"""Mining: workers move between fields and command centre by themselves; one worker at a time mines a field.

In a frame, first every worker whose phase ends begins the next one; then workers beside a free field begin to mine, in
the order of the units; then the others leave for the nearest free field in range, or wait if there is none. Nothing
happens between these events, so the simulation jumps from event to event.
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from attribute_planner.environments.starcraft.layout import Layout, layout_of
from attribute_planner.environments.starcraft.movement import Way, choose_way, motion_table
from attribute_planner.environments.starcraft.rules import FIELDS, ORE_PER_TRIP, TURN_FRAMES, WORK_FRAMES, Phase, Rules
from attribute_planner.environments.starcraft.state import GATHERING, Units, is_any

NEVER = 2**30


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Workers:
    """The part of the units that mining changes within a step, `[U]` each.

    frames: `[]` remaining frames of the step.
    ore: `[]` delivered ore.
    phase, timer, field, cargo, committed: as in `Units`.
    came_from: the last place that a worker left in this step; −1 if it left none.
    """

    frames: jax.Array
    ore: jax.Array
    phase: jax.Array
    timer: jax.Array
    field: jax.Array
    cargo: jax.Array
    committed: jax.Array
    came_from: jax.Array


def mine(rules: Rules, units: Units) -> tuple[Units, jax.Array]:
    """The units after a step of mining, and the delivered ore. Units that do not gather do not change."""
    ground = layout_of(rules.map_tiles)
    workers = Workers(
        frames=jnp.int32(rules.frames_per_step),
        ore=jnp.int32(0),
        phase=units.phase,
        # Waiting workers check again in the first frame: an order may have freed their field.
        timer=jnp.where(units.phase == Phase.AT_FIELD, 1, units.timer),
        field=units.field,
        cargo=units.cargo,
        committed=units.committed,
        came_from=jnp.full_like(units.phase, -1),
    )
    workers = jax.lax.while_loop(
        lambda workers: workers.frames > 0, lambda workers: _until_next_event(ground, workers), workers
    )
    units = replace(
        units,
        phase=workers.phase,
        timer=workers.timer,
        field=workers.field,
        cargo=workers.cargo,
        committed=workers.committed,
        way=choose_way(workers.came_from >= 0, _ways(ground, workers), units.way),
    )
    return units, workers.ore


def _until_next_event(ground: Layout, workers: Workers) -> Workers:
    gathers = is_any(workers.phase, GATHERING)
    left = jnp.where(gathers & (workers.timer > 0), workers.timer, NEVER)
    skipped = jnp.minimum(left.min(), workers.frames)
    timer = jnp.where(gathers, jnp.maximum(workers.timer - skipped, 0), workers.timer)
    workers = replace(workers, frames=workers.frames - skipped, timer=timer)
    return _take_another_field(ground, _begin_work(_finish_phases(ground, workers, done=left == skipped)))


def _finish_phases(ground: Layout, workers: Workers, done: jax.Array) -> Workers:
    """After the way to the field, wait beside it. After mining, return. After returning, deliver and go back."""
    arrived = done & (workers.phase == Phase.TO_FIELD)
    worked = done & (workers.phase == Phase.MINING)
    delivered = done & (workers.phase == Phase.RETURNING)
    phase = jnp.where(arrived, jnp.int32(Phase.AT_FIELD), workers.phase)
    phase = jnp.where(worked, jnp.int32(Phase.RETURNING), phase)
    phase = jnp.where(delivered, jnp.int32(Phase.TO_FIELD), phase)
    came_from = jnp.where(worked, workers.field, workers.came_from)
    return replace(
        workers,
        ore=workers.ore + ORE_PER_TRIP * delivered.sum(),
        phase=phase,
        timer=jnp.where(worked | delivered, _home_frames(ground)[workers.field], workers.timer),
        cargo=(workers.cargo | worked) & ~delivered,
        committed=workers.committed & ~delivered,
        came_from=jnp.where(delivered, workers.field + FIELDS, came_from),
    )


def _begin_work(workers: Workers) -> Workers:
    """The first worker beside each field begins to mine if the field is free."""
    waits = workers.phase == Phase.AT_FIELD
    wanted = jax.lax.associative_scan(jnp.bitwise_or, jnp.where(waits, _bit(workers.field), 0))
    wanted_before = jnp.concatenate([jnp.zeros(1, jnp.int32), wanted[:-1]])
    begins = waits & ((_busy(workers) | wanted_before) & _bit(workers.field) == 0)
    return replace(
        workers,
        phase=jnp.where(begins, jnp.int32(Phase.MINING), workers.phase),
        timer=jnp.where(begins, WORK_FRAMES, workers.timer),
        committed=workers.committed | begins,
    )


def _take_another_field(ground: Layout, workers: Workers) -> Workers:
    """Workers beside a busy field go to the nearest free field in range."""
    other = jnp.asarray(ground.nearest_free)[workers.field, _busy(workers)]
    leaves = (workers.phase == Phase.AT_FIELD) & (other >= 0)
    return replace(
        workers,
        phase=jnp.where(leaves, jnp.int32(Phase.TO_FIELD), workers.phase),
        timer=jnp.where(leaves, _hop_frames(ground)[workers.field, other], workers.timer),
        field=jnp.where(leaves, other, workers.field),
        came_from=jnp.where(leaves, workers.field, workers.came_from),
    )


def _busy(workers: Workers) -> jax.Array:
    """`[]` bit mask of the fields that are being mined."""
    return jnp.bitwise_or.reduce(jnp.where(workers.phase == Phase.MINING, _bit(workers.field), 0))


def _bit(field: jax.Array) -> jax.Array:
    return jnp.int32(1) << field


def _home_frames(ground: Layout) -> jax.Array:
    """`[F]` frames from each field to the command centre, and back."""
    lengths = np.diagonal(ground.lengths[:FIELDS, FIELDS:])
    return jnp.asarray(TURN_FRAMES + motion_table().frames[0, lengths].astype(np.int32))


def _hop_frames(ground: Layout) -> jax.Array:
    """`[F, F]` frames from field to field."""
    return jnp.asarray(TURN_FRAMES + motion_table().frames[0, ground.lengths[:FIELDS, :FIELDS]].astype(np.int32))


def _ways(ground: Layout, workers: Workers) -> Way:
    """The paths of workers that left a place in this step; they start at rest."""
    goes_to = workers.field + jnp.where(workers.phase == Phase.RETURNING, FIELDS, 0)
    places = jnp.asarray(ground.places)
    return Way(
        places[workers.came_from],
        places[goes_to],
        jnp.asarray(ground.lengths)[workers.came_from, goes_to],
        jnp.zeros_like(goes_to),
    )
