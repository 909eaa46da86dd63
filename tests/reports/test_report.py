"""The report of a made-up run: what it shows, what it escapes, what it does without."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sparring.config import Recipe, recipe_from
from sparring.errors import UserError
from sparring.reports.episodes import chosen_episodes
from sparring.reports.report import departures, write_report

ENVIRONMENTS = ("phantom_wiki", "ifeval", "zebralogic")
ROLES = ("evader", "planner", "executor")
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def make_recipe(**changes: Any) -> Recipe:
    return recipe_from({"name": "made-up", "environments": {name: {} for name in ENVIRONMENTS}} | changes)


def heldout(skill: float) -> dict[str, Any]:
    """An evaluation in which success falls gradually over difficulty."""
    environments: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(ENVIRONMENTS):
        levels: list[tuple[float, int, int]] = [
            (d, round(20 / (1 + math.exp(7 * (d - skill - 0.1 * index)))), 20) for d in LEVELS
        ]
        n = sum(count for _, _, count in levels)
        environments[name] = {
            "capture": sum(passed for _, passed, _ in levels) / n,
            "n": n,
            "by_difficulty": [[d, passed / count, count] for d, passed, count in levels],
        }
    total = sum(entry["n"] for entry in environments.values())
    capture = sum(entry["capture"] * entry["n"] for entry in environments.values()) / total
    return {"capture": capture, "n": total, "environments": environments}


def training_row(number: int, evaluation: dict[str, Any] | None) -> dict[str, Any]:
    wobble = math.sin(number * 1.7) * 0.08 + math.sin(number * 0.61) * 0.05
    mixed = 0.5 + wobble
    return {
        "round": number,
        "environments": {
            name: {
                "capture": 0.35 + 0.1 * index + 0.1 * (1 - math.exp(-number / 20)) + wobble,
                "difficulty_mean": 0.3 + 0.1 * index + 0.2 * (1 - math.exp(-number / 30)) + wobble / 2,
                "difficulty_spread": 0.12,
                "signature_entropy": 1.4 + wobble,
                "all_fail": (1 - mixed) * 0.6,
                "all_pass": (1 - mixed) * 0.4,
                "mixed": mixed,
                "progress": 0.6,
                "invalid": 1,
                "emitted": 12,
                "errored": 0,
            }
            for index, name in enumerate(ENVIRONMENTS)
        },
        "roles": {
            role: {
                "reward": 0.2,
                "kl": 0.004 * (index + 1) * (1 + wobble),
                "entropy": 1.2 * math.exp(-number / 90) + 0.1 * index + wobble,
                "clip_share": 0.02,
                "tokens": 4000 * (index + 1),
                "grad_norm": 0.5,
                "well_formed": 0.98,
                "truncated": 0.0,
            }
            for index, role in enumerate(ROLES)
        },
        "heldout": evaluation,
        "rollouts": 288 * number,
        "seconds": {"propose": 0.05, "rollouts": 0.3, "update": 0.2} | ({"evaluate": 0.1} if evaluation else {}),
    }


def rollout_row(environment: str, captured: bool, text: str) -> dict[str, Any]:
    return {
        "task": "0123456789abcdef",
        "environment": environment,
        "difficulty": 0.4,
        "signature": "hops=3",
        "statement": "who is the mother of the friend of ann",
        "group": 0,
        "plan": {
            "text": '["friend", "mother"]',
            "stages": ["friend", "mother"],
            "well_formed": True,
            "ids": [1],
            "owners": ["sampled"],
            "log_probs": [-0.1],
        },
        "turns": [
            {
                "stage": stage,
                "text": text,
                "observation": "eve" if stage == 0 else "",
                "progress": 0.5 if stage == 0 or not captured else 1.0,
                "gain": 0.5 if stage == 0 or captured else 0.0,
                "reward": 0.125,
                "well_formed": True,
                "stop": "end",
            }
            for stage in (0, 1)
        ],
        "captured": captured,
        "progress": 1.0 if captured else 0.5,
        "error": None,
        "execution": {"ids": [1], "owners": ["sampled"], "log_probs": [-0.1], "turn": [0]},
    }


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def make_run(folder: Path, rounds: int = 3, text: str = "lookup ann friend", **changes: Any) -> Path:
    """A whole run folder of `rounds` rounds, evaluated before, every tenth round and after."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(make_recipe(rounds=rounds, **changes).toml(), encoding="utf-8")
    before: dict[str, Any] = {"round": 0, "environments": {}, "roles": {}, "heldout": heldout(0.35)}
    rows = [before | {"rollouts": 0, "seconds": {"evaluate": 0.4}}]
    for number in range(1, rounds + 1):
        evaluated = number % 10 == 0 or number == rounds
        skill = 0.35 + 0.3 * (1 - math.exp(-number / 40))
        rows.append(training_row(number, heldout(skill) if evaluated else None))
    write_lines(folder / "metrics.jsonl", rows)
    for number in range(1, rounds + 1):
        episodes = [rollout_row(name, captured, text) for name in ENVIRONMENTS for captured in (True, False, True)]
        write_lines(folder / "rollouts" / f"round_{number:04d}.jsonl", episodes)
    (folder / "versions.json").write_text(json.dumps({"python": "3.11.2", "packages": {"torch": "2.13.0"}}))
    return folder


class Links(HTMLParser):
    """Collects the tags of a page and every address that a browser would load or follow."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href", "action")]


def links_of(page: str) -> Links:
    links = Links()
    links.feed(page)
    return links


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of twenty rounds whose models wrote hostile text, with its report written."""
    folder = make_run(tmp_path_factory.mktemp("runs") / "run", 20, "<script>alert(1)</script> </pre> lookup ann")
    assert write_report(folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="module")
def page(run: Path) -> str:
    return (run / "report.html").read_text(encoding="utf-8")


def test_the_headline_is_the_heldout_success_of_all_tasks_before_and_after(run: Path, page: str) -> None:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    before, after = (f"{100 * row['heldout']['capture']:.1f} %" for row in (rows[0], rows[-1]))
    assert f"{before} → {after}" in page
    assert "n = 360" in page


def test_every_figure_is_drawn(page: str) -> None:
    assert page.count("<svg ") == 9
    assert "not measured" not in page
    for words in ("held-out success", "capture rate", "share of groups", "KL (nats)", "sampled tokens per role"):
        assert words in page


def test_every_environment_and_role_names_a_panel_in_its_own_colour(page: str) -> None:
    for number, name in enumerate(ENVIRONMENTS, 1):
        assert re.search(rf"<text [^>]*var\(--environment-{number}\)[^>]*>{name}</text>", page)
    for number, name in enumerate(ROLES, 1):
        assert re.search(rf"<text [^>]*var\(--role-{number}\)[^>]*>{name}</text>", page)


def test_a_panel_shows_all_of_its_series_when_scales_differ(tmp_path: Path) -> None:
    """The panels share an axis; it must reach the largest value, which is not in the first panel."""
    folder = make_run(tmp_path, environments={"ifeval": {}})
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for row in rows[1:]:
        row["roles"]["executor"]["kl"] = 37.0
    write_lines(folder / "metrics.jsonl", rows)
    drawing = re.search(r'<svg role="img" aria-label="role kl".*?</svg>', write_report(folder).read_text(), re.DOTALL)
    assert drawing is not None
    ticks = [float(tick) for tick in re.findall(r">([\d.]+)</text>", drawing.group())]
    assert max(ticks) >= 30


def test_what_models_wrote_is_escaped(page: str) -> None:
    links = links_of(page)
    assert "script" not in links.tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_environment_names_are_escaped_in_figures_too(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1, environments={"<b>$x$</b>": {}})
    page = write_report(folder).read_text(encoding="utf-8")
    assert "<b>$x$" not in page
    assert "&lt;b&gt;$x$&lt;/b&gt;" in page


def test_the_page_loads_nothing_from_outside(page: str) -> None:
    links = links_of(page)
    assert all(address.startswith("#") for address in links.addresses)
    assert links.tags.isdisjoint({"script", "link", "img", "iframe", "object", "image"})
    assert "http://" not in page
    assert "https://" not in page
    assert "@import" not in page
    assert "url(" not in re.sub(r"url\(#\w+\)", "", page)


def test_ids_of_the_figures_do_not_clash(page: str) -> None:
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_the_same_run_gives_the_same_bytes(run: Path, page: str) -> None:
    assert write_report(run).read_text(encoding="utf-8") == page
    assert not list(run.glob(".*partial*"))


def test_the_last_and_first_round_show_a_captured_and_a_failed_episode_each(page: str) -> None:
    assert "Round 1<" in page
    assert "Round 20<" in page
    assert "Round 2<" not in page
    for word in ("captured", "failed"):
        assert page.count(f'<span class="{word}">') == 2 * len(ENVIRONMENTS)


def test_one_round_is_enough(tmp_path: Path) -> None:
    page = write_report(make_run(tmp_path, 1, environments={"ifeval": {}})).read_text(encoding="utf-8")
    assert page.count("<svg ") == 9


def test_an_evaluation_without_training_is_a_report(tmp_path: Path) -> None:
    page = write_report(make_run(tmp_path, 0, environments={"ifeval": {}})).read_text(encoding="utf-8")
    assert "held-out success, before training" in page
    assert page.count("<svg ") == 3
    assert "not stored" in page


def test_what_was_not_measured_is_said_and_not_drawn(tmp_path: Path) -> None:
    folder = make_run(tmp_path, environments={"ifeval": {}})
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for row in rows:
        row["heldout"] = None
        row["environments"] = {name: dict.fromkeys(entry) for name, entry in row["environments"].items()}
        row["roles"] = {name: dict.fromkeys(entry) for name, entry in row["roles"].items()}
        row["seconds"] = {}
    write_lines(folder / "metrics.jsonl", rows)
    page = write_report(folder).read_text(encoding="utf-8")
    assert "<svg " not in page
    assert "Held-out success: not measured" in page
    assert page.count('<p class="quiet">not measured</p>') == 9


def test_a_null_here_and_there_leaves_the_rest(tmp_path: Path) -> None:
    folder = make_run(tmp_path, environments={"ifeval": {}})
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    rows[2]["environments"]["ifeval"] = dict.fromkeys(rows[2]["environments"]["ifeval"])
    rows[3]["roles"]["evader"]["kl"] = None
    rows[0]["heldout"]["environments"]["ifeval"]["by_difficulty"][2][1] = None
    write_lines(folder / "metrics.jsonl", rows)
    assert write_report(folder).read_text(encoding="utf-8").count("<svg ") == 9


def test_a_folder_without_metrics_is_refused_in_one_line(tmp_path: Path) -> None:
    folder = make_run(tmp_path, environments={"ifeval": {}})
    (folder / "metrics.jsonl").unlink()
    with pytest.raises(UserError, match=r"holds no metrics yet") as refusal:
        write_report(folder)
    assert "\n" not in str(refusal.value)
    assert not (folder / "report.html").exists()


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no run"):
        write_report(tmp_path)


def test_a_torn_rollout_file_is_named_with_its_line(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    path = folder / "rollouts" / "round_0001.jsonl"
    path.write_text(path.read_text()[:-40], encoding="utf-8")
    rows = path.read_text().splitlines()
    path.write_text("\n".join(rows[-1:] + rows[:-1]), encoding="utf-8")
    with pytest.raises(UserError, match=r"round_0001\.jsonl line 1 is not JSON"):
        write_report(folder)


def test_a_lone_surrogate_does_not_cost_the_report(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1, "a \ud800 b", environments={"ifeval": {}})
    assert "<pre>a ? b</pre>" in write_report(folder).read_text(encoding="utf-8")


def test_rollouts_that_errored_are_no_episodes(tmp_path: Path) -> None:
    folder = make_run(tmp_path, 1)
    rows = [rollout_row(name, False, "x") | {"error": "checker died"} for name in ENVIRONMENTS]
    write_lines(folder / "rollouts" / "round_0001.jsonl", rows)
    assert chosen_episodes(folder, ENVIRONMENTS) == []


def test_episodes_are_the_first_of_each_outcome_in_file_order(tmp_path: Path) -> None:
    rows = [rollout_row("ifeval", captured, text) for captured, text in ((True, "1"), (True, "2"), (False, "3"))]
    write_lines(tmp_path / "rollouts" / "round_0007.jsonl", rows)
    chosen = chosen_episodes(tmp_path, ENVIRONMENTS)
    assert [(episode.round, episode.captured, episode.turns[0].text) for episode in chosen] == [
        (7, True, "1"),
        (7, False, "3"),
    ]


def test_the_papers_own_choices_are_no_departure(page: str) -> None:
    assert departures(make_recipe()) == []
    assert "departs from the paper" not in page


def test_departures_from_the_paper_are_shown(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "backbone": {"name": "smollm2"},
        "environments": {"ifeval": {}},
        "method": {"executor_credit": "reward_to_go", "planner_credit": "capture"},
        "placement": {"repetition_scale": 0.25},
    }
    found = {departure.field: (departure.value, departure.paper) for departure in departures(make_recipe(**changes))}
    assert found == {
        "method.executor_credit": ("reward_to_go", "eq5"),
        "method.planner_credit": ("capture", "progress"),
        "placement.repetition_scale": ("0.25", "1.0"),
    }
    page = write_report(make_run(tmp_path, 1, **changes)).read_text(encoding="utf-8")
    assert "This recipe departs from the paper." in page
    assert "<code>reward_to_go</code>" in page
    assert "stands in for" not in page


def test_a_placement_other_than_the_evader_is_a_departure_and_its_repetition_scale_is_not() -> None:
    recipe = make_recipe(placement={"name": "uniform", "repetition_scale": 0.5})
    assert [departure.field for departure in departures(recipe)] == ["placement.name"]


def test_the_micro_backbone_is_called_a_stand_in(page: str) -> None:
    assert "stands in for a pretrained language model" in page
