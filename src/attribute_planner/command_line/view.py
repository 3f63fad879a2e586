"""`attribute-planner view`."""

import sys
import webbrowser
from typing import Annotated

import tyro

from attribute_planner.command_line.arguments import OptionalEnv, shown_as
from attribute_planner.command_line.printing import console

OptionalRun = Annotated[str | None, tyro.conf.Positional, shown_as("RUN")]


def view(run: OptionalRun = None, port: int = 0, no_browser: bool = False, env: OptionalEnv = None) -> int:
    """Show an agent in the browser: choose goals, see plans and episodes, follow training.

    The viewer answers on this machine only, at an address that contains a token. It needs the optional packages
    of `pip install "attribute-planner[viewer]"`.

    Args:
        run: Run directory, or name of a shipped agent. Default: all agents that ship with the package.
        port: Port of the address; 0 for one that is free.
        no_browser: Print the address only.
        env: Environment of the run, as module:function. Default: the one that it was trained on.
    """
    from attribute_planner.environments.registry import make
    from attribute_planner.errors import ConfigurationError
    from attribute_planner.storage.compilation_cache import use_user_compilation_cache
    from attribute_planner.viewer.runs import Runs, entries_of

    try:
        from attribute_planner.viewer.server import Server
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f'The viewer needs the package {error.name!r}: pip install "attribute-planner[viewer]".'
        ) from error
    use_user_compilation_cache()
    runs = Runs(entries_of(run, None if env is None else make(env)))

    server = Server(runs, port)
    console.print(f"The viewer is at {server.address}  (Ctrl+C ends it)", soft_wrap=True)
    if not no_browser and sys.stdout.isatty():
        webbrowser.open(server.address)
    server.run()
    return 0
