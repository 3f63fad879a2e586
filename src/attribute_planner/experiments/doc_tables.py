"""Tables in documents: the text between two marks `<!-- results: NAME -->` is generated from the records."""

import re
from collections.abc import Sequence
from pathlib import Path

from attribute_planner.errors import unknown_name
from attribute_planner.experiments.marks import marked
from attribute_planner.experiments.records import Record
from attribute_planner.experiments.report import markdown_table, quoted, summary_text
from attribute_planner.experiments.tables import SUMMARY, TABLES

SECTION = re.compile(r"<!-- results: (?P<name>[\w-]+) -->\n.*?<!-- results: (?P=name) -->", re.DOTALL)


def fill_tables(path: Path, records: Sequence[Record]) -> None:
    """Regenerate the tables of a document."""
    path.write_text(filled(path.read_text(encoding="utf-8"), records), encoding="utf-8")


def filled(text: str, records: Sequence[Record]) -> str:
    """A document with its tables regenerated."""
    return SECTION.sub(lambda match: section(match["name"], records), text)


def section(name: str, records: Sequence[Record]) -> str:
    """A table with its marks."""
    mark = f"<!-- results: {name} -->"
    return f"{mark}\n{_contents(name, records)}\n{mark}"


def _contents(name: str, records: Sequence[Record]) -> str:
    if name == SUMMARY.name:
        return summary_text(records)
    if name not in TABLES:
        raise unknown_name("table", name, [SUMMARY.name, *TABLES])
    table = TABLES[name]
    sentences = [f"- {sentence}" for sentence in (*marked(table, records).footnotes, *table.notes)]
    return "\n".join([*quoted(table, records), "", markdown_table(table, records), "", *sentences]).lstrip()
