"""The figures of a suite: differences with their intervals, and the course of every arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparring.lab.results import Line, Point
from sparring.lab.statistics import mean_interval
from sparring.reports import drawing
from sparring.reports.drawing import INK, MUTED, EndLabel
from sparring.reports.figures import ReportFigure

PALETTE = (*drawing.ENVIRONMENT_COLOURS, *drawing.ROLE_COLOURS)

LABEL_ROOM = 1.5
"""Inches to the right of a panel for the names of the arms."""

SHARE_MEASURES = {"heldout": "held-out success", "capture": "capture rate in training", "mixed": "mixed groups"}


def figures(lines: Sequence[Line]) -> list[ReportFigure]:
    """All figures of a suite."""
    return [
        forest(lines),
        learning_curves(lines, "rollouts", lambda point: float(point.rollouts)),
        learning_curves(lines, "CPU seconds", lambda point: point.cpu_seconds),
        course(lines, "difficulty", "emitted difficulty", "Mean difficulty of a round's tasks, mean over seeds."),
        course(
            lines,
            "capture",
            "capture rate in training",
            "Share of training rollouts that captured their task, mean over seeds. At one half (dashed) the frontier "
            "reward min(p, 1 - p) is highest.",
        ),
        course(
            lines,
            "mixed",
            "share of mixed groups",
            "Groups with captured and failed rollouts, mean over seeds: only these teach a terminal reward anything.",
        ),
    ]


def colours_of(lines: Sequence[Line]) -> dict[str, str]:
    """The colour of each arm, the same in all variants."""
    return drawing.colours(list(dict.fromkeys(line.arm.title for line in lines)), PALETTE)


def forest(lines: Sequence[Line]) -> ReportFigure:
    """Every paired difference with its interval, against no difference."""
    compared = [line for line in lines if line.difference]
    shades = colours_of(lines)

    def build() -> Figure | None:
        if not compared:
            return None
        height = 0.6 + 0.28 * len(compared)
        figure = Figure(figsize=(drawing.PAGE_WIDTH_INCHES, height))
        figure.subplots_adjust(left=0.28, right=0.97, top=1 - 0.1 / height, bottom=drawing.BOTTOM / height)
        axes = figure.subplots()
        axes.axvline(0.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        for place, line in enumerate(compared):
            assert line.difference is not None
            mean, shade = line.difference.mean, shades[line.arm.title]
            if mean.low is not None and mean.high is not None:
                axes.plot([mean.low, mean.high], [place, place], color=shade, linewidth=2.2, alpha=0.55)
            axes.plot([mean.mean], [place], color=shade, marker="o", markersize=5, markeredgewidth=0)
        axes.set_yticks(range(len(compared)), [line.title for line in compared])
        axes.tick_params(axis="y", labelcolor=INK)
        axes.set_ylim(len(compared) - 0.5, -0.5)
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("difference in held-out success")
        return figure

    title = "Differences to the reference"
    return ReportFigure(
        title,
        "Each arm minus its reference after the last round, paired by seed. Bars are Student's 95\u00a0% intervals, "
        "not corrected for the number of comparisons; one that crosses the dashed line leaves the order open.",
        drawing.inline_svg("forest", title, build),
    )


def learning_curves(lines: Sequence[Line], axis: str, place: Callable[[Point], float]) -> ReportFigure:
    """Held-out success against what was spent, mean over seeds with its interval."""
    shades = colours_of(lines)

    def draw(axes: Axes, variant: str) -> bool:
        labels = []
        for line in _of_variant(lines, variant):
            xs, curves = common_curves(line, place)
            means = [mean_interval(column) for column in curves.T.tolist()]
            shade = shades[line.arm.title]
            if all(mean.low is not None for mean in means):
                low, high = [mean.low for mean in means], [mean.high for mean in means]
                axes.fill_between(xs, low, high, color=shade, alpha=0.12, linewidth=0)  # type: ignore[arg-type]
            ys = [mean.mean for mean in means]
            axes.plot(xs, ys, color=shade, marker="o", markersize=2.6, markeredgewidth=0)
            labels.append(EndLabel(xs[-1], ys[-1], line.arm.title, shade))
        axes.set_ylabel("held-out success")
        axes.set_xlabel(axis)
        axes.margins(x=0.01)
        drawing.label_ends(axes, labels, gap=0.075)
        return bool(labels)

    return ReportFigure(
        f"Held-out success against {axis}",
        f"Mean over seeds at each evaluation; the band is Student's 95\u00a0% interval. {axis.capitalize()} of a run "
        "from its first round on; the backbone's warm-up is the same for all.",
        _panels(f"curves {axis}", lines, draw, height=2.3),
    )


def common_curves(line: Line, place: Callable[[Point], float]) -> tuple[list[float], np.ndarray]:
    """Held-out success of an arm's runs at common places: (places,), (runs, places).

    The places are the first run's, as far as the shortest run goes; others are interpolated between
    their evaluations.
    """
    courses = [
        [(place(point), point.heldout) for point in run.points if point.heldout is not None] for run in line.runs
    ]
    end = min(course[-1][0] for course in courses)
    xs = [x for x, _ in courses[0] if x < end] + [end]
    rows = [np.interp(xs, [x for x, _ in course], [y for _, y in course]) for course in courses]
    return xs, np.asarray(rows)


def course(lines: Sequence[Line], measure: str, label: str, caption: str) -> ReportFigure:
    """One measure of training round by round, mean over seeds."""
    shades = colours_of(lines)

    def draw(axes: Axes, variant: str) -> bool:
        labels, last = [], 1
        if measure == "capture":
            axes.axhline(0.5, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        for line in _of_variant(lines, variant):
            points = mean_course(line, measure)
            if points:
                shade = shades[line.arm.title]
                drawing.draw_series(axes, points, shade)
                smooth = drawing.trailing_mean([y for _, y in points], drawing.smoothing_window(len(points)))
                labels.append(EndLabel(points[-1][0], smooth[-1], line.arm.title, shade))
                last = max(last, int(points[-1][0]))
        if measure in SHARE_MEASURES:
            drawing.share_axis(axes, label)
        else:
            axes.set_ylim(0, 1)
            axes.set_ylabel(label)
        drawing.round_axis(axes, 1, last)
        drawing.label_ends(axes, labels, gap=0.075)
        return bool(labels)

    return ReportFigure(label.capitalize(), caption, _panels(f"course {measure}", lines, draw, height=1.9))


def mean_course(line: Line, measure: str) -> list[tuple[float, float]]:
    """(round, mean over seeds) of the rounds in which every run measured it."""
    by_round: dict[int, list[float]] = {}
    for run in line.runs:
        for point in run.points:
            value = getattr(point, measure)
            if value is not None:
                by_round.setdefault(point.round, []).append(value)
    whole = {number: values for number, values in by_round.items() if len(values) == len(line.runs)}
    return [(float(number), sum(values) / len(values)) for number, values in sorted(whole.items())]


def _of_variant(lines: Sequence[Line], variant: str) -> list[Line]:
    return [line for line in lines if line.variant == variant]


def _panels(name: str, lines: Sequence[Line], draw: Callable[[Axes, str], bool], *, height: float) -> Markup | None:
    """A panel a variant, one below the other, or a single one without variants."""
    variants = list(dict.fromkeys(line.variant for line in lines))

    def build() -> Figure | None:
        if not variants:
            return None
        grid = drawing.axes_grid(len(variants), 1, height=height, label_room=LABEL_ROOM)
        for axes, variant in zip(grid.flat, variants, strict=True):
            axes.set_title(variant, color=MUTED)
            if not draw(axes, variant):
                drawing.say_not_measured(axes)
        first: Axes = grid.flat[0]
        return first.get_figure(root=True)

    return drawing.inline_svg(name, name, build)
