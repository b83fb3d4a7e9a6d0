"""A model in a directory: the user's own, or one of the Hugging Face hub's cache."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.models import hub

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["ModelDirectory"]


@dataclass(frozen=True, kw_only=True)
class ModelDirectory:
    """A model that was found; of the hub's, the weights may still have to be fetched.

    Each use of models derives from it: encoders, classifiers, models that write.
    """

    label: ClassVar[str]
    """What messages call a model, with ``{}`` for its name."""
    advice: ClassVar[str]
    """What may be named instead."""
    weights_named: ClassVar[str] = "*.safetensors"
    """Which files of weights are looked for, for messages."""

    path: Path
    name: str
    """The same on all machines: the hub's name, or the last part of the directory's path."""
    revision: str | None = None
    """The hub's commit; None for a directory of the user's own."""

    @classmethod
    def find(cls, spec: str) -> Self:
        """Find the model that *spec* names: a directory, or ``name`` or ``name@revision``.

        Of the hub's models the settings are there afterwards, from its cache if it has them.

        Raises:
            ConfigError: there is no such directory, and the hub does not give such a model.
        """
        path = Path(spec).expanduser()
        if path.is_dir():
            path = path.resolve()
            return cls(path=path, name=path.name)
        named = None if path.is_absolute() or path.exists() else hub.split_name(spec)
        if named is None:
            msg = (
                f"{cls.label.format(spec)}: there is no such directory in {Path.cwd()}, and it is "
                f"no name the hub could have; {cls.advice}"
            )
            raise ConfigError(msg)
        name, revision = named
        try:
            path = hub.settings_directory(name, revision, complete=cls.has_settings)
        except ConfigError as error:
            msg = f"{cls.label.format(name)}: no such directory, and {error}; {cls.advice}"
            raise ConfigError(msg) from error
        return cls(path=path, name=name, revision=path.name)

    @staticmethod
    def has_settings(path: Path) -> bool:
        """Tell whether a directory of the hub's cache has the settings of a model."""
        return (path / "config.json").is_file() or (path / "modules.json").is_file()

    @property
    def called(self) -> str:
        """What messages call this model."""
        return self.label.format(self.name)

    @property
    def weights(self) -> tuple[Path, ...]:
        """The files of weights, sorted.

        Raises:
            ConfigError: there are none in a format that runs no code when it is read.
        """
        if files := self._weights():
            return files
        msg = (
            f"{self.called}: has no weights ({self.weights_named}) in {self.path}; load it with "
            "transformers and save it with save_pretrained(…), which writes that format"
        )
        raise ConfigError(msg)

    def _weights(self) -> tuple[Path, ...]:
        return tuple(sorted(self.path.glob("*.safetensors")))

    def fetch(self) -> None:
        """Make sure the weights are there.

        Raises:
            ConfigError: they are neither there nor to be had.
        """
        if self.revision is not None and not self._weights():
            self._download(hub.WEIGHTS)
        _ = self.weights

    def _download(self, patterns: tuple[str, ...]) -> None:
        try:
            hub.download(self.name, self.revision, patterns)
        except ConfigError as error:
            msg = f"{self.called}: {error}; {self.advice}"
            raise ConfigError(msg) from error

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """What config.json says.

        Raises:
            ConfigError: it is not there, or holds no settings.
        """
        config = self.settings("config.json")
        if config is None:
            is_adapter = (self.path / "adapter_config.json").is_file()
            hint = (
                "this is an adapter; merge it into its model and save that"
                if is_adapter
                else "name the directory that save_pretrained(…) wrote"
            )
            msg = f"{self.called}: no config.json in {self.path}; {hint}"
            raise ConfigError(msg)
        return config

    def settings(self, name: str) -> Mapping[str, Any] | None:
        """Return what a JSON file of settings says; None where there is no such file.

        Raises:
            ConfigError: it cannot be read, or holds no JSON object.
        """
        settings = self.json(name)
        if settings is not None and not isinstance(settings, dict):
            msg = f"{self.called}: {self.path / name} holds no settings"
            raise ConfigError(msg)
        return settings

    def json(self, name: str) -> Any:  # noqa: ANN401  as the file has it
        """Return what a JSON file holds; None where there is no such file.

        Raises:
            ConfigError: it cannot be read.
        """
        path = self.path / name
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            msg = f"{self.called}: cannot read {path} as JSON: {error}"
            raise ConfigError(msg) from error
