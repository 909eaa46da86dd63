"""Scores of answer sets: the official reading of a reply, ours, and both benchmark cards and held-out rollouts."""

import json
from pathlib import Path
from typing import Any

import pytest

from sparring.environments.phantom_wiki.environment import PhantomWiki, PhantomWikiSettings
from sparring.errors import UserError
from sparring.evaluation.benchmarks import BENCHMARKS, PromptBenchmark
from sparring.evaluation.heldout_replay import heldout_metrics, heldout_set
from sparring.evaluation.phantom_wiki import phantom_wiki_prompt, score_phantom_wiki, set_score
from sparring.evaluation.runner import score
from sparring.profiles import Profile
from sparring.tasks import PromptPack

CARDS = ("phantomwiki_size25", "phantomwiki_size25_easy", "phantomwiki_size50")
OFFICIAL, FIXED = Profile


def question(*answers: str, name: str = "q", difficulty: int = 3) -> dict[str, Any]:
    return {"id": name, "question": "Who is the aunt of Ann Lee?", "answers": list(answers), "difficulty": difficulty}


def f1_of(reply: str, *answers: str, profile: Profile) -> float | None:
    return score_phantom_wiki({"q": reply}, [question(*answers)], profile).f1


@pytest.mark.parametrize(
    ("given", "right", "exact_match", "precision", "recall", "f1"),
    [
        ("ab", "ab", True, 1, 1, 1),
        ("a", "ab", False, 1, 1 / 2, 2 / 3),
        ("abc", "ab", False, 2 / 3, 1, 4 / 5),
        ("c", "ab", False, 0, 0, 0),
        ("", "ab", False, 0, 0, 0),
    ],
)
def test_set_scores(given: str, right: str, exact_match: bool, precision: float, recall: float, f1: float) -> None:
    scored = set_score(set(given), set(right))
    assert (scored.exact_match, scored.precision, scored.recall, scored.f1) == (exact_match, precision, recall, f1)


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(
    "reply",
    [
        "Answer: Ann Lee, Bob Lee",
        "bob lee,ANN LEE",
        "Answer:Bob Lee, Ann Lee, ann lee",
        "First I guess.\nAnswer: Eve Lee\nNo, rather this.\nAnswer: Bob Lee,  Ann Lee \n",
        "<think>Answer: Eve Lee</think>Answer: Ann Lee, Bob Lee",
    ],
)
def test_the_answers_of_both_profiles(reply: str, profile: Profile) -> None:
    assert f1_of(reply, "Ann Lee", "Bob Lee", profile=profile) == 1.0


@pytest.mark.parametrize(
    ("reply", "official"),
    [
        # Worked out by hand from the reference: split at commas, strip, lower, set.
        ("Answer: Ann Lee, Bob Lee.", 1 / 2),
        ("Answer: Ann Lee and Bob Lee", 0),
        ("Answer: Ann Lee, and Bob Lee", 1 / 2),
        ("Answer: Ann Lee, Bob Lee,", 4 / 5),
        ("Answer: Ann  Lee, Bob Lee", 1 / 2),
        ("**Answer:** Ann Lee, Bob Lee", 1 / 2),
        ("answer: Ann Lee, Bob Lee", 1 / 2),
        ("Answer:\n- Ann Lee\n- Bob Lee", 0),
        ("Answer:\n1. Ann Lee\n2) *Bob Lee*", 0),
        ("Answer: Ann Lee; Bob Lee", 0),
        ("Answer: Ann Lee, Bob Lee\n\nThey are sisters of Rosa.", 1 / 2),
    ],
)
def test_where_the_profiles_differ(reply: str, official: float) -> None:
    assert f1_of(reply, "Ann Lee", "Bob Lee", profile=OFFICIAL) == official
    assert f1_of(reply, "Ann Lee", "Bob Lee", profile=FIXED) == 1.0


@pytest.mark.parametrize("profile", Profile)
def test_counts_are_answers_too(profile: Profile) -> None:
    assert f1_of("Answer: 3, 1", "1", "3", profile=profile) == 1.0
    assert f1_of("Answer: 3", "1", "3", profile=profile) == pytest.approx(2 / 3)
    assert f1_of("Answer: 13", "1", "3", profile=profile) == 0.0


def test_and_inside_a_right_answer_parts_nothing() -> None:
    answers = ("health and safety adviser", "judge")
    for reply in ("judge and health and safety adviser", "health and safety adviser and judge"):
        assert f1_of(f"Answer: {reply}", *answers, profile=FIXED) == 1.0
    assert f1_of("Answer: health and safety adviser and nurse", *answers, profile=FIXED) == 1 / 2


@pytest.mark.parametrize(
    ("reply", "no_answer", "format_error"),
    [
        ("Answer: Ann Lee", 0, 0),
        ("Ann Lee", 0, 1),
        ("", 1, 0),
        (" \n", 1, 0),
        ("I do not know.\nAnswer: ", 1, 0),
        ("<think>Answer: Ann Lee", 1, 0),
        ("<think>so</think>", 1, 0),
    ],
)
@pytest.mark.parametrize("profile", Profile)
def test_what_is_no_answer_and_what_lacks_its_form(
    reply: str, no_answer: int, format_error: int, profile: Profile
) -> None:
    scores = score_phantom_wiki({"q": reply}, [question("Ann Lee")], profile)
    assert (scores.no_answer, scores.format_error) == (no_answer, format_error)
    assert scores.exact_match == 1.0 - no_answer


def test_means_bands_and_both_profiles_at_once() -> None:
    questions = [
        question("Ann Lee", name="one", difficulty=1),
        question("Ann Lee", "Bob Lee", name="two", difficulty=5),
        question("4", name="three", difficulty=6),
        question("5", name="four", difficulty=20),
        question("6", name="unanswered", difficulty=7),
    ]
    replies = {"one": "Answer: Ann Lee.", "two": "Answer: Ann Lee", "three": "Answer: 4", "four": "Answer: 5"}
    scores = score_phantom_wiki(replies, questions, OFFICIAL)
    assert (scores.n, scores.without_reply) == (4, 1)
    assert scores.exact_match == 2 / 4
    assert scores.precision == 3 / 4
    assert scores.recall == (0 + 1 / 2 + 1 + 1) / 4
    assert scores.f1 == pytest.approx((0 + 2 / 3 + 1 + 1) / 4)
    assert scores.exact_match_by_profile == {OFFICIAL: 2 / 4, FIXED: 3 / 4}
    bands = {name: [each.id for each in band] for name, band in scores.by_difficulty.items()}
    assert bands == {"1-5": ["one", "two"], "6-10": ["three"], "16-20": ["four"]}


def test_nothing_answered_has_no_rate() -> None:
    scores = score_phantom_wiki({}, [question("Ann Lee")], OFFICIAL)
    assert (scores.n, scores.without_reply, scores.exact_match, scores.f1) == (0, 1, None, None)


def test_a_question_without_answers_is_refused() -> None:
    with pytest.raises(UserError, match=r"question q has answers = \[\]"):
        score_phantom_wiki({"q": "Answer: Ann"}, [question()], OFFICIAL)


def test_the_prompt_shows_the_articles_and_the_question_and_no_answer() -> None:
    prompt = phantom_wiki_prompt(question("Zoe Ray"), [{"article": "# Ann Lee\n"}, {"article": "# Bob Lee\n\n"}])
    assert "# Ann Lee\n\n# Bob Lee\n\n" in prompt
    assert "Question: Who is the aunt of Ann Lee?" in prompt
    assert "Zoe Ray" not in prompt


def card(name: str) -> PromptBenchmark:
    found = BENCHMARKS[name]
    assert isinstance(found, PromptBenchmark)
    return found


@pytest.mark.official_data
@pytest.mark.parametrize(("name", "count", "people"), list(zip(CARDS, (177, 98, 175), (25, 25, 50), strict=True)))
def test_official_sets_are_whole_and_their_own_answers_score_one(
    name: str, count: int, people: int, tmp_path: Path
) -> None:
    rows, prompts = card(name).rows(), card(name).prompts()
    assert list(prompts) == list(rows)
    assert len(rows) == count
    assert all(
        prompt.count("## Family") == people and rows[each]["question"] in prompt for each, prompt in prompts.items()
    )
    lines = [{"id": each, "text": f"Answer: {', '.join(row['answers'])}", "stop": "end"} for each, row in rows.items()]
    lines[0]["text"], lines[1]["stop"] = "", "length"
    file = tmp_path / "replies.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for profile in Profile:
        scores = score(file, name, profile)
        assert tuple(scores["metrics"]) == card(name).metrics
        assert all(entry["rate"] == pytest.approx((count - 1) / count) for entry in scores["metrics"].values())
        assert (scores["n"], scores["without_reply"], scores["no_answer"], scores["truncated"]) == (count, 0, 1, 1)
        assert sum(entry["n"] for entry in scores["exact_match_by_difficulty"].values()) == count


def test_a_missing_articles_file_is_refused_before_anything_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "phantomwiki_size25.jsonl").write_text(json.dumps(question("Ann Lee")) + "\n")
    monkeypatch.setenv("SPARRING_DATA", str(tmp_path))
    with pytest.raises(UserError, match=r"phantomwiki_size25_articles\.jsonl does not exist"):
        card("phantomwiki_size25").rows()


def test_the_answer_of_a_held_out_rollout_is_scored_beside_its_chain(tmp_path: Path) -> None:
    environment = PhantomWiki(PhantomWikiSettings(population=(20, 30), unique=False), PromptPack.CHAT)
    tasks = heldout_set(environment, 6, 20)

    def line(name: str, turns: list[str]) -> dict[str, Any]:
        return {
            "id": name,
            "text": "",
            "environment": environment.name,
            "pack": environment.pack.value,
            "settings": environment.settings.model_dump(mode="json"),
            "task": environment.content_key(tasks[name].task),
            "turns": turns,
            "error": None,
        }

    two_hops = [name for name in tasks if name.startswith("phantom_wiki-0.20")]
    solved, guessed, halfway, silent = two_hops[:4]
    several = next(name for name in two_hops[4:] if len(tasks[name].task.secret.chain.hops[-1]) > 1)
    gold = {name: list(tasks[name].task.secret.chain.hops[-1]) for name in two_hops}
    one, half = gold[several][0], len(gold[several])
    lines = [
        line(solved, list(environment.solve(tasks[solved].task).turns)),
        # The right answer after a wrong first hop: no capture, but an exact match.
        line(guessed, [json.dumps({"claim": "Nobody"}), json.dumps({"claim": gold[guessed], "submit": True})]),
        # The first hop is the answer that is left.
        line(halfway, list(environment.solve(tasks[halfway].task).turns)[:2]),
        line(silent, ["hm"]),
        line(several, [json.dumps({"claim": "Nobody"}), json.dumps({"claim": one, "submit": True})]),
    ]
    file = tmp_path / "rollouts.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    metrics = score(file, "phantom_wiki", "official")["metrics"]
    assert tuple(metrics) == heldout_metrics("phantom_wiki") == BENCHMARKS["phantom_wiki"].metrics
    assert metrics["capture"]["rate"] == 1 / 5
    assert metrics["answer_exact_match"]["rate"] == 2 / 5
    assert metrics["answer_f1"]["rate"] == pytest.approx((1 + 1 + 0 + 0 + 2 / (1 + half)) / 5)
    assert metrics["answer_f1"]["low"] < metrics["answer_f1"]["rate"] < metrics["answer_f1"]["high"]


def test_other_environments_have_no_answer_sets() -> None:
    assert heldout_metrics("zebra_logic") == ("capture", "progress")
