"""Hooks of the site: pages from the root of the repository, and the source files that pages link to."""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]

FROM_ROOT = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "REPRODUCTION.md": "reproduction.md",
}
"""Pages that stand outside of `docs`, and where they are in the site."""

TARGET = re.compile(r"""(?P<before>\]\(<?|(?:src|href)=["'])(?P<path>[^)\s>"'#]+)(?P<anchor>#[^)\s>"']*)?""")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")
LISTINGS = {".py": "python", ".txt": "text", ".toml": "toml", ".cff": "yaml", ".ipynb": "", "": "text"}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from the root, the pictures of the report, and a page for every file that is linked to."""
    for source, target in FROM_ROOT.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    for picture in sorted((ROOT / "reproduction" / "pictures").rglob("*.*")):
        files.append(File.generated(config, picture.relative_to(ROOT).as_posix(), abs_src_path=str(picture)))
    for source, target in {"site.css": "_site.css", "iframe-worker.js": "_iframe-worker.js"}.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / "docs" / "_site" / source)))
    for path in sorted(_linked_files(files)):
        files.append(File.generated(config, _listing_page(path), content=_listing(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Let links lead to where things are in the site."""
    del config, files
    return markdown if page.file.src_uri.startswith("source/") else _with_links(markdown, page.file.src_uri)


def _with_links(markdown: str, page: str) -> str:
    return TARGET.sub(lambda match: _moved(match, page), markdown)


def _moved(match: re.Match[str], page: str) -> str:
    path, anchor = match["path"], match["anchor"] or ""
    if ELSEWHERE.match(path):
        return match[0]
    target = _in_site(_in_repository(path, page))
    return f"{match['before']}{posixpath.relpath(target, posixpath.dirname(page) or '.')}{anchor}"


def _in_repository(path: str, page: str) -> str:
    """Where a link of a page leads in the repository."""
    at_root = {target: source for source, target in FROM_ROOT.items()}
    home = "" if page in at_root else posixpath.join("docs", posixpath.dirname(page))
    return posixpath.normpath(posixpath.join(home, path))


def _in_site(path: str) -> str:
    """Where a file of the repository is in the site."""
    if path in FROM_ROOT:
        return FROM_ROOT[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return _listing_page(path) if _has_listing(path) else path


def _has_listing(path: str) -> bool:
    file = ROOT / path
    return not path.startswith("docs/") and file.is_file() and file.suffix in LISTINGS


def _listing_page(path: str) -> str:
    return f"source/{path}.md"


def _listing(path: str) -> str:
    code = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".ipynb"):
        return "\n\n".join(map(_cell, json.loads(code)["cells"]))
    language = LISTINGS[Path(path).suffix]
    return f"# {path}\n\n````{language}\n{code}\n````\n"


def _cell(cell: dict[str, Any]) -> str:
    """A cell of a notebook as Markdown."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        return f"```python\n{source}\n```"
    # Notebooks link to each other; their pages in the site have another ending.
    return source.replace(".ipynb)", ".ipynb.md)")


def _linked_files(files: Files) -> set[str]:
    """The files outside of `docs` that pages link to."""
    found = set()
    for file in files.documentation_pages():
        for match in TARGET.finditer(file.content_string):
            if not ELSEWHERE.match(match["path"]):
                path = _in_repository(match["path"], file.src_uri)
                found |= {path} if path not in FROM_ROOT and _has_listing(path) else set()
    return found
