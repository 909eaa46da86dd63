"""Word lists that universes are drawn from: names, jobs, hobbies, and the short names of the compact pack."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    """The words of a list written over several lines."""
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    """The comma-separated phrases of a list written over several lines."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


FIRST_NAMES: dict[str, tuple[str, ...]] = {
    "female": _words(
        """Abigail Agnes Alice Amelia Anna Astrid Beatrice Bella Camille Carmen Celia Clara Cora Daphne Delia Dora
        Edith Elena Elise Emma Erika Esther Eva Fiona Flora Frida Gemma Gloria Greta Hannah Helen Ida Ines Irene Iris
        Jane Josie Julia Karin Laura Lena Lily Louise Lucy Mabel Maria Marta Mina Nadia Nina Nora Olga Olivia Paula
        Petra Rosa Ruth Sara Selma Sofia Stella Tessa Thea Ursula Vera Wanda Yvonne Zoe"""
    ),
    "male": _words(
        """Aaron Adam Albert Alex Anton Arthur Ben Boris Bruno Carl Cedric Conrad Daniel David Dennis Edgar Edwin Emil
        Eric Felix Finn Frank Fred George Gilbert Gregor Harold Harry Hector Henry Hugo Igor Isaac Ivan Jacob Jasper
        Joel John Jonas Julian Kurt Lars Leo Louis Lucas Magnus Marcus Martin Max Miles Nathan Niels Oliver Oscar Otto
        Paul Peter Philip Ralph Robert Samuel Simon Stefan Theo Thomas Victor Walter Xavier"""
    ),
}

SURNAMES: tuple[str, ...] = _words(
    """Abbott Adler Archer Ashby Bailey Barlow Bauer Becker Bishop Blake Bolton Brandt Briggs Burke Carver Castle
    Chandler Clement Cole Conway Cooper Crane Cross Dalton Decker Doyle Draper Drummond Dunn Eaton Ellis Falk Farrow
    Fisher Fletcher Forster Frost Gale Gardner Gibbs Glover Graham Grant Hale Harding Hart Hayward Holm Horton Hunter
    Ingram Irving Jarvis Jensen Keller Kemp Kendall Knox Lambert Lang Larkin Lowell Marsh Mason Mercer Monroe Moss
    Nash Nolan Norris Oakley Osborne Palmer Parrish Perry Pike Porter Quinn Ramsey Rhodes Rowland Sawyer Schiller
    Shepherd Sinclair Stark Sutton Tanner Thorne Tucker Tyler Vance Vaughn Wagner Walsh Weaver Webb Winter York Ziegler
    """
)

JOBS: tuple[str, ...] = _phrases(
    """accountant, actor, air traffic controller, architect, archivist, astronomer, baker, beekeeper, biologist,
    blacksmith, bookbinder, botanist, bus driver, carpenter, chemist, civil engineer, clockmaker, conductor, dentist,
    diplomat, editor, electrician, farmer, firefighter, fisher, florist, forester, gardener, geologist, glazier,
    goldsmith, historian, interpreter, journalist, judge, landscape painter, lawyer, librarian, lighthouse keeper,
    locksmith, mason, mathematician, midwife, miller, museum curator, nurse, optician, pharmacist, photographer, pilot,
    plumber, postal worker, potter, printer, sailor, sculptor, shoemaker, surgeon, tailor, teacher, translator,
    veterinarian, violin maker, weaver, zookeeper"""
)

HOBBIES: tuple[str, ...] = _phrases(
    """archery, astronomy, badminton, baking, ballroom dancing, birdwatching, bowling, calligraphy, candle making,
    canoeing, card games, chess, choir singing, coin collecting, crossword puzzles, cycling, drawing, embroidery,
    fencing, fishing, fossil hunting, gardening, genealogy, go, gymnastics, hiking, horse riding, ice skating, judo,
    juggling, kite flying, knitting, lace making, magic tricks, map collecting, meditation, model railways, mountain
    climbing, mushroom picking, origami, orienteering, painting, photography, playing the flute, playing the piano,
    poetry, pottery, quilting, reading, rowing, running, sailing, skiing, stamp collecting, sudoku, surfing, swimming,
    table tennis, tennis, volleyball, whittling, wood carving, yoga"""
)

SHORT_NAMES: tuple[str, ...] = _words("ann bob cal dan eve fay gus hal ivy jon kim lee")
