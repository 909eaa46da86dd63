"""The learned evader: a policy that says how hard the next tasks are, paid at the capture frontier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sparring.credit import STANDARDISE_EPSILON, standardise
from sparring.engines.base import Engine, SamplingParameters, joint_report
from sparring.environments.base import AnyEnvironment
from sparring.objectives import Objective
from sparring.parsing import parse_emission
from sparring.placement.base import Competence, Emission, Outcome, task_seed
from sparring.placement.evader_reward import EvaderReward
from sparring.roles import Role, render_evader, shown_emissions
from sparring.tasks import PromptPack, derive_seed
from sparring.trajectories import PolicySequence, TrainSequence, train_sequence


@dataclass
class Evader:
    """LURE's evader C: one prompt slot a hint, several samples a slot (SPEC 1.3).

    hints: one initial difficulty hint per slot. examples: emissions shown before each prompt. policy
    names the evader's weights in an environment. deviation_floor is added to the deviation in z, so
    that rewards which hardly differ teach little. rounds counts finished updates, so that each has a
    seed of its own.
    """

    engine: Engine
    policy: Callable[[Role, str], str]
    pack: PromptPack
    hints: Sequence[float]
    samples: int
    parameters: SamplingParameters
    objective: Objective
    reward: EvaderReward
    run_seed: int
    deviation_floor: float = STANDARDISE_EPSILON
    examples: int = 0
    rounds: int = 0

    def propose(
        self, round_number: int, environments: Sequence[AnyEnvironment], competence: Competence
    ) -> list[Emission]:
        """LURE Algorithm 1, line 2: the snapshot evader emits slots x samples tasks per environment."""
        emissions: list[Emission] = []
        for environment in environments:
            name = environment.name
            bins = [(each.attempts, each.capture_rate) for each in competence.bins(name)]
            dialogue = self.engine.dialogue
            shown = shown_emissions(self.pack, name, environment.guide, bins, self.examples)
            asked = [render_evader(self.pack, name, environment.guide, hint, bins) for hint in self.hints]
            prompts = [[*dialogue.opening(text, shown), *dialogue.ready()] for text in asked]
            sampled = self.engine.sample(
                self.policy(Role.EVADER, name),
                [[token for span in prompt for token in span.ids] for prompt in prompts],
                self.samples,
                self.parameters,
                derive_seed(self.run_seed, Role.EVADER, name, round_number),
            )
            for slot, (prompt, generations) in enumerate(zip(prompts, sampled, strict=True)):
                for sample, generation in enumerate(generations):
                    sequence = PolicySequence(Role.EVADER)
                    sequence.append(prompt)
                    sequence.append_sampled(generation)
                    text = dialogue.decode(generation)
                    seed = task_seed(self.run_seed, name, round_number, slot, sample)
                    emission = Emission(name, slot, sample, parse_emission(text), seed, sequence)
                    emissions.append(replace(emission, prompt=asked[slot], text=text))
        return emissions

    def learn(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """LURE Algorithm 1, lines 4-5: fill D_C by Eq. 3, standardise within a slot, update C."""
        self.rounds += 1
        rewarded: dict[tuple[str, int], list[Emission]] = {}
        for outcome, reward in zip(outcomes, self.reward(outcomes), strict=True):
            outcome.emission.reward = reward
            if reward is not None:
                rewarded.setdefault((outcome.emission.environment, outcome.emission.slot), []).append(outcome.emission)
        batches: dict[str, list[TrainSequence]] = {}
        for (name, _), emissions in rewarded.items():
            rewards = [emission.reward for emission in emissions if emission.reward is not None]
            advantages = standardise(rewards, self.deviation_floor)
            for emission, advantage in zip(emissions, advantages, strict=True):
                if emission.sequence is not None:
                    sequence = train_sequence(emission.sequence, [float(advantage)], zero_variance=not advantages.any())
                    batches.setdefault(self.policy(Role.EVADER, name), []).append(sequence)
        return joint_report(
            [
                self.engine.update(policy, batch, self.objective, derive_seed(self.run_seed, policy, self.rounds))
                for policy, batch in sorted(batches.items())
            ]
        )

    def state(self) -> dict[str, Any]:
        """The number of updates; the weights belong to the engine."""
        return {"rounds": self.rounds}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` wrote."""
        self.rounds = int(state["rounds"])
