from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from sparring import backbones
from sparring.errors import UserError

WORDS = ["<unk>", "<reply>", "<end>", "yes", "no"]
TEMPLATE = "{% for m in messages %}{{ m.content }} {{ '<reply>' if m.role == 'user' else '<end>' }} {% endfor %}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A whole backbone: five words and one layer."""
    words = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="<end>")
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=2,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def complaint_of(name: str | Path, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        backbones.load(str(name), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert f"backbone.name = {str(name)!r}" in message
    return message


def test_whole_folder_loads(folder: Path) -> None:
    loaded = backbones.load(str(folder))
    assert loaded.folder == folder
    assert loaded.end_ids == {2}
    assert loaded.tokenizer.encode("yes no", add_special_tokens=False) == [3, 4]
    assert not loaded.model.training
    stored = load_file(folder / "model.safetensors")
    for name, weight in stored.items():
        assert torch.equal(loaded.model.state_dict()[name], weight)


def test_weights_come_in_the_type_asked_for(folder: Path) -> None:
    assert backbones.load(str(folder)).model.dtype is torch.float32
    assert backbones.load(str(folder), dtype=torch.bfloat16).model.dtype is torch.bfloat16


def test_end_ids_are_all_those_of_the_generation_config(folder: Path) -> None:
    loaded = backbones.load(str(folder))
    assert loaded.model.generation_config is not None
    loaded.model.generation_config.eos_token_id = [2, 4]
    assert loaded.end_ids == {2, 4}
    loaded.model.generation_config.eos_token_id = None
    assert loaded.end_ids == frozenset()


@pytest.mark.parametrize("file", ["tokenizer.json", "chat_template.jinja", "config.json"])
def test_folder_without_a_part_is_refused(folder: Path, file: str) -> None:
    (folder / file).unlink()
    part = file.split(".")[0].replace("_", " ")
    assert part in complaint_of(folder)


def test_weights_other_than_safetensors_are_not_read(folder: Path) -> None:
    weights = folder / "model.safetensors"
    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    assert "safetensors" in complaint_of(folder)


def test_broken_weights_are_refused(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    assert "cannot be read" in complaint_of(folder)


def test_a_missing_weight_is_not_made_up(folder: Path) -> None:
    weights = folder / "model.safetensors"
    stored = load_file(weights)
    stored.pop("model.layers.0.mlp.up_proj.weight")
    save_file(stored, weights, metadata={"format": "pt"})
    assert "model.layers.0.mlp.up_proj.weight" in complaint_of(folder)


def test_a_weight_of_another_shape_is_named(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    weights = folder / "model.safetensors"
    stored = load_file(weights)
    stored["model.norm.weight"] = torch.zeros(6)
    save_file(stored, weights, metadata={"format": "pt"})
    assert "model.norm.weight has shape [6] where config.json asks for [8]" in complaint_of(folder)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("content", ["[]", "3", '{"model_type": []}', '{"model_type": "llama", "hidden_size": "x"}'])
def test_a_config_of_another_shape_is_refused(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content, encoding="utf-8")
    assert "cannot be read" in complaint_of(folder)


def test_files_of_a_backbone_are_named_without_their_place(folder: Path) -> None:
    files = backbones.backbone_files(folder)
    assert {"backbone/config.json", "backbone/model.safetensors", "backbone/tokenizer.json"} <= set(files)
    assert all(path.parent == folder for path in files.values())


def test_remote_code_stays_off_unless_allowed(folder: Path) -> None:
    config = folder / "config.json"
    code = '{"auto_map": {"AutoConfig": "configuration_own.OwnConfig"}, "model_type": "own"}'
    config.write_text(code, encoding="utf-8")
    ran = folder / "ran"
    source = f"from pathlib import Path\nPath({str(ran)!r}).touch()\nraise ValueError('own code ran')\n"
    (folder / "configuration_own.py").write_text(source, encoding="utf-8")
    complaint_of(folder)
    assert not ran.exists()


def test_name_that_is_nothing_is_refused() -> None:
    assert "is no folder" in complaint_of("no such backbone")
    assert "is no folder" in complaint_of("./neither/this")


def test_hub_id_out_of_reach_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert "hub" in complaint_of("nobody-at-all/no-model")


def test_hub_id_is_loaded_from_its_snapshot(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def snapshot(name: str, **options: Any) -> str:
        asked.update(options, name=name)
        return str(folder)

    monkeypatch.setattr(backbones, "snapshot_download", snapshot)
    assert backbones.load("somebody/a-model").folder == folder
    assert asked["name"] == "somebody/a-model"
    assert "*.py" not in asked["allow_patterns"]
    assert not any("bin" in pattern for pattern in asked["allow_patterns"])
    backbones.locate("somebody/a-model", trust_remote_code=True)
    assert "*.py" in asked["allow_patterns"]
