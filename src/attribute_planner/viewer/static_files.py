"""The files of the viewer's page. They are read once; a request names one of them, never a path on the disk."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "static"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file of the page."""

    content: bytes
    media_type: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Every file of the page by its name."""
    found = sorted(path for path in FOLDER.iterdir() if path.suffix in TYPES)
    return {path.name: StaticFile(path.read_bytes(), TYPES[path.suffix]) for path in found}


IMPORT = re.compile(r"^import \{[^}]*\} from \"\./(?P<module>[\w.]+)\";\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) )", re.MULTILINE)


def bundled(name: str) -> str:
    """A JavaScript module and all that it imports as one script, for a page of one file.

    The modules of the page have different names for everything at their top level, and import by `import { … }` only.
    """
    return "".join(_bodies(name, {}).values())


def _bodies(name: str, known: dict[str, str]) -> dict[str, str]:
    """The modules that a module needs and itself, in an order in which each stands after what it needs."""
    code = static_files()[name].content.decode()
    for match in IMPORT.finditer(code):
        if match["module"] not in known:
            known = _bodies(match["module"], known)
    return {**known, name: EXPORT.sub("", IMPORT.sub("", code))}
