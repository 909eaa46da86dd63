"""`make demo` on a machine where the installation goes wrong first; Python and pip are scripts that play along."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VENV = """#!/bin/sh
case "$1" in
-c) exit {too_old} ;;
-m) mkdir -p .venv/bin && cp "$0" .venv/bin/python && cp pip .venv/bin/pip && touch .venv/new ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    write_script(tmp_path / "good", VENV.format(too_old=0))
    write_script(tmp_path / "old", VENV.format(too_old=1))
    write_script(tmp_path / "pip", "#!/bin/sh\nexit 0\n")
    return tmp_path


def write_script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def install(project: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Only the installation, which every target of the Makefile waits for."""
    command = ["make", "-s", f"PYTHON={python}", ".venv/installed"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True)


@pytest.mark.parametrize("python", ["./old", "./none"])
def test_an_old_or_absent_python_is_one_line_and_another_works_the_next_time(project: Path, python: str) -> None:
    refused = install(project, python)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[0] == (
        f"PYTHON = {python} is no Python of 3.11 or later; give one: make PYTHON=/path/to/python3.11"
    )
    assert not (project / ".venv").exists()
    assert install(project, "./good").returncode == 0
    assert (project / ".venv" / "installed").exists()


def test_a_failed_installation_leaves_no_venv(project: Path) -> None:
    write_script(project / "pip", "#!/bin/sh\nexit 1\n")
    assert install(project, "./good").returncode == 2
    assert not (project / ".venv").exists()


def test_a_killed_installation_is_begun_anew(project: Path) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(project / "old", project / ".venv" / "bin" / "python")
    (project / ".venv" / "unfinished").touch()
    assert install(project, "./good").returncode == 0
    assert not (project / ".venv" / "unfinished").exists()


def test_a_venv_that_was_there_is_used_and_kept(project: Path) -> None:
    install(project, "./good")
    (project / ".venv" / "installed").unlink()
    (project / ".venv" / "new").unlink()
    write_script(project / ".venv" / "bin" / "pip", "#!/bin/sh\nexit 1\n")
    assert install(project, "./none").returncode == 2
    assert (project / ".venv" / "bin" / "python").exists()
    assert not (project / ".venv" / "new").exists()
