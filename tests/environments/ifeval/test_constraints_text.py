from hypothesis import example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer

from sparring.environments.ifeval.text import capital_tokens, mentions, sentences, words

# What nltk's word_tokenize takes apart: contractions, quotation marks, full stops, brackets.
PIECES = (
    *(
        "CANNOT",
        "cannot",
        "CANnot",
        "canNOT",
        "cannOT",
        "GONNA",
        "gonNA",
        "goNna",
        "D'YE",
        "d'Ye",
        "'TIS",
        "'tis",
        "MORE'N",
    ),
    *(
        "I'm",
        "DON'T",
        "don'T",
        "wouldN'T",
        "A",
        "b",
        "U.S.",
        "U.s.A",
        "B-52",
        "3D",
        "O'Clock",
        "Gimme",
        "LEMme",
        "gotTA",
    ),
    *(
        " ",
        " ",
        ". ",
        ".",
        "'",
        '"',
        "``",
        "''",
        "(",
        ")",
        "*",
        "--",
        "\n",
        ",",
        "!",
        "?",
        "É",
        "é",
        "\u2019s",
        "\u00a0",
    ),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("gotTA")
@example("A.'b")
def test_leaving_out_what_holds_no_capitals_changes_no_count(text: str) -> None:
    tokenizer = NLTKWordTokenizer()
    tokens = [token for sentence in sentences(text) for token in tokenizer.tokenize(sentence)]
    assert capital_tokens(text) == sum(token.isupper() for token in tokens)


def test_sentences_are_those_of_the_trained_model() -> None:
    assert sentences("Dr. Ray met J. Bach at 5 p.m. in the U.S. He paid. Why?") == (
        "Dr. Ray met J. Bach at 5 p.m. in the U.S.",
        "He paid.",
        "Why?",
    )
    # Untrained, "Calif." would end a sentence, and "Sept." too.
    assert len(sentences("He moved to Fresno, Calif. where in Sept. Ann was born.")) == 1
    assert sentences("") == ()


def test_words_are_what_a_reader_counts() -> None:
    assert words("Well-known: don't -- go, 5 times!") == ("Well-known:", "don't", "go,", "5", "times!")


def test_mentions_are_whole_words() -> None:
    assert mentions("Cat, _cat_ cat's (CAT) concatenate cats", "cat") == 4
    assert mentions("new\n  york New York", "new york") == 2
    assert mentions("cafe\u0301 cafe", "cafe") == 1
