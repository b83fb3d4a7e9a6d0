"""Models of the Hugging Face hub: in its cache on this machine, or downloaded from it."""

from __future__ import annotations

import re
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.models.loading import quiet
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SETTINGS = ("*.json", "*.txt", "*.model", "*.spm", "*.jinja", "*.tiktoken")
"""All but the weights: configuration, tokenizer and templates."""

_NAME = re.compile(r"(?P<name>[\w.-]+(/[\w.-]+)?)(@(?P<revision>[\w./-]+))?", re.ASCII)
# A pattern's * also stands for slashes, hence the folders left out.
_OTHER_PROGRAMS = ("onnx/*", "openvino/*", "original/*", "coreml/*", "*.msgpack")
_MOST_LISTED = 100
"""Revisions whose files are looked at for one with weights."""


def split_name(spec: str) -> tuple[str, str | None] | None:
    """Return name and revision of ``name`` or ``name@revision``; None for what can be neither."""
    match = _NAME.fullmatch(spec)
    if match is None or spec.startswith("."):
        return None
    return match["name"], match["revision"]


def settings_directory(
    name: str, revision: str | None, *, complete: Callable[[Path], bool]
) -> Path:
    """Return the directory of a model with its settings, named by the commit.

    What the hub's cache on this machine has is taken as it is, so that a run does not change
    because its model did.

    Args:
        name: of the model on the hub.
        revision: a branch, a tag or a commit; None is the main branch.
        complete: tells whether a directory of the cache has all settings that are needed.

    Raises:
        ConfigError: it is neither in the cache nor to be had from the hub.
    """
    from huggingface_hub import snapshot_download  # noqa: PLC0415  with transformers
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415  as above

    try:
        cached = Path(
            snapshot_download(
                name, revision=revision, allow_patterns=list(SETTINGS), local_files_only=True
            )
        )
    except LocalEntryNotFoundError:
        return download(name, revision, SETTINGS)
    except ValueError as error:
        raise _unavailable(name, revision, error) from error
    return cached if complete(cached) else download(name, cached.name, SETTINGS)


@cache
def list_files(name: str, commit: str) -> tuple[str, ...]:
    """Return the names of a model's files on the hub, without those for other programs.

    Raises:
        ConfigError: the hub does not say.
    """
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with

    try:
        return _listed(name, commit)
    except (OSError, ValueError, HTTPError) as error:
        raise _unavailable(name, commit, error) from error


def revision_with(name: str, weights: Callable[[Sequence[str]], Sequence[str]]) -> str | None:
    """Return a revision of a model that has weights; None where the hub lists none.

    Args:
        name: of the model on the hub.
        weights: tells which of a revision's files they are.
    """
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with
    from huggingface_hub.errors import RevisionNotFoundError  # noqa: PLC0415  with transformers

    try:
        for revision in islice(_revisions(name), _MOST_LISTED):
            with suppress(RevisionNotFoundError):  # of a pull request that is gone
                if weights(_listed(name, revision)):
                    return revision
    except (OSError, ValueError, LookupError, HTTPError):
        return None  # it would only have helped
    return None


def _listed(name: str, revision: str) -> tuple[str, ...]:
    from huggingface_hub import HfApi  # noqa: PLC0415  with transformers

    files = HfApi().list_repo_files(name, revision=revision)
    return tuple(f for f in files if not any(fnmatch(f, pattern) for pattern in _OTHER_PROGRAMS))


def _revisions(name: str) -> Iterator[str]:
    """Yield branches and tags, which the model's owners make, then pull requests, oldest first."""
    from huggingface_hub import HfApi  # noqa: PLC0415  with transformers

    refs = HfApi().list_repo_refs(name, include_pull_requests=True)
    pulls = [ref.ref for ref in refs.pull_requests or ()]
    pulls.sort(key=lambda ref: int(ref.rpartition("/")[2]))
    for revision in (*(ref.name for ref in (*refs.branches, *refs.tags)), *pulls):
        if split_name(f"{name}@{revision}") is not None:
            yield revision


def download(name: str, revision: str | None, patterns: Sequence[str]) -> Path:
    """Download the files that the cache lacks, and return the model's directory in it.

    Raises:
        ConfigError: the hub does not give them.
    """
    from httpx2 import HTTPError  # noqa: PLC0415  what the hub's client speaks with
    from huggingface_hub import snapshot_download  # noqa: PLC0415  with transformers

    try:
        with quiet():
            return Path(
                snapshot_download(
                    name,
                    revision=revision,
                    allow_patterns=list(patterns),
                    ignore_patterns=list(_OTHER_PROGRAMS),
                )
            )
    except (OSError, ValueError, HTTPError) as error:
        raise _unavailable(name, revision, error) from error


def _unavailable(name: str, revision: str | None, error: Exception) -> ConfigError:
    """Return the error that says why the hub does not give a model, and what helps."""
    from huggingface_hub import constants  # noqa: PLC0415  with transformers
    from huggingface_hub.errors import (  # noqa: PLC0415  as above
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    if constants.HF_HUB_OFFLINE:
        why = (
            f"it is not in the cache {constants.HF_HUB_CACHE} and HF_HUB_OFFLINE is set; fetch it "
            f"where there is a network: hf download {name}"
        )
    elif isinstance(error, GatedRepoError):
        why = "it is gated: accept its terms on the hub and log in: hf auth login"
    elif isinstance(error, RepositoryNotFoundError):
        why = "it is no model of the hub's, or a private one: hf auth login"
    elif isinstance(error, RevisionNotFoundError):
        why = f"it has no revision {revision}"
    else:
        why = printable(str(error), limit=200)
    return ConfigError(f"the Hugging Face hub does not give it ({why})")
