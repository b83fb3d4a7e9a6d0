"""A model in a directory: the user's own, or one of the Hugging Face hub's cache."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.models import hub

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

_PICKLED = re.compile(r"pytorch_model(-\d+-of-\d+)?\.bin")


@dataclass(frozen=True, kw_only=True)
class ModelDirectory:
    """A model that was found; of the hub's, the weights may still have to be fetched.

    Each use of models derives from it: encoders, classifiers, models that write.
    """

    label: ClassVar[str]
    """What messages call a model, with ``{}`` for its name."""
    named_by: ClassVar[str]
    """What names a model, with ``{}`` for its name: an option, or the value of several."""
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
        repository = None if path.is_absolute() or path.exists() else hub.split_name(spec)
        if repository is None:
            msg = (
                f"{cls.label.format(spec)}: there is no such directory in {Path.cwd()}, and it is "
                f"no name the hub could have; {cls.advice}"
            )
            raise ConfigError(msg)
        name, revision = repository
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
    def title(self) -> str:
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
        raise self._no_weights(self._names(), where=f"in {self.path}")

    @staticmethod
    def weight_files(names: Sequence[str]) -> list[str]:
        """Return which of a model's files hold the weights, in a format that runs no code.

        Args:
            names: of the files, with ``/`` after the names of folders.
        """
        return sorted(name for name in names if "/" not in name and name.endswith(".safetensors"))

    def _names(self) -> list[str]:
        return [path.relative_to(self.path).as_posix() for path in self.path.rglob("*")]

    def _weights(self) -> tuple[Path, ...]:
        """Return the files of weights that are here; none unless all parts are."""
        return tuple(self.path / name for name in self.weight_files(self._names()))

    def check_weights(self) -> None:
        """Check that the weights are here, or that the hub lists them; downloads none.

        Raises:
            ConfigError: neither; names a revision that has them where the hub lists one.
        """
        if self.revision is None or self._weights():
            _ = self.weights
        else:
            self._listed_weights(self.revision)

    def fetch(self) -> None:
        """Make sure the weights are there.

        Raises:
            ConfigError: they are neither there nor to be had.
        """
        if self.revision is not None and not self._weights():
            files = (*self._listed_weights(self.revision), *hub.SETTINGS)
            try:
                hub.download(self.name, self.revision, files)
            except ConfigError as error:
                msg = f"{self.title}: {error}; {self.advice}"
                raise ConfigError(msg) from error
        _ = self.weights

    def _listed_weights(self, commit: str) -> list[str]:
        """Return which of the hub's files are the weights."""
        try:
            names = hub.list_files(self.name, commit)
        except ConfigError as error:
            # What somebody else has fetched may be all there is.
            if any(map(_is_pickled, here := self._names())):
                raise self._no_weights(here, where=f"in {self.path}") from error
            msg = f"{self.title}: {error}; {self.advice}"
            raise ConfigError(msg) from error
        if files := self.weight_files(names):
            return files
        raise self._no_weights(names, where="on the hub")

    def _no_weights(self, names: Sequence[str], *, where: str) -> ConfigError:
        """Return the error that says that none of a model's files are weights we read."""
        pickled = min(filter(_is_pickled, names), default=None)
        other = self.revision and hub.revision_with(self.name, self.weight_files)
        msg = f"{self.title}: has no weights ({self.weights_named}) {where}"
        if pickled:
            msg += f", only {pickled}, a pickle, which may run any code and so is not read"
        if other:
            pinned = self.named_by.format(f"{self.name}@{other}")
            msg += f"; its revision {other} has them: write {pinned}"
        if other and other.startswith("refs/pr/"):
            msg += " (a pull request, which anybody may make: see who did)"
        return ConfigError(
            f"{msg}; or load it with transformers, where you trust it, and save it with "
            f"save_pretrained(…), which writes model.safetensors; or {self.advice}"
        )

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
            msg = f"{self.title}: no config.json in {self.path}; {hint}"
            raise ConfigError(msg)
        return config

    def settings(self, name: str) -> Mapping[str, Any] | None:
        """Return what a JSON file of settings says; None where there is no such file.

        Raises:
            ConfigError: it cannot be read, or holds no JSON object.
        """
        settings = self.json(name)
        if settings is not None and not isinstance(settings, dict):
            msg = f"{self.title}: {self.path / name} holds no settings"
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
            msg = f"{self.title}: cannot read {path} as JSON: {error}"
            raise ConfigError(msg) from error


def _is_pickled(name: str) -> bool:
    return _PICKLED.fullmatch(name) is not None
