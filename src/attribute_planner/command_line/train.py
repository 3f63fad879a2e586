"""`attribute-planner train`."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from attribute_planner.command_line.arguments import OptionalInt, OptionalName, OptionalPath, shown_as
from attribute_planner.command_line.printing import console, print_json

if TYPE_CHECKING:
    from attribute_planner.agent import Agent


def train(
    env: Annotated[str, tyro.conf.Positional, shown_as("ENV")],
    seed: OptionalInt = None,
    seeds: Annotated[tuple[int, ...] | None, shown_as("INT ...")] = None,
    steps: OptionalInt = None,
    out: OptionalPath = None,
    resume: bool = False,
    refine: bool = False,
    preset: Annotated[Literal["default", "paper"] | None, shown_as("{default,paper}")] = None,
    set: Annotated[tuple[str, ...], shown_as("NAME=VALUE ...")] = (),
    tensorboard: bool = False,
    workers: OptionalInt = None,
    step_timeout: Annotated[float, shown_as("SECONDS")] = 120.0,
    cluster: OptionalName = None,
    hosts: OptionalInt = None,
    json: bool = False,
) -> int:
    """Train an agent on an environment and save it in a run directory.

    Args:
        env: Name of a built-in environment (`attribute-planner envs` lists them), or a function of your own that
            returns an environment, as module:function, for example mypackage.envs:make_kitchen.
        seed: Random seed. Default: 0.
        seeds: Several seeds, which train together in this process; for an environment written in JAX. Their run
            directories are seed-0, seed-1, … in --out.
        steps: Number of environment steps of all phases together. Default: that of the environment's preset.
        out: Run directory. Default: runs/NAME-SEED, with the name of the environment; with --seeds runs/NAME.
        resume: Continue the run in --out with its own settings and seed, for --steps steps in total if given.
        refine: Search for missing attributes after half of the rounds, and add them as hidden attributes. Needs
            practise.method=dqn or sac and at least 2 rounds.
        preset: Settings to start from: `default`, or `paper` for the algorithm as published.
        set: Settings to change, for example practise.num_envs=512 explore.policy=random detect.learn=true.
        tensorboard: Also write metrics for TensorBoard into the run directory.
        workers: Number of processes that run a Gymnasium environment; 0 for none. The result does not depend on it.
            Default: the number of cores, if steps of the environment take long enough.
        step_timeout: Seconds that a step may take. A worker process that takes longer is replaced; without worker
            processes, training stops. Default: 120.
        cluster: Run a Gymnasium environment on the machines of a Ray cluster: its address, `auto` for that in
            RAY_ADDRESS, or `local` to start one on this machine. With --hosts also an environment written in JAX.
        hosts: Number of processes that train together, each on another machine of --cluster, with all its GPUs; for an
            environment written in JAX. The result does not depend on it.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.configuration import config_for, paper_config
    from attribute_planner.errors import ConfigurationError
    from attribute_planner.interruption import described_by
    from attribute_planner.several_seeds import seed_folder
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache
    from attribute_planner.storage.run_directory import RunDirectory
    from attribute_planner.storage.settings import with_setting
    from attribute_planner.storage.threads import fix_threads

    use_user_compilation_cache()
    if resume and (set or preset or refine):
        raise ConfigurationError(
            "--resume continues with the settings of the run: --set, --preset and --refine cannot be given."
        )
    if seeds is not None and (seed is not None or workers is not None or cluster is not None or hosts is not None):
        raise ConfigurationError("--seeds cannot be combined with --seed, --workers, --cluster or --hosts.")
    environment = ap.make(env)
    name = environment.name.replace("/", "-")
    out = out or Path("runs") / (name if seeds is not None else f"{name}-{seed or 0}")
    runs = [out / seed_folder(each) for each in seeds or ()] or [out]
    fix_threads(RunDirectory(runs[0]).threads if resume else None)
    config = paper_config(environment) if preset == "paper" else config_for(environment)
    for assignment in set:
        config = with_setting(config, assignment)
    arguments: dict[str, Any] = {
        "steps": steps,
        "run_dir": out,
        "config": None if resume else config,
        "resume": resume,
        "refine": refine,
        "progress": True,
        "tensorboard": tensorboard,
    }
    with described_by(lambda: how_to_continue(env, out, runs, seeds or ())):
        if seeds is not None:
            agents = ap.train_seeds(environment, seeds=seeds, **arguments)
        else:
            arguments |= {"num_workers": workers, "step_timeout": step_timeout, "cluster": cluster, "num_hosts": hosts}
            agents = [ap.train(environment, seed=seed or 0, **arguments)]
    if json:
        results = [result_of(run, agent) for run, agent in zip(runs, agents, strict=True)]
        print_json(results[0] if seeds is None else results)
    else:
        for run, agent in zip(runs, agents, strict=True):
            console.print(f"{run}: {agent.table.num_nodes} attribute sets, {agent.table.num_edges} transitions.")
    return 0


def result_of(run: Path, agent: "Agent") -> dict[str, Any]:
    """The result of a training as JSON."""
    return {
        "run": str(run),
        "environment": agent.env.name,
        "sets": agent.table.num_nodes,
        "edges": agent.table.num_edges,
        "report": agent.report.to_json(),
    }


def how_to_continue(env: str, out: Path, runs: Sequence[Path], seeds: Sequence[int]) -> str:
    """What an interrupted training has left in its run directories, and the command that continues it."""
    from attribute_planner.storage.run_directory import RunDirectory

    if not all(map(RunDirectory.exists, runs)):
        return "nothing is saved."
    saved = any(RunDirectory(run).has_checkpoint for run in runs)
    which = f" --seeds {' '.join(map(str, seeds))}" if seeds else ""
    return (
        f"{'what was learned is saved' if saved else 'nothing was learned yet'}; continue with: "
        f"attribute-planner train {shlex.quote(env)}{which} --out {shlex.quote(str(out))} --resume"
    )
