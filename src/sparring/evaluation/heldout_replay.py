"""Scores of stored rollouts on held-out generated tasks.

Nothing that a file says about success is believed. The tasks are generated again and the stored
turns are put through their verifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from sparring.environments import load_environment
from sparring.environments.base import AnyEnvironment, Episode
from sparring.environments.phantom_wiki.environment import PhantomWiki, PhantomWikiEpisode
from sparring.errors import UserError
from sparring.evaluation.heldout import HeldoutTask, heldout_tasks
from sparring.evaluation.phantom_wiki import set_score
from sparring.evaluation.scores import rate
from sparring.evaluation.stored import Stop, Stored, refuse_unknown, truncated
from sparring.tasks import PromptPack


@dataclass(frozen=True)
class Replay:
    """The `heldout_metrics` of one stored rollout, and how many turns it has, all and those that could be read."""

    level: float
    metrics: Mapping[str, float]
    turns: int
    readable: int


def heldout_metrics(name: str) -> tuple[str, ...]:
    """What the scores of an environment's held-out tasks hold.

    Where answers are sets, also exact match and F1 of the answer that a rollout left, whatever the way to
    it: beside capture they show how much is guessed, or right but for the chain.
    """
    answer = ("answer_exact_match", "answer_f1") if name == PhantomWiki.name else ()
    return ("capture", "progress", *answer)


def heldout_set(environment: AnyEnvironment, levels: int, tasks_per_level: int) -> dict[str, HeldoutTask]:
    """The tasks by id, the first of every level before the second of any."""
    by_level: dict[float, list[HeldoutTask]] = {}
    for each in heldout_tasks({environment.name: environment}, levels, tasks_per_level):
        by_level.setdefault(each.level, []).append(each)
    return {
        f"{environment.name}-{level:.2f}-{index:02d}": tasks[index]
        for index in range(tasks_per_level)
        for level, tasks in by_level.items()
        if index < len(tasks)
    }


def heldout_scores(rows: Sequence[Stored], name: str, levels: int, tasks_per_level: int) -> dict[str, Any]:
    """Capture by difficulty, and over all difficulties that the file answers, each counting the same.

    Rollouts that a checker or service broke are counted and left out of every rate.
    """
    environment = _environment(rows, name)
    tasks = heldout_set(environment, levels, tasks_per_level)
    refuse_unknown(rows, tasks, f"the held-out tasks of {name}")
    replays = [replay for row in rows if (replay := _replay(row, environment, tasks[row.id])) is not None]
    by_level: dict[float, list[Replay]] = {}
    for replay in sorted(replays, key=lambda each: each.level):
        by_level.setdefault(replay.level, []).append(replay)
    return {
        "n": len(replays),
        "without_reply": len(tasks) - len(rows),
        "broken": len(rows) - len(replays),
        "no_answer": sum(replay.readable == 0 for replay in replays),
        "format_error": sum(0 < replay.readable < replay.turns for replay in replays),
        "truncated": truncated(rows),
        "metrics": {metric: rate(_over_levels(by_level, metric), len(replays)) for metric in heldout_metrics(name)},
        "capture_by_difficulty": {
            f"{level:.2f}": rate(fmean(each.metrics["capture"] for each in group), len(group))
            for level, group in by_level.items()
        },
    }


def _over_levels(by_level: Mapping[float, Sequence[Replay]], name: str) -> float | None:
    return fmean(fmean(each.metrics[name] for each in group) for group in by_level.values()) if by_level else None


def _environment(rows: Sequence[Stored], name: str) -> AnyEnvironment:
    """The environment as it was when the rollouts were made; all lines must agree on it."""
    first = rows[0]
    for row in rows:
        if _field(row, "environment", str) != name:
            raise UserError(
                f"{row.where}: environment = {row.fields['environment']!r}, not {name!r}; "
                "name the benchmark that the file answers"
            )
    pack, settings = _field(first, "pack", str), _field(first, "settings", dict)
    for row in rows:
        if (row.fields.get("pack"), row.fields.get("settings")) != (pack, settings):
            raise UserError(
                f"{row.where}: pack or settings differ from those of {first.where}; score one recipe at a time"
            )
    if pack not in list(PromptPack):
        raise UserError(f"{first.where}: pack = {pack!r} is not accepted; give {' or '.join(PromptPack)}")
    return load_environment(name, settings, PromptPack(pack))


def _replay(row: Stored, environment: AnyEnvironment, heldout: HeldoutTask) -> Replay | None:
    """Put the stored turns through the verifier; None where it breaks, or broke at the time."""
    task = heldout.task
    turns = _field(row, "turns", list)
    if not all(isinstance(turn, str) for turn in turns):
        raise UserError(f"{row.where}: turns holds something that is not text; give the executor's turns in order")
    if _field(row, "task", str) != heldout.key:
        raise UserError(
            f"{row.where}: {row.id} is another task in this version of sparring (key {heldout.key}, the "
            f"file says {row.fields['task']}); generate again"
        )
    if len(turns) > task.public.turn_limit:
        raise UserError(
            f"{row.where}: {len(turns)} turns, but {row.id} allows {task.public.turn_limit}; remove the rest"
        )
    if row.fields.get("error") is not None:
        return None
    episode = environment.start(task)
    progress, captured, readable = 0.0, False, 0
    for number, turn in enumerate(turns, start=1):
        # What stands is settled at the last turn, unless the context was full and the rollout was cut.
        episode.last_turn = number == len(turns) and row.stop is not Stop.NO_ROOM
        try:
            verdict = environment.step(episode, turn)
        except Exception:  # a checker's failure is counted, never scored
            return None
        progress, captured = verdict.progress, verdict.captured
        readable += verdict.well_formed
        if verdict.ended:
            break
    metrics = {"capture": captured, "progress": progress, **_answer_metrics(episode)}
    return Replay(heldout.level, metrics, len(turns), readable)


def _answer_metrics(episode: Episode[Any]) -> dict[str, float]:
    if not isinstance(episode, PhantomWikiEpisode):
        return {}
    score = set_score(episode.last_claim, episode.gold_answer)
    return {"answer_exact_match": score.exact_match, "answer_f1": score.f1}


def _field(row: Stored, name: str, kind: type) -> Any:
    value = row.fields.get(name)
    if not isinstance(value, kind):
        raise UserError(f"{row.where}: {name} = {value!r} is not accepted; give rollouts as sparring eval stores them")
    return value
