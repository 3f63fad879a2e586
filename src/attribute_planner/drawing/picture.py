"""What all pictures share: colours, labels of attribute sets, and files."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from attribute_planner.attributes import Value
from attribute_planner.errors import unknown_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

IMAGE_SUFFIXES = (".png", ".svg")
INK, SOFT, PAPER, LINE = "#26324a", "#7b869c", "#ffffff", "#c3cad8"
NODE, PLANNED, REACHED, FAILED = "#eef2f9", "#e4572e", "#2e9e5b", "#be3232"
"""Colours of text, less important text, background and lines; of a set, a plan, a goal that is reached, a failure."""

DPI = 150


def require_image_suffix(path: Path) -> None:
    """An error unless a file name ends like an image."""
    if path.suffix not in IMAGE_SUFFIXES:
        raise unknown_name("image format", path.suffix or str(path), IMAGE_SUFFIXES)


def finish(figure: "Figure", path: Path | str | None) -> Image.Image:
    """The figure as an image, which notebooks show; also written to a file if a path is given."""
    if path is not None:
        path = Path(path)
        require_image_suffix(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=DPI, facecolor=PAPER)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, facecolor=PAPER)
    return Image.open(drawn)


def colour_of(probability: float) -> tuple[float, float, float]:
    """From red over amber to green, dark enough for text."""
    import matplotlib.colors as colors

    scale = colors.LinearSegmentedColormap.from_list("probability", ["#b8322a", "#c98a1b", "#2f8f5b"])
    red, green, blue, _ = scale(probability)
    return red, green, blue


def set_label(attributes: dict[str, Value]) -> list[str]:
    """An attribute set in few words, line by line: the names of what is true, and the values of the rest."""
    words = []
    for name, value in attributes.items():
        if value is True:
            words.append(name)
        elif value is not False:
            words.append(f"{name}={value}")
    return _wrapped(words or ["nothing"])


def change_label(change: dict[str, Value]) -> list[str]:
    """What a transition changes, line by line."""
    return _wrapped([_change_words(name, value) for name, value in change.items()])


def _change_words(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return f"+ {name}" if value else f"− {name}"
    return f"{name} → {value}"


LINE_LENGTH, MAX_LINES = 22, 5
"""Characters of a line of a label, and lines of a label."""


def _wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        joined = f"{lines[-1]}, {word}" if lines[-1] else word
        if len(joined) <= LINE_LENGTH or not lines[-1]:
            lines[-1] = joined
        else:
            lines[-1] += ","
            lines.append(word)
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], f"… {len(words)} in all"]


def text_size(lines: list[str], points: float) -> tuple[float, float]:
    """Width and height of lines of text, in inches."""
    from matplotlib.textpath import TextPath

    drawn = [line.replace("$", "S") for line in lines if line.strip()]
    widths = [TextPath((0, 0), line, size=points).get_extents().width for line in drawn]
    return max(widths, default=0.0) / 72, len(lines) * points * 1.3 / 72


def blank(width: float, height: float) -> tuple[Any, Any]:
    """A figure and its axes, with an inch as the unit and the origin at the lower left."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    return figure, axes


def box(axes: Any, place: tuple[float, float], lines: list[str], size: tuple[float, float], **style: Any) -> None:
    """A box with centred text; `size` is its width and height."""
    from matplotlib.patches import FancyBboxPatch

    (x, y), (width, height) = place, size
    fill, edge, ink = style.get("fill", NODE), style.get("edge", LINE), style.get("ink", INK)
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.06",
            facecolor=fill,
            edgecolor=edge,
            linewidth=style.get("line", 1.0),
            zorder=3,
        )
    )
    axes.text(
        x,
        y,
        "\n".join(lines).replace("$", r"\$"),
        ha="center",
        va="center",
        fontsize=style.get("points", 8),
        color=ink,
        linespacing=1.2,
        zorder=4,
    )
