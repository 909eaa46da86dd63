"""The micro backbone: a tiny stand-in for a pretrained model, made by this project in a minute.

No model hub is needed. A word-level tokenizer and a Llama-shaped model of about 0.1 million
weights are warmed up, supervised, on the environments' own solutions (chiefly easy ones) and on
the format of the evader's emissions. That plays the part of pretraining: right at the easiest
level, near zero at the hardest. It is no language model and its scores are no benchmark results.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import Progress
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader, IterableDataset
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

from sparring.cache import cached_folder
from sparring.config import BackboneSection
from sparring.engines.dialogue import TemplateDialogue
from sparring.environments.base import AnyEnvironment
from sparring.environments.secret_kept import SecretKept
from sparring.errors import UserError
from sparring.placement.base import COMPETENCE_BINS
from sparring.roles import render_evader
from sparring.rollouts import demonstration
from sparring.tasks import GenerationRefusedError, PromptPack, derive_seed
from sparring.trajectories import Generation, PolicySequence, StopReason

PAD, UNKNOWN, REPLY, END = "<pad>", "<unk>", "<reply>", "<end>"
PROMPT_WORDS = ("evade", "plan", "exec", "hint", "rate", "none", "stage", "final", ",", "done", "submit")
EMISSION_WORDS = ("{", '"difficulty":', "}", *(f"{step / 20:.2f}" for step in range(21)))
TEMPLATE = (
    "{% for message in messages %}{{ message.content }} "
    "{% if message.role == 'user' %}" + REPLY + " {% else %}" + END + " {% endif %}{% endfor %}"
)
BATCH, CHUNKS = 96, 4
MEAN_DIFFICULTY = 0.13
QUIET_SECONDS = 15.0
"""How often the warm-up says how far it is where there is no terminal to draw a bar in."""
# How many lessons are emissions, and how many solved tasks teach the planner beside the executor.
EVADER_SHARE, PLANNER_SHARE = 0.15, 0.6


def make_tokenizer(environments: Mapping[str, AnyEnvironment]) -> PreTrainedTokenizerFast:
    """One token a word, over every word that the compact prompts and the environments use."""
    words = [PAD, UNKNOWN, REPLY, END, *PROMPT_WORDS, *EMISSION_WORDS, *map(str, range(11))]
    for environment in environments.values():
        words += [environment.guide.tag, *environment.compact_words()]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=UNKNOWN, pad_token=PAD, eos_token=END)
    fast.chat_template = TEMPLATE
    return fast


def make_model(vocabulary: int, end: int, seed: int) -> LlamaForCausalLM:
    """Hidden 64, 2 layers, 4 heads, MLP 128, tied embeddings (sizes and init from small trials)."""
    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            intermediate_size=128,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            initializer_range=0.1,
            pad_token_id=0,
            bos_token_id=None,
            eos_token_id=end,
        )
    )


class Lessons(IterableDataset[list[PolicySequence]]):
    """Endless batches of demonstrations, the same for the same seed."""

    def __init__(
        self, environments: Mapping[str, AnyEnvironment], tokenizer: PreTrainedTokenizerFast, section: BackboneSection
    ) -> None:
        self.environments = environments
        self.words: dict[str, int] = tokenizer.get_vocab()
        self.dialogue = TemplateDialogue(tokenizer)
        self.section = section

    def __iter__(self) -> Iterator[list[PolicySequence]]:
        """Batches in order."""
        rng = random.Random(derive_seed(self.section.seed, "lessons"))
        while True:
            batch: list[PolicySequence] = []
            while len(batch) < BATCH:
                batch += self.lesson(rng)
            yield batch

    def lesson(self, rng: random.Random) -> list[PolicySequence]:
        """One emission, or one solved task as the planner or the executor sees it."""
        names = sorted(self.environments)
        [name] = rng.choices(names, [self.section.warm_up_share.get(name, 1.0) for name in names])
        if rng.random() < EVADER_SHARE:
            return [self.emission(name, rng)]
        environment, share = self.environments[name], self.section.warm_up_secret_share
        if share and rng.random() < share:
            # All difficulties: to follow a solution that is told is to be learned everywhere, to find one is not.
            environment, difficulty = SecretKept(environment), rng.random()
        else:
            difficulty = rng.expovariate(1.0 / self.section.warm_up_difficulty.get(name, MEAN_DIFFICULTY))
        if difficulty > 1.0:
            return []
        try:
            task = environment.generate(difficulty, rng.getrandbits(60))
        except GenerationRefusedError:
            return []
        trajectory = demonstration(environment, task, self.dialogue, self.speak)
        if not trajectory.captured:
            raise UserError(
                f"environment {name}: the solution of task {task.seed} at difficulty {difficulty:.2f} "
                f"is not captured ({trajectory.error}); run its validate"
            )
        return [trajectory.execution, *([trajectory.plan] if rng.random() < PLANNER_SHARE else [])]

    def emission(self, name: str, rng: random.Random) -> PolicySequence:
        """A well-formed emission near its hint; where to steer is left to the evader to learn."""
        hint = rng.randrange(21) / 20
        bins = [(8, None if rng.random() < 0.3 else rng.random()) for _ in range(10)]
        share = self.section.warm_up_competence_share
        if share and rng.random() < share:
            bins, difficulty = competence_lesson(rng)
        else:
            difficulty = rng.randrange(21) / 20 if rng.random() < 0.3 else hint + 0.05 * round(rng.gauss(0.0, 2.0))
        sequence = PolicySequence("evader")
        prompt = render_evader(PromptPack.COMPACT, name, self.environments[name].guide, hint, bins)
        sequence.append([*self.dialogue.opening(prompt), *self.dialogue.ready()])
        sequence.append_sampled(self.speak(f'{{ "difficulty": {min(1.0, max(0.0, difficulty)):.2f} }}'))
        return sequence

    def speak(self, text: str) -> Generation:
        """Text as if the policy had sampled it; every word must be in the vocabulary."""
        try:
            ids = tuple(self.words[word] for word in (*text.split(), END))
        except KeyError as unknown:
            raise UserError(f"compact text {text!r} has {unknown}, which compact_words lacks; add it there") from None
        return Generation(ids, (0.0,) * len(ids), StopReason.END)


def competence_lesson(rng: random.Random) -> tuple[list[tuple[int, float | None]], float]:
    """A competence table and a difficulty, the likelier the nearer the capture rate there is to one half.

    A pretrained model that is asked for tasks solved half of the time can read such a table. The micro
    backbone learns to in these lessons. Tables fall over difficulty, with gaps; three of five are then
    shuffled, since an axis need not rise. A tenth without data is worth a look now and then.
    """
    half, width = rng.randrange(21) / 20, 0.02 + 0.15 * rng.random()
    bins: list[tuple[int, float | None]] = []
    for number in range(COMPETENCE_BINS):
        distance = (number + 0.5) / COMPETENCE_BINS - half
        rate = 1.0 / (1.0 + math.exp(distance / width))
        seen = rng.random() < math.exp(-abs(distance) / 0.3)
        bins.append((8, min(1.0, max(0.0, rate + rng.gauss(0.0, 0.1))) if seen else None))
    if rng.random() < 0.6:
        rng.shuffle(bins)
    weights = [0.05 if rate is None else (4.0 * rate * (1.0 - rate)) ** 2 + 0.01 for _, rate in bins]
    [number] = rng.choices(range(COMPETENCE_BINS), weights)
    return bins, (number + rng.choice((0.0, 0.5))) / COMPETENCE_BINS


def accumulate(model: Any, batch: list[PolicySequence]) -> None:
    """Add the gradient of the mean cross-entropy of a batch's sampled tokens.

    In a few chunks of like length, since lessons differ in length by a factor of five and padding
    costs as much as words.
    """
    ordered = sorted(batch, key=lambda sequence: len(sequence.ids))
    tokens = sum(sum(sequence.loss_mask) for sequence in batch)
    for chunk in (
        ordered[part * len(ordered) // CHUNKS : (part + 1) * len(ordered) // CHUNKS] for part in range(CHUNKS)
    ):
        columns = len(chunk[-1].ids)
        ids = torch.tensor([sequence.ids + [0] * (columns - len(sequence.ids)) for sequence in chunk])
        mask = torch.tensor([sequence.loss_mask + [False] * (columns - len(sequence.ids)) for sequence in chunk])[:, 1:]
        hidden = model.model(input_ids=ids).last_hidden_state[:, :-1][mask]
        loss = torch.nn.functional.cross_entropy(model.lm_head(hidden), ids[:, 1:][mask], reduction="sum")
        (loss / tokens).backward()  # type: ignore[no-untyped-call]


def build_micro(environments: Mapping[str, AnyEnvironment], section: BackboneSection, console: Console) -> Path:
    """The folder of the warmed-up backbone, made now or found in the cache by content.

    The key covers the vocabulary, the settings, the first batches of lessons, this file and the
    version of torch, so whatever changes the weights makes a new backbone.
    """
    share = section.warm_up_secret_share
    tokenizer = make_tokenizer({name: SecretKept(each) if share else each for name, each in environments.items()})
    lessons = Lessons(environments, tokenizer, section)
    first = [sequence.ids for _, batch in zip(range(4), lessons, strict=False) for sequence in batch]
    makers = [Path(__file__).read_text(encoding="utf-8"), torch.__version__]
    content = json.dumps([sorted(tokenizer.get_vocab().items()), section.model_dump(mode="json"), first, makers])

    def build(folder: Path) -> None:
        # One thread: matrices this small gain nothing from a second, which makes the lessons instead.
        torch.set_num_threads(1)
        model = make_model(len(tokenizer), tokenizer.eos_token_id, section.seed)
        warm_up(model, lessons, section, console)
        if not all(bool(weights.isfinite().all()) for weights in model.parameters()):
            raise UserError(
                f"backbone.warm_up_learning_rate = {section.warm_up_learning_rate}: the warm-up diverged; lower it"
            )
        disable_progress_bar()
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)

    return cached_folder("micro", hashlib.sha256(content.encode()).hexdigest()[:16], build)


def warm_up(model: LlamaForCausalLM, lessons: Lessons, section: BackboneSection, console: Console) -> None:
    """Supervised steps with a linear start and a linear end."""
    steps, peak = section.warm_up_steps, section.warm_up_learning_rate
    optimiser = torch.optim.AdamW(model.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    loader = DataLoader(lessons, batch_size=None, num_workers=1, prefetch_factor=8)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("warming up the micro backbone", total=steps)
        told = -math.inf
        for step, batch in zip(range(steps), loader, strict=False):
            if not console.is_terminal and time.monotonic() - told > QUIET_SECONDS:
                told = time.monotonic()
                console.print(f"warming up the micro backbone, once for these settings: step {step}/{steps}")
            rate = peak * min(1.0, (step + 1) / 100, max(0.05, (steps - step) / (0.3 * steps)))
            for group in optimiser.param_groups:
                group["lr"] = rate
            accumulate(model, batch)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            progress.advance(bar)
