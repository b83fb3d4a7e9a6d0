"""One option: its name, how it is read, and all its spellings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Given", "Option"]


class Given(NamedTuple):
    """What an option was given outside thresholds.yaml, not yet parsed."""

    raw: object
    source: str
    """The place, as messages name it."""
    typed: bool
    """Whether by the person or script that started the process; ini files are the project's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option and all its spellings."""

    name: str
    parse: Callable[[str], object]
    """Of one value's text; raises ValueError."""
    help: str
    metavar: str = ""
    default: Any = None
    short: str | None = None
    """A second, shorter flag, kept in a plugin of its own."""
    action: Literal["store", "append", "store_true"] = "store"
    ini: Literal["string", "linelist", "int", "float", "bool"] = "string"
    """The type pytest gives the ini key; matters in native TOML configuration."""
    in_file: bool = False
    """Whether the ``run:`` block of thresholds.yaml may set it."""
    bare: str | None = None
    """The value of the flag alone; None where it needs one."""
    refuses_empty: bool = False
    """Whether an empty variable or ini line is a mistake; for other options it is as if unset."""

    @property
    def flag(self) -> str:
        """The long option: ``--xling-run-name``."""
        return f"--xling-{self.name}"

    @property
    def env(self) -> str:
        """The environment variable: ``XLING_RUN_NAME``."""
        return f"XLING_{self.key.upper()}"

    @property
    def dest(self) -> str:
        """The attribute of parsed options, and the ini key: ``xling_run_name``."""
        return f"xling_{self.key}"

    @property
    def key(self) -> str:
        """The key in the ``run:`` block: ``run_name``."""
        return self.name.replace("-", "_")

    @property
    def attributes(self) -> dict[str, Any]:
        """Keyword arguments for argparse; the default stays None so that "not given" is seen."""
        if self.action == "store_true":
            return {"action": "store_true", "dest": self.dest, "default": None, "help": self.help}
        alone = {} if self.bare is None else {"nargs": "?", "const": self.bare}
        return alone | {
            "action": self.action,
            "dest": self.dest,
            "default": None,
            "metavar": self.metavar,
            "help": self.help,
        }

    def given(
        self,
        cli: Mapping[str, Any],
        environ: Mapping[str, str],
        ini: Callable[[str], object],
    ) -> Iterator[Given]:
        """Yield what the option is given, the most important place first.

        Args:
            cli: parsed options by dest (``vars(config.option)``); None means not given.
            environ: the environment.
            ini: from ini key to its value or None (``config.getini``).

        Raises:
            ConfigError: the ini file has a value of the wrong type.
        """
        raw = cli.get(self.dest)
        if raw is not None and raw is not False and raw != []:
            yield Given(raw, self.flag, typed=True)
        text = environ.get(self.env)
        if text or (text is not None and self.refuses_empty):  # CI sets what is unset to ""
            many = self.action == "append"
            yield Given(text.split(os.pathsep) if many else text, self.env, typed=True)
        try:
            raw = ini(self.dest)
        except (TypeError, ValueError) as error:  # pytest's, up to 9.1, for a wrong TOML type
            msg = f"ini {self.dest}: {error}"
            raise ConfigError(msg) from error
        if raw not in (None, "", []) or (raw is not None and self.refuses_empty):
            yield Given(raw, f"ini {self.dest}", typed=False)

    def read(self, given: Given) -> object:
        """Parse what was given; of a repeatable option, all of it by name.

        Raises:
            ConfigError: it is wrong; names the place.
        """
        try:
            return self._parsed(given.raw)
        except ValueError as error:
            msg = f"{given.source}: {error}"
            raise ConfigError(msg) from error

    def _parsed(self, raw: object) -> object:
        if isinstance(raw, bool):
            return self.parse("1" if raw else "0")
        if self.action != "append":
            return self.parse(str(raw))
        values: dict[str, Any] = {}
        for text in raw if isinstance(raw, list | tuple) else [raw]:
            pair: Any = self.parse(str(text))  # parsers of repeatable options give pairs
            name, value = pair
            if name in values:
                msg = f"{name!r} is given twice; keep one of them"
                raise ValueError(msg)
            values[name] = value
        return values
