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
        """Abigail Ada Adele Agatha Agnes Aileen Alexandra Alice Alma Amalia Amelia Amy Anastasia Andrea Angela Anita
        Anna Antonia April Ariana Astrid Aurora Barbara Beatrice Bella Bernadette Bertha Bianca Bonnie Brenda
        Bridget Camille Carla Carmen Caroline Catherine Cecilia Celeste Celia Charlotte Christina Clara Claudia Cora
        Cordelia Cornelia Cynthia Daisy Daphne Deborah Delia Diana Dora Dorothy Edith Eileen Elaine Eleanor Elena
        Elise Eliza Elizabeth Ella Ellen Eloise Elsa Emilia Emma Erika Esther Ethel Eugenia Eva Evelyn Faith Felicia
        Fiona Flora Florence Frances Frida Gabriela Gemma Genevieve Georgina Geraldine Gertrude Gloria Grace Greta
        Gwendolyn Hannah Harriet Hazel Heather Heidi Helen Helga Henrietta Hilda Ida Imogen Ines Ingrid Irene Iris
        Isabel Ivy Jane Janet Jasmine Jean Jessica Joan Johanna Josephine Josie Joyce Juanita Judith Julia Juliet
        June Karin Katrina Kirsten Laura Lavinia Leah Lena Leonora Lidia Lillian Lily Linda Linnea Lois Lorna Louise
        Lucinda Lucy Lydia Mabel Madeleine Magdalena Malin Margaret Maria Marianne Marie Marina Marjorie Marlene
        Marta Martha Matilda Maud Melanie Melissa Mercedes Meredith Mildred Millicent Mina Minerva Miranda Miriam
        Molly Monica Muriel Myra Nadia Nancy Naomi Natalie Nell Nina Nora Octavia Odette Olga Olive Olivia Ophelia
        Pamela Patricia Paula Pauline Pearl Penelope Petra Philippa Phoebe Priscilla Rachel Ramona Rebecca Regina
        Renata Rhoda Rita Roberta Rosa Rosalind Rose Rowena Ruby Ruth Sabina Sara Selma Serena Sheila Sibyl Silvia
        Sofia Solveig Sonia Stella Susan Susanna Tabitha Tamara Teresa Tessa Thea Tilda Ursula Valerie Vanessa Vera
        Veronica Victoria Viola Violet Virginia Vivian Wanda Wilhelmina Winifred Yolanda Yvonne Zelda Zoe"""
    ),
    "male": _words(
        """Aaron Abel Abraham Adam Adrian Albert Alex Alfred Allan Ambrose Amos Andrew Angus Anthony Anton Archibald
        Arnold Arthur August Axel Barnaby Bartholomew Basil Ben Benedict Bernard Bertram Bjorn Boris Bruno Byron
        Caleb Calvin Carl Caspar Cecil Cedric Charles Christian Christopher Clarence Claude Clifford Clive Colin
        Conrad Constantin Cornelius Cyril Cyrus Damian Daniel David Dennis Desmond Dominic Donald Douglas Duncan
        Edgar Edmund Edward Edwin Elias Elliot Emil Emmanuel Enoch Eric Ernest Eugene Evan Ezra Fabian Felix
        Ferdinand Fergus Finn Florian Francis Frank Fred Frederick Gabriel Garrett Gavin Geoffrey George Gerald
        Gideon Gilbert Giles Godfrey Gordon Graham Gregor Gregory Gunnar Gustav Harold Harry Harvey Hector Henrik
        Henry Herbert Herman Horace Howard Hubert Hugo Humphrey Ian Ignatius Igor Isaac Isidor Ivan Ivor Jack Jacob
        James Jasper Jeremiah Jeremy Jerome Joachim Joel Johannes John Jonas Jonathan Joseph Joshua Julian Julius
        Justin Karsten Keith Kenneth Kurt Lambert Lars Lawrence Leander Leo Leon Leonard Leopold Lewis Lionel Lorenz
        Louis Lucas Luther Magnus Malcolm Manfred Marcus Mario Martin Matthew Matthias Maurice Max Maximilian Melvin
        Michael Miles Milton Mortimer Nathan Nathaniel Neil Nicholas Niels Noah Norman Oliver Orlando Oscar Osmund
        Oswald Otto Owen Patrick Paul Percival Peregrine Peter Philip Quentin Ralph Raphael Raymond Reginald Rene
        Reuben Richard Robert Roderick Roger Roland Rolf Roman Ronald Rudolf Rufus Rupert Samuel Sebastian Severin
        Sidney Siegfried Silas Simon Solomon Stanley Stefan Stephen Sven Sylvester Terence Thaddeus Theo Theodore
        Thomas Tobias Torsten Tristan Ulrich Valentin Vernon Victor Viggo Vincent Wallace Walter Werner Wilbur
        Wilfred Willem William Winston Wolfgang Xavier Yannick Zachary"""
    ),
}

SURNAMES: tuple[str, ...] = _words(
    """Abbott Ackerman Adler Ainsworth Albrecht Alden Allard Ames Anders Appleby Archer Ashby Ashford Ashworth Atwood
    Austen Babbage Bailey Bainbridge Baldwin Bancroft Banning Barclay Barlow Barrow Bartlett Bauer Baxter Beaumont
    Becker Beckett Bell Bellamy Benson Bergman Berry Bingham Birch Bishop Blackwood Blake Bloom Bolton Bowen
    Bradshaw Bramwell Brandt Brewster Briggs Brightman Brooks Broughton Bruckner Burke Burnett Burton Butterfield
    Byrne Caldwell Calloway Camden Cardwell Carlisle Carter Cartwright Carver Castle Cavendish Chadwick Chandler
    Chapman Chilton Church Clayton Clement Clifton Coburn Colby Coleman Colton Connolly Conway Cooper Corbett Corwin
    Crabtree Crane Crawford Crosby Cross Crowther Curtis Dalton Danforth Darby Davenport Dawson Decker Delaney
    Denham Denton Devlin Dickens Dietrich Dixon Dobson Donovan Downing Doyle Draper Drummond Dudley Dunham Dunn
    Durham Dyer Eastman Eaton Eberhard Eckhart Edgerton Egan Eldridge Elliott Ellis Ellsworth Emerson Engel Erikson
    Everett Fairbanks Fairchild Falk Farnham Farrell Farrow Faulkner Fenwick Fielding Finch Fischer Fitzroy Flanagan
    Fleming Fletcher Forbes Forester Forster Foster Fowler Fraser Frost Fuller Gable Gallagher Galloway Gardner
    Garland Garner Gibbs Gifford Gillespie Gladstone Glover Goddard Goodwin Gorman Granger Grant Graves Grayson
    Greenwood Griffin Grimshaw Haas Hadley Hale Halloran Hamilton Hammond Hancock Harding Hargrove Harlow Harper
    Harrington Hart Hartmann Hastings Hawkins Hawthorne Hayward Heath Hedges Henshaw Heron Hewitt Hickman Higgins
    Hobbs Hoffmann Holbrook Holden Hollis Holloway Holm Holt Hooper Hopkins Horton Howell Hubbard Huntley Hurst
    Hutton Huxley Ibsen Ingalls Ingram Irving Irwin Isherwood Jacobi Jamison Jarvis Jensen Jessup Jordan Kaufmann
    Keating Keller Kemp Kendall Kent Kerr Kessler Kimball Kingsley Kipling Kirkland Klein Knapp Knight Knox Kramer
    Kruger Lacey Lang Langley Larkin Latham Lawson Leavitt Leighton Lennox Lester Lindgren Lindsay Livingston
    Lockwood Lombard Lowell Ludlow Lund Lyman Lyndon MacLeod Maddox Maitland Mallory Manning Marlowe Marsden Marsh
    Marshall Mason Mather Maxwell Mayfield Mayhew McAllister McBride McKenna Meadows Mercer Merrill Meyer Middleton
    Milner Monroe Montague Moorhouse Morgan Morrison Morrow Morse Moss Mueller Murdoch Nash Naylor Nelson Neumann
    Newcomb Newton Nightingale Nolan Norris Northcott Norwood Nottingham Oakes Oakley Odell Ogden Oldham Olsen
    Osborne Overton Owens Paget Palmer Pankhurst Parrish Parsons Patterson Paxton Payne Peabody Pearson Pemberton
    Penrose Perkins Perry Phelps Pickett Pike Plummer Pollard Porter Potter Prescott Preston Proctor Quigley Quinn
    Radcliffe Ramsey Randolph Rankin Ransom Rasmussen Ravenscroft Redmond Reeves Reinhardt Remington Renshaw Rhodes
    Ridley Ripley Ritter Roach Robbins Rockwell Rosenthal Rothwell Rowland Rutherford Ryder Sadler Salisbury Sanders
    Sanford Sawyer Schiller Schneider Schubert Scott Seaton Sedgwick Selby Seymour Sharpe Sheffield Sheldon Shepherd
    Sheridan Sherman Sherwood Sinclair Skinner Slater Sommer Southgate Spalding Spencer Spooner Stafford Standish
    Stanhope Stanton Stark Sterling Stockton Stoddard Stratton Strauss Sullivan Sumner Sutherland Sutton Swift
    Tanner Tate Temple Tennant Thatcher Thorne Thornton Thorpe Thurston Tilden Tindall Tolliver Townsend Travers
    Trent Tucker Turnbull Tuttle Tyler Tyndall Underwood Upton Vance Vaughn Vickers Vogel Wagner Wainwright
    Wakefield Walden Walker Waller Walsh Walton Warburton Ward Warner Watkins Waverly Weaver Webb Webster Weiss
    Wentworth Wescott Wexford Wheeler Whitaker Whitfield Whitman Whitmore Wickham Wilcox Wilder Wilkins Willoughby
    Winslow Winthrop Wolfe Woodward Wordsworth Wren Wycliffe Wyndham Yardley Yates York Young Ziegler Zimmermann"""
)

JOBS: tuple[str, ...] = _phrases(
    """accountant, actor, actuary, air traffic controller, ambulance driver, animal trainer, anthropologist, antique
    dealer, apple grower, archaeologist, architect, archivist, art dealer, art restorer, art teacher, astronomer,
    auctioneer, baker, bank clerk, barber, barge skipper, barrister, basket maker, bee inspector, beekeeper, bell
    founder, bicycle mechanic, biochemist, biologist, blacksmith, boatbuilder, bookbinder, bookkeeper, bookseller,
    botanist, brewer, bricklayer, bridge engineer, broadcaster, building surveyor, bus driver, butcher, butler,
    cabinet maker, candlemaker, car mechanic, carpenter, cartographer, cartoonist, caterer, cellist, ceramic artist,
    cheesemaker, chef, chemical engineer, chemist, chemistry teacher, chimney sweep, choirmaster, choreographer,
    cinema manager, city planner, civil engineer, clarinettist, clerk of court, climatologist, clockmaker, coach
    driver, coastguard, comedian, composer, computer scientist, concert pianist, conductor, confectioner,
    conservator, cook, cooper, copywriter, coroner, costume designer, courier, crane operator, critic, customs
    officer, dairy farmer, dance teacher, data analyst, delivery driver, dental hygienist, dentist, dermatologist,
    diplomat, dispatcher, diver, dog trainer, drama teacher, draughtsman, dressmaker, drummer, dyer, ecologist,
    economist, editor, electrical engineer, electrician, embroiderer, engraver, entomologist, estate agent, farmer,
    farrier, ferry captain, film director, firefighter, fish farmer, fisher, flight attendant, florist, flutist,
    food inspector, forensic scientist, forester, fruit picker, funeral director, furniture designer, game designer,
    game warden, gardener, gas fitter, geneticist, geography teacher, geologist, geophysicist, glass blower,
    glazier, goat herder, goldsmith, grocer, guitar maker, gymnastics coach, hairdresser, harbour master, harpist,
    hat maker, historian, history teacher, horse breeder, hospital porter, hotel manager, hydrologist, illustrator,
    immunologist, inspector of mines, insurance broker, interior designer, interpreter, inventor, jeweller, joiner,
    journalist, judge, juggler, laboratory technician, lace maker, land surveyor, landscape architect, landscape
    painter, language teacher, lawyer, leather worker, lecturer, lens grinder, librarian, lifeguard, lift engineer,
    lighthouse keeper, linguist, locksmith, logistics manager, lorry driver, luthier, machinist, magistrate, marine
    biologist, market trader, mason, mathematician, mathematics teacher, mechanical engineer, metallurgist,
    meteorologist, microbiologist, midwife, miller, miner, mountain guide, museum curator, music teacher,
    naturalist, naval officer, neurologist, newsreader, notary, novelist, nurse, nursery teacher, oceanographer,
    oculist, office manager, oil rig worker, optician, orchestra manager, organ builder, ornithologist,
    orthodontist, paediatrician, palaeontologist, paper maker, paramedic, park ranger, parliamentary clerk, pastry
    cook, patent attorney, pathologist, pharmacist, philosopher, photographer, physicist, physics teacher,
    physiotherapist, piano tuner, pilot, playwright, plumber, poet, police officer, postal worker, potter, press
    officer, primary school teacher, printer, prison officer, probation officer, professor of law, proofreader,
    psychiatrist, psychologist, publisher, puppeteer, quarry worker, radio engineer, radiographer, railway engineer,
    receptionist, restaurant owner, river pilot, roofer, rope maker, saddler, sailmaker, sailor, salt merchant,
    school inspector, scriptwriter, sculptor, seamstress, seed merchant, sheep farmer, ship broker, shipwright,
    shoemaker, sign painter, signalman, silversmith, singer, social worker, software engineer, soil scientist,
    solicitor, sound engineer, speech therapist, stage designer, stained glass artist, station master, statistician,
    stockbroker, stonecutter, stove fitter, street musician, structural engineer, stunt performer, surgeon, swimming
    instructor, tailor, tax adviser, taxi driver, tea blender, telephone operator, tennis coach, textile designer,
    thatcher, ticket inspector, tile maker, toolmaker, tour guide, town clerk, toy maker, train driver, tram driver,
    translator, travel agent, tree surgeon, trumpeter, tugboat captain, upholsterer, vaccine researcher,
    veterinarian, video editor, vine grower, violin maker, violinist, volcanologist, waiter, warehouse manager,
    watchmaker, water engineer, weaver, web designer, welder, wheelwright, wine merchant, wood turner, wool
    merchant, youth worker, zookeeper, zoologist"""
)

HOBBIES: tuple[str, ...] = _phrases(
    """acrobatics, aikido, air hockey, amateur radio, animal tracking, antique collecting, aquarium keeping, archery,
    arm wrestling, astronomy, autograph collecting, backgammon, badminton, baking, ballet, ballooning, ballroom
    dancing, banjo playing, barrel rolling, basket weaving, beachcombing, beadwork, beatboxing, bell ringing,
    billiards, bird feeding, birdwatching, blogging, board games, boat racing, bonsai growing, book collecting, book
    restoration, boomerang throwing, bottle collecting, bowling, boxing, brass rubbing, bread making, bridge,
    butterfly watching, button collecting, cactus growing, cake decorating, calligraphy, camping, candle making,
    canoeing, card games, card making, carnival costumes, cave exploring, cello playing, charcoal drawing, checkers,
    cheese making, chess, chess problems, choir singing, cider making, clay modelling, climbing, clock repair, cloud
    watching, coin collecting, collage, comic books, contra dancing, cookery, coral watching, cricket, croquet,
    cross-country skiing, crossword puzzles, curling, cycling, darts, debating, dinghy sailing, diving, dog walking,
    dollhouse building, dominoes, drag racing, drawing, dressage, dressmaking, driftwood carving, drone flying,
    drumming, duck decoys, egg painting, embroidery, enamelling, esperanto, falconry, family history, fell running,
    fencing, fern collecting, field hockey, figure skating, film making, fishing, flag collecting, flamenco, flower
    arranging, flower pressing, fly tying, folk dancing, folk singing, football, forest walks, fossil hunting,
    frisbee, furniture restoration, gardening, gem cutting, genealogy, geocaching, ghost stories, glass painting,
    gliding, go, goldfish breeding, golf, gospel singing, graphology, guitar playing, gymnastics, handball, hang
    gliding, harmonica playing, harp playing, hat making, hedge cutting, herb growing, hiking, historical dancing,
    home brewing, horse riding, horseshoe pitching, hurdling, ice hockey, ice sculpting, ice skating, improvised
    comedy, indoor bowls, ink painting, insect watching, jam making, jazz piano, jewellery making, jigsaw puzzles,
    jogging, judo, juggling, karate, kayaking, kite flying, knitting, knot tying, lace making, lacrosse, lake
    swimming, landscape photography, language learning, lantern making, lapidary work, latin dancing, leather craft,
    letter writing, limericks, linocuts, local history, long jump, lute making, macrame, magic tricks, mah-jong, map
    collecting, marathon running, marbles, marionettes, meditation, metal detecting, meteor watching, mime, mineral
    collecting, miniature painting, model aircraft, model railways, model ships, modern dance, mosaics, moss
    gardening, mountain biking, mountain climbing, mouth organ, museum visits, mushroom picking, nature photography,
    needlepoint, netball, newspaper collecting, night walks, number puzzles, oil painting, opera, orchid growing,
    orienteering, origami, paddle boarding, painting, paper cutting, parachuting, parkour, pebble painting, pen
    collecting, perfume making, petanque, photography, pickling, pigeon racing, pilates, playing the accordion,
    playing the flute, playing the organ, playing the piano, playing the violin, poetry, poker, polo, porcelain
    painting, postcard collecting, pottery, printmaking, puppetry, puzzle design, quilting, quizzes, rabbit
    breeding, radio plays, raft building, reading, recorder playing, riddles, river swimming, robot building, rock
    balancing, roller skating, rose growing, rowing, rug making, rugby, running, sailing, salsa, sand sculpture,
    scale models, science fiction, scrabble, scrapbooking, scuba diving, sewing, shadow theatre, shell collecting,
    shogi, short stories, show jumping, silk painting, sketching, skiing, sledging, snooker, snorkelling,
    snowboarding, soap making, solving ciphers, spinning wool, sprinting, squash, stained glass, stamp collecting,
    stand-up comedy, steam engines, stone skipping, storytelling, sudoku, sundials, surfing, swimming, swing
    dancing, table tennis, tai chi, tango, tap dancing, tapestry, tea tasting, telescope making, tennis, theatre,
    thimble collecting, tightrope walking, toy collecting, trampolining, travel writing, tree climbing, trekking,
    trombone playing, tug of war, tumbling, ukulele playing, unicycling, vegetable growing, ventriloquism,
    volleyball, walking tours, water polo, watercolours, weather watching, weaving, weightlifting, whistling,
    whittling, wildlife photography, wind surfing, wine tasting, wood carving, wood turning, word games, wreath
    making, wrestling, yodelling, yoga, zither playing"""
)

SHORT_NAMES: tuple[str, ...] = _words(
    """ann bob cal dan eve fay gus hal ivy jon kim lee
    mia ned ora pam quin ray sue tom una vic wes xia yan zed abe bea cid dot eli flo gil hue ike jan kit lou max nan"""
)
FEWEST_SHORT_NAMES = 12


def short_names(population: int) -> tuple[str, ...]:
    """The short names that universes of at most `population` people draw from: no fewer than FEWEST_SHORT_NAMES.

    A world of few people has few words, so that a small model's vocabulary stays small.
    """
    return SHORT_NAMES[: max(FEWEST_SHORT_NAMES, population)]
