"""The order of DESIGN.md 2 and the size of files, read off the source."""

import ast
import graphlib
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparring"
FILES = sorted(PACKAGE.rglob("*.py"))

# What each part of the lower house may import of ours; a part is a file or a folder of the package.
MAY_IMPORT = {
    "errors": set[str](),
    "clock": set[str](),
    "tasks": set[str](),
    "parsing": {"tasks", "errors"},
    "profiles": set[str](),
    "wording": set[str](),
    "environments": {"tasks", "errors", "parsing", "profiles", "wording", "environments"},
    "trajectories": {"tasks"},
    "credit": {"trajectories", "errors"},
    "objectives": {"trajectories", "errors"},
    "distillation": {"trajectories", "errors"},
    "engines": {"trajectories", "objectives", "distillation", "errors", "engines"},
    "cache": {"errors"},
    "smollm2": {"cache", "errors"},
    "backbones": {"cache", "smollm2", "engines.dialogue", "errors"},
    "roles": {"tasks", "errors"},
}
# Placement, methods and what drives rollouts for them see protocols only, and nothing that is above them.
PROTOCOLS_ONLY = {"rollouts", "placement", "methods"}
CONCRETE = {"engines", "backbones", "micro", "smollm2", "runs", "reports", "evaluation", "config"}
# Nothing below imports these; `sparring/__init__.py` names what is public, so it may.
ON_TOP = {
    "__main__",
    "cli",
    "commands",
    "training",
    "planning",
    "doctor",
    "playing",
    "proving",
    "lab",
    "theory",
    "recredit",
}
BELOW_REPORTS = {"runs", "evaluation", "config", "micro"}


def module_of(file: Path) -> str:
    """`engines.base` for engines/base.py, `engines` for its __init__.py, "" for the package's own."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file) for file in FILES}


def imports_of(source: str) -> Iterator[str]:
    """Our own modules that a source imports anywhere in it, without the leading `sparring`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = []
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                names.append(inner if inner.removeprefix("sparring.") in MODULES else str(node.module))
        else:
            continue
        yield from (name.removeprefix("sparring").lstrip(".") for name in names if name.split(".")[0] == "sparring")


def violations(module: str, source: str) -> list[str]:
    """What a module imports against the order."""
    part = module.split(".")[0]
    wrong = []
    for name in imports_of(source):
        first = name.split(".")[0]
        if part in MAY_IMPORT:
            allowed = name in MAY_IMPORT[part] or first in MAY_IMPORT[part]
        elif part in PROTOCOLS_ONLY:
            allowed = name == "engines.base" or first not in CONCRETE | ON_TOP
        else:
            allowed = part in ON_TOP or not module or first not in ON_TOP
            # A run is evaluated with the parts that training puts together, and training evaluates as it goes.
            allowed = allowed or (part == "evaluation" and first == "training")
            allowed = allowed and not (part in BELOW_REPORTS and first == "reports")
        if not allowed:
            wrong.append(f"{module} imports {name}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_import_order(file: Path) -> None:
    assert violations(module_of(file), file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("tasks", "from sparring.trajectories import Span"),
        ("environments.zebra_logic.environment", "from sparring.trajectories import Span"),
        ("environments.zebra_logic.environment", "def later():\n    import sparring.engines.base"),
        ("credit", "from sparring.environments.base import Verdict"),
        ("engines.local", "from sparring.tasks import Task"),
        ("engines.local", "from sparring import roles"),
        ("engines.simulated_policies", "from sparring.environments.simulated.environment import HIT"),
        ("environments.simulated.environment", "from sparring.engines.simulated_policies import SkillPolicy"),
        ("placement.evader", "from sparring.engines.local import LocalEngine"),
        ("placement.evader", "from sparring.engines import local"),
        ("methods.lure", "from sparring.runs.folder import RunFolder"),
        ("runs.folder", "from sparring import training"),
        ("config", "from sparring.reports.report import write_report"),
    ],
)
def test_import_order_is_noticed(module: str, line: str) -> None:
    assert len(violations(module, line)) == 1


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("placement.evader", "from sparring.engines.base import Engine"),
        ("placement.evader", "from sparring.engines import base"),
        ("environments.zebra_logic.environment", "import random\nfrom sparring.tasks import Task"),
        ("training", "from sparring.engines.local import LocalEngine"),
        ("", "from sparring.training import train"),
    ],
)
def test_import_order_lets_pass(module: str, line: str) -> None:
    assert violations(module, line) == []


def test_no_module_imports_itself_through_others() -> None:
    graph = {module_of(file): set(imports_of(file.read_text(encoding="utf-8"))) for file in FILES}
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert set(order) >= MODULES


def test_files_are_short() -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for folder in ("src", "tests", "benchmarks")
        for file in (ROOT / folder).rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > 400} == {}
    assert statistics.median(length for name, length in lengths.items() if name.startswith("src")) < 200
