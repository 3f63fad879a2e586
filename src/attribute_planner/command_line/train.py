"""`attribute-planner train`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from attribute_planner.command_line.printing import console, print_json


def train(
    env: tyro.conf.Positional[str],
    seed: int = 0,
    steps: int | None = None,
    out: Path | None = None,
    resume: bool = False,
    preset: Literal["default", "paper"] = "default",
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE")] = (),
    tensorboard: bool = False,
    json: bool = False,
) -> int:
    """Train an agent on a built-in environment and keep it in a run directory.

    Args:
        env: Name of a built-in environment (see `attribute-planner envs`).
        seed: Seed of everything random.
        steps: Environment steps of all phases together; the environment's own budget if not given.
        out: The run directory; runs/ENV-SEED if not given.
        resume: Go on with the run in --out where it stopped, with its own settings and seed.
        preset: `default`, or `paper` for the algorithm exactly as published.
        set: Single settings, e.g. practise.num_envs=512 explore.policy=random detect.learn=true.
        tensorboard: Also write TensorBoard events into the run directory.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.configuration import default_config, paper_config
    from attribute_planner.storage.compilation_cache import keep_compiled_for_user
    from attribute_planner.storage.settings import with_setting

    keep_compiled_for_user()
    environment = ap.make(env)
    config = paper_config(env) if preset == "paper" else default_config(env)
    for assignment in set:
        config = with_setting(config, assignment)
    out = out or Path("runs") / f"{env}-{seed}"
    agent = ap.train(
        environment,
        seed=seed,
        steps=steps,
        run_dir=out,
        config=None if resume else config,
        resume=resume,
        progress=True,
        tensorboard=tensorboard,
    )
    result = {"run": str(out), "environment": env, "sets": agent.table.num_nodes, "edges": agent.table.num_edges}
    if json:
        print_json(result)
    else:
        console.print(f"{out}: {agent.table.num_nodes} attribute sets, {agent.table.num_edges} transitions.")
    return 0
