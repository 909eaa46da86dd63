"""The report of a made-up run: what it shows, what it escapes, what it does without."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.made_up_run import ENVIRONMENTS, ROLES, make_recipe, make_run, rollout_row, write_lines

from sparring.reports.episodes import chosen_episodes
from sparring.reports.report import departures, write_report


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


def test_training_tasks_that_are_held_out_too_are_not_hidden(tmp_path: Path, page: str) -> None:
    folder = make_run(tmp_path, 2)
    rows = [{"environment": "ifeval", "task": key, "held_out": key == "b"} for key in "aabc"]
    write_lines(folder / "emissions" / "round_0002.jsonl", rows)
    write_lines(folder / "emissions" / "round_0003.jsonl", [rows[2] | {"task": "of a round that was cut"}])
    shown = write_report(folder).read_text(encoding="utf-8")
    assert "held out too, of all training tasks of different content: ifeval 1 of 3.</p>" in shown
    assert "held out too" not in page  # whose emissions are not there


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


def test_the_last_round_is_the_greatest_number(tmp_path: Path) -> None:
    for number in (1, 9_999, 10_000):
        write_lines(tmp_path / "rollouts" / f"round_{number:04d}.jsonl", [rollout_row("ifeval", True, "x")])
    assert [episode.round for episode in chosen_episodes(tmp_path, ENVIRONMENTS)] == [1, 10_000]


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
    assert "This recipe departs" not in page


def test_every_departure_from_the_defaults_is_shown(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "backbone": {"name": "smollm2"},
        "environments": {"ifeval": {}},
        "method": {"executor_credit": "reward_to_go", "planner_credit": "capture", "group_size": 4},
        "placement": {"name": "uniform", "slots": 3},
        "objective": {"kl_estimator": "exact", "kl_weight": 0.02},
        "roles": {"planner": {"learning_rate": 1e-4}},
    }
    found = {departure.field: (departure.value, departure.default) for departure in departures(make_recipe(**changes))}
    assert found == {
        "method.executor_credit": ("reward_to_go", "eq5"),
        "method.group_size": ("4", "8"),
        "method.planner_credit": ("capture", "progress"),
        "placement.name": ("uniform", "evader"),
        "placement.slots": ("3", "8"),
        "objective.kl_estimator": ("exact", "k3"),
        "objective.kl_weight": ("0.02", "0.1"),
        "roles.planner.learning_rate": ("0.0001", "5e-06"),
    }
    page = write_report(make_run(tmp_path, 1, **changes)).read_text(encoding="utf-8")
    assert "This recipe departs from the defaults" in page
    assert "<code>roles.planner.learning_rate</code> is <code>0.0001</code>" in page
    assert "stands in for" not in page


def test_the_micro_backbone_is_called_a_stand_in(page: str) -> None:
    assert "stands in for a pretrained language model" in page
