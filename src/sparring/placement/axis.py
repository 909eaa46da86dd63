"""An axis whose difficulty does not rise along it: what a placement proposes is read in another order.

Categories have no order, and an axis that holds several dimensions, or that its author got wrong for
this pursuer, rises and falls. A number that is moved up and down cannot follow the frontier there.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sparring.environments.base import AnyEnvironment
from sparring.placement.base import COMPETENCE_BINS, Competence, Emission, Outcome, Placement, bin_of
from sparring.tasks import derive_seed

# So that the end of a part stays in it: the next number would be the beginning of the one that follows.
_LAST_INSIDE = 1.0 - 1e-9


def reordered(difficulty: float, order: Sequence[int]) -> float:
    """The difficulty that stands where `difficulty` points on an axis whose tenths lie in this order.

    order: which tenth of the environment's axis comes first, second, ...: a permutation of 0..9.
    """
    place = bin_of(difficulty)
    within = min(max(COMPETENCE_BINS * difficulty - place, 0.0), _LAST_INSIDE)
    return (order[place] + within) / COMPETENCE_BINS


@dataclass
class ShuffledAxis:
    """A placement that sees the tenths of every axis in an order drawn from the run's seed.

    It moves what the placement proposes and what it is shown of the pursuer's competence, and nothing
    else: uniform difficulty stays uniform, and tasks, records and held-out levels keep the environment's
    own difficulty.
    """

    placement: Placement
    run_seed: int

    def order(self, environment: str) -> list[int]:
        """The order of an environment's tenths."""
        order = list(range(COMPETENCE_BINS))
        random.Random(derive_seed("axis", self.run_seed, environment)).shuffle(order)
        return order

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """What the placement proposes, at the difficulties that its proposals point at."""
        seen = {}
        for name in competence.by_environment:
            bins = competence.bins(name)
            seen[name] = tuple(bins[number] for number in self.order(name))
        return [
            each
            if each.difficulty is None
            else replace(each, difficulty=reordered(each.difficulty, self.order(each.environment)))
            for each in self.placement.propose(round_number, environments, Competence(seen))
        ]

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """The placement's own learning, which reads outcomes and no difficulty."""
        return self.placement.learn(outcomes)

    def state(self) -> dict[str, Any]:
        """The placement's."""
        return self.placement.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """The placement's."""
        self.placement.restore(state)
