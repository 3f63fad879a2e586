"""Faults to plant: each is a small change of the source, and the tests that should notice it."""

from typing import NamedTuple


class Fault(NamedTuple):
    """A change of one file of the package.

    what: the fault in words.
    file: the file, below the package.
    old, new: the text that is replaced, which occurs once, and its replacement.
    tests: files below `tests`, separated by spaces.
    is_serious: whether it loses data or runs code that a file names; all such faults must be caught.
    """

    what: str
    file: str
    old: str
    new: str
    tests: str
    is_serious: bool = False


GOALS = "attributes/test_goal.py"
PLANS = "planning/test_plan.py planning/test_search.py"
GRADIENTS = "learning/test_policy_gradient.py"
ATTEMPTS = "phases/test_attempts.py"
REPLAY = "data/test_replay.py"
ROLLOUT = "data/test_rollout.py"
MANIFEST = "files/test_manifest.py files/test_writing.py"

FAULTS = (
    # Goals and plans.
    Fault(
        "at least is read as strictly more",
        "attributes/goal.py",
        "met = met | (self.at_least & (self.values < values))",
        "met = (met & ~self.at_least) | (self.at_least & (self.values < values))",
        GOALS,
    ),
    Fault(
        "goals are cached without at-least",
        "attributes/goal.py",
        "_bits(wanted), _bits(or_more)",
        "_bits(wanted), 0",
        GOALS,
    ),
    Fault("values that are not wanted count", "attributes/goal.py", "(met | ~self.wanted).all", "met.all", GOALS),
    Fault(
        "two bounds are not joined", "attributes/goal.py", "return high, high_or_more", "return low, low_or_more", GOALS
    ),
    Fault("no tie-breaking between paths", "planning/search.py", "TIE_BREAKER = 1e-9", "TIE_BREAKER = 0.0", PLANS),
    Fault("no preference for fewer transitions", "planning/search.py", "NEAR_EQUAL = 0.02", "NEAR_EQUAL = 0.0", PLANS),
    Fault(
        "the value ignores the steps that are left",
        "planning/search.py",
        "steps / np.maximum(left, 1e-9)",
        "steps / self.graph.horizon",
        PLANS,
    ),
    Fault(
        "edges are searched in the wrong direction",
        "planning/search.py",
        "shape=(size, size)).tocsr()",
        "shape=(size, size)).T.tocsr()",
        PLANS,
    ),
    Fault(
        "durations do not cost", "planning/episode_model.py", "cost += np.maximum(steps, 1.0) / horizon", "pass", PLANS
    ),
    Fault(
        "a satisfied goal needs a known set", "planning/plan.py", "if goal.satisfied_by(values):", "if False:", PLANS
    ),
    Fault(
        "a failure is no evidence",
        "planning/episode_model.py",
        "posterior = prior * by_chance / (prior * by_chance + (1.0 - prior))",
        "posterior = prior + 0 * by_chance",
        "planning/test_episode_model.py",
    ),
    Fault(
        "failed attempts are made again with the same probability",
        "planning/episode_model.py",
        "weight *= by_chance",
        "weight *= 1.0",
        "planning/test_success_within.py",
    ),
    Fault(
        "the calibration has the wrong sign",
        "planning/episode_model.py",
        "np.log(c / (1 - c)) - self.log_odds",
        "np.log(c / (1 - c)) + self.log_odds",
        "planning/test_success_within.py planning/test_episode_model.py",
    ),
    Fault(
        "sets that were left keep their value: costs that were raised fall again",
        "planning/posterior.py",
        "np.where(departures > 0,",
        "np.where(departures < 0,",
        "planning/test_posterior.py",
    ),
    Fault(
        "only the last failure counts",
        "planning/posterior.py",
        "count += share * (targets == target).all(axis=-1)",
        "count = share * (targets == target).all(axis=-1)",
        "planning/test_posterior.py",
    ),
    # Tables and counts.
    Fault(
        "another weight of the prior",
        "transitions/estimators.py",
        "mean /= observed.attempts + PRIOR_ATTEMPTS",
        "mean /= observed.attempts + 3.0",
        "transitions/test_estimators.py",
    ),
    Fault(
        "edges that were never tried succeed",
        "transitions/estimators.py",
        "zero = np.zeros(len(observed.attempts))",
        "zero = np.ones(len(observed.attempts))",
        "transitions/test_estimators.py",
    ),
    Fault(
        "two sets with the same hash are one",
        "transitions/counting.py",
        "different |= mine[numbers] != column",
        "different |= False",
        "transitions/test_counting.py",
    ),
    Fault(
        "a copy of counts shares them",
        "transitions/counting.py",
        "copied._visits, copied.total = self._visits.copy(), self.total",
        "copied._visits, copied.total = self._visits, self.total",
        "transitions/test_counting.py",
    ),
    Fault(
        "merged counts lose visits",
        "transitions/counting.py",
        "total.add(source, target, counts.visits)",
        "total.add(source, target, np.minimum(counts.visits, 1))",
        "transitions/test_counting.py",
    ),
    Fault(
        "transitions that were seen but not tried are dropped",
        "transitions/table.py",
        "keep = (self.visits > 0) | (self.attempts >= attempts)",
        "keep = self.attempts >= attempts",
        "transitions/test_table.py",
    ),
    Fault(
        "steps spent are lost when tables are joined",
        "transitions/model.py",
        "return self.with_practice(attempts, successes, spent)",
        "return self.with_practice(attempts, successes, None)",
        "transitions/test_model.py transitions/test_table.py",
    ),
    # Files.
    Fault(
        "steps spent are lost on loading",
        "storage/table_arrays.py",
        'names = STATISTICS if f"{prefix}.spent" in arrays else STATISTICS[:3]',
        "names = STATISTICS[:3]",
        "storage/test_checkpoint.py",
        is_serious=True,
    ),
    Fault(
        "the calibration is lost on loading",
        "storage/checkpoint.py",
        'return notes.get(CALIBRATION, {"log_odds": 0.0})["log_odds"]',
        "return 0.0",
        "storage/test_checkpoint.py storage/test_run_directory.py",
        is_serious=True,
    ),
    Fault(
        "attempts are not saved",
        "storage/checkpoint.py",
        "arrays[ATTEMPT_LOG] = progress.log.rows",
        "pass",
        "storage/test_checkpoint.py",
        is_serious=True,
    ),
    Fault(
        "hashes are not compared",
        "files/manifest.py",
        "hashlib.sha256(content).hexdigest() == self.sha256",
        "len(self.sha256) == 64",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "files take their names before the manifest lists them",
        "files/manifest.py",
        "write_synced(pending(folder, name), content)",
        "write_synced(folder / name, content)",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "an interrupted change is not finished",
        "files/manifest.py",
        "            rename(path, folder / name)\n    return manifest",
        "            pass\n    return manifest",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "files are written in place",
        "files/writing.py",
        "        write_synced(beside, content)\n        rename(beside, path)",
        "        write_synced(path, content)",
        MANIFEST,
        is_serious=True,
    ),
    Fault(
        "code that a file names is run",
        "storage/run_directory.py",
        "if not is_trusted(described.source):",
        "if False:",
        "storage/test_trusted_sources.py storage/test_run_directory.py",
        is_serious=True,
    ),
    # Learning.
    Fault(
        "the sign of the entropy is flipped",
        "learning/policy_gradient.py",
        '- entropy_coef * metrics["entropy"]',
        '+ entropy_coef * metrics["entropy"]',
        GRADIENTS,
    ),
    Fault(
        "the entropy bonus is not annealed",
        "learning/policy_gradient.py",
        "config.entropy_coef * scale)",
        "config.entropy_coef + 0 * scale)",
        GRADIENTS,
    ),
    Fault(
        "the last step is not final",
        "learning/policy_gradient.py",
        "batch.cut.at[-1].set(True)",
        "batch.cut",
        GRADIENTS,
    ),
    Fault(
        "returns cross the end of episodes",
        "learning/policy_gradient.py",
        "jnp.where(ended, 0.0, sequel)",
        "sequel",
        GRADIENTS,
    ),
    Fault(
        "returns that are cut off do not bootstrap",
        "learning/policy_gradient.py",
        "total = jnp.where(cut & ~ended, value, total)",
        "total = jnp.where(cut & ~ended, reward, total)",
        GRADIENTS,
    ),
    Fault(
        "hindsight is learned from where it is worse than expected",
        "learning/policy_gradient.py",
        "jnp.maximum(advantages, 0.0)",
        "advantages + 0.0",
        GRADIENTS,
    ),
    Fault(
        "steps without weight are learned from",
        "learning/policy_gradient.py",
        "return jnp.sum(quantity * weight) / jnp.maximum(jnp.sum(weight), 1.0)",
        "return jnp.mean(quantity) + 0 * jnp.sum(weight)",
        GRADIENTS,
    ),
    Fault(
        "the step size is not annealed",
        "learning/policy_gradient.py",
        "lambda change: scale * change",
        "lambda change: 1.0 * change",
        GRADIENTS,
    ),
    Fault(
        "probability ratios are not clipped",
        "learning/ppo.py",
        "jnp.minimum(ratio * advantages, clipped * advantages)",
        "ratio * advantages + 0 * clipped",
        GRADIENTS,
    ),
    Fault(
        "actions are chosen by the target network",
        "learning/dqn.py",
        "best = jnp.argmax(policy.action_values(*place), axis=-1)",
        "best = jnp.argmax(target.action_values(*place), axis=-1)",
        "learning/test_dqn.py",
    ),
    Fault(
        "values are not discounted",
        "learning/dqn.py",
        "batch.discount * jnp.where(batch.reached, 1.0, sequel)",
        "jnp.where(batch.reached, 1.0, sequel)",
        "learning/test_dqn.py",
    ),
    Fault(
        "the target network does not follow",
        "learning/dqn.py",
        "(1 - rate) * old + rate * new if",
        "1.0 * old if",
        "learning/test_dqn.py",
    ),
    Fault(
        "the step size of fits does not fall",
        "learning/fitting.py",
        "jnp.cos(jnp.pi * jnp.minimum(",
        "jnp.cos(0.0 * jnp.minimum(",
        "learning/test_fitting.py",
    ),
    Fault(
        "numbers that are not finite are accepted in training",
        "learning/finite.py",
        "if not math.isfinite(value):",
        "if False:",
        "learning/test_finite.py",
    ),
    # Steps.
    Fault("the age is kept over a reset", "data/scan.py", "jnp.where(over, 0, age), memory)", "age, memory)", ROLLOUT),
    Fault(
        "the age is kept over a reset, on the host",
        "data/host_loop.py",
        "np.where(over, 0, age), None",
        "age, None",
        ROLLOUT,
    ),
    Fault(
        "the reset has the key of the chance",
        "data/host_loop.py",
        "    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)\n"
        "    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, reset_key)",
        "    act_key, env_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)\n"
        "    return Decision(*actor.act(memory, observation, attributes, key=act_key), env_key, env_key)",
        ROLLOUT,
    ),
    Fault(
        "all environments share their chance",
        "data/scan.py",
        "states = jax.vmap(env.step)(before.states, action, jax.random.split(env_key, num_envs))",
        "states = jax.vmap(env.step)(before.states, action, jnp.broadcast_to(env_key, (num_envs,)))",
        ROLLOUT,
    ),
    Fault(
        "a time limit is recorded as a terminal state",
        "data/host_loop.py",
        "ends = timestep.terminated, truncated",
        "ends = truncated, truncated",
        ROLLOUT,
    ),
    Fault(
        "goals in hindsight cross the end of episodes",
        "data/sequel.py",
        "np.where(next_change <= episode_end, next_change, NEVER)",
        "next_change",
        REPLAY,
    ),
    Fault("the last recorded step does not end its episode", "data/sequel.py", "    over[-1] = True\n", "", REPLAY),
    Fault(
        "arriving is discounted one step too much",
        "data/replay.py",
        "np.where(reached, steps - 1, steps)",
        "steps",
        REPLAY,
    ),
    Fault(
        "values go on after a terminal state",
        "data/replay.py",
        "running & terminated & ~arrives",
        "running & False",
        REPLAY,
    ),
    Fault(
        "episodes are not cut between rollouts",
        "data/replay.py",
        "self._columns.over[(self._end - 1) % self._rows] = True",
        "pass",
        REPLAY,
    ),
    # Phases.
    Fault("hindsight crosses the end of episodes", "phases/attempt_batch.py", "later[0] & ~over", "later[0]", ATTEMPTS),
    Fault(
        "attempts that are cut off do not count",
        "phases/attempt_counts.py",
        "counted = (outcome.ended | trajectories.truncated) & known",
        "counted = outcome.ended & known",
        ATTEMPTS,
    ),
    Fault(
        "attempts that began too late count",
        "phases/attempt_counts.py",
        "known &= steps_left[:, None] + 1 + info.age >= horizon",
        "known &= steps_left[:, None] + 1 + info.age >= 0 * horizon",
        ATTEMPTS,
    ),
    Fault(
        "a new attempt keeps the age of the last",
        "phases/attempts.py",
        "age=jnp.where(begins, 0, memory.age)",
        "age=memory.age",
        ATTEMPTS,
    ),
    Fault(
        "to arrive with a fatal end is a success",
        "phases/attempts.py",
        "reached = arrived & ~(timestep.terminated &",
        "reached = arrived & ~(False & timestep.terminated &",
        ATTEMPTS,
    ),
    Fault(
        "the detector is tested on labels that it has learned",
        "phases/detect.py",
        "kept, tested = order[held:], order[:held]",
        "kept, tested = order[held:], order[held:][:held]",
        "phases/test_detect.py",
    ),
    Fault(
        "steps spent never decay",
        "phases/practise.py",
        "else decay * before.spent + spent",
        "else before.spent + spent",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "attempts never decay",
        "phases/practise.py",
        "decay * before.attempts + attempts",
        "before.attempts + attempts",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "successes never decay",
        "phases/practise.py",
        "decay * before.successes + successes",
        "before.successes + successes",
        "phases/test_practise_statistics.py",
    ),
    Fault(
        "the bonus falls too fast",
        "phases/bonuses.py",
        "return counts**-0.5",
        "return counts**-1.0",
        "phases/test_explore.py",
    ),
    Fault(
        "untried transitions are not expected to succeed",
        "phases/goal_sampling.py",
        "success = (listing.successes + PRIOR_ATTEMPTS) / (listing.attempts + PRIOR_ATTEMPTS)",
        "success = listing.successes / (listing.attempts + PRIOR_ATTEMPTS)",
        "phases/test_goal_sampling.py",
    ),
    Fault(
        "distant sets are kept without a way",
        "phases/goal_sampling.py",
        "keeps = (far != UNKNOWN) & (ways[jnp.maximum(far, 0), place] != UNKNOWN)",
        "keeps = far != UNKNOWN",
        "phases/test_goal_sampling.py",
    ),
    Fault(
        "neighbours are drawn uniformly",
        "phases/device_graph.py",
        "coin < self.threshold[edge]",
        "coin < 2.0",
        "phases/test_device_graph.py",
    ),
    Fault(
        "sets on the way count the steps before them",
        "phases/passed_sets.py",
        "last + 1 - first - place)",
        "last + 1 - first)",
        "phases/test_passed_sets.py",
    ),
    Fault(
        "an interrupted epoch counts twice",
        "phases/explore.py",
        "self.counts, self.train_state, self.steps = explored.counts.copy(), explored",
        "self.counts, self.train_state, self.steps = explored.counts, explored",
        "phases/test_explore.py",
        is_serious=True,
    ),
    # Judging, environments, programs.
    Fault(
        "a claim is a success",
        "evaluation/judge.py",
        "if episode.claimed and satisfied[-1]:",
        "if episode.claimed:",
        "evaluation/test_judge.py",
    ),
    Fault(
        "strings are taken for flags",
        "environments/gymnasium_bridge/returned.py",
        "    if isinstance(value, bool | np.bool_):\n",
        "    if True:\n",
        "experiments/reliability/test_bad_environments.py",
    ),
    Fault(
        "environments that hang are not ended",
        "environments/watchdog.py",
        "            raise HungError\n",
        "            return\n",
        "environments/test_watchdog.py",
    ),
    Fault("NaN is in every range", "ranges.py", "if not math.isfinite(value):", "if False:", "test_ranges.py"),
    Fault(
        "signals interrupt what is saved together",
        "interruption.py",
        "signal.signal(number, lambda received, _: waiting.append(received))",
        "pass",
        "test_interruption.py",
        is_serious=True,
    ),
    Fault(
        "nothing is saved before the process is ended",
        "interruption.py",
        "            save()\n",
        "            pass\n",
        "test_interruption.py",
        is_serious=True,
    ),
)
