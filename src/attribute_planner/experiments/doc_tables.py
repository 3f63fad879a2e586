"""Pages that show results: what stands between two marks `<!-- results: NAME -->` is made of records."""

import re
from collections.abc import Sequence
from pathlib import Path

from attribute_planner.errors import unknown_name
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.report import markdown_table, summary_text
from attribute_planner.experiments.tables import SUMMARY, TABLES
from attribute_planner.experiments.verdicts import read_table

SECTION = re.compile(r"<!-- results: (?P<name>[\w-]+) -->\n.*?<!-- results: (?P=name) -->", re.DOTALL)


def fill_page(path: Path, records: Sequence[Record]) -> None:
    """Write the results anew into a page."""
    path.write_text(filled(path.read_text(encoding="utf-8"), records), encoding="utf-8")


def filled(text: str, records: Sequence[Record]) -> str:
    """A page with its results made anew."""
    return SECTION.sub(lambda match: section(match["name"], records), text)


def section(name: str, records: Sequence[Record]) -> str:
    """What stands under a mark, with the marks."""
    mark = f"<!-- results: {name} -->"
    return f"{mark}\n{_contents(name, records)}\n{mark}"


def _contents(name: str, records: Sequence[Record]) -> str:
    if name == SUMMARY.name:
        return summary_text(records)
    if name not in TABLES:
        raise unknown_name("table", name, [SUMMARY.name, *TABLES])
    table = TABLES[name]
    sentences = [f"- {sentence}" for sentence in (*read_table(table, records), *table.notes)]
    return "\n".join([markdown_table(table, records), "", *sentences])
