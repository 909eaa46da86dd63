"""Every relation of PhantomWiki, in one table.

A relation is a stated fact (parent, child, friend), or a path of nearer relations (a niece is the
daughter of a sibling), or a nearer relation kept to one gender (a sister is a female sibling).

Blood rules: siblings share at least one parent, and the spouse of an aunt, uncle or sibling is no
relative. In-laws are reached by marriage: a parent, sister or brother of a spouse, the spouse of a child.

Weights are those of the official difficulty: 1 for what articles state or one article shows, one more
for each further article to be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

# Marriage is a fact that paths walk; nobody asks for a spouse by this word, but for a wife or a husband.
SPOUSE = "spouse"


@dataclass(frozen=True)
class Relation:
    """One row of the table.

    path: the nearer relations that lead there, one after the other; none for a fact.
    gender: keeps what the path reaches to women or men.
    not_oneself: the path may lead back to where it began, which does not count.
    """

    name: str
    plural: str
    weight: int
    path: tuple[str, ...] = ()
    gender: str | None = None
    not_oneself: bool = False

    @cached_property
    def predicate(self) -> str:
        """The relation's name in official queries and facts."""
        return self.name.replace("-", "_").replace(" ", "_")


def _path(weight: int, name: str, plural: str, *path: str, not_oneself: bool = False) -> Relation:
    return Relation(name, plural, weight, path, not_oneself=not_oneself)


def _women(weight: int, name: str, plural: str, among: str) -> Relation:
    return Relation(name, plural, weight, (among,), gender="female")


def _men(weight: int, name: str, plural: str, among: str) -> Relation:
    return Relation(name, plural, weight, (among,), gender="male")


_ROWS = (
    _path(1, "parent", "parents"),
    _women(1, "mother", "mothers", "parent"),
    _men(1, "father", "fathers", "parent"),
    _path(1, "child", "children"),
    _women(1, "daughter", "daughters", "child"),
    _men(1, "son", "sons", "child"),
    _path(1, "sibling", "siblings", "parent", "child", not_oneself=True),
    _women(1, "sister", "sisters", "sibling"),
    _men(1, "brother", "brothers", "sibling"),
    _women(1, "wife", "wives", SPOUSE),
    _men(1, "husband", "husbands", SPOUSE),
    _path(1, "friend", "friends"),
    _path(2, "aunt", "aunts", "parent", "sister"),
    _path(2, "uncle", "uncles", "parent", "brother"),
    _path(2, "niece", "nieces", "sibling", "daughter"),
    _path(2, "nephew", "nephews", "sibling", "son"),
    _path(2, "grandparent", "grandparents", "parent", "parent"),
    _women(2, "grandmother", "grandmothers", "grandparent"),
    _men(2, "grandfather", "grandfathers", "grandparent"),
    _path(2, "grandchild", "grandchildren", "child", "child"),
    _women(2, "granddaughter", "granddaughters", "grandchild"),
    _men(2, "grandson", "grandsons", "grandchild"),
    _path(2, "mother-in-law", "mothers-in-law", SPOUSE, "mother"),
    _path(2, "father-in-law", "fathers-in-law", SPOUSE, "father"),
    _path(2, "sister-in-law", "sisters-in-law", SPOUSE, "sister"),
    _path(2, "brother-in-law", "brothers-in-law", SPOUSE, "brother"),
    _path(2, "daughter-in-law", "daughters-in-law", "child", "wife"),
    _path(2, "son-in-law", "sons-in-law", "child", "husband"),
    _path(3, "great-aunt", "great-aunts", "grandparent", "sister"),
    _path(3, "great-uncle", "great-uncles", "grandparent", "brother"),
    _path(3, "great-grandparent", "great-grandparents", "grandparent", "parent"),
    _women(3, "great-grandmother", "great-grandmothers", "great-grandparent"),
    _men(3, "great-grandfather", "great-grandfathers", "great-grandparent"),
    _path(3, "great-grandchild", "great-grandchildren", "child", "grandchild"),
    _women(3, "great-granddaughter", "great-granddaughters", "great-grandchild"),
    _men(3, "great-grandson", "great-grandsons", "great-grandchild"),
    _path(3, "cousin", "cousins", "parent", "sibling", "child", not_oneself=True),
    _women(3, "female cousin", "female cousins", "cousin"),
    _men(3, "male cousin", "male cousins", "cousin"),
    _path(4, "second aunt", "second aunts", "great-grandparent", "sister"),
    _path(4, "second uncle", "second uncles", "great-grandparent", "brother"),
    _path(
        4,
        "female first cousin once removed",
        "female first cousins once removed",
        "cousin",
        "daughter",
        not_oneself=True,
    ),
    _path(4, "male first cousin once removed", "male first cousins once removed", "cousin", "son", not_oneself=True),
    _path(5, "female second cousin", "female second cousins", "parent", "cousin", "daughter", not_oneself=True),
    _path(5, "male second cousin", "male second cousins", "parent", "cousin", "son", not_oneself=True),
)

RELATION_TABLE: dict[str, Relation] = {relation.name: relation for relation in _ROWS}
