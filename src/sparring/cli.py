"""The command line: `sparring train | lab | eval | score | report | recredit | play | theory | doctor | backbone`.

Bad input of any kind is one line on stderr and exit code 2, and so is a machine that refuses (no
space, no memory). Any other exception is a mistake of this program and keeps its traceback. The
arguments are parsed by argparse, whose messages are single lines and which loads at once; each verb
imports what it needs.
"""

from __future__ import annotations

import argparse
import difflib
import io
import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import NoReturn

from sparring import commands
from sparring.errors import UserError
from sparring.recredit import verb as recredit

TRAIN_OPTIONS = frozenset({"--out", "--resume", "--dry-run", "--json", "--help"})
"""What `train` itself understands; every other `--section.key value` overrides the recipe."""

LARGEST = 10**9
"""Of a number of tasks, or a seed."""

OUT_OF_MEMORY = ("out of memory", "can't allocate memory")
"""What PyTorch's RuntimeErrors say, on an accelerator and on a CPU, where Python has its MemoryError."""

SHUTDOWN_SECONDS = 10.0
"""How long after an interrupt a further one is taken for the same."""

LONGEST_PATH = 120
"""Characters of a path, its last ones, that a message shows."""


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose complaints are UserErrors."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise UserError(f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; its exit code.

    0; 1 when the doctor finds a fault, a run of a suite failed or a statement of the theory fails; 2 for bad
    input; 130 when interrupted; 141 for a closed pipe.
    """
    logging.basicConfig(format="sparring: %(levelname)s: %(message)s", level=logging.WARNING)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # odd file names, and terminals that know ASCII alone
    try:
        with _termination_as_interrupt():
            code = _run(list(sys.argv[1:] if arguments is None else arguments))
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a closed pipe or a full disk can still be told
    except KeyboardInterrupt as interrupt:
        _complain(f"interrupted; {interrupt}" if interrupt.args else "interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except UserError as error:
        _complain(str(error))
    except OSError as error:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)[-LONGEST_PATH:]}: "
        _complain(f"{where}{error.strerror or error}; check the path, its permissions and the space left")
        _drop_output()
    except UnicodeError as error:
        _complain(f"text that is not valid UTF-8 ({error}); give other names or another file")
    except RecursionError:
        _complain("the input nests too deeply to be read; give plain lists and sections")
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or any(words in str(error) for words in OUT_OF_MEMORY)):
            raise
        _complain("out of memory; lower engine.tokens_per_micro_batch or engine.rows_per_batch, or give a smaller file")
    else:
        return code
    return 2


def split_overrides(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part `train`'s arguments into its own and `key=value` overrides of the recipe.

    Both `--section.key value` and `--section.key=value` are overrides. Done before argparse, which
    would take a lone value for the recipe.
    """
    own: list[str] = []
    overrides: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        option, equals, value = argument.partition("=")
        if not option.startswith("--") or option in TRAIN_OPTIONS:
            own.append(argument)
            continue
        near = difflib.get_close_matches(option, TRAIN_OPTIONS, n=1, cutoff=0.8)
        if near:  # a slip of the hand, such as --dryrun, which would otherwise swallow what follows
            raise UserError(f"unknown option {option}; did you mean {near[0]}?")
        if not equals:
            following = next(remaining, "--")
            if following.startswith("--"):
                raise UserError(f"{option} needs a value; give {option} VALUE or {option}=VALUE")
            value = following
        overrides.append(f"{option.removeprefix('--')}={value}")
    return own, overrides


def make_parser() -> OneLineParser:
    """The parser of all verbs."""
    parser = OneLineParser(prog="sparring", description="Train language models with no data.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"sparring {metadata.version('sparring')}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=OneLineParser)

    train = verbs.add_parser(
        "train",
        help="train a recipe, or go on with a run",
        usage="sparring train RECIPE [--section.key VALUE ...] [--out DIR] [--dry-run [--json FILE]]\n"
        "       sparring train --resume DIR [--rounds N]",
        epilog="Any other --section.key VALUE sets that key of the recipe, such as --rounds 20.",
        allow_abbrev=False,
    )
    train.add_argument("recipe", type=Path, nargs="?", metavar="RECIPE", help="a TOML file, such as one in recipes/")
    train.add_argument("--out", type=Path, metavar="DIR", help="the run folder (default: runs/ and the recipe's name)")
    train.add_argument("--resume", type=Path, metavar="DIR", help="go on with the run in this folder")
    train.add_argument("--dry-run", action="store_true", help="print the plan and load no model")
    train.add_argument("--json", type=Path, metavar="FILE", help="write the plan of --dry-run here too")

    lab = verbs.add_parser("lab", help="run a suite of runs and compare them", allow_abbrev=False)
    lab.add_argument("suite", type=Path, metavar="SUITE", help="a TOML file, or a name from recipes/suites/")
    lab.add_argument("--out", type=Path, metavar="DIR", help="the suite's folder (default: runs/ and its name)")
    lab.add_argument("--jobs", type=_positive, metavar="N", help="runs at a time (default: one a core)")
    lab.add_argument("--only", type=_names, metavar="A,B", help="only these arms or variants")
    lab.add_argument("--seeds", type=_naturals, metavar="1,2", help="only these seeds")
    lab.add_argument("--minutes", type=_positive, default=120, metavar="N", help="the longest run (default: 120)")
    lab.add_argument("--dry-run", action="store_true", help="print what would run")

    evaluate = verbs.add_parser("eval", help="generate and score benchmark answers", allow_abbrev=False)
    evaluate.add_argument("target", metavar="RUN_OR_MODEL", help="a run folder, a model folder or a hub id")
    evaluate.add_argument("--benchmarks", type=_names, required=True, metavar="A,B,C", help="which, by name")
    evaluate.add_argument("--limit", type=_positive, metavar="N", help="only the first N tasks of each")
    evaluate.add_argument("--out", type=Path, metavar="DIR", help="where generations and scores go")

    score = verbs.add_parser("score", help="score stored generations", allow_abbrev=False)
    score.add_argument("file", type=Path, metavar="FILE", help="JSON lines with id and text")
    score.add_argument("--benchmark", required=True, metavar="NAME", help="which benchmark they answer")
    score.add_argument("--profile", choices=("official", "fixed"), default="official", help="whose verdicts to give")
    score.add_argument("--json", type=Path, metavar="OUT", help="write the scores here too")

    report = verbs.add_parser("report", help="write report.html of a run", allow_abbrev=False)
    report.add_argument("run", type=Path, metavar="RUN", help="a run folder")

    recredit.register(verbs, _positive)

    play = verbs.add_parser("play", help="solve a task yourself", allow_abbrev=False)
    play.add_argument("environment", metavar="ENV", help="an environment, such as zebra_logic")
    play.add_argument("--difficulty", type=_share, required=True, metavar="D", help="from 0 (easiest) to 1 (hardest)")
    play.add_argument("--seed", type=_natural, metavar="N", help="which task (default: any)")
    play.add_argument("--pack", choices=("chat", "compact"), default="chat", help="how the environment talks")
    play.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the environment")

    theory = verbs.add_parser("theory", help="check the paper's statements numerically", allow_abbrev=False)
    theory.add_argument("--out", type=Path, metavar="DIR", help="write theory.json and theory.html here")
    theory.add_argument("--json", action="store_true", help="print JSON, not a table")
    theory.add_argument("--scores", type=Path, metavar="FILE.csv", help="fit Fig. 5's power law to size and score")

    doctor = verbs.add_parser("doctor", help="check the installation, or prove environments", allow_abbrev=False)
    doctor.add_argument("--environments", nargs="*", metavar="NAME", help="prove these, or all when none is named")
    doctor.add_argument("--tasks", type=_positive, metavar="N", help="how many at each difficulty (default: 1000)")
    doctor.add_argument("--pack", choices=("chat", "compact", "both"), help="which prompt pack (default: both)")
    doctor.add_argument("--json", type=Path, metavar="FILE", help="write what is found here too")

    backbone = verbs.add_parser("backbone", help="make or fetch the starting weights", allow_abbrev=False)
    backbone.add_argument("name", choices=("micro", "smollm2"), help="which")
    backbone.add_argument("--recipe", type=Path, metavar="R", help="the recipe whose tasks warm up micro")
    backbone.add_argument("--out", type=Path, metavar="DIR", help="copy the weights here too")
    return parser


def _run(arguments: list[str]) -> int:
    overrides: list[str] = []
    if arguments[:1] == ["train"]:
        own, overrides = split_overrides(arguments[1:])
        arguments = ["train", *own]
    given = make_parser().parse_args(arguments)
    match given.verb:
        case "train":
            commands.train(given.recipe, overrides, given.out, given.resume, given.dry_run, given.json)
        case "lab":
            asked = (given.jobs, given.only, given.seeds, given.minutes)
            return 0 if commands.lab(given.suite, given.out, *asked, dry_run=given.dry_run) else 1
        case "eval":
            commands.evaluate(given.target, given.benchmarks, given.limit, given.out)
        case "score":
            commands.score(given.file, given.benchmark, given.profile, given.json)
        case "report":
            commands.report(given.run)
        case "recredit":
            recredit.run(given)
        case "play":
            commands.play(given.environment, given.difficulty, given.seed, given.pack, given.set)
        case "theory":
            return 0 if commands.theory(given.out, given.json, given.scores) else 1
        case "doctor":
            return 0 if commands.doctor(given.environments, given.tasks, given.pack, given.json) else 1
        case "backbone":
            commands.backbone(given.name, given.recipe, given.out)
    return 0


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Take SIGTERM as Ctrl-C: the same message, and a run that can be resumed.

    It goes through SIGINT, which writes defer. A shell has a background process ignore SIGINT, so
    ours then raises only once SIGTERM came. Workers inherit both handlers and leave when told to.
    One more within SHUTDOWN_SECONDS is ignored: raised while objects are torn down, it would print
    a traceback. Later it counts again, should the first have been lost on the way. After all is torn
    down, Ctrl-C is ignored and SIGTERM kills.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process, terminated, raised = os.getpid(), False, -math.inf
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal raised
        heeded = terminated or before[signal.SIGINT] is not signal.SIG_IGN
        if os.getpid() == process and heeded and time.monotonic() - raised > SHUTDOWN_SECONDS:
            raised = time.monotonic()
            raise KeyboardInterrupt

    def terminate(_signal: int, _frame: FrameType | None) -> None:
        nonlocal terminated
        if os.getpid() != process:
            os._exit(128 + signal.SIGTERM)
        terminated = True
        signal.raise_signal(signal.SIGINT)

    after = before
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt:
        after = {signal.SIGINT: signal.SIG_IGN, signal.SIGTERM: signal.SIG_DFL}
        raise
    finally:
        for number, handler in after.items():
            signal.signal(number, handler)


def _drop_output() -> None:
    """Keep Python from writing what stdout still holds when it shuts down, to a pipe or disk that refused it."""
    if sys.stdout is sys.__stdout__ and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    """One line, whatever the message holds."""
    line = " ".join(message.split()).encode("utf-8", errors="backslashreplace").decode("utf-8")
    print("sparring:", line, file=sys.stderr)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names such as ifeval,zebralogic")
    return names


def _positive(text: str) -> int:
    if not 1 <= _whole(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 1 to {LARGEST:,}")
    return int(text)


def _natural(text: str) -> int:
    if not 0 <= _whole(text) <= LARGEST:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a whole number from 0 to {LARGEST:,}")
    return int(text)


def _naturals(text: str) -> list[int]:
    return [_natural(part.strip()) for part in text.split(",")]


def _whole(text: str) -> int:
    """The number, or -1 for what is none; thousands of digits are none, and Python would not read them."""
    return int(text) if text.isdecimal() and len(text) < 40 else -1


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0 to 1")
    return share
