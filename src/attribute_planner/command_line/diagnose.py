"""`attribute-planner diagnose`."""

from attribute_planner.command_line.arguments import OptionalEnv, Run
from attribute_planner.command_line.printing import busy, console, print_json


def diagnose(run: Run, episodes: int = 20, seed: int = 0, env: OptionalEnv = None, json: bool = False) -> int:
    """List the reasons why an agent fails, the most important first, and what to change.

    Args:
        run: Run directory, or name of a shipped agent.
        episodes: Number of episodes of each task to run; 0 to use plans only.
        seed: Random seed of the tasks.
        env: Environment of the run, as module:function. Default: the one that it was trained on.
        json: Print the result as JSON.
    """
    import attribute_planner as ap
    from attribute_planner.errors import ConfigurationError
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache

    if episodes < 0:
        raise ConfigurationError(f"--episodes must not be negative; it is {episodes}.")
    use_user_compilation_cache()
    agent = ap.load(run, None if env is None else ap.make(env))
    with busy("Planning and running episodes …"):
        diagnosis = agent.diagnose(episodes=episodes, seed=seed)
    if json:
        print_json(diagnosis.to_json())
    else:
        console.print(str(diagnosis), markup=False)
    return 0
