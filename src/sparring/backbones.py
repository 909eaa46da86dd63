"""Backbones: the pretrained weights that every policy of a run starts from.

One loader for all. `locate` turns the name in a recipe into a folder (a local one, a hub id's, or the
one that `smollm2` is unpacked into) and `load` reads a folder: safetensors only, no remote code unless
the recipe says so, and nothing is trained that has no tokenizer, no chat template or missing weights.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils.logging import disable_progress_bar, set_verbosity

from sparring.cache import cache_root
from sparring.engines.dialogue import template_pieces
from sparring.errors import UserError
from sparring.smollm2 import smollm2_folder

_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_HUB_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")
# Weights in another layout beside the ones transformers reads, and the folders they lie in.
_HUB_IGNORED = ("consolidated*", "*/*")
# What transformers raises on files that are missing, broken, or JSON of another shape.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, StrictDataclassError)


@dataclass(frozen=True)
class LoadedBackbone:
    """A model in evaluation mode with its tokenizer, and the folder both came from."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    folder: Path

    @property
    def end_ids(self) -> frozenset[int]:
        """The ids at which generation stops, as the model's generation config lists them."""
        generation: GenerationConfig | None = self.model.generation_config
        ends = generation.eos_token_id if generation is not None else None
        if ends is None:
            return frozenset()
        return frozenset([ends] if isinstance(ends, int) else ends)


def load(name: str, *, trust_remote_code: bool = False, dtype: torch.dtype = torch.float32) -> LoadedBackbone:
    """Load `smollm2`, a local folder or a hub id, with weights in `dtype`.

    Raises UserError, naming what is missing, for anything that cannot be loaded whole.
    """
    disable_progress_bar()  # a bar for a second's work would break into the table of rounds
    set_verbosity(logging.CRITICAL)  # what it has to say about missing weights is said below, in one line
    folder = locate(name, trust_remote_code=trust_remote_code)
    if not (folder / "config.json").is_file():
        raise UserError(f"backbone.name = {name!r}: {folder} has no config.json; give a folder that holds a model")
    if not any(folder.glob("*.safetensors")):
        raise UserError(
            f"backbone.name = {name!r}: {folder} has no *.safetensors, the only weights that are read; "
            "save the model with safe_serialization"
        )
    options = {"trust_remote_code": trust_remote_code, "local_files_only": True}
    try:
        config = AutoConfig.from_pretrained(folder, **options)
    except _UNREADABLE as error:
        raise _unreadable(name, "model", error) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, config=config, **options)
    except _UNREADABLE as error:
        raise _unreadable(name, "tokenizer", error) from None
    template_pieces(tokenizer)  # refuses a missing or useless chat template before the weights are read
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # reported below by name, which the exception does not do
            output_loading_info=True,
            **options,
        )
    except (*_UNREADABLE, RuntimeError, SafetensorError) as error:
        raise _unreadable(name, "model", error) from None
    model, report = loaded
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise UserError(
            f"backbone.name = {name!r} lacks {len(missing)} weights of its model, the first {missing[0]}; "
            "they would be random: fetch the whole model"
        )
    if report["mismatched_keys"]:
        key, stored, wanted = min(report["mismatched_keys"])
        raise UserError(
            f"backbone.name = {name!r}: its weight {key} has shape {list(stored)} where config.json asks for "
            f"{list(wanted)}; the files belong to different models: fetch the whole model again"
        )
    return LoadedBackbone(model, tokenizer, folder)


def backbone_files(folder: Path) -> dict[str, Path]:
    """Every file of a backbone that a run depends on, by a name that does not tell where it lies."""
    found = {path for pattern in (*_HUB_FILES, "*.py") for path in folder.glob(pattern)}
    return {f"backbone/{path.name}": path for path in sorted(found)}


def locate(name: str, *, trust_remote_code: bool = False) -> Path:
    """The folder of a backbone: `smollm2` is unpacked, a hub id fetched, where that was not done before.

    Raises UserError when there is nothing of that name.
    """
    if name == "smollm2":
        return smollm2_folder()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    _refuse_nonsense(name)
    code = ("*.py",) if trust_remote_code else ()
    try:
        return Path(snapshot_download(name, allow_patterns=[*_HUB_FILES, *code], ignore_patterns=list(_HUB_IGNORED)))
    except (OSError, ValueError) as error:
        raise UserError(
            f"backbone.name = {name!r} is no folder and was not to be had from the hub ({type(error).__name__}); "
            "check name, access and connection, or give a local folder"
        ) from None


def count_weights(name: str) -> int | None:
    """Number of weights of a backbone whose config is on this machine, without loading it, else None.

    Raises UserError for a name that can be neither a folder nor a hub id.
    """
    if name != "smollm2" and not Path(name).expanduser().is_dir():
        _refuse_nonsense(name)
    cached = sorted(cache_root().glob("smollm2-*")) if name == "smollm2" else []
    try:
        config = AutoConfig.from_pretrained(cached[-1] if cached else name, local_files_only=True)
    except _UNREADABLE:
        return None
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    weights: int = sum(parameter.numel() for parameter in model.parameters())
    return weights


def _refuse_nonsense(name: str) -> None:
    if not _HUB_ID.fullmatch(name) or name.startswith("."):
        raise UserError(f"backbone.name = {name!r} is no folder; give micro, smollm2, a folder or a hub id")


def _unreadable(name: str, part: str, error: Exception) -> UserError:
    return UserError(
        f"backbone.name = {name!r}: its {part} cannot be read ({_first_line(error)}); give a complete model folder"
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
