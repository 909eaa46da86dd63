"""Fig. 5's fit: how the points that a model misses shrink with its size, from a table of scores."""

from __future__ import annotations

import csv
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import linregress
from scipy.stats import t as student  # type: ignore[attr-defined]

from sparring.credit import FloatArray
from sparring.errors import UserError
from sparring.wording import shown

COLUMNS = ("size", "score")
FEWEST_ROWS = 3
"""Two points fix the line and leave nothing to judge it by."""

CONFIDENCE = 0.95

LARGEST_LOG = 700.0
"""The logarithm of a float, rounded down."""


@dataclass(frozen=True)
class Scores:
    """A table of models: size in any unit, such as billions of weights, and score in percent; shape (models,)."""

    sizes: FloatArray
    scores: FloatArray


@dataclass(frozen=True)
class PowerLaw:
    """A fit of 100 - score = a size^-b.

    scale: a, in points missed at size 1. exponent: b, with the ends of its 95 % interval.
    explained: share of the variance of log(100 - score), from 0 to 1. models: how many were fitted.
    """

    scale: float
    exponent: float
    low: float
    high: float
    explained: float
    models: int

    def missed(self, size: FloatArray) -> FloatArray:
        """Points missed, a size^-b (LURE Fig. 5); any shape."""
        # Through logs, as size^-b alone may be too small for a float where a is large.
        missed: FloatArray = np.exp(math.log(self.scale) - self.exponent * np.log(size))
        return missed

    def plain(self) -> dict[str, Any]:
        """The fit, ready for JSON."""
        return asdict(self)


def read_scores(path: Path) -> Scores:
    """Read a CSV file with the columns size and score; others are let be.

    Raises UserError for a file that is none, a missing column, a cell that is no number, a size that
    is not above 0, a score outside [0, 100), fewer than three rows, or a column whose numbers are all the same.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            names = [str(name).strip() for name in reader.fieldnames or ()]
            reader.fieldnames = names
            for column in COLUMNS:
                if names.count(column) != 1:
                    there = shown(names)
                    raise UserError(
                        f"{path} has {names.count(column)} columns {column!r} in {there}; "
                        f"give one of each in a first line such as {','.join(COLUMNS)}"
                    )
            rows = [[_number(path, reader.line_num, column, row[column]) for column in COLUMNS] for row in reader]
    except FileNotFoundError:
        raise UserError(f"scores {path} does not exist; give a CSV file with the columns size and score") from None
    except csv.Error as error:
        raise UserError(f"{path} is not CSV ({error}); give a table with the columns size and score") from None
    if len(rows) < FEWEST_ROWS:
        raise UserError(f"{path} has {len(rows)} rows; a fit needs at least {FEWEST_ROWS}, so give more models")
    sizes, scores = np.array(rows).T
    for column, values in zip(COLUMNS, (sizes, scores), strict=True):
        if len(set(values)) == 1:
            raise UserError(f"{path} has one {column}, {values[0]:g}, in all rows; a fit needs different ones")
    return Scores(sizes, scores)


def fit_power_law(scores: Scores) -> PowerLaw:
    """Least squares of log(100 - score) on log(size): 100 - score = a size^-b (LURE Fig. 5).

    The interval of b is Student's with n - 2 degrees of freedom, for errors that are alike and
    independent on the log scale. Raises UserError where a is no finite number above 0.
    """
    count = scores.sizes.size
    line = linregress(np.log(scores.sizes), np.log(100.0 - scores.scores))
    if not abs(line.intercept) < LARGEST_LOG:
        raise UserError(
            f"size: the fit's value at size 1 is e^{line.intercept:.0f}, which is no usable number; "
            "give sizes in a unit of their own order, or that lie farther apart"
        )
    half_width = float(student.ppf((1.0 + CONFIDENCE) / 2.0, count - 2) * line.stderr)
    exponent = -float(line.slope)
    return PowerLaw(
        scale=math.exp(line.intercept),
        exponent=exponent,
        low=exponent - half_width,
        high=exponent + half_width,
        explained=float(line.rvalue) ** 2,
        models=count,
    )


def _number(path: Path, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    where = f"{path} line {line}: {column} = {shown(text)}"
    if not math.isfinite(value):
        raise UserError(f"{where} is not a number; give one")
    if column == "size" and value <= 0.0:
        raise UserError(f"{where} is not above 0; give the model's size")
    if column == "score" and not 0.0 <= value < 100.0:
        raise UserError(f"{where} is not from 0 to below 100; give percent, since the fit takes log(100 - score)")
    return value
