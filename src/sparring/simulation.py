"""Puts the simulated engine together: the words that prompts and tasks use, and a policy for every role.

The engine knows tokens and the environment knows words; here alone both are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from sparring.config.sections import SimulationSection
from sparring.engines.dialogue import TemplateDialogue
from sparring.engines.simulated import SimulatedEngine
from sparring.engines.simulated_policies import (
    ConstantPolicy,
    Frame,
    Layout,
    PreferencePolicy,
    SimulatedPolicy,
    SkillPolicy,
)
from sparring.environments.base import AnyEnvironment
from sparring.environments.simulated.environment import HIT, MISS, STAGE
from sparring.micro import END, make_tokenizer
from sparring.placement.base import COMPETENCE_BINS, bin_of
from sparring.roles import Role

EMITTED = tuple(f"{step / 20:.2f}" for step in range(21))
"""The difficulties that the evader can emit, as the micro backbone's."""

HUNDREDTHS = tuple(f"{step / 100:.2f}" for step in range(101))
RATES = ("none", *map(str, range(11)))
"""What the compact prompt says of a tenth of the difficulty axis: no data, or tenths of a capture rate."""


def make_simulated_engine(
    environments: Mapping[str, AnyEnvironment], section: SimulationSection, policies: Sequence[str]
) -> SimulatedEngine:
    """The engine with these policies, named ROLE or ROLE/ENVIRONMENT."""
    # More threads cost more than they gain on a few thousand numbers.
    torch.set_num_threads(1)
    tokenizer = make_tokenizer(environments)
    words: dict[str, int] = tokenizer.get_vocab()
    made = {name: _policy(Role(name.split("/")[0]), section, words) for name in policies}
    return SimulatedEngine(TemplateDialogue(tokenizer), made)


def _policy(role: Role, section: SimulationSection, words: Mapping[str, int]) -> SimulatedPolicy:
    def ids(*text: str) -> tuple[int, ...]:
        return tuple(words[word] for word in text)

    numbers = {words[word]: float(word) for word in HUNDREDTHS}
    if role is Role.EXECUTOR:
        return SkillPolicy(
            Frame((), ids(HIT, MISS), ids(END)),
            numbers,
            skill=section.skill,
            slope=section.slope,
            noise=section.noise,
            growth=section.growth,
        )
    if role is Role.PLANNER:
        return ConstantPolicy(Frame((), ids(STAGE), ids(END)))
    centres = tuple(map(float, EMITTED))
    layout = Layout(
        hint_marker=words["hint"],
        values=numbers,
        table_marker=words["rate"],
        ratings=ids(*RATES),
        entries=COMPETENCE_BINS,
        places=tuple(map(bin_of, centres)),
        centres=centres,
    )
    frame = Frame(ids("{", '"difficulty":'), ids(*EMITTED), ids("}", END))
    return PreferencePolicy(frame, layout, hint_width=section.hint_width, growth=section.evader_growth)
