"""What a suite file may say, and the recipes that its arms come to."""

from pathlib import Path

import pytest

from sparring.errors import UserError
from sparring.lab.command import chosen
from sparring.lab.suite import jobs_of, load_suite, merged

ROOT = Path(__file__).parents[2]
SUITES = sorted((ROOT / "recipes" / "suites").glob("*.toml"))
RECIPE = f'recipe = "{ROOT / "recipes" / "lure-micro.toml"}"'
HEAD = f'name = "s"\ntitle = "S"\n{RECIPE}\nseeds = [1, 2, 3]\nreference = "lure"\n'
ARMS = '[[arms]]\nname = "lure"\n[[arms]]\nname = "uniform"\noverrides = { placement.name = "uniform" }\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_every_suite_of_the_project_is_sound(path: Path) -> None:
    suite, _ = load_suite(path)
    assert suite.name == path.stem
    for job in jobs_of(suite, path):
        assert job.recipe.engine.threads == 1
        assert job.recipe.seed == job.seed


def test_reported_seeds_are_not_those_that_chose_the_settings() -> None:
    suites = {path.stem: load_suite(path)[0] for path in SUITES}
    tuned = {seed for name, suite in suites.items() if name.endswith("-tuning") for seed in suite.seeds}
    reported = {seed for name, suite in suites.items() if not name.endswith("-tuning") for seed in suite.seeds}
    assert tuned
    assert not tuned & reported


def test_overrides_win_from_suite_to_variant_to_arm(tmp_path: Path) -> None:
    text = HEAD.replace("reference", "backbone_seeds = [7, 8]\nreference") + (
        "[overrides]\nrounds = 5\nmethod.group_size = 4\n"
        '[[variants]]\nname = "a"\n[[variants]]\nname = "b"\noverrides = { method.group_size = 6, rounds = 7 }\n'
    )
    suite, path = load_suite(write(tmp_path, text + ARMS))
    jobs = {job.name: job.recipe for job in jobs_of(suite, path)}
    assert len(jobs) == 3 * 2 * 2
    assert (jobs["a/lure/seed-1"].rounds, jobs["a/lure/seed-1"].method.group_size) == (5, 4)
    assert (jobs["b/lure/seed-2"].rounds, jobs["b/lure/seed-2"].method.group_size) == (7, 6)
    assert jobs["b/uniform/seed-3"].placement.name == "uniform"
    assert [jobs[f"a/lure/seed-{seed}"].backbone.seed for seed in (1, 2, 3)] == [7, 8, 7]


def test_merging_changes_neither() -> None:
    data, over = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}
    assert merged(data, over) == {"a": {"b": 1, "c": 4}, "d": {"e": 5}}
    assert (data, over) == ({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "arms is missing"),
        (HEAD.replace('"lure"', '"lurr"') + ARMS, "'lurr' is no arm; the nearest is 'lure'"),
        (HEAD.replace("[1, 2, 3]", "[1, 1]") + ARMS, "seeds holds 1 twice"),
        (HEAD.replace("[1, 2, 3]", "[]") + ARMS, "seeds = []"),
        (HEAD.replace("[1, 2, 3]", "[-1]") + ARMS, "seeds.0 = -1"),
        (HEAD + ARMS + ARMS, "arms holds 'lure' twice"),
        (HEAD + ARMS.replace('"uniform"\n', '"a/b"\n'), "arms.1.name = 'a/b'"),
        (HEAD + "colour = 1\n" + ARMS, "colour = 1"),
    ],
)
def test_a_bad_suite_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as refusal:
        load_suite(write(tmp_path, text))
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_an_arm_that_makes_no_recipe_is_named(tmp_path: Path) -> None:
    suite, path = load_suite(write(tmp_path, HEAD + ARMS.replace("placement.name", "placement.nam")))
    with pytest.raises(UserError, match=r"arm 'uniform': unknown key placement.nam.*nearest key is placement.name"):
        jobs_of(suite, path)


def test_an_unknown_name_lists_the_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError, match=r"no suite tabel1; .*table1-micro"):
        load_suite(Path("tabel1"))
    assert load_suite(Path("table1-micro"))[0].name == "table1-micro"


def test_parts_are_chosen_by_name_and_seed(tmp_path: Path) -> None:
    suite, path = load_suite(write(tmp_path, HEAD + ARMS))
    jobs = jobs_of(suite, path)
    assert [job.name for job in chosen(suite, jobs, ["uniform"], [2, 3])] == ["uniform/seed-2", "uniform/seed-3"]
    assert chosen(suite, jobs, None, None) == jobs
    with pytest.raises(UserError, match="--only unifrom is no arm or variant of s; the nearest is uniform"):
        chosen(suite, jobs, ["unifrom"], None)
    with pytest.raises(UserError, match="--seeds 9 is no seed of s; it has 1, 2, 3"):
        chosen(suite, jobs, None, [9])
