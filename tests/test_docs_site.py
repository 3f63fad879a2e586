"""The documentation as a site: everything public is in it, and reading it loads nothing from elsewhere."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import attribute_planner as ap
from tests.viewer.browser import Browser, find_chromium

ROOT = Path(__file__).parents[1]
SEARCH = """(() => { const input = document.querySelector('.md-search__input');
input.focus(); input.value = 'aliasing';
input.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })()"""


def test_everything_public_is_in_the_api_reference():
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    documented = set(re.findall(r"^::: attribute_planner\.(\w+)$", pages, re.M))
    assert set(ap.PUBLIC) - documented == set()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.slow  # `.ci/run` builds the site
def test_the_site_is_built_and_loads_nothing_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src=[\"']?https?:|<link[^>]+href=[\"']?https?:|@import|url\([\"']?https?:"
    )
    found = {page.name: loads.findall(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: each for name, each in found.items() if each} == {}
    styles = "".join(style.read_text(encoding="utf-8") for style in site.rglob("*.css"))
    assert not re.search(r"url\([\"']?https?:|@import", styles)
    assert "Agent" in (site / "api" / "agents.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_is_searched_without_a_server(site: Path):
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium is installed")
    with contextlib.closing(Browser(program)) as browser:
        tab = browser.tab(f"file://{site}/index.html")
        tab.resize(1440, 900)
        tab.wait("document.querySelector('.md-search__input')")
        tab.value(SEARCH)
        tab.wait("document.querySelectorAll('.md-search-result__item').length")
        assert "aliasing" in tab.value("document.querySelector('.md-search-result__list').innerText")
        assert [url for url in tab.requests() if url.startswith("http")] == []
