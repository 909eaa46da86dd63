from pathlib import Path

import pytest
from safetensors import SafetensorError

from sparring.cache import cache_root, cached_folder
from sparring.errors import UserError


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(folder: Path) -> None:
    (folder / "weights").write_text("whole", encoding="utf-8")


def test_built_once_and_found_after(root: Path) -> None:
    built: list[Path] = []

    def build(folder: Path) -> None:
        built.append(folder)
        fill(folder)

    first = cached_folder("thing", "abc", build)
    assert first == root / "thing-abc"
    assert cached_folder("thing", "abc", build) == first
    assert (first / "weights").read_text(encoding="utf-8") == "whole"
    assert len(built) == 1
    assert built[0] != first
    cached_folder("thing", "other", build)
    assert len(built) == 2


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(28, "No space left on device"), SafetensorError("full")]
)
def test_failed_build_leaves_nothing(root: Path, error: BaseException) -> None:
    def build(folder: Path) -> None:
        fill(folder)
        raise error

    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else UserError
    with pytest.raises(expected) as caught:
        cached_folder("thing", "abc", build)
    assert list(root.iterdir()) == []
    if expected is UserError:
        assert "SPARRING_CACHE" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_folder_that_another_process_finished_first_is_taken(root: Path) -> None:
    def build(folder: Path) -> None:
        fill(folder)
        (root / "thing-abc").mkdir()
        (root / "thing-abc" / "weights").write_text("theirs", encoding="utf-8")

    found = cached_folder("thing", "abc", build)
    assert (found / "weights").read_text(encoding="utf-8") == "theirs"
    assert list(root.iterdir()) == [found]


def test_place_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match="SPARRING_CACHE"):
        cached_folder("thing", "abc", fill)


def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARRING_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert cache_root() == tmp_path / "shared" / "sparring"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "sparring"
