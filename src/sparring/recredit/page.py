"""The page of a recredit: one offline HTML file, with the figures and the style of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from sparring.recredit.measures import Bins, Tally, bin_range
from sparring.recredit.recompute import Recredit
from sparring.recredit.stored import GroupKind
from sparring.recredit.tables import tables
from sparring.reports import drawing
from sparring.reports.drawing import ENVIRONMENT_COLOURS, INK, MUTED, EndLabel
from sparring.reports.figures import ReportFigure
from sparring.reports.pages import page_template
from sparring.runs.writing import write_atomically

NAME_ROOM = 1.45
"""Inches to the left of bars, or to the right of lines, for the names of the credits."""

TOKENS = "tokens, up to"
"""What the axis of lengths is called."""


def write_page(done: Recredit, path: Path) -> None:
    """Write the page to `path`; UserError where the disk refuses."""
    page = page_template("recredit.html.j2").render(done=done, figures=figures(done), tables=tables(done))
    write_atomically(path, page.encode("utf-8"))


def figures(done: Recredit) -> list[ReportFigure]:
    """All figures: bars a credit for both roles, then lines over turn positions and lengths."""
    by_length = "Share of the sum of |A| x tokens by the tokens of a turn, each bin from the one before to twice that."
    return [
        teaching(done.executor, done.own_executor, "Groups that teach the executor"),
        marked(
            done.executor,
            done.own_executor,
            "Advantage of early correct turns",
            "Mean over the turns that made progress before the last turn of a captured rollout. Below 0, training "
            "makes a turn rarer that was right.",
        ),
        lines(
            done.executor,
            done.own_executor,
            "Mean advantage by turn position",
            "Mean A over all turns at a place in their rollout, captured or not.",
            "turn",
            "mean A",
            lambda tally: [(index + 1, mean) for index, _, mean, _ in tally.positions.rows()],
        ),
        lines(
            done.executor,
            done.own_executor,
            "Weight by turn position",
            "Share of the sum of |A| x tokens: where in a rollout the gradient comes from.",
            "turn",
            "share of weight",
            lambda tally: [(index + 1, share) for index, share in _weights(tally.positions)],
        ),
        lines(
            done.executor,
            done.own_executor,
            "Weight by turn length",
            by_length,
            TOKENS,
            "share of weight",
            lambda tally: [(bin_range(index)[1], share) for index, share in _weights(tally.lengths)],
        ),
        teaching(done.planner, done.own_planner, "Groups that teach the planner"),
        marked(
            done.planner,
            done.own_planner,
            "Advantage of plans that captured",
            "Mean over the plans of captured rollouts.",
        ),
    ]


def shades(tallies: Mapping[str, Tally], own: str) -> dict[str, str]:
    """One colour a credit throughout the page; the run's own has the ink's."""
    others = drawing.colours([name for name in tallies if name != own], ENVIRONMENT_COLOURS)
    return {name: others.get(name, INK) for name in tallies}


def teaching(tallies: Mapping[str, Tally], own: str, title: str) -> ReportFigure:
    """Share of groups with any advantage, by what came of the group."""

    def build() -> Figure:
        axes = _bar_axes(len(tallies), len(GroupKind))
        for each, kind in zip(axes, GroupKind, strict=True):
            found = {name: tally.teaching_share(kind) for name, tally in tallies.items()}
            _draw_bars(each, kind.value.replace("_", " "), found, shades(tallies, own), "{:.0%}")
            each.set_xlim(0, 1.15)
        return _figure_of(axes[0])

    return ReportFigure(
        title,
        "Share of the groups of each kind in which some advantage is not 0. Where none is, a group's rollouts cost "
        "time and teach nothing.",
        drawing.inline_svg(title, title, build),
    )


def marked(tallies: Mapping[str, Tally], own: str, title: str, caption: str) -> ReportFigure:
    """Mean advantage of the marked turns, a bar a credit."""
    found = {name: tally.marked_advantage / tally.marked for name, tally in tallies.items() if tally.marked}

    def build() -> Figure | None:
        if not found:
            return None
        (axes,) = _bar_axes(len(found), 1)
        _draw_bars(axes, "mean A", found, shades(tallies, own), "{:+.2f}")
        axes.axvline(0.0, color=MUTED, linewidth=0.6)
        axes.margins(x=0.12)
        return _figure_of(axes)

    return ReportFigure(title, caption, drawing.inline_svg(title, title, build))


def lines(
    tallies: Mapping[str, Tally],
    own: str,
    title: str,
    caption: str,
    across: str,
    up: str,
    points: Callable[[Tally], list[tuple[int, float]]],
) -> ReportFigure:
    """One line a credit, its name at its end, over positions or, on a doubling scale, over lengths."""
    found = {name: line for name, tally in tallies.items() if (line := points(tally))}

    def build() -> Figure | None:
        if not found:
            return None
        axes: Axes = drawing.axes_grid(1, 1, height=2.2, label_room=NAME_ROOM)[0, 0]
        for name, line in found.items():
            xs, ys = zip(*line, strict=True)
            width = 2.4 if name == own else 1.4
            shade = shades(tallies, own)[name]
            axes.plot(xs, ys, color=shade, marker="o", markersize=3, linewidth=width, clip_on=False)
        axes.axhline(0.0, color=MUTED, linewidth=0.6)
        if across == TOKENS:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(ScalarFormatter())
        else:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=drawing.TICKS_AT_MOST, integer=True))
        axes.margins(x=0.0)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        ends = [EndLabel(line[-1][0], line[-1][1], name, shades(tallies, own)[name]) for name, line in found.items()]
        drawing.label_ends(axes, ends, gap=0.075)
        return _figure_of(axes)

    return ReportFigure(title, caption, drawing.inline_svg(title, title, build))


def _weights(bins: Bins) -> list[tuple[int, float]]:
    return [(index, weight) for index, _, _, weight in bins.rows() if weight is not None]


def _bar_axes(bars: int, columns: int) -> list[Axes]:
    """Axes in a row for horizontal bars, whose names stand to the left of the first."""
    height = 0.4 + 0.25 * bars
    figure = Figure(figsize=(drawing.PAGE_WIDTH_INCHES, height))
    figure.subplots_adjust(
        left=NAME_ROOM / drawing.PAGE_WIDTH_INCHES, right=0.98, bottom=0.02, top=1 - drawing.TOP / height, wspace=0.1
    )
    return list(figure.subplots(1, columns, squeeze=False, sharey=True)[0])


def _draw_bars(
    axes: Axes, title: str, found: Mapping[str, float | None], colours: Mapping[str, str], form: str
) -> None:
    axes.set_title(title)
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_xticks([])
    values = [0.0 if value is None else value for value in found.values()]
    axes.barh(list(found), values, color=[colours[name] for name in found], height=0.62, alpha=0.85)
    axes.set_ylim(len(found) - 0.5, -0.5)
    for index, (name, value) in enumerate(found.items()):
        left = value is not None and value < 0
        axes.annotate(
            "none" if value is None else form.format(value),
            (values[index], index),
            xytext=(-4 if left else 4, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            color=MUTED if value is None else colours[name],
        )


def _figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes made here belong to a figure"
    return figure
