"""A person plays the executor in the terminal: `sparring play`.

It is no model, so it may see what no model does: the progress after each turn, and the solution.
"""

from __future__ import annotations

import sys
import textwrap

from sparring.environments.base import AnyEnvironment, Solution, Verdict
from sparring.errors import UserError
from sparring.tasks import GenerationRefusedError, PromptPack

WIDTH = 80
METER = 20
END_OF_TURN, SHOW_SOLUTION, QUIT = ".", ":solution", ":quit"


class _Left(Exception):  # noqa: N818
    """The player has had enough."""


def play(environment: AnyEnvironment, difficulty: float, seed: int) -> None:
    """Play one task on standard input and output.

    Raises UserError when the generator has no such task.
    """
    try:
        task = environment.generate(difficulty, seed)
    except GenerationRefusedError as refusal:
        raise UserError(
            f"{environment.name} makes no task at --difficulty {difficulty:g} --seed {seed} ({refusal}); "
            "give another seed"
        ) from None
    public = task.public
    _say(f"{environment.name}, {environment.pack} pack, difficulty {difficulty:g}, seed {seed}")
    _say(f"\n{environment.guide.acting}\n\n{public.statement}\n")
    if _one_line(environment):
        _say(f"Words: {' '.join(environment.compact_words())}")
    a_turn = (
        "A turn is one line." if _one_line(environment) else f'End a turn with a line that holds only "{END_OF_TURN}".'
    )
    _say(f"{_count(public.turn_limit, 'turn')} at most. {a_turn} {SHOW_SOLUTION} or {QUIT} gives up.")
    episode = environment.start(task)
    solution = environment.solve(task)
    try:
        for number in range(1, public.turn_limit + 1):
            print(f"\nturn {number} of {public.turn_limit}")
            episode.last_turn = number == public.turn_limit
            verdict = environment.step(episode, _turn(one_line=_one_line(environment)))
            _tell(verdict)
            if verdict.ended:
                break
    except KeyboardInterrupt:
        print()  # what comes next stands on a line of its own
        raise
    except _Left as left:
        print(f"\nLeft after {_count(episode.turns, 'turn')}, not captured.")
        if str(left) == SHOW_SOLUTION:
            _show(solution)
        return
    print("\nCaptured." if verdict.captured else "\nNot captured.")
    _show(solution)


def _one_line(environment: AnyEnvironment) -> bool:
    """Compact turns are a few words; chat turns may be whole texts."""
    return environment.pack is PromptPack.COMPACT


def _turn(*, one_line: bool) -> str:
    """What the player types as a turn; at the end of input, what there is of it."""
    lines: list[str] = []
    while True:
        try:
            line = _line()
        except EOFError:
            if lines:
                return "\n".join(lines)
            raise _Left(QUIT) from None
        if not lines and line.strip() in (SHOW_SOLUTION, QUIT):
            raise _Left(line.strip())
        if one_line:
            return line
        if line.strip() == END_OF_TURN:
            return "\n".join(lines)
        lines.append(line)


def _line() -> str:
    if sys.stdin is None:
        raise UserError("standard input is closed, and the turns come from there; open it")
    return input("> " if sys.stdin.isatty() else "")


def _tell(verdict: Verdict) -> None:
    if verdict.observation:
        _say(f"answer: {verdict.observation}")
    filled = int(METER * verdict.progress)
    print(f"progress [{'#' * filled}{'.' * (METER - filled)}] {verdict.progress:.2f}, ", end="")
    print("turn read" if verdict.well_formed else "turn not read: it is not of the form above")


def _show(solution: Solution) -> None:
    _say("A solution, stage by stage:")
    for stage in solution.stages:
        _say(f"- {stage}")
    print("and turn by turn:")
    for number, turn in enumerate(solution.turns, start=1):
        print(f"{number}. {turn}")  # as it is, so that it can be copied


def _say(text: str) -> None:
    """Print text no wider than a small terminal, its own line breaks kept."""
    for line in text.split("\n"):
        print(textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False, replace_whitespace=False))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
