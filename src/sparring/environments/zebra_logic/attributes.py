"""The words of the English logic grids: attributes with their values, and the sentences of clues.

There are as many attributes as in the official puzzles, with the same answer columns and lines of
introduction, and more values each. No value occurs in two attributes, nor is it a word of another
value, so a phrase in a clue means one thing. Every attribute and every kind of clue has several
wordings.
"""

from __future__ import annotations

from sparring.environments.zebra_logic.actions import Attribute
from sparring.environments.zebra_logic.grid import ClueKind

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")

# {0} is the first item of a clue, {1} the second or the ordinal of a house.
SENTENCES: dict[ClueKind, tuple[str, ...]] = {
    ClueKind.FOUND_AT: ("{0} is in the {1} house.", "{0} lives in the {1} house.", "The {1} house is that of {0}."),
    ClueKind.NOT_AT: (
        "{0} is not in the {1} house.",
        "{0} does not live in the {1} house.",
        "The {1} house is not that of {0}.",
    ),
    ClueKind.SAME_HOUSE: ("{0} is {1}.", "{0} and {1} are the same person.", "{0} is also {1}."),
    ClueKind.DIRECT_LEFT: (
        "{0} is directly left of {1}.",
        "{0} lives in the house just to the left of {1}.",
        "The next house to the left of {1} is that of {0}.",
    ),
    ClueKind.DIRECT_RIGHT: (
        "{0} is directly right of {1}.",
        "{0} lives in the house just to the right of {1}.",
        "The next house to the right of {1} is that of {0}.",
    ),
    ClueKind.SIDE_BY_SIDE: (
        "{0} and {1} are next to each other.",
        "{0} and {1} are direct neighbors.",
        "{0} lives next door to {1}.",
    ),
    ClueKind.LEFT_OF: (
        "{0} is somewhere to the left of {1}.",
        "{0} lives further left than {1}.",
        "From left to right, the house of {0} comes before the house of {1}.",
    ),
    ClueKind.RIGHT_OF: (
        "{0} is somewhere to the right of {1}.",
        "{0} lives further right than {1}.",
        "From left to right, the house of {0} comes after the house of {1}.",
    ),
    ClueKind.ONE_BETWEEN: (
        "There is one house between {0} and {1}.",
        "Exactly one house stands between {0} and {1}.",
        "{0} and {1} have one house between them.",
    ),
    ClueKind.TWO_BETWEEN: (
        "There are two houses between {0} and {1}.",
        "Exactly two houses stand between {0} and {1}.",
        "{0} and {1} have two houses between them.",
    ),
}

# Column; line of introduction; values; phrases for the person who has a value.
_POOLS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Name", "Each person has a unique name", "Alice, Arnold, Bob, Carol, Eric, Peter, Dora, Hugo", ("{}",)),
    (
        "Nationality",
        "The people are of nationalities",
        "Norwegian, German, Italian, Mexican, Canadian, Brazilian, Egyptian, Korean",
        ("the {}", "the {} person"),
    ),
    (
        "BookGenre",
        "People have unique favorite book genres",
        "mystery, fantasy, romance, biography, science fiction, history, poetry, adventure",
        ("the person who loves {} books", "the reader of {} books"),
    ),
    (
        "Food",
        "Everyone has something unique for lunch",
        "pizza, spaghetti, stew, stir fry, soup, salad, curry, tacos",
        ("the person who has {} for lunch", "the person who loves eating {}"),
    ),
    (
        "Color",
        "Each person has a favorite color",
        "red, green, blue, yellow, white, purple, orange, pink",
        ("the person who loves {}", "the person whose favorite color is {}"),
    ),
    (
        "Animal",
        "The people keep unique animals",
        "horse, bee, goat, sheep, cow, llama, donkey, duck",
        ("the {} keeper", "the person who keeps a {}"),
    ),
    (
        "Occupation",
        "Each person has an occupation",
        "baker, doctor, lawyer, nurse, pilot, teacher, plumber, librarian",
        ("the {}", "the person who is a {}"),
    ),
    (
        "PhoneModel",
        "People use unique phone models",
        "Samsung Galaxy S21, Huawei P50, Xiaomi Mi 11, Google Pixel 6, Sony Xperia 5, Nokia X20, Moto G60, Realme 8",
        ("the person who uses a {}", "the person with a {} phone"),
    ),
    (
        "Children",
        "Each mother is accompanied by their child",
        "Fred, Bella, Meredith, Samantha, Timothy, Billy, Clara, Oscar",
        ("the person whose child is named {}", "the parent of {}"),
    ),
    (
        "MusicGenre",
        "People have unique favorite music genres",
        "pop, rock, jazz, classical, country, folk, hip hop, blues",
        ("the person who loves {} music", "the listener of {} music"),
    ),
    (
        "Height",
        "People have unique heights",
        "150 cm, 155 cm, 160 cm, 165 cm, 170 cm, 175 cm, 180 cm, 185 cm",
        ("the person who is {} tall", "the person who measures {}"),
    ),
    (
        "Mother",
        "The mothers' names in different houses are unique",
        "Aniya, Holly, Janelle, Kailyn, Penny, Sarah, Ingrid, Rosa",
        ("the person whose mother's name is {}", "the person whose mother is {}"),
    ),
    (
        "Vacation",
        "Each person prefers a unique type of vacation",
        "beach, mountain, city, cruise, camping, desert, forest, lake",
        ("the person who prefers {} vacations", "the person who goes on {} vacations"),
    ),
    (
        "Pet",
        "Each person has a unique type of pet",
        "cat, dog, fish, hamster, rabbit, parrot, turtle, lizard",
        ("the owner of a pet {}", "the person with a pet {}"),
    ),
    (
        "Birthday",
        "Each person has a unique birthday month",
        "January, February, March, April, September, October, November, December",
        ("the person whose birthday is in {}", "the person who was born in {}"),
    ),
    (
        "HouseStyle",
        "Each person lives in a unique style of house",
        "colonial, victorian, ranch, craftsman, modern, mediterranean, timbered, thatched",
        ("the person residing in a {} home", "the owner of the {} home"),
    ),
    (
        "Flower",
        "They all have a unique favorite flower",
        "carnations, daffodils, lilies, roses, tulips, irises, orchids, daisies",
        ("the person who loves a bouquet of {}", "the person who grows {}"),
    ),
    (
        "Education",
        "Each person has a unique level of education",
        "high school, trade school, associate degree, bachelor degree, master degree, doctorate, "
        "apprenticeship, night school",
        ("the person whose education is {}", "the person whose level of education is {}"),
    ),
    (
        "FavoriteSport",
        "People have unique favorite sports",
        "tennis, soccer, baseball, basketball, swimming, volleyball, hockey, rugby",
        ("the {} fan", "the person whose favorite sport is {}"),
    ),
    (
        "Cigar",
        "Everyone has a unique favorite cigar",
        "Prince, Pall Mall, Dunhill, Blends, Cohiba, Montecristo, Partagas, Davidoff",
        ("the {} smoker", "the person who smokes {}"),
    ),
    (
        "CarModel",
        "People own unique car models",
        "Tesla Model 3, Ford F-150, Toyota Camry, Honda Civic, BMW 3 Series, Chevrolet Silverado, Fiat Uno, Volvo V60",
        ("the person who owns a {}", "the driver of the {}"),
    ),
    (
        "Hobby",
        "Each person has a unique hobby",
        "gardening, photography, cooking, painting, knitting, woodworking, chess, pottery",
        ("the person who enjoys {}", "the person whose hobby is {}"),
    ),
    (
        "HairColor",
        "People have unique hair colors",
        "black, brown, blonde, gray, auburn, silver, ginger, chestnut",
        ("the person who has {} hair", "the person with {} hair"),
    ),
    (
        "Smoothie",
        "Everyone has a favorite smoothie",
        "cherry, watermelon, dragonfruit, lime, blueberry, mango, banana, kiwi",
        ("the {} smoothie lover", "the person who drinks {} smoothies"),
    ),
    (
        "Drink",
        "Each person has a unique favorite drink",
        "tea, coffee, milk, water, cocoa, root beer, lemonade, cider",
        ("the {} drinker", "the person whose favorite drink is {}"),
    ),
)

POOLS = tuple(Attribute(column, tuple(values.split(", ")), phrases, line) for column, line, values, phrases in _POOLS)
