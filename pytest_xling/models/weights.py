"""Weights that ``xling train`` wrote: safetensors with a description."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_xling.errors import ConfigError
from pytest_xling.files.safetensors import metadata_of
from pytest_xling.models.loading import check_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from numpy.typing import NDArray


class Read(NamedTuple):
    """What a file of weights holds."""

    tensors: dict[str, NDArray[Any]]
    about: dict[str, Any]
    sha256: str
    """Of the file."""


def read_weights(
    path: Path,
    *,
    of: str,
    version: str,
    tensors: Collection[str],
    about: Mapping[str, Callable[[Any], object]],
) -> Read:
    """Read the weights at *path*.

    Args:
        path: the file.
        of: the annotator; ``xling train`` calls it by what stands before its ``_``.
        version: the one that can be read.
        tensors: that must be there; all must be finite.
        about: by key of the description the function that reads its value.

    Raises:
        ConfigError: there are none, they are damaged, or of another version.
    """
    check_packages(f"{of} needs", ("safetensors",))
    from safetensors import SafetensorError  # noqa: PLC0415  an extra
    from safetensors.numpy import load  # noqa: PLC0415  as above

    again = f"make weights anew with `xling train {of.partition('_')[0]}`"
    try:
        raw = path.read_bytes()
        read = dict(load(raw))
        header: Any = json.loads(metadata_of(raw)["about"])
        version_found = header["version"]
        header = {**header, **{key: read_value(header[key]) for key, read_value in about.items()}}
    except FileNotFoundError as error:
        msg = f"{of}: there is no {path}; check the path or {again}"
        raise ConfigError(msg) from error
    except OSError as error:
        msg = f"{of}: {path} cannot be read: {error.strerror or error}"
        raise ConfigError(msg) from error
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        msg = f"{of}: {path} holds no weights of {of} ({error}); {again}"
        raise ConfigError(msg) from error
    if version_found != version:
        msg = f"{of}: {path} is of version {version_found}, and this is {version}; {again}"
        raise ConfigError(msg)
    if not set(tensors) <= read.keys() or not all(np.isfinite(t).all() for t in read.values()):
        msg = f"{of}: the weights in {path} are damaged; {again}"
        raise ConfigError(msg)
    return Read(read, header, hashlib.sha256(raw).hexdigest())
