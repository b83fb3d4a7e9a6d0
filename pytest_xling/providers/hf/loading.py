"""Load a model and its tokenizer with transformers, quietly.

Imported only once torch is.
"""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    M2M100Tokenizer,
)
from transformers.utils import logging as transformers_logging

from pytest_xling.errors import ConfigError, PermanentFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.providers.hf.files import ModelFiles

__all__ = ["load_model", "load_tokenizer", "pick_device", "quiet"]

# Whatever is wrong with a folder's files comes out of transformers as one of these.
_BROKEN = (
    AttributeError,
    ImportError,
    KeyError,
    OSError,
    RuntimeError,
    SafetensorError,
    TypeError,
    ValueError,
)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers' log out of pytest's output."""
    log: Any = transformers_logging  # without annotations
    verbosity = log.get_verbosity()
    log.set_verbosity_error()
    try:
        yield
    finally:
        log.set_verbosity(verbosity)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Show no progress bars, and let no library warn another.

    Filters of warnings belong to the whole process, so this may take a warning of a test that ends
    meanwhile; a model is loaded once.
    """
    log: Any = transformers_logging  # without annotations
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bars = log.is_progress_bar_enabled()
        log.disable_progress_bar()
        try:
            yield
        finally:
            if bars:
                log.enable_progress_bar()


def pick_device(name: str) -> torch.device:
    """Return the device ``--xling-device`` names; workers of pytest-xdist take turns at the GPUs.

    Raises:
        ConfigError: there is no such device here.
    """
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    mps = torch.backends.mps.is_available()
    kind, _, number = name.partition(":")
    if kind == "auto":
        kind = "cuda" if gpus else "mps" if mps else "cpu"
    there = {"cpu": True, "mps": mps, "cuda": int(number or 0) < gpus}
    if not there.get(kind, False):
        msg = (
            f"--xling-device={name}: there is no such device here (torch {torch.__version__} sees "
            f"{gpus} GPUs); use --xling-device=auto"
        )
        raise ConfigError(msg)
    if kind == "cuda":
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        turn = int(worker) % gpus if worker.isdigit() else 0
        return torch.device("cuda", int(number) if number else turn)
    if kind == "cpu":
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        if workers > 1:  # each would use all cores, and they would wait for each other
            torch.set_num_threads(max(1, torch.get_num_threads() // workers))
    return torch.device(kind)


def load_tokenizer(files: ModelFiles) -> Any:  # noqa: ANN401  transformers gives it no one type
    """Return the tokenizer of a model.

    Raises:
        PermanentFault: it does not load.
    """
    # SMaLL-100 names a class of its own that is not in transformers.
    ours = files.translates and files.family in {"m2m100", "small100"}
    return _load(files, "tokenizer", M2M100Tokenizer if ours else AutoTokenizer)[0]


def load_model(files: ModelFiles, device: torch.device) -> Any:  # noqa: ANN401
    """Return the model on *device*, in the type its numbers are stored in.

    Raises:
        PermanentFault: it does not load, or weights are missing.
    """
    loader = AutoModelForSeq2SeqLM if files.translates else AutoModelForCausalLM
    model, info = _load(
        files, "model", loader, dtype="auto", output_loading_info=True, use_safetensors=True
    )
    if missing := sorted(info["missing_keys"]):
        few = ", ".join(missing[:3])
        msg = (
            f"hf:{files.name} lacks {len(missing)} of its weights ({few}…), which would be filled "
            "with random numbers; name the model that was trained to generate text"
        )
        raise PermanentFault(msg)
    try:
        return model.to(device).eval()
    except RuntimeError as error:
        msg = f"hf:{files.name} does not go onto {device}: {error}"
        raise PermanentFault(msg) from error


def _load(files: ModelFiles, what: str, loader: Any, **options: Any) -> tuple[Any, Any]:  # noqa: ANN401
    try:
        with quiet(), _without_bars():
            loaded = loader.from_pretrained(
                files.folder, local_files_only=True, trust_remote_code=False, **options
            )
    except _BROKEN as error:
        msg = f"the {what} of hf:{files.name} does not load ({type(error).__name__}): {error}"
        raise PermanentFault(msg) from error
    return loaded if isinstance(loaded, tuple) else (loaded, None)
