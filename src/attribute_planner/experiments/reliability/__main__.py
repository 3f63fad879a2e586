"""The table of reliability: `python -m attribute_planner.experiments.reliability [ROW …]`."""

import argparse
import pkgutil
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from attribute_planner.experiments.reliability.row import Row

PACKAGE = "attribute_planner.experiments.reliability"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows and print the table; the exit code is 0 if all of them pass."""
    known = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    parser = argparse.ArgumentParser(prog=f"python -m {PACKAGE}", description=__doc__)
    parser.add_argument("rows", nargs="*", help="names of modules; default: all that have a number")
    options = parser.parse_args(arguments)
    if unknown := set(options.rows) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    modules = [import_module(f"{PACKAGE}.{name}") for name in known if not options.rows or name in options.rows]
    measured = sorted((module for module in modules if hasattr(module, "NUMBER")), key=lambda module: module.NUMBER)
    rows = [measure(module) for module in measured]
    print(f"\n{table([module.NUMBER for module in measured], rows)}")
    print(f"\n{sum(row.passed for row in rows)} of {len(rows)} rows pass; {sum(row.seconds for row in rows):.0f} s.")
    return 0 if all(row.passed for row in rows) else 1


def measure(module: ModuleType) -> Row:
    """The row of a module; a measurement that raises does not pass."""
    print(f"{module.NUMBER} {module.__name__.rpartition('.')[2]} …", file=sys.stderr, flush=True)
    began = time.monotonic()
    try:
        return module.measure()
    except Exception as error:
        traceback.print_exc()
        return Row(module.__name__.rpartition(".")[2], repr(error), False, time.monotonic() - began)


def table(numbers: Sequence[int], rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| # | what | measured | passes | seconds |", "|---|---|---|---|---|"]
    for number, row in zip(numbers, rows, strict=True):
        passes = "yes" if row.passed else "**no**"
        lines.append(f"| {number} | {row.name} | {row.measured} | {passes} | {row.seconds:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
