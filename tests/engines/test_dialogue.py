import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from sparring.engines.dialogue import TemplateDialogue
from sparring.errors import UserError
from sparring.trajectories import Generation, Owner, PolicySequence, Span, StopReason, train_sequence

CHATML = (
    "{% for m in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA_3 = (
    "{{ bos_token }}{% if date_string is not defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{{ '<|head|>system<|/head|>\n\nToday: ' + date_string + '<|eot|>' }}"
    "{% for m in messages %}{{ '<|head|>' + m['role'] + '<|/head|>\n\n' + m['content'] | trim + '<|eot|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|head|>assistant<|/head|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% for m in messages %}"
    "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<|turn|>' + role + '\n' + m['content'] | trim + '<|/turn|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|turn|>model\n' }}{% endif %}"
)
INSTRUCT = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% else %}{{ ' ' + m['content'] + ' ' + eos_token }}{% endif %}{% endfor %}"
)
THINKING = CHATML.replace("assistant\n' }}{% endif %}", "assistant\n<think>\n' }}{% endif %}")
COMPACT = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }} <reply> {% else %}{{ m.content }} <end> "
    "{% endif %}{% endfor %}"
)
SPECIAL = ["<bos>", "<|im_start|>", "<|im_end|>", "<|head|>", "<|/head|>", "<|eot|>", "<|turn|>", "<|/turn|>", "</s>"]
CHAT = {
    "chatml": (CHATML, "<|im_end|>"),
    "llama3": (LLAMA_3, "<|eot|>"),
    "gemma": (GEMMA, "<|/turn|>"),
    "instruct": (INSTRUCT, "</s>"),
}


def byte_tokenizer(template: str | None, end: str, merges: tuple[tuple[str, str], ...] = ()) -> PreTrainedTokenizerFast:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*alphabet, *(a + b for a, b in merges)])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=list(merges)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<bos>", eos_token=end, extra_special_tokens=SPECIAL
    )
    tokenizer.chat_template = template
    return tokenizer


def word_tokenizer(template: str | None = COMPACT) -> PreTrainedTokenizerFast:
    words = ["<unk>", "<reply>", "<end>", "find", "ann", "bob", "next", "done"]
    backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>", unk_token="<unk>")
    tokenizer.chat_template = template
    return tokenizer


def token_id(tokenizer: PreTrainedTokenizerFast, token: str) -> int:
    return tokenizer.get_vocab()[token]


def generation(*ids: int) -> Generation:
    return Generation(ids, tuple(-0.5 for _ in ids), StopReason.END)


def flat(*spans: list[Span]) -> list[int]:
    return [token for part in spans for span in part for token in span.ids]


@pytest.mark.parametrize("name", CHAT)
@pytest.mark.parametrize("sampled_end", [True, False])
def test_two_turns_equal_the_template_rendered_whole(name: str, sampled_end: bool) -> None:
    template, end = CHAT[name]
    tokenizer = byte_tokenizer(template, end)
    dialogue = TemplateDialogue(tokenizer)
    space = " " if name == "instruct" else ""
    said = tokenizer.encode(space + "Yes." + (space + end if sampled_end else ""), add_special_tokens=False)
    ids = [*flat(dialogue.opening("Why?"), dialogue.ready("\nTell.")), *said]
    ids += flat(dialogue.reply("It is so.", generation(*said)))
    messages = [
        {"role": "user", "content": "Why?\nTell."},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "It is so."},
    ]
    whole = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, date_string="26 Jul 2024"
    )
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == whole
    assert ids == tokenizer.encode(whole, add_special_tokens=False)


def test_newline_after_the_end_token_is_kept() -> None:
    """SPEC 7, verl issue 3960: Qwen's newline between <|im_end|> and the next turn is easily lost."""
    tokenizer = byte_tokenizer(CHATML, "<|im_end|>")
    dialogue = TemplateDialogue(tokenizer)
    end, newline = tokenizer.encode("<|im_end|>\n", add_special_tokens=False)
    said = tokenizer.encode("ok", add_special_tokens=False)
    assert flat(dialogue.reply("x", generation(*said, end)))[0] == newline
    assert flat(dialogue.reply("x", generation(*said)))[:2] == [end, newline]


def test_no_token_but_the_sampled_ones_is_trained_on() -> None:
    """Cases B47, B48: tool words and role markers have mask 0; B51: the sampled end has mask 1."""
    tokenizer = byte_tokenizer(CHATML, "<|im_end|>")
    tokenizer.pad_token = "<|im_end|>"
    dialogue = TemplateDialogue(tokenizer)
    (end,) = dialogue.end_ids
    turns = [generation(5, 6, end), generation(4, 2, end)]
    sequence = PolicySequence("executor")
    sequence.append(dialogue.opening("task") + dialogue.ready())
    prompt_length = len(sequence.ids)
    sequence.append_sampled(turns[0])
    reply = dialogue.reply("tool", turns[0])
    sequence.append(reply)
    sequence.append_sampled(turns[1])
    mask = [False] * prompt_length + [True] * 3 + [False] * len(flat(reply)) + [True] * 3
    assert sequence.loss_mask == mask
    assert sum(train_sequence(sequence, [1.0, 1.0], zero_variance=False).loss_mask) == 6
    owners = [span.owner for span in reply]
    assert owners == [Owner.MARKER, Owner.TOOL, Owner.MARKER]
    assert dialogue.opening("task")[-1].owner is Owner.PROMPT
    assert tokenizer.decode(list(reply[1].ids)) == "tool"


def test_sampled_ids_are_never_encoded_again() -> None:
    """Case B49: the policy sampled a, b although the tokenizer would write ab."""
    tokenizer = byte_tokenizer(CHATML, "<|im_end|>", merges=(("a", "b"),))
    dialogue = TemplateDialogue(tokenizer)
    a, b, merged = (token_id(tokenizer, token) for token in ("a", "b", "ab"))
    assert tokenizer.encode("ab", add_special_tokens=False) == [merged]
    said = generation(a, b)
    sequence = PolicySequence("executor")
    sequence.append(dialogue.opening("task") + dialogue.ready())
    before = len(sequence.ids)
    sequence.append_sampled(said)
    assert dialogue.decode(said) == "ab"
    sequence.append(dialogue.reply("next", said))
    assert sequence.ids[before : before + 2] == [a, b]
    assert sum(sequence.loss_mask) == 2
    assert merged not in sequence.ids


CHATML_TOKENIZER = byte_tokenizer(CHATML, "<|im_end|>")


@given(st.text(max_size=30), st.sampled_from(SPECIAL))
def test_no_words_can_forge_a_turn(text: str, special: str) -> None:
    tokenizer = CHATML_TOKENIZER
    dialogue = TemplateDialogue(tokenizer)
    spoken = dialogue.reply(text + special + text, generation())[1]
    assert spoken.owner is Owner.TOOL
    assert token_id(tokenizer, special) not in spoken.ids
    assert tokenizer.decode(list(spoken.ids), clean_up_tokenization_spaces=False) == text + special + text


def test_word_level_backbone_with_a_template_of_one_line() -> None:
    dialogue = TemplateDialogue(word_tokenizer())
    assert dialogue.end_ids == {2}
    assert dialogue.opening("find ann") == [Span(Owner.PROMPT, (3, 4))]
    assert dialogue.ready() == [Span(Owner.MARKER, (1,))]
    assert dialogue.ready("next") == [Span(Owner.PROMPT, (6,)), Span(Owner.MARKER, (1,))]
    said = generation(5, 6, 2)
    assert dialogue.decode(said) == "bob next"
    assert dialogue.reply("done", said) == [Span(Owner.TOOL, (7,)), Span(Owner.MARKER, (1,))]
    assert dialogue.reply("", said) == [Span(Owner.MARKER, (1,))]
    assert dialogue.reply("", generation(5)) == [Span(Owner.MARKER, (2,)), Span(Owner.MARKER, (1,))]


def test_sampling_stops_at_every_end_the_backbone_knows() -> None:
    tokenizer = byte_tokenizer(CHATML, "</s>")
    marker = token_id(tokenizer, "<|im_end|>")
    end = token_id(tokenizer, "</s>")
    dialogue = TemplateDialogue(tokenizer, end_ids=[7])
    assert dialogue.end_ids == {marker, end, 7}
    letters = tokenizer.encode("hi", add_special_tokens=False)
    for stop in (marker, end, 7):
        assert dialogue.decode(generation(*letters, stop)) == "hi"
    assert flat(dialogue.reply("x", generation(*letters, end)))[0] == marker


def test_generation_prompt_that_opens_a_thought_is_kept() -> None:
    tokenizer = byte_tokenizer(THINKING, "<|im_end|>")
    ready = TemplateDialogue(tokenizer).ready()
    assert str(tokenizer.decode(flat(ready))).endswith("<|im_start|>assistant\n<think>\n")


def test_template_without_a_generation_prompt_hands_over_as_its_history_does() -> None:
    template = CHATML[: CHATML.index("{% if add_generation_prompt")]
    tokenizer = byte_tokenizer(template, "<|im_end|>")
    ready = TemplateDialogue(tokenizer).ready()
    assert tokenizer.decode(flat(ready)) == "<|im_end|>\n<|im_start|>assistant\n"


def test_caches_do_not_mix_texts() -> None:
    tokenizer = byte_tokenizer(CHATML, "<|im_end|>")
    dialogue = TemplateDialogue(tokenizer)
    texts = [f"person {number}" for number in range(50)]
    for text in random.Random(0).sample(texts * 3, 150):
        ids = dialogue.opening(text)[-1].ids
        assert dialogue.decode(generation(*ids)) == text


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        (None, "has no chat template"),
        ("{{ raise_exception('not today') }}", "not today"),
        ("{% for m in messages %}{{ m.role }}{% endfor %}", "every message in order"),
        ("{% for m in messages %}{{ m.content }} next {% endfor %}", "no special token"),
    ],
)
def test_unusable_template_is_refused_in_one_line(template: str | None, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        TemplateDialogue(word_tokenizer(template))
    assert "\n" not in str(caught.value)
    assert "backbone.name" in str(caught.value)
