"""Find a model's folder: a directory, or a name on the Hugging Face hub."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pytest_xling.errors import ConfigError
from pytest_xling.providers.hf.files import ModelFiles, check_packages, weight_names

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["locate", "with_weights"]

# All but the weights. A pattern's * also stands for slashes, hence the folders left out.
_SMALL = ["*.json", "*.txt", "*.model", "*.spm", "*.jinja", "*.tiktoken"]
_NOT = ["onnx/*", "openvino/*", "original/*", "coreml/*", "*.msgpack"]


def locate(spec: str) -> ModelFiles:
    """Return the files of the model that *spec* names, without its weights.

    A directory is taken as it is. A name on the hub, ``ORGANISATION/MODEL`` or
    ``ORGANISATION/MODEL@REVISION``, is looked for in the hub's cache first; only what is not there
    is downloaded.

    Raises:
        ConfigError: there is no such directory or model, or the hub does not give it.
    """
    if not spec.strip():
        msg = "--model=hf needs a model: hf:DIRECTORY, or hf:NAME for one from the Hugging Face hub"
        raise ConfigError(msg)
    folder = Path(spec).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        return ModelFiles(folder, folder.name)
    if spec.startswith((".", "/", "~")) or spec.count("/") > 1:
        msg = f"--model=hf: no directory {spec!r} (looked in {Path.cwd()})"
        raise ConfigError(msg)
    name, _, revision = spec.partition("@")
    path = _cached(name, revision or None)
    if path is not None and ModelFiles(path, name).has_tokenizer:
        return ModelFiles(path, name, path.name)
    path = _download(name, path.name if path else revision or None, _SMALL)
    return ModelFiles(path, name, path.name)


def with_weights(files: ModelFiles, *, download: bool) -> ModelFiles:
    """Return *files* once the weights are there.

    Args:
        files: of a model.
        download: whether to wait for them; else they only must be obtainable.

    Raises:
        ConfigError: they are not there and cannot be had.
    """
    if files.weights:
        return files
    if files.revision is None:
        msg = (
            f"--model=hf: no weights in {files.folder} (looked for model.safetensors "
            "and model-…-of-….safetensors)"
        )
        raise ConfigError(msg)
    from huggingface_hub import constants  # noqa: PLC0415  half a second

    if not download and not constants.HF_HUB_OFFLINE:
        return files
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with
    from huggingface_hub import HfApi  # noqa: PLC0415

    try:
        there = HfApi().list_repo_files(files.name, revision=files.revision)
    except (HTTPError, OSError) as error:
        _refuse(files.name, error)
    names = weight_names(there, of=files.name)
    if not names:
        msg = f"--model=hf:{files.name} has no weights for torch on the hub"
        raise ConfigError(msg)
    path = _download(files.name, files.revision, [*names, *_SMALL])
    return replace(files, folder=path)


def _cached(name: str, revision: str | None) -> Path | None:
    """Return the folder of a model that the hub's cache has, at least its configuration."""
    check_packages()
    from huggingface_hub import snapshot_download  # noqa: PLC0415  half a second
    from huggingface_hub.errors import (  # noqa: PLC0415
        HFValidationError,
        LocalEntryNotFoundError,
    )

    try:
        path = Path(
            snapshot_download(
                name, revision=revision, local_files_only=True, allow_patterns=["config.json"]
            )
        )
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        msg = f"--model=hf: {name!r} is no directory here, and no name the hub could have: {error}"
        raise ConfigError(msg) from error
    return path if (path / "config.json").is_file() else None


def _download(name: str, revision: str | None, patterns: list[str]) -> Path:
    """Download what the cache lacks of a model, and return its folder."""
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    try:
        with _without_bars():
            path = snapshot_download(
                name, revision=revision, allow_patterns=patterns, ignore_patterns=_NOT
            )
    except (HTTPError, OSError) as error:
        _refuse(name, error)
    return Path(path)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Show no progress bars: the terminal is pytest's."""
    from huggingface_hub.utils.tqdm import (  # noqa: PLC0415
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    shown = not are_progress_bars_disabled()
    with warnings.catch_warnings():
        # It warns where the environment has decided already: HF_HUB_DISABLE_PROGRESS_BARS.
        warnings.simplefilter("ignore", UserWarning)
        if shown:
            disable_progress_bars()
        try:
            yield
        finally:
            if shown:
                enable_progress_bars()


def _refuse(name: str, error: Exception) -> NoReturn:
    """Say why the hub does not give a model, and what helps."""
    from huggingface_hub import constants  # noqa: PLC0415
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError  # noqa: PLC0415

    if constants.HF_HUB_OFFLINE:
        why = (
            f"is not in the cache {constants.HF_HUB_CACHE} and HF_HUB_OFFLINE is set; fetch it "
            f"where there is a network (hf download {name}), or name a directory"
        )
    elif isinstance(error, GatedRepoError):
        why = "is gated: accept its terms on the hub and log in (hf auth login)"
    elif isinstance(error, RepositoryNotFoundError):
        why = "is no directory here and no model of the hub's (or a private one: hf auth login)"
    else:
        why = f"cannot be had from the hub ({type(error).__name__}); name a directory instead"
    msg = f"--model=hf:{name} {why}"
    raise ConfigError(msg) from error
