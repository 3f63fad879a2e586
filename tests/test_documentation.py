"""The documentation is true: its Python runs, its commands exist, its links lead somewhere.

A Python block runs unless the line before it is the comment `<!-- not run: REASON -->`. Trainings are cut short.
"""

import re
import shlex
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

import attribute_planner as ap
from attribute_planner import configuration
from attribute_planner.configuration import TrainConfig
from attribute_planner.environments.interface import PureEnvironment
from attribute_planner.evaluation import calibrate

ROOT = Path(__file__).parents[1]
COMMAND = "attribute-planner"
PAGES = [
    *(path for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md") if (path := ROOT / name).exists()),
    *sorted((ROOT / "docs").rglob("*.md")),
]

FENCE = re.compile(r"^ *(?:[-*] |\d+\. )?```(?P<language>\w*).*?\n(?P<body>.*?)^ *```\s*?$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"<!-- *not run:(?P<reason>.*?)-->\s*\Z", re.DOTALL)
LINK = re.compile(r"""\]\(<?(?P<markdown>[^)\s>]+)|(?:src|href)=["'](?P<html>[^"']+)""")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    language: the word after the fence.
    body: its lines, without the indentation of the fence.
    line: how many lines of the page precede the body.
    not_run: the reason why it is not run; `None` where it is.
    """

    language: str
    body: str
    line: int
    not_run: str | None


def blocks_of(text: str) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        before = text[: match.start()]
        marked = NOT_RUN.search(before)
        reason = marked["reason"].strip() if marked else None
        line = text[: match.start("body")].count("\n")
        yield Block(match["language"], textwrap.dedent(match["body"]), line, reason)


def run_python(text: str, page: str) -> dict[str, Any]:
    """Runs the Python blocks of a page in order, in one namespace, and returns that; errors point into the page."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(text):
        if block.language == "python" and block.not_run is None:
            exec(compile("\n" * block.line + block.body, page, "exec"), namespace)
    return namespace


def commands_of(text: str) -> list[list[str]]:
    """The words of each documented call of the program, up to whatever the shell does with its output."""
    lines = [
        line.removeprefix("$ ")
        for block in blocks_of(text)
        if block.language in ("console", "bash", "sh", "shell")
        for line in block.body.replace("\\\n", " ").splitlines()
    ]
    return [until_operator(line) for line in lines if line.split()[:1] == [COMMAND]]


def until_operator(line: str) -> list[str]:
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    arguments: list[str] = []
    for word in words:
        if set(word) <= set("|&;<>()"):
            break
        arguments.append(word)
    return arguments


def local_links_of(text: str) -> list[str]:
    """The paths that a page links to or shows, without anchors; those in code do not count."""
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    links = [match["markdown"] or match["html"] for match in LINK.finditer(prose)]
    return [link.partition("#")[0] for link in links if not ELSEWHERE.match(link)]


def help_of(arguments: list[str], patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Exit status and help of the program, called as its entry point calls it."""
    main = import_module("attribute_planner.command_line.main").main
    patch.setattr(sys, "argv", [COMMAND, *arguments, "--help"])
    patch.setenv("COLUMNS", "200")
    try:
        status = main()
    except SystemExit as end:
        status = end.code
    printed = capture.readouterr()
    return (status if isinstance(status, int) else int(status is not None)), printed.out + printed.err


def page_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


MAX_STEPS, MAX_HOST_STEPS, MAX_EPISODES, CHECK_STEPS = 4_000, 1_000, 10, 40
"""Steps of a training on a page, of one on the host, episodes of an evaluation and steps of a check of an environment:
pages show how to call them."""


def train_briefly(env: Any, *, steps: int, train: Any = ap.train, **options: Any) -> ap.Agent:
    most = MAX_STEPS if isinstance(env, PureEnvironment) else MAX_HOST_STEPS
    return train(env, steps=min(steps, most), **{**options, "progress": False})


def evaluate_briefly(agent: ap.Agent, *args: Any, episodes: int, evaluate: Any = ap.evaluate, **options: Any) -> Any:
    return evaluate(agent, *args, episodes=min(episodes, MAX_EPISODES), **options)


def check_briefly(env: ap.Environment, check: Any = ap.check_environment) -> Any:
    return check(env, steps=CHECK_STEPS)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ap, "train", train_briefly)
    monkeypatch.setattr(ap, "evaluate", evaluate_briefly)
    monkeypatch.setattr(ap, "check_environment", check_briefly)
    monkeypatch.setattr(calibrate, "SHARE", 0.0)  # it would take longer than training
    monkeypatch.setattr(configuration, "replay_ratio", lambda *_: 1.0)
    run_python(page.read_text(encoding="utf-8"), str(page))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_a_block_that_is_not_run_says_why(page: Path):
    assert "" not in [block.not_run for block in blocks_of(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_documented_commands_exist(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    commands = commands_of(page.read_text(encoding="utf-8"))
    for _, *arguments in commands:
        subcommand = [word for word in arguments[:1] if not word.startswith("-")]
        status, text = help_of(subcommand, monkeypatch, capsys)
        # For a command that does not exist, tyro shows the help of the whole program, and is content.
        assert status == 0 and text.startswith(f"usage: {' '.join([COMMAND, *subcommand])} "), f"no {subcommand}"
        flags = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        assert {flag for flag in flags if flag not in text} == set(), f"{COMMAND} {subcommand} lacks these options"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_and_pictures_exist(page: Path):
    links = local_links_of(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


SETTING = re.compile(r"`((?:detect|explore|forward_model|practise)(?:\.[a-z_]+)+)(?:=[^`]*)?`")
CODE = re.compile(r"`([A-Za-z_][\w.]*)`")
OLD_NAMES = {"CHANGELOG.md"}
"""Pages that also mention settings of earlier versions."""


def has_setting(config: Any, path: str) -> bool:
    for name in path.split("."):
        if name not in {field.name for field in fields(config)}:
            return False
        config = getattr(config, name)
    return True


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in OLD_NAMES], ids=page_name)
def test_documented_settings_exist(page: Path):
    mentioned = SETTING.findall(page.read_text(encoding="utf-8"))
    assert [setting for setting in mentioned if not has_setting(TrainConfig(), setting)] == []


def mapped_names(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The modules and the names in each row of the tables that map the paper to the code."""
    in_map = False
    for line in text.splitlines():
        cells = line.strip("|").split(" | ")
        in_map = line.startswith("|") and (in_map or cells[1:2] == ["module"])
        if in_map and len(cells) == 3 and (modules := CODE.findall(cells[1])):
            try:
                yield (
                    [import_module(f"attribute_planner.{module}").__file__ or "" for module in modules],
                    CODE.findall(cells[2].partition(";")[0].partition(":")[0]),
                )
            except ModuleNotFoundError as error:
                raise AssertionError(f"{line}: {error}") from error


def test_the_paper_map_names_modules_and_names_that_exist():
    rows = list(mapped_names((ROOT / "docs/paper_map.md").read_text(encoding="utf-8")))
    assert len(rows) > 50
    for files, names in rows:
        code = "\n".join(Path(file).read_text(encoding="utf-8") for file in files)
        words = set(re.findall(r"\w+", code))
        missing = [name for name in names if not set(name.split(".")) <= words and not has_setting(TrainConfig(), name)]
        assert not missing, f"{missing} are not in {files}"


PACKAGE = ROOT / "src/attribute_planner"
PARTS = "|".join(sorted({path.stem for path in PACKAGE.iterdir() if path.stem[0].isalpha()}))
DOTTED = re.compile(rf"`((?:{PARTS})\.[\w.]+)`")
FILE = re.compile(r"`([\w/.-]+\.(?:py|md|toml|txt))`")
WRITTEN_BY_COMMANDS = {"reproduction/strangers.md", "reproduction/small.md"}


def exists(dotted: str) -> bool:
    """Whether this is a setting, a field or method of an agent, or a module of the package or a member of one."""
    part, _, name = dotted.partition(".")
    if has_setting(TrainConfig(), dotted) or (
        part == "agent" and name in dir(ap.Agent) + list(ap.Agent.__annotations__)
    ):
        return True
    try:
        return resolve_name(f"attribute_planner.{dotted}") is not None
    except (ImportError, AttributeError):
        return False


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in OLD_NAMES], ids=page_name)
def test_documented_files_and_modules_exist(page: Path):
    text = page.read_text(encoding="utf-8")
    files = [name for name in FILE.findall(text) if name not in WRITTEN_BY_COMMANDS]
    assert [name for name in files if not ((PACKAGE / name).exists() or (ROOT / name).exists())] == []
    assert [name for name in DOTTED.findall(text) if not exists(name)] == []


def test_the_package_index_shows_the_readme_as_soon_as_there_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project.get("readme") == ("README.md" if (ROOT / "README.md").exists() else None)


EXAMPLE = """
# A page

```python
first = 1
```

<!-- not run: takes an hour -->
```python
first = 1 / 0
```

- ```python
  second = first + 1
  ```

```console
$ attribute-planner reach runs/a --goal "x=1 y=2" --json | jq .success
attribute-planner train switches \\
    --steps 10
some output of attribute-planner
```

[a page](docs/page.md#part) ![a picture](docs/picture.png "shown") <img src="docs/other.png" width="10">
[elsewhere](https://example.org) [here](#a-page) `[code](no.md)`
"""


def test_blocks_share_one_namespace_and_skip_what_is_marked():
    namespace = run_python(EXAMPLE, "page")
    assert (namespace["first"], namespace["second"]) == (1, 2)
    assert [block.not_run for block in blocks_of(EXAMPLE)] == [None, "takes an hour", None, None]


def test_a_mark_without_a_reason_is_seen():
    assert [block.not_run for block in blocks_of("<!-- not run: -->\n```python\npass\n```\n")] == [""]


def test_an_error_in_a_block_points_to_its_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as error:
        run_python("A title\n\n```python\nright = 1\nwrong = 1 / 0\n```\n", "page.md")
    assert (str(error.traceback[-1].path), error.traceback[-1].lineno) == ("page.md", 4)


def test_commands_are_read_up_to_the_first_operator_of_the_shell():
    assert commands_of(EXAMPLE) == [
        [COMMAND, "reach", "runs/a", "--goal", "x=1 y=2", "--json"],
        [COMMAND, "train", "switches", "--steps", "10"],
    ]


def test_links_are_the_paths_outside_code():
    assert local_links_of(EXAMPLE) == ["docs/page.md", "docs/picture.png", "docs/other.png"]
