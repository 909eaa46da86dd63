"""The metrics of a run as the report reads them: any number may be null, and then it is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sparring.errors import UserError
from sparring.reports import drawing
from sparring.wording import mend, shown

Row = Mapping[str, Any]

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Number = Annotated[int, Field(ge=0)]


class StoredRow(BaseModel):
    """What a line of a run's file must hold to be read; it may hold more."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class HeldoutRates(StoredRow):
    """Captures of one environment, or of all, and out of how many tasks."""

    capture: Share | None
    n: Number

    @model_validator(mode="after")
    def _a_rate_of_something(self) -> HeldoutRates:
        if self.capture is not None and self.n == 0:
            raise ValueError("n = 0 has no capture")
        return self


class HeldoutLevels(HeldoutRates):
    """The same by difficulty: difficulty, capture, tasks."""

    by_difficulty: list[Annotated[tuple[Share, Share | None, Number], Field(strict=False)]]


class Heldout(HeldoutRates):
    """One evaluation on held-out tasks."""

    environments: dict[str, HeldoutLevels]


class TrainedEnvironment(StoredRow):
    """One environment in one round of training."""

    capture: Share | None
    difficulty_mean: Share | None


class MetricsRow(StoredRow):
    """One line of `metrics.jsonl`."""

    round: Number
    environments: dict[str, TrainedEnvironment]
    roles: dict[str, dict[str, Any]]
    heldout: Heldout | None
    rollouts: Number
    ledger: dict[str, Number] | None
    seconds: dict[str, float]
    cpu_seconds: float


Stored = TypeVar("Stored", bound=StoredRow)


def checked(kind: type[Stored], row: Any, where: str) -> Stored:
    """A line as what it must be; UserError, naming file, line and field, where it is not."""
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        wrong = f"has no {field}"
    elif field:
        wrong = f"has {field} = {shown(first['input'])}, which is not accepted: {mend(first)}"
    else:
        wrong = f"is {shown(row)}, which is not accepted: {mend(first)}"
    raise UserError(f"{where} {wrong}; restore the file from a copy, or remove the line")


def check_rows(path: Path, rows: Sequence[Row]) -> None:
    """Raise a UserError for the first metrics row that a report cannot be made of."""
    for number, row in enumerate(rows, 1):
        checked(MetricsRow, row, f"{path} line {number}")


@dataclass(frozen=True)
class RunMetrics:
    """The metrics rows of a run with the names that its figures run over."""

    rows: Sequence[Row]
    environments: Sequence[str]
    roles: Sequence[str]

    @property
    def environment_colours(self) -> dict[str, str]:
        """The colour of each environment."""
        return drawing.colours(self.environments, drawing.ENVIRONMENT_COLOURS)

    @property
    def role_colours(self) -> dict[str, str]:
        """The colour of each role."""
        return drawing.colours(self.roles, drawing.ROLE_COLOURS)

    @property
    def heldout_rows(self) -> list[Row]:
        """The rows of the rounds at which held-out tasks were evaluated."""
        return [row for row in self.rows if row.get("heldout")]

    def series(self, *path: str) -> list[tuple[float, float]]:
        """(round, value) wherever the value at `path` was measured."""
        found = ((float(row["round"]), number_at(row, *path)) for row in self.rows)
        return [(number, value) for number, value in found if value is not None]

    @property
    def trained_rounds(self) -> list[int]:
        """The rounds in which something was trained; round 0 only evaluates."""
        return [int(row["round"]) for row in self.rows if row["round"] > 0]

    @property
    def seconds_per_phase(self) -> dict[str, float]:
        """Seconds of the whole run per phase, in the order in which the rows name them."""
        phases = dict.fromkeys(phase for row in self.rows for phase in row.get("seconds") or {})
        return {phase: total for phase in phases if (total := self.total("seconds", phase)) is not None}

    @property
    def tokens_per_role(self) -> dict[str, float]:
        """Tokens of the whole run per role."""
        return {role: total for role in self.roles if (total := self.total("roles", role, "tokens")) is not None}

    def total(self, *path: str) -> float | None:
        """Sum over rounds of the number at `path`; None where no round measured it."""
        points = self.series(*path)
        return sum(value for _, value in points) if points else None

    def levels(self, row: Row, environment: str) -> list[tuple[float, float, int]]:
        """(difficulty, capture, tasks) of one evaluation, for the levels that were measured."""
        heldout = row["heldout"].get("environments", {}).get(environment) or {}
        levels = heldout.get("by_difficulty") or []
        return [(float(d), float(capture), int(n)) for d, capture, n in levels if capture is not None and n]

    def smoothing_note(self, *, bands: bool = False) -> str:
        """How the lines of a figure over rounds were smoothed, "" where they were not."""
        window = drawing.smoothing_window(len(self.trained_rounds))
        if window == 1:
            return ""
        if bands:
            return f"Each value is the mean of the last {window} rounds."
        return f"Faint line: each round; strong line: mean of the last {window} rounds."


def number_at(row: Row, *path: str) -> float | None:
    """The finite number at a path of keys, or None where it is missing, null or not finite."""
    value: Any = row
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) else None
