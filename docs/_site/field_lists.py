"""A Griffe extension: the lines `name: what it is` of docstrings become a list."""

import re
from typing import Any

import griffe

FIELD = re.compile(r"^(?P<names>[a-z_]\w*(?:, [a-z_]\w*)*): (?P<text>.+)$")


class FieldLists(griffe.Extension):
    """Rewrites docstrings for Markdown."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = with_lists(obj.docstring.value)


def with_lists(text: str) -> str:
    """The docstring with its fields as a list."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        field = FIELD.match(line)
        if field:
            lines += [] if inside or not lines or not lines[-1] else [""]
            lines.append(f"- **{field['names']}**: {field['text']}")
        else:
            lines.append(line)
        inside = bool(field) or (inside and line.startswith(" "))
    return "\n".join(lines)
