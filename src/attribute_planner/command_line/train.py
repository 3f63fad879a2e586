"""`attribute-planner train`."""

import shlex
from pathlib import Path
from typing import Annotated, Literal

import tyro

from attribute_planner.command_line.arguments import OptionalInt, OptionalName, OptionalPath, shown_as
from attribute_planner.command_line.printing import console, print_json


def train(
    env: Annotated[str, tyro.conf.Positional, shown_as("ENV")],
    seed: int = 0,
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
        seed: Random seed.
        steps: Number of environment steps of all phases together. Default: that of the environment's preset.
        out: Run directory. Default: runs/NAME-SEED, with the name of the environment.
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
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache
    from attribute_planner.storage.run_directory import RunDirectory
    from attribute_planner.storage.settings import with_setting
    from attribute_planner.storage.threads import fix_threads

    use_user_compilation_cache()
    if resume and (set or preset or refine):
        raise ConfigurationError(
            "--resume continues with the settings of the run: --set, --preset and --refine cannot be given."
        )
    environment = ap.make(env)
    out = out or Path("runs") / f"{environment.name.replace('/', '-')}-{seed}"
    fix_threads(RunDirectory(out).threads if resume else None)
    config = paper_config(environment) if preset == "paper" else config_for(environment)
    for assignment in set:
        config = with_setting(config, assignment)
    with described_by(lambda: how_to_continue(env, out)):
        agent = ap.train(
            environment,
            seed=seed,
            steps=steps,
            run_dir=out,
            config=None if resume else config,
            resume=resume,
            refine=refine,
            progress=True,
            tensorboard=tensorboard,
            num_workers=workers,
            step_timeout=step_timeout,
            cluster=cluster,
            num_hosts=hosts,
        )
    result = {
        "run": str(out),
        "environment": environment.name,
        "sets": agent.table.num_nodes,
        "edges": agent.table.num_edges,
    }
    if json:
        print_json({**result, "report": agent.report.to_json()})
    else:
        console.print(f"{out}: {agent.table.num_nodes} attribute sets, {agent.table.num_edges} transitions.")
    return 0


def how_to_continue(env: str, out: Path) -> str:
    """What an interrupted training has left in its run directory, and the command that continues it."""
    from attribute_planner.storage.run_directory import RunDirectory

    if not RunDirectory.exists(out):
        return "nothing is saved."
    saved = "what was learned is saved" if RunDirectory(out).has_checkpoint else "nothing was learned yet"
    return f"{saved}; continue with: attribute-planner train {shlex.quote(env)} --out {shlex.quote(str(out))} --resume"
