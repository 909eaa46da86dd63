"""Articles in PhantomWiki's shape, and the facts that they state.

Three things differ from the official articles, in form only: people are listed in alphabetical order
(there in the order of the database), a section that would be empty is left out with its heading, and
the words for one and for several come from the one table of relations.
"""

from __future__ import annotations

from collections.abc import Iterator

from sparring.environments.phantom_wiki.kinship import Hop, Universe
from sparring.environments.phantom_wiki.relations import RELATION_TABLE

# The attributes by the names that they have in official facts and queries; an article states the gender too.
ATTRIBUTE_PREDICATES = {"dob": "date of birth", "job": "occupation", "hobby": "hobby"}


def article(universe: Universe, name: str) -> str:
    """What is known of a person: immediate family, friends, attributes."""
    person = universe.people[name]
    stated = universe.stated(name)
    friends = stated.pop("friend", ())
    sections = [f"# {name}\n"]
    if stated:
        family = [_statement(relation, name, others) for relation, others in stated.items()]
        sections.append("## Family\n" + "\n".join(family) + "\n")
    if friends:
        sections.append(f"## Friends\n{_statement('friend', name, friends)}\n")
    sections.append(
        f"## Attributes\n"
        f"The date of birth of {name} is {person.date_of_birth}.\n"
        f"The occupation of {name} is {person.job}.\n"
        f"The hobby of {name} is {person.hobby}.\n"
        f"The gender of {name} is {person.gender}.\n"
    )
    return "\n".join(sections)


def _statement(relation: str, name: str, others: Hop) -> str:
    if len(others) == 1:
        return f"The {relation} of {name} is {others[0]}."
    return f"The {RELATION_TABLE[relation].plural} of {name} are {', '.join(others)}."


def facts(universe: Universe, name: str) -> Iterator[tuple[str, str]]:
    """What a person's article states, in its order: a predicate of the official facts, and a name or value."""
    for relation, others in universe.stated(name).items():
        for other in others:
            yield RELATION_TABLE[relation].predicate, other
    attributes = universe.people[name].attributes
    for predicate, attribute in ATTRIBUTE_PREDICATES.items():
        yield predicate, attributes[attribute]
    yield "gender", universe.people[name].gender
