"""One option: its name, how it is read, and all its spellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Option"]


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
