"""Reader of official ZebraLogic puzzle text, which derives the answer key from the text alone.

The published gold is gated and never needed: every puzzle states all its attributes and clues, so
the grid follows. Keys live in memory only; nothing here writes one down.

The official answer columns have short names ("Name", "BookGenre") that the text does not hold.
They are set down here by the line that introduces the attribute.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparring.environments.zebra_logic.grid import HOUSE, Clue, ClueKind, Grid, Item
from sparring.environments.zebra_logic.solver import solutions
from sparring.errors import UserError

# The line that introduces an attribute: its column, and how clues speak of a person by it.
_ATTRIBUTES: dict[str, tuple[str, str]] = {
    "Each person has a unique name": ("Name", r"(.+)"),
    "The people are of nationalities": ("Nationality", r"the (.+?)(?: person)?"),
    "People have unique favorite book genres": ("BookGenre", r"the person who loves (.+) books"),
    "Everyone has something unique for lunch": (
        "Food",
        r"the person who (?:is a |loves )(?:eating |the )?(.+?)(?: lover| eater)?",
    ),
    "Each person has a favorite color": ("Color", r"the person (?:who loves|whose favorite color is) (.+)"),
    "The people keep unique animals": (
        "Animal",
        r"the (?:person who keeps )?(.+?)s?(?: keeper| lover| owner| enthusiast)?",
    ),
    "Each person has an occupation": ("Occupation", r"the person who is an? (.+)"),
    "People use unique phone models": ("PhoneModel", r"the person who uses an? (.+)"),
    "Each mother is accompanied by their child": (
        "Children",
        r"the person(?:'s child is named| who is the mother of) (.+)",
    ),
    "People have unique favorite music genres": ("MusicGenre", r"the person who loves (.+) music"),
    "People have unique heights": ("Height", r"the person who (?:is|has an) (.+?)(?: height)?"),
    "The mothers' names in different houses are unique": ("Mother", r"the person whose mother's name is (.+)"),
    "Each person prefers a unique type of vacation": (
        "Vacation",
        r"the person who (?:loves|enjoys|prefers|goes on|likes going on) (.+?)s?"
        r"(?: vacations| trips| breaks| retreats| tours)?",
    ),
    "Each person has a unique type of pet": (
        "Pet",
        r"the person (?:who (?:keeps a pet|has a|owns a)|with a pet|with an aquarium of) (.+)",
    ),
    "Each person has a unique birthday month": ("Birthday", r"the person whose birthday is in (.+)"),
    "Each person lives in a unique style of house": (
        "HouseStyle",
        r"the person (?:living |residing )?in a (.+?)(?:-style)? (?:house|home|villa)",
    ),
    "They all have a unique favorite flower": (
        "Flower",
        r"the person who loves (?:a|the) (?:(?:bouquet|boquet|vase) of )?(.+?)(?: arrangement| bouquet)?",
    ),
    "Each person has a unique level of education": (
        "Education",
        r"the person (?:with an?|who attended) (.+?)(?:'s degree| diploma)?",
    ),
    "People have unique favorite sports": ("FavoriteSport", r"the person who loves (.+)"),
    "Everyone has a unique favorite cigar": (
        "Cigar",
        r"the (?:person (?:who smokes|partial to) )?(?:many unique )?(.+?)(?: smoker)?",
    ),
    "People own unique car models": ("CarModel", r"the person who owns an? (.+)"),
    "Each person has a unique hobby": (
        "Hobby",
        r"the (?:person who (?:enjoys |loves )?)?(.+?)(?: as a hobby| enthusiast| hobbyist)?",
    ),
    "People have unique hair colors": ("HairColor", r"the person who has (.+) hair"),
    "Everyone has a favorite smoothie": (
        "Smoothie",
        r"the (?:person who (?:drinks|likes) )?(.+?) (?:smoothies|smoothie lover)",
    ),
    "Each person has a unique favorite drink": (
        "Drink",
        r"the (?:person who likes |one who only drinks )?(.+?)(?: drinker| lover)?",
    ),
}

# Values that clues spell in another way than the attribute's line does.
_SPELLINGS = {
    "british": "brit",
    "swedish": "swede",
    "january": "jan",
    "february": "feb",
    "march": "mar",
    "september": "sept",
    "ford f-150": "ford f150",
    "hip-hop": "hip hop",
    "rose": "roses",
    "woodworking hobby": "woodworking",
    "paints": "painting",
}

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_PAIR_CLUES: tuple[tuple[str, ClueKind], ...] = (
    (r"(.+) and (.+) are next to each other", ClueKind.SIDE_BY_SIDE),
    (r"there is one house between (.+) and (.+)", ClueKind.ONE_BETWEEN),
    (r"there are two houses between (.+) and (.+)", ClueKind.TWO_BETWEEN),
    (r"(.+) is directly left of (.+)", ClueKind.DIRECT_LEFT),
    (r"(.+) is directly right of (.+)", ClueKind.DIRECT_RIGHT),
    (r"(.+) is somewhere to the left of (.+)", ClueKind.LEFT_OF),
    (r"(.+) is somewhere to the right of (.+)", ClueKind.RIGHT_OF),
)


@dataclass(frozen=True)
class OfficialAttribute:
    """One attribute: its answer column, and its values as the text spells them."""

    column: str
    values: tuple[str, ...]
    phrase: str

    def value(self, phrase: str) -> int | None:
        """The index of the value that a clue's phrase means, if it is of this attribute."""
        match = re.fullmatch(self.phrase, phrase)
        if match is None:
            return None
        spelled = _SPELLINGS.get(match[1], match[1])
        return next((index for index, value in enumerate(self.values) if value.lower() == spelled), None)


@dataclass(frozen=True)
class OfficialPuzzle:
    """What a puzzle's text says."""

    houses: int
    attributes: tuple[OfficialAttribute, ...]
    clues: tuple[Clue, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The answer columns, in the order of the text."""
        return tuple(attribute.column for attribute in self.attributes)


def read_puzzle(text: str) -> OfficialPuzzle:
    """Attributes and clues of a puzzle; UserError when any line of it cannot be read."""
    opening, _, listed = text.partition("## Clues:")
    head, *lines = opening.strip().splitlines() or [""]
    houses = re.match(r"There are (\d) houses", head)
    if houses is None or not lines or not listed.strip():
        raise UserError(f"puzzle {text[:40]!r}: not ZebraLogic text; give the official 'puzzle' field unchanged")
    size = int(houses[1])
    attributes = [_read_attribute(line, size) for line in lines]
    if len({attribute.column for attribute in attributes}) < len(attributes):
        raise UserError(f"puzzle {text[:40]!r}: an attribute stands there twice; give the 'puzzle' field unchanged")
    clues = []
    for number, line in enumerate(listed.strip().splitlines(), start=1):
        clue = re.fullmatch(rf"{number}\. (.+?)\.?\s*", line)
        if clue is None:
            raise UserError(f"puzzle clue line {line!r}: not of the form '{number}. ...'; give every clue, in order")
        clues.append(_read_clue(clue[1], size, attributes))
    return OfficialPuzzle(size, tuple(attributes), tuple(clues))


def solve_puzzle(puzzle: OfficialPuzzle) -> Grid:
    """The one grid of a puzzle; UserError when its clues leave none or several."""
    grids = solutions(puzzle.houses, len(puzzle.attributes), puzzle.clues)
    if len(grids) != 1:
        raise UserError(f"puzzle clues: {'several grids fit' if grids else 'no grid fits'}; check the text is complete")
    return grids[0]


def answer_key(text: str) -> list[dict[str, str]]:
    """The grid of a puzzle's text, one dictionary from column to value per house."""
    puzzle = read_puzzle(text)
    grid = solve_puzzle(puzzle)
    return [
        {attribute.column: attribute.values[row[house]] for attribute, row in zip(puzzle.attributes, grid, strict=True)}
        for house in range(puzzle.houses)
    ]


def _read_attribute(line: str, houses: int) -> OfficialAttribute:
    """One attribute with as many values as there are houses; UserError when it is no such line."""
    parts = re.fullmatch(r" - (.+?): (`[^`]+`(?:, `[^`]+`)*)\s*", line)
    if parts is None or parts[1] not in _ATTRIBUTES:
        raise UserError(f"puzzle attribute {line!r}: unknown; use one of the {len(_ATTRIBUTES)} official lines")
    values = tuple(re.findall(r"`([^`]+)`", parts[2]))
    if not len({value.lower() for value in values}) == len(values) == houses:
        raise UserError(f"puzzle attribute {line!r}: not {houses} different values; give one for each house")
    column, phrase = _ATTRIBUTES[parts[1]]
    return OfficialAttribute(column, values, phrase)


def _read_clue(clue: str, houses: int, attributes: list[OfficialAttribute]) -> Clue:
    """One clue; UserError when it has not exactly one reading."""
    sentence = clue.lower()
    readings: list[Clue] = []
    at = re.fullmatch(r"(.+?) is (not )?in the (\w+) house", sentence)
    if at is not None and at[3] in _ORDINALS[:houses]:
        kind = ClueKind.NOT_AT if at[2] else ClueKind.FOUND_AT
        house = Item(HOUSE, _ORDINALS.index(at[3]))
        readings = [Clue(kind, item, house) for item in _items(at[1], attributes)]
    for pattern, kind in _PAIR_CLUES:
        pair = re.fullmatch(pattern, sentence)
        if pair is not None:
            readings += _pairs(kind, pair[1], pair[2], attributes)
    if not readings:
        # "X is Y", where X and Y may hold an "is" of their own.
        for split in re.finditer(" is ", sentence):
            readings += _pairs(ClueKind.SAME_HOUSE, sentence[: split.start()], sentence[split.end() :], attributes)
    if len(readings) != 1:
        raise UserError(f"puzzle clue {clue!r}: {len(readings)} readings; use the official wording")
    return readings[0]


def _pairs(kind: ClueKind, first: str, second: str, attributes: list[OfficialAttribute]) -> list[Clue]:
    """Every reading of two phrases."""
    return [Clue(kind, one, other) for one in _items(first, attributes) for other in _items(second, attributes)]


def _items(phrase: str, attributes: list[OfficialAttribute]) -> list[Item]:
    """Every item that a phrase may mean."""
    found = ((index, attribute.value(phrase)) for index, attribute in enumerate(attributes))
    return [Item(index, value) for index, value in found if value is not None]
