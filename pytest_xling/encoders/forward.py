"""Run a transformer: ids of tokens in, their states out."""

from __future__ import annotations

import inspect
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError
from pytest_xling.models.batches import in_halves
from pytest_xling.models.devices import share_cores
from pytest_xling.models.loading import listed, load_model, loading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

_POOLER = "pooler."


class Forward:
    """A loaded transformer; one batch at a time.

    Args:
        directory: where its settings and weights are.
        of: what messages call the encoder.
        device: torch's name of it.
        dtype: what matrices are multiplied in.

    Raises:
        ConfigError: it cannot be loaded, or weights are missing.
    """

    def __init__(self, directory: Path, *, of: str, device: str, dtype: str) -> None:
        self._device = device
        self._dtype = dtype
        share_cores()
        self._model = lower_precision(_load(directory, of=of), dtype).to(device)
        self._stack = _stack(self._model)

    @property
    def layers(self) -> int:
        """How many layers it has, the embedding layer not counted."""
        return int(self._model.config.num_hidden_layers)

    @property
    def dimensions(self) -> int:
        """How many numbers the state of a token has."""
        return int(self._model.config.hidden_size)

    def states(
        self, ids: Sequence[NDArray[np.int32]], layer: int, pad: int
    ) -> list[NDArray[np.float32]]:
        """Return the states of the tokens of each text of one batch.

        Args:
            ids: of each text, with special tokens.
            layer: 0 is the embedding layer.
            pad: the id to fill up shorter texts with.
        """
        return in_halves(partial(self._batch, layer=layer, pad=pad), ids)

    def _batch(
        self, ids: Sequence[NDArray[np.int32]], layer: int, pad: int
    ) -> list[NDArray[np.float32]]:
        import torch  # noqa: PLC0415  an extra, and a second to import

        longest = max(map(len, ids))
        tokens = torch.full((len(ids), longest), pad, dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, text in enumerate(ids):
            tokens[row, : len(text)] = torch.from_numpy(text)
            mask[row, : len(text)] = 1
        all_states = layer < self.layers and self._stack is None
        with torch.inference_mode(), precision(self._device, self._dtype), self._cut(layer):
            output = self._model(
                input_ids=tokens.to(self._device),
                attention_mask=mask.to(self._device),
                output_hidden_states=all_states,
            )
        states = output.hidden_states[layer] if all_states else output.last_hidden_state
        array: NDArray[np.float32] = states.to("cpu", torch.float32).numpy()
        return [row[: len(text)] for row, text in zip(array, ids, strict=True)]

    @contextmanager
    def _cut(self, layer: int) -> Iterator[None]:
        """Run only the first *layer* layers: what comes after them is not asked for."""
        if self._stack is None or layer == self.layers:
            yield
            return
        parent, name = self._stack
        layers = getattr(parent, name)
        setattr(parent, name, layers[:layer])
        try:
            yield
        finally:
            setattr(parent, name, layers)


def precision(device: str, dtype: str) -> AbstractContextManager[None]:
    """Multiply matrices in *dtype* for a while."""
    import torch  # noqa: PLC0415  an extra, and a second to import

    if dtype == "float32":
        return nullcontext()
    context: AbstractContextManager[None] = torch.autocast(
        torch.device(device).type, getattr(torch, dtype)
    )
    return context


def lower_precision(model: Any, dtype: str) -> Any:  # noqa: ANN401  torch's modules are dynamic
    """Return *model* with the weights of its linear layers in *dtype*.

    They would be made so for every batch anew; all else stays in float32.
    """
    import torch  # noqa: PLC0415  an extra, and a second to import

    if dtype != "float32":
        for module in model.modules():
            if isinstance(module, torch.nn.Linear):
                module.to(getattr(torch, dtype))
    return model


def _load(directory: Path, *, of: str) -> Any:  # noqa: ANN401  transformers' classes are dynamic
    options: dict[str, Any] = {}
    with loading(f"{of}: its weights"):
        import torch  # noqa: PLC0415  an extra, and a second to import
        from transformers import (  # noqa: PLC0415  as above
            MODEL_MAPPING,
            AutoConfig,
            AutoModel,
            AutoModelForTextEncoding,
        )

        config = AutoConfig.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
        kind: Any = AutoModel
        if config.is_encoder_decoder:
            kind = AutoModelForTextEncoding
        elif type(config) in MODEL_MAPPING and _may_pool(MODEL_MAPPING[type(config)]):
            # Nothing reads it, and many a checkpoint has no weights for it.
            options["add_pooling_layer"] = False
        model, absent = load_model(kind, directory, dtype=torch.float32, config=config, **options)
    if missing := [name for name in absent if _POOLER not in name]:
        msg = f"{of}: its files hold no weights for {listed(missing)}; save it anew"
        raise ConfigError(msg)
    return model.eval()


def _may_pool(model: Any) -> bool:  # noqa: ANN401  as above
    """Tell whether a class can be told to leave its pooling out; some configs have several."""
    return (
        not isinstance(model, tuple) and "add_pooling_layer" in inspect.signature(model).parameters
    )


def _stack(model: Any) -> tuple[Any, str] | None:  # noqa: ANN401  as above
    """Return which module holds the list of layers, and under what name, if it can be told."""
    import torch  # noqa: PLC0415  an extra, and a second to import

    stacks = [
        (module, name)
        for module in model.modules()
        for name, child in module.named_children()
        if isinstance(child, torch.nn.ModuleList) and len(child) == model.config.num_hidden_layers
    ]
    # A model of a single layer may hold another list of one.
    return stacks[0] if len(stacks) == 1 else None
