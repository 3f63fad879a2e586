"""`attribute-planner diagnose`."""

from pathlib import Path
from typing import Annotated

import tyro

from attribute_planner.command_line.arguments import OptionalEnv, Run
from attribute_planner.command_line.printing import busy, console, print_json, say_written


def diagnose(
    run: Run,
    episodes: int = 20,
    seed: int = 0,
    env: OptionalEnv = None,
    json: bool = False,
    report: Annotated[Path | None, tyro.conf.arg(aliases=["--html"], metavar="FILE.html")] = None,
) -> int:
    """List the reasons why an agent fails, the most important first, and what to change.

    Args:
        run: Run directory, or name of a shipped agent.
        episodes: Number of episodes of each task to run; 0 to use plans only.
        seed: Random seed of the tasks.
        env: Environment of the run, as module:function. Default: the one that it was trained on.
        json: Print the result as JSON.
        report: Write the result, with pictures, as an HTML page of one file.
    """
    import attribute_planner as ap
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache

    use_user_compilation_cache()
    agent = ap.load(run, None if env is None else ap.make(env))
    with busy("Planning and running episodes …"):
        diagnosis = agent.diagnose(episodes=episodes, seed=seed)
    if report is not None:
        from attribute_planner.drawing.diagnosis_page import write_diagnosis_page

        write_diagnosis_page(report, diagnosis, agent.table, str(run))
        say_written(report)
    if json:
        print_json(diagnosis.to_json())
    else:
        console.print(str(diagnosis), markup=False, soft_wrap=True)
    return 0
