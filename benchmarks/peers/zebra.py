"""Logic grid puzzles per CPU second: ours in the chat pack, and reasoning-gym's zebra puzzles.

Both make the whole puzzle with its text. Ours has ten clue kinds and a minimal clue set; theirs has
four kinds.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version

from benchmarks.peers.comparison import Comparison, PeerMissingError, Work

from sparring.environments.zebra_logic.environment import Rung, ZebraLogic, ZebraLogicSettings
from sparring.tasks import PromptPack

# Houses and attributes; CPU seconds for ours and theirs; the ratio aimed at.
SIZES: Mapping[int, tuple[float, float, float | None]] = {
    3: (2.0, 4.0, 100),
    4: (3.0, 6.0, None),
    5: (4.0, 10.0, None),
    6: (8.0, 30.0, 500),
}


def measure_ours(size: int, cpu_seconds: float) -> Work:
    """Make tasks of `size` houses and attributes for some CPU time, the first ones included."""
    zebra = ZebraLogic(ZebraLogicSettings(ladder=(Rung(size, size),)), PromptPack.CHAT)
    return _measured(lambda seed: zebra.generate(0.0, seed), cpu_seconds)


def measure_theirs(size: int, cpu_seconds: float) -> Work:
    """Make puzzles of `size` people and characteristics for some CPU time.

    Raises PeerMissingError when reasoning-gym is not installed.
    """
    try:
        gym = importlib.import_module("reasoning_gym")
    except ImportError as error:
        raise PeerMissingError("pip install 'sparring[benchmark]'") from error
    puzzles = gym.create_dataset("zebra_puzzles", num_people=size, num_characteristics=size, seed=0, size=1_000_000)
    return _measured(lambda index: puzzles[index], cpu_seconds, version("reasoning-gym"))


def comparisons() -> list[Comparison]:
    """Puzzles a second at four sizes."""
    return [
        Comparison(
            name=f"zebra_logic puzzles, {size}x{size}",
            peer="reasoning-gym",
            ours=partial(measure_ours, size, ours),
            theirs=partial(measure_theirs, size, theirs),
            target=target,
            repeats=1,
        )
        for size, (ours, theirs, target) in SIZES.items()
    ]


def _measured(make: Callable[[int], object], cpu_seconds: float, release: str = "") -> Work:
    """Make puzzle after puzzle until the CPU time is used up; at least one."""
    start, made = time.process_time(), 0
    while made == 0 or time.process_time() - start < cpu_seconds:
        make(made)
        made += 1
    return Work(made, time.process_time() - start, release)
