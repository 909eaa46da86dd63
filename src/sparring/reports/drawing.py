"""How figures are drawn: one style, inline SVG that follows the page's colours, direct labels.

Matplotlib draws with stand-in colours, and `as_inline_svg` turns each stand-in into a CSS variable
of the page. So one figure serves the light and the dark page, and a name keeps its colour
throughout the report.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

INK = "#010101"
MUTED = "#020202"
RULE = "#030303"
ENVIRONMENT_COLOURS = ("#110101", "#110202", "#110303", "#110404", "#110505", "#110606")
ROLE_COLOURS = ("#220101", "#220202", "#220303", "#220404")
CSS_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    **{colour: f"var(--environment-{number})" for number, colour in enumerate(ENVIRONMENT_COLOURS, 1)},
    **{colour: f"var(--role-{number})" for number, colour in enumerate(ROLE_COLOURS, 1)},
}

STYLE: dict[str, object] = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "text.color": INK,
    "font.size": 8.5,
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
}

PAGE_WIDTH_INCHES = 9.2
LEFT, TOP, BOTTOM, GAP = 0.62, 0.27, 0.44, 0.24
"""Margins of a panel, in inches."""
COLUMNS_AT_MOST = 3
MARKERS_UP_TO = 14
TICKS_AT_MOST = 6
RELAXATIONS = 40
LABEL_FLOOR = 0.045
"""Labels stay this far above the horizontal axis, so that its line does not cross them."""

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class EndLabel:
    """A line's name, to be written where the line ends."""

    x: float
    y: float
    text: str
    colour: str


def colours(names: Sequence[str], palette: Sequence[str]) -> dict[str, str]:
    """One colour a name, by position; more names than colours start over."""
    return {name: palette[index % len(palette)] for index, name in enumerate(names)}


def panel_figure(
    title_colours: Mapping[str, str], draw: Callable[[Axes, str], bool], *, height: float, label_room: float
) -> Figure | None:
    """Small multiples, one panel a name; None when `draw` finds nothing to draw for any of them.

    `draw` returns False for a panel without data, which then says "not measured". The panels share
    their vertical axis, which starts at 0 unless `draw` sets its limits. height and label_room (the
    room to the right of each panel) are in inches.
    """
    if not title_colours:
        return None
    columns = min(COLUMNS_AT_MOST, len(title_colours))
    lines = ceil(len(title_colours) / columns)
    grid = axes_grid(lines, columns, height=height, label_room=label_room)
    for axes in grid.flat[len(title_colours) :]:
        axes.set_visible(False)
    drawn = []
    for axes, (name, colour) in zip(grid.flat, title_colours.items(), strict=False):
        axes.set_title(name, color=colour)
        drawn.append(draw(axes, name))
        if not drawn[-1]:
            say_not_measured(axes)
        axes.label_outer(remove_inner_ticks=False)
    first: Axes = grid.flat[0]
    if first.get_autoscaley_on():
        first.set_ylim(bottom=0)
    return first.get_figure(root=True) if any(drawn) else None


def axes_grid(lines: int, columns: int, *, height: float, label_room: float) -> Any:
    """An array of axes of one figure with sharing vertical axes, `height` inches a line.

    The margins are fixed, so that the panels of all figures stand in line down the page.
    """
    panel_width = (PAGE_WIDTH_INCHES - LEFT - columns * label_room - (columns - 1) * GAP) / columns
    figure_height = lines * (height + TOP + BOTTOM)
    figure = Figure(figsize=(PAGE_WIDTH_INCHES, figure_height))
    figure.subplots_adjust(
        left=LEFT / PAGE_WIDTH_INCHES,
        right=1 - label_room / PAGE_WIDTH_INCHES,
        top=1 - TOP / figure_height,
        bottom=BOTTOM / figure_height,
        wspace=(label_room + GAP) / panel_width,
        hspace=(TOP + BOTTOM) / height,
    )
    return figure.subplots(lines, columns, squeeze=False, sharey=True)


def say_not_measured(axes: Axes) -> None:
    """Say that a panel has no data, rather than show an empty frame."""
    axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", va="center", color=MUTED)
    axes.set_xticks([])


def draw_series(axes: Axes, points: Points, colour: str) -> None:
    """A series over rounds: each round faint, the mean of the last rounds strong.

    Short series need no smoothing and are drawn once, with a marker a round.
    """
    xs, ys = zip(*points, strict=True)
    window = smoothing_window(len(points))
    if window == 1:
        axes.plot(xs, ys, color=colour, marker="o", markersize=3.2, markeredgewidth=0, clip_on=False)
        return
    axes.plot(xs, ys, color=colour, linewidth=0.8, alpha=0.35)
    axes.plot(xs, trailing_mean(ys, window), color=colour)


def smoothing_window(count: int) -> int:
    """Rounds averaged in the strong line: a tenth of them, 1 (no smoothing) for short runs."""
    return 1 if count <= MARKERS_UP_TO else max(3, count // 10)


def trailing_mean(values: Sequence[float], window: int) -> list[float]:
    """Mean of the last `window` values at each place, of fewer at the start."""
    starts = (max(0, end - window) for end in range(1, len(values) + 1))
    return [sum(values[start:end]) / (end - start) for end, start in enumerate(starts, 1)]


def share_axis(axes: Axes, label: str) -> None:
    """A vertical axis from 0 to 100 %."""
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    axes.set_ylabel(label)


def round_axis(axes: Axes, first: int, last: int) -> None:
    """A horizontal axis over rounds; a single round gets room on both sides."""
    axes.set_xlim((first - 0.5, last + 0.5) if first == last else (first, last))
    if last - first < TICKS_AT_MOST:
        axes.set_xticks(range(first, last + 1))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=TICKS_AT_MOST, integer=True))
    axes.set_xlabel("round")
    axes.margins(x=0)


def label_ends(axes: Axes, labels: Sequence[EndLabel], gap: float = 0.085) -> None:
    """Write names to the right of the lines' ends, pushed apart until `gap` of the axis height is between them.

    Call after the vertical limits are set.
    """
    low, high = axes.get_ylim()
    ordered = sorted(labels, key=lambda label: label.y)
    heights = [(label.y - low) / (high - low) for label in ordered]
    for _ in range(RELAXATIONS):
        for index in range(1, len(heights)):
            push = max(0.0, gap - (heights[index] - heights[index - 1])) / 2
            heights[index - 1] -= push
            heights[index] += push
        heights = [min(max(height, LABEL_FLOOR), 1.0) for height in heights]
    for label, height in zip(ordered, heights, strict=True):
        axes.annotate(
            label.text,
            (label.x, low + height * (high - low)),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=label.colour,
            annotation_clip=False,
        )


def inline_svg(name: str, description: str, build: Callable[[], Figure | None]) -> Markup | None:
    """What `build` draws, as an SVG element for the page; None when it finds nothing to draw.

    Same data, same bytes, and no reference to anything outside. `name` salts the ids, so that
    several figures can share one page.
    """
    buffer = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):  # type: ignore[dict-item]
        figure = build()
        if figure is None:
            return None
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    drawing = buffer.getvalue()
    view_box = re.search(r'viewBox="[^"]*"', drawing)
    assert view_box is not None, "matplotlib always writes a viewBox"
    body = drawing[drawing.index(">", view_box.end()) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", re.sub(r'<g id="[^"]*"', "<g", body))
    body = re.sub(r"\n\s*", " ", body)
    for stand_in, variable in CSS_VARIABLES.items():
        body = body.replace(stand_in, variable)
    return Markup(f'<svg role="img" aria-label="{escape(description)}" {view_box.group()}>{body}')
