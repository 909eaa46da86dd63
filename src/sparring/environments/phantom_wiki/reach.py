"""Whom relations reach: worked out from the facts by the table of relations, person by person, and kept.

A question asks for few people of a large universe, so nothing is worked out before it is asked for.
Nothing is walked twice, so a chain over sets of people is as short as its hops, however many ways lead there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sparring.environments.phantom_wiki.relations import RELATION_TABLE

Names = tuple[str, ...]


class Reach(dict[str, Mapping[str, Names]]):
    """Each relation's people by person; relations other than facts come in when first asked."""

    def __init__(self, facts: Mapping[str, Mapping[str, Iterable[str]]], women: frozenset[str]) -> None:
        super().__init__()
        for fact, stated in facts.items():
            self[fact] = _Stated({name: tuple(sorted(set(others))) for name, others in stated.items()})
        self._women = women

    def __missing__(self, name: str) -> Mapping[str, Names]:
        relation = RELATION_TABLE[name]
        path = [self[nearer] for nearer in relation.path]
        if relation.gender is not None:
            self[name] = _Narrowed(path[0], self._women, is_women=relation.gender == "female")
        else:
            self[name] = _Walked(path, not_oneself=relation.not_oneself)
        return self[name]


class _Stated(dict[str, Names]):
    """Whom each person reaches by a fact; nobody where nothing is stated."""

    def __missing__(self, name: str) -> Names:
        return ()


class _Narrowed(dict[str, Names]):
    """Whom each person reaches by a relation kept to women or to men: worked out when first asked, then kept."""

    def __init__(self, nearer: Mapping[str, Names], women: frozenset[str], *, is_women: bool) -> None:
        super().__init__()
        self._nearer = nearer
        self._women = women
        self._is_women = is_women

    def __missing__(self, name: str) -> Names:
        reached = self._nearer[name]
        if reached:
            women, is_women = self._women, self._is_women
            reached = tuple([other for other in reached if (other in women) is is_women])
        self[name] = reached
        return reached


class _Walked(dict[str, Names]):
    """Whom each person reaches by a path, one relation after the other: worked out when first asked, then kept."""

    def __init__(self, path: Sequence[Mapping[str, Names]], *, not_oneself: bool) -> None:
        super().__init__()
        self._path = path
        self._not_oneself = not_oneself

    def __missing__(self, name: str) -> Names:
        first, *others = self._path
        reached: Iterable[str] = first[name]
        for step in others:
            reached = set().union(*map(step.__getitem__, reached))
        found = tuple(sorted(reached))
        if self._not_oneself and name in found:
            found = tuple([other for other in found if other != name])
        self[name] = found
        return found
