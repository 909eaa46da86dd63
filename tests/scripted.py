"""A scripted engine: rollouts and rounds without a model, every word given and recorded.

The engine stands for the model only. Its policies say what speakers tell them to; it keeps all that they
heard, what they said token by token, and every update it was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparring.engines.base import Capabilities, SamplingParameters
from sparring.objectives import Objective
from sparring.roles import Role
from sparring.trajectories import Generation, Owner, Span, StopReason, TrainSequence

END, USER, POLICY = range(3)
MARKERS = ("<end>", "<user>", "<policy>")


class WordDialogue:
    """A DialogueFormat of words and the space between them, so that text goes to ids and back byte for byte."""

    def __init__(self) -> None:
        self.words = list(MARKERS)
        self.ids = {word: number for number, word in enumerate(MARKERS)}

    def encode(self, text: str) -> tuple[int, ...]:
        assert not any(marker in text for marker in MARKERS)
        for word in (words := re.findall(r"\s+|\S+", text)):
            if word not in self.ids:
                self.ids[word] = len(self.words)
                self.words.append(word)
        return tuple(self.ids[word] for word in words)

    def text(self, ids: Sequence[int]) -> str:
        """What stands in these tokens, markers included."""
        return "".join(self.words[token] for token in ids)

    def opening(self, text: str, shown: Sequence[tuple[str, str]] = ()) -> list[Span]:
        spans = [Span(Owner.MARKER, (USER,))]
        for said, answered in shown:
            spans += [Span(Owner.PROMPT, self.encode(said)), Span(Owner.MARKER, (POLICY,))]
            spans += [Span(Owner.PROMPT, self.encode(answered)), Span(Owner.MARKER, (END, USER))]
        return [*spans, Span(Owner.PROMPT, self.encode(text))]

    def ready(self, text: str = "") -> list[Span]:
        return [Span(Owner.PROMPT, self.encode(text)), Span(Owner.MARKER, (POLICY,))]

    def reply(self, text: str, generation: Generation) -> list[Span]:
        closing = (USER,) if generation.ids[-1:] == (END,) else (END, USER)
        return [Span(Owner.MARKER, closing), Span(Owner.TOOL, self.encode(text)), Span(Owner.MARKER, (POLICY,))]

    def decode(self, generation: Generation) -> str:
        return self.text(generation.ids[:-1] if generation.ids[-1:] == (END,) else generation.ids)


@dataclass(frozen=True)
class Floor:
    """What a speaker knows: whose weights speak, all text of its dialogue, its copy of the prompt, its turn from 0."""

    policy: str
    heard: str
    copy: int
    turn: int


Speaker = Callable[[Floor], str]


def saying(*texts: str) -> Speaker:
    """A speaker of one text a turn, whatever it hears."""
    return lambda floor: texts[floor.turn]


def by_copy(*speakers: Speaker | str) -> Speaker:
    """A speaker of its own for each rollout of a task; a text is said at every turn."""

    def speak(floor: Floor) -> str:
        speaker = speakers[floor.copy]
        return speaker if isinstance(speaker, str) else speaker(floor)

    return speak


@dataclass
class Sample:
    """One call of `sample`: the prompts as ids, and what was said to them."""

    policy: str
    prompts: list[tuple[int, ...]]
    copies: int
    parameters: SamplingParameters
    seed: int
    said: list[list[Generation]]


@dataclass
class Update:
    """One call of `update`."""

    policy: str
    sequences: list[TrainSequence]
    objective: Objective
    seed: int


class ScriptedConversation:
    """Dialogues whose rows hold every token fed and said, in order. batches: the rows of each call of `sample`."""

    def __init__(self, engine: ScriptedEngine, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int):
        self.engine, self.policy, self.copies, self.seed = engine, policy, copies, seed
        self.prompts = [tuple(prompt) for prompt in prompts]
        self.rows = [list(prompt) for prompt in prompts for _ in range(copies)]
        self.said: list[list[tuple[int, Generation]]] = [[] for _ in self.rows]
        self.batches: list[list[int]] = []
        self.finished: list[int] = []

    def extend(self, row: int, ids: Sequence[int]) -> None:
        assert row not in self.finished
        self.rows[row] += ids

    def sample(self, rows: Sequence[int], parameters: SamplingParameters) -> list[Generation]:
        assert rows
        assert len(set(rows)) == len(rows)
        assert not set(rows) & set(self.finished)
        self.batches.append(list(rows))
        return [self._speak(row, parameters) for row in rows]

    def _speak(self, row: int, parameters: SamplingParameters) -> Generation:
        ids = self.rows[row]
        assert len(ids) + parameters.max_tokens <= self.engine.context_length
        assert ids[-1] == POLICY
        generation = self.engine.speak(self.policy, ids, row, row % self.copies, len(self.said[row]), parameters)
        self.said[row].append((len(ids), generation))
        ids += generation.ids
        return generation

    def finish(self, rows: Sequence[int]) -> None:
        assert not set(rows) & set(self.finished)
        self.finished += rows


class ScriptedEngine:
    """An Engine whose policies say what the speaker of their role tells them to.

    heard: (policy, whole text of its dialogue) for each generation in order. order: the name of each call.
    Turns longer than max_tokens are cut, as a model's would be.
    """

    capabilities = Capabilities(top_k=False, full_weights=False, ema=False)

    def __init__(
        self, speakers: Mapping[Role, Speaker], context_length: int = 10_000, dialogue: WordDialogue | None = None
    ) -> None:
        self.speakers = speakers
        self.context_length = context_length
        self.dialogue = dialogue or WordDialogue()
        self.heard: list[tuple[str, str]] = []
        self.order: list[str] = []
        self.samples: list[Sample] = []
        self.conversations: list[ScriptedConversation] = []
        self.updates: list[Update] = []

    def speak(
        self, policy: str, ids: Sequence[int], row: int, copy: int, turn: int, parameters: SamplingParameters
    ) -> Generation:
        """One turn of a row; a token's log-prob names its row and place, so that no two rows share one."""
        heard = self.dialogue.text(ids)
        self.heard.append((policy, heard))
        text = self.speakers[Role(policy.split("/")[0])](Floor(policy, heard, copy, turn))
        spoken = (*self.dialogue.encode(text), END)[: parameters.max_tokens]
        log_probs = tuple(-1.0 - row - (len(ids) + place) / 10_000 for place in range(len(spoken)))
        return Generation(spoken, log_probs, StopReason.END if spoken[-1:] == (END,) else StopReason.LENGTH)

    def sample(
        self, policy: str, prompts: Sequence[Sequence[int]], copies: int, parameters: SamplingParameters, seed: int
    ) -> list[list[Generation]]:
        self.order.append(f"sample {policy}")
        said = [
            [self.speak(policy, prompt, row * copies + copy, copy, 0, parameters) for copy in range(copies)]
            for row, prompt in enumerate(prompts)
        ]
        self.samples.append(Sample(policy, [tuple(prompt) for prompt in prompts], copies, parameters, seed, said))
        return said

    def converse(self, policy: str, prompts: Sequence[Sequence[int]], copies: int, seed: int) -> ScriptedConversation:
        self.order.append(f"converse {policy}")
        self.conversations.append(ScriptedConversation(self, policy, prompts, copies, seed))
        return self.conversations[-1]

    def update(
        self, policy: str, sequences: Sequence[TrainSequence], objective: Objective, seed: int
    ) -> Mapping[str, float]:
        self.order.append(f"update {policy}")
        self.updates.append(Update(policy, list(sequences), objective, seed))
        tokens = float(sum(sum(sequence.loss_mask) for sequence in sequences))
        return {"tokens": tokens, "sequences": float(len(sequences)), "optimiser_steps": 2.0, "kl": 0.5}

    def score(self, policy: str, sequences: Sequence[TrainSequence], temperature: float = 1.0) -> list[list[float]]:
        raise AssertionError("neither rollouts nor a round of LURE score sequences")

    def save(self, folder: Path) -> None:
        raise AssertionError("weights are saved by the run, not by the method")

    def load(self, folder: Path, *, optimisers: bool = True) -> None:
        raise AssertionError("weights are loaded by the run, not by the method")
