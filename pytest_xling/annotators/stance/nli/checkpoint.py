"""A checkpoint of natural language inference: where it is, and which of its outputs means what."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.errors import ConfigError
from pytest_xling.models.directory import sha256_of
from pytest_xling.models.hub import fetch_weights, hub_name, settings_directory
from pytest_xling.text.display import printable
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Stance

__all__ = ["Checkpoint", "check_checkpoint", "check_packages", "find_checkpoint"]

_MEANS: Final[Mapping[str, Stance]] = {
    "entailment": "agree",
    "entail": "agree",
    "entails": "agree",
    "contradiction": "disagree",
    "contradict": "disagree",
    "contradicts": "disagree",
    "neutral": "neutral",
}
_UNNAMED = re.compile(r"label_?\d+|\d+", re.IGNORECASE)
_TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
    "sentencepiece.bpe.model",
    "spiece.model",
)
_SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json")
_ADVICE = (
    "name a three-way NLI model (entailment, neutral, contradiction), such as "
    "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli"
)


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint that was found; its weights may still have to be fetched."""

    name: str
    """The same on all machines: the hub's name, or the last part of a path."""
    directory: Path
    labels: tuple[Stance, ...]
    """What each output says of the hypothesis, given the premise."""
    revision: str | None = None
    """The hub's commit."""

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """What stands in the signature for weights, settings and tokenizer."""
        if self.revision is not None:
            return {"revision": self.revision}
        rest = tuple(
            path for name in (*_SETTINGS, *_TOKENIZERS) if (path := self.directory / name).is_file()
        )
        return {"sha256": sha256_of(self.weights), "settings_sha256": sha256_of(rest)}

    @property
    def weights(self) -> tuple[Path, ...]:
        """The files of weights, sorted.

        Raises:
            ConfigError: there are none in a format that runs no code when it is read.
        """
        files = tuple(sorted(self.directory.glob("*.safetensors")))
        if not files:
            msg = (
                f"stance nli:{self.name}: has no weights (*.safetensors) in {self.directory}; load "
                "it with transformers and save it with save_pretrained(…), which writes that format"
            )
            raise ConfigError(msg)
        return files

    def fetch(self) -> None:
        """Make sure the weights are there.

        Raises:
            ConfigError: they are neither there nor to be had.
        """
        if self.revision is not None:
            try:
                fetch_weights(self.name, self.directory)
            except ConfigError as error:
                raise _not_found(self.name, error) from error
        _ = self.weights


def check_packages() -> None:
    """Raise ConfigError unless the packages that run a checkpoint are installed."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        msg = (
            f"--xling-stance=nli:… needs {' and '.join(missing)}: pip install 'pytest-xling[torch]'"
        )
        raise ConfigError(msg)


def check_checkpoint(stance: str) -> None:
    """Raise ConfigError where *stance* leads to no three-way NLI model, or an extra is missing.

    Loads neither torch nor weights. Names on the hub are looked up when the checkpoint is opened.
    """
    check_packages()
    spec = _spec(stance)
    if Path(spec).expanduser().is_dir() or _hub_name(spec) is None:
        _ = find_checkpoint(stance).weights


def find_checkpoint(stance: str) -> Checkpoint:
    """Find the checkpoint that *stance* names: ``nli:`` and a directory or a name on the hub.

    Raises:
        ConfigError: there is none, or it does not tell entailment, contradiction and neither apart.
    """
    spec = _spec(stance)
    directory = Path(spec).expanduser()
    if directory.is_dir():
        directory = directory.resolve()
        return Checkpoint(
            name=directory.name, directory=directory, labels=_labels(directory, directory.name)
        )
    named = _hub_name(spec)
    if named is None:
        msg = f"--xling-stance={stance}: there is no such directory in {Path.cwd()}; {_ADVICE}"
        raise ConfigError(msg)
    name, revision = named
    try:
        directory = settings_directory(name, revision)
    except ConfigError as error:
        raise _not_found(name, error) from error
    return Checkpoint(
        name=name, directory=directory, labels=_labels(directory, name), revision=directory.name
    )


def _spec(stance: str) -> str:
    kind, _, spec = stance.partition(":")
    if kind != "nli" or not spec.strip():
        msg = f"--xling-stance={stance}: stance_nli needs nli:NAME or nli:DIRECTORY; {_ADVICE}"
        raise ConfigError(msg)
    return spec.strip()


def _hub_name(spec: str) -> tuple[str, str | None] | None:
    place = Path(spec).expanduser()
    return None if place.is_absolute() or place.exists() else hub_name(spec)


def _not_found(name: str, error: ConfigError) -> ConfigError:
    why = printable(str(error.__cause__ or error), limit=200)
    return ConfigError(
        f"stance nli:{name}: no such directory, and the Hugging Face hub does not give it ({why}); "
        f"{_ADVICE}"
    )


def _labels(directory: Path, name: str) -> tuple[Stance, ...]:
    """Return what the outputs mean, by the names that config.json gives them."""
    config = _config(directory, name)
    classes = [str(each) for each in config.get("architectures") or ()]
    if not any(each.endswith("ForSequenceClassification") for each in classes):
        what = ", ".join(classes) or "no architecture that its config.json names"
        msg = f"stance nli:{name}: is no classifier of sequences ({what}); {_ADVICE}"
        raise ConfigError(msg)
    found = _named(config.get("id2label"))
    shown = printable(", ".join(found), limit=120) or "none"
    if not found or all(_UNNAMED.fullmatch(label) for label in found):
        msg = (
            f"stance nli:{name}: the names of its labels are not known (config.json has {shown}), "
            "and their order differs between models; write id2label with entailment, neutral and "
            "contradiction there, as the model's makers say, or name another model"
        )
        raise ConfigError(msg)
    meant = [_MEANS.get(label.strip().lower()) for label in found]
    labels = tuple(stance for stance in meant if stance is not None)
    if len(labels) != len(found) or sorted(labels) != sorted(STANCES):
        msg = f"stance nli:{name}: tells these apart: {shown}; {_ADVICE}"
        raise ConfigError(msg)
    return labels


def _named(id2label: Any) -> list[str]:  # noqa: ANN401  as the file has it
    """Return the names of the outputs in order; none where they are not numbered from 0 on."""
    if not isinstance(id2label, dict):
        return []
    by_number = {int(key): str(name) for key, name in id2label.items() if str(key).isdecimal()}
    if len(by_number) != len(id2label) or sorted(by_number) != list(range(len(by_number))):
        return []
    return [by_number[number] for number in range(len(by_number))]


def _config(directory: Path, name: str) -> Mapping[str, Any]:
    path = directory / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = (
            f"stance nli:{name}: no config.json in {directory}; name the directory that "
            "save_pretrained(…) wrote"
        )
        raise ConfigError(msg) from error
    except (OSError, ValueError) as error:
        msg = f"stance nli:{name}: cannot read {path} as JSON: {error}"
        raise ConfigError(msg) from error
    if not isinstance(config, dict):
        msg = f"stance nli:{name}: {path} holds no settings"
        raise ConfigError(msg)
    return config
