"""What the roles are told about PhantomWiki, in each prompt pack."""

from __future__ import annotations

from sparring.tasks import Guide, PromptPack

TAG = "kin"
UNREADABLE = {PromptPack.CHAT: "Not read: write one JSON object and nothing else.", PromptPack.COMPACT: "none"}

_PLANNING = """\
The question is a chain of hops through a made-up world of people. The chain starts at the person named at the end of \
the question, and its hops are read from there backwards. The executor looks people up and follows the chain hop by \
hop. A stage names the next hop or hops in this order, for example "find the mother of Ann Smith, then her friend". \
The stages together name every hop once, in order, the first hop first. Do not guess names: the world is not known \
to you."""

_ACTING = """\
The question is a chain of hops through a made-up world of people. The chain starts at the person named at the end of \
the question, and its hops are read from there backwards. Each turn, write one JSON object. Its keys, of which you \
use those you need:
{keys}
- "done": true when the present stage of the plan is finished.
- "submit": {submit}
{pace} A task of two hops, for example:
{example}
Family is by blood: brothers and sisters share a parent, and the spouse of a sister or brother is not one."""

_KEYS = {
    "articles": """\
- "tool": "article", with "name": returns the article of that person, with family, friends, date of birth, occupation \
and hobby.
- "tool": "find", with "attribute" ("date of birth", "occupation" or "hobby") and "value": returns the names of \
everyone with that value.
- "claim": what the next hop reaches: {reached}. Your first claim is for hop 1, your second for hop 2, and so on. \
Claim every hop, in order, once, as soon as you have read it. Do not claim the start person. A claim cannot be taken \
back.""",
    "lookup": """\
- "tool": "lookup", with "person" ({person}) and "relation" (sister, brother, mother, father, son, daughter, wife, \
husband, friend, date of birth, occupation or hobby): returns what this relation of that person is, and that is your \
claim for the next hop: for hop 1 first, then for hop 2, and so on. Look up every hop, in order, once, and nothing \
else: a claim cannot be taken back. When it returns none, nothing is claimed.""",
}

_SUBMIT = {
    "articles": "true, together with your claim for the last hop: it is your answer, and the task ends.",
    "lookup": "true, together with the lookup for the last hop: what it returns is your answer, and the task ends.",
}

_PACE = {
    "articles": "One turn may claim a hop and use a tool for the next.",
    "lookup": "One turn is one hop.",
}

_EXAMPLE = {
    "articles": """\
{{"tool": "article", "name": "Ann Smith"}}
{{"claim": {one}, "tool": "article", "name": {one}, "done": true}}
{{"claim": {other}, "submit": true}}""",
    "lookup": """\
{{"tool": "lookup", "person": "Ann Smith", "relation": "friend", "done": true}}
{{"tool": "lookup", "person": {other}, "relation": "mother", "submit": true}}""",
}


def guide_for(pack: PromptPack, tools: str, *, maximum_hops: int, unique: bool) -> Guide:
    """The guide for these tools; the compact prompts show the tag alone."""
    if pack is PromptPack.COMPACT:
        return Guide(TAG, "more hops", "relations in order", "person relation, then done or submit")
    one, other = ('"Eve Ray"', '"Hal Ray"') if unique else ('["Eve Ray"]', '["Hal Ray", "Mia Lund"]')
    if unique:
        person, reached = "a full name", "the full name of a person, or the value of an attribute"
    else:
        person = "a full name, or a list of all the people that the hop before reached"
        reached = "a list of all the people it reaches (full names), or of all the values of an attribute"
    return Guide(
        tag=TAG,
        difficulty=f"A harder question follows more hops from person to person (1 to {maximum_hops}), through a larger "
        "world of people.",
        planning=_PLANNING,
        acting=_ACTING.format(
            keys=_KEYS[tools].format(person=person, reached=reached),
            submit=_SUBMIT[tools],
            pace=_PACE[tools],
            example=_EXAMPLE[tools].format(one=one, other=other),
        ),
    )
