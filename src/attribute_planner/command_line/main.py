"""The entry point `attribute-planner`. A user's mistake is reported in one line on standard error."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from attribute_planner.errors import AttributePlannerError, ClusterLostError
from attribute_planner.interruption import handled_signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0 on success, 1 for a mistake of the user, 2 for a usage error, 128 and its number after a signal.
    """
    with handled_signals("attribute-planner") as signals:
        try:
            # Imported here, which takes a while: signals are handled already.
            from attribute_planner.command_line.commands import run_command

            return run_command(arguments)
        except ClusterLostError as lost:
            # Without the head, Ray does not let a process end in order.
            signals.end(str(lost), 1)
            raise
        except BrokenPipeError:
            # The reader of the output, such as `head`, has closed it.
            return BROKEN_PIPE
        except (AttributePlannerError, OSError) as mistake:
            signals.say(str(mistake))
            return signals.exit_code if signals.received else 1
        except (KeyboardInterrupt, Exception) as error:
            # A signal while a package is imported may appear as an ImportError.
            if signals.received is None and not isinstance(error, KeyboardInterrupt):
                raise
            signals.say(signals.line())
            return signals.exit_code


def program(arguments: Sequence[str] | None = None) -> int:
    """`main` as a process of its own, which a signal ends at once.

    Threads of a device may still compute then. To take the interpreter down under them can end in a crash.
    """
    status = main(arguments)
    if status > LAST_STATUS:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # it may be closed
                stream.flush()
        os._exit(status)
    return status


LAST_STATUS = 128
"""Larger ones are those of signals."""
BROKEN_PIPE = LAST_STATUS + 13
"""That of SIGPIPE."""


if __name__ == "__main__":
    sys.exit(program())
