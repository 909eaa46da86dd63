"""The figures of the theory page, drawn as those of a run's report are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from sparring.credit import FloatArray, executor_turn_rewards, standardise
from sparring.reports import drawing
from sparring.reports.drawing import ENVIRONMENT_COLOURS, INK, MUTED, EndLabel
from sparring.reports.figures import LABEL_ROOM, ReportFigure
from sparring.theory.capture_dominance import (
    DEFAULT,
    OTHERS,
    PAPER_TURN_LIMIT,
    QUICK_FAILURE,
    SLOW_CAPTURE,
    TURNS_AT_MOST,
    counter_example,
    extreme_margin,
    margin_claimed,
)
from sparring.theory.checks import Theory
from sparring.theory.group_energy import GROUP_SIZES, expected_energy, expected_energy_claimed
from sparring.theory.plug_in_bias import expected_plug_in_reward, true_reward
from sparring.theory.power_law import PowerLaw, Scores
from sparring.theory.signature_shares import (
    ALWAYS_USED,
    EXAMPLES,
    EXTREMES,
    SIGNATURES_AT_MOST,
    best_shares,
    best_shares_found,
    fewest_used,
    tilt,
)
from sparring.theory.stationary_shares import EMITTED, Baseline, stationary_shares_found

HEIGHT = 2.2
DASHED = (0, (4, 3))
LOG_TICKS = 5
RATES = np.linspace(0.0, 1.0, 101)
COMPUTED_RATES = np.linspace(0.0, 1.0, 21)


def sections(theory: Theory) -> Mapping[str, list[ReportFigure]]:
    """The figures by the source of the statements that they go with, and Fig. 5's where there are scores."""
    found = {
        "Theorem 1": [group_energies()],
        "Plug-in bias": [plug_in_rewards()],
        "Proposition 2": [optimal_shares(), supports()],
        "Per-sample gradient": [tilts()],
        "Proposition 3": [margins(), order_of_sums()],
    }
    if theory.scores is not None and theory.power_law is not None:
        found["Fig. 5"] = [power_law(theory.scores, theory.power_law)]
    return found


def group_energies() -> ReportFigure:
    """Expected energy of a group over the capture rate, for every group size."""

    def draw(axes: Axes) -> None:
        for rollouts, colour in zip(GROUP_SIZES, ENVIRONMENT_COLOURS, strict=False):
            claimed = [expected_energy_claimed(p, rollouts) / (rollouts - 1) for p in RATES]
            computed = [expected_energy(p, rollouts) / (rollouts - 1) for p in COMPUTED_RATES]
            axes.plot(RATES, claimed, color=colour)
            dots(axes, COMPUTED_RATES, computed, colour)
            note(axes, f"G = {rollouts}", (0.1, claimed[10]), colour, shift=(7, -6))
        drawing.share_axis(axes, "expected energy / (G - 1)")
        rate_axis(axes)

    return figure(
        "Energy of a group by capture rate",
        "Lines: the closed form of Theorem 1. Dots: the energy of the standardised outcomes, summed over all capture "
        "counts. It is largest at one half for every G, and a larger group keeps it over more of the axis.",
        draw,
    )


def plug_in_rewards() -> ReportFigure:
    """What the frontier term gives on average, beside the true one."""

    def draw(axes: Axes) -> None:
        true = [true_reward(p) for p in RATES]
        axes.plot(RATES, true, color=INK, linestyle=DASHED, linewidth=1.1)
        note(axes, "true", (0.5, 0.5), INK, shift=(14, 0))
        for rollouts, colour in zip(GROUP_SIZES, ENVIRONMENT_COLOURS, strict=False):
            expected = [expected_plug_in_reward(p, rollouts) for p in RATES]
            axes.plot(RATES, expected, color=colour)
            note(axes, f"G = {rollouts}", (0.5, max(expected)), colour, shift=(0, -6), align="center")
        axes.set_ylim(0, 0.52)
        axes.set_ylabel("min(p, 1 - p)")
        rate_axis(axes)

    return figure(
        "The frontier reward that an evader gets, and the true one",
        "Lines: the mean of min(p, 1 - p) with p measured on G rollouts. It falls short where the evader is aimed, at "
        "one half, and so the peak is flatter than Eq. 3's.",
        draw,
    )


def optimal_shares() -> ReportFigure:
    """Shares by signature of the examples, closed form and search."""
    names = {f"{len(rates)} signatures": rates for rates in EXAMPLES[1:4]}

    def draw(axes: Axes, name: str) -> bool:
        rates = names[name]
        places = np.arange(len(rates))
        axes.bar(places, best_shares(rates), color=ENVIRONMENT_COLOURS[0], alpha=0.35, width=0.62)
        dots(axes, places, best_shares_found(rates), ENVIRONMENT_COLOURS[0])
        axes.axhline(1 / len(rates), color=MUTED, linestyle=DASHED, linewidth=0.9)
        axes.set_xticks(places, [f"{p:g}" for p in rates])
        axes.set_xlabel("capture rate of the signature")
        axes.set_ylabel("share of emissions")
        return True

    title = "Best shares of signatures"
    colours = dict.fromkeys(names, ENVIRONMENT_COLOURS[0])
    svg = drawing.inline_svg(
        "best shares", title, lambda: drawing.panel_figure(colours, draw, height=HEIGHT, label_room=0.18)
    )
    return ReportFigure(
        title,
        "Bars: the closed form of Proposition 2. Dots: the maximiser that a search finds. Dashed: equal shares. In the "
        "last panel the two signatures that are hardly ever, or nearly always, captured get nothing.",
        svg,
    )


def supports() -> ReportFigure:
    """The fewest signatures that the optimum keeps in use."""

    def draw(axes: Axes) -> None:
        counts = list(range(2, SIGNATURES_AT_MOST + 1))
        axes.plot(counts, [min(count, ALWAYS_USED) for count in counts], color=ENVIRONMENT_COLOURS[1])
        dots(axes, counts, [fewest_used(count) for count in counts], ENVIRONMENT_COLOURS[1])
        axes.set_ylim(0, ALWAYS_USED + 1)
        axes.set_yticks(range(ALWAYS_USED + 2))
        axes.set_xticks(counts)
        axes.set_xlabel("signatures that can be emitted")
        axes.set_ylabel("fewest in use")

    return figure(
        "Signatures that the optimum never gives up",
        f"Line: min(signatures, {ALWAYS_USED}). Dots: the fewest in use over a grid of capture rates. However hard the "
        "others are, repetition alone keeps four signatures in use.",
        draw,
    )


def tilts() -> ReportFigure:
    """How far apart two shares come to rest, by N."""

    def draw(axes: Axes) -> None:
        labels = []
        lines = (
            (Baseline.GROUP_MEAN, "group-mean baseline", 2, ENVIRONMENT_COLOURS[2]),
            (Baseline.NONE, "no baseline", 1, ENVIRONMENT_COLOURS[3]),
        )
        sizes = np.arange(EMITTED[0], EMITTED[-1] + 1)
        for baseline, name, less, colour in lines:
            axes.plot(sizes, sizes / (sizes - less) / 2, color=colour)
            found = [tilt(stationary_shares_found(EXTREMES, emitted, baseline)) for emitted in EMITTED]
            dots(axes, EMITTED, found, colour)
            labels.append(EndLabel(float(sizes[-1]), found[-1], name, colour))
        best = tilt(best_shares(EXTREMES))
        axes.axhline(best, color=INK, linestyle=DASHED, linewidth=1.1)
        labels.append(EndLabel(float(sizes[-1]), best, "Proposition 2", INK))
        axes.set_xlim(sizes[0], sizes[-1])
        axes.set_ylim(0, 0.8)
        axes.set_xticks(EMITTED)
        axes.set_xlabel("emissions N")
        axes.set_ylabel("tilt between two shares")
        drawing.label_ends(axes, labels)

    return figure(
        "Where the evader's own gradient comes to rest",
        "Shares of a signature at p = 1/2 minus those of one at p = 0. Lines: closed forms. Dots: the root of the "
        "enumerated expected advantages. One sample's gradient takes the others as given and leans about twice as far "
        "as the total's optimum.",
        draw,
        label_room=3 * LABEL_ROOM,
    )


def margins() -> ReportFigure:
    """By how much a capture outranks a failure, by turn limit."""

    def draw(axes: Axes) -> None:
        limits = np.arange(1, TURNS_AT_MOST + 1)
        settings = ((DEFAULT.progress_weight, DEFAULT.zero_progress_cost), OTHERS[0])
        for (lam, cost), colour in zip(settings, ENVIRONMENT_COLOURS, strict=False):
            claimed = np.array([margin_claimed(lam, cost, int(limit)) for limit in limits])
            inside = limits[claimed > -0.6]
            axes.plot(inside, claimed[: inside.size], color=colour)
            few = inside[:: 10 if inside.size > 10 else 1]
            dots(axes, few, [extreme_margin(lam, cost, int(limit)) for limit in few], colour)
            third = inside.size // 3
            point = float(inside[third]), float(claimed[third])
            note(axes, f"λ = {lam:g}, c_red = {cost:g}", point, colour, shift=(8, 8))
        axes.axhline(0.0, color=INK, linewidth=0.9)
        axes.axvline(PAPER_TURN_LIMIT, color=MUTED, linestyle=DASHED, linewidth=0.9)
        note(axes, f"T_max = {PAPER_TURN_LIMIT}", (PAPER_TURN_LIMIT, 0.9), MUTED)
        axes.set_xlim(1, TURNS_AT_MOST)
        axes.set_xlabel("turn limit T_max")
        axes.set_ylabel("worst capture - best failure")

    return figure(
        "Margin of a capture over a failure",
        "Totals of Eq. 4. Lines: 1 - λ c_red (T_max - 1). Dots: the slowest capture minus the best failure. Above 0 "
        "every capture outranks every failure.",
        draw,
    )


def order_of_sums() -> ReportFigure:
    """The two rollouts whose order z turns round, as sums over their turns."""
    lam, cost = DEFAULT.progress_weight, DEFAULT.zero_progress_cost
    example = counter_example(lam, cost)
    captured = executor_turn_rewards(SLOW_CAPTURE, True, lam, cost)
    failed = executor_turn_rewards(QUICK_FAILURE, False, lam, cost)
    advantages = standardise(np.concatenate([captured, failed]))
    panels: dict[str, tuple[FloatArray, FloatArray, float, float]] = {
        "sums of rewards (Eq. 4)": (captured, failed, example.captured_total, example.failed_total),
        "sums of standardised rewards": (
            advantages[: captured.size],
            advantages[captured.size :],
            example.captured_z,
            example.failed_z,
        ),
    }

    def build() -> Figure:
        grid = drawing.axes_grid(1, 2, height=HEIGHT, label_room=2 * LABEL_ROOM)
        for axes, (name, (slow, quick, slow_total, quick_total)) in zip(grid.flat, panels.items(), strict=True):
            axes.set_title(name)
            for rewards, colour in ((slow, ENVIRONMENT_COLOURS[0]), (quick, ENVIRONMENT_COLOURS[1])):
                sums = np.concatenate([[0.0], np.cumsum(rewards)])
                axes.plot(np.arange(sums.size), sums, color=colour, marker="o", markersize=3, markeredgewidth=0)
            axes.axhline(0.0, color=INK, linewidth=0.9)
            axes.set_xlabel("turns")
            axes.set_ylabel("sum so far")
            axes.label_outer(remove_inner_ticks=False)
            note(axes, f"captured {slow_total:+.2f}", (slow.size, slow_total), ENVIRONMENT_COLOURS[0])
            note(axes, f"failed {quick_total:+.2f}", (quick.size, quick_total), ENVIRONMENT_COLOURS[1])
        found: Figure = grid[0, 0].get_figure(root=True)
        return found

    title = "Where the order is lost"
    return ReportFigure(
        title,
        "A capture on the tenth turn and a failure that reached 0.9 on its first. Their rewards put the capture first; "
        "standardised over all turns of the two, each turn pays the group's mean, and the capture comes last.",
        drawing.inline_svg("order of sums", title, build),
    )


def power_law(scores: Scores, law: PowerLaw) -> ReportFigure:
    """The points missed by size, and the fitted line, on log axes."""

    def draw(axes: Axes) -> None:
        sizes = np.geomspace(scores.sizes.min(), scores.sizes.max(), 50)
        axes.plot(sizes, law.missed(sizes), color=ENVIRONMENT_COLOURS[0])
        dots(axes, scores.sizes, 100.0 - scores.scores, INK)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis, values in ((axes.xaxis, scores.sizes), (axes.yaxis, 100.0 - scores.scores)):
            ticks = np.unique(np.geomspace(values.min(), values.max(), LOG_TICKS))
            axis.set_minor_locator(NullLocator())
            axis.set_ticks(ticks, [f"{tick:.3g}" for tick in ticks])
        axes.set_xlabel("size")
        axes.set_ylabel("100 - score")

    return figure(
        "Points missed by model size",
        f"Dots: the given table. Line: 100 - score = {law.scale:.4g} size^-b, b = {law.exponent:.3f} "
        f"({law.low:.3f} to {law.high:.3f}, 95 % interval). Both axes are logarithmic.",
        draw,
    )


def figure(title: str, caption: str, draw: Callable[[Axes], None], *, label_room: float = 0.18) -> ReportFigure:
    """A figure of one panel over the width of the page."""

    def build() -> Figure | None:
        axes: Axes = drawing.axes_grid(1, 1, height=HEIGHT, label_room=label_room)[0, 0]
        draw(axes)
        return axes.get_figure(root=True)

    return ReportFigure(title, caption, drawing.inline_svg(title, title, build))


def dots(axes: Axes, xs: Sequence[float] | NDArray[np.number], ys: Sequence[float] | FloatArray, colour: str) -> None:
    """What was computed, one dot each; lines are what is claimed."""
    axes.plot(xs, ys, color=colour, marker="o", markersize=3.4, markeredgewidth=0, linestyle="none", clip_on=False)


def note(
    axes: Axes,
    text: str,
    at: tuple[float, float],
    colour: str,
    *,
    shift: tuple[float, float] = (6, 0),
    align: Literal["left", "center"] = "left",
) -> None:
    """Words beside a point, `shift` points away from it."""
    axes.annotate(
        text,
        at,
        xytext=shift,
        textcoords="offset points",
        ha=align,
        va="center",
        color=colour,
        annotation_clip=False,
    )


def rate_axis(axes: Axes) -> None:
    """A horizontal axis over capture rates."""
    axes.set_xlim(0, 1)
    axes.set_xlabel("capture rate p")
