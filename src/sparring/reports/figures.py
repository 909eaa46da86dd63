"""The figures of a report, from the metrics rows of a run.

Each figure is a title, a caption that says how to read it, and a drawing, or no drawing where the
run holds no such numbers. A name keeps one colour throughout: environments here, roles there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparring.intervals import wilson_interval
from sparring.reports import drawing
from sparring.reports.drawing import INK, MUTED, EndLabel
from sparring.reports.metrics import RunMetrics

LABEL_ROOM = 0.62
"""Inches to the right of a panel for the names of its lines."""


@dataclass(frozen=True)
class ReportFigure:
    """One figure of the report; `svg` is None where nothing was measured."""

    title: str
    caption: str
    svg: Markup | None


def sections(metrics: RunMetrics) -> list[tuple[str, list[ReportFigure]]]:
    """All figures, under the headings of the report."""
    return [
        ("What was learned", [heldout_by_difficulty(metrics), heldout_over_rounds(metrics)]),
        (
            "How the tasks were placed",
            [capture_rate(metrics), emitted_difficulty(metrics), group_shares(metrics), signature_entropy(metrics)],
        ),
        (
            "How the policies moved",
            [
                role_measure(
                    metrics,
                    "kl",
                    "KL (nats)",
                    "KL to the start of the round",
                    "Per token, from the policy at the start of the round: how far one round moves a role.",
                ),
                role_measure(
                    metrics,
                    "entropy",
                    "entropy (nats)",
                    "Entropy of each role",
                    "Per token. Near 0, a role no longer explores.",
                ),
            ],
        ),
        ("What it cost", [cost(metrics)]),
    ]


def heldout_by_difficulty(metrics: RunMetrics) -> ReportFigure:
    """Held-out success per environment and difficulty, first and last evaluation."""
    evaluated = metrics.heldout_rows
    ends = evaluated if len(evaluated) < 2 else [evaluated[0], evaluated[-1]]

    def draw(axes: Axes, name: str) -> bool:
        labels = []
        for row in ends:
            levels = metrics.levels(row, name)
            first = row is evaluated[0]
            colour = MUTED if first else metrics.environment_colours[name]
            if levels:
                draw_levels(axes, levels, colour, shift=-0.006 if first else 0.006)
                labels.append(EndLabel(levels[-1][0], levels[-1][1], f"round {row['round']}", colour))
        drawing.share_axis(axes, "held-out success")
        axes.set_xlabel("difficulty")
        axes.set_xlim(-0.03, 1.03)
        drawing.label_ends(axes, labels)
        return bool(labels)

    return ReportFigure(
        "Held-out success by difficulty",
        "Share of held-out tasks captured at each difficulty, at the first and the last evaluation. Bars are 95\u00a0% "
        "Wilson intervals; a level holds few tasks, so read the whole curve.",
        panels("heldout by difficulty", metrics.environment_colours, draw, height=1.7, label_room=LABEL_ROOM),
    )


def draw_levels(axes: Axes, levels: Sequence[tuple[float, float, int]], colour: str, shift: float) -> None:
    """One curve over difficulty with the interval of each level, `shift` keeping two curves' bars apart."""
    for difficulty, capture, count in levels:
        interval = wilson_interval(capture, count)
        axes.plot([difficulty + shift] * 2, interval, color=colour, linewidth=1.1, alpha=0.4, clip_on=False)
    xs, ys = [level[0] for level in levels], [level[1] for level in levels]
    axes.plot(xs, ys, color=colour, marker="o", markersize=3.5, markeredgewidth=0, clip_on=False)


def heldout_over_rounds(metrics: RunMetrics) -> ReportFigure:
    """Held-out success over rounds, every environment and all together."""

    def build() -> Figure | None:
        lines = [
            (name, colour, metrics.series("heldout", "environments", name, "capture"))
            for name, colour in metrics.environment_colours.items()
        ]
        lines.append(("all", INK, metrics.series("heldout", "capture")))
        lines = [line for line in lines if line[2]]
        if not lines:
            return None
        axes: Axes = drawing.axes_grid(1, 1, height=1.9, label_room=2 * LABEL_ROOM)[0, 0]
        for name, colour, points in lines:
            xs, ys = zip(*points, strict=True)
            width = 2.4 if name == "all" else 1.4
            axes.plot(xs, ys, color=colour, marker="o", markersize=3, markeredgewidth=0, linewidth=width, clip_on=False)
        drawing.share_axis(axes, "held-out success")
        evaluated = [int(row["round"]) for row in metrics.heldout_rows]
        drawing.round_axis(axes, evaluated[0], evaluated[-1])
        ends = [EndLabel(points[-1][0], points[-1][1], name, colour) for name, colour, points in lines]
        drawing.label_ends(axes, ends, gap=0.075)
        return axes.get_figure(root=True)

    title = "Held-out success over rounds"
    return ReportFigure(
        title,
        "Share of held-out tasks captured at each evaluation, over all difficulties. The tasks are the same each time.",
        drawing.inline_svg("heldout_over_rounds", title, build),
    )


def capture_rate(metrics: RunMetrics) -> ReportFigure:
    """Capture rate of the emitted tasks, against the one-half line."""

    def draw(axes: Axes, name: str) -> bool:
        points = metrics.series("environments", name, "capture")
        axes.axhline(0.5, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        drawing.share_axis(axes, "capture rate")
        round_axis(axes, metrics)
        if points:
            drawing.draw_series(axes, points, metrics.environment_colours[name])
        return bool(points)

    return ReportFigure(
        "Capture rate of the emitted tasks",
        "Share of training rollouts that captured their task. The dashed line is one half, where the evader's "
        "frontier reward min(p, 1 - p) is highest. " + metrics.smoothing_note(),
        panels("capture rate", metrics.environment_colours, draw),
    )


def emitted_difficulty(metrics: RunMetrics) -> ReportFigure:
    """Mean difficulty of the emitted tasks, with its spread."""

    def draw(axes: Axes, name: str) -> bool:
        colour = metrics.environment_colours[name]
        means = dict(metrics.series("environments", name, "difficulty_mean"))
        spreads = dict(metrics.series("environments", name, "difficulty_spread"))
        axes.set_ylim(0, 1)
        axes.set_ylabel("difficulty")
        round_axis(axes, metrics)
        banded = [number for number in means if number in spreads]
        if len(banded) > 1:
            low = [means[number] - spreads[number] for number in banded]
            high = [means[number] + spreads[number] for number in banded]
            axes.fill_between(banded, low, high, color=colour, alpha=0.16, linewidth=0)
        elif banded:
            axes.errorbar(banded, [means[banded[0]]], [spreads[banded[0]]], color=colour, linewidth=1, alpha=0.5)
        if means:
            drawing.draw_series(axes, list(means.items()), colour)
        return bool(means)

    return ReportFigure(
        "Difficulty of the emitted tasks",
        "Mean difficulty of a round's tasks; the band is one standard deviation to each side. "
        + metrics.smoothing_note(),
        panels("emitted difficulty", metrics.environment_colours, draw),
    )


def group_shares(metrics: RunMetrics) -> ReportFigure:
    """Shares of all-fail, mixed and all-pass groups, stacked."""

    def draw(axes: Axes, name: str) -> bool:
        colour = metrics.environment_colours[name]
        mixed = dict(metrics.series("environments", name, "mixed"))
        failed = dict(metrics.series("environments", name, "all_fail"))
        numbers = [number for number in mixed if number in failed]
        drawing.share_axis(axes, "share of groups")
        round_axis(axes, metrics)
        axes.grid(visible=False)
        if not numbers:
            return False
        window = drawing.smoothing_window(len(numbers))
        lower = drawing.trailing_mean([failed[number] for number in numbers], window)
        middle = drawing.trailing_mean([mixed[number] for number in numbers], window)
        upper = [low + share for low, share in zip(lower, middle, strict=True)]
        edges = [number - 0.5 for number in numbers] + [numbers[-1] + 0.5]
        ones = [1.0] * len(numbers)
        bands = [
            ("all fail", [0.0] * len(numbers), lower, MUTED, 0.35),
            ("mixed", lower, upper, colour, 0.85),
            ("all pass", upper, ones, colour, 0.22),
        ]
        labels = []
        for word, bottom, top, shade, alpha in bands:
            axes.stairs(top, edges, baseline=bottom, fill=True, color=shade, alpha=alpha, linewidth=0)
            labels.append(EndLabel(edges[-1], (bottom[-1] + top[-1]) / 2, word, MUTED if word != "mixed" else colour))
        axes.set_xlim(edges[0], edges[-1])
        drawing.label_ends(axes, labels, gap=0.12)
        return True

    return ReportFigure(
        "Groups that teach",
        "A group is the rollouts of one task. Only a mixed group, some captured and some not, tells the terminal "
        "reward which rollout was better. " + metrics.smoothing_note(bands=True),
        panels("group shares", metrics.environment_colours, draw, label_room=LABEL_ROOM),
    )


def signature_entropy(metrics: RunMetrics) -> ReportFigure:
    """Entropy of the signatures emitted in a round."""

    def draw(axes: Axes, name: str) -> bool:
        points = metrics.series("environments", name, "signature_entropy")
        round_axis(axes, metrics)
        axes.set_ylabel("entropy (nats)")
        if points:
            drawing.draw_series(axes, points, metrics.environment_colours[name])
        return bool(points)

    return ReportFigure(
        "Variety of the emitted tasks",
        "Entropy of the task signatures of a round: 0 when every task has the same structure. "
        + metrics.smoothing_note(),
        panels("signature entropy", metrics.environment_colours, draw),
    )


def role_measure(metrics: RunMetrics, key: str, label: str, title: str, caption: str) -> ReportFigure:
    """One measure of how the policies moved, per role."""

    def draw(axes: Axes, name: str) -> bool:
        points = metrics.series("roles", name, key)
        round_axis(axes, metrics)
        axes.set_ylabel(label)
        if points:
            drawing.draw_series(axes, points, metrics.role_colours[name])
        return bool(points)

    return ReportFigure(
        title,
        f"{caption} {metrics.smoothing_note()}",
        panels(f"role {key}", metrics.role_colours, draw),
    )


def cost(metrics: RunMetrics) -> ReportFigure:
    """Seconds per phase and tokens per role, over the whole run."""
    phases, tokens = metrics.seconds_per_phase, metrics.tokens_per_role
    bars = max(len(phases), len(tokens))

    def build() -> Figure | None:
        if not bars:
            return None
        height = 0.4 + 0.27 * bars
        figure = Figure(figsize=(drawing.PAGE_WIDTH_INCHES, height))
        figure.subplots_adjust(left=0.12, right=0.9, bottom=0.02, top=1 - drawing.TOP / height, wspace=0.5)
        left, right = figure.subplots(1, 2)
        draw_bars(left, phases, dict.fromkeys(phases, MUTED), "seconds per phase", bars)
        draw_bars(right, tokens, metrics.role_colours, "sampled tokens per role", bars)
        return figure

    title = "Cost by phase and by role"
    return ReportFigure(title, "Summed over all rounds.", drawing.inline_svg("cost", title, build))


def draw_bars(axes: Axes, values: Mapping[str, float], shades: Mapping[str, str], title: str, places: int) -> None:
    """Horizontal bars from the top of `places` places down, each with its number at its end."""
    axes.set_title(title)
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_xticks([])
    if not values:
        drawing.say_not_measured(axes)
        axes.set_yticks([])
        return
    names = list(values)
    axes.barh(names, list(values.values()), color=[shades[name] for name in names], height=0.62, alpha=0.85)
    axes.set_ylim(places - 0.5, -0.5)
    axes.tick_params(axis="y", labelcolor=INK)
    for index, value in enumerate(values.values()):
        text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        axes.annotate(text, (value, index), xytext=(5, 0), textcoords="offset points", va="center", color=INK)


def panels(
    name: str,
    colours: Mapping[str, str],
    draw: Callable[[Axes, str], bool],
    *,
    height: float = 1.25,
    label_room: float = 0.18,
) -> Markup | None:
    """Small multiples, one for each name, each title in the colour of its name."""
    return drawing.inline_svg(
        name, name, lambda: drawing.panel_figure(colours, draw, height=height, label_room=label_room)
    )


def round_axis(axes: Axes, metrics: RunMetrics) -> None:
    """The horizontal axis of everything measured while training, the same in each figure."""
    numbers = metrics.trained_rounds or [0]
    drawing.round_axis(axes, numbers[0], numbers[-1])
