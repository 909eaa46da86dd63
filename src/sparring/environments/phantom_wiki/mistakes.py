"""Wrong claims of a PhantomWiki hop: near misses, which the verifier must refuse."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sparring.environments.phantom_wiki.actions import Lookup
from sparring.environments.phantom_wiki.kinship import ATTRIBUTES, Chain, Hop, Universe
from sparring.environments.phantom_wiki.names import HOBBIES, JOBS


def wrong_claim(universe: Universe, chain: Chain, number: int, rng: random.Random) -> Hop:
    """A hop with one left out; somebody or something else in place of a hop of one.

    Never the start, which is no claim: a task's world has two people besides.
    """
    hop, step = chain.hops[number], chain.steps[number]
    if len(hop) > 1:
        left_out = rng.choice(hop)
        return tuple(each for each in hop if each != left_out)
    if step in ATTRIBUTES:
        return other_values(step, hop, rng)
    return (rng.choice([name for name in sorted(universe.people) if name not in (*hop, chain.start)]),)


def wrong_lookup(universe: Universe, chain: Chain, number: int, steps: Sequence[str], rng: random.Random) -> Lookup:
    """A lookup of somebody on the chain that reaches something, but not the hop.

    The way back from the hop always is one. What reaches just the start is no claim for hop 1, so it
    stands in only where there is no other.
    """
    gold = chain.hops[number]
    on_the_way = (chain.start, *(name for hop in chain.hops for name in hop if name in universe.people))
    reached = {(name, step): universe.follow((name,), step) for name in on_the_way for step in steps}
    wrong = [way for way, others in reached.items() if others not in ((), gold)]
    claims = [way for way in wrong if number > 0 or reached[way] != (chain.start,)]
    name, step = rng.choice(claims or wrong)
    return Lookup((name,), step)


def other_values(attribute: str, hop: Hop, rng: random.Random) -> Hop:
    """As many values of an attribute, none of them in `hop`."""
    values = {"occupation": JOBS, "hobby": HOBBIES}.get(attribute, tuple(f"{year}-06-15" for year in range(1700, 1800)))
    return tuple(sorted(rng.sample([value for value in values if value not in hop], len(hop))))
