"""Text to tokens and back, for any tokenizer that carries a chat template.

A template is rendered once, with three sentinel messages (user, assistant, user), and cut at the
sentinels into four fixed pieces. From then on a dialogue is put together from token ids: pieces that
were encoded once, texts that are encoded on their own, and sampled ids that are never re-encoded.
Rendering a dialogue anew at every turn would be simpler and wrong: decode-and-encode may give other
ids than the policy sampled, and templates trim and rewrite what came before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from sparring.errors import UserError
from sparring.trajectories import Generation, Owner, Span

# Letters only, so that no template trims, escapes or splits them.
_SENTINELS = ("sentinelalpha", "sentinelbravo", "sentinelcharlie")
# Llama-3 templates write today's date unless told one; a resumed run must see the same tokens.
_DATE = "26 Jul 2024"
# Prompts of the chat pack are long: this many are some tens of megabytes.
_CACHED_TEXTS = 4096


class TemplatePieces(NamedTuple):
    """The fixed text of a chat template, around the words of user and assistant."""

    before_user: str
    before_assistant: str
    after_assistant: str


class TemplateDialogue:
    """The DialogueFormat of a tokenizer with a chat template."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, end_ids: Iterable[int] = ()) -> None:
        """Cut the template into pieces and find the token that ends an assistant turn.

        end_ids: further ids at which sampling stops, as the backbone's generation config lists them.
        Raises UserError when there is no chat template or none that can be used.
        """
        self._tokenizer = tokenizer
        self._encode = lru_cache(maxsize=_CACHED_TEXTS)(self._encode_text)
        self._decode = lru_cache(maxsize=_CACHED_TEXTS)(self._decode_ids)
        pieces = template_pieces(tokenizer)
        self._before_user = self._encode_piece(pieces.before_user)
        self._before_assistant = self._encode_piece(pieces.before_assistant)
        self._after_assistant = self._encode_piece(pieces.after_assistant)

        known_ends = set(end_ids)
        if isinstance(tokenizer.eos_token_id, int):
            known_ends.add(tokenizer.eos_token_id)
        special = known_ends | set(tokenizer.added_tokens_decoder)
        markers = [position for position, token in enumerate(self._after_assistant) if token in special]
        if not markers:
            raise UserError(
                f"backbone.name = {_name(tokenizer)!r}: its chat template closes an assistant turn with "
                f"{pieces.after_assistant!r}, which holds no special token; give it an eos_token that does"
            )
        # Some templates put a space before the end token, which a policy need not sample.
        self._marker_length = markers[0] + 1
        self._end_marker = self._after_assistant[markers[0]]
        self.end_ids = frozenset(known_ends | {self._end_marker})

    def opening(self, text: str, shown: Sequence[tuple[str, str]] = ()) -> list[Span]:
        """The start of a dialogue up to and including `text`, the user's message still open.

        shown: exchanges of user and assistant that come first, as if they had happened.
        """
        spans = _spans((Owner.MARKER, self._before_user))
        for said, answered in shown:
            spans += _spans(
                (Owner.PROMPT, self._encode(said)),
                (Owner.MARKER, self._before_assistant),
                (Owner.PROMPT, self._encode(answered)),
                (Owner.MARKER, self._after_assistant),
            )
        return [*spans, *_spans((Owner.PROMPT, self._encode(text)))]

    def ready(self, text: str = "") -> list[Span]:
        """The rest of the open user message, and the markers after which the policy speaks."""
        return _spans((Owner.PROMPT, self._encode(text)), (Owner.MARKER, self._before_assistant))

    def reply(self, text: str, generation: Generation) -> list[Span]:
        """All that follows a sampled turn until the policy speaks again: `text` is a tool's words.

        Adds the end marker only where the policy did not sample it itself; what the template puts
        behind the marker follows in either case.
        """
        sampled_end = generation.ids[-1:] == (self._end_marker,)
        closing = self._after_assistant[self._marker_length if sampled_end else 0 :]
        return _spans((Owner.MARKER, closing), (Owner.TOOL, self._encode(text)), (Owner.MARKER, self._before_assistant))

    def decode(self, generation: Generation) -> str:
        """The text of a sampled turn, without its end marker."""
        return self._decode(generation.ids)

    def _encode_piece(self, text: str) -> tuple[int, ...]:
        """Ids of a piece of the template, its special tokens read as such."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))

    def _encode_text(self, text: str) -> tuple[int, ...]:
        """Ids of somebody's words. A special token spelled out in them stays text: no forged turns."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def _decode_ids(self, ids: tuple[int, ...]) -> str:
        spoken = ids[:-1] if ids and ids[-1] in self.end_ids else ids
        # Verifiers read what was written, so no space before punctuation is tidied away.
        return str(self._tokenizer.decode(list(spoken), clean_up_tokenization_spaces=False))


def template_pieces(tokenizer: PreTrainedTokenizerBase) -> TemplatePieces:
    """Render the chat template once with sentinel messages and cut it at them.

    Raises UserError when the tokenizer has no template, or one that does not show each message once
    and in order.
    """
    if not tokenizer.chat_template:
        raise UserError(
            f"backbone.name = {_name(tokenizer)!r} has no chat template; take an instruction-tuned model, "
            "or put a chat_template.jinja into its folder"
        )
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": text} for role, text in zip(roles, _SENTINELS, strict=True)]
    try:
        rendered = str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, date_string=_DATE)
        )
    except TemplateError as error:
        raise UserError(
            f"backbone.name = {_name(tokenizer)!r}: its chat template refuses a dialogue of user and assistant "
            f"({error}); mend the template"
        ) from None
    pieces = []
    rest = rendered
    for sentinel in _SENTINELS:
        before, found, rest = rest.partition(sentinel)
        if not found:
            raise UserError(
                f"backbone.name = {_name(tokenizer)!r}: its chat template does not show every message in order; "
                "mend the template"
            )
        pieces.append(before)
    before_user, between, after_assistant = pieces
    # Where the policy speaks is what the generation prompt says: it may say more than history shows (an
    # opened thought), or less (no space, which the policy samples). A template without one shows in
    # history alone which words hand over.
    handing_over = between.startswith(rest) and between[len(rest) :].strip()
    before_assistant = between if handing_over else rest
    return TemplatePieces(before_user, before_assistant, after_assistant)


def _spans(*parts: tuple[Owner, tuple[int, ...]]) -> list[Span]:
    """Spans of the parts that hold any token."""
    return [Span(owner, ids) for owner, ids in parts if ids]


def _name(tokenizer: PreTrainedTokenizerBase) -> str:
    return str(tokenizer.name_or_path)
