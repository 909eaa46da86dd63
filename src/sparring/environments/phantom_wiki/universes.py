"""Growing the people of a universe, still numbers: family trees, births, names, friendships.

A tree grows from one person, down through marriages and children and up through parents, so that both
sides of a marriage may have a family. A spouse is always someone new: nobody marries within a tree.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sparring.environments.phantom_wiki.names import FIRST_NAMES, SURNAMES
from sparring.errors import UserError

# Birth years: of the first person of a tree, and of those who may still have parents or children of their own.
# So a tree spans six or seven generations, as the official ones do.
FIRST_YEARS = (1735, 1765)
PARENTS_FROM, CHILDREN_UNTIL = 1700, 1800
SPOUSES_APART = 5
# How many years a child is born after the younger parent. Two years between the slots, so that brothers and
# sisters are more than nine months apart; nobody becomes a parent before 18 or after 45.
BIRTH_SLOTS = range(19, 40, 2)
# A surname is given to no more people of a gender, so that drawing first names until a new one comes stays short.
NAMESAKES_AT_MOST = min(map(len, FIRST_NAMES.values())) // 2


@dataclass
class Families:
    """People by number, and the facts of blood and marriage. A line is a surname before it is chosen."""

    genders: list[str] = field(default_factory=list)
    birth_years: list[int] = field(default_factory=list)
    birth_lines: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    parents: dict[int, tuple[int, int]] = field(default_factory=dict)
    marriages: list[tuple[int, int]] = field(default_factory=list)
    line_count: int = 0

    def grow_tree(self, size: int, maximum_branching: int, rng: random.Random) -> None:
        """Add a family tree of at most `size` people; it ends early when there is nobody left to grow from.

        maximum_branching: the most children of a couple, as far as their years allow.
        """
        end = len(self.genders) + size
        branching = min(maximum_branching, len(BIRTH_SLOTS))
        first = self._add(rng.choice(("female", "male")), rng.randint(*FIRST_YEARS), self._new_line())
        # Where the tree may still grow: up from who has no parents, down from who has no spouse.
        ends = [(first, True), (first, False)]
        while ends and (room := end - len(self.genders)) > 0:
            index = rng.randrange(len(ends))
            ends[index], ends[-1] = ends[-1], ends[index]
            person, is_up = ends.pop()
            if is_up:
                if room < 2 or self.birth_years[person] < PARENTS_FROM:
                    continue
                slot = rng.choice(BIRTH_SLOTS)
                couple = self._add_parents(person, slot, rng)
                slots = [other for other in BIRTH_SLOTS if other != slot]
                count = min(rng.randint(0, branching - 1), room - 2)
                ends += [(parent, True) for parent in couple]
            else:
                if self.birth_years[person] > CHILDREN_UNTIL:
                    continue
                couple = person, self._add_spouse(person, rng)
                slots = list(BIRTH_SLOTS)
                count = min(rng.randint(0, branching), room - 1)
                ends.append((couple[1], True))
            ends += [(self._add_child(couple, slot, rng), False) for slot in sorted(rng.sample(slots, count))]

    def _new_line(self) -> int:
        self.line_count += 1
        return self.line_count - 1

    def _add(self, gender: str, birth_year: int, line: int) -> int:
        self.genders.append(gender)
        self.birth_years.append(birth_year)
        self.birth_lines.append(line)
        self.lines.append(line)
        return len(self.genders) - 1

    def _add_spouse(self, person: int, rng: random.Random) -> int:
        """Someone from outside; the wife takes the husband's name."""
        gender = "male" if self.genders[person] == "female" else "female"
        spouse = self._add(gender, self.birth_years[person] + _apart(rng), self._new_line())
        self._marry(person, spouse)
        return spouse

    def _add_parents(self, person: int, slot: int, rng: random.Random) -> tuple[int, int]:
        younger = self.birth_years[person] - slot
        years = [younger, younger - abs(_apart(rng))]
        rng.shuffle(years)
        mother = self._add("female", years[0], self._new_line())
        father = self._add("male", years[1], self.birth_lines[person])
        self._marry(mother, father)
        self.parents[person] = (mother, father)
        return mother, father

    def _add_child(self, couple: tuple[int, int], slot: int, rng: random.Random) -> int:
        birth_year = max(self.birth_years[parent] for parent in couple) + slot
        child = self._add(rng.choice(("female", "male")), birth_year, self.lines[couple[0]])
        self.parents[child] = couple
        return child

    def _marry(self, one: int, other: int) -> None:
        wife, husband = (one, other) if self.genders[one] == "female" else (other, one)
        self.lines[wife] = self.lines[husband]
        self.marriages.append((one, other))


def _apart(rng: random.Random) -> int:
    return rng.randint(-SPOUSES_APART, SPOUSES_APART)


def full_names(families: Families, rng: random.Random) -> list[str]:
    """A first name and the surname of the line for each person, no two alike.

    Raises UserError when a line is too long for the first names there are.
    """
    sizes = Counter(zip(families.lines, families.genders, strict=True))
    surnames = rng.sample(SURNAMES, min(families.line_count, len(SURNAMES)))
    used: Counter[tuple[str, str]] = Counter()
    surname_of: dict[int, str] = {}
    for position, line in enumerate(dict.fromkeys(families.lines)):
        turned = (surnames[(position + turn) % len(surnames)] for turn in range(len(surnames)))
        fitting = (
            surname
            for surname in turned
            if all(used[surname, gender] + sizes[line, gender] <= NAMESAKES_AT_MOST for gender in FIRST_NAMES)
        )
        surname = surname_of[line] = next(fitting, "")
        if not surname:
            raise UserError(
                f"a universe of {len(families.genders)} people has no surname left for a family of "
                f"{sizes.total()}; lower population or tree_size"
            )
        used.update({(surname, gender): sizes[line, gender] for gender in FIRST_NAMES})
    names: dict[str, None] = {}
    for gender, line in zip(families.genders, families.lines, strict=True):
        while (name := f"{rng.choice(FIRST_NAMES[gender])} {surname_of[line]}") in names:
            pass
        names[name] = None
    return list(names)


def friendships(population: int, mean_friends: float, rng: random.Random) -> Iterator[tuple[int, int]]:
    """Pairs of people, each pair with probability mean_friends / population, drawn by the gaps between them.

    The gap to the next pair of friends is geometric, so the work grows with the friendships, not with the pairs.
    """
    probability = mean_friends / population
    if probability <= 0:
        return
    log_of_no = math.log1p(-probability) if probability < 1 else -math.inf
    later, earlier = 1, -1
    while True:
        earlier += 1 + int(min(math.log(1 - rng.random()) / log_of_no, population**2))
        while earlier >= later:
            earlier -= later
            later += 1
            if later >= population:
                return
        if later >= population:
            return
        yield earlier, later
