"""The architecture, as data: which part of the package may import which, and where heavy packages may be imported."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "attribute_planner"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE

LAYERS = {
    "errors": 0,
    "lazy": 0,
    "files": 0,
    "interruption": 0,
    "ranges": 0,
    "attributes": 1,
    "environments": 2,
    "models": 3,
    "transitions": 3,
    "aliasing": 4,
    "data": 4,
    "learning": 4,
    "phases": 5,
    "planning": 5,
    "baselines": 5,
    "configuration": 6,
    "agent": 6,
    "algorithm": 6,
    "diagnosis": 6,
    "storage": 7,
    "drawing": 8,
    "brought_along": 8,
    "budget": 8,
    "recorder": 8,
    "training": 9,
    "several_hosts": 9,
    "several_seeds": 9,
    "viewer": 8,
    "evaluation": 6,
    "experiments": 10,
    "__init__": 11,
    "benchmarks": 12,
    "command_line": 13,
    "__main__": 14,
}
"""The files and folders of the package, low to high. One may import what stands as high as itself, or lower."""

DRAWN_WHEN_ASKED = {"drawing", "viewer"}
"""A method that draws imports what it needs when it is called: a plan draws itself, and planning needs no drawing."""

NEVER = {
    "baselines": {"phases", "planning", "configuration", "agent", "algorithm", "training"},
}
"""What must not be imported for another reason: a baseline shares nothing with the method that it is compared with."""

AT_THE_TOP_ONLY_IN: dict[str, set[str]] = {
    "gymnasium": {
        "environments.gymnasium_bridge",
        "experiments.failing",
        "experiments.reliability",
        "experiments.strangers",
        "benchmarks.busy_env",
        "benchmarks.minigrid_switches",
    },
    "anyio": {"viewer.server"},
    "matplotlib": set(),
    "gymnasium_robotics": set(),
    "minigrid": {"benchmarks.minigrid_switches"},
    "mujoco": set(),
    "orbax": set(),
    "ray": set(),
    "stable_baselines3": set(),
    "starlette": {"viewer.server"},
    "tensorboard": set(),
    "torch": set(),
    "tyro": {"command_line"},
    "uvicorn": {"viewer.server"},
}
"""Heavy or optional packages, and the modules (or folders) that may import them before they are used."""


@dataclass(frozen=True)
class Import:
    """One import statement.

    module: the module in which it stands, without the package's name: `models.table`.
    target: the full name of what is imported.
    line: where it stands.
    at_top: whether it is run when the module is imported, and not first when a function is called.
    """

    module: str
    target: str
    line: int
    at_top: bool

    def __str__(self) -> str:
        return f"{self.module} imports {self.target} (line {self.line})"


@cache
def imports_under(source: Path) -> list[Import]:
    """Every import of every module under the package's folder."""
    return [each for path in sorted(source.rglob("*.py")) for each in imports_of(path, source)]


def imports_of(path: Path, source: Path) -> Iterator[Import]:
    parts = path.relative_to(source).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_top = set(map(id, statements_run_on_import(tree)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for target in targets_of(node, folder=parts[:-1]):
                yield Import(module, target, node.lineno, id(node) in at_top)


def targets_of(node: ast.Import | ast.ImportFrom, folder: tuple[str, ...]) -> list[str]:
    """The full names that a statement imports; `folder` is where a relative one starts."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    start = (PACKAGE, *folder)[: 2 + len(folder) - node.level] if node.level else ()
    base = ".".join((*start, *([node.module] if node.module else [])))
    return [f"{base}.{each.name}" for each in node.names]


def statements_run_on_import(node: ast.AST) -> Iterator[ast.AST]:
    """What is run when a module is imported: no body of a function, and nothing that only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from statements_run_on_import(child)


def part_of(target: str) -> str | None:
    """The file or folder of the package that a full name lies in; `None` for other packages."""
    package, _, rest = target.partition(".")
    if package != PACKAGE:
        return None
    first = rest.partition(".")[0]
    return first if first in LAYERS else "__init__"


def upward_imports(imports: list[Import]) -> list[str]:
    return [
        str(each)
        for each in imports
        if (part := part_of(each.target)) is not None
        and LAYERS[part] > LAYERS[each.module.partition(".")[0]]
        and (each.at_top or part not in DRAWN_WHEN_ASKED)
    ]


def forbidden_imports(imports: list[Import]) -> list[str]:
    return [str(each) for each in imports if part_of(each.target) in NEVER.get(each.module.partition(".")[0], ())]


def early_imports(imports: list[Import]) -> list[str]:
    """Imports of heavy packages that are run where they are not yet needed."""
    return [
        str(each)
        for each in imports
        if each.at_top
        and (homes := AT_THE_TOP_ONLY_IN.get(each.target.partition(".")[0])) is not None
        and not any(each.module == home or each.module.startswith(f"{home}.") for home in homes)
    ]


def test_every_part_of_the_package_has_a_layer():
    parts = {path.stem for path in SOURCE.glob("*.py")} | {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert parts - LAYERS.keys() == set()


def test_low_layers_never_import_high_ones():
    assert upward_imports(imports_under(SOURCE)) == []


def test_baselines_share_nothing_with_the_method():
    assert forbidden_imports(imports_under(SOURCE)) == []


def test_heavy_packages_are_imported_only_where_and_when_they_are_used():
    assert early_imports(imports_under(SOURCE)) == []


def test_importing_the_package_imports_no_heavy_one():
    program = f"import sys, {PACKAGE}; print(*sorted({set(AT_THE_TOP_ONLY_IN)} & sys.modules.keys()))"
    environment = {"PYTHONPATH": str(SOURCE.parent), "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_broken_rules_are_found(tmp_path: Path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "table.py").write_text(
        "import mujoco.viewer\n"
        "def later():\n"
        "    import mujoco\n"
        "    from ..storage import load\n"
        "from attribute_planner.errors import GoalError\n"
        "from attribute_planner import phases\n"
        "from attribute_planner import make\n"
    )
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines" / "__init__.py").write_text("from ..planning.search import search\nfrom .. import models\n")
    (tmp_path / "command_line").mkdir()
    (tmp_path / "command_line" / "main.py").write_text("import tyro\nfrom attribute_planner import make\n")

    imports = imports_under(tmp_path)

    assert upward_imports(imports) == [
        "models.table imports attribute_planner.phases (line 6)",
        "models.table imports attribute_planner.make (line 7)",
        "models.table imports attribute_planner.storage.load (line 4)",
    ]
    assert forbidden_imports(imports) == ["baselines imports attribute_planner.planning.search.search (line 1)"]
    assert early_imports(imports) == ["models.table imports mujoco.viewer (line 1)"]
