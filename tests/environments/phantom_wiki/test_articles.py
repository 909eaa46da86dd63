"""Articles read as the official ones do and state what the universe says."""

import re

import pytest

from sparring.environments.phantom_wiki.articles import article, facts
from sparring.environments.phantom_wiki.facts import read_base_facts
from sparring.environments.phantom_wiki.kinship import Person, Universe
from sparring.environments.phantom_wiki.official import read_article_rows
from sparring.environments.phantom_wiki.relations import RELATION_TABLE
from sparring.evaluation.benchmarks import data_folder

DATA = data_folder()


def universe() -> Universe:
    people = {
        name: Person(name, gender, f"17{index:02d}-03-04", "baker", "chess")
        for index, (name, gender) in enumerate(
            {"Ann Hale": "female", "Ben Hale": "male", "Rosa Hale": "female", "Igor Hale": "male", "Hugo Marsh": "male"}
            .items()
        )
    }  # fmt: skip
    couple = ("Rosa Hale", "Igor Hale")
    friendships = (("Hugo Marsh", "Ann Hale"), ("Rosa Hale", "Hugo Marsh"))
    return Universe(people, {"Ann Hale": couple, "Ben Hale": couple}, (couple,), friendships)


def test_an_article_in_full() -> None:
    assert article(universe(), "Ann Hale") == (
        "# Ann Hale\n"
        "\n"
        "## Family\n"
        "The brother of Ann Hale is Ben Hale.\n"
        "The mother of Ann Hale is Rosa Hale.\n"
        "The father of Ann Hale is Igor Hale.\n"
        "\n"
        "## Friends\n"
        "The friend of Ann Hale is Hugo Marsh.\n"
        "\n"
        "## Attributes\n"
        "The date of birth of Ann Hale is 1700-03-04.\n"
        "The occupation of Ann Hale is baker.\n"
        "The hobby of Ann Hale is chess.\n"
        "The gender of Ann Hale is female.\n"
    )


def test_several_stand_in_one_sentence_with_the_plural() -> None:
    assert "The friends of Hugo Marsh are Ann Hale, Rosa Hale.\n" in article(universe(), "Hugo Marsh")


def test_no_heading_stands_over_nothing() -> None:
    assert "## Friends" not in article(universe(), "Ben Hale")
    assert "## Family" not in article(universe(), "Hugo Marsh")
    assert article(universe(), "Hugo Marsh").startswith("# Hugo Marsh\n\n## Friends\n")


def test_facts_are_what_the_article_states_in_its_order() -> None:
    assert list(facts(universe(), "Rosa Hale")) == [
        ("son", "Ben Hale"),
        ("daughter", "Ann Hale"),
        ("husband", "Igor Hale"),
        ("friend", "Hugo Marsh"),
        ("dob", "1702-03-04"),
        ("job", "baker"),
        ("hobby", "chess"),
        ("gender", "female"),
    ]


def test_what_is_stated_is_what_the_relations_reach() -> None:
    world = universe()
    for name, relations in world.related.items():
        assert relations == world.stated(name)
        for relation in RELATION_TABLE:
            if relation in relations:
                assert relations[relation] == world.reach[relation][name]
    assert world.related["Igor Hale"] == {
        "son": ("Ben Hale",),
        "daughter": ("Ann Hale",),
        "wife": ("Rosa Hale",),
    }


def comparable(text: str) -> list[str]:
    """An article's lines without blank ones and headings over nothing, the names of each line sorted."""
    text = re.sub(r"## \w+\n\n(?=\n)", "", text)
    lines = []
    for line in filter(None, text.splitlines()):
        head, verb, names = line.partition(" are ")
        lines.append(f"{head}{verb}{', '.join(sorted(names.rstrip('.').split(', ')))}" if verb else line)
    return lines


@pytest.mark.official_data
@pytest.mark.parametrize("size", [25, 50])
def test_articles_and_facts_rebuilt_from_base_facts_are_the_official_ones(size: int) -> None:
    world = read_base_facts(DATA / f"phantomwiki_size{size}_base_facts.pl")
    rows = read_article_rows(DATA / f"phantomwiki_size{size}_articles.jsonl")
    assert len(rows) == len(world.people) == size
    for row in rows:
        assert comparable(article(world, row.title)) == comparable(row.article)
        ours = [f'{predicate}("{row.title}", "{value}").' for predicate, value in facts(world, row.title)]
        assert sorted(ours) == sorted(row.facts)
        # The same order, but for the names of one sentence.
        assert [fact.split("(")[0] for fact in ours] == [fact.split("(")[0] for fact in row.facts]
