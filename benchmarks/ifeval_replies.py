"""Replies to an IFEval prompt of the kinds that break checkers: at least forty to each, the same at every run.

Some are the same for every prompt (blank, unicode, markdown, JSON, very long). Most are made for the constraints of
the prompt: what our writer makes of them, its near misses, a text about each constraint alone, and mutations of these.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparring.environments.ifeval.breaking import near_misses
from sparring.environments.ifeval.constraints import Constraint
from sparring.environments.ifeval.prose import ENGLISH, PROSE
from sparring.environments.ifeval.writer import write
from sparring.tasks import derive_seed

FEWEST = 46
STORY = "The old boat came in late. We waited by the water, and nobody wanted to go home! Was it worth it? Yes, it was."
MARKDOWN = (
    "# The boat\n\n*One* **two** ***three*** _four_ __five__ ****six****\n\n"
    "* a point\n- another point\n+ a third\n1. a fourth\n"
    "  * inside\n-no space\n*no space\n\n---\n***\n* * *\n\n"
    "> quoted, with [a link](http://a.org/b?c=d) and `code *x*`\n\n"
    "| a | b |\n|---|---|\n| *c* | [d] |\n\n```python\nx = [1, 2]\n```\nSection 1\nSECTION 2\nP.S. bye"
)
COMMON: Mapping[str, str] = {
    "empty": "",
    "blank": " \n\t \n",
    "blank unicode": "\u00a0\u2003\n\u3000",
    "zero width": "\u200b\ufeff\u200d",
    "zero width in words": STORY.replace("a", "a\u200b"),
    "no-break spaces": STORY.replace(" ", "\u00a0"),
    "line separators": STORY.replace(". ", ".\u2028").replace("! ", "!\x0b").replace("? ", "?\x85"),
    "carriage returns": "One.\r\n\r\n* Two, three\r\n* Four\r\n\r\nP.S. Five\r\n",
    "combining marks": "E\u0301te\u0301 a\u0300 la plage, c\u0327a va. " + STORY.replace("e", "e\u0301"),
    "emoji": (
        "\U0001f600 \U0001f1f8\U0001f1ea Hi, there! \U0001f468\u200d\U0001f469\u200d\U0001f467 * \u2022 bullet \u2728"
    ),
    "full width": (
        "\uff28\uff45\uff4c\uff4c\uff4f\uff0c \uff37\uff2f\uff32\uff2c\uff24\u3002 \uff0a a \u3001 b \u060c c"
    ),
    "curly quotes": "\u201cIt\u2019s late,\u201d she said. \u2018Don\u2019t go.\u2019 \u00abNon\u00bb \u201eJa\u201c",
    "other cases": (
        "\u01c5 \u1d00\u1d07 \u0130I\u0131i \u00df\u1e9e \u017f\u212a \u03a3\u03c3\u03c2 "
        "\u24b6\u24d0 \u00aa\u00ba \u2160\u2170 \u03d2"
    ),
    "digits": "12345 67.89 -3 +4 1,000 \u0661\u0662 \u00b2\u2460",
    "signs": "!?!... --- *** ,,, [] () {} <<>> \"\" '' # ! # ! # !",
    "markdown": MARKDOWN,
    "markdown upper": MARKDOWN.upper(),
    "fenced JSON": '```json\n{"title": "<<A, b>>", "list": ["one", 2, null]}\n```',
    "fenced JSON, other tag": '```JavaScript\n{"a": 1}\n```',
    "JSON with talk": 'Here it is:\n{"a": [1, 2]}\nThat is all.',
    "JSON scalar": "5",
    "JSON not a number": "NaN",
    "JSON list": '["a", "b"]',
    "JSON, single quotes": "{'a': 1}",
    "capitals": STORY.upper(),
    "capitals and contractions": "I CAN'T. YOU CANNOT! GONNA GIMME 'TIS A U.S.A. B-52, DON'T; THE BOAT'S O'CLOCK",
    "small letters": STORY.lower(),
    "no spaces": STORY.replace(" ", ""),
    "no spaces, long": "x" * 3000,
    "one word": "Yes",
    "answer": "My answer is yes.",
    "two answers": "My answer is no.\nMy answer is maybe.",
    "abbreviations": (
        'Dr. Ray met Mr. J. Bach at 5 p.m. in the U.S. He paid $3.50 (i.e. too much.) etc. P.S. Bye... OK."'
    ),
    "dividers": "a\n***\nb\n******\nc\n***\n***\nd ***e*** f\n\n\n\ng",
    "two responses": f"{STORY}\n******\n{STORY[:40]}",
    "two identical responses": f"{STORY}\n******\n {STORY} ",
    "three responses": "a\n******\nb\n******\nc",
    "postscripts": "p.s. one P. S. two\nP.P.S three\nP. P. S four PS five P.S six",
    "titles": "<< >> <<a> <b>> <<<c>>> <<d\ne>> <<->>",
    "half a quotation": f'"{STORY}',
    "quotation": f'"{STORY}"',
    "short Swedish": "det var en liten b\u00e5t",
    "German": PROSE["de"],
    "Russian": PROSE["ru"],
    "Chinese": (
        "\u65e7\u8239\u6162\u6162\u5730\u8fdb\u6e2f\uff0c"
        "\u6211\u4eec\u7b49\u7740\u3002\u6ca1\u6709\u4eba\u60f3\u56de\u5bb6\uff01"
    ),
    "two languages": f"{PROSE['fr']} {ENGLISH[:60]} {PROSE['ar']}",
    "addresses": "See http://example.org/a,b?c and me@example.org, or www.example.com. OK",
    "very long": f"{ENGLISH}. " * 12,
}


@dataclass(frozen=True)
class Reply:
    """One reply, and how it was made."""

    kind: str
    text: str


def replies(row: Mapping[str, Any]) -> list[Reply]:
    """At least FEWEST different replies to one prompt of the benchmark."""
    rng = random.Random(derive_seed("ifeval replies", row["key"]))
    constraints = constraints_of(row)
    # A third of the common ones to each prompt: every family meets all of them over the prompts.
    names = list(COMMON)
    found = [Reply(name, COMMON[name]) for name in names[row["key"] % 3 :: 3]]
    prompt = row["prompt"]
    found += [Reply("prompt", prompt), Reply("prompt and answer", f"{prompt}\n\n{STORY}")]
    made = write(constraints, rng)
    if made is not None:
        found.append(Reply("solved", made))
        for constraint in constraints:
            misses = near_misses(constraint, made)
            found += [Reply("near miss", text) for text in rng.sample(misses, min(3, len(misses)))]
    alone = [Reply("alone", text) for constraint in constraints for text in about(constraint)]
    found += rng.sample(alone, min(len(alone), 16))
    kept = list({reply.text: reply for reply in found}.values())
    texts = {reply.text for reply in kept}
    sources = [reply.text for reply in kept if reply.kind in ("solved", "near miss", "alone")] or [STORY]
    while len(kept) < FEWEST:
        name, change = rng.choice(_MUTATIONS)
        text = change(rng.choice(sources), rng)
        if text not in texts:
            texts.add(text)
            kept.append(Reply(name, text))
    return kept


def constraints_of(row: Mapping[str, Any]) -> list[Constraint]:
    """The constraints of one prompt of the benchmark."""
    return [Constraint.read(id, kwargs) for id, kwargs in zip(row["instruction_id_list"], row["kwargs"], strict=True)]


def about(constraint: Constraint) -> Iterator[str]:
    """Texts around the edge of one constraint: one fewer, just enough, one more, look-alikes."""
    kwargs: Mapping[str, Any] = constraint.parameters
    name = constraint.id.partition(":")[2]
    count = next((value for key, value in kwargs.items() if isinstance(value, int)), 0)
    near = [number for number in (count - 1, count, count + 1) if number >= 0]
    if "words" in name and "keywords" not in kwargs:
        yield from (" ".join((ENGLISH.split() * 12)[:number]) for number in near)
    for line in _LINES.get(name, ()):
        yield from ("\n".join(line.format(index=index, **kwargs) for index in range(1, number + 1)) for number in near)
        yield line.format(index=1, **kwargs)
    for inline in _INLINE.get(name, ()):
        yield from (f"Well: {' '.join([inline.format(**kwargs)] * number)} and so" for number in near)
    for whole in _WHOLE.get(name, ()):
        text = whole.format(story=STORY, small=STORY.lower(), large=STORY.upper(), **kwargs)
        yield from (text, text.upper(), text.lower(), f"**{text}**", f"Sure:\n{text}\nDone.", f"\n {text} \n")
    for keyword in (*kwargs.get("keywords", ()), *kwargs.get("forbidden_words", ())):
        yield from (f"{STORY} {keyword}", f"x{keyword}y", f"_{keyword}_", f"{keyword}s", f"Well,{keyword.upper()}-like")
    if "keywords" in kwargs:
        every = list(kwargs["keywords"])
        yield from (" ".join(every), " ".join(every[1:]), "-".join(every).title(), "".join(every), "\n".join(every))
    if name == "nth_paragraph_first_word":
        yield from _paragraphs(kwargs)
    if name == "response_language":
        yield from (PROSE[kwargs["language"]], PROSE[kwargs["language"]].upper(), PROSE[kwargs["language"]][:12])


def _paragraphs(kwargs: Mapping[str, Any]) -> Iterator[str]:
    for number in (kwargs["num_paragraphs"] - 1, kwargs["num_paragraphs"], kwargs["num_paragraphs"] + 1):
        for first in ("{0}", '"{0}"', "*{0}*", "{0}'s", "{0}.", "The {0}", "{0}-like", "{0}\u2019s", "\u201c{0}\u201d"):
            parts = ["Some words here."] * max(number, 1)
            place = min(kwargs["nth_paragraph"], len(parts)) - 1
            parts[place] = f"{first.format(kwargs['first_word'].title())} came along."
            yield from ("\n\n".join(parts), "\n\n\n\n".join(parts), "\n \n".join(parts))


_LINES: Mapping[str, Sequence[str]] = {
    "number_sentences": (
        "It was late.",
        "Was it?",
        "Oh!!",
        "Dr. No came.",
        "no stop here",
        "*Bold.* Yes.",
        "He left.)",
    ),
    "number_bullet_lists": (
        "* one",
        "- two",
        "*one*",
        "-3",
        "\u2022 four",
        "{index}. five",
        "  * six",
        "*",
        "+ seven",
        "**b**",
    ),
    "number_paragraphs": (
        "Words here.\n***",
        "***\nWords",
        "Words ***\n",
        "Words\n\n***\n",
        "Words\n\n",
        "* * *\nWords",
    ),
    "multiple_sections": (
        "{section_spliter} {index}\nwords",
        "{section_spliter} I\nwords",
        "**{section_spliter} {index}:** words",
        "{section_spliter}{index}",
        "{section_spliter}s {index}",
        "my{section_spliter} {index}",
        "{section_spliter} 1",
    ),
    "number_highlighted_sections": (
        "a *b c* d",
        "**two words**",
        "***three***",
        "2 * 3",
        "*",
        "****",
        "x*y*z",
        "* a\n* b *c*",
    ),
}
_INLINE: Mapping[str, Sequence[str]] = {
    "frequency": ("{keyword}", "{keyword}s", "x{keyword}", "{keyword},"),
    "letter_frequency": ("{letter}", "{letter}\u0301", "{letter}x"),
    "number_placeholders": ("[name]", "[]", "[a\nb]", "[a](b)", "[[a]]", "[a", "[-]"),
    "capital_word_frequency": (
        "WORD",
        "DON'T",
        "A-B",
        "U.S.",
        "Word",
        "B2B",
        "CANNOT",
        "*WORD*",
        "\u00c9T\u00c9",
        "I'm",
    ),
    "number_words": ("don't", "well-known", "a_b", "&"),
}
_WHOLE: Mapping[str, Sequence[str]] = {
    "postscript": (
        "{story}\n\n{postscript_marker} Bye",
        "{story} {postscript_marker}",
        "{story} P.P.S. Bye",
        "P. S. a",
        "P. P. S b",
        "{postscript_marker}x",
        "XP.S. c",
    ),
    "title": (
        "<<A title>>\n{story}",
        "<A title>\n{story}",
        "<<>>",
        "<<{story}>>",
        "<<<a>>>",
        "\u00aba\u00bb",
        "<<a\nb>>",
    ),
    "two_responses": (
        "{story}\n******\nAnother.",
        "******\na\n******\nb\n******",
        "a\n************\nb",
        "a\n*****\nb",
        "a\n******\n\n******\nb",
        "a\n******\nA",
    ),
    "repeat_prompt": (
        "{prompt_to_repeat}\n{story}",
        "{prompt_to_repeat}",
        "Sure. {prompt_to_repeat} {story}",
        '"{prompt_to_repeat}"\n{story}',
        "{prompt_to_repeat}{story}",
    ),
    "end_checker": (
        "{story} {end_phrase}",
        "{story}\n\n{end_phrase}",
        '"{story} {end_phrase}"',
        "{story}{end_phrase}",
        "{story} {end_phrase}.",
        "{story} {end_phrase} Bye",
        "{story} *{end_phrase}*",
    ),
    "quotation": (
        '"{story}"',
        "\u201c{story}\u201d",
        '"{story}',
        '""',
        '"',
        "'{story}'",
        '"{story}" "{story}"',
        "\u201e{story}\u201c",
    ),
    "english_capital": ("{large}", "{large} a", "HELLO WORLD", "DAS BOOT IST ALT UND KLEIN", "{large} \u00df", "OK"),
    "english_lowercase": ("{small}", "{small} A", "small boats drift home", "das boot ist alt und klein", "ok", "1 a"),
    "no_comma": ("a, b", "a\uff0cb", "a\u3001b", "a\u060cb", "one two", "a\u201ab", "1,000", "\ufe50 \u1363"),
    "json_format": (
        '```json\n["{{"]\n```',
        '```\n{{"a": 1}}\n```',
        '{{"a": 1}}',
        "[]",
        '{{"a": 1}} {{"b": 2}}',
        '"text"',
        '```json\n{{"a": Infinity}}```',
        "true",
        '{{"a": 1,}}',
        '````json\n{{"a": 1}}\n````',
        '{{"a": 1, "a": 2}}',
    ),
    "constrained_response": (
        "My answer is yes.",
        "My answer is no. Because.",
        "My answer is maybe",
        "I think: My answer is yes.!",
        "My answer is yes. My answer is yes.",
        "My answer is no. My answer is maybe.",
    ),
}


def _at(text: str, rng: random.Random, put: str, left_out: int) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + put + text[place + left_out :]


_PIECES = (
    "\n",
    "\n\n",
    " ",
    "*",
    "**",
    "***",
    "-",
    "[a]",
    '"',
    ".",
    ",",
    "! ",
    "\u00a0",
    "A",
    "e\u0301",
    "\u4e2d",
    "<<",
    ">>",
    "1",
)
_MUTATIONS: Sequence[tuple[str, Callable[[str, random.Random], str]]] = (
    ("mutated: piece put in", lambda text, rng: _at(text, rng, rng.choice(_PIECES), 0)),
    ("mutated: cut", lambda text, rng: text[: rng.randrange(1, len(text) + 1)] if text else "cut"),
    ("mutated: left out", lambda text, rng: _at(text, rng, "", rng.randint(1, 6))),
    ("mutated: lines swapped", lambda text, rng: "\n".join(rng.sample(text.split("\n"), text.count("\n") + 1))),
    (
        "mutated: word in capitals",
        lambda text, rng: text.replace(word := rng.choice(text.split() or ["a"]), word.upper()),
    ),
    ("mutated: lines joined", lambda text, rng: text.replace("\n", rng.choice((" ", "", "\n\n", "\r\n")))),
    ("mutated: twice", lambda text, rng: text + rng.choice(("", "\n", "\n\n", "\n***\n", "\n******\n")) + text),
    (
        "mutated: wrapped",
        lambda text, rng: rng.choice(('"{}"', "```\n{}\n```", "**{}**", "Sure!\n{}\nBye.")).replace("{}", text),
    ),
    (
        "mutated: in JSON",
        lambda text, rng: json.dumps({rng.choice(("a", "A b")): text}, ensure_ascii=rng.random() < 0.5),
    ),
    (
        "mutated: of pieces",
        lambda text, rng: "".join(rng.choices((*_PIECES, *text.split()[:12]), k=rng.randint(3, 25))),
    ),
)
