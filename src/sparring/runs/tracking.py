"""One metrics row a round, and one JSON object a trajectory and an emission."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from statistics import fmean, pstdev
from typing import Any

from sparring.credit import executor_turn_rewards, planner_rewards
from sparring.methods.base import Round, Solver
from sparring.placement.base import Outcome
from sparring.roles import Role, render_executor, render_planner, shown_episodes, shown_plans
from sparring.runs.ledger import round_ledger
from sparring.trajectories import Group, PolicySequence, StopReason, Trajectory

UPDATE_METRICS = ("kl", "entropy", "clip_share", "grad_norm", "sampler_gap", "optimiser_steps")
SIMULATED_METRICS = ("skill",)
"""What a simulated policy's update says of its weights."""


def metrics_row(number: int, done: Round | None, solver: Solver, rollouts: int) -> dict[str, Any]:
    """The row of one round; None where nothing was measured. Round 0 is the evaluation before training.

    rollouts: of the whole run so far. What the clock and an evaluation say is put to it later.
    """
    outcomes = done.outcomes if done else []
    return {
        "round": number,
        "environments": {
            name: _environment_metrics(
                [each for each in outcomes if each.emission.environment == name],
                [group for group in _groups(done) if group.task.public.environment == name],
            )
            for name in (solver.environments if done else ())
        },
        "roles": {role.value: _role_metrics(role, done, solver) for role in Role} if done else {},
        "notes": dict(done.notes) if done else {},
        "ledger": round_ledger(done) if done else None,
        "heldout": None,
        "rollouts": rollouts,
    }


def _groups(done: Round | None) -> list[Group]:
    """All that was rolled out in a round, probes included."""
    return [*done.trained, *done.probed] if done else []


def _environment_metrics(outcomes: Sequence[Outcome], groups: Sequence[Group]) -> dict[str, Any]:
    """Rates are of one group a task; broken rollouts are counted wherever they were."""
    rates = [outcome.capture_rate for outcome in outcomes if outcome.capture_rate is not None]
    trajectories = [t for outcome in outcomes if outcome.group for t in outcome.group.trajectories]
    difficulties = [outcome.group.task.difficulty for outcome in outcomes if outcome.group is not None]
    return {
        "capture": _mean(rates),
        "difficulty_mean": _mean(difficulties),
        "difficulty_spread": pstdev(difficulties) if difficulties else None,
        "signature_entropy": signature_entropy([outcome.signature for outcome in outcomes]),
        "all_fail": _mean([rate == 0.0 for rate in rates]),
        "all_pass": _mean([rate == 1.0 for rate in rates]),
        "mixed": _mean([0.0 < rate < 1.0 for rate in rates]),
        "progress": _mean([t.progress for t in trajectories if t.error is None]),
        "invalid": _mean([outcome.group is None for outcome in outcomes]),
        "emitted": len(outcomes),
        "errored": sum(t.error is not None for group in groups for t in group.trajectories),
    }


def signature_entropy(signatures: Sequence[str]) -> float | None:
    """Entropy in nats of the signatures of one environment's emissions; None without any."""
    if not signatures:
        return None
    shares = [count / len(signatures) for count in Counter(signatures).values()]
    return -sum(share * math.log(share) for share in shares)


def _role_metrics(role: Role, done: Round, solver: Solver) -> dict[str, Any]:
    """How a role spoke in a round, probes included, and its update; tokens are a cost, so broken rollouts have some."""
    update, groups = done.updates.get(role, {}), _groups(done)
    finished = [trajectory for group in groups for trajectory in group.finished]
    everything = [trajectory for group in groups for trajectory in group.trajectories]
    turns = [turn for trajectory in finished for turn in trajectory.turns]
    if role is Role.EVADER:
        emissions = [outcome.emission for outcome in done.outcomes if outcome.emission.sequence is not None]
        rewards = [emission.reward for emission in emissions if emission.reward is not None]
        well_formed = [emission.difficulty is not None for emission in emissions]
        sequences = sampled = [emission.sequence for emission in emissions if emission.sequence is not None]
    elif role is Role.PLANNER:
        # Group by group: what a plan earns may depend on the others of its task.
        rewards = [each for group in groups for each in planner_rewards(group.finished, solver.planner_credit)]
        well_formed = [trajectory.plan_well_formed for trajectory in finished]
        sequences = [trajectory.plan for trajectory in finished]
        sampled = [trajectory.plan for trajectory in everything]
    else:
        rewards = [float(executor_rewards(trajectory, solver).sum()) for trajectory in finished]
        well_formed = [turn.well_formed for turn in turns]
        sequences = [trajectory.execution for trajectory in finished]
        sampled = [trajectory.execution for trajectory in everything]
    return {
        "reward": _mean(rewards),
        "well_formed": _mean(well_formed),
        "truncated": _mean([stop is StopReason.LENGTH for sequence in sequences for stop in sequence.stops]),
        "tokens": sum(sum(sequence.loss_mask) for sequence in sampled),
        "trained_tokens": update.get("tokens"),
        **{name: update.get(name) for name in UPDATE_METRICS},
        **{name: update[name] for name in SIMULATED_METRICS if name in update},
    }


def executor_rewards(trajectory: Trajectory, solver: Solver) -> Any:
    """Eq. 4's scalars of one rollout, whatever the credit that training used."""
    gains = [turn.gain for turn in trajectory.turns]
    captured = trajectory.captured
    return executor_turn_rewards(gains, captured, solver.progress_weight, solver.zero_progress_cost)


def task_keys(outcomes: Sequence[Outcome], solver: Solver) -> list[str | None]:
    """The content key of each emission's task; None where it gave none. It takes a solution, so ask once a round."""
    return [
        None
        if outcome.group is None
        else solver.environments[outcome.emission.environment].content_key(outcome.group.task)
        for outcome in outcomes
    ]


def rollout_rows(done: Round, keys: Sequence[str | None], solver: Solver) -> list[dict[str, Any]]:
    """Every trajectory of a round: prompts (the exchanges shown first too), text, ids, progress and reward.

    keys are those of `task_keys`. A rollout that broke keeps its turns, without rewards. probe marks
    rollouts that were made to look at a task, not to train on it.
    """
    probes = done.probes or [None] * len(done.outcomes)
    groups = [
        (number, key, group, group is probe)
        for number, (outcome, key, probe) in enumerate(zip(done.outcomes, keys, probes, strict=True))
        for group in ([probe] if outcome.group is probe else [probe, outcome.group])
        if group is not None
    ]
    return [row for number, key, group, probe in groups for row in _group_rows(group, number, key, probe, solver)]


def _group_rows(group: Group, number: int, key: str | None, probe: bool, solver: Solver) -> list[dict[str, Any]]:
    rows = []
    task = group.task
    examples = solver.pursuers.examples[task.public.environment]
    planned = {"shown": shown_plans(examples), "prompt": render_planner(task.public)}
    opening = render_executor(task.public, instructed=bool(examples))
    executed = {"shown": shown_episodes(examples), "prompt": opening}
    for trajectory in group.trajectories:
        broken = trajectory.error is not None
        rewards = [None] * len(trajectory.turns) if broken else executor_rewards(trajectory, solver).tolist()
        rows.append(
            {
                "task": key,
                "environment": task.public.environment,
                "difficulty": task.difficulty,
                "seed": task.seed,
                "signature": group.signature,
                "statement": task.public.statement,
                "group": number,
                "probe": probe,
                "captured": trajectory.captured,
                "answer": trajectory.answer,
                "progress": trajectory.progress,
                "error": trajectory.error,
                "plan": {
                    **planned,
                    "text": trajectory.plan_text,
                    "stages": trajectory.stages,
                    "well_formed": trajectory.plan_well_formed,
                    "stage_ends": trajectory.stage_ends,
                    **_tokens(trajectory.plan),
                },
                "turns": [
                    {
                        "stage": turn.stage,
                        "text": turn.text,
                        "observation": turn.observation,
                        "progress": turn.progress,
                        "gain": turn.gain,
                        "reward": reward,
                        "well_formed": turn.well_formed,
                        "stop": stop.value,
                    }
                    # A turn that broke its checker was sampled and has a stop, but no verdict.
                    for turn, reward, stop in zip(
                        trajectory.turns, rewards, trajectory.execution.stops[: len(rewards)], strict=True
                    )
                ],
                "execution": {**executed, **_tokens(trajectory.execution)},
            }
        )
    return rows


def emission_rows(
    outcomes: Sequence[Outcome], keys: Sequence[str | None], heldout: Collection[str]
) -> list[dict[str, Any]]:
    """Every emission of a round, the malformed ones too.

    task is its content key, from `task_keys`; held_out says whether a held-out task, of which these
    are the keys, has the same content.
    """
    return [
        {
            "task": key,
            "held_out": key in heldout,
            "environment": outcome.emission.environment,
            "slot": outcome.emission.slot,
            "sample": outcome.emission.sample,
            "difficulty": outcome.emission.difficulty,
            "task_seed": outcome.emission.task_seed,
            "signature": outcome.signature,
            "capture": outcome.capture_rate,
            "reward": outcome.emission.reward,
            "prompt": outcome.emission.prompt,
            "text": outcome.emission.text,
            **({} if outcome.emission.sequence is None else _tokens(outcome.emission.sequence)),
        }
        for outcome, key in zip(outcomes, keys, strict=True)
    ]


def _tokens(sequence: PolicySequence) -> dict[str, Any]:
    return {
        "ids": sequence.ids,
        "owners": [owner.value for owner in sequence.owners],
        "log_probs": [round(value, 6) for value in sequence.log_probs],
        "turn": sequence.turn,
    }


def _mean(values: Sequence[float | bool]) -> float | None:
    return fmean(values) if values else None
