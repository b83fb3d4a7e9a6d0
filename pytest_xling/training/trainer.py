"""The one trainer: AdamW on a rate that rises and falls, kept as it goes and resumed from there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import torch
from safetensors.torch import load, save

from pytest_xling.files.safetensors import metadata_of
from pytest_xling.files.whole import whole_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Parameters: TypeAlias = "Mapping[str, torch.nn.Parameter]"
Progress: TypeAlias = "Callable[[str, int, int], None]"
"""Told of a stage, how many of its steps are done, and how many there are."""

KEEP_EVERY: Final = 50
_DECAY = 0.01
_STEEPEST = 1.0
_RANDOM = "random"


def fit(
    groups: Sequence[tuple[Parameters, float]],
    loss: Callable[[int], torch.Tensor],
    *,
    steps: int,
    warm_up: float,
    kept: Path,
    progress: Callable[[int, int], None],
) -> None:
    """Tune parameters; what was cut off goes on from *kept* and ends in the same numbers.

    Learning rates rise over the first steps and fall to nothing over all. The state of torch's
    random numbers is kept, too.

    Args:
        groups: parameters by name, and the highest learning rate of each group.
        loss: of the examples of a step, which may be any from 0.
        steps: how many.
        warm_up: share of the steps over which rates rise.
        kept: the file of what is done so far; need not exist.
        progress: told before each step how many are done, and how many there are.
    """
    tuned = {name: each for parameters, _ in groups for name, each in parameters.items()}
    optimizer = torch.optim.AdamW(
        [{"params": [*parameters.values()], "lr": rate} for parameters, rate in groups],
        weight_decay=_DECAY,
    )
    for step in range(_resumed(kept, tuned, optimizer), steps):
        progress(step, steps)
        value = loss(step)
        optimizer.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]  # torch does not annotate it
        torch.nn.utils.clip_grad_norm_(tuned.values(), _STEEPEST)
        share = min((step + 1) / (warm_up * steps), (steps - step) / steps, 1.0)
        for group, (_, rate) in zip(optimizer.param_groups, groups, strict=True):
            group["lr"] = share * rate
        optimizer.step()
        if (step + 1) % KEEP_EVERY == 0 or step + 1 == steps:
            _keep(kept, tuned, optimizer, step + 1)
    progress(steps, steps)


def _keep(kept: Path, tuned: Parameters, optimizer: torch.optim.Optimizer, step: int) -> None:
    tensors = {_RANDOM: torch.get_rng_state(), **{n: p.detach() for n, p in tuned.items()}}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"{number}/{name}": each for name, each in state.items()}
    whole = {name: each.cpu().contiguous() for name, each in tensors.items()}
    with whole_bytes(kept) as file:
        file.write(save(whole, metadata={"step": str(step)}))


def _resumed(kept: Path, tuned: Parameters, optimizer: torch.optim.Optimizer) -> int:
    """Take over what was kept, if anything, and return how many steps are done."""
    if not kept.exists():
        return 0
    raw = kept.read_bytes()
    tensors = load(raw)
    torch.set_rng_state(tensors[_RANDOM])
    with torch.no_grad():
        for name, parameter in tuned.items():
            parameter.copy_(tensors[name])
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        number, slash, key = name.partition("/")
        if slash:
            state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return int(metadata_of(raw)["step"])
