"""Named policies over one backbone: full copies of the weights, or LoRA adapters on one base."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from sparring.engines.row_cache import RowCache


class Policy:
    """One named policy: its model (shared under LoRA), its trainable weights, its optimiser."""

    def __init__(
        self,
        name: str,
        model: nn.Module,
        adapter: str | None,
        end_ids: frozenset[int],
        precision: str,
        beginning: Mapping[str, Tensor],
    ) -> None:
        self.name = name
        self.model = model
        self.adapter = adapter
        self.end_ids = end_ids
        self.precision = precision
        self.causal: Any = model.get_base_model() if adapter else model  # type: ignore[operator]
        marker = f".{adapter}."
        self.trainable = {
            key: parameter
            for key, parameter in model.named_parameters()
            if adapter is None or ("lora_" in key and marker in key)
        }
        self.beginning = beginning
        self.optimiser = torch.optim.AdamW(
            self.trainable.values(), lr=0.0, betas=(0.9, 0.95), weight_decay=0.0, fused=True
        )

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return int(self.causal.config.num_hidden_layers)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(iter(self.trainable.values())).device

    def hidden(self, ids: Tensor, mask: Tensor | None, positions: Tensor, cache: RowCache | None) -> Tensor:
        """Last hidden states (rows, columns, size)."""
        decoder = self.causal.get_decoder()
        result: Tensor = decoder(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=cache is not None,
        ).last_hidden_state
        return result

    def logits(self, hidden: Tensor) -> Tensor:
        """Vocabulary logits in float32 or better, soft-capped where the backbone does so."""
        logits: Tensor = self.causal.get_output_embeddings()(hidden)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        cap = getattr(self.causal.config, "final_logit_softcapping", None)
        return logits if cap is None else torch.tanh(logits / cap) * cap

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Switch this policy in, without gradients."""
        with torch.inference_mode(), self.switched_in():
            yield

    @contextmanager
    def initial(self) -> Iterator[None]:
        """Compute with the weights that this policy began with: without the adapter, or with the copy kept of them."""
        if self.adapter is not None:
            with self.model.disable_adapter():  # type: ignore[operator]
                yield
            return
        own = {key: parameter.data for key, parameter in self.trainable.items()}
        for key, parameter in self.trainable.items():
            parameter.data = self.beginning[key]
        try:
            yield
        finally:
            for key, parameter in self.trainable.items():
                parameter.data = own[key]

    @contextmanager
    def switched_in(self) -> Iterator[None]:
        """Switch this policy's adapter in and compute in its precision.

        The backbone stays in evaluation mode for updates too: with dropout the first ratio
        would not be 1.
        """
        if self.adapter is not None:
            self.model.set_adapter(self.adapter)  # type: ignore[operator]
            for parameter in self.trainable.values():
                parameter.requires_grad_(True)
        self.model.eval()
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            yield

    def save(self, folder: Path) -> None:
        """Trainable weights as safetensors, the optimiser beside them."""
        save_file(
            {key: value.detach().contiguous() for key, value in self.trainable.items()}, folder / "weights.safetensors"
        )
        torch.save(self.optimiser.state_dict(), folder / "optimiser.pt")

    def load(self, folder: Path, *, optimiser: bool = True) -> None:
        """Read back what `save` wrote, the optimiser where the policy is to go on learning."""
        stored = load_file(folder / "weights.safetensors")
        with torch.no_grad():
            for key, parameter in self.trainable.items():
                parameter.copy_(stored[key])
        if optimiser:
            self.optimiser.load_state_dict(torch.load(folder / "optimiser.pt", weights_only=True))


def make_policies(
    model: nn.Module,
    names: Sequence[str],
    end_ids: frozenset[int],
    *,
    weights: Literal["full", "lora"],
    lora_rank: int,
    precision: str,
    seed: int,
    keep_initial: bool = False,
) -> dict[str, Policy]:
    """A policy a name, all equal to `model` at the start.

    full: the first name takes the model itself, the others copies. lora: one base in memory and
    an adapter a name on all linear layers, its second factor zero.
    keep_initial: keep what `Policy.initial` needs.
    """
    if weights == "full":
        models = [model, *(copy.deepcopy(model) for _ in names[1:])]
        # All begin alike, so one copy of the beginning serves them all, and none is made unless the KL is to it.
        beginning = {key: value.detach().clone() for key, value in model.named_parameters()} if keep_initial else {}
        return {
            name: Policy(name, own, None, end_ids, precision, beginning)
            for name, own in zip(names, models, strict=True)
        }
    torch.manual_seed(seed)
    settings = LoraConfig(r=lora_rank, lora_alpha=2 * lora_rank, target_modules="all-linear", task_type="CAUSAL_LM")
    adapters = {name: name.replace("/", "_") for name in names}
    first, *rest = names
    adapted: Any = get_peft_model(model, settings, adapter_name=adapters[first])
    for name in rest:
        adapted.add_adapter(adapters[name], settings)
    return {name: Policy(name, adapted, adapters[name], end_ids, precision, {}) for name in names}
