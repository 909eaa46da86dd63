"""The table of a suite, as Markdown and as cells for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparring.lab.results import ALL, Line
from sparring.lab.statistics import Mean
from sparring.lab.suite import Suite

NONE = "—"


def header(suite: Suite, lines: Sequence[Line]) -> list[str]:
    """The column heads."""
    environments = _environments(lines)
    return [
        "arm",
        "seeds",
        "held-out",
        *(environments if len(environments) > 1 else ()),
        f"minus {suite.reference}" if not any(arm.reference for arm in suite.arms) else "minus its reference",
        "p (Holm)",
        "wins, ties, losses",
        "mixed groups",
        "training capture",
        "rollouts",
        "CPU seconds",
    ]


def cells(lines: Sequence[Line]) -> list[list[str]]:
    """One row of text an arm."""
    environments = _environments(lines)
    return [
        [
            line.title,
            str(len(line.runs)),
            interval(line.after[ALL]),
            *(f"{line.after[name].mean:.3f}" for name in (environments if len(environments) > 1 else ())),
            interval(line.difference.mean, signed=True) if line.difference else NONE,
            _p(line.p),
            f"{line.difference.wins}, {line.difference.ties}, {line.difference.losses}" if line.difference else NONE,
            _share(line.mean("mixed")),
            _share(line.mean("capture")),
            f"{line.rollouts:,.0f}",
            f"{line.cpu_seconds:,.0f}",
        ]
        for line in lines
    ]


def markdown(suite: Suite, lines: Sequence[Line], failures: Mapping[str, str]) -> str:
    """The suite's table with its title and how to read it."""
    heads = header(suite, lines)
    table = [heads, ["---"] * len(heads), *cells(lines)]
    text = [f"## {suite.title}", ""]
    if suite.about:
        text += [suite.about.strip(), ""]
    text += [f"| {' | '.join(row)} |" for row in table]
    text += ["", reading(suite)]
    text += [f"\nFailed: {name}: {message}" for name, message in failures.items()]
    return "\n".join(text) + "\n"


def reading(suite: Suite) -> str:
    """What the numbers are."""
    seeds = ", ".join(map(str, suite.seeds))
    backbones = f", backbones of seeds {', '.join(map(str, suite.backbone_seeds))}" if suite.backbone_seeds else ""
    return (
        f"Seeds {seeds}{backbones}. Held-out success after the last round, mean over seeds with Student's 95 % "
        "interval; differences are paired by seed, p is of the paired t test with Holm's correction over the table."
    )


def interval(mean: Mean, *, signed: bool = False) -> str:
    """A mean with its interval, where there is one."""
    sign = "+" if signed else ""
    if mean.low is None or mean.high is None:
        return f"{mean.mean:{sign}.3f}"
    return f"{mean.mean:{sign}.3f} [{mean.low:{sign}.3f}, {mean.high:{sign}.3f}]"


def _environments(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(name for line in lines for name in line.after if name != ALL))


def _p(value: float | None) -> str:
    return NONE if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"
