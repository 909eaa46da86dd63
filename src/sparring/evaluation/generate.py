"""Generations for the benchmarks, as rows to be stored: nothing is scored here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparring.engines.base import Engine, SamplingParameters
from sparring.environments.base import AnyEnvironment
from sparring.evaluation.heldout import HeldoutTask
from sparring.evaluation.stored import Stop
from sparring.roles import render_executor, shown_episodes
from sparring.rollouts import Pursuers
from sparring.tasks import derive_seed
from sparring.trajectories import Owner, StopReason, Trajectory

TOKENS_AT_ONCE = 65_536
"""Prompt and answer tokens of one batch: their caches take a few gigabytes in models of 1 to 10 B weights."""
ROLLOUTS_AT_ONCE = 20
"""Rollouts side by side: enough for batched decoding, few enough that the progress bar moves."""

Advance = Callable[[int], None]
"""Told how many more generations are done."""


def answer_prompts(
    engine: Engine, policy: str, prompts: Mapping[str, str], max_tokens: int, advance: Advance
) -> list[dict[str, Any]]:
    """One greedy reply to each prompt, the longest prompts first, rows in the order of `prompts`.

    A prompt that fills the context gets an empty reply that says so.
    """
    dialogue = engine.dialogue
    ids = {
        name: [token for span in [*dialogue.opening(text), *dialogue.ready()] for token in span.ids]
        for name, text in prompts.items()
    }
    room = {name: min(max_tokens, engine.context_length - len(tokens)) for name, tokens in ids.items()}
    replies: dict[str, dict[str, Any]] = {}
    for batch in _batches(ids, room):
        limit = room[batch[0]]
        if limit < 1:
            replies |= {name: {"text": "", "stop": Stop.NO_ROOM.value, "tokens": 0} for name in batch}
        else:
            # Greedy, so the seed decides nothing.
            sampled = engine.sample(policy, [ids[name] for name in batch], 1, SamplingParameters(limit, 0.0), seed=0)
            for name, (generation,) in zip(batch, sampled, strict=True):
                replies[name] = {
                    "text": dialogue.decode(generation),
                    "stop": Stop(generation.stop.value).value,
                    "tokens": len(generation.ids),
                }
        advance(len(batch))
    return [{"id": name, "prompt": text, **replies[name]} for name, text in prompts.items()]


def _batches(ids: Mapping[str, list[int]], room: Mapping[str, int]) -> list[list[str]]:
    """Names by falling length, cut so that a batch keeps to its tokens and all of it has equal room."""
    batches: list[list[str]] = []
    for name in sorted(ids, key=lambda each: len(ids[each]), reverse=True):
        if batches:
            longest = batches[-1][0]
            tokens = (len(batches[-1]) + 1) * (len(ids[longest]) + room[longest])
            if tokens <= TOKENS_AT_ONCE and room[name] == room[longest]:
                batches[-1].append(name)
                continue
        batches.append([name])
    return batches


def pursue_heldout(
    pursuers: Pursuers, environment: AnyEnvironment, tasks: Mapping[str, HeldoutTask], advance: Advance
) -> list[dict[str, Any]]:
    """One greedy rollout a task, with all that the verifier needs to judge it later."""
    settings = environment.settings.model_dump(mode="json")
    examples = pursuers.examples[environment.name]
    rows: list[dict[str, Any]] = []
    names = list(tasks)
    for first in range(0, len(names), ROLLOUTS_AT_ONCE):
        part = names[first : first + ROLLOUTS_AT_ONCE]
        groups = pursuers.pursue([tasks[name].task for name in part], 1, derive_seed("heldout"))
        for name, group in zip(part, groups, strict=True):
            (trajectory,) = group.trajectories
            public = group.task.public
            rows.append(
                {
                    "id": name,
                    "shown": shown_episodes(examples),
                    "prompt": render_executor(public, instructed=bool(examples)),
                    "text": transcript(trajectory),
                    "stop": _stop(trajectory).value,
                    "tokens": sum(trajectory.plan.loss_mask) + sum(trajectory.execution.loss_mask),
                    "environment": environment.name,
                    "pack": environment.pack.value,
                    "settings": settings,
                    "task": environment.content_key(group.task),
                    "signature": group.signature,
                    "plan": trajectory.plan_text,
                    "turns": [turn.text for turn in trajectory.turns],
                    "error": trajectory.error,
                }
            )
        advance(len(part))
    return rows


def transcript(trajectory: Trajectory) -> str:
    """A rollout to be read: the plan, then each turn and what it brought back."""
    lines = [f"Plan: {trajectory.plan_text}"]
    for turn in trajectory.turns:
        lines.append(f"Stage {turn.stage + 1}: {turn.text}")
        if turn.observation:
            lines.append(f"Result: {turn.observation}")
    return "\n".join(lines)


def _stop(trajectory: Trajectory) -> Stop:
    """NO_ROOM when the context was full: only then does a rollout end on words that nobody answered."""
    if not trajectory.execution.owners or trajectory.execution.owners[-1] is not Owner.SAMPLED:
        return Stop.NO_ROOM
    cut = StopReason.LENGTH in trajectory.execution.stops
    return Stop.LENGTH if cut else Stop.END
